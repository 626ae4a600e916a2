"""Whom a plan leaves out: people of another campaign in any form, and people who have two numbers of one phone."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from kills.people import plan_of
from kills.service import Post, Service
from support.sending import sent
from support.small_plans import number, people, plan

import smsotp_nb as sms
from smsotp_nb import Ledger, Limits, NumberOptions, RequestOptions, phones, results, send
from smsotp_nb.errors import LedgerError, SmsOtpWarning, UsageError


@pytest.fixture
def service() -> Iterator[Service]:
    with Service() as made:
        yield made


def problems(made: Any) -> list[str]:
    return made.rows["problem"].fillna("").tolist()  # type: ignore[no-any-return]


def listed_of(table: pd.DataFrame) -> pd.DataFrame:
    """Return those of a result table and somebody else."""
    return pd.DataFrame({"phone": [*table["to"], "+12025559999"], "name": "Ann"})


WITHOUT_PLUS = int(number(1)[1:])


@pytest.mark.parametrize(
    "source",
    [
        pytest.param({"phone": [number(9), None], "WhatsApp": [None, number(1)]}, id="WhatsApp"),
        pytest.param({"phone": [number(9), None], "Contact 2": [None, number(1)]}, id="Contact 2"),
        pytest.param({"phone": [number(9)] * 9_999 + [None], "mobile": [None] * 9_999 + [number(1)]}, id="one in many"),
        pytest.param({"phone": [number(9)] * 3, "mobile": ["see CRM", "see CRM", number(1)]}, id="words beside"),
    ],
)
def test_each_column_of_numbers_of_a_list_counts_whatever_its_name(source: dict[str, list[str]]) -> None:
    made = plan(people(3), exclude=pd.DataFrame(source))
    assert problems(made) == ["", "SUPPRESSED", ""]
    assert all(repr(name) in made.left_out["list"][0] for name in source)


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("SMS", ["yes", "no", "yes"]),
        ("lat", [52.520008, 48.137154, 53.551086]),
        ("last_seen", [1795800001, 1795800002, 1795800003]),
        ("Номер заказа", ["2025550101", "2025550102", "2025550103"]),
    ],
)
def test_a_column_of_other_things_is_none_of_numbers(name: str, cells: list[Any]) -> None:
    listed = pd.DataFrame({"phone": [number(7), number(8), number(9)], name: cells})
    made = plan(people(3), exclude=listed, default_region="DE")
    assert made.left_out[["list", "read", "unreadable"]].values.tolist() == [["a DataFrame", 3, 0]]


def test_two_columns_of_one_name_are_refused() -> None:
    listed = pd.DataFrame([[number(7), number(8), number(1)]], columns=["phone", "Mobile", "Mobile"])
    with pytest.raises(UsageError, match="several columns of the list are called 'Mobile'; rename them"):
        plan(people(3), exclude=listed)


def test_each_sheet_of_a_workbook_counts(tmp_path: Path) -> None:
    with pd.ExcelWriter(tmp_path / "stops.xlsx") as book:
        for at, sheet in enumerate(("Jan", "Feb")):
            pd.DataFrame({"phone": [number(at)]}).to_excel(book, sheet_name=sheet, index=False)
        pd.DataFrame({"read me": ["whom not to text", "see the wiki"]}).to_excel(book, sheet_name="About", index=False)
    made = plan(people(3), exclude=tmp_path / "stops.xlsx")
    assert problems(made) == ["SUPPRESSED", "SUPPRESSED", ""]


WRITTEN = {
    "national": lambda at: f"0151 23456{at:03d}",
    "digits": lambda at: f"015123456{at:03d}",
    "without its zero": lambda at: f"15123456{at:03d}",
    "number": lambda at: int(f"15123456{at:03d}"),
    "00": lambda at: f"004915123456{at:03d}",
    "without its plus": lambda at: f"4915123456{at:03d}",
}


@pytest.mark.parametrize("written", WRITTEN)
@pytest.mark.parametrize("name", [None, "Nummer", "Kunde hat STOP gesagt", "Privat", "numéro"])
@pytest.mark.parametrize("rows", [range(5, 6), range(5, 15)])
def test_national_numbers_of_any_column_and_sheet_of_a_list_count(
    tmp_path: Path, written: str, name: str | None, rows: range
) -> None:
    listed = pd.DataFrame({"phone": [f"+4915123456{at:03d}" for at in range(20)]})
    stops, more = listed[: len(rows)], [WRITTEN[written](at) for at in rows]
    with pd.ExcelWriter(tmp_path / "stops.xlsx") as book:
        stops.to_excel(book, sheet_name="Januar", index=False)
        pd.DataFrame({name: more}).to_excel(book, sheet_name="Februar", index=False, header=name is not None)
    beside = stops.assign(**{name or "column_2": more})
    people = sms.People(Ledger(tmp_path / "ledger.sqlite", create=True))
    people.import_optouts(beside, column="phone", source="p", default_region="DE")
    assert all(map(people.is_opted_out, listed["phone"].iloc[[*rows]]))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*the first one, is read as a person")
        for source in (beside, tmp_path / "stops.xlsx"):
            made = sms.plan(listed, "Hi", campaign="c", to="phone", default_region="DE", exclude=source)
            assert made.rows["problem"].eq("SUPPRESSED").sum() == len({*range(len(rows)), *rows})


def test_a_sheet_of_numbers_that_cannot_be_read_is_refused_and_one_without_any_is_not_named(tmp_path: Path) -> None:
    with pd.ExcelWriter(tmp_path / "stops.xlsx") as book:
        pd.DataFrame({"phone": [number(1)]}).to_excel(book, sheet_name="Jan", index=False)
        pd.DataFrame({"About": ["see the wiki", "2026-01-15"]}).to_excel(book, sheet_name="About", index=False)
    assert plan(people(3), exclude=tmp_path / "stops.xlsx").left_out["list"].tolist() == ["stops.xlsx"]
    for cells in (["0151 23456789"] * 3, ["see 0151 23456789", "nobody", "Ann", "Bob"]):
        with pd.ExcelWriter(tmp_path / "stops.xlsx") as book:
            pd.DataFrame({"phone": [number(1)]}).to_excel(book, sheet_name="Jan", index=False)
            pd.DataFrame({"Feb": cells}).to_excel(book, sheet_name="Feb", index=False)
        with pytest.raises(UsageError, match=r"sheet 'Feb'.*name default_region="):
            plan(people(3), exclude=tmp_path / "stops.xlsx")
    with pd.ExcelWriter(tmp_path / "stops.xlsx") as book:
        pd.DataFrame({"phone": [number(1)]}).to_excel(book, sheet_name="Jan", index=False)
        pd.DataFrame({"phone": [number(2), "0151 23"]}).to_excel(book, sheet_name="Feb", index=False)
    with pytest.raises(UsageError, match=r"1 entry of exclude= \(sheet 'Feb'\) cannot be read.*entry 3"):
        plan(people(3), exclude=tmp_path / "stops.xlsx")


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("Customer ID", ["(202) 555-0101", "(202) 555-0102", "(202) 555-0103"]),
        ("Home", ["see CRM", "nobody", "(202) 555-0101"]),
    ],
)
def test_a_column_that_may_hold_numbers_and_does_not_count_is_told(
    ledger: Ledger, tmp_path: Path, name: str, cells: list[str]
) -> None:
    """At the line of the caller, be it in a frame, in another sheet or in an import."""
    listed = pd.DataFrame({"phone": [number(7), number(8), number(9)], name: cells})
    with pd.ExcelWriter(tmp_path / "stops.xlsx") as book:
        listed[["phone"]].assign(source="web").to_excel(book, sheet_name="Jan", index=False)
        listed.to_excel(book, sheet_name="Feb", index=False)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        made = sms.plan(people(3), "Hi", campaign="c", to="phone", exclude=listed, default_region="US")
        sms.plan(people(3), "Hi", campaign="c", to="phone", exclude=tmp_path / "stops.xlsx", default_region="US")
        assert sms.People(ledger).import_optouts(listed, column="phone", source="p", default_region="US") == 3
    assert all(
        f"may hold numbers that do not count: '{name}'" in str(one.message).replace(" of sheet 'Feb'", "")
        for one in told
    )
    assert problems(made) == ["", "", ""]
    assert [Path(one.filename).name for one in told] == ["test_leaving_out.py"] * 3
    assert "of sheet 'Feb'" in str(told[1].message)


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("last_seen", ["2025550101", "2025550102", "2025550103"]),
        ("Revenue", ["2025550.10", "2025550.25", "2025550.99"]),
        ("Customer ID", ["2025550101", "2025550102", "2025550103"]),
        ("About", ["2026-01-15", "15.01.2026", "20260115"]),
        ("phone seen", [1764300000, 1764300001, 1764300002]),
    ],
)
def test_a_column_of_times_amounts_or_ids_holds_nobody(ledger: Ledger, name: str, cells: list[str]) -> None:
    listed = pd.DataFrame({"phone": [number(7), number(8), number(9)], name: cells})
    made = plan(people(3).assign(phone=["+12025550101", number(11), number(12)]), exclude=listed, default_region="US")
    assert problems(made) == ["", "", ""]
    assert sms.People(ledger).import_optouts(listed, column="phone", source="p", default_region="US") == 3


def test_why_a_column_is_in_doubt_is_told() -> None:
    listed = {"phone": [number(7)] * 3, "Büro": ["0151 2345678", "0151 2345679", "0151 2345677"]}
    with pytest.warns(SmsOtpWarning, match=r"'Büro' \(their country is not known\)"):
        plan(people(3), exclude=pd.DataFrame(listed))
    landlines = pd.DataFrame({"phone": [number(7)] * 3, "x": ["4930901820", "4930901821", "4930901822"]})
    with pytest.warns(SmsOtpWarning, match=r"'x' \(its numbers are of landlines\)"):
        plan(people(3), exclude=landlines, default_region="DE")


@pytest.mark.parametrize("source", [[], pd.DataFrame({"phone": []}), pd.Series([], dtype="str")])
def test_a_list_without_entries_is_told(source: Any) -> None:
    made = plan(people(3), exclude=source)
    assert made.left_out[["read", "matched"]].values.tolist() == [[0, 0]]
    assert "0 entries read" in str(made)


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(["(202) 555-0101"], id="list"),
        pytest.param((number(1),), id="tuple"),
        pytest.param({"+1 (202) 555-0101"}, id="set of raw numbers"),
        pytest.param([WITHOUT_PLUS], id="list of integers"),
        pytest.param([np.int64(WITHOUT_PLUS)], id="list of numpy's integers"),
        pytest.param(pd.Series([WITHOUT_PLUS]), id="Series of integers"),
        pytest.param(pd.Series([WITHOUT_PLUS, None]), id="Series of floats"),
        pytest.param(pd.Series([WITHOUT_PLUS, None], dtype="Int64"), id="Series of Int64"),
        pytest.param(pd.Series([str(WITHOUT_PLUS)], dtype="category"), id="category without a plus"),
        pytest.param(np.array([WITHOUT_PLUS]), id="array"),
        pytest.param(pd.DataFrame({"to": [WITHOUT_PLUS], "note": ["elsewhere"]}), id="frame with to beside another"),
        pytest.param(pd.DataFrame({"phone": ["202 555 0101"], "country": ["USA"], "x": [1]}), id="with a country"),
        pytest.param(pd.DataFrame({"Phone": ["202 555 0101"], "Country": ["us"]}), id="frame in capitals"),
        pytest.param(pd.DataFrame({"opted out": ["1 202 555 0101"]}), id="frame of one column"),
    ],
)  # fmt: skip
def test_numbers_are_left_out_in_any_form(source: Any) -> None:
    made = plan(people(3, country=["US"] * 3), region="country", default_region="US", exclude=source)
    assert problems(made) == ["", "SUPPRESSED", ""]


@pytest.mark.filterwarnings("ignore:.*read as a person and not as a header")
@pytest.mark.parametrize("content", ["phone\n202 555 0101\n", "202 555 0101\n202 555 0102\n"], ids=["header", "bare"])
def test_numbers_of_a_file_are_left_out(tmp_path: Path, content: str) -> None:
    file = tmp_path / "stop.csv"
    file.write_text(content, encoding="utf-8")
    for path in (file, str(file)):
        assert problems(plan(people(2), default_region="US", exclude=path)) == ["", "SUPPRESSED"]


@pytest.mark.parametrize("name", ["sent.csv", "sent.xlsx", "sent.parquet"])
def test_the_results_of_another_send_exclude_whom_they_name(
    name: str, service: Service, ledger: Ledger, tmp_path: Path
) -> None:
    """As the file that results.write wrote, as pandas reads it, and as the frame itself."""
    table = send(plan_of(2), client=service.client(), ledger=ledger, progress=False)
    results.write(table, tmp_path / name)
    sources: list[Any] = [table, tmp_path / name, str(tmp_path / name)]
    if name.endswith("csv"):
        read = pd.read_csv(tmp_path / name)
        assert read["to"].dtype == "int64"
        sources.append(read)
        for numbers in (read["to"], read["to"].tolist()):
            assert problems(plan(listed_of(table), default_region="US", exclude=numbers)) == [
                "SUPPRESSED",
                "SUPPRESSED",
                "",
            ]
    for source in sources:
        assert problems(plan(listed_of(table), exclude=source)) == ["EXCLUDED", "EXCLUDED", ""]


def test_numbers_of_several_countries_lose_nobody_with_their_plus() -> None:
    numbers = ["+4915112345678", "+33612345678", "+393123456789", "+5491123456789", "+264811234567", "+12025550123"]
    listed = pd.DataFrame({"phone": numbers, "name": "Ann"})
    made = plan(listed, default_region="US", exclude=pd.Series([int(to) for to in numbers], name="to"))
    assert problems(made) == ["SUPPRESSED"] * len(numbers)


@pytest.mark.parametrize(
    ("source", "says"),
    [
        pytest.param(["hello", number(1)], "1 entry of exclude= cannot be read", id="unreadable"),
        pytest.param([12345], "1 entry of exclude= cannot be read", id="a short integer"),
        pytest.param("missing.csv", "exclude='missing.csv' not found; pass the path", id="no file"),
        pytest.param(number(0), "not found; pass the path", id="a number instead of a list"),
        pytest.param({number(0): "x"}, "must be numbers, a Series, frame or path", id="dict"),
        pytest.param(5, "exclude= must be numbers, a Series, .*, got 5", id="int"),
        pytest.param(pd.DataFrame({"a": [1], "b": [2]}), "has no column 'phone' or 'to'", id="which column"),
    ],
)
def test_an_exclusion_that_cannot_be_understood_is_refused(source: Any, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        plan(exclude=source)


@pytest.mark.parametrize(
    ("cell", "whom"),
    [
        ("+1 202 555 0101 STOP", [1]),
        ("Unsubscribed 12.11.2026: (202) 555-0101", [1]),
        ("+12025550101 (ring twice)", [1]),
        ("+12025550101STOP", [1]),
        ("202 555 0101 / 202 555 0102", [1, 2]),
        ("+12025550101;+12025550102 no sms", [1, 2]),
        ("+12025550101\n+12025550102", [1, 2]),
    ],
)
def test_words_and_second_numbers_in_a_cell_of_a_stop_list_leave_nobody_in(cell: str, whom: list[int]) -> None:
    made = plan(people(3), exclude=[cell], default_region="US", numbers=NumberOptions(unreadable="ignore"))
    assert problems(made) == ["SUPPRESSED" if n in whom else "" for n in range(3)]
    assert made.left_out[["read", "unreadable"]].values.tolist() == [[1, 0]]
    assert plan(people(3), exclude=[cell], default_region="US").fingerprint == made.fingerprint


@pytest.mark.parametrize("cell", ["2025550101/2", "202 555 0101 or 202 555 99", "STOP", "1-800-FLOWERS"])
def test_a_cell_of_a_stop_list_with_a_number_that_cannot_be_read_is_unreadable(cell: str) -> None:
    with pytest.raises(UsageError, match="1 entry of exclude= cannot be read"):
        plan(people(3), exclude=[cell], default_region="US")


@pytest.mark.parametrize("name", ["Land", "country", "code_pays", "ISO"])
@pytest.mark.parametrize("by", ["name", "Series", None])
@pytest.mark.parametrize("default", ["DE", None])
def test_countries_of_a_stop_list_that_the_plan_does_not_name_count_too(
    name: str, by: str | None, default: str | None
) -> None:
    """Read by the default country alone, the number of the Australian is a German's."""
    listed = pd.DataFrame({"phone": ["0491 570 156", "030 901820"], "home": ["AU", "DE"], "name": "Ann"})
    region = {"name": "home", "Series": listed["home"], None: None}[by]
    listed["phone"] = listed["phone"] if by else ["+61491570156", "+4930901820"]
    stops = pd.DataFrame({"phone": ["0491 570 156", "+12025550199"], name: ["AU", "US"]})
    made = plan(listed, region=region, default_region=default, exclude=stops)
    assert problems(made) == ["SUPPRESSED", ""]
    assert made.left_out["list"].tolist() == [f"a DataFrame (also by the countries in '{name}')"]
    assert f"(also by the countries in '{name}') (2 entries read)" in " ".join(str(made).split())


