"""A made year of sending: what each campaign cost on each day, in each country. Seeded, with no person and no number.

    year = made_year(seed=1, planted=[Planted("price", iso="DE", since="2026-08-10", size=1.25)])
    year.spending     # a frame as `cost.spending` returns it, with `refused` beside it
    year.sends        # the same as a list of `Sent`, from which a script can make real campaigns

Three kinds of campaigns run side by side. A year is random, but a seed always makes the same one:

- ``reminders-2026-03``: a new one every month, sent every day, with few on weekends. One part a message, sometimes two.
- ``newsletter-07``: every Tuesday. One part a message.
- ``spring-sale`` and the like: bursts of one to three days, up to two a month, some of them with long texts.

Their size has a trend, a season over the year and noise. Prices of a part stay as they are, except for what a few
landlines cost more. A few messages of every hundred to a thousand are refused.

What is ``planted`` is added from its day on: a higher price of a part in one country (``price``), reminders that turn
to another encoding and so to more parts (``parts``), or refusals in one country (``refusals``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

RATES = {"US": 7_500, "IN": 3_100, "DE": 71_300, "FR": 52_800, "GB": 39_500, "BR": 11_200}  # millionths of a part
SHARES = {"US": 0.38, "IN": 0.22, "DE": 0.12, "FR": 0.10, "GB": 0.10, "BR": 0.08}
SALES = (
    *("winter-sale", "valentines", "spring-sale", "easter", "opening", "mothers-day", "summer-sale", "festival"),
    *("back-to-school", "autumn-sale", "anniversary", "halloween", "black-week", "advent", "last-chance", "vouchers"),
)
_SPREAD = 0.10  # of the size of a day, as the deviation of its logarithm
_REFUSED = 0.006
_ALIKE = 600.0  # how alike the shares of refusals are from day to day: the sum of the two weights of a beta
_LANDLINES, _LANDLINE_RATE = 0.03, 1.4


@dataclass(frozen=True, slots=True)
class Planted:
    """Something that goes wrong from a day on, for so many days.

    ``size`` is a factor of the price (``price``), the share of the reminders that take one part more (``parts``), or
    the share that is refused (``refusals``).
    """

    what: Literal["price", "parts", "refusals"]
    since: str
    size: float
    iso: str | None = None
    days: int = 400


class Sent(NamedTuple):
    """Messages of one campaign on one day in one country, of which ``refused`` more were not accepted."""

    campaign: str
    day: pd.Timestamp
    iso: str
    encoding: str
    messages: int
    parts: int
    est_parts: int
    micros: int
    est_micros: int
    refused: int


@dataclass(frozen=True, slots=True)
class Year:
    """A made year: its ``sends``, the same as a frame, and what was ``planted``."""

    sends: list[Sent]
    spending: pd.DataFrame
    planted: tuple[Planted, ...]


def made_year(
    seed: int,
    *,
    start: str = "2026-01-01",
    days: int = 365,
    size: float = 400.0,
    trend: float | None = None,
    season: float | None = None,
    sales: float = 1.2,
    planted: tuple[Planted, ...] | list[Planted] = (),
) -> Year:
    """Make a year.

    Args:
        seed: the same seed makes the same year.
        start: its first day.
        days: how many days.
        size: how many reminders are sent on a working day at the start.
        trend: how much the size grows over a year, 0.2 for a fifth; by default by chance from -0.2 to 0.6.
        season: how much more December is than an average month; by default by chance up to 0.25.
        sales: bursts a month, on average.
        planted: what goes wrong.
    """
    chance = np.random.default_rng(seed)
    grown = chance.uniform(-0.2, 0.6) if trend is None else trend
    swing = chance.uniform(0.0, 0.25) if season is None else season
    dates = pd.date_range(start, periods=days, freq="D")
    sizes = _sizes(chance, dates, size, grown, swing)
    bursts = _bursts(chance, dates, sales)
    sends: list[Sent] = []
    for at, day in enumerate(dates):
        for campaign, factor, long in [*_regular(day), *bursts.get(at, [])]:
            sends += _of_day(chance, campaign, day, sizes[at] * factor, long, planted)
    return Year(sends, frame(sends), tuple(planted))


def frame(sends: list[Sent]) -> pd.DataFrame:
    """Return sends as `cost.spending` returns what a ledger holds, with ``refused`` (Int64) as a last column."""
    table = pd.DataFrame(sends)
    text = {"service": "made", "kind": "campaign", "currency": "USD", "type": "MOBILE"}
    made = pd.DataFrame(
        {
            **{name: table[name] for name in ("campaign", "iso", "encoding")},
            "region": table["iso"],
            "day": table["day"].astype("datetime64[us]"),
            "month": table["day"].dt.strftime("%Y-%m"),
            "messages": table["messages"],
            "parts": table["parts"],
            "cost": (table["micros"] / 1_000_000).round(6),
            "unpriced": 0,
            "compared": table["messages"],
            "compared_parts": table["parts"],
            "est_parts": table["est_parts"],
            "compared_cost": (table["micros"] / 1_000_000).round(6),
            "est_cost": (table["est_micros"] / 1_000_000).round(6),
            "refused": table["refused"],
        }
    ).assign(**text)
    counts = ("messages", "parts", "unpriced", "compared", "compared_parts", "est_parts", "refused")
    return made.astype(dict.fromkeys(counts, "Int64"))


def _sizes(chance: np.random.Generator, dates: pd.DatetimeIndex, size: float, grown: float, swing: float) -> Any:
    at = np.arange(len(dates)) / 365.0
    of_year = 1.0 + swing * np.cos(2 * np.pi * (dates.day_of_year.to_numpy() - 350) / 365.25)
    return size * (1.0 + grown * at) * of_year * np.exp(chance.normal(0.0, _SPREAD, len(dates)))


def _regular(day: pd.Timestamp) -> list[tuple[str, float, float]]:
    """Return the campaigns of a day that come again and again: name, size, parts a message beyond the first."""
    weekend = day.day_of_week >= 5
    found = [(f"reminders-{day:%Y-%m}", 0.35 if weekend else 1.0, 0.08)]
    if day.day_of_week == 1:
        found.append((f"newsletter-{int(day.strftime('%W')):02}", 1.5, 0.0))
    return found


def _bursts(
    chance: np.random.Generator, dates: pd.DatetimeIndex, sales: float
) -> dict[int, list[tuple[str, float, float]]]:
    found: dict[int, list[tuple[str, float, float]]] = {}
    for number in range(min(len(SALES), int(chance.poisson(sales * len(dates) / 30.4)))):
        begins, lasts = int(chance.integers(0, len(dates))), int(chance.integers(1, 4))
        long, factor = float(chance.choice([0.0, 1.0, 2.0], p=[0.55, 0.35, 0.10])), float(chance.uniform(1.5, 5.0))
        name = f"{SALES[number]}-{dates[begins]:%Y}"
        for at in range(begins, min(begins + lasts, len(dates))):
            found.setdefault(at, []).append((name, factor, long))
    return found


def _of_day(
    chance: np.random.Generator, campaign: str, day: pd.Timestamp, size: float, more: float, planted: Any
) -> list[Sent]:
    active = [
        one for one in planted if pd.Timestamp(one.since) <= day < pd.Timestamp(one.since) + pd.Timedelta(days=one.days)
    ]
    ucs2 = sum(one.size for one in active if one.what == "parts" and campaign.startswith("reminders"))
    encoding = "ucs2" if ucs2 or more >= 1 else "gsm7"
    made = []
    for iso, share in SHARES.items():
        asked = int(chance.poisson(size * share))
        refused = int(chance.binomial(asked, min(1.0, _refused(chance, iso, active))))
        messages = asked - refused
        if not asked:
            continue
        extra = int(more) * messages + int(chance.binomial(messages, more % 1))
        parts = messages + extra + (int(chance.binomial(messages, min(1.0, ucs2))) if ucs2 else 0)
        rate, est_rate = _rate(chance, iso, messages, active), RATES[iso]
        made.append(
            Sent(campaign, day, iso, encoding, messages, parts, parts, round(parts * rate), parts * est_rate, refused)
        )
    return made


def _refused(chance: np.random.Generator, iso: str, active: list[Planted]) -> float:
    planted = sum(one.size for one in active if one.what == "refusals" and one.iso in (None, iso))
    return float(chance.beta(_REFUSED * _ALIKE, (1 - _REFUSED) * _ALIKE)) + planted


def _rate(chance: np.random.Generator, iso: str, messages: int, active: list[Planted]) -> float:
    landlines = chance.binomial(messages, _LANDLINES) / max(messages, 1)
    factor = np.prod([one.size for one in active if one.what == "price" and one.iso == iso])
    return float(RATES[iso] * (1 + landlines * (_LANDLINE_RATE - 1)) * factor)
