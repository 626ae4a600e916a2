"""What an order cost by the messages before it: attributed, which is not caused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pandas as pd

from .._calling import given, in_our_words, not_frame, refuse
from .._cards import counted
from .._frames import AnyFrame, as_pandas
from .._pandas import STR
from .._policy import Window, window_of
from .._results import contract
from .._warnings import warn_user
from ..columns import require
from ..errors import UsageError
from .sources import Source, grouping, rows

_TAKEN: Final = (
    *("messages", "cost", "unpriced", "in_doubt", "conversions", "people", "amount"),
    *("cost_per_conversion", "cost_per_conversion_high"),
)


@in_our_words
def per_conversion(
    results: Source,
    conversions: AnyFrame,
    *,
    on: str,
    at: str,
    within: Window,
    by: str | Sequence[str] = "campaign",
    amount: str | None = None,
) -> pd.DataFrame:
    """Return what a conversion cost by the last message before it. Nothing says that the message caused it.

    A conversion belongs to the last message to the same person before it, if that was no longer ago than ``within``;
    each counts once. People who buy after a message would often have bought without it: what a message brought, only
    a holdout tells (`smsotp_nb.split`).

    Args:
        results: what ``send`` returned, a Record, or a Ledger or its path, which know ``to`` but no columns of yours.
        conversions: a row for each order, visit or the like.
        on: the column that tells people apart, of the same name in both: ``to``, or one that ``plan(keep=...)`` kept.
        at: the column of ``conversions`` with the time, with a zone.
        within: how long before it a message counts, such as ``"7d"``.
        by: one or more columns of the results.
        amount: the column of ``conversions`` with what each is worth.

    Returns:
        ``currency`` (str), the columns of ``by``, ``messages`` (Int64: accepted), ``cost`` (float64; missing where no
        message has a price), ``unpriced, in_doubt`` (Int64: messages whose cost is not in it), ``conversions, people``
        (Int64), with ``amount`` its sum (float64), ``cost_per_conversion`` (float64; missing where there is none) and
        ``cost_per_conversion_high`` (float64: if every message in doubt or without a price cost as much as the most
        expensive one of its group; missing where none of them has a price). The last row, without a currency, has the
        conversions that no message belongs to.

    Raises:
        UsageError: a column is missing or holds something else, or an amount is missing.

    Warns:
        SmsOtpWarning: nobody of ``conversions`` is in the results, as where ids are text here and numbers there.

    Example:
        >>> sent = pd.Timestamp("2026-11-23 10:00Z")
        >>> table = pd.DataFrame({"to": ["+12025550123", "+12025550147"], "status": "accepted", "price": 0.5,
        ...                       "parts": 1, "currency": "USD", "campaign": "sale", "at": sent})
        >>> orders = pd.DataFrame({"to": ["+12025550147"], "day": [sent + pd.Timedelta(days=2)]})
        >>> found = per_conversion(table, orders, on="to", at="day", within="7d")
        >>> found[["campaign", "cost", "conversions", "cost_per_conversion"]].values.tolist()[0]
        ['sale', 1.0, 1, 1.0]
    """
    orders = as_pandas(conversions)
    wrong: list[str] = []
    window = window_of("within=", within, wrong)
    refuse(not_frame("conversions", orders), *wrong)
    _check(orders, on, at, amount)
    table = rows(results)
    names = grouping(table, by, taken=_TAKEN)
    require(on, table.columns, where="the results")
    checked = contract.check(table, columns=("status", "price", "currency", "at", *(["to"] if on == "to" else [])))
    sent = checked[checked["status"].isin(["accepted", "in_doubt"])].reset_index(drop=True)
    place = _last_before(sent[[on, "at"]], orders[[on, at]], on, at, window)
    readable = sent["price"].notna() & sent["currency"].notna()
    sent = sent.assign(currency=_currency(sent, names))
    groups = _billed(sent, names, readable)
    converted = _counted(sent, names, orders, place, on, amount)
    found = groups.merge(converted, on=["currency", *names], how="left")
    found = found.assign(**{name: found[name].fillna(0).astype("Int64") for name in ("conversions", "people")})
    per = found["conversions"].where(found["conversions"] > 0).astype("float64")
    dearest, unknown = found.pop("dearest"), (found["unpriced"] + found["in_doubt"]).astype("float64")
    most = found["cost"] + dearest.where(unknown > 0, 0.0) * unknown
    found = found.assign(
        cost_per_conversion=(found["cost"] / per).round(6), cost_per_conversion_high=(most / per).round(6)
    )
    return pd.concat([found, _of_no_message(found, orders, place, on, amount)], ignore_index=True)


def _check(orders: pd.DataFrame, on: str, at: str, amount: str | None) -> None:
    for column in (on, at, *([] if amount is None else [amount])):
        require(column, orders.columns, where="conversions")
    if not isinstance(orders[at].dtype, pd.DatetimeTZDtype) or orders[at].isna().any():
        raise UsageError(
            f"column {at!r} of conversions must hold times with their zone in every row, it holds {orders[at].dtype}; "
            "pd.to_datetime(column, utc=True) makes them"
        )
    if amount is not None and not pd.api.types.is_numeric_dtype(orders[amount].dtype):
        raise UsageError(
            f"column {amount!r} of conversions must hold numbers, it holds {given(orders[amount].iloc[0])}"
        )
    if amount is not None and (missing := ~np.isfinite(orders[amount].to_numpy("float64", na_value=np.nan))).any():
        raise UsageError(
            f"column {amount!r} of conversions must hold a value in every row, and {int(missing.sum()):,} of "
            f"{counted(len(missing), 'row')} have none. Fill in what is missing, or leave it out"
        )


def _last_before(sent: pd.DataFrame, orders: pd.DataFrame, on: str, at: str, window: Any) -> Any:
    """Return the row of the last message to each person before their conversion, -1 where there is none in time."""
    messages = pd.DataFrame(
        {"who": sent[on].astype(object), "moment": contract.in_zone(sent["at"], "UTC"), "row": sent.index}
    )
    wanted = pd.DataFrame(
        {"who": orders[on].astype(object).array, "moment": orders[at].dt.tz_convert("UTC").dt.as_unit("us").array}
    )
    messages = messages.dropna(subset=["who", "moment"]).sort_values("moment", kind="stable")
    codes = pd.factorize(pd.concat([messages["who"], wanted["who"]]))[0]
    messages["who"], wanted["who"] = codes[: len(messages)], codes[len(messages) :]
    if len(messages) and (wanted["who"] >= 0).any() and not wanted["who"].isin(messages["who"]).any():
        kinds = [pd.api.types.infer_dtype(side[on], skipna=True) for side in (orders, sent)]
        warn_user(
            f"nobody of conversions is in the results by column {on!r}, which holds {kinds[0]} there and {kinds[1]} "
            "here; an id must be the same in both, in value and type"
        )
    order = np.argsort(wanted["moment"].to_numpy(), kind="stable")
    asked = wanted.iloc[order]
    found = pd.merge_asof(asked[asked["who"] >= 0], messages, on="moment", by="who", tolerance=window)
    place = np.full(len(wanted), -1)
    place[order[(asked["who"] >= 0).to_numpy()]] = found["row"].fillna(-1).astype("int64")
    return place


def _billed(sent: pd.DataFrame, names: list[str], readable: pd.Series) -> pd.DataFrame:
    """Return what each group was billed, and of how many messages that is not known."""
    accepted = sent["status"].eq("accepted")
    priced = accepted & readable
    cells = sent[["currency", *names]].assign(
        messages=accepted.astype("Int64"),
        micros=contract.micros(sent["price"]).where(priced, 0),
        unpriced=(accepted & ~priced).astype("Int64"),
        in_doubt=(~accepted).astype("Int64"),
        dearest=sent["price"].where(priced),
    )
    groups = cells.groupby(["currency", *names], dropna=False, observed=True, sort=True)
    counts = groups[["messages", "micros", "unpriced", "in_doubt"]].sum()
    sums = counts.assign(dearest=groups["dearest"].max()).reset_index().rename(columns={"micros": "cost"})
    some = sums["messages"] > sums["unpriced"]
    return sums.assign(cost=contract.money(sums["cost"]).astype("float64").where(some.to_numpy(bool)))


def _currency(sent: pd.DataFrame, names: list[str]) -> pd.Series:
    """Return each message's currency; one that is not known is that of its group, where it has one."""
    known = sent.groupby(names or np.zeros(len(sent)), dropna=False, observed=True)["currency"]
    only = known.transform("first").where(known.transform("nunique").eq(1))
    return sent["currency"].where(sent["currency"].notna(), only).astype(STR)


