"""The sums people ask for by name, as tables and as a card, and rates learned from what messages did cost."""

from __future__ import annotations

from typing import Any, Final

import pandas as pd

from .._calling import in_our_words, not_flag, not_zone, refuse
from .._cards import (
    Bar,
    Card,
    Cell,
    Figures,
    Note,
    Table,
    counted,
    money,
    notes,
    number,
    places_of,
    records,
    share,
    shares,
)
from .._cards.blocks import Sign
from .._pandas import STR
from .._results import contract
from ..errors import UsageError
from .sources import (
    ESTIMATED,
    LEDGERS,
    NEEDED,
    Source,
    derived,
    has_estimates,
    is_summed,
    read,
    rows,
    states_of,
)
from .sums import by, by_country, compare, sums_by, with_country


@in_our_words
def by_campaign(results: Source, *, decimals: bool = False) -> pd.DataFrame:
    """Return what each campaign cost; columns as in `by`, with ``campaign``.

    Of a ledger, tests to yourself count under the name of the campaign whose text they were; the columns ``["campaign",
    "kind"]`` of `by` tell them apart.

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
    refuse(not_flag("decimals", decimals))
    if not isinstance(results, LEDGERS):
        results = read(results, tz=tz)
        if not is_summed(results):
            checked = contract.check(results, columns=(*NEEDED, "at"))
            results = checked.assign(month=derived(checked, "month", tz))
    return sums_by(results, "month", decimals, tz=tz, by_cost=False)


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
        results: result tables of one service, a Ledger, its path, or a Record.
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
    table = contract.check(rows(results), columns=(*NEEDED, "iso", "at"))
    accepted = table[table["status"] == "accepted"]
    services = accepted["service"].dropna().unique().tolist() if "service" in table.columns else []
    if len(services) > 1:
        raise UsageError(
            f"these messages are of several services ({', '.join(map(repr, services))}); learn the rates of one: give "
            "a Record, or the rows of one service: cost.rates(results[results['service'] == ...])"
        )
    seen = accepted[(accepted["parts"] > 0).fillna(False)]
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
            "seen": contract.in_zone(span["seen"], "UTC").array,
            "messages": span["messages"].astype("Int64").array,
        }
    )


_SHOWN: Final = 12


@in_our_words
def card(results: Source) -> Card:
    """Return the cost of a result table or ledger as a card: totals, countries, and what the totals leave out.

    Example:
        >>> table = pd.DataFrame({"status": ["accepted"], "parts": [1], "price": [0.0395], "currency": ["USD"],
        ...                       "iso": ["NA"]})
        >>> print(card(table))
        Cost
        USD 0.0395 for 1 accepted message
        <BLANKLINE>
                 1  accepted messages
                 1  parts
        USD 0.0395  billed, 0.0395 a message
        <BLANKLINE>
        By country
        Country     Messages  Parts  Cost, USD  A message  Share
        ----------  --------  -----  ---------  ---------  -----------------
        Namibia NA         1      1     0.0395     0.0395  ████████████ 100%
        <BLANKLINE>
        Next: cost.by(results, "segment") for any column, results.write(results, "results.xlsx")
    """
    frame = read(results)
    totals, states = by(frame, []), states_of(results, frame)
    several = totals["currency"].nunique(dropna=False) > 1
    countries = by_country(frame).groupby("currency", dropna=False) if "iso" in frame.columns else ()
    tables = [_country_table(part, several=several) for _, part in countries]
    step = 'cost.by(results, "segment") for any column, results.write(results, "results.xlsx")'
    if is_summed(frame):
        step = "cost.by_campaign, cost.by_month and cost.compare take the same"
    return Card(
        title=_title(frame),
        state=billed_in_words(totals, in_doubt=states.get("in_doubt", 0)),
        blocks=(_figures(totals), *tables, *_left_out(frame, totals, states)),
        closing=f"Next: {step}",
    )


def _figures(totals: pd.DataFrame) -> Figures:
    messages, parts = (int(totals[name].sum()) for name in ("messages", "parts"))
    # A message has a part at least.
    known = "parts" if parts >= messages else "parts of those whose parts are known"
    pairs: list[tuple[str, Any]] = [("accepted messages", messages), (known, parts)]
    for row in records(totals.dropna(subset=["cost"])):
        each = money(row["price_per_message"], places=min(4, places_of([row["price_per_message"]])))
        pairs.append((f"billed, {each} a message", money(row["cost"], row["currency"])))
    return Figures(tuple(pairs))


def campaigns_of(frame: pd.DataFrame) -> tuple[list[str], list[str]]:
    """Return the names of the campaigns of a frame, and in words what else it is of: tests, passcodes."""
    if "campaign" not in frame.columns:
        return [], []
    kind = pd.Series("campaign", index=frame.index)
    if is_summed(frame) and "kind" in frame.columns:  # a result table's is a column of its sender
        kind = frame["kind"].astype(STR).fillna("campaign")
    mine = frame.loc[kind.eq("campaign").to_numpy(bool), [name for name in ("campaign", "service") if name in frame]]
    names = sorted(map(str, mine.dropna(subset=["campaign"]).drop_duplicates()["campaign"]))
    return names, [f"{one}s" for one in ("test", "passcode") if kind.eq(one).any()]


def _title(frame: pd.DataFrame) -> str:
    names, others = campaigns_of(frame)
    if not others and len(names) < 2:
        return f"Cost: {names[0]}" if names else "Cost"
    campaigns = [counted(len(names), "campaign")] if names else []
    return f"Cost of {' and '.join([*campaigns, *others])}"


def billed_in_words(totals: pd.DataFrame, *, in_doubt: int) -> str:
    """Say what the totals of `cost.summary` are, in one line."""
    messages = int(totals["messages"].sum())
    if not messages:
        doubt = f"; {counted(in_doubt, 'message')} in doubt may have been billed"
        return (
            f"No message is known to be accepted{doubt}"
            if in_doubt
            else "No message was accepted, so nothing was billed"
        )
    amounts = [money(row["cost"], row["currency"]) for row in records(totals.dropna(subset=["cost"]))]
    said = f"for {number(messages)} accepted message{'s' * (messages != 1)}"
    unpriced = int(totals["unpriced"].sum())
    if not amounts or not unpriced:
        return f"{' and '.join(amounts) or 'No price'} {said}"
    return f"At least {' and '.join(amounts)} {said}, {number(unpriced)} of them without a readable price"


def _country_table(countries: pd.DataFrame, *, several: bool) -> Table:
    currency = countries["currency"].iloc[0]
    known = isinstance(currency, str)
    shown, rest = countries.iloc[:_SHOWN], countries.iloc[_SHOWN:]
    lines = [
        {**row, "place": f"{row['country']} {row['iso']}" if isinstance(row["iso"], str) else "unknown"}
        for row in records(shown)
    ]
    if len(rest):
        lines.append({**_summed(rest), "place": counted(len(rest), "more country", "more countries")})
    total = {**_summed(countries), "place": "Total"}
    parts = [line["share"] for line in lines]
    dearest = max((part for part in parts if part == part), default=0.0)
    # One number of places for all amounts; an average needs no more than four.
    every = (*lines, total)
    averages = places_of(line["price_per_message"] for line in every)
    places = max(places_of(line["cost"] for line in every), min(4, averages))
    of = f", {currency}" if known else ""
    return Table(
        columns=("Country", "Messages", "Parts", f"Cost{of}", "A message", "Share"),
        rows=tuple(
            (*_line(line, places), Bar(min(part / dearest, 1.0) if dearest else 0.0, said) if part == part else "")
            for line, part, said in zip(lines, parts, shares(parts), strict=True)
        ),
        align=("left", "right", "right", "right", "right", "left"),
        title=f"By country, {currency if known else 'currency unknown'}" if several else "By country",
        more="All countries: cost.by_country(results)" if len(rest) else "",
        total=(*_line(total, places), share(total["share"])) if len(countries) > 1 else (),
    )


def _summed(countries: pd.DataFrame) -> dict[str, Any]:
    """Add up the rows of a table by country, with their share of its whole."""
    one = by(countries, [])
    share_of = countries["share"].sum() if countries["share"].notna().any() else float("nan")
    return {**records(one)[0], "share": share_of}


def _line(line: dict[str, Any], places: int) -> tuple[Cell, ...]:
    known = line["cost"] == line["cost"]
    return (
        line["place"],
        int(line["messages"]),
        int(line["parts"]) if line["parts"] or not line["messages"] else "unknown",
        money(line["cost"], places=places) if known else "unknown",
        money(line["price_per_message"], places=places),
    )


def _left_out(frame: pd.DataFrame, totals: pd.DataFrame, states: dict[str, int]) -> list[Note]:
    """Say what the totals do not hold, each in its own sentence."""
    counts = {"unpriced": int(totals["unpriced"].sum()), **states}
    said: list[tuple[str, Sign, str]] = [
        ("unpriced", "!", "accepted without a readable price, in no total: cost.unpriced_rows(results)"),
        ("in_doubt", "!", f"in doubt; possibly sent and billed{_estimate_of(frame, 'in_doubt')}"),
        ("rejected", "i", "rejected; not billed according to the replies"),
        ("planned", "i", f"still to go{_estimate_of(frame, 'planned')}"),
    ]
    rows = ((sign, counts.get(state, 0), text) for state, sign, text in said)
    return [
        *notes(*((sign, many, f"{counted(many, 'row')} {text}") for sign, many, text in rows)),
        *_off_the_estimate(frame),
    ]


def _off_the_estimate(frame: pd.DataFrame) -> list[Note]:
    """Say by how much the bill is off the estimate, over the messages that have both, and what the others cost."""
    if not has_estimates(frame):
        return []
    said = []
    for row in records(compare(frame, []).dropna(subset=["difference"])):
        off, messages, currency = row["difference"], int(row["compared"]), row["currency"]
        amount = money(abs(off), currency)
        more = f"{amount} {'more' if off > 0 else 'less'} than estimated" if off else f"as estimated in sum, {currency}"
        others = int(row["messages"] - row["unpriced"] - messages)
        alone = money(round(row["cost"] - row["compared_cost"], 6), currency)
        without = f"; {alone} for {counted(others, 'message')} without one" if others else ""
        said.append(f"Billed {more}, over {counted(messages, 'message')} with an estimate{without}")
    return [Note("i", one) for one in said]


def _estimate_of(frame: pd.DataFrame, status: str) -> str:
    """Say what the rows of a state would cost by the estimate, where there is one, and how many have none."""
    if is_summed(frame) or not has_estimates(frame):
        return ""
    rows = frame[(frame["status"] == status).to_numpy()]
    said = [money(row["est_cost"], row["currency"]) for row in records(outcomes(rows).dropna(subset=["est_cost"]))]
    without = int(rows["est_cost"].isna().sum())
    also = f" and {counted(without, 'row')} without a rate" if without else ""
    return f", by the estimate {' and '.join(said)}{also}" if said else ""
