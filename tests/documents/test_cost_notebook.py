"""Every figure of the cost notebook, worked out once more from the raw replies by plain arithmetic."""

from __future__ import annotations

import csv
import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support.notebooks import copied, run

from smsotp_nb import phones

from .test_notebooks import keeps_no_secret

ROOT = Path(__file__).resolve().parents[2]
KEEP = """
import json, pathlib
made = {
    "spent": spent, "encodings": sms.cost.by(spent, ["month", "encoding"]), "countries": sms.cost.by_country(spent),
    "months": sms.cost.by_month(spent),
    "words": words.totals, "wordings": words.messages, "characters": words.characters, "variables": words.variables,
    "campaigns": words.months, "bridge": sms.cost.bridge(september, august).groups,
    "bridge_total": sms.cost.bridge(september, august).totals, "found": sms.cost.anomalies(spent).found,
    "forecast": sms.cost.forecast(spent, until="2025-11-17", method="weekdays of 8 weeks").totals,
    "totals": invoice.totals, "lines": invoice.lines, "only_ours": invoice.only_ours,
    "vouchers": ledger.record("vouchers").results[["to", "status"]],
    "converted": converted[["original_currency", "original_cost", "exchange_rate", "cost"]],
}
texts = {name: json.loads(table.to_json(orient="records", date_format="iso")) for name, table in made.items()}
pathlib.Path("figures.json").write_text(json.dumps(texts))
"""
PLAIN = {"’": "'", "–": "-", "…": "..."}


