"""From some rows of a list to what is decided over all of them: numbers, messages and what keeps a row back itself.

The rules are those of `plan`, applied to one piece; what depends on other rows is left to `joining`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa

from .._calling.arguments import refuse
from .._phones import Advice, Evidence, one_phone_digits
from . import assembly, kept_words, mistakes, segments
from . import bodies as body_rows
from .arguments import Asked, Words

KEPT: Final = "kept_"  # and the number of a kept column
VARYING: Final = ("text", "content", "template_id", "template_data")
BODIES: Final = pa.schema(
    [
        ("key", pa.int64()),
        ("kind", pa.string()),
        *((name, pa.string()) for name in VARYING),
        ("signature", pa.string()),
        ("encoding", pa.string()),
        ("est_parts", pa.int64()),
        *((name, pa.string() if name == "forcing" else pa.int64()) for name in kept_words.MEASURED),
    ]
)


@dataclass(frozen=True, slots=True)
class Asking:
    """What is asked of every piece: the checked arguments, the words as they are on a sample, and what the whole list
    says of a number; ``advice`` counts what would help it.

    ``columns`` are all that the list has, also those that are not read.
    """

    asked: Asked
    words: Words
    columns: tuple[str, ...]
    evidence: Sequence[Evidence]
    advice: Advice = field(default_factory=Advice)

    @property
    def kept(self) -> tuple[str, ...]:
        """The columns that are carried along, that of the segments included."""
        by = self.words.segments
        return tuple(dict.fromkeys([*self.asked.keep, *([by.name] if by else [])]))

    def rows_schema(self) -> pa.Schema:
        whole = ("position", "number", "person", "key", "code", "rank")
        texts = ("region", "type", "problem", "note", "lacking", "lacking_note")
        kept = [f"{KEPT}{at}" for at in range(len(self.kept))]
        return pa.schema([*((name, pa.int64()) for name in whole), *((name, pa.string()) for name in (*texts, *kept))])


def staged(frame: pd.DataFrame, asking: Asking, columns: Counter[str]) -> tuple[pa.Table, pa.Table]:
    """Return the rows of a piece, judged one by one, and the bodies that they would have; count their columns."""
    places = frame.index.to_numpy("int64")
    frame = frame.reset_index(drop=True)
    numbers = asking.asked.judged(frame, asking.evidence)
    columns.update(assembly.of_columns(numbers))
    asking.asked.advise(asking.advice, frame, numbers, asking.evidence)
    words = _words(frame, asking.words)
    there = words.frame.set_axis(places)
    refuse(*mistakes.in_cells(words.wording, there, asking.columns, words.segments.codes if words.segments else None))
    worded = body_rows.word(words)
    problem, note, _ = assembly.problems(numbers, worded)
    at = np.flatnonzero(problem.isna().to_numpy())
    codes, first = body_rows.group(worded, at)
    bodies = _bodies(words, worded, first, keep=asking.asked.message["keep_words"])
    keys = np.zeros(len(frame), np.int64)
    keys[at] = bodies["key"].to_numpy("int64")[codes]
    number: pd.Series = numbers["to"].str[1:].astype("Int64")
    lacking = problem.where(numbers["problem"].isna())
    known = number.notna().to_numpy(bool)
    found = number.to_numpy("int64", na_value=0).copy()
    made = {
        "position": places,
        "number": number,
        "person": pd.arrays.IntegerArray(one_phone_digits(found), ~known),
        "key": pd.arrays.IntegerArray(keys, problem.notna().to_numpy(bool)),
        "code": words.segments.codes if words.segments else np.zeros(len(frame), np.int64),
        "rank": words.segments.ranks if words.segments else np.zeros(len(frame), np.int64),
        **{name: numbers[name] for name in ("region", "type", "problem", "note")},
        "lacking": lacking,
        "lacking_note": note.where(lacking.notna()),
    }
    for place, name in enumerate(asking.kept):
        by = words.segments
        made[f"{KEPT}{place}"] = by.values if by is not None and name == by.name else frame[name]
    return _table(made, asking.rows_schema()), _table(dict(bodies.items()), BODIES)


def _words(frame: pd.DataFrame, words: Words) -> Words:
    """Return the same words for other rows."""
    found = words.segments
    if found is None:
        return replace(words, frame=frame)
    return replace(words, frame=frame, segments=segments.placed(found, frame[found.name]))


def _bodies(words: Words, worded: body_rows.Worded, first: np.ndarray, *, keep: bool) -> pd.DataFrame:
    bodies = body_rows.table(words.wording, worded, first)
    bodies = pd.concat([bodies, body_rows.estimate_parts(words.wording.reads(bodies))], axis=1)
    measures = kept_words.wordings(words, bodies, first, keep=keep).measures
    return bodies.assign(key=body_rows.body_keys(bodies), **{name: measures[name] for name in kept_words.MEASURED})


def _table(columns: Mapping[Any, Any], schema: pa.Schema) -> pa.Table:
    return pa.Table.from_arrays([_array(columns[field.name], field.type) for field in schema], schema=schema)


def _array(values: object, kind: pa.DataType) -> pa.Array:
    found = pa.array(values, from_pandas=True)
    return (found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found).cast(kind)
