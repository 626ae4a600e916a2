"""Defects that other campaign tools had, each as a case here; and input that no register or policy takes."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import smsotp_nb as sms
from smsotp_nb import Ledger, People, Policy, Reading, Sandbox, Wire
from smsotp_nb.errors import SmsOtpWarning, UsageError

from .sending import NUMBERS, Clock, outcome, plan_of, sent

DAILY = Policy(caps=[(1, "24h")])


def test_campaigns_do_not_ignore_the_cap(box: Sandbox, ledger: Ledger) -> None:
    """Mautic #6729: the frequency rule held back broadcasts, and campaigns sent all the same."""
    for number, expected in enumerate(({"accepted": 30}, {"planned CAPPED": 30}, {"planned CAPPED": 30})):
        assert outcome(sent(plan_of(f"c{number}", text=f"{number}", policy=DAILY), box, ledger)) == expected
    assert len(box.inbox) == 30


def test_the_next_moment_is_found_by_the_window_not_by_the_count(box: Sandbox, ledger: Ledger, clock: Clock) -> None:
    """Mautic #4761: a message over the cap was put off by as many days as the cap's number."""
    policy = Policy(caps=[(3, "7d")], same_text=None)
    began = clock()
    for day in range(3):
        sent(plan_of(f"c{day}", policy=policy), box, ledger)
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
    table = sent(plan_of("second", policy=DAILY, wire=Wire(chunk_size=7)), box, ledger, threads=1)
    assert outcome(table) == {"planned CAPPED": 21, "accepted": 9}
    requests = len(ledger.record("second").requests)
    assert outcome(sent(plan_of("second", policy=DAILY, wire=Wire(chunk_size=7)), box, ledger)) == outcome(table)
    assert len(ledger.record("second").requests) == requests == 2


def test_who_unsubscribes_between_queue_and_send_is_not_sent_to(box: Sandbox, ledger: Ledger) -> None:
    """A reminder mailer filled its queue with whom it might send to, and sent hours later without asking again."""
    queued = plan_of("reminder")
    with ledger._begin(queued, service=box.client().service):
        People(ledger).opt_out(NUMBERS[3], source="web form")
    assert outcome(sent(queued, box, ledger)) == {"accepted": 29, "skipped OPTED_OUT": 1}
    assert NUMBERS[3] not in set(box.inbox["to"])


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
                path, column="phone", source="provider", at="received", reading=Reading(unreadable="ignore")
            )
        assert (found, found.read, found.matched, found.unreadable) == (new, 1, matched, 2)
    assert people.is_opted_out(NUMBERS[10])
    assert repr(found) == "0 new of 1 read, 1 person known before, 2 unreadable, said of 15 January 2026"
    path.write_text("phone\n\n-\n", encoding="utf-8")
    with pytest.warns(SmsOtpWarning, match="no number, so nothing was recorded|1 of 1 row cannot be read"):
        found = people.import_optouts(path, column="phone", source="p", reading=Reading(unreadable="ignore"))
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
    ("name", "cells", "said"),
    [
        ("consent", ["given", "withdrawn"], "'withdrawn'"),
        ("Opt-In", [True, False], "'False'"),
        ("status", ["active", "inactive"], "'inactive'"),
        ("Abgemeldet am", ["", "2026-04-01"], "'2026-04-01'"),
        ("opted_out", [0, 1], "'1'"),
        ("remark", ["", "Unsubscribed"], "'Unsubscribed'"),
        ("note", ["VIP", "deceased"], "'deceased'"),
        ("consentement", ["oui", "retiré"], "'retiré'"),
        ("zgoda", ["udzielona", "nie"], "'nie'"),
        ("同意", ["是", "否"], "'否'"),
        ("double_opt_in", ["confirmed", "pending"], "'pending'"),
        ("Zustimmung", ["erteilt", "entzogen"], "'entzogen'"),
        ("status", ["subscribed", "cleaned"], "'cleaned'"),
        ("state", ["subscribed", "paused"], "'paused'"),
        ("opt_in", ["Yes", "?"], r"'\?'"),
        ("deleted_at", ["", "2026-04-01"], "'2026-04-01'"),
        ("deleted_at", ["2026-01-01", ""], None),
        ("is_deleted", [False, False], None),
        ("consent source", ["web form", "shop"], None),
        ("consent", ["given", "yes"], None),
        ("payment", ["paid", "pending"], None),
        ("note", ["old customer", "moved to Berlin"], None),
        ("unsubscribed_at", ["2026-01-01", ""], None),
        ("opted_out", ["no", "No"], None),
        ("name", ["No", "Ann"], None),
        ("city", ["Old Town", "Le Mans"], None),
    ],
)
def test_opt_ins_with_a_column_that_says_no_are_refused(
    ledger: Ledger, name: str, cells: list[Any], said: str | None
) -> None:
    """They would end opt-outs. A no before the opt-in is none."""
    people = People(ledger)
    listed = pd.DataFrame({"phone": NUMBERS[:2], "at": "2026-03-01", name: cells}, index=["x", "y"])
    if said is None:
        assert people.import_optins(listed, column="phone", source="p", at="at", zone="UTC") == 2
        return
    with pytest.raises(UsageError, match=rf"column '{name}' says no in row 'y': {said}.*Nothing was recorded"):
        people.import_optins(listed, column="phone", source="p", at="at", zone="UTC")
    assert people.register.empty


