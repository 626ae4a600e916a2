"""When something was said: dates with one reading, and what is unclear read against texting."""

from __future__ import annotations

import warnings
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from smsotp_nb import Ledger, NumberOptions, People, Sandbox
from smsotp_nb.errors import SmsOtpWarning, UsageError

from .sending import NUMBERS, Clock, outcome, plan_of, sent

ONE, TWO = NUMBERS[:2]
both = pytest.mark.both_ledgers


def stops(*cells: Any) -> pd.DataFrame:
    return pd.DataFrame({"phone": NUMBERS[: len(cells)], "when": pd.Series(cells, dtype=object)})


def stopped(ledger: Ledger, *cells: Any, **how: Any) -> Any:
    how = {"zone": "UTC", "source": "provider", **how}
    return People(ledger).import_optouts(stops(*cells), column="phone", at="when", **how)


def agreed(ledger: Ledger, *cells: Any, **how: Any) -> Any:
    how = {"zone": "UTC", "source": "form", **how}
    return People(ledger).import_optins(stops(*cells), column="phone", at="when", **how)


def days(ledger: Ledger) -> list[str]:
    register = People(ledger).register.sort_values("to")
    local = register["at"] + pd.to_timedelta(register["zone"].astype("int64"), unit="m")
    return local.dt.strftime("%Y-%m-%d").tolist()


# -- the order of day and month ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("cell", ["03/10/2025", "3-10-2025", "03/10/2025 14:05", "03.10.25", "03/10/25"])
def test_a_list_whose_dates_can_be_read_in_two_ways_is_refused_with_both(ledger: Ledger, cell: str) -> None:
    both_ways = (
        rf"'when' has dates .* two ways, such as '{cell}' in row 0; pass dayfirst=True if it is 3 October 2025, "
    )
    with pytest.raises(UsageError, match=both_ways + "dayfirst=False if 10 March 2025"):
        stopped(ledger, cell, "04/10/2025")
    assert People(ledger).register.empty
    assert (
        repr(stopped(ledger, cell, "04/10/2025", dayfirst=True))
        == "2 new of 2 read, said from 3 October 2025 to 4 October 2025"
    )
    assert days(ledger) == ["2025-10-03", "2025-10-04"]


def test_one_cell_tells_the_order_of_all(ledger: Ledger) -> None:
    new = stopped(ledger, "03/10/2025", "25/10/2025")
    assert (new, new.first_day, new.last_day) == (2, date(2025, 10, 3), date(2025, 10, 25))
    assert days(ledger) == ["2025-10-03", "2025-10-25"]


def test_cells_that_contradict_each_other_are_both_named(ledger: Ledger) -> None:
    with pytest.raises(
        UsageError, match="'25/10/2025' in row 2 begins with the day, '10/26/2025' in row 1 with the month"
    ):
        stopped(ledger, "03/10/2025", "10/26/2025", "25/10/2025")
    with pytest.raises(UsageError, match="row 1: when is no date with the day first: '10/26/2025'"):
        stopped(ledger, "03/10/2025", "10/26/2025", dayfirst=True)
    assert People(ledger).register.empty


@pytest.mark.parametrize(
    "cell",
    ["3.10.2025", "03.10.2025, 14:05 Uhr", "2025/10/03", "2025-10-03T14:05:06.123456Z", "20251003", "3 Oct 2025",
     "Oct 3, 2025", "3. Okt. 2025", "03-Okt-25", "Fri, 03 Oct 2025 14:05:00 +0000", "Friday 03/10/2025",
     "2025-10-03 2:05 PM", date(2025, 10, 3), pd.Timestamp("2025-10-03 14:05").to_pydatetime(),
     pd.Timestamp("2025-10-03 14:05", tz="UTC"),
     pd.Timestamp("2025-10-03").to_datetime64()],
    ids=str,
)  # fmt: skip
def test_what_has_one_reading_is_read(ledger: Ledger, cell: Any) -> None:
    assert stopped(ledger, cell) == 1
    assert days(ledger) == ["2025-10-03"]


@pytest.mark.parametrize(
    ("cell", "said"),
    [(45933, r"a number; .* 3 October 2025; pass format='excel'"), ("45933", "pass format='excel'"),
     (1759499100, "seconds since 1970"), ("1759499100000", "milliseconds since 1970"), (20251003, "format='%Y%m%d'"),
     ("10/2025", "names a month or a year"), ("2025-02-30", "a date that there is not"), ("soon", "no date: 'soon'"),
     ("14:05", "no date"), (None, "blank"), ("2025-10-03 14:05 CET", "no date"), ("1970-01-01", "before there were"),
     (True, "no date: True")],
    ids=str,
)  # fmt: skip
def test_what_is_no_date_is_named_and_not_guessed(ledger: Ledger, cell: Any, said: str) -> None:
    with pytest.raises(UsageError, match=f"row 1: when is .*{said}"):
        stopped(ledger, "2025-10-04", cell)
    assert People(ledger).register.empty


