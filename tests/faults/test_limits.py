"""The limits around one request, each shown by what happens without it."""

from __future__ import annotations

import gc
import os
import signal
import socket
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from typing import Any

import httptools
import pytest
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from smsotp_nb import Client, Settings
from smsotp_nb import _wire as wire
from smsotp_nb._client import RetryPolicy, transport
from smsotp_nb._wire import Body
from smsotp_nb.errors import InDoubt, NotSent, SmsOtpError, UsageError
from smsotp_nb.settings import Secret

from . import reply_fuzz
from .acts import (
    after_reading,
    answer,
    bomb,
    chunked,
    cut,
    dripping,
    early,
    encoded,
    endless,
    in_chunks,
    proceed,
    status,
)  # fmt: skip
from .campaign import ANN, KEY, Ground
from .server import BreakingServer, Peer, Script, golden, http, serve


class Clock:
    """A monotonic clock that can be put forward."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def __call__(self) -> float:
        return time.monotonic() + self.ahead


class StoppedClock:
    """A clock that is stopped: on a slow machine no connection is idle for longer than the guard allows."""

    def __call__(self) -> float:
        return 0.0


def client(port: int, **options: Any) -> Client:
    settings = {name: options.pop(name) for name in list(options) if name in Settings.__dataclass_fields__}
    made = Settings(base_url=f"http://127.0.0.1:{port}", access_key_id=KEY, **settings)
    return Client(made, **{"sleep": lambda seconds: None, **options})


def send(one: Client) -> str:
    """Send one message; return the outcome in a word."""
    try:
        reply = one._deliver([ANN], Body(text="Hello"))
    except SmsOtpError as error:
        return type(error).__name__
    return "missing" if reply.missing else "accepted"


# -- time and size -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["within a header", "head", "body but 1"])
def test_a_reply_that_drips_ends_at_the_deadline(place: str) -> None:
    """Each byte comes within the read timeout, so only the deadline of the whole request ends it."""
    act = dripping(place, b"a")
    with BreakingServer(Script((act,))) as server, client(server.port, read_timeout=5, deadline=0.5) as one:
        started = time.monotonic()
        assert send(one) == "InDoubt"
        assert 0.5 <= time.monotonic() - started < 4
        assert len(server.sends) == 1


def test_the_deadline_is_for_one_attempt_by_the_client_s_clock() -> None:
    """A clock that runs away while the answer is awaited ends the wait."""
    clock = Clock()

    def runs_away(peer: Peer) -> None:
        peer.read()
        clock.ahead += 3600
        peer.send(b"H")
        peer.silence()

    with BreakingServer(Script((runs_away,))) as server, client(server.port, clock=clock) as one:
        started = time.monotonic()
        assert send(one) == "InDoubt"
        assert time.monotonic() - started < 5


@pytest.mark.parametrize(
    "act",
    [
        endless(http(b"", length=10**12), b" " * 100_000),
        endless(http(b"", length=None), b" " * 100_000),
        endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 500),
        encoded("gzip", bomb),
    ],
    ids=["length", "no length", "100 Continue", "gzip"],
)
def test_a_reply_larger_than_the_cap_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch, act: Any) -> None:
    """Memory and time are bounded by the cap, before and after unpacking."""
    monkeypatch.setattr(transport, "MAX_REPLY", 1_000_000)
    with BreakingServer(Script((act,))) as server, client(server.port) as one:
        with pytest.raises(InDoubt, match="ReplyTooLarge"):
            one._deliver([ANN], Body(text="Hello"))
        assert len(server.sends) == 1


@pytest.mark.parametrize(("act", "text"), [(after_reading(Peer.silence), "Hello"), (Peer.deaf, "long " * 1_600_000)])
def test_a_silence_ends_at_the_read_timeout(act: Any, text: str) -> None:
    """Long before the deadline, whether the peer does not answer or does not read."""
    with BreakingServer(Script((act,))) as server, client(server.port, read_timeout=0.3, deadline=60) as one:
        started = time.monotonic()
        with pytest.raises(InDoubt):
            one._deliver([ANN], Body(text=text))
        assert time.monotonic() - started < 20


PHASES: list[tuple[str, str, Any, int | None]] = [
    ("nobody reads", "writing", Peer.deaf, None),
    ("no answer", "awaiting", after_reading(Peer.fin), None),
    ("first byte", "headers", cut("1 byte", Peer.fin), None),
    ("headers", "headers", cut("last header", Peer.fin), None),
    ("body", "body", cut("body half", Peer.fin), 200),
]


@pytest.mark.parametrize(("phase", "act", "code"), [row[1:] for row in PHASES], ids=[row[0] for row in PHASES])
def test_an_error_says_how_far_the_request_came(phase: str, act: Any, code: int | None) -> None:
    """The evidence that the ledger keeps: phase, status and seconds."""
    text = "long " * 1_600_000 if phase == "writing" else "Hello"
    timeout = 0.3 if phase == "writing" else 15
    with (
        BreakingServer(Script((act,))) as server,
        client(server.port, read_timeout=timeout) as one,
        pytest.raises(InDoubt) as caught,
    ):
        one._deliver([ANN], Body(text=text))
    assert (caught.value.phase, caught.value.http_status) == (phase, code)
    assert 0 <= (caught.value.seconds or -1) < 30


def test_an_error_names_what_ended_the_connection() -> None:
    """The innermost reason, not the wrapping of two libraries."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        with (
            client(bound.getsockname()[1]) as one,
            pytest.raises(NotSent, match=r"\(ConnectionRefusedError\)") as caught,
        ):
            one._deliver([ANN], Body(text="Hello"))
    assert caught.value.phase == "connect"
    assert (caught.value.seconds or -1) >= 0


