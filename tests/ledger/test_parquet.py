"""The ledger as Parquet: other engines find in it what `cost` finds, and a later call writes what has changed."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest
from support.sending import sent
from support.small_plans import people, plan

import smsotp_nb as sms
from smsotp_nb import Client, Ledger, Sandbox, cost
from smsotp_nb.errors import SmsOtpWarning, UsageError

TABLE = """
SELECT {names}, currency, count(*) AS messages, coalesce(sum(parts), 0) AS parts, sum(price) AS cost
FROM read_parquet('{folder}/month=*/*.parquet', hive_partitioning=true, hive_types_autocast=false)
WHERE status='accepted' GROUP BY ALL ORDER BY ALL
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "parquet"


@pytest.fixture
def months(box: Sandbox, tmp_path: Path) -> Ledger:
    """Three campaigns in two months; one was sent partly, one lost a reply."""
    clock = pd.Timestamp("2026-10-30T09:00Z")
    ledger = Ledger(tmp_path / "l.sqlite", create=True, now=lambda: clock.to_pydatetime())
    frame = people(9).assign(segment=["a", "b", "ü"] * 3)
    sent(
        plan(frame, keep=["segment"], requests=sms.RequestOptions(chunk_size=2), campaign="october"),
        box.client(),
        ledger,
    )
    sent(
        plan(frame, message="Half of them", requests=sms.RequestOptions(chunk_size=2), campaign="part"),
        box.client(),
        ledger,
        limits=sms.Limits(first=4),
    )
    clock = pd.Timestamp("2026-11-02T09:00Z")
    box.fault("drop_after", next=1)
    sent(
        plan(frame, message="Later", keep=["segment"], requests=sms.RequestOptions(chunk_size=3), campaign="november"),
        box.client(),
        ledger,
    )
    return ledger


def by_duckdb(folder: Path, *names: str) -> pd.DataFrame:
    return duckdb.sql(TABLE.format(names=", ".join(names), folder=folder)).df()


def same(found: pd.DataFrame, ours: pd.DataFrame) -> None:
    """Compare two cost tables as sets of rows, amounts exactly."""
    names = list(found.columns)
    both = [table[names].astype({"cost": "float64", "messages": "int64", "parts": "int64"}) for table in (found, ours)]
    both = [table.sort_values(names).astype(object).where(table.notna(), None) for table in both]
    assert both[0].values.tolist() == both[1].values.tolist()
    assert len(found)


@pytest.mark.parametrize("names", [("month",), ("iso",), ("campaign", "month", "encoding"), ("type", "iso")], ids=str)
def test_duckdb_finds_what_cost_finds(months: Ledger, folder: Path, names: tuple[str, ...]) -> None:
    months.to_parquet(folder)
    same(by_duckdb(folder, *names), cost.by(months, list(names)))


def test_duckdb_and_polars_read_kept_columns_and_polars_the_months(months: Ledger, folder: Path) -> None:
    months.to_parquet(folder)
    ours = cost.by(months, ["segment"]).assign(segment=lambda table: table["segment"].astype(object))
    same(by_duckdb(folder, "kept->>'segment' AS segment").dropna(), ours.dropna(subset="segment"))
    found = (
        pl.scan_parquet(folder / "month=*" / "*.parquet", hive_partitioning=True, hive_schema={"month": pl.String})
        .filter(pl.col("status") == "accepted")
        .group_by("month", "currency", kept=pl.col("kept").str.json_path_match("$.segment"))
        .agg(messages=pl.len(), parts=pl.sum("parts"), cost=pl.sum("price"))
        .collect()
        .to_pandas()
    )
    same(
        found.dropna(), cost.by(months, ["month", "segment"]).rename(columns={"segment": "kept"}).dropna(subset="kept")
    )


def test_every_row_is_there_as_the_ledger_has_it(months: Ledger, folder: Path) -> None:
    """All states, not only what was billed; amounts are decimals."""
    months.to_parquet(folder)
    found = pd.concat(pq.ParquetFile(path).read().to_pandas() for path in folder.glob("*/*"))
    for name in ("october", "part", "november"):
        ours = months.record(name).results
        theirs = found[found["campaign"].eq(name)].set_index("row").sort_index().rename_axis(None)
        names = [column for column in sms.results.COLUMNS if column not in ("price", "est_cost")]
        for column in ("at", "not_before"):
            theirs[column] = theirs[column].dt.tz_localize(None)
        typed = theirs[names].astype(ours[names].dtypes.to_dict())  # None and NaN are both missing
        pd.testing.assert_frame_equal(typed, ours[names])
        pd.testing.assert_series_equal(theirs["price"].astype("float64"), ours["price"], check_exact=True)
    assert set(found["status"]) == {"accepted", "planned", "in_doubt"}
    assert found["rehearsal"].all()


