"""An invoice beside what was recorded: what agrees, what does not, and nothing that is lost or matched by accident."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from support.sending import sent
from support.tables import table

import smsotp_nb as sms
from smsotp_nb import Ledger, Sandbox, cost
from smsotp_nb.errors import UsageError

SENT = table(
    4,
    id=["a", "b", "c", "d"],
    iso=["IT", "IT", "ES", "ES"],
    price=[0.05, 0.05, 0.04, 0.04],
    at=[f"2026-11-0{day}T10:00:00Z" for day in (2, 3, 4, 5)],
    campaign="autumn",
)


def lines(**columns: object) -> pd.DataFrame:
    return pd.DataFrame(columns)


def test_lines_are_matched_by_id_and_what_fits_nothing_is_listed_with_its_amount() -> None:
    invoice = lines(id=["a", "b", "d", "tax", "a", "?"], amount=["0.05", "0.06", "0.04", "1.00", "0.05", "free"])
    found = cost.reconcile_invoice(SENT, invoice, currency="USD")
    assert found.lines["match"].tolist() == [
        *("matched", "other_price", "matched", "only_invoice", "repeated", "unreadable")
    ]
    assert found.lines["theirs"].tolist()[:5] == [0.05, 0.06, 0.04, 1.0, 0.05]
    assert found.lines["difference"].round(6).tolist()[:2] == [0.0, 0.01]
    assert found.missing[["id", "ours"]].values.tolist() == [["c", 0.04]]
    assert found.totals.values.tolist() == [["USD", 1.2, 0.18, 1.02]]
    text = found.card().text()
    assert "2 of 6 lines agree" in text
    assert "USD 1.00" in text


def test_errors_that_cancel_out_over_countries_are_never_matched() -> None:
    invoice = lines(Month="2026-11", Zone=["Italy", "Spain"], Amount=["0.13", "0.05"], Currency="USD")
    found = cost.reconcile_invoice(SENT, invoice, country="Zone")
    assert found.lines["match"].tolist() == ["other_price", "other_price"]
    assert found.lines["difference"].round(6).tolist() == [0.03, -0.03]
    assert found.totals["difference"].tolist() == [0.0]
    unnamed = cost.reconcile_invoice(SENT, invoice)
    assert unnamed.lines["match"].tolist() == ["in_sum", "in_sum"]
    assert "Columns not read: 'Zone'" in unnamed.card().text()


def test_countries_are_read_in_any_language_and_months_in_both_spellings() -> None:
    invoice = lines(country=["Italien", "ES"], month=["2026-11", "2026-11-30"], price=["0.10", "0.08"], currency="USD")
    found = cost.reconcile_invoice(SENT, invoice)
    assert found.lines[["iso", "month", "match"]].values.tolist() == [
        ["IT", "2026-11", "matched"],
        ["ES", "2026-11", "matched"],
    ]
    assert found.missing.empty
    nowhere = cost.reconcile_invoice(SENT, invoice.assign(country=["Atlantis", "ES"]))
    assert nowhere.lines["match"].tolist() == ["unreadable", "matched"]
    assert nowhere.missing[["iso", "ours"]].values.tolist() == [["IT", 0.1]]


def test_a_rounded_amount_is_told_from_an_exact_one() -> None:
    rows = SENT.assign(price=[0.0075, 0.0075, 0.04, 0.04])
    invoice = lines(iso=["IT", "ES"], price=["0.02", "0.08"], currency="USD")
    assert cost.reconcile_invoice(rows, invoice).lines["match"].tolist() == ["rounded", "matched"]


def test_another_currency_is_another_amount_of_nothing_known() -> None:
    invoice = lines(id=["a", "b"], price=["0.05", "0.05"], currency=["EUR", "USD"])
    assert cost.reconcile_invoice(SENT, invoice).lines["match"].tolist() == ["other_currency", "matched"]


def test_one_id_for_a_whole_request_is_compared_with_its_sum() -> None:
    rows = SENT.assign(id=["r", "r", "s", "s"], to=["+12025550101", "+12025550102"] * 2)
    invoice = lines(id=["r", "s", "s"], price=["0.10", "0.04", "0.04"], currency="USD")
    assert cost.reconcile_invoice(rows, invoice).lines["match"].tolist() == ["matched", "in_sum", "in_sum"]


def test_an_id_of_two_accounts_proves_nothing() -> None:
    rows = SENT.assign(id=["1", "2", "1", "2"], campaign=["north"] * 2 + ["south"] * 2)
    invoice = lines(id=["1"], price=["0.05"], currency="USD")
    assert cost.reconcile_invoice(rows, invoice).lines["match"].tolist() == ["ambiguous"]


def test_a_file_keeps_the_numbers_of_its_rows(tmp_path: Path, box: Sandbox, ledger: Ledger) -> None:
    people = pd.DataFrame({"phone": ["+12025550123", "+12025550147"]})
    with box.client() as client:
        results = sent(sms.plan(people, "Hi", to="phone", campaign="sale"), client, ledger)
    file = tmp_path / "invoice.csv"
    text = "".join(f"{row.id},{row.price:.6f},{row.currency}\n" for row in results.itertuples())
    file.write_text(f"Message ID,Amount,Currency\n{text}")
    for source in (results, ledger, ledger.path, ledger.record("sale")):
        found = cost.reconcile_invoice(source, file)
        assert found.lines.index.tolist() == [2, 3]
        assert found.lines["match"].tolist() == ["matched", "matched"]
        assert found.source == "invoice.csv"


@pytest.mark.parametrize(
    ("columns", "options", "said"),
    [
        ({"id": ["a"], "sum": ["1"]}, {}, "no column of amounts"),
        ({"price": ["1"], "zone": ["US"]}, {}, "neither ids, countries nor months"),
        ({"price": ["1"], "amount": ["1"], "id": ["a"]}, {}, "may both be its price; name one: price='price'"),
        ({"price": ["1"], "id": ["a"]}, {"id": "ids"}, "id=: no column 'ids'; did you mean 'id'"),
        ({"price": ["1,20"], "id": ["a"]}, {}, "holds no amounts such as 12.50"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_read_is_refused(columns: dict[str, object], options: dict[str, str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        cost.reconcile_invoice(SENT, lines(**columns), **options)
