"""What the words of a period cost, recomputed from what the sandbox's phones received and was billed for each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from support.tables import whole

from smsotp_nb import Ledger, Message, Sandbox, cost, parts, plan, send
from smsotp_nb.errors import SmsOtpWarning, UsageError

PEOPLE = pd.DataFrame(
    {
        "phone": ["+12025550123", "+12025550147", "+12025550198", "+12025550111"],
        "name": ["Ann", "Zażółć", "Ben", "Cleo"],
        "city": ["Rome", "Paris", "Łódź", "Oslo"],
        "language": ["en", "en", "en", "de"],
    }
)
WORDS = {"en": "Hi {name}, it’s on in {city}" + " today" * 12, "de": "Hallo {name}" + " heute" * 12}


@dataclass(frozen=True)
class Sent:
    ledger: Ledger
    received: list[tuple[str, Decimal]]


@pytest.fixture(scope="module")
def sent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sent]:
    path = tmp_path_factory.mktemp("words") / "ledger.sqlite"
    autumn = plan(PEOPLE, WORDS, to="phone", campaign="autumn", by="language", keep=["city"])
    plain = plan(PEOPLE.head(1), "Hello", to="phone", campaign="plain", policy=None)
    with Sandbox() as box, Ledger(path, create=True) as ledger:
        tables = [send(made, client=box.client(), ledger=ledger, progress=False) for made in (autumn, plain)]
        price = {row.id: Decimal(str(row.price)) for table in tables for row in table.itertuples()}
        inbox = box.inbox
        received = [(text, price[one]) for one, text in zip(inbox["id"], inbox["text"], strict=True)]
        yield Sent(ledger, received)


def in_gsm(sign: str) -> bool:
    return parts.count(sign).encoding == "gsm7"


def as_gsm(text: str) -> str:
    return "".join(sign if in_gsm(sign) else "?" for sign in text)


def saved(received: list[tuple[str, Decimal]], cheaper: Callable[[str], str]) -> tuple[int, Decimal]:
    """Return parts and money that other characters would have saved, message by message."""
    found, amount = 0, Decimal(0)
    for text, price in received:
        before, after = parts.count(text).parts, parts.count(cheaper(text)).parts
        found, amount = found + before - after, amount + price / before * (before - after)
    return found, amount


def test_totals_are_those_of_the_messages_that_arrived(sent: Sent) -> None:
    (row,) = cost.words(sent.ledger).totals.to_dict("records")
    assert (row["messages"], row["parts"]) == (5, sum(parts.count(text).parts for text, _ in sent.received))
    assert Decimal(str(row["cost"])) == sum(price for _, price in sent.received)
    for name, cheaper in (("saved", parts.plain), ("extra", as_gsm)):
        fewer, amount = saved(sent.received, cheaper)
        assert fewer > 0
        assert (row[f"{name}_parts"], Decimal(str(row[f"{name}_cost"]))) == (fewer, amount)


def test_characters_are_those_that_no_gsm_phone_shows(sent: Sent) -> None:
    expected = Counter(sign for text, _ in sent.received for sign in set(text) if not in_gsm(sign))
    found = cost.words(sent.ledger).characters
    assert dict(zip(found["character"], found["messages"], strict=True)) == expected
    quote = found.set_index("character").loc["’"]
    assert (quote["name"], quote["replacement"], quote["alone"]) == ("RIGHT SINGLE QUOTATION MARK", "'", 1)


def test_variables_say_where_the_characters_came_from(sent: Sent) -> None:
    found = cost.words(sent.ledger).variables.fillna({"variable": "the text"}).set_index("variable")
    assert found["messages"].to_dict() == {"the text": 3, "name": 1, "city": 1}
    assert found["alone"].to_dict() == {"the text": 1, "name": 0, "city": 0}


def test_messages_are_told_by_their_text_dearest_first(sent: Sent) -> None:
    found = cost.words(sent.ledger).messages
    assert found["text"].tolist() == [WORDS["en"], WORDS["de"], "Hello"]
    assert found["cost"].is_monotonic_decreasing
    assert found[["campaign", "version", "messages"]].values.tolist() == [
        ["autumn", 1, 3],
        ["autumn", 1, 1],
        ["plain", 1, 1],
    ]


def test_months_add_up_to_the_totals_and_a_span_leaves_others_out(sent: Sent) -> None:
    found = cost.words(sent.ledger)
    assert found.months["campaign"].tolist() == ["autumn", "plain"]
    assert found.months["extra_parts"].sum() == found.totals["extra_parts"].sum()
    assert cost.words(sent.ledger, until="2020-01-01").totals.empty
    assert cost.words(sent.ledger.record("plain")).totals["messages"].tolist() == [1]


def test_cost_is_summed_up_by_wording_and_version(sent: Sent) -> None:
    found = cost.by(sent.ledger, ["wording", "version", "city"])
    assert set(found["wording"]) == {*WORDS.values(), "Hello"}
    assert set(found["version"]) == {1}
    assert found["cost"].sum() == pytest.approx(float(sum(price for _, price in sent.received)))


def test_the_card_says_what_plain_characters_would_have_saved(sent: Sent) -> None:
    fewer, amount = saved(sent.received, parts.plain)
    card = cost.words(sent.ledger).card()
    assert f"would have saved {fewer} part" in card.state
    assert f"USD {amount.normalize()}" in card.state
    assert "<script" not in card.html()


def test_words_that_are_a_page_are_shown_as_text(tmp_path: Path) -> None:
    with Sandbox() as box, Ledger(tmp_path / "l.sqlite", create=True) as ledger:
        page = Message("<script>alert(1)</script>", literal=True)
        made = plan(PEOPLE.head(1), page, to="phone", campaign="<b>")
        send(made, client=box.client(), ledger=ledger, progress=False)
        assert "<script>alert" not in cost.words(ledger).card().html()


def test_what_a_purge_took_is_said(box: Sandbox, ledger: Ledger) -> None:
    """Of rows and of words, of the ledger and of the campaign."""
    for name, people in (("gone", PEOPLE), ("kept", PEOPLE.head(1))):
        made = plan(people, f"Hello, {name}", to="phone", campaign=name, policy=None)
        send(made, client=box.client(), ledger=ledger, progress=False)
    gone = ledger.record("gone")
    gone.purge()
    for source, kept in ((ledger, [1]), (gone, [])):
        found = cost.words(source)
        assert (found.totals["messages"].tolist(), found.purged) == (kept, 4)
        assert "4 messages of purged campaigns" in found.card().text()
        with pytest.warns(SmsOtpWarning, match="the rows of 1 purged campaign are gone"):
            assert cost.outcomes(source)["rows"].tolist() == kept
    assert cost.words(ledger, since="2026-01-01", until="2026-01-02").purged == 0


def test_a_result_table_holds_no_words(sent: Sent) -> None:
    with pytest.raises(UsageError, match="a result table holds no words"):
        cost.words(whole(sent.ledger.record("plain")))  # type: ignore[arg-type]


CAMPAIGNS = ("autumn", "plain")
OWN = ["city", "language"]
SOURCES: dict[str, Callable[[Sent], Any]] = {
    "results": lambda sent: pd.concat(
        [whole(sent.ledger.record(name)).drop(columns=OWN, errors="ignore") for name in CAMPAIGNS], ignore_index=True
    ),
    "ledger": lambda sent: sent.ledger,
    "path": lambda sent: sent.ledger.path,
    "text": lambda sent: str(sent.ledger.path),
}
OF_RESULTS: dict[str, Callable[[Any], pd.DataFrame]] = {
    "by": lambda source: cost.by(source, ["iso", "encoding"]),
    "by_campaign": cost.by_campaign,
    "by_country": cost.by_country,
    "by_encoding": cost.by_encoding,
    "by_month": cost.by_month,
    "by_type": cost.by_type,
    "bridge": lambda source: cost.bridge(source, source).totals,
    "card": lambda source: pd.DataFrame([cost.card(source).state]),
    "compare": cost.compare,
    "differences": cost.differences,
    "drift": lambda source: cost.drift(source, source),
    "outcomes": cost.outcomes,
    "rates": cost.rates,
    "summary": cost.summary,
    "unpriced_rows": cost.unpriced_rows,
}


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", OF_RESULTS)
def test_every_function_takes_results_a_ledger_its_path_or_a_campaign(sent: Sent, name: str) -> None:
    function = OF_RESULTS[name]
    expected, *others = [function(of(sent)).reset_index(drop=True) for of in SOURCES.values()]
    for other in others:
        pd.testing.assert_frame_equal(other[list(expected.columns)], expected, check_dtype=False)
    one = sent.ledger.record("autumn")
    pd.testing.assert_frame_equal(function(one), function(whole(one)))


def test_no_function_of_cost_is_left_out() -> None:
    others = {
        *("anomalies", "budget", "convert", "forecast", "movers", "reconcile", "reconcile_invoice", "savings"),
        *("focus", "per_conversion", "spending", "words"),
    }
    functions = {name for name in cost.__all__ if name[0].islower()}
    assert functions - others <= OF_RESULTS.keys()
