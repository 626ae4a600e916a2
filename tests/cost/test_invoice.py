"""A provider's invoice against the ledger: every line has its place, and the amounts lead from ours to theirs."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pandas as pd
import pytest

from smsotp_nb import Client, Ledger, RequestOptions, Sandbox, cost, otp, plan, send, send_test
from smsotp_nb._cost.invoice_columns import found_columns
from smsotp_nb._cost.invoice_lines import invoice_of as read_lines
from smsotp_nb._dates import Written
from smsotp_nb._ledger import Record
from smsotp_nb._wire import mask
from smsotp_nb.errors import SmsOtpWarning, UsageError

PEOPLE = pd.DataFrame({"phone": [f"+1202555{last:04}" for last in range(100, 112)]})
AMOUNTS = [
    "rounding",
    "other_price",
    "in_doubt",
    "only_theirs",
    "ambiguous",
    "repeated",
    "unreadable",
    "tax",
    "fee",
    "credit",
]


@pytest.fixture
def sent(client: Client, ledger: Ledger) -> pd.DataFrame:
    made = plan(PEOPLE, "Hello", to="phone", campaign="sale", requests=RequestOptions(chunk_size=4))
    return send(made, client=client, ledger=ledger, progress=False)


@pytest.fixture
def doubtful(box: Sandbox, ledger: Ledger) -> pd.DataFrame:
    """The first of three requests loses its reply: four rows are in doubt."""
    box.fault("drop_after", next=1)
    made = plan(PEOPLE, "Hello", to="phone", campaign="sale", requests=RequestOptions(chunk_size=4))
    with pytest.warns(SmsOtpWarning, match="4 rows .* in doubt"):
        return send(made, client=box.client(), ledger=ledger, progress=False)


def invoice_of(sent: pd.DataFrame) -> pd.DataFrame:
    return sent[["id", "to", "at", "parts", "price", "currency"]].reset_index(drop=True)


def lines_of(
    frame: pd.DataFrame, names: dict[str, str], tz: str, written: Written, decimal: str | None
) -> pd.DataFrame:
    return read_lines(frame, names, tz, written, decimal, ["USD"]).lines


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


def test_an_invoice_without_times_says_which_messages_count_as_its_own(sent: pd.DataFrame, ledger: Ledger) -> None:
    found = cost.reconcile_invoice(ledger, sent.iloc[:2][["id", "price", "currency"]])
    assert any(note.startswith("It has no times; recorded messages count that are of ") for note in found.notes)


def test_a_line_without_a_price_is_unreadable_but_found(sent: pd.DataFrame, ledger: Ledger) -> None:
    lines = invoice_of(sent)
    lines.loc[3, "price"] = None
    found = cost.reconcile_invoice(ledger, lines)
    assert found.lines.loc[3, ["match", "row"]].tolist() == ["unreadable", 3]
    assert found.only_ours.empty
    adds_up(found)


def test_doubts_are_shown_and_settled_by_the_invoice(doubtful: pd.DataFrame, ledger: Ledger, tmp_path: Path) -> None:
    """A request loses its reply; the invoice has two of its four messages."""
    doubt = doubtful[doubtful["status"].eq("in_doubt")]
    assert len(doubt) == 4
    lines = invoice_of(doubtful[doubtful["status"].eq("accepted")])
    totals = pd.DataFrame({"Country": ["US", "DE"], "Messages": [9, 3], "Amount": [0.1, 0.2], "Currency": "USD"})
    assert (
        sum("4 messages in doubt may be in its totals" in it for it in cost.reconcile_invoice(ledger, totals).notes)
        == 1
    )
    at = doubtful["at"].max()
    more = pd.DataFrame({"id": ["a" * 32, "b" * 32], "to": doubt["to"].iloc[:2], "at": at, "parts": 1, "price": 0.0075})
    lines = pd.concat([lines, more.assign(currency="USD", country="United States")], ignore_index=True)
    file = tmp_path / "november.csv"
    lines.to_csv(file, index=False)
    found = cost.reconcile_invoice(ledger, file)
    assert found.doubts["to"].tolist() == doubt["to"].iloc[:2].tolist()
    said = found.card().text()
    assert "Compared with november.csv. Nothing has been changed." in said
    assert "In doubt in the ledger" in said
    assert "USD 0.0150" in said
    assert all(mask(number) in said for number in found.doubts["to"])
    assert not any(number in f"{said}{found.card().html()}" for number in PEOPLE["phone"])
    assert found.totals["in_doubt"].tolist() == [0.015]
    adds_up(found)
    credited = lines["id"].isin(["a" * 32, "b" * 32])
    credit = cost.reconcile_invoice(ledger, lines.assign(price=lines["price"].mask(credited, -lines["price"])))
    assert credit.lines["match"].eq("in_doubt").sum() == 2
    assert credit.doubts.empty
    campaign = ledger.record("sale")
    assert campaign.counts["in_doubt"] == 4
    assert found.settle(reason="invoice 2026-11") == 2
    assert campaign.counts["in_doubt"] == 2
    assert campaign.results.loc[found.doubts["row"].tolist(), "iso"].tolist() == ["US", "US"]
    assert campaign.changes[["what", "rows", "reason", "source"]].values.tolist() == [
        ["found accepted", 2, "invoice 2026-11", "november.csv"]
    ]
    assert "found accepted on" in campaign.card().text()
    assert "2 rows, by november.csv: invoice 2026-11." in campaign.card().text()
    settled(campaign, found, cost.by(ledger, []))


def settled(campaign: Record, found: cost.Reconciled, total: pd.DataFrame) -> None:
    """The rows take what their lines say, and the lines stay beside them."""
    kept, mine = campaign.evidence, campaign.results
    assert kept.index.tolist() == found.doubts["row"].tolist()
    assert kept["line"].tolist() == ["8", "9"]
    same = ["id", "at", "parts", "price", "currency"]
    assert kept[same].to_numpy().tolist() == found.doubts[same].to_numpy().tolist()
    assert kept["source"].eq("november.csv").all()
    bought = ["status", "id", "parts", "price", "currency"]
    assert mine.loc[kept.index, bought].to_numpy().tolist() == [
        ["accepted", "a" * 32, 1, 0.0075, "USD"],
        ["accepted", "b" * 32, 1, 0.0075, "USD"],
    ]
    assert total[["currency", "messages", "cost", "unpriced"]].to_numpy().tolist() == [
        ["USD", 10, round(mine["price"].sum(), 6), 0]
    ]
    again = cost.reconcile_invoice(campaign._ledger, found.lines)
    assert again.lines["match"].eq("matched").all()
    assert again.doubts.empty


def test_a_settled_row_keeps_the_one_currency_of_its_request(box: Sandbox, ledger: Ledger) -> None:
    """One request is billed in one currency: what a line says in another one stays with the evidence."""
    box.fault("drop_after", next=1)
    made = plan(PEOPLE.head(2), "Hello", to="phone", campaign="sale")
    with pytest.warns(SmsOtpWarning, match="in doubt"):
        sent = send(made, client=box.client(), ledger=ledger, progress=False)
    lines = pd.DataFrame({"to": sent["to"], "at": sent["at"], "price": [0.5, 0.25], "currency": ["USD", "EUR"]})
    assert cost.reconcile_invoice(ledger, lines).settle(reason="invoice") == 2
    campaign = ledger.record("sale")
    assert campaign.evidence[["price", "currency"]].to_numpy().tolist() == [[0.5, "USD"], [0.25, "EUR"]]
    assert campaign.evidence["id"].isna().all()
    bought = campaign.results[["price", "currency"]]
    assert bought["price"].fillna(-1).tolist() == [0.5, -1]
    assert cost.by(ledger, [])[["currency", "cost", "unpriced"]].to_numpy().tolist() == [["USD", 0.5, 1]]
    campaign.purge()
    assert campaign.evidence.empty


def test_other_names_other_zones_and_plain_numbers(sent: pd.DataFrame, ledger: Ledger, tmp_path: Path) -> None:
    """A file as providers write them: no id, no plus, local times, amounts as text."""
    local = sent["at"].dt.tz_localize("UTC").dt.tz_convert("Asia/Kolkata").dt.strftime("%d %b %Y %H:%M:%S")
    file = tmp_path / "invoice.csv"
    pd.DataFrame(
        {"Destination": sent["to"].str[1:], "Sent": local, "Amount": sent["price"].astype(str), "Ccy": "usd"}
    ).to_csv(file, index=False)
    names = {"to": "Destination", "at": "Sent", "price": "Amount", "currency": "Ccy"}
    found = cost.reconcile_invoice(ledger, file, columns=names, tz="Asia/Kolkata")
    assert found.lines["match"].eq("matched").all()
    assert found.lines["found_by"].eq("number and time").all()


def test_what_is_missing_is_said(sent: pd.DataFrame, ledger: Ledger) -> None:
    without = invoice_of(sent).drop(columns="currency")
    with pytest.raises(UsageError, match="no column 'currency', and nothing tells"):
        cost.reconcile_invoice(sent.assign(currency=None), without)
    with pytest.raises(UsageError, match="no column of prices"):
        cost.reconcile_invoice(ledger, invoice_of(sent).drop(columns="price"))
    with pytest.raises(UsageError, match="neither a column 'id' nor both"):
        cost.reconcile_invoice(ledger, invoice_of(sent)[["to", "price", "currency"]])
    with pytest.raises(UsageError, match="columns= names 'sid'"):
        cost.reconcile_invoice(ledger, invoice_of(sent), columns={"sid": "id"})


@pytest.mark.parametrize("zone", ["+00", "+0000", "+00:00", " UTC", "Z"])
def test_times_name_their_zone_in_many_ways(sent: pd.DataFrame, ledger: Ledger, zone: str) -> None:
    """Some lines of an invoice may name none; those are in the zone of the call."""
    lines = invoice_of(sent).drop(columns="id")
    lines["at"] = lines["at"].dt.strftime("%Y-%m-%d %H:%M:%S") + zone
    lines.loc[0, "at"] = (
        sent["at"].dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo").dt.strftime("%Y-%m-%d %H:%M:%S").iloc[0]
    )
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
    with pytest.warns(SmsOtpWarning, match="1 cell of 12 cannot be read"):
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


@pytest.mark.parametrize("shape", ["%Y-%m-%d", "%d %b %Y", "%Y-%m-%d 00:00:00", "%Y-%m-%dT00:00"])
def test_days_without_times_find_the_only_message_of_the_day(sent: pd.DataFrame, ledger: Ledger, shape: str) -> None:
    """Days are those of the time zone that is named; the whole last day is of the invoiced period."""
    local = sent["at"].dt.tz_localize("UTC").dt.tz_convert("Pacific/Kiritimati")
    lines = invoice_of(sent).drop(columns="id").assign(at=local.dt.strftime(shape).array).iloc[:11]
    found = cost.reconcile_invoice(ledger, lines, tz="Pacific/Kiritimati")
    assert found.lines["match"].eq("matched").all()
    assert found.lines["found_by"].eq("number and day").all()
    assert found.only_ours["row"].tolist() == [11]
    before = lines.assign(at=(local - pd.Timedelta(days=1)).dt.strftime(shape).array[:11])
    assert cost.reconcile_invoice(ledger, before, tz="Pacific/Kiritimati").lines["match"].eq("only_theirs").all()


def test_several_messages_of_one_day_are_found_by_id_or_not_at_all(
    sent: pd.DataFrame, client: Client, ledger: Ledger
) -> None:
    made = plan(PEOPLE.head(2), "Hello again", to="phone", campaign="more")
    more = send(made, client=client, ledger=ledger, progress=False)
    days = [table["at"].dt.tz_localize("UTC").dt.tz_convert("UTC").dt.strftime("%Y-%m-%d") for table in (sent, more)]
    lines = pd.concat([invoice_of(sent).assign(at=days[0].array), invoice_of(more).assign(at=days[1].array)])
    lines = lines.reset_index(drop=True).assign(id=None)
    found = cost.reconcile_invoice(ledger, lines)
    assert found.lines["match"].tolist() == [*["ambiguous"] * 2, *["matched"] * 10, *["ambiguous"] * 2]
    assert found.lines["row"].isna().tolist() == found.lines["match"].eq("ambiguous").tolist()
    assert len(found.only_ours) == 4
    assert "4 lines have a day and no time" in found.card().text()
    adds_up(found)
    lines.loc[0, "id"] = sent["id"].iloc[0].upper()
    found = cost.reconcile_invoice(ledger, lines)
    assert found.lines["match"].tolist() == ["matched", "ambiguous", *["matched"] * 11, "ambiguous"]
    assert found.lines.loc[[0, 12], "campaign"].tolist() == ["sale", "more"]


def test_a_message_that_is_billed_twice_on_one_day_is_once_on_the_invoice_only(
    sent: pd.DataFrame, ledger: Ledger
) -> None:
    """Of lines with days alone: that with the recorded price is of the message, wherever it stands."""
    day = sent["at"].dt.strftime("%Y-%m-%d").array
    lines = invoice_of(sent).assign(at=day, id=None)
    twice = pd.concat([lines.head(1).assign(price=9.0), lines], ignore_index=True)
    found = cost.reconcile_invoice(ledger, twice)
    assert found.lines["match"].tolist() == ["only_theirs", *["matched"] * len(lines)]
    assert found.only_ours.empty
    adds_up(found)


def test_totals_of_months_are_called_so(sent: pd.DataFrame, ledger: Ledger) -> None:
    month = sent["at"].iloc[0].strftime("%Y-%m")
    bill = pd.DataFrame({"Month": [month], "Messages": [9], "Amount": [99.0], "Currency": ["USD"]})
    for zone in ("UTC", "Asia/Tokyo", "America/Lima"):
        found = cost.reconcile_invoice(ledger, bill, tz=zone)
        text = found.card().text()
        assert "Its lines are totals, compared by period: no column of phone numbers" in text
        assert f"Its lines begin on {month}-01." in text
        assert f"from {month}-01" in text
        assert found.lines["found_by"].tolist() == ["period"]


def test_another_id_is_another_message(sent: pd.DataFrame, ledger: Ledger) -> None:
    """Once ids are known to be the ledger's, a line with an unknown one is of no message that has one."""
    lines = invoice_of(sent)
    lines.loc[3, "id"] = "f" * 32
    found = cost.reconcile_invoice(ledger, lines)
    assert found.lines["match"].tolist() == [*["matched"] * 3, "only_theirs", *["matched"] * 8]
    assert found.only_ours["row"].tolist() == [3]
    theirs = lines.assign(id=[f"line {place}" for place in range(12)])
    assert cost.reconcile_invoice(ledger, theirs).lines["found_by"].eq("number and time").all()


