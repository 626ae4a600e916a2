"""Defects that other campaign tools had, each as a case here; and input that no register or policy takes."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import smsotp_nb as sms
from smsotp_nb import Ledger, NumberOptions, People, Policy, RequestOptions, Sandbox
from smsotp_nb.errors import SmsOtpWarning, UsageError

from .sending import NUMBERS, Clock, outcome, plan_of, sent

DAILY = Policy(caps=[(1, "24h")])


def test_a_window_that_is_full_opens_when_its_first_message_leaves_it(
    box: Sandbox, ledger: Ledger, clock: Clock
) -> None:
    """Mautic #6729 and #4761: campaigns ignored the rule, or put a message off by as many days as the cap's number."""
    policy = Policy(caps=[(3, "7d")], same_text=None)
    began = clock()
    for day in range(3):
        assert outcome(sent(plan_of(f"c{day}", policy=policy), box, ledger)) == {"accepted": 30}
        clock.later(days=1)
    held = sent(plan_of("late", policy=policy), box, ledger)
    assert set(held["not_before"].dt.tz_localize("UTC")) == {began + timedelta(days=7)}
    clock.at = began + timedelta(days=7)
    assert outcome(sent(plan_of("late", policy=policy), box, ledger)) == {"accepted": 30}
    held = sent(plan_of("later", policy=policy), box, ledger)
    assert set(held["not_before"].dt.tz_localize("UTC")) == {began + timedelta(days=8)}


@pytest.mark.parametrize("cap", [0, -1, 1.0, True, None, "1"])
def test_a_cap_of_zero_is_refused_and_not_read_as_one(cap: Any) -> None:
    """Mautic #10275: zero, meant as nobody, let one message through."""
    with pytest.raises(UsageError, match="a cap must be a whole number from 1"):
        Policy(caps=[(cap, "24h")])


def test_a_batch_of_only_capped_people_ends_and_does_not_hide_who_comes_after(box: Sandbox, ledger: Ledger) -> None:
    """Mautic #3560: a batch in which everybody was over the cap was fetched again for ever."""
    sent(plan_of("first", NUMBERS[:21], text="first"), box, ledger)
    table = sent(plan_of("second", policy=DAILY, requests=RequestOptions(chunk_size=7)), box, ledger, threads=1)
    assert outcome(table) == {"planned CAPPED": 21, "accepted": 9}
    requests = len(ledger.record("second").requests)
    assert outcome(
        sent(plan_of("second", policy=DAILY, requests=RequestOptions(chunk_size=7)), box, ledger)
    ) == outcome(table)
    assert len(ledger.record("second").requests) == requests == 2


# -- bad input ---------------------------------------------------------------------------------------------------------


def test_a_list_of_opt_outs_with_unreadable_numbers_is_listed_and_nothing_recorded(
    ledger: Ledger, tmp_path: Path
) -> None:
    people, path = People(ledger), tmp_path / "stops.csv"
    path.write_text("phone,received\n+12025550110,2026-01-15 09:30Z\nnobody,2026-01-15\n,\n12,2026-01-16 10:00Z\n")
    with pytest.raises(UsageError, match="nothing was recorded") as refused:
        people.import_optouts(path, column="phone", source="provider", at="received")
    assert len(refused.value.problems) >= 2
    assert all(said.startswith("row ") for said in refused.value.problems)
    assert people.register.empty
    for new, matched in ((1, 0), (0, 1)):
        with pytest.warns(SmsOtpWarning, match=r"2 of 3 rows cannot be read, and are not recorded, .*: row 3: "):
            found = people.import_optouts(
                path, column="phone", source="provider", at="received", numbers=NumberOptions(unreadable="ignore")
            )
        assert (found, found.read, found.matched, found.unreadable) == (new, 1, matched, 2)
    assert people.is_opted_out(NUMBERS[10])
    assert repr(found) == "0 new of 1 read, 1 person known before, 2 unreadable, said of 15 January 2026"
    path.write_text("phone\n\n-\n", encoding="utf-8")
    with pytest.warns(SmsOtpWarning, match="no number, so nothing was recorded|1 of 1 row cannot be read"):
        found = people.import_optouts(path, column="phone", source="p", numbers=NumberOptions(unreadable="ignore"))
    assert (found.read, found.matched) == (0, 0)


def test_an_opt_out_in_the_future_is_refused(ledger: Ledger, clock: Clock) -> None:
    people = People(ledger, now=clock)
    with pytest.raises(UsageError, match="in the future"):
        people.opt_out(NUMBERS[0], source="phone", at="2026-11-13 00:00Z")
    with pytest.raises(UsageError, match="without a zone"):
        people.opt_out(NUMBERS[0], source="phone", at="2026-11-11 00:00")
    stops = pd.DataFrame({"phone": NUMBERS[:2], "at": ["2026-11-13 00:00Z", "2026-11-11 00:00Z"]})
    with pytest.raises(UsageError, match="row 0: at is in the future"):
        people.import_optouts(stops, column="phone", source="provider", at="at")
    assert people.register.empty


