"""Costs beside something else: the estimate of the plan, row by row or summed up, or an earlier time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import pandas as pd

from .._calling import in_our_words, not_flag, refuse
from .._pandas import STR
from .._results import contract
from ..errors import UsageError
from .rows import BILLED, ESTIMATED, Source, read_results, read_rows
from .sums import add_up, amounts, divide_half_up, each_of, largest_first

_PLAN_COLUMNS: Final = ("to", "region", "iso", "est_parts", "parts", "est_cost", "price", "currency", "est_currency")


@in_our_words
def compare(source: Source, columns: str | Sequence[str] = "iso", *, decimals: bool = False) -> pd.DataFrame:
    """Compare what was billed with what was estimated. The sums are of everything billed, as in `by`.

    Args:
        source: as for `by`; a frame also needs ``est_parts, est_cost, est_currency``.
        columns: as for `by`.
        decimals: as for `by`.

    Returns:
        ``currency``, the columns, ``messages, parts, cost, unpriced`` as in `by`; then of the accepted messages that
        have a price and an estimate in one currency: ``compared`` (Int64: how many they are), ``compared_parts`` and
        ``est_parts`` (Int64), ``compared_cost``, ``est_cost`` and ``difference`` (float64, compared_cost - est_cost);
        ``price_per_part`` as billed and ``planned_rate``, that of the plan (float64, six places, weighted by parts).
        Within a currency the largest difference comes first.

    Example:
        >>> table = pd.DataFrame({"status": ["accepted"] * 2, "parts": [2, 1], "price": [0.02, 0.01],
        ...                       "currency": ["USD"] * 2, "est_parts": [1, 1], "est_cost": [0.01, None],
        ...                       "est_currency": ["USD", None], "iso": ["US", "US"]})
        >>> compare(table)[["messages", "cost", "compared", "compared_cost", "est_cost", "difference"]].values.tolist()
        [[2, 0.03, 1, 0.02, 0.01, 0.01]]
    """
    refuse(not_flag("decimals", decimals))
    rows, names = read_rows(source, columns, estimates=True)
    sums = add_up(rows, names)
    sums["difference"] = sums["compared_micros"] - sums["est_micros"]
    sums = largest_first(sums, "difference")
    is_priced, is_compared = sums["messages"] > sums["unpriced"], sums["compared"] > 0
    each_part = each_of(sums["compared_micros"], sums["compared_parts"])
    return sums[["currency", *names]].assign(
        messages=sums["messages"].astype("Int64"),
        parts=sums["parts"].astype("Int64"),
        cost=amounts(sums["micros"], is_priced, decimals),
        unpriced=sums["unpriced"].astype("Int64"),
        compared=sums["compared"].astype("Int64"),
        compared_parts=sums["compared_parts"].astype("Int64"),
        est_parts=sums["est_parts"].astype("Int64"),
        compared_cost=amounts(sums["compared_micros"], is_compared, decimals),
        est_cost=amounts(sums["est_micros"], is_compared, decimals),
        difference=amounts(sums["difference"], is_compared, decimals),
        price_per_part=amounts(each_part, True, decimals),
        planned_rate=amounts(each_of(sums["est_micros"], sums["est_parts"]), True, decimals),
    )


@in_our_words
def differences(source: Source) -> pd.DataFrame:
    """Return the accepted rows that were not billed as estimated, and why.

    Returns:
        The rows on their index, largest difference first: ``to, region, iso, est_parts, parts, est_cost, price,
        currency, est_currency``, ``difference`` (float64; missing across currencies) and ``why``, one or more of these
        codes, separated by blanks: COUNTRY (billed as another country than the number's), PARTS (another number of
        parts), RATE (another price of a part), CURRENCY, NO_PRICE, NO_ESTIMATE.

    Warns:
        SmsOtpWarning: campaigns of the ledger were purged, and their rows are gone.

    Example:
        >>> table = pd.DataFrame({"status": ["accepted"] * 2, "to": ["+12025550123", "+12025550147"],
        ...     "region": ["US", "US"], "iso": ["US", "US"], "est_parts": [1, 1], "parts": [2, 1],
        ...     "est_cost": [0.01, 0.01], "price": [0.02, 0.01], "currency": "USD", "est_currency": "USD"})
        >>> differences(table)[["difference", "why"]].values.tolist()
        [[0.01, 'PARTS']]
    """
    table = contract.check(read_results(source), columns=(*BILLED, *_PLAN_COLUMNS))
    table = table.loc[table["status"] == "accepted", [*_PLAN_COLUMNS]].copy()
    price, estimate = contract.micros(table["price"]), contract.micros(table["est_cost"])
    is_same = table["currency"] == table["est_currency"]
    table["difference"] = contract.money((price - estimate).where(is_same))
    reasons = {
        "COUNTRY": _differ(table["iso"], table["region"]),
        "PARTS": _differ(table["parts"], table["est_parts"]),
        "RATE": (is_same & (price * table["est_parts"] != estimate * table["parts"])).fillna(False).astype("bool"),
        "CURRENCY": _differ(table["currency"], table["est_currency"]),
        "NO_PRICE": table["price"].isna(),
        "NO_ESTIMATE": table["est_cost"].isna(),
    }
    why = pd.Series("", index=table.index, dtype=STR)
    for code, applies in reasons.items():
        why = why + applies.map({True: f" {code}", False: ""}).astype(STR)
    table["why"] = why.str.strip()
    table = table[table["why"] != ""]
    size = table["difference"].abs().fillna(-1.0).to_numpy()
    return table.iloc[(-size).argsort(kind="stable")]


def _differ(left: pd.Series, right: pd.Series) -> pd.Series:
    return (left.notna() & right.notna() & (left != right).fillna(False)).astype("bool")


@in_our_words
def outcomes(source: Source) -> pd.DataFrame:
    """Return the rows of a result table by their state, with estimated and billed cost. Every row counts.

    Returns:
        ``status, currency`` (billed, otherwise estimated), ``rows`` (Int64), ``est_parts`` (Int64), ``est_cost`` and
        ``cost`` (float64, of the rows that have one: cost of accepted rows only, est_cost only in that currency).

    Warns:
        SmsOtpWarning: campaigns of the ledger were purged, and their rows are gone.

    Example:
        >>> table = pd.DataFrame({"status": ["accepted", "in_doubt"], "parts": [1, None], "price": [0.01, None],
        ...     "currency": ["USD", None], "est_parts": [1, 1], "est_cost": [0.01, 0.01], "est_currency": "USD"})
        >>> outcomes(table)[["status", "rows", "est_cost", "cost"]].fillna(0).values.tolist()
        [['accepted', 1, 0.01, 0.01], ['in_doubt', 1, 0.01, 0.0]]
    """
    table = contract.check(read_results(source), columns=(*BILLED, *ESTIMATED))
    is_accepted = table["status"] == "accepted"
    currency = table["currency"].where(is_accepted).fillna(table["est_currency"])
    cells = pd.DataFrame(
        {
            "status": pd.Categorical(table["status"], categories=contract.STATES),
            "currency": currency,
            "rows": pd.Series(1, index=table.index, dtype="Int64"),
            "est_parts": table["est_parts"],
            "est_cost": contract.micros(table["est_cost"]).where(table["est_currency"] == currency),
            "cost": contract.micros(table["price"]).where(is_accepted & table["currency"].notna()),
        }
    )
    groups = cells.groupby(["status", "currency"], dropna=False, observed=True, sort=True)
    sums = groups.sum(min_count=1).reset_index()
    return sums.assign(
        status=sums["status"].astype(STR), est_cost=amounts(sums["est_cost"]), cost=amounts(sums["cost"])
    )


@in_our_words
def change(
    now: Source, before: Source, columns: str | Sequence[str] = "iso", *, decimals: bool = False
) -> pd.DataFrame:
    """Return what changed a cost between two times: how many messages, how many parts each, the price of a part.

    The three add up to the change exactly, in this order: the messages count at the earlier cost of one, then the parts
    of these messages at the earlier price of one, and the price is the rest. Each can be recomputed from the columns::

        by_messages = (messages - messages_before) * cost_before / messages_before
        by_parts    = (parts - messages * parts_before / messages_before) * cost_before / parts_before
        by_price    = cost - parts * cost_before / parts_before

    Args:
        now: as for `by`, such as ``cost.spending(ledger, since="2026-11-01")``.
        before: what it is compared with, such as ``cost.spending(ledger, since="2026-10-01", until="2026-11-01")``.
        columns: as for `by`; ``[]`` compares the totals.
        decimals: as for `by`.

    Returns:
        ``currency``, the columns, ``messages_before, messages, parts_before, parts`` (Int64, of messages that have a
        price; one whose parts are not known counts as one part), ``cost_before, cost, change, by_messages, by_parts,
        by_price`` (float64, six places) and ``unpriced_before, unpriced`` (Int64: messages without a price, in none of
        the others). What was not there before changed by its messages alone. Within a currency the largest change comes
        first.

    Raises:
        UsageError: as `by`; or sums of `by` that do not tell the parts of messages with a price from the others.

    Example:
        >>> before = pd.DataFrame({"status": ["accepted"] * 2, "parts": 1, "price": 0.01, "currency": "USD",
        ...                        "iso": "US"})
        >>> now = pd.concat([before] * 2).assign(parts=2, price=0.024)
        >>> change(now, before)[["change", "by_messages", "by_parts", "by_price"]].values.tolist()
        [[0.076, 0.02, 0.04, 0.016]]
    """
    refuse(not_flag("decimals", decimals))
    sums = _side(now, columns).join(_side(before, columns).add_suffix("_before"), how="outer").fillna(0).reset_index()
    names = [name for name in sums.columns[: sums.columns.get_loc("messages")] if name != "currency"]
    effects = [_effects(row) for row in sums.to_dict("records")]
    sums = sums.assign(**{name: pd.Series([row[name] for row in effects], dtype=object) for name in _EFFECTS})
    sums = largest_first(sums, "change")
    counts = ("messages_before", "messages", "parts_before", "parts")
    return sums[["currency", *names]].assign(
        **{name: sums[name].astype("Int64") for name in counts},
        cost_before=amounts(sums["micros_before"], sums["messages_before"] > 0, decimals),
        cost=amounts(sums["micros"], sums["messages"] > 0, decimals),
        **{name: amounts(sums[name], sums["currency"].notna(), decimals) for name in _EFFECTS},
        **{name: sums[name].astype("Int64") for name in ("unpriced_before", "unpriced")},
    )


_EFFECTS: Final = ("change", "by_messages", "by_parts", "by_price")


def _side(source: Source, columns: str | Sequence[str]) -> pd.DataFrame:
    """Return the sums of one side by currency and columns: messages and parts of those that have a price."""
    rows, names = read_rows(source, columns)
    sums = add_up(rows, names)
    if (sums["parts_unknown"] > 0).any():
        raise UsageError(
            "these sums do not say how many parts their messages with a price have; pass the results, the ledger or "
            "its cost.spending"
        )
    sums = sums.assign(messages=sums["messages"] - sums["unpriced"], parts=sums["priced_parts"])
    return sums.set_index(["currency", *names])[["messages", "parts", "micros", "unpriced"]]


def _effects(row: dict[Any, Any]) -> dict[str, int]:
    """Split a change of cost, in whole millionths, into the effects of messages, parts and price."""
    messages, messages_before = int(row["messages"]), int(row["messages_before"])
    parts, parts_before = int(row["parts"]), int(row["parts_before"])
    cost, cost_before = int(row["micros"]), int(row["micros_before"])
    total = cost - cost_before
    if messages_before == 0:
        return {"change": total, "by_messages": total, "by_parts": 0, "by_price": 0}
    by_messages = divide_half_up((messages - messages_before) * cost_before, messages_before)
    by_parts = 0
    if parts_before:
        extra_parts = parts * messages_before - messages * parts_before  # in parts of a message, times messages_before
        by_parts = divide_half_up(extra_parts * cost_before, parts_before * messages_before)
    by_price = total - by_messages - by_parts
    return {"change": total, "by_messages": by_messages, "by_parts": by_parts, "by_price": by_price}


@in_our_words
def rates(source: Source) -> pd.DataFrame:
    """Return what one part last cost in each country: a rate table for ``plan(rates=...)``, learned from results.

    Free messages, those without a price and those of no parts are not observations.

    Args:
        source: result tables of one service, a Ledger, its path, or a Record.
            Rates of two services, or of a sandbox and a live service, are not mixed.

    Returns:
        One row per country, in the form of `rates.check`: ``iso, currency, price`` (of a part, as last observed), and
        how reliable it is: ``low, high`` (float64: the range of observed prices of a part in that currency), ``seen``
        (datetime64[us, UTC]: the last observation), ``messages`` (Int64: number of observations).

    Raises:
        UsageError: not a result table, or of several services, where its details say so.

    Example:
        >>> table = pd.DataFrame({"status": ["accepted"] * 2, "parts": [1, 2], "price": [0.0075, 0.016],
        ...     "currency": "USD", "iso": "US", "at": ["2026-10-01T10:00:00Z", "2026-11-01T10:00:00Z"]})
        >>> rates(table)[["iso", "currency", "price", "low", "high"]].values.tolist()
        [['US', 'USD', 0.008, 0.0075, 0.008]]
    """
    table = contract.check(read_results(source), columns=(*BILLED, "iso", "at"))
    table = table[table["status"] == "accepted"]
    services = table["service"].dropna().unique().tolist() if "service" in table.columns else []
    if len(services) > 1:
        names = ", ".join(repr(service) for service in services)
        raise UsageError(
            f"these messages are of several services ({names}); learn the rates of one: give a Record, or the rows of "
            "one service: cost.rates(results[results['service'] == ...])"
        )
    table = table[(table["parts"] > 0).fillna(False)].dropna(subset=["iso", "currency", "price"])
    micros = contract.micros(table["price"])
    # A free message says nothing of what the next one costs, and a budget by a rate of 0 would hold nothing back.
    is_paid = micros.gt(0).fillna(False).to_numpy(bool)
    seen = table.assign(each=each_of(micros, table["parts"]))[is_paid]
    seen = seen.sort_values("at", kind="stable", na_position="first", ignore_index=True)
    last = seen.drop_duplicates("iso", keep="last").set_index("iso")
    current = seen[seen["currency"] == seen["iso"].map(last["currency"])]
    groups = current.groupby("iso", sort=True)
    last = last.reindex(groups["each"].min().index)
    return pd.DataFrame(
        {
            "iso": last.index.astype(STR),
            "currency": last["currency"].array,
            "price": amounts(last["each"]).array,
            "low": amounts(groups["each"].min()).array,
            "high": amounts(groups["each"].max()).array,
            "seen": contract.in_zone(groups["at"].max(), "UTC").array,
            "messages": groups.size().astype("Int64").array,
        }
    )