def test_decimal_commas_are_read_when_they_are_asked_for(sent: pd.DataFrame, ledger: Ledger, tmp_path: Path) -> None:
    """A file with semicolons and commas is what a German or French spreadsheet writes."""
    path = tmp_path / "invoice.csv"
    prices = sent["price"].map(lambda price: f"{price:.4f}".replace(".", ","))
    sent.assign(price=prices)[["id", "price", "currency"]].to_csv(path, sep=";", index=False)
    for decimal in (",", None):
        found = cost.reconcile_invoice(ledger, path, decimal=decimal)
        assert found.lines["match"].unique().tolist() == ["matched"]
        assert found.totals["theirs"].tolist() == found.totals["ours"].tolist() == cost.by(sent, [])["cost"].tolist()
    assert "Amounts are read with a decimal comma." in found.notes
    said = (
        r"'price'.*: 12 cells of 12 .* such as '0,0075' \(rows 0, 1, 2, ...\); a number such as 0.0075 .* decimal=','"
    )
    with pytest.warns(SmsOtpWarning, match=said):
        assert cost.reconcile_invoice(ledger, path, decimal=".").lines["match"].unique().tolist() == ["unreadable"]


@pytest.mark.parametrize(
    ("cell", "price"),
    [("1.234,50", 1234.5), ("12 345,5", 12345.5), ("-0,25", -0.25), ("7", 7.0), (0.5, 0.5), ("1.234.567", 1234567.0)],
)
def test_thousands_stand_apart_where_the_decimal_sign_is_a_comma(cell: object, price: float) -> None:
    invoice = pd.DataFrame({"id": ["x", "y"], "price": pd.Series([cell, None], dtype=object), "currency": "EUR"})
    assert lines_of(invoice, {}, "UTC", Written(), ",")["price"].iloc[0] == price


