"""Record batches in, record batches out: the same answers as for columns, wherever a list is cut."""

from __future__ import annotations

import functools
import itertools
import pickle
from collections.abc import Callable
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from support import phone_lists
from support.dtypes import STR

from smsotp_nb import phones
from smsotp_nb.errors import UsageError


class Kind(NamedTuple):
    """A function of batches, the columns it adds, and the function of columns it has to agree with."""

    batch: Callable[..., Any]
    added: pa.Schema
    column: Callable[..., pd.DataFrame]


TYPES = {**dict.fromkeys(["e164", "region", "cc"], pa.string()), "valid": pa.bool_()}
TYPES |= dict.fromkeys(["type", "reason", "extension"], pa.string())
NAMES = ["to", "region", "cc", "type", "problem", "note"]
KINDS = [
    Kind(phones.parse_batch, pa.schema(TYPES), phones.parse),
    Kind(phones.normalize_batch, pa.schema([(name, pa.string()) for name in NAMES]), phones.normalize),
]


def extended(schema: pa.Schema, kind: Kind) -> pa.Schema:
    """Return what a list of this schema becomes; its own names are taken by none of the new columns."""
    return pa.schema([*schema, *kind.added], metadata=schema.metadata)


both = pytest.mark.parametrize("kind", KINDS, ids=["verdict", "normalize"])

STRINGS = [
    pa.string(),
    pa.large_string(),
    pa.string_view(),
    pa.dictionary(pa.int32(), pa.string()),
    pa.dictionary(pa.int16(), pa.large_string()),
]


