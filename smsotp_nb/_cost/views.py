"""The sums people ask for by name, what changed between two of them, and rates learned from what messages did cost."""

from __future__ import annotations

import pandas as pd

from .._calling import in_our_words, not_zone, refuse
from .._pandas import STR
from .._results import contract
from ..errors import UsageError
from .sources import ESTIMATED, NEEDED, Source, derived, is_summed, read, rows
from .sums import by, with_country


@in_our_words
def by_campaign(results: Source, *, decimals: bool = False) -> pd.DataFrame:
    """Return what each campaign cost; columns as in `by`, with ``campaign``.

    Example:
        >>> table = pd.DataFrame({"status": ["accepted"], "parts": [1], "price": [0.01], "currency": ["USD"],
        ...                       "campaign": ["autumn"]})
        >>> by_campaign(table)[["campaign", "cost"]].values.tolist()
        [['autumn', 0.01]]
    """
    return by(results, "campaign", decimals=decimals)


@in_our_words
def by_month(results: Source, *, tz: str = "UTC", decimals: bool = False) -> pd.DataFrame:
    """Return what each month cost, oldest first; columns as in `by`, with ``month`` (text such as 2026-11).

    A message belongs to the month in which its answer came, in the time zone ``tz``. A `spending` table already has its
    months.

    Example:
        >>> table = pd.DataFrame({"status": ["accepted"], "parts": [1], "price": [0.01], "currency": ["USD"],
        ...                       "at": ["2026-10-31 23:30:00+00:00"]})
        >>> by_month(table, tz="Europe/Berlin")["month"].tolist()
        ['2026-11']
    """
    refuse(not_zone("tz", tz))
    frame = read(results, tz=tz)
    if not is_summed(frame):
        checked = contract.check(frame, columns=(*NEEDED, "at"))
        frame = checked.assign(month=derived(checked, "month", tz))
    return by(frame, "month", decimals=decimals).sort_values(["currency", "month"], kind="stable", ignore_index=True)


@in_our_words
def by_encoding(results: Source, *, decimals: bool = False) -> pd.DataFrame:
    """Return what each encoding cost; columns as in `by`, with ``encoding`` (gsm7, ucs2).

    Example:
        >>> table = pd.DataFrame({"status": ["accepted"], "parts": [1], "price": [0.01], "currency": ["USD"],
        ...                       "encoding": ["ucs2"]})
        >>> by_encoding(table)[["encoding", "parts"]].values.tolist()
        [['ucs2', 1]]
    """
    return by(results, "encoding", decimals=decimals)


@in_our_words
def by_type(results: Source, *, decimals: bool = False) -> pd.DataFrame:
    """Return what each type of number (mobile, landline, ...) cost; columns as in `by`, with ``type``.

    Example:
        >>> table = pd.DataFrame({"status": ["accepted"], "parts": [1], "price": [0.01], "currency": ["USD"],
        ...                       "type": ["mobile"]})
        >>> by_type(table)[["type", "messages"]].values.tolist()
        [['mobile', 1]]
    """
    return by(results, "type", decimals=decimals)


@in_our_words
def summary(results: Source, *, decimals: bool = False) -> pd.DataFrame:
    """Return the totals, one row per currency; columns as in `by`.

    Example:
        >>> table = pd.DataFrame({"status": ["accepted"] * 2, "parts": [1, 2], "price": [0.01, 0.02],
        ...                       "currency": ["USD"] * 2})
        >>> summary(table)[["currency", "messages", "parts", "cost"]].values.tolist()
        [['USD', 2, 3, 0.03]]
    """
    return by(results, [], decimals=decimals)


