"""A result table, a ledger, its path and one campaign of it say the same of what they all hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from support.sending import sent

from smsotp_nb import Ledger, Record, RequestOptions, Sandbox, charts, cost, plan, send
from smsotp_nb.errors import LedgerError, SmsOtpWarning, UsageError

NUMBERS = ["+12025550123", "+12025550147", "+33199001000", "+4915199000100"]
PEOPLE = pd.DataFrame({"phone": NUMBERS, "segment": ["a", "a", "b", "b"]})
RATES = pd.DataFrame({"iso": ["US", "FR"], "currency": "USD", "price": ["0.0080", "0.0600"]})
SOURCES = ("results", "ledger", "path", "campaign")


def sources_of(box: Sandbox, ledger: Ledger) -> dict[str, Any]:
    made = plan(
        PEOPLE,
        "It’s on" + " today" * 12,
        to="phone",
        campaign="sale",
        keep=["segment"],
        rates=RATES,
        policy=None,
        requests=RequestOptions(chunk_size=2),
    )
    with box.client() as client:
        results = sent(made, client, ledger)
    results = results.join(ledger.record("sale").details)
    return {"results": results, "ledger": ledger, "path": ledger.path, "campaign": ledger.record("sale")}


@pytest.fixture(scope="module")
def sold() -> Iterator[Sandbox]:
    with Sandbox(balance=1000) as made:
        yield made


@pytest.fixture(scope="module")
def sources(sold: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """What is only read."""
    with Ledger(tmp_path_factory.mktemp("sources") / "ledger.sqlite", create=True) as ledger:
        yield sources_of(sold, ledger)


@pytest.mark.parametrize("kind", SOURCES[1:])
def test_spending_is_that_of_the_replies(kind: str, sources: dict[str, Any], sold: Sandbox) -> None:
    spent = cost.spending(sources[kind], columns="segment")
    inbox = sold.inbox
    assert list(spent.columns[:5]) == ["segment", "service", "campaign", "kind", "month"]
    assert spent["messages"].sum() == len(inbox) == 4
    assert spent["cost"].sum() == pytest.approx(float(inbox["price"].astype(float).sum()))
    assert spent.dtypes.equals(cost.spending(sources["ledger"], columns="segment").dtypes)
    for of in ("iso", "segment", "type", ["month", "encoding"]):
        pd.testing.assert_frame_equal(cost.by(spent, of), cost.by(sources["ledger"], of))
        pd.testing.assert_frame_equal(cost.compare(spent, of), cost.compare(sources["ledger"], of))


@pytest.mark.parametrize("kind", SOURCES[1:])
def test_a_span_and_a_service_leave_out_the_same(kind: str, sources: dict[str, Any]) -> None:
    at = sources["results"]["at"].min()  # type: ignore[index,call-overload]
    later = at + pd.Timedelta("1h")
    assert cost.spending(sources[kind], until=later)["messages"].sum() == 4
    assert cost.spending(sources[kind], since=later).empty
    days = cost.spending(sources[kind], tz="Pacific/Kiritimati")["day"]
    assert days.unique().tolist() == [
        at.tz_localize("UTC").tz_convert("Pacific/Kiritimati").tz_localize(None).normalize()
    ]
    assert cost.spending(sources[kind], service="sandbox")["messages"].sum() == 4
    if kind != "campaign":
        assert cost.spending(sources[kind], service="live").empty
        with pytest.raises(UsageError, match="has no service 'other'; it has"):
            cost.spending(sources[kind], service="other")


@pytest.mark.parametrize("kind", SOURCES)
def test_a_part_has_the_price_that_was_billed_and_the_one_of_the_plan(
    kind: str, sources: dict[str, Any], sold: Sandbox
) -> None:
    inbox = sold.inbox.assign(price=sold.inbox["price"].astype(float))
    billed = inbox.groupby("iso")["price"].sum() / inbox.groupby("iso")["parts"].sum()
    found = cost.by_country(sources[kind]).set_index("iso")
    assert found["price_per_part"].to_dict() == pytest.approx(billed.round(6).to_dict())
    both = cost.compare(sources[kind]).set_index("iso")
    assert both["planned_rate"].dropna().to_dict() == {"US": 0.008, "FR": 0.06}
    assert both["price_per_part"].dropna().to_dict() == pytest.approx(billed[["US", "FR"]].round(6).to_dict())


def test_spending_is_asked_of_a_ledger(sources: dict[str, Any], tmp_path: Path) -> None:
    for table in (cost.spending(sources["ledger"]), sources["results"], PEOPLE):  # type: ignore[arg-type]
        with pytest.raises(
            UsageError, match=r"spending needs a Ledger, its path or a Record, got .*; a table is filtered"
        ):
            cost.spending(table)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="no column 'segmnt'; did you mean 'segment'"):
        cost.spending(sources["ledger"], columns="segmnt")  # type: ignore[arg-type]
    with pytest.raises(LedgerError, match="ledger not found"):
        cost.spending(tmp_path / "none.sqlite")


@pytest.mark.parametrize("kind", SOURCES)
def test_a_column_that_is_asked_for_twice_is_named(kind: str, sources: dict[str, Any]) -> None:
    for ask in (cost.by, cost.compare):
        with pytest.raises(UsageError, match="column 'segment' is asked for twice"):
            ask(sources[kind], columns=["segment", "segment"])


@pytest.mark.sampled(8)
@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("of", ["month", "day", "kind", ["month", "segment"], ["day", "iso"]])
def test_what_is_derived_is_the_same_of_any_source(kind: str, of: str | list[str], sources: dict[str, Any]) -> None:
    whole = sources["ledger"]
    pd.testing.assert_frame_equal(cost.by(sources[kind], of), cost.by(whole, of), check_dtype="segment" not in of)
    pd.testing.assert_frame_equal(
        cost.compare(sources[kind], of), cost.compare(whole, of), check_dtype="segment" not in of
    )
    changed = cost.change(sources[kind], whole, of)
    assert changed[["change", "by_messages", "by_parts", "by_price"]].eq(0).all(axis=None)
    with pytest.raises(UsageError, match="'month' is a column of every sum"):
        cost.spending(whole, columns=["month"])


def test_a_column_of_your_own_stands_before_a_derived_one(sources: dict[str, Any]) -> None:
    table = sources["results"].assign(kind=["new", "new", "old", "old"])  # type: ignore[union-attr]
    assert sorted(cost.by(table, "kind")["kind"]) == ["new", "old"]
    assert isinstance(table, pd.DataFrame)
    with pytest.raises(UsageError, match="no column 'at'"):
        cost.by(table.drop(columns="at"), "month")


@pytest.mark.parametrize("of", ["iso", "month", "segment", ["month", "encoding"]])
def test_a_purged_campaign_costs_what_the_ledger_says(of: str, box: Sandbox, ledger: Ledger) -> None:
    sources = sources_of(box, ledger)
    campaign = sources["campaign"]
    assert isinstance(campaign, Record)
    campaign.purge()
    assert cost.by(campaign, of)["messages"].sum() == 4
    pd.testing.assert_frame_equal(cost.by(campaign, of), cost.by(sources["ledger"], of))
    pd.testing.assert_frame_equal(cost.by_month(campaign), cost.by_month(sources["path"]))


OVERLAPPING = pd.DataFrame(
    {"to": ["+12025550123", "+12025550147"], "status": "accepted", "id": ["a", "b"], "iso": "US", "parts": 1,
     "price": [0.01, 0.02], "currency": "USD", "campaign": "autumn", "at": pd.to_datetime(["2026-11-01", "2026-11-02"]),
     "est_parts": 1, "est_cost": 0.01, "est_currency": "USD", "encoding": "gsm7"}
)  # fmt: skip
SUMS: dict[str, Callable[[pd.DataFrame, Path], object]] = {
    "by": lambda table, _: cost.by(table, "campaign"),
    "summary": lambda table, _: cost.summary(table),
    "by_country": lambda table, _: cost.by_country(table),
    "compare": lambda table, _: cost.compare(table),
    "card": lambda table, _: cost.card(table),
    "change": lambda table, _: cost.change(table, OVERLAPPING),
    "month end": lambda table, _: cost.month_end(table),
    "invoice": lambda table, _: cost.reconcile_invoice(table, OVERLAPPING[["id", "price", "currency"]]),
    "chart": lambda table, _: charts.by_country(table),
    "report": lambda table, folder: charts.report(table, folder / "spent.html"),
}


@pytest.mark.parametrize("entry", SUMS)
def test_results_that_overlap_are_refused_with_their_rows_and_never_doubled(entry: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"2 messages stand twice.* row 0 \(place 0\) and row 0 \(place 2\)"):
        SUMS[entry](pd.concat([OVERLAPPING, OVERLAPPING]), tmp_path)


def test_rows_in_doubt_are_told_wherever_the_bill_is_also_after_a_purge(
    box: Sandbox, ledger: Ledger, tmp_path: Path
) -> None:
    """Those who were in doubt may have been billed; nobody can find that out any more once they are gone."""
    made = plan(pd.DataFrame({"phone": [f"+1202555{n:04}" for n in range(9)]}), "Hi", to="phone", campaign="lost")
    box.fault("drop_after", next=1)
    with pytest.warns(SmsOtpWarning, match="9 rows of campaign 'lost' in doubt"):
        results = send(made, box, ledger=ledger, progress=False)

    def told(source: Any) -> list[str]:
        cards = [charts.by_country(source), charts.by_month(source)]
        assert {card.state for card in cards} == {"Nothing is known to be billed"}
        return [" ".join(card.text().split()) for card in (*cards, cost.card(source))]

    record = ledger.record("lost")
    assert all("9 rows in doubt" in text for source in (results, ledger, record) for text in told(source))
    with pytest.warns(SmsOtpWarning, match="9 of the rows were in doubt, possibly sent and billed"):
        assert record.purge() == 9
    assert all("9 rows in doubt" in text for source in (ledger, record) for text in told(source))
    assert ledger.audit()["what"].tolist()[-2:] == ["purged", "purged in doubt"]
    assert ledger.audit()["rows"].tolist()[-2:] == [9, 9]
    record.purge()
    assert "9 rows in doubt" in cost.card(ledger).text()
    assert "9 messages in doubt" in charts.report(ledger, tmp_path / "r.html").read_text()
    assert "in doubt" not in charts.by_country(OVERLAPPING).text()