# -- kept connections --------------------------------------------------------------------------------------------------


def closes_when_used_after(limit: float, clock: Clock) -> Callable[[Peer], None]:
    """Make a service whose idle timer runs out just as the next request arrives: it resets without reading."""
    last: dict[Peer, float] = {}

    def act(peer: Peer) -> None:
        now = clock()
        if now - last.get(peer, now) >= limit:
            peer.reset()
            return
        serve(peer)
        last[peer] = clock()

    return act


def failures(guard: float, monkeypatch: pytest.MonkeyPatch) -> int:
    """Send 40 messages with growing pauses to a service with an idle timer of 5 s; return how many went in doubt."""
    monkeypatch.setattr(transport, "IDLE_GUARD", guard)
    clock = Clock()
    script = Script((closes_when_used_after(5.0, clock),))
    with BreakingServer(script) as server, client(server.port, clock=clock, deadline=3000.0) as one:
        outcomes = []
        for number in range(40):
            outcomes.append(send(one))
            clock.ahead += number / 4
        assert len(server.sends) == outcomes.count("accepted")
    assert set(outcomes) <= {"accepted", "InDoubt"}
    return outcomes.count("InDoubt")


def test_a_connection_idle_for_longer_than_the_guard_is_not_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the guard no message meets a service's idle timer; without it some go in doubt for nothing."""
    assert failures(transport.IDLE_GUARD, monkeypatch) == 0
    assert failures(10**9, monkeypatch) > 0


def test_a_connection_is_kept_between_requests() -> None:
    """The guard does not cost a connection for each request."""
    with BreakingServer(Script((serve,))) as server, client(server.port, clock=StoppedClock()) as one:
        assert [send(one) for _ in range(20)] == ["accepted"] * 20
        assert server.connections == 1


def test_a_connection_that_broke_is_not_used_again() -> None:
    """After a fault the next request stands on a connection of its own."""
    acts = (after_reading(Peer.fin), answer(lambda request: http(golden(request)) + b"more", None), serve)
    with BreakingServer(Script(acts)) as server, client(server.port, clock=StoppedClock()) as one:
        assert [send(one) for _ in range(4)] == ["InDoubt", "accepted", "accepted", "accepted"]
        assert server.connections == 3


def test_many_threads_get_their_own_answers() -> None:
    """One client, 16 threads: no thread reads the answer of another."""
    numbers = [f"+1202555{number:04d}" for number in range(160)]
    with BreakingServer(Script((serve,))) as server, client(server.port) as one:
        with ThreadPoolExecutor(16) as pool:
            found = list(pool.map(lambda number: one._deliver([number], Body(text="Hello")), numbers))
        assert [reply.messages[0].to for reply in found] == numbers
        assert sorted(request.to[0] for request in server.sends) == numbers