class Message(NamedTuple):
    """An accepted message as a reply has it; amounts in millionths."""

    id: str
    to: str
    iso: str
    campaign: str
    day: date
    text: str
    parts: int
    price: int

    @property
    def month(self) -> str:
        return f"{self.day:%Y-%m}"

    @property
    def ucs2(self) -> bool:
        return not self.text.isascii()

    @property
    def saved(self) -> int:
        """Parts that plain characters would have saved; a letter such as Ł has no plain one."""
        plain = "".join(PLAIN.get(character, character) for character in self.text)
        return self.parts - 1 if plain.isascii() and len(plain) <= 160 else 0


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the notebook was executed."""
    folder = copied(tmp_path_factory.mktemp("cost"))
    done = run(folder / "cost.ipynb", KEEP)
    keeps_no_secret(done, [], "cost")
    return folder


@pytest.fixture(scope="module")
def figures(place: Path) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = json.loads((place / "figures.json").read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module")
def exchanged(place: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (place / "year" / "replies.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def messages(exchanged: list[dict[str, Any]]) -> list[Message]:
    return [
        Message(
            *(one["id"], one["to"], one["iso"], asked["campaign"], date.fromisoformat(asked["at"][:10])),
            *(asked["request"]["text"], one["parts"], micros(one["price"])),
        )
        for asked in exchanged
        if asked["reply"]
        for one in asked["reply"]["data"]["messages"]
    ]


def micros(amount: Any) -> int:
    return round(float(amount or 0) * 1_000_000)


def summed(messages: list[Message], key: Callable[[Message], Any]) -> dict[Any, tuple[int, int, int]]:
    """Return messages, parts and millionths by key."""
    sums: dict[Any, list[int]] = defaultdict(lambda: [0, 0, 0])
    for one in messages:
        for at, more in enumerate((1, one.parts, one.price)):
            sums[key(one)][at] += more
    return {name: (found[0], found[1], found[2]) for name, found in sums.items()}


def shown(table: list[dict[str, Any]], *names: str) -> dict[Any, tuple[int, int, int]]:
    return {
        tuple(row[name] for name in names) if len(names) > 1 else row[names[0]]: (
            row["messages"],
            row["parts"],
            micros(row["cost"]),
        )
        for row in table
    }


pytestmark = pytest.mark.notebook


def test_all_numbers_are_reserved_and_it_is_a_year(exchanged: list[dict[str, Any]], messages: list[Message]) -> None:
    asked = {to for one in exchanged for to in one["request"]["to"]}
    assert phones.normalize(sorted(asked))["note"].str.contains("TEST_NUMBER").all()
    assert len({one.month for one in messages}) == 12


def test_sums_by_country_month_and_encoding(figures: dict[str, Any], messages: list[Message]) -> None:
    assert shown(figures["countries"], "iso") == summed(messages, lambda one: one.iso)
    assert shown(figures["months"], "month") == summed(messages, lambda one: one.month)
    by_encoding = summed(messages, lambda one: (one.month, "ucs2" if one.ucs2 else "gsm7"))
    assert shown(figures["encodings"], "month", "encoding") == by_encoding
    estimate = sum(micros(row["est_cost"]) for row in figures["spent"])
    with (ROOT / "sample_data" / "rates.csv").open(encoding="utf-8-sig") as file:
        rates = {row["iso"]: micros(row["price"]) for row in csv.DictReader(file)}
    assert estimate == sum(one.parts * rates[one.iso] for one in messages)


def test_dear_words_and_what_plain_characters_would_have_saved(
    figures: dict[str, Any], messages: list[Message]
) -> None:
    of_all = figures["words"][0]
    extra = [one for one in messages if one.ucs2]
    assert of_all["saved_parts"] == sum(one.saved for one in messages)
    assert micros(of_all["saved_cost"]) == sum(one.price * one.saved // one.parts for one in messages)
    assert micros(of_all["extra_cost"]) == sum(one.price * (one.parts - 1) // one.parts for one in extra)
    assert shown(figures["campaigns"], "campaign", "month") == summed(messages, lambda one: (one.campaign, one.month))
    saved: Counter[str] = Counter()
    for one in messages:
        saved[one.campaign] += one.price * one.saved // one.parts
    assert {row["campaign"]: micros(row["saved_cost"]) for row in figures["campaigns"]} == saved
    assert {row["campaign"]: micros(row["saved_cost"]) for row in figures["wordings"]} == saved
    dearest = max(summed(messages, lambda one: one.campaign).items(), key=lambda found: found[1][2])
    assert figures["wordings"][0]["campaign"] == dearest[0]
    for row in figures["characters"]:
        mine = [one for one in messages if row["character"] in one.text]
        costs = sum(one.price * (one.parts - 1) // one.parts for one in mine)
        assert (row["messages"], micros(row["extra_cost"])) == (len(mine), costs), row["character"]
    assert {row["character"] for row in figures["characters"]} == {*PLAIN, "Ł"}
    of_name = {row["variable"]: row["messages"] for row in figures["variables"]}
    assert of_name["name"] == sum("Łucja" in one.text for one in messages)
    assert of_name[None] == sum(any(character in one.text for character in PLAIN) for one in messages)


def test_september_against_august(figures: dict[str, Any], messages: list[Message]) -> None:
    """The effects are the average over all orders in which the four factors of each country may change."""
    then = summed([one for one in messages if one.month == "2025-08"], lambda one: one.iso)
    now = summed([one for one in messages if one.month == "2025-09"], lambda one: one.iso)
    effects = [shapley(then, now, iso) for iso in then]
    for row, (iso, mine) in zip(
        sorted(figures["bridge"], key=lambda row: row["iso"]), sorted(zip(then, effects, strict=True)), strict=True
    ):
        assert [row["iso"], micros(row["before"]), micros(row["now"])] == [iso, then[iso][2], now[iso][2]]
        said = [micros(row[name]) for name in ("volume", "mix", "parts", "rate")]
        assert all(abs(one - other) <= 1 for one, other in zip(said, mine, strict=True)), (said, mine)
    whole = figures["bridge_total"][0]
    assert sum(micros(whole[name]) for name in ("volume", "mix", "parts", "rate")) == micros(whole["change"])
    assert micros(whole["change"]) == sum(one[2] for one in now.values()) - sum(one[2] for one in then.values())
    assert whole["parts"] > 0.8 * whole["change"]


def shapley(then: Any, now: Any, iso: str) -> list[float]:
    from itertools import permutations

    sides = []
    for side in (then, now):
        sent, parts, cost = side[iso]
        in_all = sum(one[0] for one in side.values())
        sides.append((in_all, sent / in_all, parts / sent, cost / parts))
    effects = [0.0] * 4
    for order in permutations(range(4)):
        state = list(sides[0])
        for factor in order:
            before = math.prod(state)
            state[factor] = sides[1][factor]
            effects[factor] += (math.prod(state) - before) / 24
    return effects


def test_the_reminders_of_september_are_the_one_thing_found(figures: dict[str, Any], messages: list[Message]) -> None:
    """Their two parts in each country that is judged, and the money that these cost."""
    found = [row for row in figures["found"] if not row["explained"]]
    assert {row["campaign"] for row in found} == {"reminders-2025-09"}
    longer = [row for row in found if row["what"] == "parts"]
    assert {row["iso"] for row in longer} == {"DE", "FR", "US"}
    assert {row["what"] for row in found} == {"parts", "spend"}
    mine = [one for one in messages if one.campaign == "reminders-2025-09"]
    days = sorted({str(one.day) for one in mine})
    assert (min(row["since"] for row in longer)[:10], max(row["until"] for row in longer)[:10]) == (days[0], days[-1])
    for row in longer:
        its = [one for one in mine if one.iso == row["iso"]]
        assert row["cause"] == "wording"
        assert row["days"] == len({one.day for one in its})
        assert row["observed"] == pytest.approx(sum(one.parts for one in its) / len(its))
        assert 1.0 <= row["expected"] < 1.5


def test_the_forecast_and_its_interval(figures: dict[str, Any], messages: list[Message]) -> None:
    """Eight weeks by weekday, tried as of the 17th of earlier months; four fifths of the intervals are to hold."""
    billed = Counter[date]()
    for one in messages:
        billed[one.day] += one.price
    first, end = min(billed), date(2025, 11, 17)

    def forecast(origin: date) -> float:
        ahead = (date(origin.year + origin.month // 12, origin.month % 12 + 1, 1) - origin).days
        back = [origin + timedelta(number) - timedelta(7 * week) for number in range(ahead) for week in weeks(number)]
        known = min(8, (origin - first).days // 7)
        return sum(billed[day] for day in back if day >= origin - timedelta(7 * known)) / known

    cuts = [date(2025, month, 17) for month in range(10, 0, -1) if date(2025, month, 17) >= first + timedelta(35)]
    came = [sum(price for day, price in billed.items() if day >= cut and day.month == cut.month) for cut in cuts]
    small = 0.02 * sum(came) / len(came)
    offs = sorted(abs(math.log((one + small) / (forecast(cut) + small))) for cut, one in zip(cuts, came, strict=True))
    place = (len(offs) + 1) * 0.8 - 1
    off = offs[int(place)] + (place % 1) * (offs[min(int(place) + 1, len(offs) - 1)] - offs[int(place)])
    sure = sum(one.price for one in messages if one.month == "2025-11")
    rest = forecast(end)
    made = figures["forecast"][0]
    assert (micros(made["billed"]), made["tried"]) == (sure, len(cuts))
    low, high = (rest + small) / math.exp(off) - small, (rest + small) * math.exp(off) - small
    for name, amount in {"expected": rest, "low": low, "high": high}.items():
        assert abs(micros(made[name]) - (sure + amount)) <= 1, name


def weeks(number: int) -> range:
    """Return how many weeks back the eight latest days of the weekday are, of a day so many days ahead."""
    return range(number // 7 + 1, number // 7 + 9)


def test_the_invoice_and_the_doubts(
    figures: dict[str, Any], messages: list[Message], exchanged: list[dict[str, Any]], place: Path
) -> None:
    with (place / "year" / "invoice.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    ours = {one.id: one for one in messages if one.month == "2025-10"}
    lost = [one["request"]["to"] for one in exchanged if one["reply"] is None]
    assert [len(numbers) for numbers in lost] == [3]
    seen: set[str] = set()
    matches = []
    for line in lines:
        known = ours.get(line["Message"])
        kind = "in_doubt" if line["Number"] in lost[0] and known is None else "only_theirs"
        if known:
            kind = "matched" if known.price == micros(line["Amount"]) else "other_price"
        matches.append("repeated" if line["Message"] in seen else kind)
        seen.add(line["Message"])
    assert [row["match"] for row in figures["lines"]] == matches
    assert Counter(matches) == {
        "in_doubt": 2,
        "only_theirs": 1,
        "other_price": 1,
        "repeated": 1,
        "matched": len(ours) - 2,
    }
    totals = {name: micros(amount) for name, amount in figures["totals"][0].items() if name != "currency"}
    assert totals["ours"] == sum(one.price for one in ours.values())
    assert totals["theirs"] == sum(micros(line["Amount"]) for line in lines)
    steps = ("other_price", "in_doubt", "only_theirs", "repeated", "unreadable")
    assert totals["ours"] + sum(totals[name] for name in steps) - totals["only_ours"] == totals["theirs"]
    for name in ("in_doubt", "only_theirs", "repeated"):
        paid = zip(lines, matches, strict=True)
        assert totals[name] == sum(micros(line["Amount"]) for line, match in paid if match == name)
    assert [row["id"] for row in figures["only_ours"]] == [one for one in ours if one not in seen]
    invoiced = {line["Number"] for line, match in zip(lines, matches, strict=True) if match == "in_doubt"}
    after = {row["to"]: row["status"] for row in figures["vouchers"]}
    assert {to: after[to] for to in lost[0]} == {to: "accepted" if to in invoiced else "in_doubt" for to in lost[0]}


def test_two_currencies_in_one(figures: dict[str, Any]) -> None:
    sums: Counter[str] = Counter()
    with (ROOT / "sample_data" / "results_two_currencies.csv").open(encoding="utf-8-sig", newline="") as file:
        for row in csv.DictReader(file):
            if row["status"] == "accepted":
                sums[row["currency"]] += micros(row["price"])
    shown_ones = {row["original_currency"]: row for row in figures["converted"]}
    assert {name: micros(row["original_cost"]) for name, row in shown_ones.items()} == sums
    assert micros(shown_ones["CNY"]["cost"]) == pytest.approx(sums["CNY"] * 0.1377, abs=1)
    assert micros(shown_ones["USD"]["cost"]) == sums["USD"]
