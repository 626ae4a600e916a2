"""Read rows from the file as columns, in blocks, so that a million of them fit in memory beside the caller's."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from ..._pandas import STR
from ..._schema import FARTHEST
from ...errors import UsageError
from .answers import ID, Ints, Whole, unpacked
from .damage import Unfit
from .persons import recorded
from .statements import Statements, in_blocks
from .tables import ACCEPTED

BLOCK = 50_000  # rows
CHUNKS = 500  # that are unpacked at once
MISSING = -2  # no number of a row is below -1, the chunk of what was left out


def rows_of(
    connection: Statements,
    campaign: int,
    *numbers: str,
    text: Sequence[str] = (),
    spelled: Mapping[str, str] = {},
    by_row: bool = False,
    whole: bool = False,
) -> pd.DataFrame:
    """Return ``chunk, position``, these numbers (Int64) and texts (str) of a campaign's rows, in their order.

    ``spelled`` has the SQL of columns that the view ``fate`` lacks. ``by_row`` leaves out chunks that were accepted as
    a whole; ``whole`` adds them at the end, with their answers.
    """
    integers = {name: [np.array([], np.int64)] for name in ("chunk", "position", *numbers)}
    texts: dict[str, list[pa.StringArray]] = {name: [] for name in text}
    blocks = _by_row(connection, campaign, [*integers], text, spelled, some=by_row or whole)
    for block in chain(blocks, _whole(connection, campaign, integers, text) if whole else ()):
        rows = len(block["chunk"])
        for name, known in integers.items():
            known.append(np.broadcast_to(np.asarray(block.get(name, MISSING), np.int64), rows))
        for name, pieces in texts.items():
            pieces.append(block[name] if name in block else pa.nulls(rows, pa.string()))
    joined = {name: np.concatenate(pieces) for name, pieces in integers.items()}
    columns = {name: pd.Series(pd.arrays.IntegerArray(each, each == MISSING)) for name, each in joined.items()}
    columns |= {name: pa.chunked_array(of, pa.string()).to_pandas().astype(STR) for name, of in texts.items()}
    return pd.DataFrame(columns, copy=False)


def _by_row(
    connection: Statements,
    campaign: int,
    integers: Sequence[str],
    text: Sequence[str],
    spelled: Mapping[str, str],
    *,
    some: bool,
) -> Iterator[dict[str, Any]]:
    """Yield a campaign's rows from the view ``fate`` in blocks: all, or ``some``, of chunks not accepted as a whole.

    SQLite joins a block of rows into one text for each column, because fetching row by row takes three times as long.
    """
    what = ", ".join(f"{spelled.get(name, name)} AS {name}" for name in (*integers, *text))
    lines = [f"group_concat(coalesce({name}, {MISSING}))" for name in integers]
    lines += [f"json_group_array({name})" for name in text]
    where = ""
    if some:  # a block has no more chunks than rows, but for the one that ended the block before
        where = (
            "AND chunk IN (SELECT -1 UNION ALL SELECT * FROM (SELECT chunk FROM chunk WHERE campaign=? "
            f"AND chunk>=? AND state IS NOT {ACCEPTED} ORDER BY chunk LIMIT {BLOCK + 1}) AS block)"
        )
    sql = (
        f"SELECT {', '.join(lines)} FROM (SELECT {what} FROM fate WHERE campaign=? "
        f"AND (chunk, position) > (?, ?) {where} ORDER BY chunk, position LIMIT {BLOCK}) AS block"
    )
    values = campaign, MISSING, MISSING
    while (found := connection.execute(sql, values + values[:2] * some).fetchone())[0] is not None:
        said = dict(zip((*integers, *text), found, strict=True))
        block: dict[str, Any] = {name: np.fromstring(said[name], np.int64, sep=",") for name in integers}
        chunk, position = block["chunk"], block["position"]
        if "number" in block:  # who was left out may have none
            recorded(np.where((block["number"] == MISSING) & (chunk >= 0), 0, block["number"]))
        yield block | {name: pa.array(json.loads(said[name]), pa.string()) for name in text}
        before, values = values, (campaign, int(chunk.max()), int(position[chunk == chunk.max()].max()))
        if values <= before:  # the same block again, without end
            raise Unfit("a row's place is not a whole number")
        if len(chunk) < BLOCK:
            break


def _whole(
    connection: Statements, campaign: int, integers: Collection[str], text: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Yield the rows of chunks that were accepted as a whole."""
    for whole in accepted_whole(
        connection,
        campaign,
        [name for name in ("position", "list_row", "number", "attempts") if name in integers],
    ):
        own = whole.columns
        own |= {"attempts": own["attempts"] + 1} if "attempts" in own else {}
        own |= {"id": hexadecimal(whole.ids)} if "id" in text else {}
        yield own | {
            "chunk": whole.chunk, "state": ACCEPTED, "attempt": whole.attempt, "country": whole.country,
            "parts": whole.parts, "price": whole.price,
        }  # fmt: skip