@pytest.mark.parametrize("cell", ["0.0075", "1.23,5", "1,2,3", "a,b"])
def test_a_number_in_another_form_is_not_guessed(cell: str) -> None:
    invoice = pd.DataFrame({"id": ["x"], "price": [cell], "currency": ["EUR"]}, index=["line 1"])
    with pytest.warns(SmsOtpWarning, match=r"rows line 1\); a number such as 0,0075 is expected; correct"):
        assert lines_of(invoice, {}, "UTC", Written(), ",")["price"].isna().all()


def test_a_time_that_cannot_be_read_is_told() -> None:
    invoice = pd.DataFrame({"id": ["x", "y", "z"], "price": 1, "currency": "EUR", "When": ["2026-11-01", "soon", None]})
    with pytest.warns(SmsOtpWarning, match=r"'When' .*: 1 cell of 3 .* 'soon' \(rows 1\); a time such as 2026"):
        assert lines_of(invoice, {"at": "When"}, "UTC", Written(), ".")["at"].notna().tolist() == [True, False, False]


NO_TEXT = [10**5000, "\ud800", Fraction(10**5000)]


@pytest.mark.parametrize("cell", NO_TEXT, ids=["digits", "half a character", "fraction"])
@pytest.mark.parametrize("name", ["id", "to", "at", "price", "parts", "currency"])
@pytest.mark.filterwarnings("ignore:column:smsotp_nb.errors.SmsOtpWarning")
def test_a_cell_without_a_text_is_a_line_that_cannot_be_read(name: str, cell: object) -> None:
    sound = {"id": "x", "to": "12025550123", "at": "2026-11-01", "price": 1, "parts": 1, "currency": "EUR"}
    invoice = pd.DataFrame([sound, {**sound, name: cell}], dtype=object)
    lines = lines_of(invoice, {}, "UTC", Written(), ".")
    assert lines["id"].iloc[0] == "x"
    assert name in ("id", "currency") or lines[name].isna().tolist() == [False, True]


