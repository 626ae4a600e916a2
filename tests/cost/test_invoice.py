"""A provider's invoice against the ledger: every line has its place, and the amounts lead from ours to theirs."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from smsotp_nb import Sandbox, cost, plan, send
from smsotp_nb._client import Client
from smsotp_nb._ledger import Ledger
from smsotp_nb.errors import SmsOtpWarning, UsageError

PEOPLE = pd.DataFrame({"phone": [f"+1202555{last:04}" for last in range(100, 112)]})
AMOUNTS = ["other_price", "in_doubt", "only_theirs", "repeated", "unreadable"]


@pytest.fixture
def sent(client: Client, ledger: Ledger) -> pd.DataFrame:
    made = plan(PEOPLE, to="phone", campaign="sale", text="Hello", chunk_size=4)
    return send(made, client=client, ledger=ledger, progress=False)


def invoice_of(sent: pd.DataFrame) -> pd.DataFrame:
    return sent[["id", "to", "at", "parts", "price", "currency"]].reset_index(drop=True)


def adds_up(found: cost.Reconciled) -> None:
    micros = (found.totals.drop(columns="currency") * 1_000_000).round().astype("int64")
    assert (micros["ours"] + micros[AMOUNTS].sum(axis=1) - micros["only_ours"] == micros["theirs"]).all()


def test_the_whole_invoice_matches(sent: pd.DataFrame, ledger: Ledger) -> None:
    found = cost.reconcile_invoice(ledger, invoice_of(sent))
    assert found.lines["match"].eq("matched").all()
    assert found.lines["found_by"].eq("id").all()
    assert found.lines["row"].tolist() == list(range(12))
    assert found.only_ours.empty
    assert found.totals["theirs"].tolist() == found.totals["ours"].tolist() == [round(sent["price"].sum(), 6)]


def test_each_line_is_told_apart(sent: pd.DataFrame, ledger: Ledger) -> None:
    lines = invoice_of(sent).iloc[:8].copy()
    lines.loc[1, "price"] = 0.5
    lines.loc[2, "id"] = "f" * 32
    lines.loc[2, "to"] = "+61491570156"
    lines.loc[4, ["id", "price"]] = [None, None]
    lines.loc[5, "id"] = None
    lines = pd.concat([lines, lines.iloc[[0]]], ignore_index=True)
    found = cost.reconcile_invoice(ledger, lines)
    assert found.lines["match"].tolist() == [
        *("matched", "other_price", "only_theirs", "matched"),
        *("unreadable", "matched", "matched", "matched", "repeated"),
    ]
    assert found.lines["found_by"].tolist()[5] == "number and time"
    assert sorted(found.only_ours["row"]) == [2, *range(8, 12)]
    adds_up(found)


def test_a_line_without_a_price_is_unreadable_but_found(sent: pd.DataFrame, ledger: Ledger) -> None:
    lines = invoice_of(sent)
    lines.loc[3, "price"] = None
    found = cost.reconcile_invoice(ledger, lines)
    assert found.lines.loc[3, ["match", "row"]].tolist() == ["unreadable", 3]
    assert found.only_ours.empty
    adds_up(found)


def test_doubts_are_shown_and_settled_by_the_invoice(box: Sandbox, ledger: Ledger) -> None:
    """A request loses its reply; the invoice has two of its four messages."""
    box.fault("drop_after", next=1)
    made = plan(PEOPLE, to="phone", campaign="sale", text="Hello", chunk_size=4)
    with pytest.warns(SmsOtpWarning, match="4 rows .* in doubt"):
        sent = send(made, client=box.client(), ledger=ledger, progress=False)
    doubt = sent[sent["status"].eq("in_doubt")]
    assert len(doubt) == 4
    lines = invoice_of(sent[sent["status"].eq("accepted")])
    at = sent["at"].max()
    more = pd.DataFrame({"id": ["a" * 32, "b" * 32], "to": doubt["to"].iloc[:2], "at": at, "parts": 1, "price": 0.0075})
    lines = pd.concat([lines, more.assign(currency="USD")], ignore_index=True)
    found = cost.reconcile_invoice(ledger, lines)
    assert found.doubts["to"].tolist() == doubt["to"].iloc[:2].tolist()
    assert found.totals["in_doubt"].tolist() == [0.015]
    adds_up(found)
    credit = cost.reconcile_invoice(ledger, lines.assign(price=-lines["price"]))
    assert credit.lines["match"].eq("in_doubt").sum() == 2
    assert credit.doubts.empty
    campaign = ledger.campaign("sale")
    assert campaign.counts["in_doubt"] == 4
    assert found.settle(reason="invoice 2026-11") == 2
    assert campaign.counts["in_doubt"] == 2
    assert campaign.changes[["what", "rows", "reason"]].values.tolist() == [["found accepted", 2, "invoice 2026-11"]]


def test_other_names_other_zones_and_plain_numbers(sent: pd.DataFrame, ledger: Ledger, tmp_path: Path) -> None:
    """A file as providers write them: no id, no plus, local times, amounts as text."""
    local = sent["at"].dt.tz_convert("Asia/Kolkata").dt.strftime("%d %b %Y %H:%M:%S")
    file = tmp_path / "invoice.csv"
    pd.DataFrame(
        {"Destination": sent["to"].str[1:], "Sent": local, "Amount": sent["price"].astype(str), "Ccy": "usd"}
    ).to_csv(file, index=False)
    names = {"to": "Destination", "at": "Sent", "price": "Amount", "currency": "Ccy"}
    found = cost.reconcile_invoice(ledger, file, columns=names, tz="Asia/Kolkata")
    assert found.lines["match"].eq("matched").all()
    assert found.lines["found_by"].eq("number and time").all()


def test_what_is_missing_is_said(sent: pd.DataFrame, ledger: Ledger) -> None:
    with pytest.raises(UsageError, match="no column 'currency'"):
        cost.reconcile_invoice(ledger, invoice_of(sent).drop(columns="currency"))
    with pytest.raises(UsageError, match="neither a column 'id' nor both"):
        cost.reconcile_invoice(ledger, invoice_of(sent)[["to", "price", "currency"]])
    with pytest.raises(UsageError, match="columns= names 'sid'"):
        cost.reconcile_invoice(ledger, invoice_of(sent), columns={"sid": "id"})


@pytest.mark.parametrize("zone", ["+00", "+0000", "+00:00", " UTC", "Z"])
def test_times_name_their_zone_in_many_ways(sent: pd.DataFrame, ledger: Ledger, zone: str) -> None:
    """Some lines of an invoice may name none; those are in the zone of the call."""
    lines = invoice_of(sent).drop(columns="id")
    lines["at"] = lines["at"].dt.strftime("%Y-%m-%d %H:%M:%S") + zone
    lines.loc[0, "at"] = sent["at"].dt.tz_convert("Asia/Tokyo").dt.strftime("%Y-%m-%d %H:%M:%S").iloc[0]
    found = cost.reconcile_invoice(ledger, lines, tz="Asia/Tokyo")
    assert found.lines["match"].eq("matched").all()


def test_numbers_that_a_frame_holds_as_floats_are_those_numbers(sent: pd.DataFrame, ledger: Ledger) -> None:
    lines = invoice_of(sent).drop(columns="id")
    lines["to"] = lines["to"].str[1:].astype("float64")
    assert cost.reconcile_invoice(ledger, lines).lines["match"].eq("matched").all()


@pytest.mark.parametrize("amount", [float("inf"), 1e13, "9" * 30])
def test_what_is_no_amount_is_unreadable(sent: pd.DataFrame, ledger: Ledger, amount: object) -> None:
    lines = invoice_of(sent).astype({"price": object, "parts": object})
    lines.loc[0, "price"] = lines.loc[1, "parts"] = amount
    found = cost.reconcile_invoice(ledger, lines)
    assert found.lines["match"].tolist() == ["unreadable", *["matched"] * 11]
    assert found.lines["parts"].isna().tolist() == [False, True, *[False] * 10]
    adds_up(found)


def test_dates_that_can_be_read_in_two_ways_are_asked_about(sent: pd.DataFrame, ledger: Ledger) -> None:
    """12/11/2026 is a day of November here and of December there; a 13th in the file tells which."""
    at = pd.Timestamp("2026-11-12 10:00", tz="UTC")
    lines = invoice_of(sent).assign(at=at.strftime("%d/%m/%Y %H:%M"))
    with pytest.raises(UsageError, match=r"'at'.*two ways, such as '12/11/2026 10:00' in row 0; pass dayfirst=True"):
        cost.reconcile_invoice(ledger, lines)
    day = cost.reconcile_invoice(ledger, lines, dayfirst=True)
    assert day.lines["at"].eq(at).all()
    month = cost.reconcile_invoice(ledger, lines, dayfirst=False)
    assert month.lines["at"].eq(pd.Timestamp("2026-12-11 10:00", tz="UTC")).all()
    lines.loc[3, "at"] = "13/11/2026 10:00"
    told = cost.reconcile_invoice(ledger, lines)
    assert told.lines["at"].dt.strftime("%m-%d").value_counts().to_dict() == {"11-12": 11, "11-13": 1}
    lines.loc[4, "at"] = "11/13/2026 10:00"
    with pytest.raises(UsageError, match="two ways"):
        cost.reconcile_invoice(ledger, lines)
