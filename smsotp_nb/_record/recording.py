"""A plan is written into the record, once: its campaign, its messages and the people to be texted."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Final, Protocol, runtime_checkable

import numpy as np
import pandas as pd

from .._policy import Policy
from .._services import is_rehearsal, name_key
from ..errors import LedgerError
from .store import Ints, Staged, Store, Transaction, note_event
from .tables import CAMPAIGN, LIVE, PLANNED

_ESTIMATED: Final = ("region", "type", "encoding", "est_parts", "est_micros", "est_currency")
_WORDS: Final = ("segment", "template", "text", "variables")  # what makes a message the same one


class Messages(Protocol):
    """What the bodies of a plan say before their placeholders are filled.

    Attributes:
        said: a row a message: ``segment, template, text, variables`` (str).
        measures: a row a body, by its number, whose column ``wording`` is the row of ``said``.
        keep: whether the words may be kept; otherwise only a hash of them.
    """

    said: pd.DataFrame
    measures: pd.DataFrame
    keep: bool


class PlanInputs(Protocol):
    """What a plan holds."""

    @property
    def body_keys(self) -> Ints:
        """The key of each body, by the number in the column ``body``."""

    @property
    def others(self) -> tuple[Ints, Ints]:
        """The people who are texted and have other numbers, an entry for each of these, and the others."""

    def wordings(self) -> Messages: ...


@runtime_checkable
class Planned(Protocol):
    """What the record needs of a plan."""

    @property
    def campaign(self) -> str: ...
    @property
    def fingerprint(self) -> str: ...
    @property
    def _kept(self) -> tuple[str, ...]: ...
    @property
    def _policy(self) -> Policy | None: ...
    @property
    def _held(self) -> PlanInputs: ...
    @property
    def _as_planned(self) -> pd.DataFrame:
        """One row for every row of the list, as nothing but the plan has it.

        Columns that are read: ``to, region, type, status, problem`` (str; ``status`` is planned or skipped), ``body,
        chunk, est_parts`` (Int64; missing where skipped), ``encoding, est_currency`` (str), ``est_cost`` (float64), the
        kept ones and, where there is one, ``row`` (Int64: its number in the list).
        """


def realm_of(service: str) -> str:
    """Return whose campaigns are told apart by their names: all live accounts together, or one sandbox."""
    return service if is_rehearsal(service) else LIVE


def find(tx: Transaction, realm: str, name: str) -> int | None:
    """Return the number of the campaign of this name."""
    rows = tx.rows(
        f"SELECT id FROM campaign WHERE realm=? AND name_key=? AND kind='{CAMPAIGN}'", (realm, name_key(name))
    )
    return int(rows[0][0]) if rows else None


@dataclass(frozen=True, slots=True)
class PlannedPeople:
    """The rows of a plan that are to be sent, with the keys of the record."""

    rows: pd.DataFrame = field(repr=False)
    place: Ints = field(repr=False)  # of each in the plan's rows
    person: Ints = field(repr=False)
    body: Ints = field(repr=False)

    @classmethod
    def of(cls, store: Store, plan: Planned) -> PlannedPeople:
        every = plan._as_planned
        place = np.flatnonzero(every["status"].eq("planned").to_numpy())
        rows = every.iloc[place]
        numbers = digits(rows["to"])
        keys = np.asarray(plan._held.body_keys, np.int64)
        bodies = store.bodies(keys)
        return cls(rows, place, store.persons(numbers), bodies[rows["body"].to_numpy("int64")])

    def take(self, places: Ints) -> PlannedPeople:
        """Return some of these people, by their places among them."""
        return PlannedPeople(self.rows.iloc[places], self.place[places], self.person[places], self.body[places])


def digits(to: pd.Series) -> Ints:
    """Return E.164 numbers as integers, without their plus."""
    return np.array(to.str[1:].astype("int64"), np.int64)


def record(store: Store, plan: Planned, *, service: str, kind: str, now: int) -> int:
    """Record a plan in one transaction and return the campaign's number; a recorded one is left as it is."""
    people = PlannedPeople.of(store, plan)
    _refuse_twice(plan, people)
    words = MessageNumbers(store, plan)
    numbers = words.numbers_of(people.rows, words.new_numbers())
    columns = recipient_columns(plan, people, people.rows["chunk"].to_numpy("int64"), numbers)
    staged = Staged(tuple(columns), zip(*columns.values(), strict=True))
    realm = realm_of(service)
    with store.writing(staged=staged) as tx:
        known = find(tx, realm, plan.campaign) if kind == CAMPAIGN else None
        if known is not None:  # another process recorded it between the caller's look and this transaction
            return known
        campaign = insert_campaign(
            tx,
            realm=realm,
            name=plan.campaign,
            kind=kind,
            service=service,
            fingerprint=plan.fingerprint,
            now=now,
            kept=plan._kept,
            skipped=skipped_of(plan),
        )
        note_event(tx, "recorded", now=now, rows=len(people.rows), campaign=campaign)
        words.insert(tx, campaign, words.new_numbers(), version=1, now=now, reason=None)
        tx.insert_staged(campaign)
    return campaign


