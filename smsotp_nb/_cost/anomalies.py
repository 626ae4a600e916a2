"""What changed: spend, prices of a part, parts, refusals; since when, at what cost, and on what basis it is said."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd

from .._calling import given, in_our_words, not_number, not_zone, refuse
from .._cards import Card, Note, Table, WithCard, about, and_more, counted, listed, money, number, records
from .._pandas import STR, is_missing
from .._phones import country_name
from .._results import contract
from ..errors import UsageError
from .changes import LEAST, PRICE, WINDOW, Change, Floats, Measure, Places, changes
from .changes import Series as Values
from .sources import Source, daily

_MOST: Final = 0.5  # of an excess: what has more is its cause
_NEW: Final = pd.Timedelta(days=14)  # a campaign is new for so long
_MONTH: Final = pd.Timedelta(days=31)  # spend has a cycle of a month: no day of the first one is judged
_SMALL: Final = 0.05  # of what a usual day costs in all: differences of less hardly count
_FEW_MESSAGES: Final = 10
_SHOWN: Final = 12
_NAMED: Final = 4
_FIRST: Final = "first of their series, which have too few sending days before them"
_MEASURES: Final = (  # each takes what the ones before it explain out of its own figures
    PRICE,
    Measure("estimate", "compared_parts", "est_parts", least=0.01, floor=0.002, falls=True, variance=0.05, bound=3.0),
    Measure("parts", "parts", "messages", least=0.02, floor=0.35, falls=True, bound=9.0),
    Measure("refusals", "refused", "asked", least=0.25, floor=0.35, falls=False, bound=1.0),
    Measure("spend", "micros", None, least=0.5, floor=0.3, falls=False),
)
_NUMBERS: Final = ("messages", "parts", "micros", "compared_parts", "est_parts", "refused", "asked")
_KEYS: Final = ("currency", "iso", "kind", "campaign", "day")
_COLUMNS: Final[dict[str, str | pd.StringDtype]] = {
    **dict.fromkeys(("what", "currency", "iso", "kind", "campaign"), STR),
    **dict.fromkeys(("since", "until"), "datetime64[us]"),
    "open": "bool",
    "days": "Int64",
    **dict.fromkeys(("observed", "expected", "low", "high", "at_stake"), "float64"),
    "compared": "Int64",
    "chance": "float64",
    "cause": STR,
    "explained": "bool",
}
_UNJUDGED: Final[dict[str, str | pd.StringDtype]] = {
    **dict.fromkeys(("what", "currency", "iso", "kind"), STR),
    "values": "Int64",
    "why": STR,
}


@dataclass(frozen=True, slots=True, eq=False)
class Anomalies(WithCard):
    """What changed, and the basis on which it is said.

    Attributes:
        found: a row a finding, the most money first, what is explained last: ``what`` (str: ``spend``, ``price``,
            ``estimate``, ``parts`` or ``refusals``), ``currency``, ``iso``, ``kind`` and ``campaign`` (str: what it is
            about, missing for several), ``since, until`` (datetime64: its first and last day), ``open`` (bool: it has
            not ended), ``days`` (Int64: sending days between them), ``observed`` and ``expected`` (float64: what a
            sending day or a part cost, parts billed for each estimated one, parts a message, or the share of messages
            that was refused; on these days, and on those before), ``low, high`` (float64: lowest and highest of the
            days before), ``at_stake`` (float64: what all days of the finding cost beyond the expected, without what
            other findings have already; below 0 where they cost less; of refusals, what the messages would have cost),
            ``compared`` (Int64: how many sending days before it were compared), ``chance`` (float64: how likely a
            false alarm as clear as this one is anywhere in the search), ``cause`` (str: ``price``, ``wording``,
            ``billed unlike the estimate``, ``more messages``, ``new country``, ``several campaigns``, ``country`` or
            ``campaign``) and ``explained`` (bool: by a new campaign, a row each).
        until: last day that was searched.
        judged: how many values were compared with those before them.
        judged_of: the same by ``what`` (a dict of int).
        not_judged: a row for what could not be judged: ``what, currency, iso, kind`` (str), ``values`` (Int64) and
            ``why`` (str).

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
    judged_of: dict[str, int]
    not_judged: pd.DataFrame

    def card(self) -> Card:
        """Return the findings as a card; what campaigns explain stands apart."""
        open_ = self.found[~self.found["explained"]]
        explained = records(self.found[self.found["explained"]].head(_SHOWN))
        stakes = open_.groupby("currency")["at_stake"].apply(lambda each: each.clip(lower=0).sum())
        at_stake = " and ".join(about(float(each), str(currency)) for currency, each in stakes.items() if each)
        said = counted(len(open_), "thing is", "things are") if len(open_) else "Nothing is"
        state = f"{said} out of the expected range{f', {at_stake} at stake' if at_stake else ''}"
        blind = [
            _BLIND[what] for what, many in self.judged_of.items() if not many and what in set(self.not_judged["what"])
        ]
        if blind:
            state += f"; of {' and '.join(blind)} nothing could be judged"
        if not self.judged:
            few = self.not_judged["why"].str.contains("sending day").any() or self.not_judged.empty
            why = "too few sending days came before each" if few else str(self.not_judged["why"].iloc[0])
            state = f"Nothing could be judged: {why}"
        by_what = ", ".join(f"{_BLIND[what]} {number(many)}" for what, many in self.judged_of.items() if many)
        return Card(
            title="What changed",
            state=state,
            blocks=(*_table(open_), *(Note("i", _explained(row)) for row in explained), *_not_judged(self.not_judged)),
            closing=f"{counted(self.judged, 'value')} compared with up to {WINDOW} sending days before each, to "
            f"{self.until:%Y-%m-%d} ({by_what or 'none'})",
        )