DIFFERING = [  # of the first person yes, of the second no
    ("May we text you?", ["Yes", "No"]),
    ("Antwort", ["Ja, gerne", "Nein danke"]),
    ("Textable", ["1", "0"]),
    ("Sperre", ["", "X"]),
    ("Werbesperre", ["nein", "ja"]),
    ("Keine Werbung", [False, True]),
    ("Ne pas contacter", ["non", "oui"]),
    ("state", ["in", "out"]),
    ("SMS OK", ["x", None]),
    ("Response", ["да", "нет"]),
    ("keyword", ["START", "STOP"]),
    ("SMS Consent", ["SUBSCRIBED", "UNSUBSCRIBED"]),
    ("Tags", ["vip, subscribed", "vip, sms-unsubscribed"]),
    ("Zgoda", ["tak", "nie"]),
]


@pytest.mark.parametrize(("name", "cells"), DIFFERING)
def test_a_column_that_says_yes_of_some_and_no_of_others_refuses_both_imports(
    ledger: Ledger, name: str, cells: list[Any]
) -> None:
    people = People(ledger)
    listed = pd.DataFrame({"phone": NUMBERS[:2], "at": "2026-03-01", name: cells}, index=["x", "y"])
    name = name.replace("?", r"\?")
    with pytest.raises(UsageError, match=rf"column '{name}' says no in row 'y'.*leave these rows out, or pass a frame"):
        people.import_optins(listed, column="phone", source="p", at="at", zone="UTC")
    with pytest.raises(UsageError, match=rf"column '{name}' says of row 'x' that it is no opt-out.*pass a frame"):
        people.import_optouts(listed, column="phone", source="p", at="at", zone="UTC")
    assert people.register.empty


NO = "says no in row 0, 1"
YES = "says of row 0, 1 that it is no opt-out"


@pytest.mark.parametrize(
    ("name", "cell", "says"),
    [
        ("Kommentar", "möchte keine SMS", NO),
        ("Kommentar", "möchte keine SMS, nur an ann@example.com", NO),
        ("info", "ne souhaite pas de SMS", NO),
        ("x", "please do not contact", NO),
        ("obs", "no quiere mensajes", NO),
        ("Tags", "vip;sms-unsubscribed", NO),
        ("status", "unsubscribed", NO),
        ("opted_out", "yes", NO),
        ("Einwilligung", "nein", NO),
        ("keyword", "STOP", NO),
        ("Accepts SMS Marketing", "no", NO),
        ("status", "subscribed", YES),
        ("keyword", "Start", YES),
        ("opt_in", True, YES),
        ("consent", "given", YES),
        ("Werbesperre", "nein", YES),
        ("Einwilligung", "Ja", YES),
        ("list", "opted_in", YES),
    ],
)
def test_what_all_rows_say_refuses_the_one_import_and_not_the_other(
    ledger: Ledger, name: str, cell: Any, says: str
) -> None:
    people = People(ledger)
    listed = pd.DataFrame({"phone": NUMBERS[:2], "at": "2026-03-01", name: cell})
    refused, taken = people.import_optins, people.import_optouts
    if says == YES:
        refused, taken = taken, refused
    with pytest.raises(UsageError, match=says):
        refused(listed, column="phone", source="p", at="at", zone="UTC")
    assert taken(listed, column="phone", source="p", at="at", zone="UTC") == 2


def test_a_yes_in_a_word_that_may_mean_anything_counts_beside_a_no(ledger: Ledger) -> None:
    listed = pd.DataFrame({"phone": NUMBERS[:2], "log": ["STOP", "START"]})
    with pytest.raises(UsageError, match="column 'log' says of row 1 that it is no opt-out"):
        People(ledger).import_optouts(listed, column="phone", source="p")
    assert People(ledger).import_optouts(listed.assign(log=["other", "START"]), column="phone", source="p") == 2


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("customer", ["Ann", "active"]),
        ("orders", [0, 3]),
        ("email", ["stop@example.com", "no.text@example.com"]),
        ("city", ["Baja California", ""]),
        ("source", ["web form", "call centre"]),
        ("reason", ["", "answered by letter"]),
    ],
)
def test_a_column_of_other_things_refuses_no_import(ledger: Ledger, name: str, cells: list[Any]) -> None:
    people = People(ledger)
    listed = pd.DataFrame({"phone": NUMBERS[:2], "at": "2026-03-01", name: cells})
    assert people.import_optins(listed, column="phone", source="p", at="at", zone="UTC") == 2
    assert people.import_optouts(listed, column="phone", source="p", at="at", zone="UTC") == 2


def test_each_column_of_numbers_of_an_import_counts_and_a_column_of_yes_is_refused(ledger: Ledger) -> None:
    people = People(ledger)
    stops = pd.DataFrame({"phone": [NUMBERS[0], None], "WhatsApp": [None, NUMBERS[1]], "opted_out": [True, True]})
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
    with pytest.raises(UsageError, match=r"column 'Land' holds countries .* in row 'y': pass region='Land'"):
        people.import_optouts(stops, column="phone", source="p", default_region=default)
    assert people.import_optouts(stops, column="phone", source="p", default_region=default, region="Land") == 2
    assert people.is_opted_out("+61491570156")
    assert people.import_optouts(stops.head(1), column="phone", source="p", default_region=default).read == 1
    many = pd.DataFrame({"phone": ["+4930901820"] * 2000 + ["0491 570 156"], "Land": [None] * 2000 + ["AU"]})
    with pytest.raises(UsageError, match=r"column 'Land' holds countries .* in row 2000"):
        people.import_optouts(many, column="phone", source="p", default_region=default)