def integers_in(joined: str | None) -> Ints:
    """Return the integers that the database joined to one text; none of nothing."""
    return np.fromstring(joined, np.int64, sep=",") if joined else np.zeros(0, np.int64)


class Accepted(NamedTuple):
    """Rows of chunks that were accepted as a whole, as arrays in the order of chunk and position."""

    rows: Ints  # of each chunk: the one array with an entry a chunk
    chunk: Ints
    attempt: Ints
    ids: bytes
    country: Ints
    parts: Ints
    price: Ints
    columns: dict[str, Any]
    texts: list[str]


def accepted_whole(
    connection: Statements, campaign: int, columns: Sequence[str] = (), *, text: str = ""
) -> Iterator[Accepted]:
    """Yield the rows of chunks that were accepted as a whole, in blocks.

    With these integer columns, and with ``text``, the SQL of a JSON text, where one is asked for.
    """
    lines = [
        f"(SELECT group_concat(said, char({ord(end)})) FROM (SELECT {name} AS said FROM recipient r "
        "WHERE r.campaign=c.campaign AND r.chunk=c.chunk ORDER BY r.position) AS inside)"
        for name, end in (*((name, ",") for name in columns), *((one, BETWEEN) for one in [text] if one))
    ]
    found = connection.execute(
        f"SELECT {', '.join(['c.chunk', 'c.attempt', 'a.ids', 'a.kinds', *lines])} FROM chunk c "
        "JOIN attempt a ON a.id=c.attempt WHERE c.campaign=? AND c.state=? ORDER BY c.chunk",
        (campaign, ACCEPTED),
    )
    billings = np.zeros((0, 3), np.int64)
    for chunks in in_blocks(found, CHUNKS):
        chunk, attempt, ids, kinds, *texts = zip(*chunks, strict=True)
        rows, kind = unpacked([*map(Whole, ids, kinds)])
        if kind.max() >= len(billings):  # looked up after the rows: another process may be adding to both
            billings = _billings(connection, campaign)
        country, parts, price = billings[kind].T
        said = BETWEEN.join(texts.pop()).split(BETWEEN) if text else []
        values = [np.fromstring(",".join(lines), np.int64, sep=",") for lines in texts]
        if "number" in columns:
            recorded(values[[*columns].index("number")])
        yield Accepted(
            rows=rows, chunk=np.repeat(chunk, rows), attempt=np.repeat(attempt, rows), ids=b"".join(ids),
            country=country, parts=parts, price=price, columns=dict(zip(columns, values, strict=True)), texts=said,
        )  # fmt: skip


def _billings(connection: Statements, campaign: int) -> Ints:
    """Return country, parts and price of each billing of a campaign, at its number."""
    found = connection.execute("SELECT country, parts, price FROM billing WHERE campaign=? ORDER BY id", (campaign,))
    return np.array([(0, 0, 0), *found], np.int64)  # they are numbered from 1


