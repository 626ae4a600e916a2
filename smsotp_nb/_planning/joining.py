"""The plan of a folder: each piece of the list judged, and what depends on other rows decided by DuckDB.

A piece is judged by the rules of `plan`. What depends on other rows has the rules of `assembly`, in SQL, which cannot
share its code; the tests hold both plans equal.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from .. import _dates as dates
from .. import _values as values
from .._calling import refuse
from .._pandas import STR
from .._phones import Advice, Evidence
from .._results import contract
from ..errors import UsageError
from . import assembly, mistakes, segments, suppression
from . import bodies as body_rows
from .arguments import Asked, Words
from .folder import Source
from .rows import FIRST, MESSAGES, NOTED, OTHERS, PLANNED, SKIPPED, InFiles, fingerprint, in_blocks
from .suppression import Suppression

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
        *((name, pa.string() if name == "forcing" else pa.int64()) for name in body_rows.MEASURED),
    ]
)


@dataclass(frozen=True, slots=True)
class Asking:
    """What is asked of every piece: the checked arguments, the words as they are on a sample, and what the whole list
    says of a number. ``columns`` are all that the list has, also those that are not read.

    What the pieces say is gathered here: ``advice`` counts what would help numbers, ``of_columns`` how many numbers are
    of which column, and ``matched`` how many rows each list to leave out has. ``telling`` has the cells of columns of
    times that say how their dates are written.
    """

    asked: Asked
    words: Words
    columns: tuple[str, ...]
    evidence: Sequence[Evidence]
    left_out: Sequence[Suppression]
    advice: Advice = field(default_factory=Advice)
    of_columns: Counter[str] = field(default_factory=Counter)
    matched: Counter[int] = field(default_factory=Counter)
    telling: dict[str, list[pd.Series[Any]]] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)

    @property
    def kept(self) -> tuple[str, ...]:
        """The columns that are carried along, that of the segments included."""
        by = self.words.segments
        return tuple(dict.fromkeys([*self.asked.keep, *([by.name] if by else [])]))

    def rows_schema(self) -> pa.Schema:
        whole = ("position", "number", "person", "key", "code", "rank")
        texts = ("region", "type", "problem", "note")
        kept = [f"{KEPT}{at}" for at in range(len(self.kept))]
        fields = [*((name, pa.int64()) for name in whole), *((name, pa.string()) for name in (*texts, *kept))]
        return pa.schema([*fields, ("others", pa.list_(pa.int64()))])


def staged(frame: pd.DataFrame, asking: Asking) -> tuple[pa.Table, pa.Table]:
    """Return the rows of a piece, judged one by one, and the bodies that they would have."""
    places = frame.index.to_numpy("int64")
    frame = frame.reset_index(drop=True)
    numbers = asking.asked.judged(frame, asking.evidence)
    asking.of_columns.update(assembly.of_columns(numbers))
    asking.asked.advise(asking.advice, frame, numbers, asking.evidence)
    numbers = asking.asked.held(asking.advice, frame, numbers)
    words = _words(frame, asking.words)
    there = words.frame.set_axis(places)
    refuse(*mistakes.in_cells(words.wording, there, asking.columns, words.segments.codes if words.segments else None))
    words = replace(words, frame=there).without_odd()  # whose errors name rows of the whole list
    asking.told.extend([] if asking.told else words.told)  # that of one piece says what is wrong
    worded = body_rows.word(words)
    _keep_telling(words.frame, words, asking)
    people, beside = assembly.people_of(numbers)
    problem, note, matched = assembly.problems(numbers, people, beside, worded, asking.left_out)
    asking.matched.update(dict(enumerate(matched)))
    at = np.flatnonzero(problem.isna().to_numpy())
    codes, first = body_rows.group(worded, at)
    bodies = _bodies(words, worded, first, keep=asking.asked.message["keep_words"])
    keys = np.zeros(len(frame), np.int64)
    keys[at] = bodies["key"].to_numpy("int64")[codes]
    ends = np.append(0, np.bincount(beside.index.to_numpy("int64"), minlength=len(frame)).cumsum()).astype("int32")
    made = {
        "position": places,
        "number": numbers["to"].str[1:].astype("Int64"),
        "person": pd.arrays.IntegerArray(people, people == 0),
        "key": pd.arrays.IntegerArray(keys, problem.notna().to_numpy(bool)),
        "code": words.segments.codes if words.segments else np.zeros(len(frame), np.int64),
        "rank": words.segments.ranks if words.segments else np.zeros(len(frame), np.int64),
        **{name: numbers[name] for name in ("region", "type")},
        "problem": problem,
        "note": note,
        "others": pa.ListArray.from_arrays(ends, beside.to_numpy("int64")),
    }
    for place, name in enumerate(asking.kept):
        by = words.segments
        made[f"{KEPT}{place}"] = by.values if by is not None and name == by.name else frame[name]
    return _table(made, asking.rows_schema()), _table(dict(bodies.items()), BODIES)


def _keep_telling(frame: pd.DataFrame, words: Words, asking: Asking) -> None:
    """Keep of each column of times what says how its dates are written."""
    slots = {one for message in words.wording.messages for one in words.wording.slots(message) if values.says_time(one)}
    for name in {one.column for one in slots}:
        column = frame[name]
        asking.telling.setdefault(name, []).append(column.iloc[dates.read(column, by_argument=False).telling])


def _two_kinds(asking: Asking) -> Iterator[str]:
    """Complain of columns whose pieces can be read, but not the whole."""
    for name, cells in sorted(asking.telling.items()):
        if unclear := dates.read(pd.concat(cells), by_argument=False).unclear:
            yield f"column {name!r} has {unclear}"


def _words(frame: pd.DataFrame, words: Words) -> Words:
    """Return the same words for other rows."""
    found = words.segments
    if found is None:
        return replace(words, frame=frame)
    return replace(words, frame=frame, segments=segments.placed(found, frame[found.name]))


def _bodies(words: Words, worded: body_rows.Worded, first: np.ndarray, *, keep: bool) -> pd.DataFrame:
    bodies = body_rows.table(words.wording, worded, first)
    measures = body_rows.wordings(words, bodies, first, keep=keep).measures
    return bodies.assign(key=body_rows.body_keys(bodies), **{name: measures[name] for name in body_rows.MEASURED})


def _table(columns: Mapping[Any, Any], schema: pa.Schema) -> pa.Table:
    return pa.Table.from_arrays([_array(columns[field.name], field.type) for field in schema], schema=schema)


def _array(values: object, kind: pa.DataType) -> pa.Array:
    found = values if isinstance(values, pa.Array) else pa.array(values, from_pandas=True)
    return (found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found).cast(kind)


# -- decided over all pieces -------------------------------------------------------------------------------------------


FILES: Final = (PLANNED, SKIPPED, MESSAGES)
OURS: Final = ("row", "chunk", "est_parts", "encoding", "est_cost", "est_currency")  # columns of these files
BATCH: Final = 100_000  # rows
_LIBRARIES: Final = 600  # MB for Python, its libraries and the piece of the list that is being judged
_FARTHEST: Final = 10**12  # beyond every place, so that rank and place are one number
_DECIDED: Final = """
CREATE TABLE decided AS
WITH saying AS (
  SELECT said AS person, min(position) AS no FROM (
    SELECT position, problem, unnest([other, person]) AS said FROM beside JOIN read_parquet({rows}) USING (position)
  ) WHERE problem IN {no} AND said > 0 GROUP BY said
), hits AS (
  SELECT position, min(no) AS no FROM (
    SELECT position, person FROM read_parquet({rows}) UNION ALL SELECT position, other FROM beside
  ) JOIN saying USING (person) GROUP BY position
), judged AS (
  SELECT * EXCLUDE (others), rank * {far} + position AS turn FROM read_parquet({rows})
), mine AS (
  SELECT judged.* EXCLUDE (problem, note), CASE WHEN no IS NOT NULL THEN 'DUPLICATE_OF' ELSE problem END AS problem,
    CASE WHEN no IS NOT NULL THEN concat_ws(' ', note, 'DUPLICATE_OF:' || no) ELSE note END AS note
  FROM judged LEFT JOIN hits ON judged.position = hits.position AND judged.problem IS NULL
), winners AS (
  SELECT person, min(turn) AS best, arg_min(code, turn) AS best_code FROM mine WHERE problem IS NULL
  GROUP BY person HAVING count(*) > 1
)
SELECT mine.* EXCLUDE (problem, note, turn),
  CASE WHEN best <> turn THEN 'DUPLICATE_OF' ELSE problem END AS problem,
  CASE WHEN best <> turn THEN concat_ws(' ', note, 'DUPLICATE_OF:' || (best % {far}) || {why}) ELSE note END AS note
