"""Sums that are kept beside a campaign are those of its rows: whatever happened to it, and whoever was killed."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import sqlite3
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from kills.child import fork
from ledger import ledger_fuzz
from support.sending import sent
from support.tables import whole

from smsotp_nb import Ledger, Limits, People, Plan, RequestOptions, Sandbox, cost, otp, plan
from smsotp_nb._ledger.people import purging
from smsotp_nb._ledger.reading import spending as summing
from smsotp_nb._ledger.record import beginning
from smsotp_nb._ledger.rows import columns
from smsotp_nb._ledger.rows import sums as kept_sums
from smsotp_nb.errors import LedgerError, SmsOtpWarning, UsageError

pytestmark = [  # of purges
    pytest.mark.filterwarnings(f"ignore:{said}:smsotp_nb.errors.SmsOtpWarning")
    for said in ("what was deleted can still be read", ".*rows were in doubt")
]
NUMBERS = [*(f"+1202555{last:04}" for last in range(100, 124)), *(f"+190755501{last}" for last in range(10, 18))]
RATES = pd.DataFrame({"iso": ["US"], "currency": "USD", "price": ["0.0075"]})
TEXTS = ("Hello", "Hello – again " * 9, "See you on Sunday")
OWN: dict[str, Callable[[str], Any]] = {
    "segment": lambda number: int(number[-1]) % 3,
    "tags": lambda number: ["é"] if number[-1] in "0369" else None,
    "account": lambda number: number[-6:],
}
KEPT: dict[str, tuple[str, ...]] = {"autumn": ("segment", "account"), "winter": ("tags", "segment")}
MANY = [f"+1202555{last:04}" for last in range(100, 200)]
ZONES = ("UTC", "Asia/Kathmandu", "America/St_Johns")


def planned(campaign: str, people: list[str], text: str, keep: tuple[str, ...] = ()) -> Plan:
    return plan(
        pd.DataFrame({"phone": people, **{name: [OWN[name](number) for number in people] for name in keep}}),
        text,
        to="phone",
        campaign=campaign,
        keep=keep,
        rates=RATES,
        policy=None,
        requests=RequestOptions(chunk_size=3),
    )


def send(box: Sandbox, ledger: Ledger, made: Plan, **options: Any) -> None:
    with box.client() as client:
        sent(made, client, ledger, **options)


def packed(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("SELECT count(*) FROM sums").fetchone()[0])


def packed_in(ledger: Ledger) -> int:
    with ledger._store.reading() as connection:
        return int(connection.execute("SELECT count(*) FROM sums").fetchone()[0])


def shared_in(path: Path) -> list[list[str]]:
    """Return the names of the kept columns by which each campaign's sums are kept as well."""
    with closing(sqlite3.connect(path)) as connection:
        found = connection.execute("SELECT shared FROM sums ORDER BY campaign").fetchall()
    return [(json.loads(shared) or [[]])[0] for (shared,) in found]


