"""Stories of a campaign: no interleaving of sends, faults, deaths, interrupts and decisions breaks the promise.

The service of the tests keeps the truth: every post and its fate. A row may be posted again only when its previous post
certainly was not accepted, or a person said so in between; and what the ledger says of a row must fit the truth.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from smsotp_nb import Client, Ledger, Limits, Plan, send
from smsotp_nb._client import RetryPolicy
from smsotp_nb._dispatch.pacing import Pacer
from smsotp_nb._ledger.file.store import Store
from smsotp_nb._ledger.server.store import ServerStore
from smsotp_nb.errors import PlanChanged, SmsOtpWarning
from smsotp_nb.results import Progress

if TYPE_CHECKING:
    from support.servers import Server

from .people import numbers, plan_of, registered
from .service import ACCEPTED, REFUSALS, Service

# Where there is one, a disk in memory: these stories are not about the disk, and wait for it thousands of times.
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
ROWS, CHUNK = 12, 3
FATES = (*sorted(ACCEPTED), *sorted(REFUSALS), "lost", "throttle")
# Posts after which the row is planned again by itself, and those after which it waits for a person.
AGAIN = frozenset({"funds", "throttle", "halved"})
REJECTED = frozenset({"refuse", "account"})


class Died(BaseException):
    """The process is dead: from here on nothing is written and nothing is posted."""


class Fuse:
    """Lets a process die at a moment: before or after one of its transactions or requests."""

    def __init__(self, moments: int) -> None:
        self._left, self._guard = moments, threading.Lock()

    def burn(self) -> None:
        with self._guard:
            self._left -= 1
            if self._left < 0:
                raise Died

    @contextlib.contextmanager
    def lit(self) -> Iterator[None]:
        deliver = Client._deliver

        def delivered(client: Client, *args: Any, **options: Any) -> Any:
            self.burn()
            reply = deliver(client, *args, **options)
            self.burn()
            return reply

        with contextlib.ExitStack() as stack:
            for store in (Store, ServerStore):
                stack.enter_context(mock.patch.object(store, "writing", self._burning(store.writing)))
            stack.enter_context(mock.patch.object(Client, "_deliver", delivered))
            yield

    def _burning(self, writing: Callable[..., Any]) -> Callable[..., Any]:
        @contextlib.contextmanager
        def written(store: Store, *args: Any, **options: Any) -> Iterator[Any]:
            self.burn()
            with writing(store, *args, **options) as connection:
                yield connection
            self.burn()

        return written


# What broke the promise, in words. Threads make a story differ when it is told again, and hypothesis then calls it
# flaky instead of false; what is written here happened.
BROKEN: list[str] = []


def _hold(true: bool, otherwise: str) -> None:
    if not true:
        BROKEN.append(otherwise)
        raise AssertionError(otherwise)


class Story(RuleBasedStateMachine):
    """One campaign of twelve people in chunks of three, its service, and what a person said of each row."""

    plan: Plan = plan_of(ROWS, chunk_size=CHUNK)
    other_plan: Plan = plan_of(ROWS + 1, chunk_size=CHUNK)

    @initialize()
    def begin(self) -> None:
        self.service = Service()
        self.folder = tempfile.TemporaryDirectory(dir=MEMORY)
        self.place = self._place()
        # For each number, in order: the fates of its posts, and "yes", "no" or "retry" where a person spoke.
        self.told: dict[str, list[str]] = {number: [] for number in numbers(ROWS)}
        self.heard = 0
        registered(self._ledger()).close()

    def teardown(self) -> None:
        if hasattr(self, "service"):
            self.service.close()
            self.folder.cleanup()

    # -- what may happen -----------------------------------------------------------------------------------------------

    @rule(fates=st.lists(st.sampled_from(FATES), max_size=5), threads=st.integers(1, 3))
    def send(self, fates: list[str], threads: int) -> None:
        self._send(fates, threads)

    @rule(
        fates=st.lists(st.sampled_from(FATES), max_size=3), threads=st.integers(1, 3), moments=st.integers(0, 25),
        isolate=st.booleans(),
    )  # fmt: skip
    def send_and_die(self, fates: list[str], threads: int, moments: int, isolate: bool) -> None:
        with contextlib.suppress(Died), Fuse(moments).lit():
            self._send(fates, threads, isolate_invalid=isolate)
        self._listen(isolate)

    @rule(fates=st.lists(st.sampled_from(["refuse", "accept"]), max_size=8), threads=st.integers(1, 3))
    def send_in_halves(self, fates: list[str], threads: int) -> None:
        self._send(fates, threads, isolate_invalid=True)

    @rule(canary=st.integers(1, ROWS))
    def send_a_canary(self, canary: int) -> None:
        self._send([], 1, first=canary)

    @rule(threads=st.integers(1, 3), done=st.integers(0, ROWS))
    def send_and_stop(self, threads: int, done: int) -> None:
        def stop(told: Progress) -> None:
            if told.done >= done:
                raise KeyboardInterrupt

        with contextlib.suppress(KeyboardInterrupt):
            self._send([], threads, progress=stop)
        self._listen()

    @rule()
    def send_while_the_service_is_down(self) -> None:
        with Service() as gone:
            url = gone.url
        self._send([], 1, client=self.service.client(base_url=url))

    @rule()
    def send_another_plan(self) -> None:
        if self._recorded():
            with pytest.raises(PlanChanged):
                self._send([], 1, plan=self.other_plan)

    @rule(chosen=st.integers(0, 2**ROWS - 1), accepted=st.booleans())
    @precondition(lambda self: self._recorded())
    def resolve(self, chosen: int, accepted: bool) -> None:
        with self._ledger() as ledger:
            campaign = ledger.record("autumn")
            rows = [to for to in campaign.in_doubt["to"] if chosen >> numbers(ROWS).index(to) & 1]
            assert campaign.settle(rows, accepted=accepted) == len(rows)
        for number in rows:
            self.told[number].append("yes" if accepted else "no")

    @rule(chosen=st.integers(0, 2**ROWS - 1))
    @precondition(lambda self: self._recorded())
    def retry(self, chosen: int) -> None:
        with self._ledger() as ledger:
            campaign = ledger.record("autumn")
            rows = [to for to in campaign.rejected["to"] if chosen >> numbers(ROWS).index(to) & 1]
            assert campaign.retry(rows) == len(rows)
        for number in rows:
            self.told[number].append("retry")

    # -- what must hold ------------------------------------------------------------------------------------------------

    @invariant()
    def nobody_is_posted_again_without_a_reason(self) -> None:
        for number, story in getattr(self, "told", {}).items():
            for before, after in itertools.pairwise(story):
                if after in (*FATES, "halved"):
                    _hold(before in AGAIN | {"no", "retry"}, f"{number} was posted after {before}: {story}")

    @invariant()
    def the_ledger_fits_the_truth(self) -> None:
        if not self._recorded():
            return
        with self._ledger() as ledger:
            frame = ledger.record("autumn").results
        assert len(frame) == ROWS
        for number, state in zip(frame["to"], frame["status"], strict=True):
            story = self.told[number]
            last = story[-1] if story else ""
            fits = {
                "accepted": last in ACCEPTED | {"yes"},
                "rejected": last in REJECTED,
                "planned": not story or last in AGAIN | {"no", "retry"},
                "in_doubt": True,
                "sending": True,
            }
            _hold(fits[state], f"{number} is {state} after {story}")

    # -- how -----------------------------------------------------------------------------------------------------------

    def _send(
        self, fates: list[str], threads: int, *, plan: Plan | None = None, client: Client | None = None,
        progress: Any = False, isolate_invalid: bool = False, first: int | None = None,
    ) -> None:  # fmt: skip
        self.service.script(fates)
        with contextlib.ExitStack() as stack:
            stack.enter_context(
                mock.patch("smsotp_nb._dispatch.requests.PATIENCE", RetryPolicy(attempts=2, first_wait=0.001))
            )
            stack.enter_context(mock.patch.object(Pacer, "throttled"))  # waiting has tests of its own
            stack.enter_context(warnings.catch_warnings())
            ledger = stack.enter_context(self._ledger())
            speaking = stack.enter_context(client or self.service.client())
            warnings.simplefilter("ignore", SmsOtpWarning)
            send(
                (plan or self.plan).with_requests(threads=threads, isolate_invalid=isolate_invalid),
                progress=progress,
                limits=Limits(first=first),
                client=speaking,
                ledger=ledger,
            )
            assert ledger.record("autumn").counts["sending"] == 0
        self._listen(isolate_invalid)

    def _listen(self, isolated: bool = False) -> None:
        """Take the posts since the last look into each number's story."""
        posts = self.service.posts[self.heard :]
        self.heard += len(posts)
        for post in posts:
            # Asked to find the refused numbers, a list is posted again in halves: by assumption nothing of it was sent.
            halved = isolated and post.fate == "refuse" and len(post.to) > 1
            for number in post.to:
                self.told[number].append("halved" if halved else post.fate)

    def _ledger(self) -> Ledger:
        return Ledger(self.place, create=True)

    def _place(self) -> str | Path:
        """Return where the ledger of a new story is."""
        return Path(self.folder.name) / "ledger.sqlite"

    def _recorded(self) -> bool:
        if not hasattr(self, "place"):
            return False
        with self._ledger() as ledger:
            return not ledger.campaigns().empty


def on_a_server(server: Server) -> type[Story]:
    """Return stories whose ledgers are databases of a server."""

    class ServerStory(Story):
        def _place(self) -> str:
            return server.database()

        def teardown(self) -> None:
            super().teardown()
            if hasattr(self, "place"):
                server.drop(str(self.place))

    return ServerStory