def test_a_forked_process_does_not_share_a_connection() -> None:
    """Two processes on one socket would read each other's answers; the child opens its own."""
    with BreakingServer(Script((serve,))) as server, client(server.port, clock=StoppedClock()) as one:
        assert send(one) == "accepted"
        outcome = ""
        child = os.fork()
        if not child:
            try:
                outcome = send(one)
            finally:
                os._exit(0 if outcome == "accepted" else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert send(one) == "accepted"
        assert server.connections == 2


# -- elsewhere ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_a_redirect_is_followed_nowhere(code: int) -> None:
    """307 and 308 would post the numbers to another host; none is followed."""
    with BreakingServer(Script((serve,))) as elsewhere:
        location = ("Location", f"http://127.0.0.1:{elsewhere.port}/?action=sms.message.send&accessKeyId=x")
        act = status(code, headers=[location])
        with BreakingServer(Script((act,))) as server, client(server.port) as one:
            assert send(one) == "InDoubt"
            assert (len(server.sends), elsewhere.connections) == (1, 0)


@pytest.fixture
def proxied(monkeypatch: pytest.MonkeyPatch) -> Iterator[BreakingServer]:
    """A proxy that the environment names for every address."""
    with BreakingServer(Script((serve,))) as proxy:
        for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://ann:secret@127.0.0.1:{proxy.port}")
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        yield proxy


def test_a_proxy_of_the_environment_is_used_only_when_asked_for_and_never_for_loopback(proxied: BreakingServer) -> None:
    """By default the numbers go to the service and nowhere else, and what is on this machine does not leave it."""
    with BreakingServer(Script((serve,))) as server:
        with client(server.port) as one:
            assert send(one) == "accepted"
            assert (len(server.sends), proxied.connections) == (1, 0)
        with client(server.port, trust_env=True) as one:
            assert send(one) == "accepted"
            assert (len(server.sends), proxied.connections) == (2, 0)
    settings = Settings(base_url="https://sms.test", access_key_id=KEY, trust_env=True)
    with Client(settings, retry=RetryPolicy(attempts=1)) as one:
        assert send(one) == "NotSent"
    assert proxied.connections == 1


def refuses_the_tunnel(peer: Peer) -> None:
    peer.read_head()
    peer.send(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
    peer.fin()


def test_a_tunnel_that_is_refused_was_not_a_send(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said to a proxy before TLS holds nothing of the request."""
    with BreakingServer(Script((refuses_the_tunnel,))) as proxy:
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{proxy.port}")
        settings = Settings(base_url="https://sms.test", access_key_id=KEY, trust_env=True)
        with Client(settings, sleep=lambda seconds: None, retry=RetryPolicy(attempts=2)) as one:
            assert send(one) == "NotSent"
        assert proxy.connections == 2


def test_a_tunnel_that_is_granted_carries_the_request(monkeypatch: pytest.MonkeyPatch, ground: Ground) -> None:
    """The proxy hears of the host alone; the request travels inside TLS, once."""
    context = ground.contexts["ours"]

    def grants_the_tunnel(peer: Peer) -> None:
        assert KEY.encode() not in peer.read_head()
        peer.send(b"HTTP/1.1 200 Connection established\r\n\r\n")

    with BreakingServer(Script((grants_the_tunnel,), stage="accept", tls=context)) as proxy:
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{proxy.port}")
        settings = Settings(base_url="https://two.test", access_key_id=KEY, trust_env=True, ca_bundle=ground.bundle)
        with Client(settings, sleep=lambda seconds: None) as one:
            assert [send(one), send(one)] == ["accepted", "accepted"]
        assert (proxy.connections, len(proxy.sends)) == (1, 2)


def test_netrc_and_cookies_are_not_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """Neither a password of the machine nor a cookie of the service travels."""
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login ann password secret\n")
    monkeypatch.setenv("NETRC", str(netrc))
    heads: list[bytes] = []

    def remembers(peer: Peer) -> None:
        heads.append(peer.read_head())
        peer.read_exactly(int(heads[-1].lower().split(b"content-length: ")[1].split(b"\r\n")[0]))
        peer.send(http(b"{}", headers=[("Set-Cookie", "a=b")]))

    with BreakingServer(Script((remembers,))) as server, client(server.port) as one:
        assert [send(one), send(one)] == ["InDoubt", "InDoubt"]
    assert len(heads) == 2
    assert not [word for head in heads for word in (b"cookie", b"authorization", b"secret") if word in head.lower()]


# -- what was not watched ----------------------------------------------------------------------------------------------


def test_a_stand_in_for_the_connection_makes_everything_in_doubt(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where our connection class is not the one in use, nothing is known, so nothing is sent again."""
    unwatched = {"http": HTTPConnectionPool, "https": HTTPSConnectionPool}
    monkeypatch.setattr(transport._Adapter, "_pools", lambda self: unwatched)
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        attempts: list[int] = []
        with client(bound.getsockname()[1], sleep=lambda seconds: attempts.append(1)) as one:
            assert send(one) == "InDoubt"
    assert attempts == []


def test_an_interrupt_while_the_answer_is_awaited_is_in_doubt_and_not_repeated() -> None:
    """The interrupt arrives in the middle of a read, as from the notebook's Interrupt button."""

    def interrupts(peer: Peer) -> None:
        peer.read()
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        peer.silence()

    with BreakingServer(Script((interrupts,))) as server, client(server.port) as one:
        with pytest.raises(KeyboardInterrupt, match=r"phase (writing|awaiting)"):
            send(one)
        assert len(server.sends) == 1


def test_a_stop_while_connecting_says_that_nothing_was_sent() -> None:
    """Before the first byte there is no doubt; it is not tried again either."""
    stop = threading.Timer(0.2, lambda: signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT))
    with socket.socket() as full, socket.socket() as first, socket.socket() as second:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for waiting in (first, second):
            waiting.setblocking(False)
            waiting.connect_ex(full.getsockname())
        with client(full.getsockname()[1]) as one:
            stop.start()
            with pytest.raises(KeyboardInterrupt, match="nothing was sent"):
                send(one)


def test_a_bundle_that_holds_no_certificate_is_refused_before_a_send(tmp_path: Any) -> None:
    """A broken setting is told as what it is when the client is made: nothing left."""
    bundle = tmp_path / "bundle.pem"
    bundle.write_text("no certificate")
    with BreakingServer(Script((proceed,), stage="accept")) as server:
        settings = Settings(base_url=f"https://127.0.0.1:{server.port}", access_key_id=KEY, ca_bundle=str(bundle))
        with pytest.raises(UsageError, match=r"bundle of certificates .* nothing was sent"):
            Client(settings)


# -- what a reply leaves behind ----------------------------------------------------------------------------------------


def test_a_head_without_end_is_not_read_to_the_cap_of_a_body(monkeypatch: pytest.MonkeyPatch) -> None:
    """A short name takes many times its size in memory."""
    monkeypatch.setattr(transport, "MAX_HEAD", 200_000)
    read: list[int] = []
    feed = transport._Reply.feed
    monkeypatch.setattr(transport._Reply, "feed", lambda self, data: (read.append(len(data)), feed(self, data))[1])
    act = endless(b"HTTP/1.1 200 OK\r\n", b"".join(b"a%d: b\r\n" % n for n in range(5_000)))
    with (
        BreakingServer(Script((act,))) as server,
        client(server.port) as one,
        pytest.raises(InDoubt, match="ReplyTooLarge"),
    ):
        one._deliver([ANN], Body(text="Hello"))
    assert 0 < sum(read) <= 200_000


def test_what_comes_after_the_body_says_nothing_of_the_reply() -> None:
    """A trailer that names another encoding or a pause is not believed."""
    late = b"0\r\nContent-Encoding: gzip\r\nRetry-After: 9\r\n\r\n"
    act = chunked(lambda data: in_chunks(data, last=late))
    with BreakingServer(Script((act,))) as server, client(server.port) as one:
        assert send(one) == "accepted"


def test_a_reply_is_gone_when_its_request_is_done() -> None:
    """Its headers may quote the request; nothing waits for the garbage collector."""
    gc.collect()
    gc.disable()
    try:
        with BreakingServer(Script((serve,))) as server, client(server.port) as one:
            assert send(one) == "accepted"
            assert [thing for thing in gc.get_objects() if isinstance(thing, transport._Reply)] == []
    finally:
        gc.enable()


def test_a_connection_that_broke_while_the_request_was_written_is_not_used_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """urllib3 reads on after a broken pipe, for the peer may have answered; the rest of the request is missing."""

    class Short:
        def __init__(self, sock: Any) -> None:
            self._sock = sock

        def __getattr__(self, name: str) -> Any:
            return getattr(self._sock, name)

        def sendall(self, data: bytes) -> None:
            self._sock.sendall(data[:-1])
            raise BrokenPipeError

    connect = transport._Watched.connect

    def short(self: Any) -> None:
        connect(self)
        self.sock = Short(self.sock)

    acts = early(http(b"", status=500), Peer.silence), serve
    with BreakingServer(Script(acts)) as server, client(server.port) as one:
        with monkeypatch.context() as patch:
            patch.setattr(transport._Watched, "connect", short)
            assert send(one) == "InDoubt"
        assert send(one) == "accepted"
        assert server.connections == 2


def test_an_interrupt_while_the_end_of_a_reply_is_read_is_an_interrupt() -> None:
    """The parser wraps what is raised inside it, and errors beyond the reply are let be; an interrupt is neither."""

    class Stopped(transport._Reply):
        def on_message_begin(self) -> None:
            if self.whole:
                raise KeyboardInterrupt

    reply = Stopped(transport.Trace())
    with pytest.raises(httptools.HttpParserCallbackError) as caught:
        reply.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\n")
    assert isinstance(transport._root(caught.value), KeyboardInterrupt)


# -- addresses ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("address", "url", "host"),
    [
        ("https://bücher.example", "https://xn--bcher-kva.example/", "xn--bcher-kva.example"),
        ("https://sms.example:8443/a b/ü", "https://sms.example:8443/a%20b/%C3%BC/", "sms.example:8443"),
    ],
)
def test_an_address_goes_on_the_wire_in_ascii(address: str, url: str, host: str) -> None:
    """Hosts as their punycode, paths quoted."""
    with Client(Settings(base_url=address, access_key_id=KEY)) as one:
        request = one._transport._request(Secret("action=x"), memoryview(b""))
    assert (request.url, request.headers["Host"]) == (f"{url}?action=x", host)


def test_the_password_of_a_proxy_is_not_printed(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """http.client's switch for everybody prints what is written to a tunnel."""
    with BreakingServer(Script((refuses_the_tunnel,))) as proxy:
        monkeypatch.setenv("https_proxy", f"http://ann:opensesame@127.0.0.1:{proxy.port}")
        monkeypatch.setattr(HTTPConnection, "debuglevel", 1)
        settings = Settings(base_url="https://sms.test", access_key_id=KEY, trust_env=True)
        with Client(settings, sleep=lambda seconds: None, retry=RetryPolicy(attempts=1)) as one:
            assert send(one) == "NotSent"
    assert capsys.readouterr().out == ""


# -- replies by chance ---------------------------------------------------------------------------------


def test_no_reply_brings_a_foreign_error_or_takes_time_or_memory() -> None:
    """Every outcome is a reply, our error, or one of the transport's own."""
    wrong, outcomes = reply_fuzz.findings(range(3_000))
    assert wrong == []
    assert {"SendReply", "InDoubt", "ServiceError", "Throttled", "VerifyReply", "OtpReply", "cut"} <= set(outcomes)


UNITS = ["[],", "{},", "1.5,", '{"é":0},', '"\U0001f600aaaa",', "\U0001f600" + "a" * 99]


@pytest.mark.parametrize("unit", UNITS, ids=ascii)
def test_a_reply_of_the_largest_size_takes_little_memory_beyond_it(unit: str) -> None:
    """Whatever it is made of: a list for each byte would take gigabytes."""
    start, end = b'{"code":"0","data":{"messages":[', b"0]}}"
    raw = start + unit.encode() * ((transport.MAX_REPLY - 99) // len(unit.encode())) + end
    tracemalloc.start()
    try:
        with pytest.raises(wire.Unreadable):
            wire.read_send(wire.read_envelope(raw).data, ["+12025550123"])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 64 * 1024 * 1024