def insert_campaign(
    tx: Transaction,
    *,
    realm: str,
    name: str,
    kind: str,
    service: str,
    now: int,
    fingerprint: str = "",
    kept: Sequence[str] = (),
    skipped: Mapping[str, int] | None = None,
) -> int:
    """Insert a campaign and return its number."""
    rows = tx.rows(
        "INSERT INTO campaign (realm, name, name_key, kind, service, fingerprint, created_at, kept, skipped) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
        (realm, name, name_key(name), kind, service, fingerprint, now, json.dumps(list(kept)),
         json.dumps(dict(skipped or {}))),
    )  # fmt: skip
    return int(rows[0][0])


def skipped_of(plan: Planned, recorded: np.ndarray | None = None) -> dict[str, int]:
    """Return how many rows a plan leaves out, by problem; ``recorded`` marks rows whose person is recorded."""
    rows = plan._as_planned
    left_out = rows["status"].ne("planned").to_numpy()
    if recorded is not None:
        left_out = left_out & ~recorded
    counts = rows.loc[left_out, "problem"].fillna("").value_counts()
    return {str(problem): int(number) for problem, number in counts.items()}


def recipient_columns(
    plan: Planned, people: PlannedPeople, chunk: Ints, message: Ints
) -> dict[str, Sequence[Any]]:
    """Return the columns of the table ``recipient`` for people of a plan, in the order of their chunks."""
    order = np.argsort(chunk, kind="stable")
    rows = people.rows.iloc[order]
    columns: dict[str, Sequence[Any]] = {
        "chunk": chunk[order].tolist(),
        "person": people.person[order].tolist(),
        "position": people.place[order].tolist(),
        "body": people.body[order].tolist(),
        "message": message[order].tolist(),
        **estimates(rows),
        "state": [PLANNED] * len(rows),
        "attempts": [0] * len(rows),
    }
    if "row" in rows.columns and "row" not in plan._kept:
        columns["list_row"] = _objects(rows["row"])
    if plan._kept:
        columns["kept"] = _kept_texts(rows, plan._kept)
    columns["number"] = digits(rows["to"]).tolist()
    return columns


def estimates(rows: pd.DataFrame) -> dict[str, list[Any]]:
    """Return what a plan says of the number and the price of each row."""
    micros = (rows["est_cost"] * 1_000_000).round().astype("Int64")
    frame = rows[["region", "type", "encoding", "est_parts", "est_currency"]].assign(est_micros=micros.array)
    return {name: _objects(frame[name]) for name in _ESTIMATED}