class _Series(NamedTuple):
    """One figure on the sending days of a country (None: all), and the rows that it is made of."""

    measure: Measure
    currency: str
    iso: str | None
    kind: str | None
    days: pd.DatetimeIndex
    values: Values
    first: int  # place of the first day that is judged
    rows: Places


@in_our_words
def anomalies(history: Source, *, chance: float = 0.05, tz: str = "UTC") -> Anomalies:
    """Find changes of the spend, the price of a part, the parts a message and the share of refusals.

    Each is judged by country first, then over all countries; spend by kind of message as well. A sending day is
    compared with up to 90 sending days before it, be they daily, weekly or monthly: alone, by a prediction interval of
    Student's t for logarithms, and together with up to 44 before it, by how many of them exceed the days before, which
    is exact for any distribution (Gumbel and von Schelling 1950). Parts a message, which a text may double any day, are
    hardly judged by a single day. The first eight days of a series, and the first month of spend, are not judged. Of
    refusals and spend only a rise is looked for; spend counts from half as much again. A change stays open, with its
    money, until it ends (Page 1954); the days in it are compared with each other as well.

    What one finding costs is taken out of the others: spend is judged without changes of price and parts. A new
    campaign, the first of its series, that has most of an excess of parts or spend and was billed the parts of its
    estimate is listed as ``explained``, and the days are judged again without it. Campaigns are a series if their names
    differ in digits only, such as reminders-08 and reminders-09. Where most campaigns are new and have no estimate, new
    ones explain nothing.

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
    search = _Search(_cells(rows), rows, float(chance))
    for measure in _MEASURES:
        search.measure(measure)
    table = pd.DataFrame(search.found, columns=list(_COLUMNS))
    stake = contract.money(table["at_stake"].astype("float64").round())
    table = table.assign(at_stake=stake, _size=-stake.abs())
    table = table.sort_values(["explained", "_size"], kind="stable", ignore_index=True)[[*_COLUMNS]]
    unjudged = pd.DataFrame(search.unjudged, columns=list(_UNJUDGED)).astype(_UNJUDGED)
    judged = sum(search.judged.values())
    return Anomalies(table.astype(_COLUMNS), rows["day"].max(), judged, search.judged, unjudged)


def _cells(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the numbers by `_KEYS`, as floats; the country of a refusal is that of its number."""
    named = rows.assign(iso=rows["iso"].fillna(rows["region"]), asked=rows["messages"] + rows["refused"])
    named = named[named["currency"].notna().to_numpy(bool)]
    named["unread"] = named["messages"].where(named["unpriced"] > 0, 0)
    sums = named.groupby([*_KEYS], dropna=False, sort=True)[[*_NUMBERS, "unread"]].sum().reset_index()
    return sums.astype(dict.fromkeys((*_NUMBERS, "unread"), "float64"))