FROM mine LEFT JOIN winners ON mine.person = winners.person AND mine.problem IS NULL
"""
_WHY: Final = """CASE WHEN best_code = code THEN '' WHEN best // {far} < rank THEN {priority} ELSE {order} END
  || CASE WHEN best_code = code THEN '' ELSE {labels}[best_code + 1] END"""
_BODIES: Final = """
CREATE TABLE numbered AS
WITH grouped AS (
  SELECT key, min(position) AS first, arg_min(number, position) AS number, count(*) AS recipients
  FROM decided WHERE problem IS NULL GROUP BY key
), counted AS (SELECT *, (recipients + {size} - 1) // {size} AS requests FROM grouped)
SELECT key, first, number, recipients, row_number() OVER turn - 1 AS body,
  (sum(recipients) OVER turn - recipients)::BIGINT AS rows_before,
  (sum(requests) OVER turn - requests)::BIGINT AS requests_before
FROM counted WINDOW turn AS (ORDER BY first ROWS UNBOUNDED PRECEDING)
"""
_MESSAGES: Final = """
SELECT body, key, recipients, first, number, said.* EXCLUDE (key) FROM numbered JOIN said USING (key) ORDER BY body
"""
_SKIPPED: Final = """
SELECT position AS row, '+' || number AS to, region, type, problem, note{kept} FROM decided
WHERE problem IS NOT NULL ORDER BY position
"""
_OTHERS: Final = "SELECT person AS own, other FROM decided JOIN beside USING (position) WHERE problem IS NULL"
_SAID: Final = "CREATE TABLE said AS SELECT DISTINCT ON (key) * FROM read_parquet({bodies})"


def library() -> Any:
    """Return DuckDB; a UsageError where it is not installed."""
    try:
        import duckdb
    except ImportError:
        raise UsageError("planning a Folder needs DuckDB; pip install 'smsotp_nb[datasets]'") from None
    return duckdb


def planned(source: Source, target: Path, asking: Asking, *, memory: int) -> dict[str, Any]:
    """Write the plan's files within so many MB of memory; return the fields of the plan."""
    try:
        with tempfile.TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent) as name:
            work, whole = Path(name), Path(name) / "plan"
            whole.mkdir(mode=0o700)
            _stage(source, work, asking)
            with _database(work, memory) as connection:
                _decide(connection, work, asking)
                _number(connection, work, asking)
                _copy(connection, _MESSAGES, whole / MESSAGES)
                _write_planned(connection, whole, asking)
                _copy(connection, _SKIPPED.format(kept=_kept(asking)), whole / SKIPPED)
                if len(asking.asked.numbers.to) > 1:
                    _copy(connection, _OTHERS, whole / OTHERS)
                fields = _fields(connection, target, asking)
            for file in whole.iterdir():
                file.chmod(0o600)
            if target.is_dir():  # an earlier plan, which goes with the folder for work
                target.rename(work / "earlier")
            whole.rename(target)
    except OSError as error:
        raise UsageError(
            f"{target} cannot be written: {error.strerror or error}; what was there is unchanged"
        ) from None
    texts = asking.words.wording.sampled(fields["_held"].sample())
    told = (*assembly.of_values(asking.words), *asking.told, *asking.advice.told())
    return fields | {"advice": (*assembly.passcode(texts), *told)}


