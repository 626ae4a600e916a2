"""What is decided over all rows, by DuckDB: who is left out, which row of a person goes, and which request it is in.

Equal to what `assembly` does in memory: a property of the tests, because SQL cannot share its code.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from .._pandas import STR
from .._phones.judging.several import one_phone_digits
from .._results import contract
from ..errors import UsageError
from . import engine, estimating, segments
from .staging import BODIES, KEPT, VARYING, Asking

BATCH: Final = 100_000  # rows
NOBODY: Final = np.zeros(0, np.intp)
_FARTHEST: Final = 10**12  # beyond every place, so that rank and place are one number
_DECIDED: Final = """
CREATE TABLE decided AS
WITH mine AS (
  SELECT * EXCLUDE (problem, note, lacking, lacking_note), rank * {far} + position AS turn,
    CASE WHEN problem IS NOT NULL THEN problem {left_out} ELSE lacking END AS problem,
    CASE WHEN problem IS NOT NULL {left_out_note} THEN note ELSE coalesce(lacking_note, note) END AS note
  FROM read_parquet({rows})
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
_SAID: Final = "CREATE TABLE said AS SELECT DISTINCT ON (key) * FROM read_parquet({bodies})"


@dataclass(frozen=True, slots=True)
class Found:
    """What the rows of a plan come to; see `DatasetPlan`."""

    fingerprint: str
    figures: Mapping[str, int]
    problems: pd.DataFrame
    groups: pd.DataFrame
    notes: Mapping[str, int]
    shown: tuple[int, ...]


def decided(
    connection: Any, work: Path, into: Path, asking: Asking, left_out: Mapping[str, pd.Series], codes: tuple[str, ...]
) -> Found:
    """Decide over the rows staged in ``work`` and write the plan's files into a folder."""
    _decide(connection, work, asking, left_out)
    connection.execute(_BODIES.format(size=asking.asked.chunk_size))
    connection.execute(_SAID.format(bodies=engine.text(work / "bodies.parquet")))
    _refuse_collisions(connection, work)
    _write_bodies(connection, into)
    _write_planned(connection, into, asking)
    _write_skipped(connection, into, asking)
    return Found(
        _fingerprint(connection, work),
        _figures(connection, asking.asked.chunk_size),
        _problems(connection),
        _groups(connection),
        {code: _noted(connection, code) for code in codes},
        _shown(connection),
    )


def _decide(connection: Any, work: Path, asking: Asking, left_out: Mapping[str, pd.Series]) -> None:
    for problem, numbers in left_out.items():
        people = np.unique(one_phone_digits(np.array(numbers.str[1:].astype("int64"), np.int64)))
        connection.register("people", pa.table({"person": people}))
        connection.execute(f"CREATE TABLE {problem} AS SELECT person FROM people")
        connection.unregister("people")
    among = {problem: f"person IN (SELECT person FROM {problem})" for problem in left_out}
    sql = _DECIDED.format(
        far=_FARTHEST,
        rows=engine.text(work / "rows.parquet"),
        left_out="".join(f" WHEN {where} THEN '{problem}'" for problem, where in among.items()),
        left_out_note="".join(f" OR {where}" for where in among.values()),
        why=_why(asking),
    )
    connection.execute(sql)


def _why(asking: Asking) -> str:
    by = asking.asked.words.segments
    if by is None:
        return "''"
    labels = "[" + ", ".join(map(engine.text, by.labels)) + "]"
    words = {"priority": f" {segments.BY_PRIORITY}", "order": f" {segments.BY_ORDER}"}
    said = {name: engine.text(word) for name, word in words.items()}
    return _WHY.format(far=_FARTHEST, labels=labels, **said)


def _refuse_collisions(connection: Any, work: Path) -> None:
    words = ", ".join(VARYING)
    twice = connection.execute(
        f"SELECT count(*) FROM (SELECT key FROM read_parquet({engine.text(work / 'bodies.parquet')}) "
        f"GROUP BY key HAVING count(DISTINCT hash({words})) > 1)"
    ).fetchone()[0]
    if twice:
        raise UsageError("two different texts have the same key; change one of them by a character")


# -- files -------------------------------------------------------------------------------------------------------------


def _write_bodies(connection: Any, into: Path) -> None:
    said = ", ".join(name for name in BODIES.names if name != "key")
    sql = f"SELECT body, key, recipients, first, number, {said} FROM numbered JOIN said USING (key) ORDER BY body"
    _copied(connection, sql, into / "bodies.parquet")


def _write_skipped(connection: Any, into: Path, asking: Asking) -> None:
    sql = (
        f"SELECT position AS row, '+' || number AS to, region, type, problem, note{_kept(asking)} FROM decided "
        "WHERE problem IS NOT NULL ORDER BY position"
    )
    _copied(connection, sql, into / "skipped.parquet")


def _copied(connection: Any, sql: str, path: Path) -> None:
    connection.execute(
        f"COPY ({sql}) TO {engine.text(path)} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {BATCH})"
    )


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
            writer = writer or pq.ParquetWriter(into / "planned.parquet", table.schema, compression="zstd")
            writer.write_table(table)
            at += len(table)
    finally:
        if writer is not None:
            writer.close()


def _placed(batch: pa.RecordBatch, at: int, asking: Asking) -> pa.Table:
    cells = {name: batch.column(name) for name in batch.schema.names}
    before = cells.pop("rows_before").to_numpy()
    chunk = cells.pop("requests_before").to_numpy() + (at + np.arange(len(batch)) - before) // asking.asked.chunk_size
    rows = pd.DataFrame({"region": cells["region"].to_pandas(), "type": cells["type"].to_pandas()})
    rates = estimating.rates(rows, asking.asked.rates, today=asking.asked.today)
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
    return "".join(f", {KEPT}{at} AS {engine.named(name)}" for at, name in enumerate(asking.kept))


# -- facts -------------------------------------------------------------------------------------------------------------


def _fingerprint(connection: Any, work: Path) -> str:
    """Return `assembly.fingerprint` of the rows: all numbers, then all keys."""
    digest, between = hashlib.sha256(), b""
    with (work / "keys").open("w+b") as keys:
        for batch in _batches(connection, "SELECT number, key FROM decided WHERE problem IS NULL ORDER BY position"):
            if len(batch):
                digest.update(between + "\n".join(numbers_as_text(batch.column(0))).encode())
                between = b"\n"
            keys.write(batch.column(1).to_numpy().astype(">i8").tobytes())
        digest.update(b"\n")
        keys.seek(0)
        while block := keys.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def numbers_as_text(numbers: pa.Array) -> list[str]:
    """Return numbers in E.164.

    Example:
        >>> numbers_as_text(pa.array([12025550123]))
        ['+12025550123']
    """
    found: list[str] = pc.binary_join_element_wise("+", numbers.cast(pa.string()), "").to_pylist()
    return found


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
    first = "SELECT position FROM decided WHERE problem = ? ORDER BY position LIMIT 3"
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
    """Return the body of each segment's first row, and the dearest one."""
    of_segments = connection.execute(
        "SELECT arg_min(body, position) FROM decided JOIN numbered USING (key) WHERE problem IS NULL GROUP BY code"
    ).fetchall()
    dearest = connection.execute(
        "SELECT body FROM numbered JOIN said USING (key) ORDER BY est_parts DESC NULLS LAST, body LIMIT 1"
    ).fetchall()
    return tuple(dict.fromkeys(int(body) for (body,) in [*sorted(of_segments), *dearest]))