class _Search:
    """A search by one measure after the other; each takes what it finds out of the cells of those after it."""

    def __init__(self, cells: pd.DataFrame, rows: pd.DataFrame, chance: float) -> None:
        self.cells = cells
        self.found: list[dict[str, Any]] = []
        self.judged = dict.fromkeys((measure.what for measure in _MEASURES), 0)
        self.unjudged: list[dict[str, Any]] = []
        if len(rows) > rows["currency"].notna().sum():
            lost = int(rows.loc[rows["currency"].isna(), ["messages", "refused"]].to_numpy().sum())
            self._unjudged("spend", None, None, None, lost, f"{counted(lost, 'message')} without a currency")
        for measure in _MEASURES:
            for one in _series(cells, measure):
                self._count(one)
        unread = cells[(cells["unread"] > 0).to_numpy(bool)]
        for (currency, iso), part in unread.groupby(["currency", "iso"], dropna=False):
            where, many = None if is_missing(iso) else str(iso), int(part["unread"].sum())
            why = f"{counted(many, 'message')} on rows with a price that could not be read"
            for what in ("price", "spend"):
                self._unjudged(what, currency, where, None, many, why)
        self.values = max(sum(self.judged.values()), 1)
        self.alpha = chance / self.values
        # When each campaign began that is the first of its series.
        began = rows.groupby("campaign")["day"].min()
        series = began.index.to_series().astype(STR).str.replace(r"[0-9]+", "#", regex=True)
        self.new = began[(began == began.groupby(series).transform("min")).to_numpy(bool)]

    def measure(self, measure: Measure) -> None:
        explained: list[str] = []
        while more := self._judge(measure, explained):
            explained += more

    def _count(self, one: _Series) -> None:
        known = max(len(one.days) - one.first, 0)
        self.judged[one.measure.what] += known
        if known < len(one.days):
            few = "all in the first 31 days, which are not judged: spend has a cycle of a month"
            if one.first <= LEAST or len(one.days) < LEAST:
                few = f"and {number(LEAST)} must come before one that is judged"
            why = _FIRST if known else f"{counted(len(one.days), 'sending day')}, {few}"
            self._unjudged(one.measure.what, one.currency, one.iso, one.kind, len(one.days) - known, why)

    def _unjudged(self, *row: Any) -> None:
        self.unjudged.append(dict(zip(_UNJUDGED, row, strict=True)))

    def _judge(self, measure: Measure, without: list[str]) -> list[str]:
        """Judge by country, then all together; return campaigns that explain something, if there are more of them."""
        apart = self.cells["campaign"].isin(without).to_numpy(bool)
        left = self.cells[~apart].copy()
        found: list[dict[str, Any]] = []
        explaining: dict[str, dict[str, Any]] = {}
        for one in _series(left, measure):
            for change in changes(one.values, measure, alpha=self.alpha, first=one.first):
                row = self._finding(left, one, change)
                if campaign := self._explains(left, one, change):
                    explaining.setdefault(campaign, row)
                else:
                    found.append(row)
                    _take_out(left, one, change)
        if explaining:
            self.found += [_of_campaign(self.cells, measure, name, row) for name, row in explaining.items()]
            return list(explaining)
        self.found += found
        self.cells = pd.concat([left, self.cells[apart]], ignore_index=True) if without else left
        return []

    def _explains(self, cells: pd.DataFrame, one: _Series, change: Change) -> str | None:
        if one.measure.what not in ("parts", "spend"):
            return None
        mine = _rows_of(cells, one, one.days[change.at])
        campaign = _most(mine, _excess(mine, one, change), "campaign")
        if campaign is None or campaign not in self.new.index:
            return None
        began = self.new[campaign]
        if began < one.days[change.at[0]] - _NEW:
            return None
        its = mine[(mine["campaign"] == campaign).to_numpy(bool)]
        if its["est_parts"].sum():
            return campaign if _as_estimated(its) else None
        before = _rows_of(cells, one, one.days[change.against])
        return campaign if before["campaign"].isin(self.new.index).mean() < _MOST else None

    def _finding(self, cells: pd.DataFrame, one: _Series, change: Change) -> dict[str, Any]:
        at, values = change.at, one.values
        below = values.below[at]
        scale = 1_000_000 if one.measure.above == "micros" else 1
        before = values.above[change.against] / values.below[change.against]
        mine = _rows_of(cells, one, one.days[at])
        inside = change.expected * below + change.excess
        return {
            "what": one.measure.what,
            "currency": one.currency,
            "iso": one.iso,
            "kind": one.kind,
            "campaign": None,
            "since": one.days[at[0]],
            "until": one.days[at[-1]],
            "open": change.open,
            "days": len(at),
            "observed": float(inside.sum() / below.sum()) / scale,
            "expected": change.expected / scale,
            "low": float(before.min()) / scale,
            "high": float(before.max()) / scale,
            "at_stake": float((change.excess * _worth(cells, one, change)).sum()),
            "compared": len(change.against),
            "chance": min(change.chance * self.values, 1.0),
            **_cause(mine, one, change),
            "explained": False,
        }