def by_rows(ledger: Ledger, **span: object) -> pd.DataFrame:
    """Return `spending` without the sums of any campaign that still has rows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(summing, "packed_sums", lambda *_: iter(()))
        return cost.spending(ledger, **span)  # type: ignore[arg-type]


def same(one: pd.DataFrame, other: pd.DataFrame) -> None:
    """Compare every combination, in whatever order."""
    keys = ["campaign", "day", "iso", "encoding", "currency", "est_parts", "messages", "cost"]
    own = [name for name in OWN if name in one]
    one, other = (frame.sort_values(keys + own, key=comparable).reset_index(drop=True) for frame in (one, other))
    pd.testing.assert_frame_equal(one, other)


def comparable(column: pd.Series) -> pd.Series:
    return column.map(str) if column.name in OWN else column


class Story:
    """Campaigns to which things happen by chance, on a clock that moves on by hours."""

    def __init__(self, box: Sandbox, ledger: Ledger, seed: int) -> None:
        self.box, self.ledger, self.random = box, ledger, random.Random(seed)
        self.people = {name: self.random.sample(NUMBERS, 9) for name in KEPT}
        self.plans = {name: planned(name, people, TEXTS[0], KEPT[name]) for name, people in self.people.items()}
        ticks = count(self.random.randrange(1_763_000_000, 1_764_000_000), 1297)
        ledger._clock = lambda: next(ticks) * 1_000_000
        for name in self.plans:
            self.send(name)

    def send(self, name: str) -> None:
        if self.random.random() < 0.4:
            self.box.fault("drop_after", next=1)
        with self.box.client() as client:
            sent(self.plans[name], client, self.ledger, limits=Limits(stop_after=None))

    def extend(self, name: str) -> None:
        more = self.random.sample([number for number in NUMBERS if number not in self.people[name]], 3)
        self.people[name] = self.random.sample([*self.people[name], *more], len(self.people[name]) + 3)
        extended = planned(name, self.people[name], TEXTS[0], KEPT[name])
        self.ledger._revise(extended, service=self.box.service, reason="more people")
        self.plans[name] = extended

    def resolve(self, name: str) -> None:
        doubts = self.ledger.record(name).in_doubt
        self.ledger.record(name).settle(doubts.iloc[:2], accepted=self.random.random() < 0.5)

    def retry(self, name: str) -> None:
        self.ledger.record(name).retry(self.ledger.record(name).rejected.iloc[:1])

    def correct(self, name: str) -> None:
        """The rows that are planned again, or not sent yet, get other words; then nobody is added any more."""
        corrected = planned(name, self.people[name], self.random.choice(TEXTS[1:]), KEPT[name])
        self.ledger._revise(corrected, service=self.box.service, reason="typo")
        self.plans[name] = corrected

    def steps(self) -> Iterator[str]:
        happens = [self.extend, self.send, self.resolve, self.retry, self.send, self.resolve]
        for step in [*self.random.choices(happens, k=2), self.retry, self.correct, self.send]:
            step(self.random.choice(sorted(self.plans)))
            yield step.__name__


@pytest.mark.sampled(2)
@pytest.mark.both_ledgers
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_whatever_happens_to_campaigns_their_sums_are_those_of_their_rows(
    seed: int, box: Sandbox, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_sums, "_SHARED_BY", 1 + seed % 2)
    story = Story(box, ledger, seed)
    for _ in story.steps():
        zone, own = story.random.choice(ZONES), story.random.sample(sorted(OWN), story.random.randint(1, 3))
        same(cost.spending(ledger, tz=zone), by_rows(ledger, tz=zone))
        same(cost.spending(ledger, tz=zone, columns=own), by_rows(ledger, tz=zone, columns=own))
    rows = pd.concat([whole(ledger.record(name)) for name in story.plans])
    for names in (["campaign", "iso"], ["month", "encoding"], ["region", "type", "day"], []):
        pd.testing.assert_frame_equal(cost.by(ledger, names), cost.by(rows, names), check_dtype=False)
    pd.testing.assert_frame_equal(cost.compare(ledger), cost.compare(rows))
    middle = rows["at"].dropna().sort_values().iloc[len(rows) // 3]
    same(cost.spending(ledger, since=middle), by_rows(ledger, since=middle))
    same(cost.spending(ledger, until=middle.floor("15min")), by_rows(ledger, until=middle.floor("15min")))
    assert packed_in(ledger) == 2
    before = cost.by(ledger, ["campaign", "day", "iso", "currency", "encoding", "region", "type"])
    ledger.record("autumn").purge()
    pd.testing.assert_frame_equal(
        cost.by(ledger, ["campaign", "day", "iso", "currency", "encoding", "region", "type"]), before
    )


@pytest.mark.both_ledgers
def test_tables_are_read_from_the_sums_once_they_are_there(box: Sandbox, ledger: Ledger) -> None:
    """Otherwise every comparison here would be one of the rows with themselves."""
    send(box, ledger, planned("autumn", NUMBERS, "Hello"))
    before = cost.by_country(ledger)
    with ledger._store.writing() as connection:
        connection.execute("DELETE FROM recipient")
    pd.testing.assert_frame_equal(cost.by_country(ledger), before)


@pytest.mark.both_ledgers
def test_kept_columns_that_many_rows_share_are_read_from_the_sums(box: Sandbox, ledger: Ledger) -> None:
    """A column that tells people apart is in no sums: it would make them as long as the rows."""
    send(box, ledger, planned("autumn", MANY, "Hello", ("account", "segment", "tags")))
    send(box, ledger, planned("winter", MANY, "See you"))
    of = ["campaign", "segment", "tags"]
    before, rows = cost.by(ledger, of), cost.by(by_rows(ledger, columns=["segment", "tags"]), of)
    pd.testing.assert_frame_equal(before, rows)
    assert before["segment"].isna().sum() == 1
    assert cost.by(ledger, "account")["messages"].max() == len(MANY)  # those of the campaign that did not keep it
    with ledger._store.writing() as connection:
        connection.execute("DELETE FROM recipient")
    pd.testing.assert_frame_equal(cost.by(ledger, of), before)
    with ledger._store.reading() as connection:
        assert not any(MANY[0][-6:] in shared for (shared,) in connection.execute("SELECT shared FROM sums"))


def test_sums_by_kept_columns_alone_are_kept_where_those_by_time_as_well_are_too_many(
    box: Sandbox, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = kept_sums.PLACES["at"]
    monkeypatch.setattr(kept_sums, "_small", lambda table: not table[:, at].any())
    send(box, ledger, planned("autumn", MANY, "Hello", ("segment",)))
    for names in ("segment", ["segment", "iso"], ["segment", "day"]):
        rows = cost.by(whole(ledger.record("autumn")), names)
        pd.testing.assert_frame_equal(cost.by(ledger, names), rows, check_dtype=False)
    with ledger._store.writing() as connection:
        connection.execute("DELETE FROM recipient")
    assert cost.by(ledger, "segment")["messages"].sum() == len(MANY)
    assert cost.by(ledger, ["segment", "iso", "encoding"])["messages"].sum() == len(MANY)
    with pytest.raises(LedgerError):
        cost.by(ledger, "day")


@pytest.mark.both_ledgers
def test_a_purge_leaves_no_sums_by_kept_columns(box: Sandbox, ledger: Ledger) -> None:
    send(box, ledger, planned("autumn", MANY, "Hello", ("segment",)))
    ledger.record("autumn").purge()
    left = cost.by(ledger, "segment")
    assert left["messages"].tolist() == [len(MANY)]
    assert left["segment"].isna().all()
    with ledger._store.reading() as connection:
        assert [tuple(row) for row in connection.execute("SELECT shared, by_shared FROM sums")] == [("[]", b"")]


@pytest.mark.both_ledgers
def test_who_is_forgotten_leaves_nothing_in_the_sums_by_kept_columns(
    box: Sandbox, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A value that one person alone has stands in them where many share the others."""
    monkeypatch.setitem(OWN, "segment", lambda number: "the mayor" if number == MANY[7] else "a")
    send(box, ledger, planned("autumn", MANY, "Hello", ("segment",)))
    assert cost.by(ledger, "segment")["messages"].tolist() == [99, 1]
    People(ledger).forget(MANY[7])
    with ledger._store.reading() as connection:
        ((shared,),) = connection.execute("SELECT shared FROM sums")
    assert json.loads(shared) == [["segment"], ["a"], [None]]
    assert cost.by(ledger, "segment")["messages"].tolist() == [99, 1]


