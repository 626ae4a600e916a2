"""Dates of invoices, exchange rates, sums and spans of time: read where they have one reading."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from smsotp_nb import Ledger, cost
from smsotp_nb.errors import SmsOtpWarning, UsageError

DAY = "2025-10-03"
TABLE = pd.DataFrame({"currency": ["CNY"], "day": [DAY], "messages": 1, "parts": 1, "cost": [10.0], "unpriced": 0})


def invoice(*cells: Any) -> pd.DataFrame:
    return pd.DataFrame({"to": "+12025550123", "at": list(cells), "price": 0.0075, "currency": "USD"})


def converted(day: Any = DAY, date: Any = DAY) -> list[float]:
    rates = pd.DataFrame({"date": [date], "currency": "CNY", "rate": ["0.14"]})
    done = cost.convert(TABLE.assign(day=day), rates, to="USD", source="bank")
    return done["exchange_rate"].tolist()  # type: ignore[no-any-return]


def forecast(day: Any) -> str:
    sums = pd.DataFrame({"day": [day] * 3, "currency": "USD", "messages": 1, "parts": 1, "cost": 0.3, "unpriced": 0})
    return cost.forecast(sums).what


READERS: dict[str, Callable[[Ledger, Any], Any]] = {
    "invoice": lambda ledger, cell: cost.reconcile_invoice(ledger, invoice(cell)),
    "date of an exchange rate": lambda _, cell: converted(date=cell),
    "day of a table that is converted": lambda _, cell: converted(day=cell),
    "day of a history": lambda _, cell: forecast(cell),
    "since": lambda ledger, cell: cost.spending(ledger, since=cell),
    "until": lambda ledger, cell: cost.spending(ledger, until=cell),
    "words": lambda ledger, cell: cost.words(ledger, since=cell),
    "month of results": lambda _, cell: cost.by(
        pd.DataFrame({"status": ["accepted"], "parts": 1, "price": 1.0, "currency": "USD", "at": [cell]}), "month"
    ),
}


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
@pytest.mark.parametrize("cell", ["03/10/2025", "3-10-2025", "03.10.25"])
def test_what_can_be_read_in_two_ways_is_refused(ledger: Ledger, reader: Any, cell: str) -> None:
    with pytest.raises(UsageError, match=r"two ways.*3 October 2025.*10 March 2025"):
        reader(ledger, cell)


@pytest.mark.parametrize("reader", [name for name in READERS if name != "invoice"])
@pytest.mark.parametrize("cell", [45933, "45933", 1759499100, "10/2025"], ids=str)
def test_a_number_is_no_date(ledger: Ledger, reader: str, cell: Any) -> None:
    with pytest.raises(UsageError):
        READERS[reader](ledger, cell)


def test_the_numbers_of_an_invoice_are_read_where_all_are_of_one_kind_or_are_named(ledger: Ledger) -> None:
    alone = cost.reconcile_invoice(ledger, invoice(45933.5))
    assert alone.lines["at"].astype(str).tolist() == ["2025-10-03 12:00:00+00:00"]
    assert "'at' has the numbers by which a spreadsheet counts days." in alone.notes
    with pytest.warns(SmsOtpWarning, match=r"a number; .* it is 3 October 2025; pass format='excel'"):
        mixed = cost.reconcile_invoice(ledger, invoice(45933.5, "2025-10-04"))
    assert mixed.lines["at"].isna().tolist() == [True, False]
    found = cost.reconcile_invoice(ledger, invoice(45933.5, "2025-10-04"), format="excel")
    assert found.lines["at"].astype(str).tolist() == ["2025-10-03 12:00:00+00:00", "2025-10-04 00:00:00+00:00"]
    assert "Its lines are from 3 October 2025 to 4 October 2025." in found.card().text()
    other = cost.reconcile_invoice(ledger, invoice("25-10-03 08.30"), format="%y-%m-%d %H.%M")
    assert other.lines["at"].astype(str).tolist() == ["2025-10-03 08:30:00+00:00"]


@pytest.mark.parametrize("cell", ["3.10.2025", "3 Oct 2025", "2025/10/03", pd.Timestamp(DAY)], ids=str)
def test_what_has_one_reading_is_read(ledger: Ledger, cell: Any) -> None:
    assert converted(date=cell) == converted(day=cell) == [0.14]
    assert cost.reconcile_invoice(ledger, invoice(cell)).lines["at"].dt.strftime("%Y-%m-%d").tolist() == [DAY]
    assert cost.spending(ledger, since=cell).empty


@pytest.mark.parametrize(
    ("cells", "is_clear"),
    [
        (["11.11.2025", "25.11.2025"], True),
        (["11/11/2025", "25/11/2025"], True),
        (["11/11/2025", "11/25/2025"], True),
        (["Mon 03/11/2025", "25/11/2025"], True),
        ([pd.Timestamp("2025-11-11"), "25/11/2025"], True),
        ([pd.Timestamp("2025-03-11"), "25/11/2025"], False),
        (["2025-03-11", "25/11/2025"], False),
    ],
    ids=str,
)
def test_only_a_day_that_a_spreadsheet_may_have_exchanged_is_in_doubt(
    ledger: Ledger, cells: list[Any], is_clear: bool
) -> None:
    if is_clear:
        assert cost.reconcile_invoice(ledger, invoice(*cells)).lines["at"].dt.day.tolist()[1] == 25
    else:
        with pytest.raises(UsageError, match="dates of two kinds: '2025-03-11'"):
            cost.reconcile_invoice(ledger, invoice(*cells))