def hexadecimal(ids: bytes) -> pa.StringArray:
    ends = pa.array(np.arange(0, 2 * len(ids) + 1, 2 * ID, dtype=np.int32)).buffers()[1]
    return pa.StringArray.from_buffers(len(ids) // ID, ends, pa.py_buffer(ids.hex().encode()))


def times(micros: pd.Series) -> pd.Series:
    """Return times of a ledger; pandas has room for later ones, of which Python cannot write the year."""
    whole = micros.astype("Int64")
    if not whole.between(-FARTHEST, FARTHEST).fillna(True).all():
        raise Unfit("it holds a time beyond its range")
    return pd.to_datetime(whole, unit="us", utc=True).dt.as_unit("us")


TIME: Final = "datetime64[us, UTC]"  # of a column that a ledger has in microseconds since 1970


def framed(rows: Sequence[Sequence[Any]], columns: Mapping[str, Any], index: pd.Index | None = None) -> pd.DataFrame:
    """Return the rows of a question as a frame, its columns with these dtypes."""
    frame = pd.DataFrame(rows, columns=list(columns), index=index, dtype=object)
    return frame.assign(**{name: times(frame[name]) for name in columns if columns[name] == TIME}).astype(columns)


MOST: Final = 2**20  # combinations; more are people rather than groups of them
BETWEEN: Final = "\x1f"  # stands in no JSON text


class TooMany(UsageError):
    """The values of the columns are people rather than groups of them."""


class Combinations:
    """Combinations of values of these columns, by number; campaigns may have them in other places, or not at all."""

    def __init__(self, names: Sequence[str], *, most: int | None = None) -> None:
        self.names = tuple(names)
        self._most = most or MOST
        self._of_text: dict[str, int] = {}
        self._of_values: dict[str, int] = {}  # as Python writes them: 1, 1.0 and True are three values
        self.values: list[Sequence[Any]] = []  # of each combination, by its number

    def sql(self, connection: Statements, campaign: int) -> str:
        """Return the SQL of a row's combination: a JSON list of its values.

        Two paths or more make SQLite answer with a list, in which true stays true; the first is given twice.
        """
        there = kept_by(connection, campaign)
        paths = [f"'$[{there.index(name)}]'" if name in there else "'$[999999]'" for name in self.names]
        return f"coalesce(json_extract(kept, {', '.join([paths[0], *paths])}), '[]')"

    def numbers(self, texts: Sequence[str]) -> Ints:
        """Return the number of each combination, as `sql` writes it."""
        for text in dict.fromkeys(texts):
            if text not in self._of_text:
                values = json.loads(text)[1:]
                self._of_text[text] = self.number(values or [None] * len(self.names))
        return np.fromiter(map(self._of_text.__getitem__, texts), dtype=np.int64, count=len(texts))

    def number(self, values: Sequence[Any]) -> int:
        found = self._of_values.setdefault(repr(values), len(self._of_values))
        if found == len(self.values):
            self.values.append(values)
        if found >= self._most:
            raise TooMany(
                f"{', '.join(map(repr, self.names))} has more than {self._most:,} different values in the ledger; "
                "group by a column that many rows share"
            )
        return found

    def columns(self, numbers: Ints) -> dict[str, Any]:
        """Return the columns of the combinations of these numbers."""
        of = zip(*self.values, strict=True) if self.values else ([] for _ in self.names)
        plain = [[json.dumps(v, ensure_ascii=False) if isinstance(v, list | dict) else v for v in each] for each in of]
        values = {name: pd.Series(each) for name, each in zip(self.names, plain, strict=True)}
        return {name: column.array.take(numbers) for name, column in values.items()}


def kept_by(connection: Statements, campaign: int) -> list[str]:
    (listed,) = connection.execute("SELECT kept FROM campaign WHERE id=?", (campaign,)).fetchone()
    return names_in(listed)


def names_in(listed: str) -> list[str]:
    """Return the names of kept columns, as a campaign's row lists them."""
    found: list[str] = json.loads(listed)
    sound = isinstance(found, list) and all(isinstance(name, str | int | float | None) for name in found)
    if not sound or len({*found}) < len(found):
        raise Unfit("the names of a campaign's kept columns are none")
    return found


def known_columns(connection: Statements) -> list[str]:
    """Return the names of the columns that campaigns kept, each once."""
    listed = connection.execute("SELECT kept FROM campaign ORDER BY id").fetchall()
    return list(dict.fromkeys(name for (names,) in listed for name in names_in(names)))