def test_a_settlement_needs_a_reason_and_says_so(sent: pd.DataFrame, ledger: Ledger) -> None:
    found = cost.reconcile_invoice(ledger, sent[["id", "price", "currency"]])
    for reason in ("", "  "):
        with pytest.raises(UsageError, match="reason= is empty; say which invoice"):
            found.settle(reason=reason)
    with pytest.raises(UsageError, match="settle needs reason="):
        found.settle()  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("cells", "price"),
    [
        (["$ 0.0075", "1"], 0.0075), (["USD 0.0075", "1"], 0.0075), (["0,0075 €", "1"], 0.0075),
        (["(1.50)", "1"], -1.5), (["-$1,234.50", "1"], -1234.5), (["7.5E-03", "1"], 0.0075),
        (["1 234,5", "1"], 1234.5), (["0.01-", "1"], -0.01),
        (["US$0.0075", "1"], 0.0075), ([0.00001, 1], 0.00001),
    ],
    ids=str,
)  # fmt: skip
def test_amounts_as_people_and_programs_write_them(cells: list[object], price: float) -> None:
    invoice = pd.DataFrame({"id": ["x", "y"], "price": pd.Series(cells, dtype=object), "currency": "USD"})
    assert lines_of(invoice, {}, "UTC", Written(), None)["price"].iloc[0] == price