def messy(size: int = 300) -> pa.RecordBatch:
    """A list with missing numbers and countries, an id and a nested column."""
    frame = phone_lists.corpus(size, seed=12)
    frame.loc[::9, "phone"] = None
    frame["tags"] = [["a"], []] * (size // 2)
    return pa.RecordBatch.from_pandas(frame.reset_index(names="id"), preserve_index=False)


def answers(batch: Any, like: pd.DataFrame) -> pd.DataFrame:
    """The added columns as a frame such as the column functions give."""
    found = pd.DataFrame({name: batch.column(name).to_pandas() for name in like})
    return found.astype({name: "bool" if name == "valid" else STR for name in like})


def agree(kind: Kind, found: Any, given: Any, **options: Any) -> None:
    """The added columns are those of the column function for ``phone`` and ``country``."""
    frame = given.to_pandas()
    right = kind.column(frame["phone"], region=frame["country"], **options)
    pd.testing.assert_frame_equal(answers(found, right), right)


@both
@pytest.mark.parametrize("strings", STRINGS, ids=str)
def test_text_of_every_kind_gets_the_answers_of_its_column(kind: Kind, strings: pa.DataType) -> None:
    """string, large_string, string_view and dictionaries, as numbers and as countries, also cut out of longer ones."""
    batch = messy(120).select(["phone", "country"])
    if pa.types.is_dictionary(strings):
        columns = [column.dictionary_encode().cast(strings) for column in batch.columns]
    else:
        columns = [column.cast(strings) for column in batch.columns]
    given = pa.RecordBatch.from_arrays(columns, names=batch.schema.names).slice(7, 100)
    found = kind.batch(given, phone="phone", region="country", default_region="DE")
    assert found.schema.equals(extended(given.schema, kind))
    agree(kind, found, batch.slice(7, 100), default_region="DE")


@both
def test_a_dictionary_of_views(kind: Kind) -> None:
    """Arrow itself cannot look rows up in one."""
    numbers = pa.DictionaryArray.from_arrays(
        pa.array([1, 0, None, 2]), pa.array(["030 901820", None, "+14155550100"], pa.string_view())
    )
    found = kind.batch(pa.record_batch({"phone": numbers}), phone="phone", default_region="DE")
    right = kind.column([None, "030 901820", None, "+14155550100"], default_region="DE")
    pd.testing.assert_frame_equal(answers(found, right), right)


@both
def test_a_list_may_be_cut_anywhere(kind: Kind) -> None:
    """Batches of any size, one row and none too, join to the answer for the whole table, rows and columns in order."""
    whole = messy()
    work = functools.partial(kind.batch, phone="phone", region="country", default_region="GB")
    cuts = [0, 0, 1, 2, 65, 129, 130, 300]
    pieces = [whole.slice(first, last - first) for first, last in itertools.pairwise(cuts)]
    joined, table = pa.Table.from_batches([work(piece) for piece in pieces]), pa.Table.from_batches(pieces)
    assert joined.equals(pa.Table.from_batches([work(whole)]))
    assert joined.equals(work(table))
    assert joined.select(whole.schema.names).equals(table)
    agree(kind, joined, whole, default_region="GB")


MIXED = [
    {"phone": [f"4479111234{n:02}" for n in range(60)] + ["030 901820"], "region": ["DE"] * 61},
    {"phone": ["(415) 555-0100"] * 30, "region": ["CA", "NY", "TX"] * 10},
    {"phone": [f"551199000{n:04}" for n in range(60)], "region": [None, "DE"] * 30},
]


@both
@pytest.mark.parametrize("columns", MIXED, ids=["lost pluses", "states", "Brazil"])
def test_rows_say_nothing_of_each_other(kind: Kind, columns: dict[str, list[str]]) -> None:
    """Numbers that lost their plus and states beside them are read together as each of them is read alone."""
    batch = pa.record_batch(columns)
    work = functools.partial(kind.batch, phone="phone", region="region", default_region="DE")
    alone = pa.Table.from_batches([work(batch.slice(row, 1)) for row in range(len(batch))])
    assert alone.combine_chunks().equals(pa.Table.from_batches([work(batch)]))


@pytest.mark.parametrize("columns", MIXED, ids=["lost pluses", "states", "Brazil"])
def test_what_a_column_says_is_passed_in(columns: dict[str, list[str]]) -> None:
    """With the evidence of the whole column each row is read as the column is, wherever it is cut."""
    batch, frame = pa.record_batch(columns), pd.DataFrame(columns)
    evidence = phones.weigh_column(frame["phone"], region=frame["region"], default_region="DE")
    reading = phones.NumberOptions(evidence=evidence)
    work = functools.partial(
        phones.normalize_batch, phone="phone", region="region", default_region="DE", numbers=reading
    )
    work = pickle.loads(pickle.dumps(work))
    pieces = pa.Table.from_batches([work(batch.slice(first, 7)) for first in range(0, len(batch), 7)])
    right = phones.normalize(frame["phone"], region=frame["region"], default_region="DE")
    found = pieces.to_pandas().iloc[:, len(columns) :].set_axis(list(right), axis=1)
    pd.testing.assert_frame_equal(found.astype(STR), right)


@both
def test_empty_batches_have_the_schema(kind: Kind) -> None:
    """No rows, no chunks, no values at all: the schema is known before there is data."""
    given = pa.schema({"phone": pa.string(), "id": pa.int64()})
    for empty in (pa.RecordBatch.from_pylist([], given), given.empty_table(), pa.Table.from_batches([], given)):
        found = kind.batch(empty, phone="phone")
        assert type(found) is type(empty)
        assert found.num_rows == 0
        assert found.schema.equals(extended(given, kind))
    nothing = pa.record_batch({"phone": pa.nulls(3)})
    assert kind.batch(nothing, phone="phone").schema.equals(extended(nothing.schema, kind))


@both
@pytest.mark.parametrize(
    "numbers",
    [
        pa.array([14155550100, None, -1, 4930901820]),
        pa.array([14155550100, None, 4930901820], pa.uint64()),
        pa.array([14155550100.0, None, 1.5, 4930901820.0, float("inf")]),
        pa.array([Decimal("14155550100.00"), None, Decimal("1.50")], pa.decimal128(20, 2)),
        pa.array([True, None]),
        pa.array([b"+14155550100", None]),
        pa.array([["+14155550100"], None]),
        pa.array([14155550100, None, 14155550100]).dictionary_encode(),
        pa.nulls(2),
    ],
    ids=lambda it: str(it.type),
)
def test_numbers_are_read_cell_by_cell(kind: Kind, numbers: pa.Array) -> None:
    """A missing value beside it never makes an integer a float: each cell is read as it is in a list of its own."""
    found = kind.batch(pa.record_batch({"phone": numbers}), phone="phone", default_region="US")
    right = pd.concat([kind.column([cell], default_region="US") for cell in numbers.to_pylist()], ignore_index=True)
    pd.testing.assert_frame_equal(answers(found, right), right)


@both
def test_a_float_of_32_bits_is_read_as_its_column_is(kind: Kind) -> None:
    """Parquet files hold such columns; what the column functions say of them is said of batches."""
    values = np.array([14155550100, 4155550, np.nan], np.float32)
    found = kind.batch(pa.record_batch({"phone": pa.array(values, from_pandas=True)}), phone="phone")
    right = kind.column(pd.Series(values))
    pd.testing.assert_frame_equal(answers(found, right), right)


@both
def test_the_index_and_everything_else_come_along(kind: Kind) -> None:
    """A frame's index and dtypes stand in the schema's metadata, and stay there."""
    frame = pd.DataFrame(
        {"when": pd.to_datetime(["2026-01-02", None]), "phone": ["+4930901820", "n/a"], "kind": ["a", "b"]},
        index=pd.Index(["x", "y"], name="customer"),
    ).astype({"kind": "category"})
    found = kind.batch(pa.RecordBatch.from_pandas(frame), phone="phone").to_pandas()
    pd.testing.assert_frame_equal(found[list(frame)], frame)
    assert found.iloc[:, len(frame.columns)].tolist()[0] == "+4930901820"


def test_a_name_that_is_taken_gets_a_prefix() -> None:
    """The columns of the batch stay what they are."""
    batch = pa.record_batch({"phone": ["030 901820"], "region": ["DE"]})
    found = phones.normalize_batch(batch, phone="phone", region="region")
    assert found.schema.names == ["phone", "region", "to", "sms_region", "cc", "type", "problem", "note"]
    assert found.column("region").to_pylist() == found.column("sms_region").to_pylist() == ["DE"]
    with pytest.raises(UsageError, match=r"columns 'sms_region' already.* rename them"):
        phones.parse_batch(found, phone="phone")


@both
@pytest.mark.parametrize(
    ("columns", "options", "told"),
    [
        (["mobile", "id"], {"phone": "phone"}, "phone=: no column 'phone' .columns: 'mobile', 'id'"),
        (["phone"], {"phone": "phone", "region": "land"}, "region=: no column 'land' .columns: 'phone'"),
        ([], {"phone": "phone"}, "columns: none"),
        (["phone"], {"phone": 0}, "no column 0"),
        (["phone", "phone"], {"phone": "phone"}, "2 columns are named 'phone'"),
    ],
    ids=["no phone", "no region", "no columns", "no name", "twice"],
)
def test_a_column_that_is_not_there(kind: Kind, columns: list[str], options: dict[str, Any], told: str) -> None:
    """The names that are there are told."""
    batch = pa.RecordBatch.from_arrays([pa.array(["1"]) for _ in columns], names=columns)
    with pytest.raises(UsageError, match=told):
        kind.batch(batch, **options)


@both
@pytest.mark.parametrize("other", [pd.DataFrame({"phone": ["1"]}), ["1"], pa.array(["1"]), None], ids=type)
def test_what_is_no_batch_is_refused_in_words(kind: Kind, other: object) -> None:
    with pytest.raises(UsageError, match=r"RecordBatch or Table, not .*pyarrow\.table"):
        kind.batch(other, phone="phone")