def test_several_numbers_of_one_cell_of_a_stop_list_are_those_of_the_country_beside_them() -> None:
    listed = pd.DataFrame({"phone": ["+4930901820", "+4930901821", "+12025550123"], "name": "Ann"})
    stops = pd.DataFrame({"phone": ["030 901820, 030 901821"], "country": ["DE"]})
    assert problems(plan(listed, default_region=None, exclude=stops)) == ["SUPPRESSED", "SUPPRESSED", ""]


def test_every_column_of_a_stop_list_with_numbers_of_its_people_counts() -> None:
    """An agent's is told; what cannot be read beside the column of numbers proper refuses no plan."""
    stops = pd.DataFrame(
        {
            "phone": [number(1), number(2), None],
            "Mobile (opted out)": [number(3), "hello", number(4)],
            "fax": [number(5)] * 3,
            "agent phone": [number(6)] * 3,
        }
    )
    with pytest.warns(SmsOtpWarning, match=r"'agent phone' \(its name may speak of somebody else\)"):
        made = plan(people(7), exclude=stops)
    assert problems(made) == ["", *["SUPPRESSED"] * 5, ""]
    assert made.left_out.values.tolist() == [
        ["a DataFrame (columns 'phone', 'Mobile (opted out)', 'fax')", "SUPPRESSED", 7, 5, 1]
    ]