def _counted(
    sent: pd.DataFrame, names: list[str], orders: pd.DataFrame, place: Any, on: str, amount: str | None
) -> pd.DataFrame:
    """Return conversions, people and amounts by the group of their message."""
    mine = place >= 0
    cells = sent.loc[place[mine], ["currency", *names]].reset_index(drop=True)
    cells = cells.assign(
        person=orders.loc[mine, on].array, worth=0.0 if amount is None else orders.loc[mine, amount].array
    )
    groups = cells.groupby(["currency", *names], dropna=False, observed=True, sort=True)
    found: pd.DataFrame = groups.agg(
        conversions=("worth", "size"), people=("person", "nunique"), amount=("worth", "sum")
    ).reset_index()
    return found if amount is not None else found.drop(columns="amount")


def _of_no_message(found: pd.DataFrame, orders: pd.DataFrame, place: Any, on: str, amount: str | None) -> pd.DataFrame:
    rest = orders[place < 0]
    row = dict.fromkeys(("messages", "cost", "unpriced", "in_doubt"), 0.0)
    row |= {"conversions": len(rest), "people": rest[on].nunique()}
    row |= {} if amount is None else {"amount": float(rest[amount].sum())}
    return pd.DataFrame([row]).reindex(columns=found.columns).astype(found.dtypes.to_dict())
