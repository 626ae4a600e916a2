"""Exports in the layouts of twenty providers, each read by the names of its columns; all figures are made."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest

from smsotp_nb import Client, Ledger, RequestOptions, Sandbox, cost, otp, plan, send
from smsotp_nb.errors import SmsOtpWarning, UsageError

PEOPLE = pd.DataFrame(
    {"phone": [f"+1202555{last:04}" for last in range(100, 110)] + ["+4915123456789", "+33612345678"]}
)
Layout = Callable[[pd.DataFrame], pd.DataFrame]


def sale(client: Client, ledger: Ledger) -> pd.DataFrame:
    made = plan(PEOPLE, "Hello", to="phone", campaign="sale", requests=RequestOptions(chunk_size=4))
    return send(made, client=client, ledger=ledger, progress=False)


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    """A ledger that is only read."""
    with Ledger(tmp_path_factory.mktemp("layouts") / "ledger.sqlite", create=True) as made:
        yield made


@pytest.fixture(scope="module")
def sent(ledger: Ledger) -> pd.DataFrame:
    with Sandbox(balance=1000) as box, box.client() as client:
        return sale(client, ledger)


def times(sent: pd.DataFrame, shape: str = "%Y-%m-%d %H:%M:%S") -> pd.Series:
    return sent["at"].dt.strftime(shape)


def by_day(sent: pd.DataFrame, *columns: str) -> pd.DataFrame:
    table = sent.assign(day=times(sent, "%Y-%m-%d"))
    return table.groupby(["day", *columns]).agg(messages=("price", "size"), price=("price", "sum")).reset_index()


def console_log(sent: pd.DataFrame) -> pd.DataFrame:
    """Charges below nothing, ids of the provider's own."""
    return pd.DataFrame(
        {"From": "Acme", "To": sent["to"], "Body": "Total credit: 20% tax", "Status": "delivered",
         "SentDate": times(sent, "%Y-%m-%dT%H:%M:%S+00:00"), "ApiVersion": "2010-04-01", "NumSegments": sent["parts"],
         "ErrorCode": 0, "AccountSid": "AC1", "Sid": [f"SM{n:032}" for n in range(len(sent))],
         "Direction": "outbound-api", "Price": -sent["price"], "PriceUnit": "USD"}
    )  # fmt: skip


def line_a_part(sent: pd.DataFrame) -> pd.DataFrame:
    """Every part has a line and a share of the price; the currency is in a name."""
    lines = pd.DataFrame(
        {"PublishTimeUTC": times(sent), "MessageId": sent["id"], "DestinationPhoneNumber": sent["to"],
         "MessageType": "Promotional", "DeliveryStatus": "Message has been accepted by phone carrier",
         "PriceInUSD": sent["price"] / 2, "PartNumber": 1, "TotalParts": 2}
    )  # fmt: skip
    return pd.concat([lines, lines.assign(PartNumber=2)]).sort_index().reset_index(drop=True)


def report_in_snake_case(sent: pd.DataFrame) -> pd.DataFrame:
    """Two ids, a reference and several times; numbers without their plus."""
    return pd.DataFrame(
        {"account_id": "abc", "message_id": sent["id"], "client_ref": "winter total", "direction": "outbound",
         "from": "Acme", "to": sent["to"].str[1:], "network": "26201", "country": sent["iso"], "country_name": "x",
         "date_received": times(sent, "%Y-%m-%dT%H:%M:%S+0000"), "date_finalized": times(sent), "latency": 811,
         "status": "delivered", "error_code": 0, "currency": "USD", "total_price": sent["price"],
         "id": [f"row-{n}" for n in range(len(sent))]}
    )  # fmt: skip


def dotted(sent: pd.DataFrame) -> pd.DataFrame:
    """Flattened JSON."""
    return pd.DataFrame(
        {"id": [f"m{n}" for n in range(len(sent))], "direction": "mt", "originator": "Acme",
         "recipient": sent["to"].str[1:],
         "createdDatetime": times(sent), "Sent date": times(sent, "%Y-%m-%dT%H:%M:%SZ"), "messagePartCount": 1,
         "price.amount": sent["price"], "price.currency": "USD"}
    )  # fmt: skip