@pytest.mark.parametrize("name", ["customer mobile", "verified phone", "phone updated", "Kunden-Telefon", "Tel/Fax"])
def test_a_second_column_of_phones_counts_whatever_else_its_name_says(ledger: Ledger, name: str) -> None:
    stops = pd.DataFrame({"phone": ["2025550107"], name: ["2025550101"]})
    assert problems(plan(people(3), exclude=stops, default_region="US")) == ["", "SUPPRESSED", ""]
    assert sms.People(ledger).import_optouts(stops, column="phone", source="p", default_region="US") == 2


def test_an_index_of_numbers_and_files_of_any_name_leave_people_out(tmp_path: Path) -> None:
    stops = pd.DataFrame({"phone": [number(1)], "mobile": [number(2)]}).set_index("phone")
    assert problems(plan(people(3), exclude=stops)) == ["", "SUPPRESSED", "SUPPRESSED"]
    stops.reset_index().to_csv(tmp_path / "stop.list", index=False)
    assert problems(plan(people(3), exclude=[str(tmp_path / "stop.list")])) == ["", "SUPPRESSED", "SUPPRESSED"]
    with pytest.raises(UsageError, match="several columns of the list are called 'phone'"):
        plan(people(3), exclude=pd.DataFrame([[number(1), number(2)]], columns=["phone", "phone"]))