def test_a_comma_that_may_be_either_sign_is_asked_about() -> None:
    invoice = pd.DataFrame({"id": ["x", "y"], "price": ["1,234", "2,500"], "currency": "USD"})
    with pytest.raises(UsageError, match=r"two ways, such as '1,234'; pass decimal='\.' if"):
        lines_of(invoice, {}, "UTC", Written(), None)


def test_passcodes_and_messages_to_oneself_are_on_the_bill(client: Client, ledger: Ledger, sent: pd.DataFrame) -> None:
    made = plan(PEOPLE, "Hello", to="phone", campaign="sale", ledger=ledger)
    test = send_test(made, client, to="+12025550187")
    challenge = otp.send("+12025550188", client, ledger=ledger)
    rows = ledger.record(f"passcodes {pd.Timestamp.now('UTC'):%Y-%m}").results
    lines = pd.concat([invoice_of(sent), invoice_of(test), invoice_of(rows)], ignore_index=True)
    found = cost.reconcile_invoice(ledger, lines)
    assert found.lines["match"].eq("matched").all(), challenge
    assert found.only_ours.empty
    assert found.lines["campaign"].iloc[-2:].tolist() == ["sale (test)", rows["campaign"].iloc[0]]


@pytest.mark.parametrize("places", [2, 3])
def test_the_rounding_of_a_file_is_recognised_and_never_recorded(
    doubtful: pd.DataFrame, ledger: Ledger, places: int
) -> None:
    billed = pd.DataFrame({"to": doubtful["to"].array, "at": doubtful["at"].max(), "price": round(0.0075, places)})
    found = cost.reconcile_invoice(ledger, billed.assign(currency="USD"))
    assert found.lines["match"].value_counts().to_dict() == {"matched": 8, "in_doubt": 4}
    assert f"Its amounts look rounded to {places} decimal places" in " ".join(found.card().text().split())
    assert found.totals["rounding"].iloc[0] == pytest.approx(8 * (round(0.0075, places) - 0.0075))
    adds_up(found)
    assert found.settle(reason="invoice") == 4
    rows = ledger.record("sale").results
    assert rows["price"].dropna().unique().tolist() == [0.0075]
    assert rows["price"].isna().sum() == 4
    assert rows["status"].eq("accepted").all()
    assert ledger.record("sale").evidence["price"].tolist() == [round(0.0075, places)] * 4