def test_all_files_have_one_schema_and_are_for_their_owner_alone(months: Ledger, folder: Path) -> None:
    files = months.to_parquet(folder)["file"].tolist()
    for file in files:
        assert pq.read_schema(file).equals(pq.read_schema(files[0]))
        assert stat.S_IMODE(Path(file).stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_second_call_writes_what_changed(months: Ledger, folder: Path, box: Sandbox) -> None:
    """Rows whose fate was decided later, rows sent later into another month, and nothing else."""
    first = months.to_parquet(folder)
    assert first[["month", "campaign", "what"]].values.tolist() == [
        ["2026-10", "october", "written"],
        ["2026-10", "part", "written"],
        ["2026-11", "november", "written"],
    ]
    before = {file: Path(file).stat().st_mtime_ns for file in first["file"]}
    assert months.to_parquet(folder)["what"].tolist() == ["unchanged"] * 3
    assert before == {file: Path(file).stat().st_mtime_ns for file in first["file"]}
    november = months.record("november")
    assert november.settle(november.in_doubt.iloc[:1], accepted=True, reason="invoice") == 1
    assert months.to_parquet(folder)["what"].tolist() == ["unchanged", "unchanged", "written"]
    same(by_duckdb(folder, "month"), cost.by(months, ["month"]))
    november.settle(november.in_doubt, accepted=False)
    sent(
        plan(
            people(9).assign(segment=["a", "b", "ü"] * 3),
            message="Half of them",
            requests=sms.RequestOptions(chunk_size=2),
            campaign="part",
        ),
        box.client(),
        months,
    )
    found = months.to_parquet(folder)
    assert found[["month", "campaign", "what", "rows"]].values.tolist() == [
        ["2026-10", "october", "unchanged", 9],
        ["2026-10", "part", "written", 4],
        ["2026-11", "part", "written", 5],
        ["2026-11", "november", "written", 9],
    ]
    assert months.to_parquet(folder)["what"].unique().tolist() == ["unchanged"]


def test_a_file_that_was_lost_or_cut_is_written_again(months: Ledger, folder: Path) -> None:
    files = [Path(file) for file in months.to_parquet(folder)["file"]]
    files[0].unlink()
    assert months.to_parquet(folder)["what"].tolist() == ["written", "unchanged", "unchanged"]
    files[1].write_bytes(files[1].read_bytes()[:-20])
    with pytest.raises(UsageError, match=r"campaign-2\.parquet is not a file of to_parquet"):
        months.to_parquet(folder)


def test_who_is_forgotten_or_purged_is_gone_from_the_folder(months: Ledger, folder: Path) -> None:
    months.to_parquet(folder)
    number = people(9)["phone"].iloc[0]
    with pytest.warns(SmsOtpWarning, match="Parquet folder"):
        sms.People(months).forget(number)
    assert months.to_parquet(folder)["what"].tolist() == ["written"] * 3
    assert not duckdb.sql(f"SELECT 1 FROM '{folder}/*/*.parquet' WHERE \"to\"='{number}'").fetchall()
    with pytest.warns(SmsOtpWarning, match="Parquet folder"):
        months.record("october").purge()
    found = months.to_parquet(folder)
    assert found[["campaign", "rows", "what"]].values.tolist() == [
        ["october", 9, "removed"],
        ["part", 9, "unchanged"],
        ["november", 9, "unchanged"],
    ]
    assert by_duckdb(folder, "campaign")["campaign"].tolist() == ["november", "part"]


def test_a_purge_says_that_the_folder_still_has_the_rows(months: Ledger, folder: Path) -> None:
    months.to_parquet(folder)
    with pytest.warns(SmsOtpWarning, match=f"Parquet folder {folder} of 2026-11-02"):
        assert months.record("october").purge() == 9
    assert len(by_duckdb(folder, "campaign")) == 3


def test_a_folder_without_its_files_is_named_as_gone(months: Ledger, folder: Path) -> None:
    for file in months.to_parquet(folder)["file"]:
        Path(file).unlink()
    with pytest.warns(
        SmsOtpWarning, match=f"Parquet folder {folder} of 2026-11-02 .*, which is no longer in its place"
    ):
        months.record("october").purge()


def test_a_folder_of_another_ledger_is_refused(months: Ledger, folder: Path, ledger: Ledger, client: Client) -> None:
    """Queries would add both up, so nothing is written."""
    months.to_parquet(folder)
    sent(plan(people(1)), client, ledger)
    with pytest.raises(UsageError, match="was written from another ledger"):
        ledger.to_parquet(folder)
    (folder / "file").touch()
    with pytest.raises(UsageError, match="cannot be made"):
        ledger.to_parquet(folder / "file")


def test_what_a_file_was_made_from_names_nobody(months: Ledger, folder: Path) -> None:
    said = json.loads(pq.read_metadata(months.to_parquet(folder)["file"].iloc[0]).metadata[b"smsotp_nb"])
    assert set(said) == {"ledger", "campaign", "state", "months"}
