"""Write a plan into the ledger, once."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pandas as pd

from ..._policy import Policy
from ..._services import name_key
from ..file import copies
from ..file.store import Store
from ..rows import runners
from ..rows.answers import MOST_KINDS, Ints
from ..rows.persons import hashed, persons, secret_of
from ..rows.statements import Statements, inserted, numbers_of
from ..rows.tables import PLANNED, SKIPPED
from ..rows.wordings import Wordings, record_words

SUPPRESSED = "SUPPRESSED"  # the problem of a row whose person is on a suppression list
LEFT_OUT = -1  # the chunk of rows that a plan leaves out
TOGETHER = 500  # rows of one INSERT: a million take 0.5 s, and 1.4 s one by one


@dataclass(frozen=True, slots=True)
class Piece:
    """Some rows of a plan: all are planned, in the order of their requests, or all are left out.

    Attributes:
        rows: the columns of `Planned._as_planned`.
        position: of each row in the list.
        keys: the key of each body of the plan, by its number.
        wordings: what the bodies of these rows say; None where they have none.
    """

    rows: pd.DataFrame = field(repr=False)
    position: Ints = field(repr=False)
    keys: Ints = field(repr=False)
    wordings: Wordings | None = field(default=None, repr=False)


class Held(Protocol):
    """What a plan holds, in memory or in files."""

    @property
    def folder(self) -> Path | None:
        """Where the files of a plan larger than memory are, which name people; only ``pieces`` is asked of it."""

    @property
    def figures(self) -> Mapping[str, int]:
        """How many ``rows`` the list has."""

    @property
    def problems(self) -> pd.DataFrame:
        """How many rows are left out, and why: ``problem`` (str), ``rows`` (Int64), ``first_rows`` (str)."""

    @property
    def body_keys(self) -> Ints:
        """The key of each body, by the number in the column ``body``."""

    @property
    def others(self) -> tuple[Ints, Ints]:
        """The people who are texted and have other numbers, an entry for each of these, and the others: as persons."""

    def pieces(self) -> Iterator[Piece]:
        """Give all rows: first those that are left out, then those to go in the order of their requests."""

    def wordings(self) -> Wordings:
        """Return what the bodies say before their placeholders are filled, and how each of them packs."""


@runtime_checkable
class Planned(Protocol):
    """What the ledger needs of a plan: one fingerprint over its rows and their bodies, and the rows, also in pieces."""

    @property
    def campaign(self) -> str: ...
    @property
    def fingerprint(self) -> str: ...
    @property
    def _kept(self) -> tuple[str, ...]: ...
    @property
    def _policy(self) -> Policy | None: ...
    @property
    def _held(self) -> Held: ...
    @property
    def _as_planned(self) -> pd.DataFrame:
        """One row for every recipient, in the order of the list, as nothing but the plan has it.

        Columns that are read: ``to, region, type, status, problem`` (str; ``status`` is planned or skipped), ``body,
        chunk, est_parts`` (Int64; missing where skipped), ``encoding, est_currency`` (str), ``est_cost`` (float64) and
        ``row`` (Int64).
        """


def record(store: Store, plan: Planned, *, service: str, kind: str, now: int) -> int:
    """Record a plan's rows in one transaction and return the campaign's number; an existing one is left as it is."""
    with store.writing() as connection:
        found = connection.execute(
            "SELECT id FROM campaign WHERE service=? AND name_key=? AND kind='campaign' AND kind=?",
            (service, name_key(plan.campaign), kind),
        ).fetchone()
        if found:  # another process recorded it between the caller's look and this transaction
            return int(found[0])
        number = inserted(connection, "campaign", {
            "service": service, "name": plan.campaign, "name_key": name_key(plan.campaign), "kind": kind,
            "fingerprint": plan.fingerprint, "created_at": now, "rows": plan._held.figures["rows"],
            "kept": json.dumps(list(plan._kept)), "author": runners.decider(connection),
        })  # fmt: skip
        runners.note_decision(connection, "recorded", rows=plan._held.figures["rows"], now=now, campaign=number)
        if plan._held.folder is not None:
            copies.note_in(connection, plan._held.folder.absolute(), "folder of the plan", now=now)
        latest = LEFT_OUT
        for piece in plan._held.pieces():
            latest = _record(connection, number, piece, plan._kept, latest)
    return number


def _record(connection: Statements, campaign: int, piece: Piece, kept: Sequence[str], latest: int) -> int:
    """Record a piece, of whose requests those up to ``latest`` are recorded; return the latest one then."""
    if not len(piece.rows):
        return latest
    chunk = piece.rows["chunk"].to_numpy("int64", na_value=LEFT_OUT)
    state = SKIPPED if piece.wordings is None else PLANNED
    new = chunk > latest
    if piece.wordings is not None and new.any():
        insert_chunks(connection, campaign, piece.rows[new], chunk[new], piece.keys, piece.wordings)
    insert_rows(connection, campaign, piece.rows, piece.position, chunk, kept, state)
    return max(latest, int(chunk.max()))


def insert_rows(
    connection: Statements,
    campaign: int,
    rows: pd.DataFrame,
    position: Ints,
    chunk: Ints,
    kept: Sequence[str],
    state: int,
) -> None:
    """Record rows of a plan, at their positions in its frame, as planned in these chunks or as skipped."""
    order = np.argsort(chunk, kind="stable")
    places = {"chunk": chunk[order].tolist(), "position": position[order].tolist()}
    names, values = _columns(connection, rows.iloc[order], places, kept, state)
    if (copy_in := getattr(connection, "copy_in", None)) is not None:  # a server's, which reads them as they come
        same = campaign, state, 0
        copy_in("recipient", ("campaign", "own_state", "attempts", *names), ((*same, *row) for row in values))
        return
    own = f"({campaign},{state},0,{','.join('?' * len(names))})"  # what is the same in all rows
    for begins in range(0, len(rows), TOGETHER):
        many = min(TOGETHER, len(rows) - begins)
        sql = (
            f"INSERT INTO recipient (campaign, own_state, attempts, {', '.join(names)}) VALUES {','.join([own] * many)}"
        )
        # No variable holds them: a traceback prints the variables of every frame.
        connection.execute(sql, [*chain.from_iterable(islice(values, many))])


def billing_number(connection: Statements, campaign: int, kind: Sequence[Any]) -> int | None:
    """Return the number of a billing (country, parts, price) in a campaign; a new one while there is room."""
    mine = (campaign, *kind)
    known = "SELECT id FROM billing WHERE campaign=? AND country=? AND parts=? AND price=?"
    highest = "SELECT coalesce(max(id), 0) FROM billing WHERE campaign=?"
    if found := connection.execute(known, mine).fetchone():
        return int(found[0])
    latest = connection.execute(highest, (campaign,)).fetchone()[0]
    if latest >= MOST_KINDS:  # a service that never bills alike
        return None
    connection.execute("INSERT INTO billing VALUES (?, ?, ?, ?, ?)", (campaign, latest + 1, *kind))
    return int(latest) + 1


def insert_chunks(
    connection: Statements,
    campaign: int,
    rows: pd.DataFrame,
    chunk: Ints,
    keys: Ints,
    wordings: Wordings,
    *,
    version: int = 1,
) -> None:
    """Record the chunks of planned rows, by the number of each row's, and what their bodies say."""
    bodies = np.unique(rows["body"].to_numpy("int64"))
    measures = record_words(connection, campaign, wordings, bodies, version=version)
    first = rows[["body", "est_parts", "encoding"]].assign(chunk=chunk).drop_duplicates("chunk").sort_values("chunk")
    connection.executemany(
        "INSERT INTO chunk (campaign, chunk, body, est_parts, encoding, measure) VALUES (?, ?, ?, ?, ?, ?)",
        [
            (campaign, number, int(keys[body]), optional_int(parts), optional_text(encoding), measures[body])
            for body, parts, encoding, number in first.astype({"body": object, "chunk": object}).itertuples(index=False)
        ],
    )


