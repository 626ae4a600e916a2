"""Frames and columns of other libraries go in at every door, and results come back in the kind that went in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import narwhals as nw
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import smsotp_nb as sms
from smsotp_nb.errors import SmsOtpWarning, UsageError

PEOPLE = pd.DataFrame(
    {
        "phone": ["+12025550123", "(415) 555-0100", "+12025550123", "nobody", None],
        "country": ["US", "US", "US", "DE", "US"],
        "name": ["Ann", "Zoë", "Ann", "Bob", "Cy"],
        "points": pd.array([5, 7, 5, 1, None], dtype="Int64"),
    }
)
SUMMED = pd.DataFrame(
    {
        "to": ["+12025550123", "+14155550100"],
        "region": ["US", "US"],
        "iso": ["US", "US"],
        "status": ["accepted", "accepted"],
        "parts": pd.array([1, 2], dtype="Int64"),
        "est_parts": pd.array([1, 1], dtype="Int64"),
        "price": [0.01, 0.02],
        "est_cost": [0.01, 0.01],
        "currency": ["USD", "USD"],
        "est_currency": ["USD", "USD"],
        "at": pd.to_datetime(["2026-01-01", "2026-02-01"], utc=True),
        "team": ["a", "b"],
    }
)
KINDS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "polars": lambda frame: pl.from_arrow(arrow(frame)),
    "lazy polars": lambda frame: pl.from_arrow(arrow(frame)).lazy(),  # type: ignore[union-attr]
    "arrow": lambda frame: arrow(frame),
    "record batch": lambda frame: arrow(frame).to_batches()[0],
    "duckdb": lambda frame: duckdb.from_arrow(arrow(frame)),
    "dicts": lambda frame: frame.astype(object).where(frame.notna(), None).to_dict("records"),
    "narwhals": lambda frame: nw.from_native(arrow(frame)),
}
COLUMNS: dict[str, Callable[[pd.Series], Any]] = {
    "polars": lambda column: pl.Series(column.name, column.astype(object).where(column.notna(), None).tolist()),
    "arrow": lambda column: pa.array(column, from_pandas=True),
    "chunks": lambda column: pa.chunked_array([pa.array(column, from_pandas=True)]),
}
kinds = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
columns = pytest.mark.parametrize("kind", COLUMNS.values(), ids=COLUMNS)


def arrow(frame: pd.DataFrame) -> pa.Table:
    return pa.Table.from_pandas(frame, preserve_index=False)


def planned(people: Any, **options: Any) -> sms.Plan:
    given: dict[str, Any] = {"to": "phone", "region": "country", "campaign": "autumn"}
    given["message"] = "Hi {name}: {points|0}"
    return sms.plan(people, **(given | options))


def same(found: pd.DataFrame, wanted: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(found, wanted, check_dtype=False, check_column_type=False)


FRAME_DOORS: dict[str, Callable[[Callable[[pd.DataFrame], Any]], pd.DataFrame]] = {
    "plan": lambda kind: planned(kind(PEOPLE), keep=["points"]).rows,
    "the texts of a plan": lambda kind: planned(kind(PEOPLE)).bodies,
    "plan suppress=": lambda kind: planned(PEOPLE, exclude=kind(PEOPLE[["phone"]].head(1))).rows,
    "plan exclude=": lambda kind: planned(PEOPLE, exclude=kind(SUMMED)).rows,
    "plan rates=": lambda kind: planned(PEOPLE, rates=kind(rates())).estimate,
    "phones.find_columns": lambda kind: sms.phones.find_columns(kind(PEOPLE)).shares,
    "phones.explode": lambda kind: sms.phones.explode(kind(PEOPLE.dropna()), "phone"),
    "phones.report": lambda kind: sms.phones.report(kind(judged())).problems,
    "phones.rejected": lambda kind: sms.phones.rejected(kind(PEOPLE), kind(judged())),
    "phones.clean_chunks": lambda kind: next(sms.phones.clean_chunks([kind(PEOPLE)], phone="phone")).rows,
    "rates.check": lambda kind: sms.rates.check(kind(rates())),
    "results.check": lambda kind: sms.results.check(kind(SUMMED), columns=["status", "parts"]),
    "cost.by_country": lambda kind: sms.cost.by_country(kind(SUMMED)),
    "cost.by": lambda kind: sms.cost.by(kind(SUMMED), ["team"]),
    "cost.by_month": lambda kind: sms.cost.by_month(kind(SUMMED)),
    "cost.compare": lambda kind: sms.cost.compare(kind(SUMMED)),
    "cost.differences": lambda kind: sms.cost.differences(kind(SUMMED)),
    "cost.change": lambda kind: sms.cost.change(kind(SUMMED), kind(SUMMED)),
    "cost.outcomes": lambda kind: sms.cost.outcomes(kind(SUMMED)),
    "cost.rates": lambda kind: sms.cost.rates(kind(SUMMED)),
    "cost.summary": lambda kind: sms.cost.summary(kind(SUMMED)),
    "cost.unpriced_rows": lambda kind: sms.cost.unpriced_rows(kind(SUMMED)),
    "cost.convert": lambda kind: sms.cost.convert(kind(sms.cost.by_country(SUMMED)), {"USD": 2}, to="EUR"),
    "templates": lambda kind: planned(kind(PEOPLE)).texts.to_frame("text"),
}


def as_pandas(frame: Any) -> pd.DataFrame:
    found: pd.DataFrame = sms.results.like(frame, PEOPLE)
    return found


def judged() -> pd.DataFrame:
    return sms.phones.normalize(PEOPLE["phone"], region=PEOPLE["country"])


def rates() -> pd.DataFrame:
    return pd.DataFrame({"iso": ["US"], "currency": ["USD"], "price": ["0.007500"]})


@kinds
def test_every_kind_holds_the_same(kind: Callable[[pd.DataFrame], Any]) -> None:
    for frame in (PEOPLE, SUMMED):
        same(as_pandas(kind(frame)), frame)


# On pandas 2 a blank of the caller's own column may be None in one kind of frame and NaN in another.
@pytest.mark.filterwarnings("ignore:Mismatched null-like values")
@pytest.mark.parametrize("kind", [KINDS["polars"], KINDS["duckdb"], KINDS["dicts"]], ids=["polars", "duckdb", "dicts"])
@pytest.mark.parametrize("door", FRAME_DOORS.values(), ids=FRAME_DOORS)
@pytest.mark.sampled(24)
def test_a_frame_of_another_library_is_read_as_pandas_own(
    door: Callable[[Callable[[pd.DataFrame], Any]], pd.DataFrame], kind: Callable[[pd.DataFrame], Any]
) -> None:
    same(door(kind), door(lambda frame: frame))


COLUMN_DOORS: dict[str, Callable[[Callable[[pd.Series], Any]], Any]] = {
    "phones.normalize": lambda kind: sms.phones.normalize(kind(PEOPLE["phone"]), region=kind(PEOPLE["country"])),
    "phones.parse": lambda kind: sms.phones.parse(kind(PEOPLE["phone"]), region=kind(PEOPLE["country"])),
    "plan region=": lambda kind: planned(PEOPLE, region=kind(PEOPLE["country"])).rows,
    "plan suppress=": lambda kind: planned(PEOPLE, exclude=kind(PEOPLE["phone"].head(1))).rows,
    "phones.duplicates": lambda kind: sms.phones.duplicates(kind(PEOPLE["phone"].head(3))).to_frame("row"),
    "parts.counts": lambda kind: pd.DataFrame(sms.parts.counts(kind(PEOPLE["name"]))),
}


@columns
@pytest.mark.parametrize("door", COLUMN_DOORS.values(), ids=COLUMN_DOORS)
def test_a_column_of_another_library_is_read_as_pandas_own(
    door: Callable[[Callable[[pd.Series], Any]], pd.DataFrame], kind: Callable[[pd.Series], Any]
) -> None:
    same(door(kind), door(lambda column: column))


@kinds
def test_a_campaign_comes_back_in_the_kind_that_went_in(
    kind: Callable[[pd.DataFrame], Any], client: sms.Client, ledger: sms.Ledger
) -> None:
    people = kind(PEOPLE)
    table = sms.send(planned(people, keep=["points"]), client=client, ledger=ledger)
    found = sms.results.like(table, people)
    native = people.to_native() if isinstance(people, nw.DataFrame) else people
    assert type(found) is type(native)
    again = as_pandas(found)
    assert list(again.columns) == list(table.columns)
    assert again["status"].tolist() == ["accepted", "accepted", "skipped", "skipped", "skipped"]
    assert again["points"].tolist()[:4] == [5, 7, 5, 1]
    same(sms.results.check(again)[["to", "id", "at", "price"]], table[["to", "id", "at", "price"]])
    assert type(table.smsotp.like(people)) is type(native)


@kinds
def test_doubt_is_settled_with_a_frame_of_any_kind(
    kind: Callable[[pd.DataFrame], Any], box: sms.Sandbox, client: sms.Client, ledger: sms.Ledger
) -> None:
    box.fault("drop_after")
    with pytest.warns(SmsOtpWarning, match="in doubt"):
        sms.send(planned(PEOPLE), client=client, ledger=ledger)
    campaign = ledger.record("autumn")
    assert campaign.settle(kind(campaign.in_doubt[["to"]]), accepted=True) == 2
    assert len(campaign.in_doubt) == 0


@kinds
def test_forms_and_files_take_a_frame_of_any_kind(
    kind: Callable[[pd.DataFrame], Any], client: sms.Client, tmp_path: Path
) -> None:
    assert sms.widgets.PhoneCleaner(kind(PEOPLE), default_region="US").settle().phone.value == "phone"
    assert sms.widgets.CampaignForm(kind(PEOPLE), client=client).fields.phone.value == "phone"
    file = sms.results.write(kind(SUMMED), tmp_path / "r.csv")
    assert pd.read_csv(file, dtype=str)["to"].tolist() == SUMMED["to"].tolist()
    assert "USD" in str(sms.charts.bars(kind(sms.cost.by_country(SUMMED))))


def test_whole_numbers_with_gaps_stay_whole() -> None:
    """A phone number of a column with a gap would otherwise be read as a decimal number, and a value as 5.0."""
    frame = pl.DataFrame({"phone": [4915112345678, None], "on": [True, None], "points": [1.5, None]})
    found = as_pandas(frame)
    assert found.dtypes.astype(str).tolist() == ["Int64", "boolean", "float64"]
    assert as_pandas([{"phone": 4915112345678}, {"on": True}])["phone"].tolist()[0] == 4915112345678


def test_two_columns_of_one_name_stay_two() -> None:
    table = pa.table([pa.array([1]), pa.array([2])], names=["phone", "phone"])
    assert as_pandas(table).columns.tolist() == ["phone", "phone"]
    with pytest.raises(UsageError, match="phone"):
        sms.plan(table, "Hi", to="phone", campaign="autumn")


def test_a_frame_of_pandas_is_itself() -> None:
    assert sms.results.like(PEOPLE, PEOPLE) is PEOPLE


def test_what_is_no_frame_is_said() -> None:
    with pytest.raises(UsageError, match="like needs a frame, got int"):
        sms.results.like(5, PEOPLE)
    with pytest.raises(UsageError, match="the wanted kind, got str"):
        sms.results.like(PEOPLE, "polars")
    mixed = pd.DataFrame({"kept": pd.Series([1, "one"], dtype=object)})
    with pytest.raises(UsageError, match="no other library can hold this table"):
        sms.results.like(mixed, pl.DataFrame())
    assert sms.results.like(mixed, [{}]) == [{"kept": 1}, {"kept": "one"}]
