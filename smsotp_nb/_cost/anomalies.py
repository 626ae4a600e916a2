"""What went unlike the weeks before: prices of a part, parts a message, refusals; since when, and what it is about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd

from .._calling import given, in_our_words, not_number, not_zone, refuse
from .._cards import Card, Note, Table, WithCard, about, and_more, counted, money
from .._pandas import STR
from .._phones import country_name
from .._results import contract
from ..errors import UsageError
from .daily import daily
from .expected_range import WEEK, Floats, Judged, of_averages, of_shares
from .sources import Source, records

_GAP: Final = 3  # usual days between two unusual ones that are still one finding
_MOST: Final = 0.5  # of an excess: what has more is its cause
_NEW: Final = pd.Timedelta(days=14)  # a campaign is new for so long
_SHOWN: Final = 12
_COLUMNS: Final[dict[str, str | pd.StringDtype]] = {
    **dict.fromkeys(("what", "currency", "iso", "campaign"), STR),
    **dict.fromkeys(("since", "until"), "datetime64[us]"),
    "days": "Int64",
    **dict.fromkeys(("observed", "expected", "low", "high", "at_stake"), "float64"),
    "cause": STR,
    "explained": "bool",
}


@dataclass(frozen=True, slots=True, eq=False)
class Anomalies(WithCard):
    """Days that were unlike those before them.

    Attributes:
        found: a row a finding, the most money first, what is explained last: ``what`` (str: ``price``, ``parts`` or
            ``refusals``), ``currency``, ``iso`` and ``campaign`` (str: what it is about, missing for several),
            ``since, until`` (datetime64: its first and last day), ``days`` (Int64: how many of them were unusual),
            ``observed`` (float64: price of a part, parts a message, or share of the messages that was refused, over
            these days), ``expected``, ``low, high`` (float64: what was expected, and its limits on the first day),
            ``at_stake`` (float64: what it cost beyond the expected, below 0 where it cost less; of refusals, what the
            messages would have cost), ``cause`` (str: ``price``, ``wording``, ``billed unlike the estimate``,
            ``several campaigns``, ``country`` or ``campaign``) and ``explained`` (bool: by the campaign).
        until: last day that was searched.
        judged: how many values were compared with the days before them.
        not_judged: how many were not, as too few days came before them, by ``what`` (a dict of int).

    Example:
        >>> days = pd.date_range("2026-08-01", periods=60)
        >>> sums = pd.DataFrame({"day": days, "iso": "US", "currency": "USD", "messages": 100, "parts": 100,
        ...                      "cost": 0.75, "unpriced": 0})
        >>> anomalies(sums).card().state
        'Nothing is out of the expected range'
    """

    found: pd.DataFrame
    until: pd.Timestamp
    judged: int
    not_judged: Mapping[str, int]
    _blind: tuple[str, ...] = field(default=(), repr=False)  # of which nothing at all was judged

    def card(self) -> Card:
        """Return the findings as a card; what campaigns explain stands apart."""
        return _card(self)


class _Series(NamedTuple):
    """One figure day by day: ``above / below``, in a currency, and in one country for prices."""

    what: str
    currency: str
    iso: str | None
    rows: pd.DataFrame  # by day: messages, parts, micros, refused


@in_our_words
def anomalies(history: Source, *, chance: float = 0.05, tz: str = "UTC") -> Anomalies:
    """Find the days on which a price of a part, the parts a message or the share of refusals was unlike before.

    Each day is compared with the eight weeks before it. Where these have fewer than ten days with messages (21 for
    refusals), as those of a weekly sender, it is compared with the latest ten of two years; with fewer it is not
    judged. For prices, by country, and parts, the expected range is the median of these days and a number of their
    deviations around it; differences of less than a hundredth are none. For refusals, by country, the share of a week
    is compared, by the bound of a binomial above the share before, wider where days differ by more than chance. Unusual
    days that follow each other closely are one finding, and no part of what is usual until the change has lasted for
    most of the days that are compared.

    Long texts explain themselves: a campaign that is new, the first of its series, and was billed the parts that its
    plan estimated is listed as ``explained``, and the days are judged again without it. Campaigns are a series if their
    names differ in digits only, such as reminders-08 and reminders-09.

    Args:
        history: results, a `Ledger` or its path, or its `spending`; a column ``refused`` (how many messages of a
            row were refused besides) is looked at where sums have it.
        chance: how likely a false alarm may be in the whole search; it is divided by the number of values judged.
        tz: time zone of the days of results and ledgers.

    Raises:
        UsageError: not a table of costs, one without days, or ``chance`` is not between 0 and 0.5.

    Example:
        >>> days = pd.date_range("2026-08-01", periods=60)
        >>> sums = pd.DataFrame({"day": days, "iso": "US", "currency": "USD", "messages": 100, "parts": 100,
        ...                      "cost": [0.75] * 50 + [0.9] * 10, "unpriced": 0})
        >>> anomalies(sums).found[["what", "iso", "expected", "observed", "at_stake"]].values.tolist()
        [['price', 'US', 0.0075, 0.009, 1.5]]
    """
    refuse(not_number("chance", chance, of="a share", above=True), not_zone("tz", tz))
    if chance > 0.5:
        raise UsageError(f"chance= must be a share above 0, at most 0.5, got {given(chance)}")
    rows = daily(history, tz=tz)
    every = list(_every_series(rows))
    values = sum(len(series.rows) for series in every)
    judged, not_judged = _how_many(every, chance / max(values, 1))
    found = [one for series in every for one in _findings(rows, series, chance / max(values, 1))]
    table = pd.DataFrame(found, columns=list(_COLUMNS)).assign(_size=[-abs(one["at_stake"]) for one in found])
    table = table.sort_values(["explained", "_size"], kind="stable", ignore_index=True)[[*_COLUMNS]]
    stake = contract.money(table["at_stake"].astype("float64").round())
    blind = tuple(what for what in ("price", "parts", *not_judged) if not judged[what])
    made = table.assign(at_stake=stake).astype(_COLUMNS)
    return Anomalies(made, rows["day"].max(), sum(judged.values()), not_judged, tuple(dict.fromkeys(blind)))


def _how_many(every: Sequence[_Series], alpha: float) -> tuple[Counter[str], dict[str, int]]:
    """Return how many values of each kind can be judged, and how many cannot."""
    judged, others = Counter[str](), Counter[str]()
    for series in every:
        known = int(np.isfinite(_judged(series, alpha).expected).sum())
        judged[series.what] += known
        others[series.what] += len(series.rows) - known
    return judged, {what: many for what, many in others.items() if many}


def _every_series(rows: pd.DataFrame) -> Iterator[_Series]:
    for currency, mine in rows.dropna(subset=["currency"]).groupby("currency", sort=True):
        priced = mine[((mine["unpriced"] == 0) & (mine["parts"] > 0)).to_numpy()]
        for iso, part in priced.groupby("iso", sort=True):
            yield _Series("price", str(currency), str(iso), _by_day(part))
        yield _Series("parts", str(currency), None, _by_day(mine[(mine["parts"] > 0).to_numpy()]))
        for region, part in mine.groupby(mine["region"].fillna(mine["iso"]), sort=True):
            if part["refused"].any():
                yield _Series("refusals", str(currency), str(region), _by_day(part))


def _by_day(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.groupby("day", sort=True)[["messages", "parts", "micros", "refused"]].sum().astype("float64")


def _above(series: _Series) -> tuple[pd.Series[float], pd.Series[float]]:
    """Return what the figure of a series is made of: so much above, so much below."""
    rows = series.rows
    if series.what == "price":
        return rows["micros"], rows["parts"]
    return (rows["parts"], rows["messages"]) if series.what == "parts" else (rows["refused"], _asked(rows))


def _sides(series: _Series) -> tuple[Floats, Floats]:
    above, below = _above(series)
    return np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)


def _asked(rows: pd.DataFrame) -> pd.Series[float]:
    return rows["messages"] + rows["refused"]


def _findings(rows: pd.DataFrame, series: _Series, alpha: float) -> Iterator[dict[str, Any]]:
    judged = _judged(series, alpha)
    while series.what == "parts" and (campaigns := _explaining(rows, series, judged)):
        for campaign, at in campaigns.items():
            said = {"campaign": campaign, "cause": "wording", "explained": True}
            yield _finding(rows, series, judged, at, at[0]) | said
        rows = rows[~rows["campaign"].isin(list(campaigns)).to_numpy(dtype=bool)]
        mine = rows[((rows["currency"] == series.currency) & (rows["parts"] > 0)).to_numpy(dtype=bool)]
        series = series._replace(rows=_by_day(mine))
        judged = _judged(series, alpha)
    above, below = _sides(series)
    values = judged.high + 1 if series.what == "refusals" else above / below  # of refusals, only more is unusual
    for at in _runs(judged, values):
        yield _finding(rows, series, judged, _whole(series, judged, at), at[0])


def _judged(series: _Series, alpha: float) -> Judged:
    above, below = _sides(series)
    days = series.rows.index.to_numpy().astype("datetime64[D]").astype(np.int64)
    if series.what == "refusals":
        return of_shares(days, above, below, alpha)
    return of_averages(days, above / below, below, alpha)


def _whole(series: _Series, judged: Judged, at: list[int]) -> list[int]:
    """Return the days of a finding; of the first week that was outside, those from which on its excess is largest.

    A day's own deviation is no excess, or days that were a little above the usual share would begin it.
    """
    if series.what != "refusals":
        return at
    above, below = _sides(series)
    first, days = at[0], series.rows.index
    usual = judged.expected[first] * below
    excess = above - usual - np.sqrt(usual)
    week = [place for place in range(first + 1) if days[place] > days[first] - pd.Timedelta(days=WEEK)]
    begins = max(week, key=lambda place: float(excess[place : first + 1].sum()))
    return [place for place in range(begins, at[-1] + 1) if above[place] > usual[place] or place == begins]


def _runs(judged: Judged, values: Floats) -> list[list[int]]:
    """Return the unusual days that belong together: close to each other, and on the same side of what is expected."""
    runs: list[list[int]] = []
    for place in np.flatnonzero(judged.outside).tolist():
        higher = values[place] > judged.high[place]
        last = runs[-1][-1] if runs else None
        if last is not None and place - last <= _GAP + 1 and higher == (values[last] > judged.high[last]):
            runs[-1].append(place)
        else:
            runs.append([place])
    return runs


def _finding(rows: pd.DataFrame, series: _Series, judged: Judged, at: list[int], first: int) -> dict[str, Any]:
    """Return a finding over some days; the first that was judged says what was expected of those before it."""
    above, below = (side.iloc[at] for side in _above(series))
    days = series.rows.iloc[at]
    known = judged.expected[at]
    expected = np.where(np.isnan(known), judged.expected[first], known)
    usual = float((expected * below).sum() / below.sum())
    scale = 1_000_000 if series.what == "price" else 1
    excess = above - expected * below
    mine = rows[(rows["day"].isin(days.index) & (rows["currency"] == series.currency)).to_numpy(dtype=bool)]
    return {
        "what": series.what,
        "currency": series.currency,
        "iso": series.iso,
        "campaign": None,
        "since": days.index[0],
        "until": days.index[-1],
        "days": len(at),
        "observed": float(above.sum() / below.sum()) / scale,
        "expected": usual / scale,
        "low": judged.low[first] / scale,
        "high": judged.high[first] / scale,
        "at_stake": float((excess * _worth(series.what, days)).sum()),
        **_cause(series, mine, usual),
    }


def _worth(what: str, days: pd.DataFrame) -> Any:
    """Return what one more of the excess costs, in micro-units: an amount itself, a part, or a message."""
    if what == "price":
        return 1.0
    per = days["parts" if what == "parts" else "messages"]
    return (days["micros"] / per.where(per > 0)).fillna(0.0)


# -- causes


def _cause(series: _Series, mine: pd.DataFrame, usual: float) -> dict[str, Any]:
    if series.what == "price":
        return {"cause": "price", "explained": False}
    if series.what == "parts":
        return _of_parts(mine, usual)
    return _of_refusals(mine[(mine["region"].fillna(mine["iso"]) == series.iso).to_numpy(dtype=bool)], usual)


def _of_parts(mine: pd.DataFrame, usual: float) -> dict[str, Any]:
    campaign = _most(mine.assign(excess=mine["parts"] - usual * mine["messages"]), "campaign")
    if campaign is None:
        return {"cause": "several campaigns", "explained": False}
    its = mine[(mine["campaign"] == campaign).to_numpy(dtype=bool)]
    cause = "wording" if _as_estimated(its) else "billed unlike the estimate"
    return {"campaign": campaign, "cause": cause, "explained": False}


def _of_refusals(mine: pd.DataFrame, usual: float) -> dict[str, Any]:
    """Name the campaign that has most of the refusals too many, unless it has as much of all messages as well."""
    asked = mine["messages"] + mine["refused"]
    campaign = _most(mine.assign(excess=mine["refused"] - usual * asked), "campaign")
    its = float(asked[(mine["campaign"] == campaign).to_numpy(dtype=bool)].sum())
    if campaign is None or its > _MOST * float(asked.sum()):
        return {"cause": "country", "explained": False}
    return {"campaign": campaign, "cause": "campaign", "explained": False}


def _as_estimated(rows: pd.DataFrame) -> bool:
    """Return whether parts were billed as estimated, to a hundredth; what has no estimate cannot be unlike it."""
    estimated = rows["est_parts"].sum()
    return bool(abs(rows["compared_parts"].sum() - estimated) <= 0.01 * estimated)


def _explaining(rows: pd.DataFrame, series: _Series, judged: Judged) -> dict[str, list[int]]:
    """Return the campaigns that explain unusual days, and which: new, first of their series, billed as planned."""
    began = rows.groupby("campaign")["day"].min()
    first_of = began.groupby(_in_series(began.index.to_series())).transform("min")
    found: dict[str, list[int]] = {}
    for place in np.flatnonzero(judged.outside).tolist():
        day = series.rows.index[place]
        mine = rows[((rows["day"] == day) & (rows["currency"] == series.currency)).to_numpy(dtype=bool)]
        campaign = _most(mine.assign(excess=mine["parts"] - judged.expected[place] * mine["messages"]), "campaign")
        if campaign is None or began[campaign] > first_of[campaign] or began[campaign] < day - _NEW:
            continue
        if _as_estimated(mine[(mine["campaign"] == campaign).to_numpy(dtype=bool)]):
            found.setdefault(campaign, []).append(place)
    return found


def _most(rows: pd.DataFrame, name: str) -> str | None:
    """Return what has more than half of an excess, on whichever side of the expected it is."""
    sums = rows.groupby(name)["excess"].sum()
    total = float(rows["excess"].sum())
    if not len(sums) or not total:
        return None
    shares = sums / total
    return str(shares.idxmax()) if shares.max() > _MOST else None


def _in_series(campaigns: pd.Series[str]) -> pd.Series[str]:
    return campaigns.astype(STR).str.replace(r"[0-9]+", "#", regex=True)


# -- the card

_BLIND: Final = {"price": "prices", "parts": "parts", "refusals": "refusals"}
_WHAT: Final = {"price": "Price of a part", "parts": "Parts a message", "refusals": "Refused"}


def _card(made: Anomalies) -> Card:
    open_ = made.found[~made.found["explained"]]
    explained = made.found[made.found["explained"]]
    stakes = open_.groupby("currency")["at_stake"].apply(lambda each: each.clip(lower=0).sum())
    at_stake = " and ".join(about(float(each), str(currency)) for currency, each in stakes.items() if each)
    said = counted(len(open_), "thing is", "things are") if len(open_) else "Nothing is"
    state = f"{said} out of the expected range{f', {at_stake} at stake' if at_stake else ''}"
    if made._blind:
        state += f"; of {' and '.join(_BLIND[what] for what in made._blind)} nothing could be judged"
    if not made.judged:
        state = "Nothing could be judged: too few days with messages came before each"
    late = sum(made.not_judged.values())
    return Card(
        title="What was unlike before",
        state=state,
        blocks=(
            *([_table(made, open_)] if len(open_) else []),
            *(Note("i", _explained(row)) for row in records(explained.head(_SHOWN))),
        ),
        closing=f"{counted(made.judged, 'value')} compared with the days before each, to {made.until:%Y-%m-%d}"
        + (f"; {counted(late, 'value')} had too few days before, and none of them was judged" if late else ""),
    )


def _table(made: Anomalies, found: pd.DataFrame) -> Table:
    rows = tuple(
        (
            _where(row),
            _when(row, made.until),
            _figure(row, "observed"),
            f"{_figure(row, 'low')} to {_figure(row, 'high')}",
            about(row["at_stake"], row["currency"]),
            _because(row),
        )
        for row in records(found.head(_SHOWN))
    )
    more = and_more(len(found) - len(rows), ".found")
    heads = ("", "When", "Was", "Expected", "At stake", "Cause")
    return Table(heads, rows, ("left", "left", "right", "right", "right", "left"), more=more)


def _where(row: dict[str, Any]) -> str:
    place = f", {country_name(row['iso'])} {row['iso']}" if isinstance(row["iso"], str) else ""
    return _WHAT[row["what"]] + place


def _when(row: dict[str, Any], until: pd.Timestamp) -> str:
    if row["since"] == row["until"]:
        return f"{row['since']:%Y-%m-%d}"
    still = row["until"] >= until - pd.Timedelta(days=_GAP)
    return f"since {row['since']:%Y-%m-%d}" if still else f"{row['since']:%Y-%m-%d} to {row['until']:%Y-%m-%d}"


def _figure(row: dict[str, Any], name: str) -> str:
    value = float(row[name])
    if row["what"] == "price":
        return money(round(value, 5))
    return f"{value:.1%}" if row["what"] == "refusals" else f"{value:.2f}"


def _because(row: dict[str, Any]) -> str:
    named = f", {row['campaign']}" if isinstance(row["campaign"], str) else ""
    return f"{row['cause']}{named}"


def _explained(row: dict[str, Any]) -> str:
    days = f"{row['since']:%Y-%m-%d}" + (f" to {row['until']:%Y-%m-%d}" if row["since"] != row["until"] else "")
    parts = f"{_figure(row, 'observed')} parts a message instead of {_figure(row, 'expected')}"
    return f"{days}: {parts}, explained by the campaign {row['campaign']}."