@pytest.mark.parametrize(("billed", "price"), [("0.7500", None), ("0.0075", 0.0075)])
def test_a_price_in_another_unit_is_not_recorded(
    doubtful: pd.DataFrame, ledger: Ledger, billed: str, price: float | None
) -> None:
    """And a settled row counts in the country of its number."""
    lines = doubtful[["id", "to"]].assign(at=doubtful["at"].max(), price=billed, currency="USD")
    found = cost.reconcile_invoice(ledger, lines)
    assert any("may be in another unit" in note for note in found.notes) == (price is None)
    assert found.settle(reason="invoice") == 4
    prices = ledger.record("sale").results.loc[doubtful["status"].eq("in_doubt"), "price"]
    assert prices.dropna().tolist() == [price] * 4 * (price is not None)
    totals = pd.DataFrame({"Country": ["US"], "Messages": [12], "Amount": [0.09], "Currency": ["USD"]})
    again = cost.reconcile_invoice(ledger, totals)
    assert again.lines["our_messages"].tolist() == [12]
    assert again.only_ours.empty
    assert again.lines["match"].tolist() == ["other_price" if price is None else "matched"]


@pytest.mark.parametrize("rows", [slice(0, 12), slice(4, 8)])
@pytest.mark.parametrize("missing", [None, "price", "currency"])
def test_recorded_rows_without_an_amount_are_told(sent: pd.DataFrame, rows: slice, missing: str | None) -> None:
    table = sent.copy()
    if missing:
        table.loc[table.index[:3], missing] = None
    found = cost.reconcile_invoice(table, invoice_of(sent).iloc[rows])
    told = [note for note in found.notes if "no recorded price or currency" in note]
    assert told == ["3 messages have no recorded price or currency and are in no amount of ours."] * bool(missing)


def test_a_price_that_may_be_rounded_is_not_recorded_where_nothing_shows_it(
    doubtful: pd.DataFrame, ledger: Ledger
) -> None:
    """The invoice has only the messages in doubt."""
    doubt = doubtful[doubtful["status"].eq("in_doubt")]
    lines = pd.DataFrame({"to": doubt["to"], "at": doubtful["at"].max(), "price": 0.01, "currency": "USD"})
    found = cost.reconcile_invoice(ledger, lines)
    assert "settle takes no price from it" in " ".join(found.notes)
    assert found.settle(reason="invoice") == 4
    rows = ledger.record("sale").results
    assert rows["status"].eq("accepted").all()
    assert rows["price"].dropna().unique().tolist() == [0.0075]


@pytest.mark.parametrize(
    ("ours", "theirs", "said"),
    [(0.07134, 0.0713, "rounded to 4"), (0.07134, 0.072, "rounded up to 3"), (0.0768, 0.07, "cut off to 2")],
)
def test_each_way_of_rounding_is_named(sent: pd.DataFrame, ours: float, theirs: float, said: str) -> None:
    found = cost.reconcile_invoice(sent.assign(price=ours), invoice_of(sent).assign(price=theirs))
    assert found.lines["match"].eq("matched").all()
    assert f"Its amounts look {said} decimal places" in " ".join(found.notes)
    adds_up(found)


@pytest.mark.parametrize("price", [0.02, "0.0100", "USD .0080", 0.1, "0.1"])
def test_another_price_is_no_rounding(sent: pd.DataFrame, price: float | str) -> None:
    """Zeros that are written are decimal places, and no provider rounds to tenths."""
    ours = 0.075 if price in (0.1, "0.1") else 0.0075
    found = cost.reconcile_invoice(sent.assign(price=ours), invoice_of(sent).assign(price=price))
    assert found.lines["match"].eq("other_price").all()
    assert not any("decimal place" in note for note in found.notes)