def test_the_numbers_of_a_spreadsheet_and_other_formats_are_read_when_they_are_named(ledger: Ledger) -> None:
    assert stopped(ledger, 45933, "45934.5", "2025-10-05", format="excel") == 3
    assert days(ledger) == ["2025-10-03", "2025-10-04", "2025-10-05"]
    assert People(ledger).register["whole_day"].tolist() == [True, False, True]
    assert stopped(ledger, "251001", source="other", format="%y%m%d") == 1
    for wrong in ({"format": "%d/%m"}, {"format": "days"}, {"dayfirst": "yes"}, {"format": "excel", "dayfirst": True}):
        with pytest.raises(UsageError, match=r"dayfirst=|format="):
            stopped(ledger, "251001", **wrong)


def test_a_workbook_with_real_dates_is_read(ledger: Ledger, tmp_path: Path) -> None:
    path = tmp_path / "stops.xlsx"
    stops(pd.Timestamp("2025-10-03"), pd.Timestamp("2025-10-04 14:05")).to_excel(path, index=False)
    People(ledger).import_optouts(path, column="phone", at="when", zone="UTC", source="provider")
    assert days(ledger) == ["2025-10-03", "2025-10-04"]


def test_a_moment_that_is_given_by_itself_follows_the_same_law(ledger: Ledger) -> None:
    people = People(ledger)
    with pytest.raises(UsageError, match="write '2025-10-03 10:00Z' if it is 3 October 2025, '2025-03-10 10:00Z'"):
        people.opt_out(ONE, source="phone", at="03/10/2025 10:00+00:00")
    with pytest.raises(UsageError, match="at= must be a time in the past with its zone"):
        people.opt_out(ONE, source="phone", at=45933)
    assert people.opt_out(ONE, source="phone", at="3 Oct 2025 10:00 UTC") == 1
    assert str(people.register["at"].iloc[0]) == "2025-10-03 10:00:00+00:00"


# -- against texting ---------------------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("first", ["out", "in"])
def test_a_day_without_an_hour_counts_against_texting(ledger: Ledger, box: Sandbox, first: str) -> None:
    """Two lists of one day, whichever is read first."""
    for turn in (first, {"out": "in", "in": "out"}[first]):
        (stopped if turn == "out" else agreed)(ledger, "2025-10-03", "2025-10-03 10:00", "2025-10-03")
    agreed(ledger, "2025-10-03 23:59", "2025-10-03 10:01", "2025-10-04", source="later")
    people = People(ledger)
    assert [people.is_opted_out(number) for number in NUMBERS[:3]] == [True, False, False]
    assert outcome(sent(plan_of("a", NUMBERS[:3]), box, ledger)) == {"accepted": 2, "skipped OPTED_OUT": 1}


def test_a_day_ends_where_it_was_said(ledger: Ledger) -> None:
    """3 October ends in Los Angeles when it is 9 h of the next day in Berlin."""
    stopped(ledger, "2025-10-03", "2025-10-03", zone="America/Los_Angeles")
    agreed(ledger, "2025-10-04 08:59", "2025-10-04 09:00", zone="Europe/Berlin")
    assert [People(ledger).is_opted_out(number) for number in (ONE, TWO)] == [True, False]
    assert People(ledger).register["whole_day"].sum() == 2
    assert "counted until the end of the day" in People(ledger).card().text()


def test_midnight_is_a_day_without_an_hour(ledger: Ledger) -> None:
    """A column of real times has one midnight for all who said no hour."""
    column = pd.DataFrame({"phone": [ONE, TWO], "when": pd.to_datetime(["2025-10-03 00:00", "2025-10-03 08:00"])})
    People(ledger).import_optouts(column, column="phone", at="when", zone="UTC", source="provider")
    agreed(ledger, "2025-10-03 09:00", "2025-10-03 09:00")
    assert [People(ledger).is_opted_out(number) for number in (ONE, TWO)] == [True, False]


@pytest.mark.parametrize("wall", ["2025-10-26 02:30", "2025-03-30 02:30"], ids=["repeated", "left out"])
def test_an_hour_of_changed_clocks_counts_against_texting(ledger: Ledger, wall: str) -> None:
    stopped(ledger, wall, zone="Europe/Berlin")
    agreed(ledger, wall, zone="Europe/Berlin")
    register = People(ledger).register
    assert register["said"].tolist() == ["opted in", "opted out"]
    assert register["at"].diff().iloc[1] == timedelta(hours=1)
    assert People(ledger).is_opted_out(ONE)


