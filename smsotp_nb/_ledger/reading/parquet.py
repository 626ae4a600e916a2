"""The ledger as Parquet files, a folder a month, for DuckDB, polars and every other engine.

Each file holds one campaign's rows of one month and says at its end what it was made from. A later call compares that
with the ledger, so it writes only what has changed; no list beside the files can be lost or lie.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa

from ..._outputs import write_file
from ..._own_files import private_folder
from ..._pandas import STR
from ..._results import contract
from ..._services import is_rehearsal
from ...errors import UsageError
from ..file import copies
from ..file.disk import OWN
from ..file.store import Store
from ..rows.columns import names_in
from . import frames as reading

AMOUNT: Final = pa.decimal128(18, 6)
_TYPES: Final = {"Int64": pa.int64(), "float64": AMOUNT, "datetime64[us]": pa.timestamp("us", tz="UTC")}
SCHEMA: Final = pa.schema(
    [
        ("row", pa.int64()),
        ("kind", pa.string()),
        ("rehearsal", pa.bool_()),
        *((name, _TYPES.get(str(dtype), pa.string())) for name, dtype in contract.ALL.items()),
        ("kept", pa.string()),
    ]
)
MEANINGS: Final[dict[str, str]] = {
    "month": "month of `at`, UTC, as 2026-11; of rows without a request, the month in which the campaign was recorded. "
    "It is in the path (`month=2026-11/`), not in the files",
    "row": "place of the row in the frame that was planned",
    "kind": "`campaign`, `test` for a message to oneself, or `passcode`",
    "rehearsal": "whether the service was a sandbox",
    **contract.MEANINGS,
    "kept": 'the columns of `plan(keep=...)` as a JSON object, as `{"segment": "a"}`; missing where none were kept',
}
_FOOTER: Final = b"smsotp_nb"


@dataclass(frozen=True, slots=True)
class _File:
    """A file of an earlier call: which campaign it holds, made from what, and in which months that has rows."""

    path: Path
    ledger: str
    campaign: int
    state: str
    months: Mapping[str, int]

    @property
    def month(self) -> str:
        return self.path.parent.name.removeprefix("month=")


def export(store: Store, folder: Path, *, now: int) -> pd.DataFrame:
    """Bring a folder of Parquet files up to the ledger; return what became of each file, as `Ledger.to_parquet`."""
    with store.reading() as connection:
        ledger = str(connection.execute("SELECT hex(id) FROM ledger").fetchone()[0])
        campaigns = connection.execute("SELECT id, service, name, kind, kept FROM campaign ORDER BY id").fetchall()
    _make(folder)
    before = _files(folder, ledger)
    copies.note(store, folder, "Parquet folder", now=now)
    lines = [
        line
        for number, service, name, kind, kept in campaigns
        for line in _campaign(store, folder, ledger, before.pop(number, []), (number, service, name, kind, kept))
    ]
    lines += [_removed(file, "", "") for files in before.values() for file in files]
    table = pd.DataFrame(lines, columns=["month", "service", "campaign", "rows", "file", "what"])
    return table.astype({**dict.fromkeys(("month", "service", "campaign", "file", "what"), STR), "rows": "Int64"})


def _campaign(
    store: Store, folder: Path, ledger: str, files: list[_File], campaign: tuple[int, str, str, str, str]
) -> Iterator[tuple[Any, ...]]:
    """Bring the files of one campaign up to the ledger, a line each."""
    number, service, name, kind, kept = campaign
    with store.snapshot() as connection:
        digest = hashlib.blake2b(str(SCHEMA).encode(), digest_size=16)
        for sql in _WHAT:
            for row in connection.execute(sql, (number,)):
                digest.update(repr(tuple(row)).encode())
            digest.update(b";")
        state = digest.hexdigest()
        made = bool(files) and {file.state for file in files} == {state}
        is_whole = made and {*files[0].months} == {file.month for file in files}
        rows = None if is_whole else _rows(store, number, service, name, kind, names_in(kept))
    if rows is None:
        yield from ((one.month, service, name, one.months[one.month], str(one.path), "unchanged") for one in files)
        return
    months = {month: len(part) for month, part in rows.groupby("month", sort=True)}
    said = {"ledger": ledger, "campaign": number, "state": state, "months": months}
    for month, part in rows.groupby("month", sort=True):
        path = folder / f"month={month}" / f"campaign-{number}.parquet"
        OWN.make_folder(path.parent)
        columns = [_column(part[field.name], field.type) for field in SCHEMA]
        _write(pa.Table.from_arrays(columns, schema=SCHEMA), path, said)
        yield month, service, name, len(part), str(path), "written"
    yield from (_removed(file, service, name) for file in files if file.month not in months)


def _removed(file: _File, service: str, name: str) -> tuple[Any, ...]:
    file.path.unlink(missing_ok=True)
    return file.month, service, name, file.months.get(file.month), str(file.path), "removed"


# Whatever may change of a row: its chunk, its request, what a person decided, its state, whose it is, its waiting.
_WHAT: Final = (
    "SELECT name, kind, fingerprint, rows, purged, withdrawn, kept FROM campaign WHERE id=?",
    "SELECT chunk, body, est_parts, encoding, state, attempt FROM chunk WHERE campaign=? ORDER BY chunk",
    "SELECT id, settled_at, outcome FROM attempt WHERE campaign=? ORDER BY id",
    "SELECT max(id) FROM change WHERE campaign=?",
    "SELECT own_state, problem, attempts, count(*), sum(position % 1000003), "
    "sum(CASE WHEN number < 0 THEN 1 + position % 1000003 ELSE 0 END), count(not_before), "
    "sum((not_before / 1000000 % 1000003) * (1 + position % 997)) "
    "FROM recipient WHERE campaign=? GROUP BY own_state, problem, attempts ORDER BY own_state, problem, attempts",
)


def _rows(store: Store, number: int, service: str, name: str, kind: str, names: list[str]) -> pd.DataFrame:
    frame = reading.campaign_frame(store, number, name=name, service=service, names=())
    (created,) = store.asked("SELECT created_at FROM campaign WHERE id=?", (number,))[0]
    at = frame["at"].fillna(pd.Timestamp(created, unit="us"))
    return frame.assign(
        row=frame.index,
        kind=kind,
        rehearsal=is_rehearsal(service),
        kept=_kept(store, number, names).reindex(frame.index) if names else None,
        month=at.dt.strftime("%Y-%m"),
    )


def _kept(store: Store, campaign: int, names: list[str]) -> pd.Series:
    found = store.asked("SELECT position, kept FROM recipient WHERE campaign=?", (campaign,))
    known: dict[str, str] = {}
    for _, text in found:
        if text not in known:
            known[text] = json.dumps(dict(zip(names, json.loads(text), strict=True)), ensure_ascii=False)
    values: pd.Series = pd.Series([known[text] for _, text in found], index=[place for place, _ in found], dtype=STR)
    return values


def _make(folder: Path) -> None:
    if folder.is_symlink():
        raise UsageError(f"{folder} is a link, and numbers are not put where one leads; name the folder itself")
    try:
        private_folder(folder)
        folder.mkdir(exist_ok=True)  # refuses a file in its place
    except OSError as error:
        raise UsageError(f"{folder} cannot be made: {error.strerror}; name a folder for the Parquet files") from None


def _files(folder: Path, ledger: str) -> dict[int, list[_File]]:
    found: dict[int, list[_File]] = {}
    for path in sorted(folder.glob(copies.PARQUET)):
        file = _read(path)
        if file is None or file.ledger != ledger:
            whose = "is not a file of to_parquet" if file is None else "was written from another ledger"
            raise UsageError(
                f"{path} {whose}, and every query over {folder} would read it; name a folder of its own. Nothing was "
                "written"
            )
        found.setdefault(file.campaign, []).append(file)
    return found


def _read(path: Path) -> _File | None:
    import pyarrow.parquet as pq

    try:
        said = json.loads((pq.read_metadata(path).metadata or {}).get(_FOOTER, b"null"))
    except (pa.ArrowException, OSError, ValueError):
        return None
    return None if said is None else _File(path, **said)


def _column(values: pd.Series, kind: pa.DataType) -> pa.Array:
    if kind == AMOUNT:
        return _amounts(contract.micros(values))
    found = pa.array(values.array, kind, from_pandas=True)
    return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found


def _amounts(micros: pd.Series) -> pa.Array:
    """Return integer millionths as decimals: their 128 bits are those of the integer, with its sign before them."""
    low = micros.fillna(0).to_numpy("int64")
    bits = np.column_stack([low, low >> 63])
    there = pa.array(micros.notna().to_numpy("bool")).buffers()[1]
    return pa.Array.from_buffers(AMOUNT, len(low), [there, pa.py_buffer(np.ascontiguousarray(bits))])


def _write(table: pa.Table, path: Path, said: Mapping[str, Any]) -> None:
    import pyarrow.parquet as pq

    def write(file: Any) -> None:
        pq.write_table(table.replace_schema_metadata({_FOOTER: json.dumps(said)}), file, compression="zstd")

    write_file(path, write, overwrite=True)