@pytest.mark.parametrize("column", ["description", "id", "to", "at", "parts", "unit price"])
def test_tax_total_fee_and_credit_stand_apart(sent: pd.DataFrame, ledger: Ledger, column: str) -> None:
    """Whatever column has their words."""
    more = {"Number rental": 2.0, "Credit note 2026-17": -0.5, "VAT 20%": 0.3,
            "Total": round(sent["price"].sum() + 1.8, 6)}  # fmt: skip
    lines = invoice_of(sent).assign(**{"description": "SMS", "unit price": "$0.0075 excl. VAT"})
    extra = pd.DataFrame({column: [*more], "price": [*more.values()], "currency": "USD"})
    found = cost.reconcile_invoice(ledger, pd.concat([lines, extra], ignore_index=True))
    assert found.lines["match"].tolist() == [*["matched"] * 12, "fee", "credit", "tax", "total"]
    assert found.totals[["fee", "credit", "tax", "only_theirs"]].values.tolist() == [[2.0, -0.5, 0.3, 0.0]]
    adds_up(found)
    shown = " ".join(found.card().text().split())
    assert "Total of other lines, not counted" in shown
    assert "is that of its lines" in shown
    wrong = extra.assign(price=extra["price"].mask(extra[column].eq("Total"), 99.0))
    other = cost.reconcile_invoice(ledger, pd.concat([lines, wrong], ignore_index=True))
    assert "Its total says USD 99.00, and its lines add up to" in " ".join(other.card().text().split())


@pytest.mark.parametrize(("hours", "zone"), [(8, "Etc/GMT-8"), (-5, "Etc/GMT+5"), (2, "Etc/GMT-2")])
def test_times_that_are_all_hours_off_are_said_with_the_zone_that_reads_them(
    sent: pd.DataFrame, ledger: Ledger, hours: int, zone: str
) -> None:
    at = (sent["at"] + pd.Timedelta(hours=hours)).dt.strftime("%Y-%m-%d %H:%M:%S")
    lines = invoice_of(sent).drop(columns="id").assign(at=at.array)
    found = cost.reconcile_invoice(ledger, lines)
    assert found.lines["match"].eq("only_theirs").all()
    assert f"12 lines are {abs(hours)} hours" in " ".join(found.notes)
    assert f"tz='{zone}'" in " ".join(found.notes)
    assert cost.reconcile_invoice(ledger, lines, tz=zone).lines["match"].eq("matched").all()
    here = cost.reconcile_invoice(ledger, invoice_of(sent).drop(columns="id"))
    assert not any("hours" in note for note in here.notes)


@pytest.mark.parametrize(
    ("times", "said"), [(10, "10 times the recorded ones"), (100, "100 times the recorded ones, as if they were cents")]
)
def test_another_unit_of_all_amounts_is_named(sent: pd.DataFrame, ledger: Ledger, times: int, said: str) -> None:
    found = cost.reconcile_invoice(ledger, invoice_of(sent).assign(price=sent["price"].array * times))
    assert found.lines["match"].eq("other_price").all()
    assert said in " ".join(found.notes)
    one = invoice_of(sent)
    one.loc[0, "price"] *= times
    assert not any("times" in note for note in cost.reconcile_invoice(ledger, one).notes)


def test_charges_that_are_written_below_nothing_are_read_and_said(sent: pd.DataFrame, ledger: Ledger) -> None:
    found = cost.reconcile_invoice(ledger, invoice_of(sent).assign(price=-sent["price"].array))
    assert found.lines["match"].eq("matched").all()
    assert "All amounts are negative" in " ".join(found.notes)


@pytest.mark.filterwarnings("ignore:The behavior of DataFrame concatenation:FutureWarning")
@pytest.mark.parametrize("order", [1, -1])
def test_a_repeated_line_without_a_price_is_not_counted_twice(sent: pd.DataFrame, ledger: Ledger, order: int) -> None:
    again = invoice_of(sent).iloc[[0]].assign(price=None)
    lines = pd.concat([invoice_of(sent), again][::order], ignore_index=True)
    found = cost.reconcile_invoice(ledger, lines)
    assert found.lines["match"].value_counts().to_dict() == {"matched": 12, "repeated": 1}
    assert found.totals["ours"].tolist() == found.totals["theirs"].tolist() == [round(sent["price"].sum(), 6)]
    adds_up(found)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "excel"])