@contextmanager
def _database(work: Path, memory: int) -> Iterator[Any]:
    """Open a database in a folder for work, which keeps on disk what does not fit into its share of the memory."""
    connection = library().connect(str(work / "work.duckdb"))
    try:
        connection.execute(f"SET memory_limit='{memory - _LIBRARIES}MB'")
        connection.execute(f"SET temp_directory={_text(work / 'spilled')}")
        connection.execute("SET enable_progress_bar=false")
        yield connection
    finally:
        connection.close()


def _stage(source: Source, work: Path, asking: Asking) -> None:
    """Write the rows and bodies of every piece."""
    with (
        pq.ParquetWriter(work / "rows.parquet", asking.rows_schema()) as rows,
        pq.ParquetWriter(work / "bodies.parquet", BODIES) as bodies,
    ):
        for frame in source.frames(asking.asked.columns, BATCH):
            try:
                judged, said = staged(frame, asking)
            except UsageError as error:
                refuse(*error.problems, said=f"{source.piece(frame.index[0])}: ")
                raise
            rows.write_table(judged)
            bodies.write_table(said)
    refuse(*_two_kinds(asking))


def _fields(connection: Any, target: Path, asking: Asking) -> dict[str, Any]:
    asked, words = asking.asked, asking.words
    groups = _groups(connection)
    rates = assembly.rates(groups, asked.rates, today=asked.today)
    unpriced = rates["micros"].isna().to_numpy() | groups["est_parts"].isna().to_numpy()
    held = InFiles(
        target,
        _fingerprint(connection),
        _figures(connection, asked.wire.chunk_size) | {"unpriced": int(groups["many"][unpriced].sum())},
        {code: _noted(connection, code) for code in NOTED},
        _problems(connection),
        body_rows.said(words.wording),
        asked.message["keep_words"],
        _shown(connection),
    )
    return {
        "_kept": asking.kept,
        "by": words.segments.name if words.segments else None,
        "fingerprint": held.fingerprint,
        "_asked": asked,
        "_held": held,
        "source": {},
        "_columns": dict(asking.of_columns),
        "_left_out": suppression.table(asking.left_out, [asking.matched[at] for at in range(len(asking.left_out))]),
        "_estimate": assembly.by_country(groups, rates, groups["many"]),
    }