class MessageNumbers:
    """The messages of a plan, and the numbers that they have in a campaign."""

    def __init__(self, store: Store, plan: Planned) -> None:
        messages = plan._held.wordings()
        self._said, self._keep = messages.said, messages.keep
        of_body: pd.Series = messages.measures["wording"]
        self._of_body = of_body.astype("int64")
        spelled = [json.dumps([_plain(said[name]) for name in _WORDS]) for _, said in self._said.iterrows()]
        self.keys = [_text_key(store, text) for text in spelled]

    def new_numbers(self) -> list[int]:
        """Return the numbers of the messages in a campaign that has none yet: from 1, in their order."""
        return list(range(1, len(self.keys) + 1))

    def numbers_of(self, rows: pd.DataFrame, numbers: Sequence[int]) -> Ints:
        """Return the message of each of these rows, where the plan's messages have these numbers."""
        wording = self._of_body.loc[rows["body"].to_numpy("int64")].to_numpy("int64")
        found: Ints = np.array(numbers, np.int64)[wording] if len(rows) else np.zeros(0, np.int64)
        return found

    def recorded_numbers(self, tx: Transaction, campaign: int) -> tuple[list[int], int]:
        """Return the number of each message in a recorded campaign, new ones after the last, and the latest version."""
        rows = tx.rows("SELECT key, number, version FROM message WHERE campaign=? ORDER BY number", (campaign,))
        known = {key: number for key, number, _ in rows}
        last = max([number for _, number, _ in rows], default=0)
        numbers = []
        for key in self.keys:
            if key not in known:
                last += 1
                known[key] = last
            numbers.append(known[key])
        return numbers, max([version for *_, version in rows], default=1)

    def insert(
        self, tx: Transaction, campaign: int, numbers: Sequence[int], *, version: int, now: int, reason: str | None
    ) -> None:
        """Record the messages; one that the campaign has keeps the version in which it came."""
        rows = []
        for (_, said), key, number in zip(self._said.iterrows(), self.keys, numbers, strict=True):
            text = _plain(said["text"]) if self._keep else None
            rows.append((campaign, number, version, key, _plain(said["segment"]), text, now, reason))
        tx.many(
            "INSERT INTO message (campaign, number, version, key, segment, text, since, reason) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            rows,
        )


def _text_key(store: Store, text: str) -> int:
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int(store.bodies(np.array([int.from_bytes(digest, "big", signed=True)], np.int64))[0])


def _refuse_twice(plan: Planned, people: PlannedPeople) -> None:
    """Refuse a plan in which two rows ring one phone; the database would refuse it, too, without the rows."""
    repeated = pd.Series(people.person).duplicated().to_numpy()
    if repeated.any():
        rows = ", ".join(map(repr, people.rows.index[repeated][:3].tolist()))
        raise LedgerError(
            f"the plan of campaign {plan.campaign!r} texts people twice (rows {rows}). Nothing was recorded. Next: plan "
            "the list again, and report this"
        )


def _kept_texts(rows: pd.DataFrame, kept: Sequence[str]) -> list[str]:
    columns = [_objects(rows[name]) for name in kept]
    # Half a surrogate, which no file of Unicode text can hold, becomes a question mark.
    return [text if text.isascii() else text.encode("utf-8", "replace").decode() for text in _json_lists(columns)]


def _json_lists(columns: Sequence[Sequence[Any]]) -> Iterator[str]:
    for values in zip(*columns, strict=True):
        try:
            yield json.dumps(values, ensure_ascii=False, default=_as_json)
        except (TypeError, ValueError, RecursionError):  # what JSON cannot hold is recorded as its text
            yield json.dumps([value if _is_json(value) else str(value) for value in values], ensure_ascii=False)


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value, default=_as_json)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _as_json(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _objects(column: pd.Series) -> list[Any]:
    values: list[Any] = column.to_numpy(object, na_value=None).tolist()  # type: ignore[call-overload]  # stubs: no None
    return values


def _plain(value: Any) -> str | None:
    return None if pd.isna(value) else str(value)