@pytest.mark.filterwarnings("ignore:.*there are rows in 'old' as well")
def test_hidden_sheets_of_a_stop_list_count(tmp_path: Path, ledger: Ledger) -> None:
    file = tmp_path / "stops.xlsx"
    with pd.ExcelWriter(file) as book:
        for sheet, place in (("new", 1), ("old", 2)):
            pd.DataFrame({"phone": [number(place)], "name": "Ann"}).to_excel(book, sheet_name=sheet, index=False)
        book.sheets["old"].sheet_state = "hidden"
    assert problems(plan(people(3), exclude=file)) == ["", "SUPPRESSED", "SUPPRESSED"]
    with pytest.raises(UsageError, match="rows in several sheets, also in 'old'"):
        sms.People(ledger).import_optouts(file, column="phone", source="p")


def test_unreadable_entries_stop_the_plan_and_are_listed_or_are_ignored_on_request() -> None:
    with pytest.raises(UsageError, match="2 entries of exclude= cannot be read") as caught:
        plan(exclude=["hello", None, "", "n/a", number(1), "2025550103"])
    assert [problem.split(":")[0] for problem in caught.value.problems] == ["entry 0", "entry 5"]
    assert "2025550103" not in str(caught.value)
    made = plan(exclude=["hello", number(1)], numbers=NumberOptions(unreadable="ignore"))
    assert problems(made) == ["", "SUPPRESSED", "", ""]
    assert len(plan(exclude=["+1 800 234 5678", number(0)]).skipped) == 1  # of a kind that is never texted