def _decide(connection: Any, work: Path, asking: Asking) -> None:
    """Decide on every row what depends on others."""
    rows = _text(work / "rows.parquet")
    connection.execute(f"CREATE TABLE beside AS SELECT position, unnest(others) AS other FROM read_parquet({rows})")
    connection.execute(_DECIDED.format(far=_FARTHEST, rows=rows, why=_why(asking), no=assembly.SAYING_NO))


def _why(asking: Asking) -> str:
    by = asking.words.segments
    if by is None:
        return "''"
    labels = "[" + ", ".join(map(_text, by.labels)) + "]"
    words = {"priority": f" {segments.BY_PRIORITY}", "order": f" {segments.BY_ORDER}"}
    said = {name: _text(word) for name, word in words.items()}
    return _WHY.format(far=_FARTHEST, labels=labels, **said)


def _number(connection: Any, work: Path, asking: Asking) -> None:
    """Number the bodies and their requests; a UsageError where two different texts have one key."""
    connection.execute(_BODIES.format(size=asking.asked.wire.chunk_size))
    bodies, words = _text(work / "bodies.parquet"), ", ".join(VARYING)
    connection.execute(_SAID.format(bodies=bodies))
    twice = connection.execute(
        f"SELECT count(*) FROM (SELECT key FROM read_parquet({bodies}) "
        f"GROUP BY key HAVING count(DISTINCT hash({words})) > 1)"
    ).fetchone()[0]
    if twice:
        raise UsageError("two different texts have the same key; change one of them by a character")


# -- files -------------------------------------------------------------------------------------------------------------


def _copy(connection: Any, sql: str, path: Path) -> None:
    connection.execute(f"COPY ({sql}) TO {_text(path)} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {BATCH})")


def _write_planned(connection: Any, into: Path, asking: Asking) -> None:
    """Write who is texted, in the order of the requests. Their numbers follow from the order alone."""
    sql = (
        "SELECT position AS row, '+' || decided.number AS to, region, type, note, body, rows_before, requests_before, "
        f"est_parts, encoding{_kept(asking)} FROM decided JOIN numbered USING (key) JOIN said USING (key) "
        "WHERE problem IS NULL ORDER BY body, position"
    )
    at, writer = 0, None
    try:
        for batch in _batches(connection, sql):
            table = _placed(batch, at, asking)
            writer = writer or pq.ParquetWriter(into / PLANNED, table.schema, compression="zstd")
            writer.write_table(table)
            at += len(table)
    finally:
        if writer is not None:
            writer.close()


