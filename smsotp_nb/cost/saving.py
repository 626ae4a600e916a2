"""Which characters make a plan expensive, and what could stand for them."""

from __future__ import annotations

import unicodedata
from typing import Any

import pandas as pd

from .. import parts
from .._calling import in_our_words
from .._pandas import STR
from .._planning import Plan
from .._results import contract
from ..errors import UsageError
from .sums import amounts


@in_our_words
def savings(plan: Plan) -> pd.DataFrame:
    """Return the characters for which messages of a plan are sent in UCS-2, and what that costs. Nothing is changed.

    A text with one character beyond the GSM alphabet has 70 characters a part instead of 160. `parts.plain` replaces
    those that have a plain form. Parts are estimates by the usual packing rule.

    Returns:
        A row for each character and currency of the estimate (missing: no rate), the most expensive first:
        ``character, name, replacement`` (str; of `parts.PLAIN`, missing where there is none), ``recipients`` (Int64:
        who would get it), ``extra_parts`` (Int64: what their messages take beyond GSM-7; a message counts for each of
        its characters), ``currency`` and ``extra_cost`` (float64, by the rates of the plan; missing without one).
        Templates whose text is not known are not part of it.

    Raises:
        UsageError: not a plan.

    Example:
        >>> import smsotp_nb as sms
        >>> people = pd.DataFrame({"phone": ["+12025550123"]})
        >>> rates = pd.DataFrame({"iso": ["US"], "currency": ["USD"], "price": ["0.0075"]})
        >>> made = sms.plan(people, "It’s on" + " today" * 12, to="phone", campaign="autumn", rates=rates)
        >>> savings(made)[["character", "name", "replacement", "extra_parts", "extra_cost"]].values.tolist()
        [['’', 'RIGHT SINGLE QUOTATION MARK', "'", 1, 0.0075]]
    """
    if not isinstance(plan, Plan):
        raise UsageError(f"savings needs a plan, as plan(...) returns it, got {type(plan).__name__}")
    rows = plan.rows
    rows = rows[rows["body"].notna() & rows["encoding"].eq("ucs2")]
    micros = contract.micros(rows["est_cost"])
    groups = rows.assign(micros=micros).groupby(["body", "est_currency"], dropna=False, sort=True)
    sums = groups.agg(recipients=("body", "size"), micros=("micros", "sum")).reset_index()
    texts = plan.texts
    cells = [cell for row in sums.to_dict("records") for cell in _characters_of(texts[row["body"]], row)]
    columns = ["currency", "character", "recipients", "extra_parts", "extra_micros"]
    table = pd.DataFrame(cells, columns=columns).astype({"currency": STR, "character": STR})
    keys = table.groupby(["currency", "character"], dropna=False, sort=True)
    table = keys[["recipients", "extra_parts", "extra_micros"]].sum().reset_index()
    table = table.sort_values(["extra_micros", "extra_parts"], ascending=False, kind="stable", ignore_index=True)
    return pd.DataFrame(
        {
            "character": table["character"],
            "name": pd.array([unicodedata.name(char, "UNNAMED") for char in table["character"]], dtype=STR),
            "replacement": pd.array([parts.PLAIN.get(char) for char in table["character"]], dtype=STR),
            "recipients": table["recipients"].astype("Int64"),
            "extra_parts": table["extra_parts"].astype("Int64"),
            "currency": table["currency"],
            "extra_cost": amounts(table["extra_micros"], table["currency"].notna()),
        }
    )


def _characters_of(text: str, row: dict[Any, Any]) -> list[tuple[Any, ...]]:
    """Return a cell for each character that forces a text into UCS-2: recipients, extra parts, what they cost."""
    now = parts.count(text)
    in_gsm = "".join(parts.PLAIN.get(char, "?") if char in now.forcing else char for char in text)
    extra = now.parts - parts.count(in_gsm).parts
    recipients = int(row["recipients"])
    # Every recipient of a text has the same number of parts, so what a part costs divides evenly.
    each = 0 if pd.isna(row["micros"]) else int(row["micros"]) // now.parts
    return [(row["est_currency"], char, recipients, recipients * extra, each * extra) for char in now.forcing]