# -- series


def _series(cells: pd.DataFrame, measure: Measure) -> Iterator[_Series]:
    """Yield the series by country, then those over several; a price of a part is of one country alone."""
    keys = ["currency", "kind"] if measure.what == "spend" else ["currency"]
    yield from _series_by(cells, measure, [*keys, "iso"])
    if measure.what not in ("price", "estimate"):
        for one in _series_by(cells, measure, keys):
            if cells["iso"].iloc[one.rows].nunique(dropna=False) > 1:
                yield one


def _series_by(cells: pd.DataFrame, measure: Measure, keys: list[str]) -> Iterator[_Series]:
    used = cells[measure.below or "messages"].to_numpy() > 0
    if measure.above == "micros":
        used = used & (cells["unread"].to_numpy() == 0)
    places = np.flatnonzero(used)
    mine = cells.iloc[places].assign(_row=places)
    if measure.what == "refusals":
        refused = mine.groupby(keys, dropna=False)["refused"].transform("sum") > 0
        mine = mine[refused.to_numpy(bool)]
    for names, part in mine.groupby(keys, dropna=False, sort=True):
        of = {key: None if is_missing(name) else str(name) for key, name in zip(keys, names, strict=True)}
        rows = part["_row"].to_numpy()
        days, values, first = _spend(mine, part, of) if measure.what == "spend" else _ratios(part, measure)
        yield _Series(measure, str(of["currency"]), of.get("iso"), of.get("kind"), days, values, first, rows)


def _ratios(part: pd.DataFrame, measure: Measure) -> tuple[pd.DatetimeIndex, Values, int]:
    sums = part.groupby("day", sort=True)[[measure.above, measure.below]].sum()
    above, below = sums[measure.above].to_numpy(), sums[measure.below].to_numpy()
    log = np.log((above + 0.5) / (below + 1)) if measure.what == "refusals" else np.log1p(np.maximum(above, 0) / below)
    if measure.what in ("parts", "estimate"):
        log = np.log(np.maximum(above / below, 0.01))
    return pd.DatetimeIndex(sums.index), Values(above, below, log), LEAST


def _spend(mine: pd.DataFrame, part: pd.DataFrame, of: dict[str, str | None]) -> tuple[pd.DatetimeIndex, Values, int]:
    """Return the spend of a country on each day on which messages of its kind were sent anywhere."""
    same = (mine["currency"] == of["currency"]).to_numpy(bool)
    same = same & (mine["kind"].isna() if of["kind"] is None else mine["kind"] == of["kind"]).to_numpy(bool)
    in_all = mine[same].groupby("day", sort=True)[["micros", "messages"]].sum()
    each = in_all["micros"].sum() / max(in_all["messages"].sum(), 1.0)
    above = part.groupby("day")["micros"].sum().reindex(in_all.index, fill_value=0.0).to_numpy()
    days = pd.DatetimeIndex(in_all.index)
    first = max(LEAST, int(days.searchsorted(days[0] + _MONTH)))
    small = max(_SMALL * float(in_all["micros"].median()) + _FEW_MESSAGES * each, 1.0)
    return days, Values(above, np.ones(len(above)), np.log1p(np.maximum(above, 0) / small)), first


def _rows_of(cells: pd.DataFrame, one: _Series, days: pd.DatetimeIndex) -> pd.DataFrame:
    mine = cells.iloc[one.rows]
    return mine[mine["day"].isin(days).to_numpy(bool)]