def _columns(
    connection: Statements,
    rows: pd.DataFrame,
    places: Mapping[str, list[int]],
    kept: Sequence[str],
    state: int,
) -> tuple[list[str], Iterator[tuple[Any, ...]]]:
    """Return column names and rows, as they are inserted into the table."""
    columns: dict[str, list[Any]] = {**places, "destination": destinations(connection, rows)}
    columns["list_row"] = _objects(rows["row"])
    said_no = rows["problem"].eq(SUPPRESSED).to_numpy(bool) if state == SKIPPED else np.zeros(len(rows), bool)
    if kept:
        texts, nothing = _kept_texts(rows, kept), json.dumps([None] * len(kept))
        columns["kept"] = [nothing if gone else text for text, gone in zip(texts, said_no.tolist(), strict=True)]
    if state == SKIPPED:
        columns["problem"] = _objects(rows["problem"])
    # Last, for a traceback prints the variables of every frame, and more can go wrong above.
    numbers = rows["to"].str[1:].astype("Int64")
    if said_no.any():
        people = persons(np.array(numbers[said_no], np.int64))
        numbers[said_no] = hashed(people, secret_of(connection))
    columns["number"] = _objects(numbers)
    return list(columns), zip(*columns.values(), strict=True)


def destinations(connection: Statements, rows: pd.DataFrame) -> list[int]:
    """Return the number of each row's destination, recording those that are new."""
    cost = (rows["est_cost"] * 1_000_000).round().to_numpy("float64", na_value=np.nan)
    parts = rows["est_parts"].to_numpy("float64", na_value=np.nan)
    table = rows[["region", "type", "est_currency"]].reset_index(drop=True)
    table.insert(2, "rate", np.round(cost / parts))
    group = table.groupby(list(table.columns), dropna=False, sort=False).ngroup().to_numpy()
    kinds = []
    for key in table.iloc[np.unique(group, return_index=True)[1]].itertuples(index=False):
        values: list[Any] = [None if pd.isna(value) else value for value in key]
        values[2] = None if values[2] is None else int(values[2])
        kinds.append(dict(zip(("region", "type", "rate", "currency"), values, strict=True)))
    numbers = numbers_of(connection, "destination", kinds)
    return [numbers[place] for place in group.tolist()]


def _kept_texts(rows: pd.DataFrame, kept: Sequence[str]) -> list[str]:
    columns = [_objects(rows[name]) for name in kept]
    texts = map(_json, zip(*columns, strict=True))
    # Half a surrogate, which no file of Unicode text can hold, becomes a question mark.
    return [text if text.isascii() else text.encode("utf-8", "replace").decode() for text in texts]


def _json(values: Sequence[Any]) -> str:
    try:
        return json.dumps(values, ensure_ascii=False, default=_plain)
    except (TypeError, ValueError, RecursionError):  # what JSON cannot say is recorded as its text
        return json.dumps(list(map(_said, values)), ensure_ascii=False)


def _said(value: Any) -> Any:
    try:
        return json.loads(json.dumps(value, default=_plain))
    except (TypeError, ValueError, RecursionError):
        return str(value)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _objects(column: pd.Series) -> list[Any]:
    found: list[Any] = column.to_numpy(object, na_value=None).tolist()  # type: ignore[call-overload]  # stubs: no None
    return found


def optional_int(value: Any) -> int | None:
    return None if pd.isna(value) else int(value)


def optional_text(value: Any) -> str | None:
    return None if pd.isna(value) else str(value)