def test_times_that_are_numbers_are_read_where_they_can_be_one_kind_only(
    sent: pd.DataFrame, ledger: Ledger, unit: str
) -> None:
    epoch = sent["at"].dt.tz_localize(None) - pd.Timestamp("1899-12-30" if unit == "excel" else "1970-01-01")
    at = epoch / (pd.Timedelta(days=1) if unit == "excel" else pd.Timedelta(1, unit))
    lines = invoice_of(sent).drop(columns="id").assign(at=at.array)
    for cells in (lines, lines.assign(at=lines["at"].map("{:.6f}".format))):
        found = cost.reconcile_invoice(ledger, cells)
        assert found.lines["match"].eq("matched").all()
        assert any(word in " ".join(found.notes) for word in ("since 1970", "spreadsheet"))


def test_an_invoice_without_a_line_or_without_a_price_is_none_the_less_compared(
    sent: pd.DataFrame, ledger: Ledger
) -> None:
    assert cost.reconcile_invoice(ledger, invoice_of(sent).iloc[:0]).lines.empty
    for lines in (invoice_of(sent).iloc[:0], invoice_of(sent)[["id", "price", "currency"]].assign(id="of another")):
        assert cost.reconcile_invoice(ledger, lines).totals["only_ours"].tolist() == [round(sent["price"].sum(), 6)]
    blank = cost.reconcile_invoice(ledger, invoice_of(sent).assign(price=None))
    assert blank.lines["match"].eq("unreadable").all()
    assert blank.only_ours.empty


def test_one_currency_for_the_whole_invoice(sent: pd.DataFrame, ledger: Ledger) -> None:
    lines = invoice_of(sent).drop(columns="currency")
    assumed, named = (
        cost.reconcile_invoice(ledger, lines),
        cost.reconcile_invoice(ledger, lines, columns={"currency": "EUR"}),
    )
    assert assumed.lines["match"].eq("matched").all()
    assert "names no currency: USD is assumed" in " ".join(assumed.notes)
    assert named.lines["currency"].eq("EUR").all()
    assert named.lines["match"].eq("other_price").all()


def test_days_that_a_spreadsheet_counts_are_days(sent: pd.DataFrame, ledger: Ledger) -> None:
    days = (sent["at"].dt.normalize() - pd.Timestamp("1899-12-30")).dt.days
    found = cost.reconcile_invoice(ledger, invoice_of(sent).assign(at=days.array, id=None))
    assert found.lines["match"].eq("matched").all()
    adds_up(found)


NAMES = {
    "Destination Mobile No.": "to", "SMS GUID": "id", "Date and time sent": "at", "Price (excl. VAT)": "price",
    "Charged Amount": "price", "Betrag in EUR": "price", "Zielrufnummer (E.164)": "to", "No. of SMS": "messages",
    "Billing currency code": "currency", "Destination Country": "country", "Submission Time": "at",
}  # fmt: skip


@pytest.mark.parametrize(("name", "field"), NAMES.items(), ids=NAMES)
def test_other_names_are_found_by_their_words(name: str, field: str) -> None:
    others = {key: ["x"] for key in ("Unit price", "VAT amount", "Delivery date", "Sender", "Account id", "Network")}
    assert found_columns(pd.DataFrame({**others, name: ["x"]}), {}).get(field) == name


SPECIAL = {
    "VAT 20%": "tax", "zzgl. 19% USt.": "tax", "Total VAT": "tax", "Total incl. VAT": "total", "Subtotal": "total",
    "Gesamtbetrag": "total", "Monthly number rental": "fee", "Carrier fee": "fee", "Setup fee": "fee",
    "Discount": "credit", "Credit note 17": "credit", "SMS fees": None,
    "Outbound SMS incl. VAT": None, "Germany": None, "2026-11-01": None,
}  # fmt: skip


@pytest.mark.parametrize(("text", "kind"), SPECIAL.items(), ids=SPECIAL)
def test_what_a_line_says_of_itself(text: str, kind: str | None) -> None:
    frame = pd.DataFrame({"Description": [text, "SMS"], "Quantity": [1, 1], "Amount": [1, 1], "Currency": "USD"})
    special = read_lines(frame, {}, "UTC", Written(), None, []).lines["special"]
    assert [None if pd.isna(cell) else cell for cell in special] == [kind, None]