@both
def test_an_opt_out_that_is_said_now_is_later_than_what_a_fast_clock_recorded(ledger: Ledger, box: Sandbox) -> None:
    fast = Clock()
    fast.at = datetime.now(UTC) + timedelta(days=30)
    people = People(ledger, now=fast)
    people.opt_in(ONE, source="web form")
    assert People(ledger).opt_out(ONE, source="phone call") == 1
    assert People(ledger).opt_out(ONE, source="phone call") in (0, 1)  # under the fast entry's time it is the same one
    assert People(ledger).is_opted_out(ONE)
    assert outcome(sent(plan_of("a", [ONE]), box, ledger)) == {"skipped OPTED_OUT": 1}


@both
def test_a_clock_that_was_set_back_loses_no_opt_out(ledger: Ledger) -> None:
    clock = Clock()
    clock.at = datetime.now(UTC)
    people = People(ledger, now=clock)
    people.opt_in(ONE, source="web form")
    clock.later(hours=-2)
    people.opt_out(ONE, source="phone call")
    assert people.is_opted_out(ONE)


@pytest.mark.parametrize("ledger", ["server"], indirect=True)
def test_on_a_server_its_clock_counts(ledger: Ledger) -> None:
    slow = Clock()
    slow.at = datetime.now(UTC) - timedelta(days=400)
    people = People(ledger, now=slow)
    people.opt_out(ONE, source="phone call")
    assert abs(people.register["at"].iloc[0] - datetime.now(UTC)) < timedelta(minutes=5)
    slow.at = datetime.now(UTC) + timedelta(days=400)
    with pytest.raises(UsageError, match="in the future"):
        people.opt_in(ONE, source="web form", at=datetime.now(UTC) + timedelta(days=1))
    people.opt_in(ONE, source="web form")
    assert people.register["at"].max() < datetime.now(UTC) + timedelta(minutes=5)


@both
def test_an_opt_out_of_today_without_an_hour_counts_at_once_and_until_its_end(ledger: Ledger, box: Sandbox) -> None:
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    assert stopped(ledger, today) == 1
    assert outcome(sent(plan_of("a", [ONE]), box, ledger)) == {"skipped OPTED_OUT": 1}
    with pytest.warns(SmsOtpWarning, match="1 person stay"):
        People(ledger).opt_in(ONE, source="web form")
    assert People(ledger).is_opted_out(ONE)


def test_a_fast_clock_does_not_refuse_an_opt_out(ledger: Ledger, clock: Clock) -> None:
    people = People(ledger, now=clock)
    ahead = clock.at + timedelta(minutes=40)
    with pytest.raises(UsageError, match="in the future"):
        people.opt_in(ONE, source="web form", at=ahead)
    assert people.opt_out(ONE, source="phone", at=ahead) == 1
    with pytest.raises(UsageError, match="in the future"):
        people.opt_out(ONE, source="phone", at=clock.at + timedelta(days=2))


def test_a_list_of_opt_ins_needs_the_time_of_each(ledger: Ledger) -> None:
    with pytest.raises(UsageError, match="name the column of that time, such as at='signed_up'"):
        People(ledger).import_optins(stops(None), column="phone", source="form")


@both
def test_an_opt_in_of_before_does_not_bring_back_who_was_forgotten(ledger: Ledger) -> None:
    """Also where the opt-out of today counts until its end, and where the opt-in list has that day alone."""
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    people = People(ledger)
    stopped(ledger, today)
    people.forget([ONE, TWO])
    agreed(ledger, today, today)
    assert people.is_opted_out(ONE)
    assert people.is_opted_out(TWO)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmsOtpWarning)
        people.opt_in([ONE, TWO], source="web form")
    assert [people.is_opted_out(number) for number in (ONE, TWO)] == [True, False]


def test_an_opt_out_whose_time_cannot_be_read_still_counts(ledger: Ledger) -> None:
    """Who lets unreadable rows pass loses no opt-out whose number is there, and no opt-in comes of such a row."""
    with pytest.warns(SmsOtpWarning, match="counts as said now"):
        stopped(ledger, "no idea", numbers=NumberOptions(unreadable="ignore"))
    assert People(ledger).is_opted_out(ONE)
    with pytest.warns(SmsOtpWarning, match="are not recorded"):
        agreed(ledger, "no idea", "2026-01-02", numbers=NumberOptions(unreadable="ignore"))
    assert People(ledger).is_opted_out(ONE)