def test_a_results_file_is_a_suppression_list_too() -> None:
    made = plan(exclude=pd.DataFrame({"to": [WITHOUT_PLUS], "status": ["accepted"]}))
    assert problems(made) == ["", "SUPPRESSED", "", ""]


def test_a_campaign_excludes_whom_it_may_have_reached_and_nobody_else(service: Service, ledger: Ledger) -> None:
    """Accepted, in doubt and under way are left out; rejected, planned and skipped are not."""
    found = []

    def look(_: Post) -> None:
        if len(service.posts) == 4:
            found.append(plan(people(10), exclude=ledger.record("demo"), campaign="next"))

    service.seen = look
    service.script(["accept", "lost", "refuse", "accept"])
    made = plan(people(10), message="Hello", requests=RequestOptions(chunk_size=2))
    sent(made, service.client(), ledger, threads=1, limits=Limits(first=8))
    assert problems(found[0]) == ["EXCLUDED"] * 4 + [""] * 2 + ["EXCLUDED"] * 2 + [""] * 2


def test_a_purged_campaign_excludes_nobody_and_says_so(service: Service, ledger: Ledger) -> None:
    send(plan_of(2), client=service.client(), ledger=ledger, progress=False)
    ledger.record("autumn").purge()
    with pytest.raises(LedgerError, match="purged"):
        plan(exclude=ledger.record("autumn"))