@pytest.mark.parametrize("window", ["24", 24, "24 hours", "", "1h30min", None, "-1h", "0h", "400d", timedelta(0)])
def test_a_window_without_a_unit_is_refused(window: Any) -> None:
    with pytest.raises(UsageError, match="window"):
        Policy(caps=[(1, window)])


def test_words_beside_a_number_of_an_import_say_what_the_list_says(ledger: Ledger) -> None:
    """A list of opt-outs says no with or without STOP, and each number of a cell counts; an opt-in with it is none."""
    people = People(ledger)
    cells = [f"{NUMBERS[0]} STOP", f"{NUMBERS[1]} / {NUMBERS[2]}", "+12025550199"]
    stops = pd.DataFrame({"phone": cells, "at": "2026-01-02 09:00", "ref": ["a", "b", "c"]}, index=list("xyz"))
    found = people.import_optouts(stops, column="phone", source="p", at="at", zone="UTC", proof="ref")
    assert found == 4
    register = people.register.set_index("to")
    assert register["proof"].reindex(NUMBERS[:3]).tolist() == ["a", "b", "b"]
    assert all(map(people.is_opted_out, NUMBERS[:3]))
    with pytest.raises(UsageError, match=r"2 of 3 rows cannot be read, so nothing was recorded: row 'x': NOTE_SAYS_NO"):
        people.import_optins(stops, column="phone", source="p", at="at", zone="UTC")


@pytest.mark.parametrize(
    ("name", "cells", "no", "yes"),
    [
        # what is said of the second person, of the first, of both, of nobody; None: it is not asked
        ("consent", ["given", "withdrawn"], "y: withdrawn", None),
        ("Opt-In", [True, False], "y: False", None),
        ("Abgemeldet am", ["", "2026-04-01"], "y: 2026-04-01", None),
        ("opted_out", [0, 1], "y: 1", None),
        ("remark", ["", "Unsubscribed"], "y: Unsubscribed", None),
        ("note", ["VIP", "deceased"], "y: deceased", None),
        ("consentement", ["oui", "retiré"], "y: retiré", None),
        ("zgoda", ["udzielona", "nie"], "y: nie", None),
        ("同意", ["是", "否"], "y: 否", None),
        ("double_opt_in", ["confirmed", "pending"], "y: pending", None),
        ("Zustimmung", ["erteilt", "entzogen"], "y: entzogen", None),
        ("status", ["subscribed", "cleaned"], "y: cleaned", None),
        ("state", ["subscribed", "paused"], "y: paused", None),
        ("opt_in", ["Yes", "?"], "y: ?", None),
        ("deleted_at", ["2026-01-01", ""], "", None),
        ("is_deleted", [False, False], "", None),
        ("consent source", ["web form", "shop"], "", None),
        ("consent", ["given", "yes"], "", None),
        ("payment", ["paid", "pending"], "", None),
        ("note", ["old customer", "moved to Berlin"], "", None),
        ("unsubscribed_at", ["2026-01-01", ""], "", None),
        ("opted_out", ["no", "No"], "", None),
        ("name", ["No", "Ann"], "", None),
        ("city", ["Old Town", "Le Mans"], "", None),
        ("May we text you?", ["Yes", "No"], "y", "x"),
        ("Antwort", ["Ja, gerne", "Nein danke"], "y", "x"),
        ("Textable", ["1", "0"], "y", "x"),
        ("Sperre", ["", "X"], "y", "x"),
        ("Werbesperre", ["nein", "ja"], "y", "x"),
        ("Keine Werbung", [False, True], "y", "x"),
        ("Ne pas contacter", ["non", "oui"], "y", "x"),
        ("SMS OK", ["x", None], "y", "x"),
        ("Response", ["да", "нет"], "y", "x"),
        ("keyword", ["START", "STOP"], "y", "x"),
        ("SMS Consent", ["SUBSCRIBED", "UNSUBSCRIBED"], "y", "x"),
        ("Tags", ["vip, subscribed", "vip, sms-unsubscribed"], "y", "x"),
        ("Zgoda", ["tak", "nie"], "y", "x"),
        ("Kommentar", "möchte keine SMS", "x, y", ""),
        ("Kommentar", "möchte keine SMS, nur an ann@example.com", "x, y", ""),
        ("info", "ne souhaite pas de SMS", "x, y", ""),
        ("x", "please do not contact", "x, y", ""),
        ("obs", "no quiere mensajes", "x, y", ""),
        ("Tags", "vip;sms-unsubscribed", "x, y", ""),
        ("status", "unsubscribed", "x, y", ""),
        ("opted_out", "yes", "x, y", ""),
        ("Einwilligung", "nein", "x, y", ""),
        ("keyword", "STOP", "x, y", ""),
        ("Accepts SMS Marketing", "no", "x, y", ""),
        ("status", "subscribed", "", "x, y"),
        ("keyword", "Start", "", "x, y"),
        ("opt_in", True, "", "x, y"),
        ("consent", "given", "", "x, y"),
        ("Werbesperre", "nein", "", "x, y"),
        ("Einwilligung", "Ja", "", "x, y"),
        ("list", "opted_in", "", "x, y"),
        ("customer", ["Ann", "active"], "", ""),
        ("orders", [0, 3], "", ""),
        ("email", ["stop@example.com", "no.text@example.com"], "", ""),
        ("city", ["Baja California", ""], "", ""),
        ("source", ["web form", "call centre"], "", ""),
        ("reason", ["", "answered by letter"], "", ""),
    ],
)
def test_a_column_that_says_no_refuses_opt_ins_and_one_that_says_yes_opt_outs(
    ledger: Ledger, name: str, cells: Any, no: str, yes: str | None
) -> None:
    """Opt-ins of whom it says no would end opt-outs; a no before the opt-in is none."""
    people, listed = (
        People(ledger),
        pd.DataFrame({"phone": NUMBERS[:2], "at": "2026-03-01", name: cells}, index=[*"xy"]),
    )
    for imported, rows, says in (
        (people.import_optins, no, "says no in row {}"),
        (people.import_optouts, yes, "says of row {} that it is no opt-out"),
    ):
        how: dict[str, Any] = {"column": "phone", "source": "p", "at": "at", "zone": "UTC"}
        if rows:
            where, _, cell = rows.partition(": ")
            told = says.format(re.sub(r"(\w)", r"'\1'", where)) + (f": '{cell}'" if cell else "")
            before = len(people.register)
            with pytest.raises(UsageError, match=rf"column '{re.escape(name)}' {told}.*leave these rows out, or pass"):
                imported(listed, **how)
            assert len(people.register) == before
        elif rows is not None:
            assert imported(listed, **how) == 2