@in_our_words
def outcomes(results: Source) -> pd.DataFrame:
    """Return the rows of a result table by their state, with estimated and billed cost. Nothing is left out.

    Returns:
        ``status, currency`` (billed, otherwise estimated), ``rows`` (Int64), ``est_parts`` (Int64), ``est_cost`` and
        ``cost`` (float64, of the rows that have one: cost of accepted rows only, est_cost only in that currency).

    Example:
        >>> table = pd.DataFrame({"status": ["accepted", "in_doubt"], "parts": [1, None], "price": [0.01, None],
        ...     "currency": ["USD", None], "est_parts": [1, 1], "est_cost": [0.01, 0.01], "est_currency": "USD"})
        >>> outcomes(table)[["status", "rows", "est_cost", "cost"]].fillna(0).values.tolist()
        [['accepted', 1, 0.01, 0.01], ['in_doubt', 1, 0.01, 0.0]]
    """
    table = contract.check(rows(results), columns=(*NEEDED, *ESTIMATED))
    accepted = table["status"] == "accepted"
    currency = table["currency"].where(accepted).fillna(table["est_currency"])
    cells = pd.DataFrame(
        {
            "status": pd.Categorical(table["status"], categories=contract.STATES),
            "currency": currency,
            "rows": pd.array([1] * len(table), dtype="Int64"),
            "est_parts": table["est_parts"],
            "est_cost": contract.micros(table["est_cost"]).where(table["est_currency"] == currency),
            "cost": contract.micros(table["price"]).where(accepted & table["currency"].notna()),
        }
    )
    sums = cells.groupby(["status", "currency"], dropna=False, observed=True, sort=True).sum(min_count=1).reset_index()
    sums["status"] = sums["status"].astype(STR)
    return sums.assign(est_cost=contract.money(sums["est_cost"]), cost=contract.money(sums["cost"]))


@in_our_words
def drift(results: Source, earlier: Source) -> pd.DataFrame:
    """Return how the price of a part has changed since earlier results, by country and currency.

    Returns:
        ``currency, iso, country, parts, price_per_part`` (float64, six places), ``earlier_parts,
        earlier_price_per_part``, ``change`` (the difference) and ``change_share`` (relative to the earlier price;
        float64). Only countries in both are listed, the largest change first.

    Example:
        >>> then = pd.DataFrame({"status": ["accepted"], "parts": [1], "price": [0.01], "currency": ["USD"],
        ...                      "iso": ["US"]})
        >>> drift(then.assign(price=[0.012]), then)[["iso", "change", "change_share"]].values.tolist()
        [['US', 0.002, 0.2]]
    """
    now, before = _per_part(results), _per_part(earlier)
    both = now.merge(before, on=["currency", "iso"], suffixes=("", "_before"))
    table = both[["currency", "iso", "parts"]].assign(
        price_per_part=contract.money(both["each"]),
        earlier_parts=both["parts_before"],
        earlier_price_per_part=contract.money(both["each_before"]),
        change=contract.money(both["each"] - both["each_before"]),
        change_share=((both["each"] / both["each_before"]) - 1).astype("float64").round(6),
    )
    order = table["change_share"].abs().sort_values(ascending=False, kind="stable").index
    return with_country(table.loc[order].reset_index(drop=True))


def _per_part(source: Source) -> pd.DataFrame:
    """Return micro-units a part, rounded, of the messages whose price and parts are known."""
    frame = read(source)
    if not is_summed(frame):
        checked = contract.check(frame, columns=(*NEEDED, "iso"))
        frame = checked[checked["price"].notna() & checked["parts"].notna()]
    sums = by(frame, "iso").dropna(subset=["currency", "iso", "price_per_part"])
    return sums[["currency", "iso", "parts"]].assign(each=contract.micros(sums["price_per_part"]))


@in_our_words
def differences(results: Source) -> pd.DataFrame:
    """Return the accepted rows that were not billed as estimated, and why.

    Returns:
        The rows on their index, largest difference first: ``to, region, iso, est_parts, parts, est_cost, price,
        currency, est_currency``, ``difference`` (float64; missing across currencies) and ``why``, one or more of these
        codes, separated by blanks: COUNTRY (billed as another country than the number's), PARTS (another number of
        parts), RATE (another price of a part), CURRENCY, NO_PRICE, NO_ESTIMATE.

    Example:
        >>> table = pd.DataFrame({"status": ["accepted"] * 2, "to": ["+12025550123", "+12025550147"],
        ...     "region": ["US", "US"], "iso": ["US", "US"], "est_parts": [1, 1], "parts": [2, 1],
        ...     "est_cost": [0.01, 0.01], "price": [0.02, 0.01], "currency": "USD", "est_currency": "USD"})
        >>> differences(table)[["difference", "why"]].values.tolist()
        [[0.01, 'PARTS']]
    """
    shown = ["to", "region", "iso", "est_parts", "parts", "est_cost", "price", "currency", "est_currency"]
    table = contract.check(rows(results), columns=(*NEEDED, *ESTIMATED, "to", "region", "iso"))
    table = table.loc[table["status"] == "accepted", shown].copy()
    price, estimate = contract.micros(table["price"]), contract.micros(table["est_cost"])
    same = table["currency"] == table["est_currency"]
    table["difference"] = contract.money((price - estimate).where(same))
    reasons = {
        "COUNTRY": _differ(table["iso"], table["region"]),
        "PARTS": _differ(table["parts"], table["est_parts"]),
        "RATE": (same & (price * table["est_parts"] != estimate * table["parts"])).fillna(False).astype("bool"),
        "CURRENCY": _differ(table["currency"], table["est_currency"]),
        "NO_PRICE": table["price"].isna(),
        "NO_ESTIMATE": table["est_cost"].isna(),
    }
    why = pd.Series("", index=table.index, dtype=STR)
    for code, applies in reasons.items():
        why = why + applies.map({True: f" {code}", False: ""}).astype(STR)
    table["why"] = why.str.strip()
    found = table[table["why"] != ""]
    size = found["difference"].abs().fillna(-1.0).to_numpy()
    return found.iloc[(-size).argsort(kind="stable")]