def _worth(cells: pd.DataFrame, one: _Series, change: Change) -> Floats | float:
    """Return what one more of the excess costs, in micro-units: an amount itself, a part, or a message.

    Of a day without any, as one on which all were refused, what it cost before.
    """
    if one.measure.above == "micros":
        return 1.0
    per = "messages" if one.measure.what == "refusals" else "parts"
    before, during = (
        _rows_of(cells, one, one.days[at]).groupby("day")[["micros", per]].sum() for at in (change.against, change.at)
    )
    usual = float(before["micros"].sum() / max(before[per].sum(), 1.0))
    each: Floats = (during["micros"] / during[per].where(during[per] > 0)).fillna(usual).to_numpy()
    return each


def _take_out(cells: pd.DataFrame, one: _Series, change: Change) -> None:
    """Take the excess out of the figures of its rows, each by its share, and what it cost out of their cost."""
    mine = _rows_of(cells, one, one.days[change.at])
    by = one.measure.below or "micros"
    whole = mine.groupby("day")[by].transform("sum")
    excess = mine["day"].map(pd.Series(change.excess, index=one.days[change.at]))
    taken = (excess * mine[by] / whole.where(whole > 0)).fillna(0.0)
    if one.measure.what in ("estimate", "parts"):
        left = 1 - taken / mine["parts"].where(mine["parts"] > 0)
        cells.loc[mine.index, "micros"] = mine["micros"] * left.fillna(1.0)
    column = "parts" if one.measure.what == "estimate" else one.measure.above
    cells.loc[mine.index, column] = mine[column] - taken


# -- causes


def _excess(mine: pd.DataFrame, one: _Series, change: Change) -> pd.Series[float]:
    """Return by how much each row exceeds the expected; of spend, all of it."""
    measure = one.measure
    return mine[measure.above] - (change.expected * mine[measure.below] if measure.below else 0.0)


def _cause(mine: pd.DataFrame, one: _Series, change: Change) -> dict[str, Any]:
    what = one.measure.what
    if what == "price":
        return {"cause": "price"}
    campaign = _most(mine, _excess(mine, one, change), "campaign")
    if what == "spend":
        cause = "more messages" if change.expected else "new country"
        its = mine[(mine["campaign"] == campaign).to_numpy(bool)]
        return {"cause": cause if _as_estimated(its) else "billed unlike the estimate", "campaign": campaign}
    if what == "estimate":
        return {"cause": "billed unlike the estimate", "campaign": campaign}
    if what == "parts":
        return {"cause": "wording" if campaign else "several campaigns", "campaign": campaign}
    asked = float(mine.loc[(mine["campaign"] == campaign).to_numpy(bool), "asked"].sum())
    if campaign is None or asked > _MOST * float(mine["asked"].sum()):
        return {"cause": "country"}
    return {"cause": "campaign", "campaign": campaign}


def _as_estimated(rows: pd.DataFrame) -> bool:
    """Return whether parts were billed as estimated, to a hundredth; what has no estimate cannot be unlike it."""
    estimated = float(rows["est_parts"].sum())
    return abs(float(rows["compared_parts"].sum()) - estimated) <= 0.01 * estimated


def _most(rows: pd.DataFrame, excess: pd.Series[float], name: str) -> str | None:
    """Return what has more than half of an excess, on whichever side of the expected it is."""
    sums = excess.groupby(rows[name]).sum()
    total = float(excess.sum())
    if not len(sums) or not total:
        return None
    shares = sums / total
    return str(shares.idxmax()) if shares.max() > _MOST else None


def _of_campaign(cells: pd.DataFrame, measure: Measure, campaign: str, row: dict[str, Any]) -> dict[str, Any]:
    """Return the finding that a campaign explains, over all its days and countries."""
    mine = cells[((cells["campaign"] == campaign) & (cells["currency"] == row["currency"])).to_numpy(bool)]
    days = mine["day"].nunique()
    if measure.what == "parts":
        observed = float(mine["parts"].sum() / mine["messages"].sum())
        stake = float(mine["micros"].sum() * (1 - row["expected"] / observed))
    else:
        observed, stake = float(mine["micros"].sum()) / days / 1_000_000, float(mine["micros"].sum())
    one = mine["iso"].nunique() == 1
    return row | {
        "iso": row["iso"] if one else None,
        "campaign": campaign,
        "since": mine["day"].min(),
        "until": mine["day"].max(),
        "open": False,
        "days": days,
        "observed": observed,
        "at_stake": stake,
        "cause": "wording" if measure.what == "parts" else "more messages",
        "explained": True,
    }