def test_a_start_in_a_column_of_words_is_no_opt_out(ledger: Ledger) -> None:
    listed = pd.DataFrame({"phone": NUMBERS[:2], "log": ["STOP", "START"]})
    with pytest.raises(UsageError, match="column 'log' says of row 1 that it is no opt-out"):
        People(ledger).import_optouts(listed, column="phone", source="p")
    assert People(ledger).import_optouts(listed.assign(log=["other", "STOP"]), column="phone", source="p") == 2


def test_each_column_of_numbers_of_an_import_counts_and_a_column_of_yes_is_refused(ledger: Ledger) -> None:
    people = People(ledger)
    stops = pd.DataFrame({"phone": [NUMBERS[0], None], "WhatsApp": [None, NUMBERS[1]], "opted_out": True})
    assert people.import_optouts(stops, column="phone", source="p").read == 2
    assert people.is_opted_out(NUMBERS[1])
    with pytest.raises(UsageError, match="column 'opted_out' says of row 1 that it is no opt-out"):
        people.import_optouts(stops.assign(opted_out=["yes", "no"]), column="phone", source="p")


def test_a_workbook_of_several_sheets_is_imported_sheet_by_sheet(ledger: Ledger, tmp_path: Path) -> None:
    with pd.ExcelWriter(tmp_path / "stops.xlsx") as book:
        for at, sheet in enumerate(("Jan", "Feb")):
            pd.DataFrame({"phone": [NUMBERS[at]]}).to_excel(book, sheet_name=sheet, index=False)
    with (
        pytest.warns(SmsOtpWarning, match="sheet= of read_recipients names another"),
        pytest.raises(
            UsageError, match=r"rows in several sheets, also in 'Feb': .*read_recipients\(path, sheet='Feb'\)"
        ),
    ):
        People(ledger).import_optouts(tmp_path / "stops.xlsx", column="phone", source="p")
    feb = sms.read_recipients(tmp_path / "stops.xlsx", sheet="Feb")
    assert People(ledger).import_optouts(feb, column="phone", source="p") == 1


@pytest.mark.parametrize("default", ["DE", None])
def test_countries_beside_imported_numbers_are_named_where_they_make_others_of_them(
    ledger: Ledger, default: str | None
) -> None:
    people = People(ledger)
    stops = pd.DataFrame({"phone": ["+4930901820", "0491 570 156"], "Land": ["DE", "AU"]}, index=["x", "y"])
    with pytest.raises(UsageError, match=r"'Land', 1 number would be read as another one .row 'y'.: pass region="):
        people.import_optouts(stops, column="phone", source="p", default_region=default)
    assert people.import_optouts(stops, column="phone", source="p", default_region=default, region="Land") == 2
    assert people.is_opted_out("+61491570156")
    assert people.import_optouts(stops.head(1), column="phone", source="p", default_region=default).read == 1
    many = pd.DataFrame({"phone": ["+4930901820"] * 2000 + ["0491 570 156"], "Land": [None] * 2000 + ["AU"]})
    with pytest.raises(UsageError, match=r"column 'Land', 1 number would be read as another one .row 2000"):
        people.import_optouts(many, column="phone", source="p", default_region=default)