def test_columns_that_turn_out_to_have_many_values_are_left_out_of_the_sums(
    box: Sandbox, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sample held too few rows to tell: the sums are made again without the column that has the most values."""
    monkeypatch.setattr(kept_sums, "_MOST_SHARED", 5)
    monkeypatch.setattr(kept_sums, "shared_columns", lambda *_: ["tags", "segment", "account"])
    with box.client() as client:
        sent(planned("autumn", MANY, "Hello", ("account", "segment", "tags")), client, ledger)
        assert shared_in(ledger.path) == [["tags", "segment"]]
        monkeypatch.setattr(kept_sums, "_SHARED_BY", len(MANY))
        sent(planned("winter", MANY, "See you", ("account", "segment", "tags")), client, ledger)
    assert shared_in(ledger.path)[1] == []
    same(cost.spending(ledger, columns=["segment"]), by_rows(ledger, columns=["segment"]))


@pytest.mark.both_ledgers
@pytest.mark.parametrize("change", ["settle", "retry"])
def test_passcodes_are_counted_after_a_decision_on_none_of_them(change: str, box: Sandbox, ledger: Ledger) -> None:
    """They come at any time, without a run that would delete the sums before it."""
    with box.client() as client:
        otp.send(NUMBERS[0], client=client, ledger=ledger)
        with ledger._store.reading() as connection:
            passcodes = ledger.record(connection.execute("SELECT name FROM campaign").fetchone()[0])
        assert (passcodes.settle([], accepted=True) if change == "settle" else passcodes.retry([])) == 0
        otp.send(NUMBERS[1], client=client, ledger=ledger)
    assert cost.spending(ledger)["messages"].sum() == 2


@pytest.mark.both_ledgers
def test_a_passcode_that_comes_while_its_month_is_purged_is_counted(
    box: Sandbox, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    sums_of, sent_meanwhile = purging.sums_for_purge, []

    def with_another(*arguments: Any, **options: Any) -> kept_sums.Packed:
        found = sums_of(*arguments, **options)
        sent_meanwhile.append(threads.submit(otp.send, NUMBERS[1], client=client, ledger=ledger.path))
        wait(sent_meanwhile, timeout=0.5)
        return found

    with box.client() as client, ThreadPoolExecutor() as threads:
        otp.send(NUMBERS[0], client=client, ledger=ledger)
        with ledger._store.reading() as connection:
            passcodes = ledger.record(connection.execute("SELECT name FROM campaign").fetchone()[0])
        monkeypatch.setattr(purging, "sums_for_purge", with_another)
        passcodes.purge()
        sent_meanwhile[0].result(120)
    assert cost.spending(ledger)["messages"].sum() == 2


def levels(cells: bytes) -> bytes:
    """Return sums as they are packed, of which every level has these cells."""
    return (len(cells).to_bytes(4, "big") + cells) * 3


def test_sums_that_unpack_to_more_than_the_rows_of_their_campaign_are_refused(box: Sandbox, ledger: Ledger) -> None:
    send(box, ledger, planned("autumn", NUMBERS[:6], "Hello"))
    width = 8 * len(kept_sums._PACKED)
    for size, cut in ((7 * width, None), (6 * width, -8)):
        with ledger._store.writing() as connection:
            connection.execute("UPDATE sums SET sums=?", (levels(zlib.compress(bytes(size))[:cut]),))
        with pytest.raises(LedgerError, match="sums of a campaign cannot be read"):
            cost.spending(ledger)


def test_a_forged_ledger_unpacks_little(box: Sandbox, ledger: Ledger) -> None:
    """Its campaign says that it has any number of rows; zeros are packed a thousand times as tightly."""
    send(box, ledger, planned("autumn", NUMBERS[:6], "Hello"))
    width = 8 * len(kept_sums._PACKED)
    for size in (kept_sums._LARGEST // width * width, 1 << 26, 1 << 28):
        sums = levels(zlib.compress(bytes(size), 1))
        with ledger._store.writing() as connection:
            connection.execute("UPDATE campaign SET rows=?", (2**40,))
            connection.execute("UPDATE sums SET sums=?", (sums,))
        refused = pytest.raises(LedgerError, match="sums of a campaign cannot be read")
        before = ledger_fuzz.memory()
        with contextlib.nullcontext() if size <= kept_sums._LARGEST else refused:
            cost.spending(ledger)
        assert not ledger_fuzz.grown(before)


def test_sums_that_are_too_many_are_not_kept(box: Sandbox, ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables are read from the rows then; those of a forgotten person do not stay behind."""
    with box.client() as client:
        sent(planned("autumn", MANY, "Hello", ("segment",)), client, ledger)
        before = cost.by(ledger, "segment")
        monkeypatch.setattr(kept_sums, "_LARGEST", 8)
        People(ledger).forget(MANY[:1])
        assert packed_in(ledger) == 0
        sent(planned("winter", MANY[1:], "Good evening", ("segment",)), client, ledger)
        assert packed_in(ledger) == 0
    assert cost.by(ledger, "segment")["messages"].sum() == 2 * before["messages"].sum() - 1


def test_a_purge_keeps_sums_by_thirty_days_where_those_by_day_are_too_many(
    box: Sandbox, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(box, ledger, planned("autumn", NUMBERS[:6], "Hello"))
    monkeypatch.setattr(kept_sums, "_small", lambda sums: False)
    ledger.record("autumn").purge()
    with ledger._store.reading() as connection:
        (sums,) = connection.execute("SELECT sums FROM sums").fetchone()
    for _ in range(2):
        sums = sums[4 + int.from_bytes(sums[:4], "big") :]
    begins = int.from_bytes(zlib.decompress(sums[4:])[:8], "little")
    assert begins % (30 * 96) == 0
    assert cost.spending(ledger)["messages"].sum() == 6


@pytest.mark.parametrize(
    "wrong",
    ["shared='['", "shared='7'", "shared='[7]'", """shared='[["segment"]]'""", """shared='[["segment"],7]'""",
     """shared='[["segment"],[]]'""", "by_shared=x''", "by_shared=x'00'", "by_shared=sums"],
)  # fmt: skip
def test_sums_by_kept_columns_that_cannot_be_read_are_refused(wrong: str, box: Sandbox, ledger: Ledger) -> None:
    send(box, ledger, planned("autumn", MANY, "Hello", ("segment",)))
    with ledger._store.writing() as connection:
        connection.execute(f"UPDATE sums SET {wrong}")
    with pytest.raises(LedgerError, match="sums"):
        cost.by(ledger, "segment")
    assert cost.by_country(ledger)["messages"].tolist() == [len(MANY)]


def killed(*_: object, **__: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def after(work: Callable[..., object]) -> Callable[..., None]:
    def and_killed(*arguments: object) -> None:
        work(*arguments)
        killed()

    return and_killed


@pytest.mark.parametrize("moment", ["before the sums are written", "before they are committed"])
def test_who_is_killed_between_rows_and_sums_leaves_no_sums(moment: str, box: Sandbox, ledger: Ledger) -> None:
    """Sums of an earlier state went before the first row changed, and those of the new one were not there yet."""
    send(box, ledger, planned("autumn", NUMBERS[:6], "Hello"))
    assert packed(ledger.path) == 1
    longer = planned("autumn", NUMBERS[:12], "Hello")
    ledger._revise(longer, service=box.service, reason="more people")
    name, way = {
        "before the sums are written": ("pack_sums", killed),
        "before they are committed": ("pack_sums", after(beginning.pack_sums)),
    }[moment]

    def work() -> None:
        with pytest.MonkeyPatch.context() as patch, Ledger(ledger.path) as mine, box.client() as client:
            patch.setattr(beginning, name, way)
            sent(longer, client, mine)

    path = ledger.path
    ledger.close()
    assert fork(work).wait() is None
    assert packed(path) == 0
    with Ledger(path) as again, box.client() as client:
        assert cost.by_country(again)["messages"].tolist() == [12]
        sent(longer, client, again)
        assert packed(path) == 1
        assert cost.by_country(again)["messages"].tolist() == [12]


def test_a_decision_stands_where_its_sums_cannot_be_written(
    box: Sandbox, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise LedgerError("the disk is full")

    box.fault("drop_after", next=1)
    send(box, ledger, planned("autumn", NUMBERS[:6], "Hello"), limits=Limits(stop_after=None))
    doubts = ledger.record("autumn").in_doubt
    monkeypatch.setattr(beginning, "pack_sums", full)
    with pytest.warns(SmsOtpWarning, match="recorded as decided, but the disk is full") as warned:
        assert ledger.record("autumn").settle(doubts, accepted=True) == len(doubts) > 0
    assert warned[0].filename == __file__
    assert packed(ledger.path) == 0
    assert ledger.record("autumn").in_doubt.empty
    assert cost.by_country(ledger)["messages"].sum() == 6


def test_a_campaign_that_runs_meanwhile_is_not_half_counted(
    box: Sandbox, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of it is read as of one moment, and nobody who sends has to wait for it."""
    read = summing.packed_sums
    with box.client() as client:
        sent(planned("autumn", NUMBERS, "Hello"), client, ledger)
        before = cost.by(ledger, "campaign")

        def and_meanwhile(*arguments: Any, **named: Any) -> Any:
            yield from read(*arguments, **named)
            sent(planned("meanwhile", NUMBERS, "See you"), client, ledger)

        monkeypatch.setattr(summing, "packed_sums", and_meanwhile)
        pd.testing.assert_frame_equal(cost.by(ledger, "campaign"), before)
    monkeypatch.undo()
    assert "meanwhile" in cost.by(ledger, "campaign")["campaign"].tolist()


def test_columns_that_name_everybody_are_refused(box: Sandbox, ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    send(box, ledger, planned("autumn", NUMBERS, "Hello", ("account",)))
    monkeypatch.setattr(columns, "MOST", 2)
    with pytest.raises(UsageError, match="more than 2 different values"):
        cost.by(ledger, "account")