def _differ(left: pd.Series, right: pd.Series) -> pd.Series:
    return (left.notna() & right.notna() & (left != right).fillna(False)).astype("bool")


@in_our_words
def rates(results: Source) -> pd.DataFrame:
    """Return what one part last cost in each country: a rate table for ``plan(rates=...)``, learned from results.

    Free messages, those without a price and those of no parts are not observations.

    Args:
        results: result tables of one service, a Ledger, its path, or a Campaign.
            Rates of two services, or of a sandbox and a live service, are not mixed.

    Returns:
        One row per country, in the form of `rates.check`: ``iso, currency, price`` (of a part, as last observed), and
        how reliable it is: ``low, high`` (float64: the range of observed prices of a part in that currency), ``seen``
        (datetime64[us, UTC]: the last observation), ``messages`` (Int64: number of observations).

    Raises:
        UsageError: not a result table, or results of several services.

    Example:
        >>> table = pd.DataFrame({"status": ["accepted"] * 2, "parts": [1, 2], "price": [0.0075, 0.016],
        ...     "currency": "USD", "iso": "US", "at": ["2026-10-01T10:00:00Z", "2026-11-01T10:00:00Z"]})
        >>> rates(table)[["iso", "currency", "price", "low", "high"]].values.tolist()
        [['US', 'USD', 0.008, 0.0075, 0.008]]
    """
    table = contract.check(rows(results), columns=(*NEEDED, "iso", "at"))
    _one_service(table)
    seen = table[(table["status"] == "accepted") & (table["parts"] > 0).fillna(False)]
    seen = seen.dropna(subset=["iso", "currency", "price"])
    # A free message says nothing of what the next one costs, and a budget by a rate of 0 would hold nothing back.
    seen = seen[contract.micros(seen["price"]).gt(0).fillna(False).to_numpy(bool)]
    each = (contract.micros(seen["price"]).astype("Float64") / seen["parts"]).round().astype("Int64")
    seen = pd.DataFrame({"iso": seen["iso"], "currency": seen["currency"], "each": each, "at": seen["at"]})
    seen = seen.sort_values("at", kind="stable", na_position="first", ignore_index=True)
    last = seen.drop_duplicates("iso", keep="last").set_index("iso")
    current = seen[seen["currency"] == seen["iso"].map(last["currency"])]
    span = current.groupby("iso", sort=True).agg(
        low=("each", "min"), high=("each", "max"), messages=("each", "size"), seen=("at", "max")
    )
    return pd.DataFrame(
        {
            "iso": span.index.astype(STR),
            "currency": last["currency"].reindex(span.index).array,
            "price": contract.money(last["each"].reindex(span.index)).array,
            "low": contract.money(span["low"]).array,
            "high": contract.money(span["high"]).array,
            "seen": span["seen"].array,
            "messages": span["messages"].astype("Int64").array,
        }
    )


def _one_service(table: pd.DataFrame) -> None:
    if "service" not in table.columns:
        return
    services = table.loc[table["status"] == "accepted", "service"].dropna().unique().tolist()
    if len(services) > 1:
        raise UsageError(
            f"these messages are of several services ({', '.join(map(repr, services))}); learn the rates of one: give "
            "a Campaign, or the rows of one service: cost.rates(results[results['service'] == ...])"
        )