def _placed(batch: pa.RecordBatch, at: int, asking: Asking) -> pa.Table:
    cells = {name: batch.column(name) for name in batch.schema.names}
    before = cells.pop("rows_before").to_numpy()
    chunk = (
        cells.pop("requests_before").to_numpy() + (at + np.arange(len(batch)) - before) // asking.asked.wire.chunk_size
    )
    rows = pd.DataFrame({"region": cells["region"].to_pandas(), "type": cells["type"].to_pandas()})
    rates = assembly.rates(rows, asking.asked.rates, today=asking.asked.today)
    parts = cells["est_parts"].to_numpy(zero_copy_only=False).astype("float64")
    ours = {
        "chunk": pa.array(chunk, pa.int64()),
        "est_cost": pa.array(contract.money(parts * rates["micros"]), pa.float64(), from_pandas=True),
        "est_currency": pa.array(rates["currency"].tolist(), pa.string(), from_pandas=True),
    }
    names = [name for name in cells if name not in asking.kept] + [*ours, *asking.kept]
    return pa.table({name: ours[name] if name in ours else cells[name] for name in names})


def _batches(connection: Any, sql: str) -> Iterator[pa.RecordBatch]:
    relation = connection.sql(sql)
    asked = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader  # before DuckDB 1.4
    yield from asked(BATCH)


def _kept(asking: Asking) -> str:
    named = ('"' + name.replace('"', '""') + '"' for name in asking.kept)
    return "".join(f", {KEPT}{at} AS {name}" for at, name in enumerate(named))


# -- facts -------------------------------------------------------------------------------------------------------------


def _fingerprint(connection: Any) -> str:
    keys: list[np.ndarray] = []  # 8 bytes a row, of which sending takes 16

    def numbers() -> Iterator[list[str]]:
        for batch in _batches(connection, "SELECT number, key FROM decided WHERE problem IS NULL ORDER BY position"):
            keys.append(batch.column(1).to_numpy().copy())
            yield from in_blocks(batch.column(0).to_numpy())

    return fingerprint(numbers(), keys)


def _figures(connection: Any, chunk_size: int) -> dict[str, int]:
    rows, planned = connection.execute("SELECT count(*), count(*) FILTER (problem IS NULL) FROM decided").fetchone()
    found = connection.execute(
        f"SELECT count(*), coalesce(sum((recipients + {chunk_size} - 1) // {chunk_size}), 0), "
        "coalesce(sum(recipients * est_parts), 0), coalesce(sum(recipients) FILTER (est_parts IS NULL), 0) "
        "FROM numbered JOIN said USING (key)"
    ).fetchone()
    names = ("rows", "planned", "bodies", "requests", "parts", "unknown")
    return dict(zip(names, map(int, (rows, planned, *found)), strict=True))


def _problems(connection: Any) -> pd.DataFrame:
    """Return how many rows each problem leaves out, and the places of the first ones."""
    counted = connection.execute(
        "SELECT problem, count(*) FROM decided WHERE problem IS NOT NULL GROUP BY problem ORDER BY 2 DESC, 1"
    ).fetchall()
    first = f"SELECT position FROM decided WHERE problem = ? ORDER BY position LIMIT {FIRST}"
    rows = [
        (problem, many, ", ".join(str(place) for (place,) in connection.execute(first, [problem]).fetchall()))
        for problem, many in counted
    ]
    frame = pd.DataFrame(rows, columns=["problem", "rows", "first_rows"])
    return frame.astype({"problem": STR, "rows": "Int64", "first_rows": STR})


def _groups(connection: Any) -> pd.DataFrame:
    """Return how many recipients there are of each region, type and number of parts."""
    found = connection.execute(
        "SELECT region, type, est_parts, count(*) FROM decided JOIN said USING (key) WHERE problem IS NULL "
        "GROUP BY ALL ORDER BY ALL"
    ).fetchall()
    return pd.DataFrame(found, columns=["region", "type", "est_parts", "many"])


def _noted(connection: Any, code: str) -> int:
    sql = "SELECT count(*) FROM decided WHERE problem IS NULL AND list_contains(string_split(note, ' '), ?)"
    return int(connection.execute(sql, [code]).fetchone()[0])


def _shown(connection: Any) -> tuple[int, ...]:
    """Return the body of each segment's first row, and the most expensive one."""
    of_segments = connection.execute(
        "SELECT arg_min(body, position) FROM decided JOIN numbered USING (key) WHERE problem IS NULL GROUP BY code"
    ).fetchall()
    dearest = connection.execute(
        "SELECT body FROM numbered JOIN said USING (key) ORDER BY est_parts DESC NULLS LAST, body LIMIT 1"
    ).fetchall()
    return tuple(dict.fromkeys(int(body) for (body,) in [*sorted(of_segments), *dearest]))


def _text(value: object) -> str:
    return "'" + str(value).replace("'", "''") + "'"