def words_with_blanks(sent: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {"Message Id": sent["id"], "Communication Name": "sale", "From": "Acme", "To": sent["to"].str[1:],
         "Country Prefix": "1", "Country Name": "x", "Network Name": "x", "Purchase Price": sent["price"],
         "Purchase Price Currency": "USD", "Status": "DELIVERED", "Reason": "DELIVERED_TO_HANDSET",
         "Send At": times(sent, "%d.%m.%Y %H:%M:%S") if int(times(sent, "%d").iloc[0]) > 12 else times(sent),
         "Done At": times(sent), "Messages Count": 1}
    )  # fmt: skip


def uuid_and_units(sent: pd.DataFrame) -> pd.DataFrame:
    """No currency anywhere, a rate beside the amount."""
    return pd.DataFrame(
        {"message_uuid": sent["id"], "from_number": "Acme", "to_number": sent["to"], "message_direction": "outbound",
         "message_state": "delivered", "message_time": times(sent, "%Y-%m-%d %H:%M:%S+00:00"), "units": sent["parts"],
         "total_rate": 0.001, "total_amount": sent["price"], "message_type": "sms", "carrier_fees": 0.002}
    )  # fmt: skip


def call_record(sent: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {"cld": sent["to"], "cli": "Acme", "cost": sent["price"].map("{:.4f}".format), "created": times(sent),
         "currency": "USD", "delivery_status": "delivered", "direction": "outbound",
         "id": [f"e093fbe0-{n}" for n in range(len(sent))], "parts": 1, "rate": 0.001}
    )  # fmt: skip