# -- two numbers, one phone --------------------------------------------------------------------------------------------

PAIRS = [
    pytest.param("+5491123456789", "+541123456789", id="Argentina, from abroad and at home"),
    pytest.param("+5492214567890", "+542214567890", id="La Plata"),
]


@pytest.mark.parametrize(("one", "other"), PAIRS)
@pytest.mark.parametrize("turned", [False, True])
def test_two_numbers_of_one_phone_are_one_person(one: str, other: str, turned: bool) -> None:
    first, second = (other, one) if turned else (one, other)
    both = pd.DataFrame({"phone": [first, second], "name": ["Ann", "Ann"]}, index=["x", "y"])
    made = plan(both)
    assert problems(made) == ["", "DUPLICATE_OF"]
    assert "DUPLICATE_OF:x" in made.rows["note"].iloc[1]
    assert made.rows["to"].tolist() == [first, second]
    assert problems(plan(both.head(1), exclude=[second])) == ["SUPPRESSED"]
    assert phones.duplicates(pd.Series([first, second], index=["x", "y"])).tolist()[1] == "x"
    assert phones.report(phones.normalize(pd.Series([first, second]))).repeated == 1


def test_the_old_mobile_digit_of_mexico_is_the_same_phone() -> None:
    listed = pd.DataFrame({"phone": ["+525512345678", "+5215512345678"], "name": ["Ann", "Ann"]})
    assert problems(plan(listed)) == ["", "DUPLICATE_OF"]
    for source in (["+521 55 1234 5678"], pd.Series([5215512345678], name="to"), pd.Series(["+5215512345678"])):
        assert problems(plan(listed.head(1), exclude=source)) == ["SUPPRESSED"]