# -- the card

_WHAT: Final = {
    "spend": "Spend of a sending day",
    "price": "Price of a part",
    "estimate": "Parts for each estimated",
    "parts": "Parts a message",
    "refusals": "Refused",
}
_BEFORE: Final = ("expected", "low", "high")
_BLIND: Final = {"spend": "spend", "price": "prices", "estimate": "estimates", "parts": "parts", "refusals": "refusals"}


def _table(found: pd.DataFrame) -> list[Table]:
    shown = records(found.head(_SHOWN))
    stake = _decimals(row["at_stake"] for row in shown)
    spend = _decimals(row[name] for row in shown if row["what"] == "spend" for name in ("observed", "expected"))
    return listed(
        found,
        ("", "left", lambda row: _WHAT[row["what"]] + _place(row)),
        ("When", "left", lambda row: f"since {row['since']:%Y-%m-%d}" if row["open"] else _days(row)),
        ("Was", "right", lambda row: _figure(row, "observed", spend)),
        ("Before", "right", lambda row: "{} ({} to {})".format(*(_figure(row, name, spend) for name in _BEFORE))),
        ("At stake", "right", lambda row: money(row["at_stake"], row["currency"], places=stake)),
        (
            "Cause",
            "left",
            lambda row: row["cause"] + (f", {row['campaign']}" if isinstance(row["campaign"], str) else ""),
        ),
        ("Basis", "left", _basis),
        most=_SHOWN,
        where=".found",
    )


def _place(row: dict[str, Any]) -> str:
    kind = f", {row['kind']}" if isinstance(row["kind"], str) else ""
    return (f", {country_name(row['iso'])} {row['iso']}" if isinstance(row["iso"], str) else ", all countries") + kind


def _days(row: dict[str, Any]) -> str:
    return " to ".join(f"{day:%Y-%m-%d}" for day in dict.fromkeys((row["since"], row["until"])))


def _decimals(amounts: Iterable[float]) -> int:
    """Return how many decimal places a column of estimates has, so that the least of them keeps two digits."""
    least = min((abs(amount) for amount in amounts if amount), default=1.0)
    return 2 if least >= 0.1 else 4 if least >= 0.001 else 6


def _figure(row: dict[str, Any], name: str, places: int = 2) -> str:
    value = float(row[name])
    if row["what"] == "price":
        return money(round(value, 5))
    if row["what"] == "spend":
        return money(value, places=places)
    return f"{value:.1%}" if row["what"] == "refusals" else f"{value:.2f}"


def _basis(row: dict[str, Any]) -> str:
    """Say what was compared with what, and how likely a false alarm as clear as this is in the whole search."""
    chance = "below 0.01%" if row["chance"] < 0.0001 else f"{row['chance']:.2%}"
    days = counted(int(row["days"]), "sending day")
    return f"{days} with {int(row['compared'])} before; chance of a false alarm {chance}"


def _explained(row: dict[str, Any]) -> str:
    if row["what"] == "spend":
        spent = money(round(row["at_stake"], 2), row["currency"])
        return f"{_days(row)}: {spent} spent by the new campaign {row['campaign']}."
    parts = f"{_figure(row, 'observed')} parts a message instead of {_figure(row, 'expected')}"
    return f"{_days(row)}: {parts}, explained by the campaign {row['campaign']}."


def _not_judged(table: pd.DataFrame) -> list[Note]:
    """Name what was not judged at all, and say how many first values of the others were not."""
    first = table["why"] == _FIRST
    said = [f"{_WHAT[row['what']].lower()}{_place(row)} ({row['why']})" for row in records(table[~first].head(_NAMED))]
    said += filter(None, [and_more(int((~first).sum()) - len(said), ".not_judged")])
    if first.any():
        said.append(f"{counted(int(table.loc[first, 'values'].sum()), 'value')}, the {_FIRST}")
    return [Note("i", f"Not judged: {one}.") for one in said]
