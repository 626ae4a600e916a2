"""What a provider's invoice says of rows in doubt, kept with the decision that it was the reason for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pandas as pd

from ..._moments import microseconds
from ..._pandas import STR
from ..._results.contract import micros, money
from ..file.store import Store
from ..rows.columns import TIME, framed
from ..rows.statements import Statements, number_of
from .recording import optional_int, optional_text

_FIELDS: Final = ("line", "id", "at", "parts", "price", "currency")
_DTYPES: Final = {  # of what is kept: the fields of a line, then whose they are
    "line": STR, "id": STR, "at": TIME, "parts": "Int64", "price": "Int64", "currency": STR,
    "source": STR, "reason": STR,
}  # fmt: skip
_HEX: Final = 32  # characters of an id that is stored as bytes


@dataclass(frozen=True, slots=True)
class Evidence:
    """The lines of one source that speak of rows in doubt: ``to, id, at, parts, price, currency``, perhaps ``country``.

    Their index says which line of the source each is. ``priced``: their prices are exact, and not rounded.
    """

    source: str
    lines: pd.DataFrame = field(repr=False)
    priced: bool


def take_over(connection: Statements, campaign: int, evidence: Evidence, places: Mapping[int, Any]) -> str:
    """Give rows the id, parts, price and country of their lines, and return the evidence as it is kept with the change.

    A request has one currency. A price in another one than that of the request, or of lines before it, stays with the
    evidence alone, and so does a rounded price.
    """
    lines = evidence.lines.drop_duplicates("to", keep="last")
    at = [None if pd.isna(one) else microseconds(one) for one in lines["at"]]
    texts = [[*map(optional_text, lines[name])] for name in ("id", "currency")]
    numbers = [[*map(optional_int, of)] for of in (lines["parts"], micros(lines["price"]))]
    named = [*map(optional_text, lines["country"])] if "country" in lines.columns else [None] * len(lines)
    rows = []
    for label, to, message, when, parts, price, currency, iso in zip(
        lines.index, lines["to"], texts[0], at, *numbers, texts[1], named, strict=True
    ):
        chunk, position = places[int(to[1:])]
        here = (campaign, chunk, position)
        billed = price if _in_currency(connection, here, currency) and evidence.priced else None
        country = None if iso is None else number_of(connection, "country", {"iso": iso, "cc": None})
        connection.execute(
            "UPDATE recipient SET message=coalesce(message, ?), parts=coalesce(parts, ?), price=coalesce(price, ?), "
            "country=coalesce(country, ?) WHERE campaign=? AND chunk=? AND position=?",
            (_stored(message), parts, billed, country, *here),
        )
        rows.append([position, str(label), message, when, parts, price, currency])  # as in `_FIELDS`
    return json.dumps({"source": evidence.source, "rows": rows}, ensure_ascii=False)


def _in_currency(connection: Statements, row: tuple[int, int, int], currency: str | None) -> bool:
    """Return whether a row's request is billed in this currency; one whose currency is not known is from now on."""
    mine = "id=(SELECT attempt FROM recipient WHERE campaign=? AND chunk=? AND position=?)"
    connection.execute(f"UPDATE attempt SET currency=coalesce(currency, ?) WHERE {mine}", (currency, *row))
    found = connection.execute(f"SELECT currency FROM attempt WHERE {mine}", row).fetchone()
    return found is not None and currency is not None and found[0] == currency


def _stored(message: str | None) -> bytes | str | None:
    """Return an id as the ledger stores it: 16 bytes where it is 32 hexadecimal characters."""
    if message is not None and len(message) == _HEX and not message.lower().strip("0123456789abcdef"):
        return bytes.fromhex(message)
    return message


def source_of(kept: str | None) -> str | None:
    return None if kept is None else str(json.loads(kept)["source"])


def lines_kept(store: Store, campaign: int) -> pd.DataFrame:
    """Return what rows were settled by, by their position, in the order in which it was recorded."""
    found = store.asked(
        "SELECT evidence, reason FROM change WHERE campaign=? AND evidence IS NOT NULL ORDER BY id", (campaign,)
    )
    rows = [(*row, source_of(kept), reason) for kept, reason in found for row in json.loads(kept)["rows"]]
    frame = framed([row[1:] for row in rows], _DTYPES, pd.Index([row[0] for row in rows]))
    frame["price"] = money(frame["price"]).to_numpy("float64", na_value=np.nan)
    return frame[["source", *_FIELDS, "reason"]]
