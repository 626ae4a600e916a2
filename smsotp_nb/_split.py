"""Split people into groups by a stable hash of their unit. Nothing is recorded, and nothing depends on the machine."""

from __future__ import annotations

import math
import numbers
import re
import unicodedata
from collections.abc import Hashable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from hashlib import blake2b
from itertools import accumulate
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from ._calling import given, in_our_words, not_frame, not_mapping, not_text, refuse
from ._frames import AnyFrame, as_pandas
from ._pandas import STR
from ._showing import cited, few, label
from ._values import no_value
from .columns import absent

_HASH_BYTES: Final = 8  # 64 bits: the shares come out exact to 1 in 10**19, and numpy holds such a hash in one cell
_HASHES: Final = 2 ** (8 * _HASH_BYTES)
# Excel and pandas write the whole number 1007 as "1007.0" where a cell of its column is blank. Zeros in front stay:
# "007" is a text, which no number is equal to.
_WHOLE_NUMBER: Final = re.compile(r"(0|-?[1-9][0-9]*)(?:\.0+)?")


@in_our_words
def split(people: AnyFrame, shares: Mapping[str, float], *, unit: Hashable, seed: str) -> pd.Series:
    """Put every row in one of several groups by chance, always in the same one.

    A row's group depends on its unit, the seed, and the labels with their shares, and on nothing else: not on the
    order or the other rows of the list, the machine, or the versions of the libraries. Rows of one unit are in the same
    group, and a longer list leaves everybody where they were. Another seed draws anew.

    Args:
        people: the list, a frame of pandas, polars, Arrow or DuckDB, or a list of dicts.
        shares: the label of each group and its share, positive numbers that count in proportion to their sum, such as
            ``{"A": 45, "B": 45, "holdout": 10}``. The order of the labels does not matter.
        unit: the column that says who belongs together, such as a customer's id: text or whole numbers. A whole number
            is one unit however it is stored: ``7``, ``7.0``, ``"7"`` and ``"7.0"``. Texts are equal without the blanks
            around them and in any Unicode form; case matters (``"a7"`` is not ``"A7"``), and so do zeros in front
            (``"007"`` is not ``7``).
        seed: any text. Name it after the campaign, so that those who are held out of one are not held out of all.

    Returns:
        The label of each row (str), named ``group``, on the frame's index.

    Raises:
        UsageError: a share is no positive number, a label is no text, a unit is missing or blank or cannot be told
            from another one, or there is no such column.

    Example:
        >>> people = pd.DataFrame({"customer_id": [1001, 1002, 1003, 1001]})
        >>> group = split(people, {"A": 45, "B": 45, "holdout": 10}, unit="customer_id", seed="autumn")
        >>> group.tolist()
        ['B', 'B', 'A', 'B']
        >>> holdout = people[group == "holdout"]  # for exclude= of every plan
    """
    frame = as_pandas(people)
    refuse(
        not_frame("people", frame),
        *_shares_errors(shares),
        not_text("seed", seed),
        "seed= must not be blank" if isinstance(seed, str) and not seed.strip() else None,
        absent(unit, frame.columns) if isinstance(frame, pd.DataFrame) else None,
    )
    units = _unit_texts(frame[unit], unit)
    names = sorted(shares)
    bounds = _upper_bounds([shares[name] for name in names])
    groups = np.searchsorted(bounds, _hashes(units, seed), side="right")
    labels: pd.Series = pd.Series(np.array(names, dtype=object)[groups], index=frame.index, name="group", dtype=STR)
    return labels


def _shares_errors(shares: Any) -> list[str | None]:
    example = "{'A': 45, 'B': 45, 'holdout': 10}"
    error = not_mapping("shares", shares, example=example)
    if error is not None:
        return [error]
    if len(shares) < 2:
        return [f"shares= must have at least two groups, such as {example}"]
    errors: list[str | None] = [_label_error(name) for name in shares]
    errors += [
        f"shares[{cited(name)}]= must be a number above 0, got {given(share)}"
        for name, share in shares.items()
        if not _is_positive(share)
    ]
    spellings = {name.casefold() for name in shares if isinstance(name, str)}
    if len(spellings) < len(shares) and not any(errors):
        errors.append(f"two labels of shares= differ only in case: {few([*shares], cited, len(shares))}; rename one")
    return errors


def _label_error(name: Any) -> str | None:
    if isinstance(name, str) and name and name == name.strip():
        return None
    return f"a label of shares= must be text without blanks around it, got {given(name)}"


def _is_positive(share: Any) -> bool:
    is_number = isinstance(share, numbers.Real | Decimal) and not isinstance(share, bool)
    return is_number and math.isfinite(share) and share > 0


_BLANK: Final = ("is blank", "give every row its unit, or leave the row out")
_NO_UNIT: Final = ("holds neither text nor a whole number", "name a column of ids")
_ROUNDED: Final = ("holds a float whose last digits are lost", "read the column as text")


def _unit_texts(column: pd.Series, name: Hashable) -> list[str]:
    """Return the units of a column as text, equal where the units are."""
    missing = column.isna().to_numpy()
    found = [("", None) if is_blank else _unit_text(cell) for cell, is_blank in zip(column.array, missing, strict=True)]
    texts = [text for text, _ in found]
    fillers = no_value(pd.Series(texts, dtype=object)).to_numpy()  # "n/a", "-" and their kind
    rows: dict[tuple[str, str], list[str]] = {}
    for row, (text, problem), is_filler in zip(column.index, found, fillers, strict=True):
        if problem is None and (is_filler or not text):
            problem = _BLANK
        if problem is not None:
            rows.setdefault(problem, []).append(label(row))
    refuse(
        *(
            f"column {cited(name)} {problem} in {'row' if len(labels) == 1 else 'rows'} {few(labels)}: {next_step}"
            for (problem, next_step), labels in rows.items()
        )
    )
    return texts


def _unit_text(cell: Any) -> tuple[str, tuple[str, str] | None]:
    """Return a unit as text, empty where it is blank, and what is wrong with it."""
    if isinstance(cell, str):
        text = unicodedata.normalize("NFC", cell.strip())
        number = _WHOLE_NUMBER.fullmatch(text)
        return (number[1] if number else text), None
    if isinstance(cell, numbers.Integral) and not isinstance(cell, bool):
        return str(int(cell)), None
    is_number = isinstance(cell, float | np.floating | Decimal)
    if not is_number or not math.isfinite(cell) or cell != int(cell):
        return "", _NO_UNIT
    if not isinstance(cell, Decimal) and abs(cell) > 2 ** (np.finfo(type(cell)).nmant + 1):
        return "", _ROUNDED
    return str(int(cell)), None


def _hashes(units: Sequence[str], seed: str) -> npt.NDArray[np.uint64]:
    """Return a number below 2**64 for each unit: its BLAKE2b hash, keyed by the seed."""
    key = blake2b(seed.encode(), digest_size=32).digest()
    digests = b"".join(
        blake2b(unit.encode("utf-8", "surrogatepass"), key=key, digest_size=_HASH_BYTES).digest() for unit in units
    )
    return np.frombuffer(digests, ">u8").astype(np.uint64)


def _upper_bounds(shares: Sequence[Any]) -> npt.NDArray[np.uint64]:
    """Return the hash at which each group but the last one ends, computed in whole numbers.

    A share counts as it is written: 0.1 is a tenth, not the nearest binary fraction.
    """
    ends = [*accumulate(Fraction(str(share)) for share in shares)]
    return np.array([end * _HASHES // ends[-1] for end in ends[:-1]], dtype=np.uint64)
