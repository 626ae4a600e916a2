"""A column that is not there is answered alike wherever a column is named: the nearest name, and those there are."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import pyarrow as pa
import pytest

import smsotp_nb as sms
from smsotp_nb._ledger.reading import parquet
from smsotp_nb.errors import UsageError
from smsotp_nb.widgets import PhoneCleaner

PEOPLE = pd.DataFrame({"phone": ["+1 202 555 0123"], "country": ["US"]})
RESULTS = pd.DataFrame({"status": ["accepted"], "parts": [1], "price": [0.01], "currency": ["USD"], "segment": ["a"]})
CALLS: dict[str, tuple[Callable[[], object], str, str]] = {
    "plan, to": (lambda: sms.plan(PEOPLE, "y", to="fone", campaign="x"), "fone", "phone"),
    "plan, region": (
        lambda: sms.plan(PEOPLE, "y", to="phone", region="contry", campaign="x"), "contry", "country",
    ),
    "plan, keep": (lambda: sms.plan(PEOPLE, "y", to="phone", campaign="x", keep=["Fone"]), "Fone", "phone"),
    "on a frame": (lambda: PEOPLE.smsotp.normalize("fone"), "fone", "phone"),
    "on a frame, region": (lambda: PEOPLE.smsotp.normalize("phone", region="contry"), "contry", "country"),
    "cost.by": (lambda: sms.cost.by(RESULTS, "segmnt"), "segmnt", "segment"),
    "a result table": (lambda: sms.cost.by(RESULTS.rename(columns={"price": "prise"}), "segment"), "price", "prise"),
    "rates": (lambda: sms.rates.check(pd.DataFrame({"iso": [], "currency": [], "prise": []})), "price", "prise"),
    "explode": (lambda: sms.phones.explode(PEOPLE, "fone"), "fone", "phone"),
    "clean_chunks": (lambda: next(sms.phones.clean_chunks([PEOPLE], phone="fone")), "fone", "phone"),
    "a batch": (
        lambda: sms.phones.normalize_batch(pa.Table.from_pandas(PEOPLE), phone="fone"), "fone", "phone",
    ),
    "a form": (lambda: PhoneCleaner(PEOPLE, phone="fone"), "fone", "phone"),
}  # fmt: skip


@pytest.mark.parametrize(("call", "asked", "near"), CALLS.values(), ids=CALLS)
def test_a_column_that_is_not_there_is_answered_alike(call: Callable[[], object], asked: str, near: str) -> None:
    with pytest.raises(UsageError) as caught:
        call()
    assert f"no column {asked!r}; did you mean {near!r}?" in str(caught.value)
    assert "(columns: '" in str(caught.value)


def test_a_placeholder_without_a_column_is_answered_like_a_column() -> None:
    with pytest.raises(UsageError, match=r"no column for the placeholder \{fone\}; did you mean 'phone'\? \(columns: "):
        sms.plan(PEOPLE, "Hi {fone}", to="phone", campaign="x")


def test_a_series_in_place_of_a_name_is_not_printed() -> None:
    """Its cells may be numbers of people."""
    with pytest.raises(UsageError, match="a column is named by its name, got Series") as caught:
        sms.plan(PEOPLE, "y", to="phone", campaign="x", keep=[PEOPLE["phone"]])  # type: ignore[arg-type]
    assert "555" not in str(caught.value)


def test_every_column_of_a_folder_of_parquet_has_its_meaning() -> None:
    assert list(parquet.MEANINGS) == ["month", *parquet.SCHEMA.names]