def test_a_campaign_that_texted_one_number_of_a_phone_excludes_the_other(service: Service, ledger: Ledger) -> None:
    first = plan(pd.DataFrame({"phone": ["+5491123456789"], "name": ["Ann"]}))
    send(first, client=service.client(), ledger=ledger, progress=False)
    listed = pd.DataFrame({"phone": ["+541123456789"], "name": ["Ann"]})
    assert problems(plan(listed, exclude=ledger.record("demo"), campaign="next")) == ["EXCLUDED"]


# -- one id, many records ----------------------------------------------------------------------------------------------


def test_one_id_on_many_records_is_warned_of_and_recorded(service: Service, ledger: Ledger) -> None:
    service.script(["one id"])
    with pytest.warns(SmsOtpWarning, match="4 records repeat the id of another one"):
        table = send(plan_of(5), client=service.client(), ledger=ledger, progress=False)
    assert table["status"].tolist() == ["accepted"] * 5
    assert "repeat the id" in ledger.record("autumn").requests["disagreement"].iloc[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        send(plan_of(5, campaign="winter"), client=service.client(), ledger=ledger, progress=False)


def test_a_plan_says_how_much_of_each_list_was_read_and_matched(tmp_path: Path) -> None:
    """A list that matches nobody is said aloud: it may be the wrong file, or read by the wrong country."""
    stops, other = tmp_path / "stops.csv", tmp_path / "old.csv"
    stops.write_text("phone\n+12025550123\n+12025550123\nfoo\n\n", encoding="utf-8")
    other.write_text("phone\n07911 123456\n", encoding="utf-8")
    listed = pd.DataFrame({"phone": ["+12025550123", "+12025550124", "+12025550123"]})
    texted = sms.plan(listed[1:2], "Hi", campaign="before", to="phone")
    how: dict[str, Any] = {"to": "phone", "default_region": "GB", "numbers": sms.NumberOptions(unreadable="ignore")}
    given = [stops, str(other), texted]
    made = sms.plan(listed, "Hi", campaign="told", exclude=given, **how)
    columns = ["list", "problem", "read", "matched", "unreadable"]
    assert made.left_out[columns].values.tolist() == [
        ["stops.csv", "SUPPRESSED", 2, 2, 1],
        ["old.csv", "SUPPRESSED", 1, 0, 0],
        ["campaign 'before'", "EXCLUDED", 1, 1, 0],
    ]
    card = " ".join(str(made).split())
    assert "! exclude: old.csv matches nobody of this list (1 entry read)." in card
    assert "i exclude: 2 rows are on stops.csv (2 entries read, 1 unreadable)." in card
    listed.to_parquet(tmp_path / "list.parquet")
    (tmp_path / "work").mkdir()
    folder = sms.Folder(tmp_path, into=tmp_path / "work" / "plan")
    pd.testing.assert_frame_equal(sms.plan(folder, "Hi", campaign="f", exclude=given, **how).left_out, made.left_out)
    assert made.reworded("Ho").left_out.equals(made.left_out)
    assert sms.plan(listed, "Hi", campaign="none", to="phone").left_out.empty
