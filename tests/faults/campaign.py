"""One case of the campaign: a kind at one place, on one transport, on a new or a kept connection, by one operation."""

from __future__ import annotations

import contextlib
import socket
import ssl
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.clients import RetryPolicy

from smsotp_nb import Client, Settings
from smsotp_nb._wire import Body, SendReply
from smsotp_nb.errors import InDoubt, NotSent, ServiceError, SmsOtpError, Throttled

from . import certificates
from .kinds import TABLE, Kind
from .server import BreakingServer, Script

ANN, BEN, COR = "+12025550123", "+33199001234", "+46701740605"
QUICK: dict[str, float] = {"connect_timeout": 0.5, "read_timeout": 0.7, "deadline": 1.2}
AMPLE: dict[str, float] = {"connect_timeout": 15.0, "read_timeout": 15.0, "deadline": 15.0}
KEY = "canary-key-7f3a91"
HUGE = "long " * 1_600_000
WORKERS = 16


@dataclass(frozen=True, slots=True)
class Case:
    """One case; its name is the row of the table and where it was tried."""

    kind: Kind
    place: str
    transport: str
    connection: str
    operation: str

    @property
    def name(self) -> str:
        parts = (self.kind.name, self.place, self.transport, self.connection, self.operation)
        return ", ".join(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class CaseResult:
    """What came of a case: the outcome that the client reports, and what the service saw."""

    outcome: str
    found: Any
    sends: int
    begun: int
    seconds: float


def cases() -> list[Case]:
    """Return every case: a kind's first operation over all it is tried on, its other ones over one of them."""
    found = []
    for kinds in TABLE.values():
        for kind in kinds:
            for place in kind.places:
                first = kind.operations[0]
                found += [Case(kind, place, on, how, first) for on in kind.on for how in kind.connections]
                found += [
                    Case(kind, place, kind.on[0], kind.connections[0], operation) for operation in kind.operations[1:]
                ]
    return found


class Ground:
    """What all cases stand on: certificates, and names that resolve as a case needs."""

    def __init__(self, folder: Path) -> None:
        ours, stranger = certificates.authority(), certificates.authority()
        self.bundle = str(certificates.write(ours, folder))
        hosts = ("127.0.0.1", "localhost", "two.test")
        own = certificates.leaf(ours, folder, hosts=hosts)
        past = certificates.NOW - certificates.HOUR
        self.contexts = {
            "ours": certificates.context(own),
            "hidden": certificates.context(own),
            "stranger": certificates.context(certificates.leaf(stranger, folder, hosts=hosts)),
            "other host": certificates.context(certificates.leaf(ours, folder, hosts=("other.test",))),
            "expired": certificates.context(certificates.leaf(ours, folder, hosts=hosts, until=past)),
            "old": _old(own),
            "asks 1.2": _asking(own, self.bundle, ssl.TLSVersion.TLSv1_2),
            "asks 1.3": _asking(own, self.bundle, ssl.TLSVersion.TLSv1_3),
        }

    def context(self, case: Case) -> ssl.SSLContext | None:
        wanted = case.transport == "tls" or case.kind.certificate == "hidden"
        return self.contexts[case.kind.certificate] if wanted else None

    def settings(self, case: Case, port: int) -> Settings:
        scheme = "https" if case.transport == "tls" else "http"
        limits = QUICK if case.kind.slow else AMPLE
        bundle = self.bundle if case.transport == "tls" else None
        return Settings(base_url=f"{scheme}://{case.kind.host}:{port}", access_key_id=KEY, ca_bundle=bundle, **limits)


Call = Callable[[str, str], Any]
Caller = Callable[[Settings], contextlib.AbstractContextManager[Call]]


class ColdStart(Exception):
    """The request before the case, which makes the connection a kept one, failed: the case was not tried."""


@contextlib.contextmanager
def ours(settings: Settings) -> Iterator[Call]:
    """Give this package's client as a function of operation and text, with three attempts and no waiting."""
    patience = RetryPolicy(attempts=3, seconds=1000)
    with Client(settings, retry=patience, sleep=lambda seconds: None) as client:

        def call(operation: str, text: str) -> Any:
            if operation == "message":
                return client._deliver([ANN, BEN, COR], Body(text=text))
            return client.send_otp(ANN) if operation == "otp" else client.verify_otp(ANN, "123456")

        yield call


def run(case: Case, ground: Ground, caller: Caller = ours) -> CaseResult:
    """Run one case; on a crowded machine the request before it may need more than one try."""
    for _ in range(4):
        with contextlib.suppress(ColdStart):
            return _run(case, ground, caller)
    return _run(case, ground, caller)


def run_all(chosen: list[Case], ground: Ground, caller: Caller = ours) -> dict[str, CaseResult]:
    """Run cases side by side; most of them wait for something."""
    with ThreadPoolExecutor(WORKERS) as pool:
        ran = pool.map(lambda case: run(case, ground, caller), chosen)
        return {case.name: result for case, result in zip(chosen, ran, strict=True)}


def _run(case: Case, ground: Ground, caller: Caller) -> CaseResult:
    with _listening(case, ground) as (server, port), caller(ground.settings(case, port)) as call:
        if server and case.connection == "kept":
            if judged(lambda: call("message", "warm"))[0] != "accepted":
                raise ColdStart
            server.idle.wait(10)
        started = time.monotonic()
        outcome, found = judged(lambda: call(case.operation, HUGE if case.kind.huge else "Hello"))
        seconds = time.monotonic() - started
    sends, begun = (len(server.sends), server.begun) if server else (0, 0)
    return CaseResult(outcome, found, sends, begun, seconds)


def judged(send: Callable[[], Any]) -> tuple[str, Any]:
    """Return the outcome that the client reports, in the words of the table, and the reply or error behind it."""
    words: list[tuple[type[SmsOtpError], str]] = [
        (NotSent, "not sent"), (Throttled, "throttled"), (InDoubt, "in doubt"), (ServiceError, "refused")
    ]  # fmt: skip
    try:
        reply = send()
    except SmsOtpError as error:
        return next(word for kind, word in words if isinstance(error, kind)), error
    return ("partial" if isinstance(reply, SendReply) and reply.missing else "accepted"), reply


@contextlib.contextmanager
def _listening(case: Case, ground: Ground) -> Iterator[tuple[BreakingServer | None, int]]:
    if case.kind.listens != "yes":
        with _unanswered(full=case.kind.listens == "full") as port:
            yield None, port
        return
    acts = case.kind.places[case.place]
    script = Script(acts, stage=case.kind.stage, kept=case.connection == "kept", tls=ground.context(case))
    with BreakingServer(script) as server:
        yield server, server.port


@contextlib.contextmanager
def _unanswered(*, full: bool) -> Iterator[int]:
    """Give a port at which nobody listens, or one whose queue is full, so that nobody is ever let in."""
    with contextlib.ExitStack() as stack:
        bound = stack.enter_context(socket.socket())
        bound.bind(("127.0.0.1", 0))
        if full:
            bound.listen(0)
            for _ in range(4):
                waiting = stack.enter_context(socket.socket())
                waiting.setblocking(False)
                waiting.connect_ex(bound.getsockname())
        yield bound.getsockname()[1]


def resolver(real: Callable[..., Any]) -> Callable[..., Any]:
    """Return a ``getaddrinfo`` that knows the names of the table."""

    def resolve(host: Any, port: Any, *args: Any, **options: Any) -> Any:
        if host == "nowhere.test":
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        if host == "later.test":
            raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
        if host == "odd.test":
            raise UnicodeError("label too long")
        if host == "two.test":
            return real("::1", port, *args, **options) + real("127.0.0.1", port, *args, **options)
        return real(host, port, *args, **options)

    return resolve


def _old(path: Path) -> ssl.SSLContext:
    made = certificates.context(path)
    made.set_ciphers("ALL:@SECLEVEL=0")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        made.minimum_version = made.maximum_version = ssl.TLSVersion.TLSv1_1
    return made


def _asking(path: Path, bundle: str, version: ssl.TLSVersion) -> ssl.SSLContext:
    made = certificates.context(path)
    made.minimum_version = made.maximum_version = version
    made.verify_mode = ssl.CERT_REQUIRED
    made.load_verify_locations(bundle)
    return made