def seconds(sent: pd.DataFrame) -> pd.DataFrame:
    """Times as seconds since 1970, amounts with their sign."""
    return pd.DataFrame(
        {"date": (sent["at"].astype("int64") // 1_000_000), "to": sent["to"], "message_parts": 1,
         "message_price": sent["price"].map("$ {:.4f}".format), "country": sent["iso"],
         "carrier": "x", "status": "SENT", "custom_string": "vat"}
    )  # fmt: skip


def excel_days(sent: pd.DataFrame) -> pd.DataFrame:
    """Times as days since 1899-12-30, numbers without their plus."""
    days = (sent["at"] - pd.Timestamp("1899-12-30")) / pd.Timedelta(days=1)
    return pd.DataFrame({"Sent (UTC)": days, "MSISDN": sent["to"].str[1:], "Parts": 1, "Cost USD": sent["price"]})


def milliseconds(sent: pd.DataFrame) -> pd.DataFrame:
    """Times as milliseconds since 1970, the currency before each amount."""
    return pd.DataFrame(
        {"timestamp": sent["at"].astype("datetime64[ms]").astype("int64"), "msisdn": sent["to"].str[1:],
         "message_id": sent["id"], "price": sent["price"].map("USD {:.5f}".format), "mcc_mnc": "310260"}
    )  # fmt: skip


def with_a_foot(sent: pd.DataFrame) -> pd.DataFrame:
    """Fee, subtotal, tax, credit and total under the messages."""
    lines = pd.DataFrame(
        {"Usage date": times(sent), "To number": sent["to"], "Description": "Outbound SMS", "Net amount": sent["price"]}
    )
    net = lines["Net amount"].sum()
    foot = {"Carrier surcharge": 0.01, "Subtotal": net + 0.01, "Sales tax 8%": 0.02, "Credit applied": -0.01,
            "Total due": net + 0.02}  # fmt: skip
    feet = pd.DataFrame({"Description": [*foot], "Net amount": [*foot.values()]})
    return pd.concat([lines, feet], ignore_index=True).assign(Currency="USD")


def in_words(at: str, to: str, price: str, currency: str, country: str) -> Layout:
    """Return a layout whose columns have these names."""

    def made(sent: pd.DataFrame) -> pd.DataFrame:
        priced = sent["price"].map("{:.4f}".format).str.replace(".", ",", regex=False)
        return pd.DataFrame(
            {at: times(sent), to: sent["to"], country: sent["iso"], price: priced, currency: "USD"}
        )  # fmt: skip

    made.__name__ = at
    return made


WORDS = (
    in_words("Date d'envoi", "Destinataire", "Coût HT", "Devise", "Pays"),
    in_words("Fecha", "Teléfono", "Importe", "Moneda", "País"),
    in_words("Data de envio", "Destinatário", "Valor total", "Moeda", "País de destino"),
    in_words("Data invio", "Numero destinatario", "Costo", "Valuta", "Paese"),
    in_words("Verzonden op", "Ontvanger", "Bedrag", "Valuta", "Land"),
    in_words("Skickat", "Mottagare", "Belopp", "Valuta", "Land"),
    in_words("Data wysłania", "Odbiorca", "Kwota", "Waluta", "Kraj"),
)


def journal_with_commas(sent: pd.DataFrame) -> pd.DataFrame:
    """Day and time apart, decimal commas."""
    return pd.DataFrame(
        {"Datum": times(sent, "%Y-%m-%d"), "Uhrzeit": times(sent, "%H:%M:%S"), "Absender": "Acme",
         "Empfänger": sent["to"], "Teile": 1,
         "Preis": sent["price"].map("{:.4f}".format).str.replace(".", ",", regex=False),
         "Währung": "USD"}
    )  # fmt: skip


LINES: dict[str, Layout] = {
    one.__name__: one
    for one in (console_log, line_a_part, report_in_snake_case, dotted, words_with_blanks, uuid_and_units, call_record,
                seconds, journal_with_commas, excel_days, milliseconds, with_a_foot, *WORDS)
}  # fmt: skip


def by_country(sent: pd.DataFrame) -> pd.DataFrame:
    """Daily totals of each network, rounded to cents, with what follows them on a bill."""
    table = by_day(sent, "iso")
    lines = pd.DataFrame(
        {"Date": table["day"], "Country": table["iso"].map({"US": "United States", "DE": "Germany", "FR": "France"}),
         "Operator": "x", "Quantity": table["messages"], "Amount": table["price"].round(2), "Currency": "USD"}
    )  # fmt: skip
    net = lines["Amount"].sum()
    extra = pd.DataFrame({"Date": ["Monthly number rental", "VAT 20%", "Total"], "Amount": [2.0, 0.4, net + 2.4]})
    return pd.concat([lines, extra.assign(Currency="USD")], ignore_index=True)


def usage_records(sent: pd.DataFrame) -> pd.DataFrame:
    """One line a category of a month."""
    start = sent["at"].iloc[0].tz_localize(None).to_period("M")
    return pd.DataFrame(
        {"Category": ["sms-outbound"], "Description": ["Outbound SMS"], "StartDate": [str(start.start_time.date())],
         "EndDate": [str((start.end_time + pd.Timedelta(1, "s")).date())], "Count": [len(sent)],
         "CountUnit": ["messages"], "Price": [sent["price"].sum()], "PriceUnit": ["usd"]}
    )  # fmt: skip


TOTALS: dict[str, Layout] = {one.__name__: one for one in (by_country, usage_records)}


@pytest.mark.sampled(10)
@pytest.mark.parametrize("layout", [*LINES.values(), *TOTALS.values()], ids=[*LINES, *TOTALS])
def test_a_layout_is_read_by_the_names_of_its_columns(
    sent: pd.DataFrame, ledger: Ledger, layout: Layout, tmp_path: Path
) -> None:
    """As a frame and as a file; every line agrees, and each conclusion is told."""
    export = layout(sent)
    file = tmp_path / "export.csv"
    export.to_csv(file, index=False, sep=";" if layout in (journal_with_commas, *WORDS) else ",")
    for invoice in (export, file):
        found = cost.reconcile_invoice(ledger, invoice)
        of_messages = found.lines[~found.lines["match"].isin(["tax", "fee", "total", "credit"])]
        assert of_messages["match"].eq("matched").all(), found.card().text()
        assert found.only_ours.empty
        assert found.totals["ours"].tolist() == [round(sent["price"].sum(), 6)]
        assert found.notes


def test_totals_name_the_day_and_country_that_differ(sent: pd.DataFrame, ledger: Ledger) -> None:
    """One message more, one country too much, and one that the invoice does not have."""
    lines = by_country(sent).iloc[:-3]
    lines.loc[lines["Country"].eq("United States"), ["Quantity", "Amount"]] = [11, 0.09]
    lines.loc[lines["Country"].eq("France"), "Country"] = "Spain"
    found = cost.reconcile_invoice(ledger, lines)
    of = found.lines.set_index("country")
    assert of["match"].to_dict() == {"DE": "matched", "ES": "only_theirs", "US": "other_price"}
    assert of.loc["US", ["messages", "our_messages"]].tolist() == [11, 10]
    assert found.only_ours[["country", "messages"]].values.tolist() == [["FR", 1]]
    shown = " ".join(found.card().text().split())
    assert "compared by day and country" in shown
    assert found.doubts.empty


def test_a_month_with_a_total_below_it_is_a_month(sent: pd.DataFrame, ledger: Ledger) -> None:
    table = sent.assign(at=pd.Timestamp("2026-11-30 21:00", tz="UTC"))
    billed = round(sent["price"].sum(), 6)
    lines = pd.DataFrame({"Month": ["2026-11", "VAT", "Total"], "Quantity": [12, None, None],
                          "Cost": [billed, 0.1, billed + 0.1]})  # fmt: skip
    numbered = pd.DataFrame(
        {"ID": ["1", "VAT", "Grand total"], "Month": ["2026-11", None, None], "Cost": lines["Cost"]}
    )
    for invoice in (lines, numbered):
        assert cost.reconcile_invoice(table, invoice).lines["match"].tolist() == ["matched", "tax", "total"]


def test_one_total_is_that_of_everything(sent: pd.DataFrame, ledger: Ledger) -> None:
    line = pd.DataFrame({"Description": ["Text messages"], "Quantity": [13], "Amount": [0.2], "Currency": ["USD"]})
    found = cost.reconcile_invoice(ledger, line)
    assert found.lines[["match", "messages", "our_messages"]].values.tolist() == [["other_price", 13, 12]]
    assert found.lines["our_price"].tolist() == [round(sent["price"].sum(), 6)]
    assert "compared with everything recorded" in " ".join(found.notes)


@pytest.mark.parametrize("end", ["last day", "first of the next month", "month alone"])
def test_a_period_has_all_its_days(sent: pd.DataFrame, ledger: Ledger, end: str) -> None:
    """Messages of the last day count, whichever way its end is written, and those of the day after do not."""
    last = pd.Timestamp("2026-11-30 21:00", tz="UTC")
    at = [pd.Timestamp("2026-11-01 00:00", tz="UTC")] * 5 + [last] * 6 + [pd.Timestamp("2026-12-01 00:00", tz="UTC")]
    table = sent.assign(at=at)
    line = {
        "Start date": "2026-11-01",
        "End date": "2026-11-30",
        "Quantity": 11,
        "Cost": table["price"].iloc[:11].sum(),
    }
    if end == "first of the next month":
        line["End date"] = "2026-12-01"
    if end == "month alone":
        line = {"Month": "2026-11", **{name: line[name] for name in ("Quantity", "Cost")}}
    found = cost.reconcile_invoice(table, pd.DataFrame([line]))
    assert found.lines["match"].tolist() == ["matched"], found.card().text()
    assert found.lines["our_messages"].tolist() == [11]
    assert found.only_ours.empty


def test_totals_by_kind(client: Client, tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "own.sqlite", create=True)
    sent = sale(client, ledger)
    otp.send("+12025550188", client, ledger=ledger)
    passcode = ledger.record(f"passcodes {pd.Timestamp.now('UTC'):%Y-%m}").results["price"].sum()
    lines = pd.DataFrame({"Product": ["SMS", "OTP verification"], "Total": [sent["price"].sum(), passcode],
                          "Quantity": [12, 1], "Currency": "USD"}).rename(columns={"Total": "Total cost"})  # fmt: skip
    found = cost.reconcile_invoice(ledger, lines)
    assert found.lines["match"].eq("matched").all(), found.card().text()
    assert found.lines["kind"].tolist() == ["campaign", "passcode"]
    assert found.lines["found_by"].eq("kind").all()


HEADS = (
    "Qty,Price,Amount", "Quantity,Price,Total", "Menge,Preis,Betrag", "Anzahl,Preis,Gesamt", "Quantité,Prix,Total",
    "Cantidad,Precio,Total", "Segments,Price,Total", "Menge,E-Preis,G-Preis", "Count,EP,GP",
)  # fmt: skip


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("of", [1, 1000])
def test_the_amount_is_the_column_that_is_quantity_times_price(sent: pd.DataFrame, head: str, of: int) -> None:
    """Whatever both are called, and however each is rounded."""
    table = sent.groupby("iso").agg(messages=("price", "size"), price=("price", "sum")).reset_index()
    each = (table["price"] / table["messages"] * of).round(4)
    columns = ["Country", *head.split(",")]
    lines = pd.DataFrame(dict(zip(columns, (table["iso"], table["messages"], each, table["price"]), strict=True)))
    found = cost.reconcile_invoice(sent, lines.assign(Currency="USD"))
    assert found.lines["match"].eq("matched").all(), found.card().text()
    assert found.totals["theirs"].tolist() == [round(sent["price"].sum(), 6)]
    one = cost.reconcile_invoice(sent, lines.assign(Currency="USD"), columns={"price": columns[2]})
    assert one.totals["theirs"].tolist() == [round(each.sum(), 6)]


def kinds_of(sent: pd.DataFrame, *foot: tuple[str, float]) -> tuple[list[str], cost.Reconciled]:
    """Return what the lines under two countries are taken for: the first 0.30, the second 2.25."""
    table = sent.iloc[:2].assign(iso=["US", "DE"], price=[0.3, 2.25])
    body = pd.DataFrame({"Item": "SMS", "Country": ["US", "DE"], "Quantity": 1, "Amount": [0.3, 2.25]})
    feet = pd.DataFrame({"Item": [name for name, _ in foot], "Amount": [amount for _, amount in foot]})
    found = cost.reconcile_invoice(table, pd.concat([body, feet], ignore_index=True).assign(Currency="USD"))
    assert found.lines["match"].iloc[:2].eq("matched").all()
    return found.lines["match"].iloc[2:].tolist(), found


@pytest.mark.parametrize(
    "names",
    [
        ("Nettobetrag", "zzgl. 19% USt", "Rechnungsbetrag", "Zahlbetrag"), ("Net", "Steuer", "Gross", "Please pay"),
        ("Base imponible", "I.V.A.", "A pagar", "Total IVA incluido"), ("Montant HT", "Taxe", "Montant TTC", "Solde"),
        ("Wartość netto", "Podatek", "Do zapłaty", "Razem"),
    ],
    ids=str,
)  # fmt: skip
def test_totals_and_taxes_are_told_by_their_amounts(sent: pd.DataFrame, names: tuple[str, ...]) -> None:
    kinds, found = kinds_of(sent, *zip(names, (2.55, 0.48, 3.03, 3.03), strict=True))
    assert kinds == ["total", "tax", "total", "total"]
    assert found.totals[["theirs", "ours", "tax"]].values.tolist() == [[3.03, 2.55, 0.48]]
    assert "Its total of USD 3.03 is that of its lines." in found.notes
    other, strange = kinds_of(sent, (names[0], 2.55), ("Plattform", 0.48))
    assert other == ["total", "only_theirs"]
    assert "Of no message and no sum of the lines above, but counted: rows 3." in strange.notes


def test_totals_in_hundredths_of_lines_with_more_places_are_totals(sent: pd.DataFrame) -> None:
    table = sent.iloc[:2].assign(iso=["US", "DE"], price=[0.2254, 2.2498])
    lines = pd.DataFrame(
        {"Item": ["SMS", "SMS", "Netto", "19% USt", "Zahlbetrag"], "Country": ["US", "DE", None, None, None],
         "Amount": [0.2254, 2.2498, 2.48, 0.47, 2.95], "Currency": "USD"}
    )  # fmt: skip
    found = cost.reconcile_invoice(table, lines)
    assert found.lines["match"].tolist() == ["matched", "matched", "total", "tax", "total"]
    assert "Its total of USD 2.95 is that of its lines." in found.notes
    wrong = cost.reconcile_invoice(table, lines.assign(Amount=[0.2254, 2.2498, 2.48, 0.47, 2.97]))
    assert wrong.lines["match"].tolist()[-1] == "only_theirs"


@pytest.mark.parametrize(("more", "kind"), [(0.48, "tax"), (2.0, "only_theirs"), (-0.3, "only_theirs")])
def test_a_line_of_unknown_words_between_net_and_gross_is_a_tax_if_it_may_be_one(
    sent: pd.DataFrame, more: float, kind: str
) -> None:
    kinds, found = kinds_of(sent, ("Netto", 2.55), ("Plattform", more), ("Zahlbetrag", round(2.55 + more, 2)))
    assert kinds == ["total", kind, "total"]
    assert found.totals["theirs"].tolist() == [round(2.55 + more, 6)]
    if kind == "tax":
        assert {"Read as total by the amount: rows 2, 4.", "Read as tax by the amount: rows 3."} <= {*found.notes}


def test_a_payment_of_a_balance_counts_for_as_little_as_the_balance(sent: pd.DataFrame) -> None:
    kinds, found = kinds_of(sent, ("Previous balance", 5.0), ("Payment received", -5.0), ("To pay", 2.55))
    assert kinds == ["total", "payment", "total"]
    assert "Its total of USD 2.55 is that of its lines." in found.notes
    assert found.totals["theirs"].tolist() == [2.55]


def test_subtotals_are_those_of_the_lines_above_them(sent: pd.DataFrame, ledger: Ledger) -> None:
    """And no one of them is the total of the file."""
    lines = pd.DataFrame(
        {"Country": ["US", "US", "US Gesamt", "DE", "Deutschland zus."], "Network": ["a", "b", None, "c", None],
         "Quantity": [5, 5, 10, 1, 1], "Amount": [0.04, 0.035, 0.075, 0.07, 0.07], "Currency": "USD"}
    )  # fmt: skip
    found = cost.reconcile_invoice(ledger, lines)
    assert found.lines.loc[[2, 4], "match"].tolist() == ["total", "total"]
    assert "Its totals in USD are those of the lines above each." in found.notes
    assert "Its total says" not in found.card().text()


def test_a_surcharge_on_messages_that_have_a_line_is_a_fee(sent: pd.DataFrame, ledger: Ledger) -> None:
    lines = by_day(sent, "iso").rename(columns={"iso": "Country", "messages": "Quantity", "price": "Amount"})
    lines = pd.concat([lines, lines[lines["Country"].eq("US")].assign(Amount=0.12)], ignore_index=True)
    item = ["SMS"] * (len(lines) - 1) + ["Carrier surcharge"]
    found = cost.reconcile_invoice(ledger, lines.drop(columns="day").assign(Item=item, Currency="USD"))
    assert found.lines["match"].tolist() == [*["matched"] * (len(lines) - 1), "fee"]


@pytest.mark.parametrize("kind", [{}, {"Type": ["debit", "credit"]}])
def test_what_is_paid_into_a_wallet_is_no_charge(sent: pd.DataFrame, kind: dict[str, list[str]]) -> None:
    day, billed = times(sent, "%Y-%m-%d").iloc[0], round(sent["price"].sum(), 6)
    lines = pd.DataFrame({"Date": day, **kind, "Text": ["SMS", "Top-up"], "Amount": [-billed, 10.0], "Currency": "USD"})
    lines = pd.concat([lines.iloc[[0]].assign(Amount=-billed / 2)] * 2 + [lines.iloc[[1]]], ignore_index=True)
    found = cost.reconcile_invoice(sent, lines)
    assert found.lines["match"].tolist() == ["matched", "payment"]
    assert found.totals[["theirs", "ours", "credit"]].values.tolist() == [[billed, billed, 0.0]]
    assert not any("All amounts" in note for note in found.notes)


PERIODS = [
    ("Monat", "11/2026"), ("Billing month", "Nov-26"), ("Mois", "novembre 2026"), ("Mes", "noviembre de 2026"),
    ("Billing period", "2026-11-01 - 2026-11-30"), ("Leistungszeitraum", "01.11.-30.11.2026"),
    ("Service", "01/11/2026 to 30/11/2026"), ("Dates", "11/01/2026-11/30/2026"), ("Cykl", "1–30 November 2026"),
    ("Quartal", "Oct 2026 - Nov 2026"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "cell"), PERIODS)
def test_a_period_is_read_by_its_values(sent: pd.DataFrame, name: str, cell: str) -> None:
    """Whatever its column is called, and though an invoice date stands beside it."""
    at = [pd.Timestamp("2026-09-30 12:00", tz="UTC")] * 2 + [pd.Timestamp("2026-11-30 21:00", tz="UTC")] * 10
    table = sent.assign(at=at)
    line = {"Rechnungsdatum": "2026-12-02", name: cell, "Anzahl": 10, "Betrag": table["price"].iloc[2:].sum()}
    found = cost.reconcile_invoice(table, pd.DataFrame([line]))
    assert found.lines[["match", "our_messages", "found_by"]].values.tolist() == [["matched", 10, "period"]]
    assert found.only_ours.empty


@pytest.mark.parametrize(
    "cell", ["Oct 2026 - Nov 2026", "10/2026 - 11/2026", "Okt. - Nov. 2026", "October to November 2026"]
)
def test_a_range_of_months_has_its_first_and_its_last_day(sent: pd.DataFrame, cell: str) -> None:
    days = ["2026-09-30", "2026-10-01", *["2026-11-30"] * 9, "2026-12-01"]
    table = sent.assign(at=[pd.Timestamp(f"{day} 12:00", tz="UTC") for day in days])
    line = {"Zeitraum": cell, "Anzahl": 10, "Betrag": table["price"].iloc[1:-1].sum()}
    found = cost.reconcile_invoice(table, pd.DataFrame([line]))
    assert found.lines[["match", "our_messages", "found_by"]].values.tolist() == [["matched", 10, "period"]]


def test_a_start_and_an_end_are_a_period_and_an_invoice_date_is_none(sent: pd.DataFrame) -> None:
    at = [pd.Timestamp("2026-09-30 12:00", tz="UTC")] * 2 + [pd.Timestamp("2026-11-30 21:00", tz="UTC")] * 10
    table = sent.assign(at=at, iso="US")
    line = {"Land": "US", "Anzahl": 10, "Betrag": table["price"].iloc[2:].sum()}
    both = cost.reconcile_invoice(table, pd.DataFrame([{"From": "2026-11-01", "To": "2026-11-30", **line}]))
    assert both.lines[["match", "found_by"]].values.tolist() == [["matched", "period and country"]]
    for name in ("Rechnungsdatum", "Invoice date", "Start date", "From"):
        found = cost.reconcile_invoice(table, pd.DataFrame([{name: "2026-11-29", **line}]))
        assert found.lines[["match", "our_messages"]].values.tolist() == [["other_price", 12]]
        assert any("names no period that can be read" in note for note in found.notes)
        assert any(repr(name) in note for note in found.notes)


@pytest.mark.parametrize("sign", "/-.")
@pytest.mark.parametrize("columns", [None, {"at": "Date"}])
def test_days_whose_numbers_may_all_be_months_are_days(sent: pd.DataFrame, sign: str, columns: dict[str, str]) -> None:
    """With the order said, or asked for; never as ranges of months."""
    days = ["2026-10-05", "2026-10-06", "2026-11-02"]
    table = sent.assign(at=[pd.Timestamp(f"{day} 12:00", tz="UTC") for day in days for _ in range(4)])
    shown = [pd.Timestamp(day).strftime(f"%d{sign}%m{sign}%Y") for day in days]
    amounts = [table["price"].iloc[at : at + 4].sum() for at in (0, 4, 8)]
    lines = pd.DataFrame({"Date": shown, "Messages": 4, "Amount": amounts})
    found = cost.reconcile_invoice(table, lines, dayfirst=True, columns=columns)
    assert found.lines[["match", "our_messages", "found_by"]].values.tolist() == [["matched", 4, "day"]] * 3
    if sign != ".":
        with pytest.raises(UsageError, match="two ways"):
            cost.reconcile_invoice(table, lines, columns=columns)


@pytest.mark.parametrize(
    ("cells", "amounts", "matches"),
    [
        (["2026-10", "2026-11"], [4, 8], ["matched", "matched"]),
        (["2026-10", "2026-11", "10/2026 - 11/2026"], [4, 8, 12], ["matched", "matched", "repeated"]),
        (["10/2026 - 11/2026", "2026-10"], [12, 4], ["matched", "repeated"]),
        (["2026-10-01 - 2026-11-02", "2026-11-01 - 2026-11-30"], [8, 8], ["matched", "other_price"]),
        (["2026-10", "2026-10-05 - 2026-11-30"], [None, 12], ["unreadable", "matched"]),
        (["2026-10-05 10:00", "2026-10-05 11:00", "2026-11-02", "2026-11-03"], [2, 2, 4, 4], ["matched"] * 3),
    ],
)
def test_no_message_counts_at_two_lines(
    sent: pd.DataFrame, cells: list[str], amounts: list[int | None], matches: list[str]
) -> None:
    """Where the periods of lines overlap; and totals of one day are one."""
    days = ["2026-10-05", "2026-11-02", "2026-11-03"]
    table = sent.assign(at=[pd.Timestamp(f"{day} 12:00", tz="UTC") for day in days for _ in range(4)], price=1.0)
    found = cost.reconcile_invoice(table, pd.DataFrame({"Period": cells, "Quantity": amounts, "Amount": amounts}))
    assert found.lines["match"].tolist() == matches
    row = found.totals.iloc[0]
    assert row["ours"] == 12.0
    assert row["theirs"] == row.drop(["currency", "theirs", "only_ours"]).sum() - row["only_ours"]
    told = any("Of messages of another line" in note for note in found.notes)
    assert told == (sum(amount or 4 for amount in amounts) > 12)


def test_a_price_in_no_currency_is_in_no_amount_and_counts_at_no_line_of_one_among_several(sent: pd.DataFrame) -> None:
    table = sent.assign(iso="US", price=1.0, currency=["EUR"] * 8 + [None] * 4)
    lines = pd.DataFrame({"Country": "US", "Currency": ["EUR", "USD"], "Quantity": [8, 4], "Amount": [8.0, 4.0]})
    found = cost.reconcile_invoice(table, lines)
    assert found.lines["match"].tolist() == ["matched", "only_theirs"]
    assert found.only_ours[["messages", "price"]].isna().values.tolist() == [[False, True]]
    one = cost.reconcile_invoice(table, lines.iloc[:1].assign(Quantity=12))
    assert one.lines["match"].tolist() == ["matched"]
    for each in (found, one):
        assert any("4 messages have no recorded price or currency" in note for note in each.notes)


@pytest.mark.parametrize(
    ("quantities", "read"),
    [([10, 1, 1], [10, 1, 1]), (["10", "1,0", "1"], [10, 1, 1]), ([0.010, 0.001, 0.001], [None] * 3)],
)
@pytest.mark.parametrize("head", ["Amount", "Unit price"])
def test_a_quantity_that_is_not_whole_is_no_number_of_messages(
    sent: pd.DataFrame, quantities: list[object], read: list[int | None], head: str
) -> None:
    """It may be of thousands: it multiplies a price as it stands, and is told."""
    table = sent.groupby("iso", sort=False).agg(messages=("price", "size"), price=("price", "sum")).reset_index()
    table = table.sort_values("messages", ascending=False, kind="stable")
    of = 1000 if read[0] is None else 1
    amounts = table["price"] / table["messages"] * of if head == "Unit price" else table["price"]
    lines = pd.DataFrame({"Country": table["iso"], "Quantity": quantities, head: amounts.round(6), "Currency": "USD"})
    with contextlib.nullcontext() if of == 1 else pytest.warns(SmsOtpWarning, match="'Quantity'.*whole number"):
        found = cost.reconcile_invoice(sent, lines, decimal="," if "1,0" in quantities else None)
    assert found.lines["messages"].astype(object).where(found.lines["messages"].notna(), None).tolist() == read
    assert found.lines["price"].tolist() == table["price"].round(6).tolist()
    assert found.lines["match"].eq("matched").all()


@pytest.mark.parametrize(
    ("total", "first", "said"),
    [
        (11.35, False, "Its total of USD 11.35 is that of its lines."),
        (11.35, True, "Its total of USD 11.35 is that of its lines."),
        (11.36, False, "Its total says USD 11.36, and its lines add up to USD 11.35, which may be their rounding."),
        (11.38, False, "Its total says USD 11.38, and its lines add up to USD 11.35."),
        (11.38, True, "Its total says USD 11.38, and its lines add up to USD 11.35."),
    ],
)
def test_a_total_is_that_of_its_lines_only_where_it_is(
    sent: pd.DataFrame, total: float, first: bool, said: str
) -> None:
    table = sent.iloc[:3].assign(iso=["US", "DE", "FR"], price=[8.4, 2.5, 0.45])
    lines = pd.DataFrame({"Country": table["iso"], "Amount": table["price"], "Currency": "USD"})
    foot = pd.DataFrame({"Country": ["Total"], "Amount": [total], "Currency": ["USD"]})
    found = cost.reconcile_invoice(table, pd.concat([foot, lines] if first else [lines, foot], ignore_index=True))
    assert said in found.notes


def test_lines_of_one_group_are_called_one_total(sent: pd.DataFrame) -> None:
    table = sent.iloc[:3].assign(iso="US", price=1.0)
    found = cost.reconcile_invoice(table, pd.DataFrame({"Country": ["US"] * 3, "Amount": 1.0, "Currency": "USD"}))
    shown = " ".join(found.card().text().split())
    assert "1 totals 1 with the same price" in shown
    assert "Its 3 lines are added up to 1 total." in shown
    with_ids = cost.reconcile_invoice(table, table[["id", "price", "currency"]])
    assert "3 lines 3 with the same price" in " ".join(with_ids.card().text().split())


def test_a_purge_is_told_beside_an_invoice(client: Client, tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "own.sqlite", create=True)
    sent = sale(client, ledger)
    totals = pd.DataFrame({"Month": [f"{sent['at'].iloc[0]:%Y-%m}"], "Amount": [1.0], "Currency": ["USD"]})
    invoices = (totals, sent[["id", "price", "currency"]])
    assert not any("purged" in note for each in invoices for note in cost.reconcile_invoice(ledger, each).notes)
    record = ledger.record("sale")
    record.purge()
    for source in (ledger, record):
        for each in invoices:
            found = cost.reconcile_invoice(source, each)
            assert found.lines["match"].eq("only_theirs").all()
            assert any("1 purged campaign are gone" in note and "'sale'" in note for note in found.notes)
