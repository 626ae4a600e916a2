"""Canaries: a key, passcodes and numbers that nobody else has, looked for in everything that leaves the package.

The key and the passcodes may stand nowhere but on the wire. Numbers are data in frames and in the ledger, and masked in
every repr, card, log and error.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import logging
import pickle
import rlcompleter
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import IPython
import pandas as pd
import pytest
from faults import certificates
from faults.acts import after_reading, answer, body, cut, raw, status, throttle
from faults.kinds import data
from faults.server import Act, BreakingServer, Peer, Script, serve
from faults.server import http as reply
from IPython.core.oinspect import Inspector
from support.canaries import hits, spellings
from support.tracebacks import chain, has_other_styles, in_other_styles, shown

import smsotp_nb as sms
from smsotp_nb import Client, Ledger, Sandbox, Settings
from smsotp_nb.errors import SmsOtpError

KEY = "canary/key+7f3a&91e6="  # spelled otherwise in an address, in HTML and in base64
HMAC = "canary/secret+c04e&5d="
OWN_CODE, ENTERED = "48151623", "42108642"  # passcodes: one of our own at sending, one that a user entered
ANN, BEN = "+12025550187", "+14155550143"
NUMBERS = [ANN, BEN]


@pytest.fixture
def logged() -> Iterator[Callable[[], str]]:
    """Everything that every library logs, at DEBUG, with tracebacks."""
    lines: list[str] = []
    formatter = logging.Formatter("%(name)s %(pathname)s %(message)s")

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(formatter.format(record) + repr(record.args) + repr(record.__dict__.get("msg")))

    keep, root = Keep(), logging.getLogger()
    before = {name: logging.getLogger(name).level for name in ("", *logging.root.manager.loggerDict)}
    for name in before:
        logging.getLogger(name).setLevel(logging.DEBUG)
    root.addHandler(keep)
    yield lambda: "\n".join(lines)
    root.removeHandler(keep)
    for name, level in before.items():
        logging.getLogger(name).setLevel(level)


ECHO = f"no account {KEY} for {ANN}, {BEN[1:]} with code {OWN_CODE} or {ENTERED}"
FAULTS: dict[str, Act] = {
    "accepted": serve,
    "another success": body(b'{"code":"0","message":"Success","data":{"messages":[]}}'),
    "FIN": after_reading(Peer.fin),
    "reset": after_reading(Peer.reset),
    "cut headers": cut("within a header", Peer.fin),
    "odd headers": status(200, headers=[("X-" + KEY, ECHO), ("X-Request-Id", KEY), ("Bad Header", ECHO)]),
    "cut body": cut("body half", Peer.fin),
    "cut refusal": cut("body half", Peer.reset, lambda request: reply(ECHO.encode() * 99, status=400)),
    "refusal that echoes": body(f'{{"code":"104111","message":"{ECHO}"}}'.encode(), 400),
    "code that echoes": body(f'{{"code":"{ECHO}","message":"x"}}'.encode(), 400),
    "success that echoes": body(f'{{"code":"{ECHO}","message":"{ECHO}","data":{{}}}}'.encode()),
    "no funds": body(b'{"code":"105400","message":"InsufficientFunds"}', 400),
    "HTML that echoes": body(f"<html>{ECHO}</html>".encode(), 502),
    "text that echoes": body(ECHO.encode()),
    "status line that echoes": answer(lambda request: reply(b"", status=f"HTTP/1.1 200 {KEY}")),
    "no status line": raw(ECHO.encode() + b"\r\n\r\n"),
    "redirect that echoes": status(307, headers=[("Location", f"https://{KEY}.test/?accessKeyId={KEY}&to={ANN}")]),
    "throttled": throttle(("Retry-After", ECHO), body=ECHO.encode()),
    "another number": data(to=BEN[:-1]),
    "not JSON": body(f'{{"code":"0","message":"{ECHO}'.encode()),
    "deep": body(b"[" * 50_000),
}
CALLS: dict[str, Callable[[Client], Any]] = {
    "message": lambda one: one.send_message(NUMBERS, text="Hello"),
    "own code": lambda one: one.send_otp(ANN, code=OWN_CODE, ttl=60),
    "generated": lambda one: one.send_otp(ANN, intent="login"),
    "check": lambda one: one.verify_otp(ANN, ENTERED, intent="login"),
    "challenge": lambda one: sms.otp.send(ANN, client=one, code=OWN_CODE).verify(ENTERED),
}


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A certificate for the server, and the settings of a client that trusts it and signs its requests."""
    folder, ours = tmp_path_factory.mktemp("tls"), certificates.authority()
    context = certificates.context(certificates.leaf(ours, folder, hosts=("127.0.0.1",)))
    return {"context": context, "ca_bundle": str(certificates.write(ours, folder))}


@contextlib.contextmanager
def speaking(act: Act, tls: dict[str, Any] | None = None) -> Iterator[Client]:
    with BreakingServer(Script((act,), tls=tls["context"] if tls else None)) as server:
        more: dict[str, Any] = {"ca_bundle": tls["ca_bundle"], "access_key_secret": HMAC} if tls else {}
        scheme = "https" if tls else "http"
        address = f"{scheme}://127.0.0.1:{server.port}"
        settings = Settings(base_url=address, access_key_id=KEY, read_timeout=5, deadline=5, **more)
        with Client(settings, sleep=lambda seconds: None) as one:
            yield one


def tried(one: Client, call: Callable[[Client], Any]) -> tuple[Any, SmsOtpError | None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return call(one), None
        except SmsOtpError as error:
            return None, error


# CPython leaves a socket to the collector when a reset meets TLS.
@pytest.mark.filterwarnings("ignore:unclosed <ssl.SSLSocket:ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("transport", ["plain", "TLS and signed"])
@pytest.mark.sampled(80)
def test_no_canary_in_errors_replies_logs_and_what_the_client_keeps(
    transport: str,
    fault: str,
    call: str,
    tls: dict[str, Any],
    logged: Callable[[], str],
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Every way a request ends, seen in every way a notebook can show or save it."""
    with speaking(FAULTS[fault], None if transport == "plain" else tls) as one:
        found, error = tried(one, CALLS[call])
        kept = everything_in(one)
    secrets = (KEY, HMAC, OWN_CODE, ENTERED)
    if error is not None:
        assert chain(error) == []
        assert hits(shown(error), *secrets) == []
        assert hits(pickle.dumps(error), *secrets, *NUMBERS) == []
        assert hits(f"{error} {error!r} {vars(error)}", *secrets, *NUMBERS) == []
        assert hits(everything_in(error), *secrets, *NUMBERS) == []
    assert hits(f"{found!r} {found} {one!r} {one.settings!r} {vars(one)}", *secrets, *NUMBERS) == []
    assert hits(kept, *secrets) == []
    assert hits(logged(), *secrets, *NUMBERS) == []
    out, err = capfd.readouterr()
    assert hits(out + err, *secrets, *NUMBERS) == []


def test_the_debug_switch_of_the_standard_library_prints_no_key(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """``http.client.HTTPConnection.debuglevel = 1`` is a common recipe in notebooks; it prints whole requests."""
    monkeypatch.setattr(http.client.HTTPConnection, "debuglevel", 1)
    with speaking(FAULTS["accepted"]) as one:
        one.send_otp(ANN, code=OWN_CODE)
    out, err = capfd.readouterr()
    assert hits(out + err, KEY, OWN_CODE, ANN) == []


def test_no_canary_when_nothing_can_be_reached(logged: Callable[[], str]) -> None:
    """Nobody listens: the libraries log and raise with the whole address in hand."""
    with BreakingServer(Script((Peer.fin,))) as server:
        port = server.port
    settings = Settings(base_url=f"http://127.0.0.1:{port}", access_key_id=KEY)
    for call in CALLS.values():
        found, error = tried(Client(settings, sleep=lambda seconds: None), call)
        assert found is None
        assert error is not None
        assert hits(shown(error) + logged(), KEY, OWN_CODE, ENTERED) == []
        assert hits(str(error) + logged(), *NUMBERS) == []


def test_no_canary_after_a_stop() -> None:
    """KeyboardInterrupt is shown with its frames too."""

    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    with BreakingServer(Script((throttle(),))) as server:
        settings = Settings(base_url=f"http://127.0.0.1:{server.port}", access_key_id=KEY)
        for call in CALLS.values():
            with pytest.raises(KeyboardInterrupt) as caught:
                call(Client(settings, sleep=interrupt))
            assert hits(shown(caught.value) + in_other_styles(caught.value), KEY, OWN_CODE, ENTERED) == []


@pytest.mark.parametrize("call", ["own code", "check", "challenge"])
def test_a_refused_call_does_not_show_the_code_it_refuses(call: str) -> None:
    """The limits are checked with the code in hand."""
    wrong: dict[str, Callable[[Client], Any]] = {
        "own code": lambda one: one.send_otp("nobody", code=OWN_CODE + "9"),
        "check": lambda one: one.verify_otp("nobody", ENTERED + "9"),
        "challenge": lambda one: sms.otp.send("nobody", client=one, code=OWN_CODE + "9"),
    }
    with speaking(FAULTS["accepted"]) as one:
        _, error = tried(one, wrong[call])
    assert error is not None
    assert hits(shown(error), KEY, OWN_CODE, ENTERED) == []


# -- the whole journey -------------------------------------------------------------------------------------------------


@pytest.fixture
def journey(tmp_path: Path, logged: Callable[[], str]) -> Iterator[dict[str, Any]]:
    """A campaign and a passcode on the sandbox, with everything it leaves behind."""
    people = pd.DataFrame({"phone": [*NUMBERS, "nobody"], "name": ["Ann", "Ben", "Cor"]})
    plan = sms.plan(people, "Hello {name}", to="phone", campaign="canary")
    with Sandbox(state=tmp_path / "sandbox.sqlite") as box, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        settings = Settings(base_url=box.url, access_key_id=KEY)
        with Client(settings) as one, Ledger(tmp_path / "ledger.sqlite", create=True) as ledger:
            results = sms.send(plan, client=one, ledger=ledger, progress=False)
            challenge = sms.otp.send(ANN, client=one, code=OWN_CODE, intent="login")
            challenge.verify(ENTERED)
            yield {
                "plan": plan, "results": results, "client": one, "ledger": ledger, "box": box, "challenge": challenge,
                "campaign": ledger.record("canary"), "record": challenge.record, "settings": settings,
            }  # fmt: skip


def test_the_journey_leaves_no_key_or_passcode_in_the_ledger(journey: dict[str, Any], tmp_path: Path) -> None:
    """The bytes of the file, its log and its index; its numbers are data."""
    written = {path.name: path.read_bytes() for path in tmp_path.rglob("ledger.sqlite*") if path.is_file()}
    assert {"ledger.sqlite", "ledger.sqlite-wal"} <= set(written)
    assert hits(b"".join(written.values()), *NUMBERS) == NUMBERS
    assert hits(b"".join(written.values()), KEY, HMAC, OWN_CODE, ENTERED) == []


def test_the_journey_logs_no_canary(journey: dict[str, Any], logged: Callable[[], str]) -> None:
    """Nor does the sandbox, whose own log could hold passcodes and the address with its key."""
    assert hits(logged(), KEY, OWN_CODE, ENTERED, *NUMBERS) == []


@pytest.mark.parametrize("name", ["plan", "client", "ledger", "box", "challenge", "campaign", "record", "settings"])
def test_every_object_shows_itself_without_canaries(journey: dict[str, Any], name: str) -> None:
    """Its repr, its text, its HTML, and what completing a name would print of it."""
    thing = journey[name]
    forms = [repr(thing), str(thing), f"{thing}"]
    forms += [
        getattr(thing, form)() for form in ("_repr_html_", "html", "text") if callable(getattr(thing, form, None))
    ]
    forms += [repr(dir(thing))]
    assert hits("\n".join(map(str, forms)), KEY, OWN_CODE, ENTERED, *NUMBERS) == []


@pytest.mark.parametrize("name", ["plan", "client", "ledger", "box", "challenge", "campaign", "record", "settings"])
def test_completing_and_inspecting_show_no_canary(journey: dict[str, Any], name: str) -> None:
    """What Tab, ``name?`` and ``name??`` show of an object and of each of its attributes."""
    thing = journey[name]
    attributes = [attribute for attribute in dir(thing) if not attribute.startswith("__")]
    shown_by_tab = completions(f"{name}.", {name: thing})
    assert attributes
    assert {attribute for attribute in attributes if not attribute.startswith("_")} <= set(shown_by_tab.split(" "))
    inspector = Inspector() if IPython.version_info[0] < 9 else Inspector(theme_name="nocolor")
    inspected = repr([inspector.info(thing, detail_level=level) for level in (0, 1)])
    assert hits(shown_by_tab + inspected, KEY, HMAC, OWN_CODE, ENTERED, *NUMBERS) == []


def completions(typed: str, namespace: dict[str, Any]) -> str:
    """Return what is offered at the end of a text; what IPython offers is asked of a kernel, where notebooks are."""
    found = []
    plain = rlcompleter.Completer(namespace)
    for state in range(10_000):
        offered = plain.complete(typed, state)
        if offered is None:
            break
        found.append(offered.rstrip("()"))
    return " ".join(found).replace(typed, "")


@pytest.mark.parametrize("name", ["results", "plan", "campaign", "record", "challenge", "client", "settings", "ledger"])
def test_a_pickle_holds_no_key_or_passcode_or_is_refused(journey: dict[str, Any], name: str) -> None:
    """What can be saved holds numbers at most."""
    try:
        saved = pickle.dumps(journey[name])
    except TypeError as error:
        saved = shown(error).encode()
    assert hits(saved, KEY, OWN_CODE, ENTERED) == []


def test_the_frames_hold_numbers_and_the_card_of_a_frame_masks_them(journey: dict[str, Any]) -> None:
    """Frames are the data; ``df.smsotp.masked()`` and ``cost.card(df)`` are the forms to publish."""
    results = journey["results"]
    assert hits(results.to_csv(), *NUMBERS) == NUMBERS
    assert hits(results.to_csv(), KEY, OWN_CODE, ENTERED) == []
    card = sms.cost.card(results)
    assert hits(f"{card} {card._repr_html_()} {results.smsotp.masked().to_csv()}", KEY, *NUMBERS) == []


# -- how deep we look --------------------------------------------------------------------------------------------------


def everything_in(start: object, limit: int = 200_000) -> str:
    """Return every text that can be reached from an object by attributes and items, kept connections included."""
    seen: dict[int, object] = {}
    texts: list[str] = []
    todo: list[object] = [start]
    while todo and len(seen) < limit:
        thing = todo.pop()
        if id(thing) in seen:
            continue
        seen[id(thing)] = thing
        if isinstance(thing, str | bytes | bytearray):
            texts.append(thing if isinstance(thing, str) else bytes(thing).decode("latin-1"))
        elif not isinstance(thing, type | types.ModuleType | types.FunctionType | types.BuiltinFunctionType):
            todo += _parts(thing)
    return "\n".join(texts)


def _parts(thing: object) -> list[object]:
    if isinstance(thing, dict):
        return [*thing.keys(), *thing.values()]
    if isinstance(thing, list | tuple | set | frozenset):
        return list(thing)
    found: list[object] = list(getattr(thing, "__dict__", {}).values())
    for kind in type(thing).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        names = (slots,) if isinstance(slots, str) else slots
        found += [getattr(thing, name) for name in names if hasattr(thing, name)]
    if isinstance(thing, types.MethodType):
        found.append(thing.__self__)
    if type(thing).__name__ in {"LifoQueue", "deque"}:
        found += list(getattr(thing, "queue", thing))  # type: ignore[call-overload]
    return found


def test_the_search_would_find_a_key_that_is_kept() -> None:
    """The walk reaches a connection in its pool: a canary planted there is found."""
    with speaking(FAULTS["accepted"]) as one:
        one.send_otp(ANN)
        pool = one._transport._adapter.poolmanager.pools
        connection = next(iter(pool._container.values())).pool.queue[-1]
        assert hits(everything_in(one), "planted") == []
        connection.note = {"deep": ["planted"]}
        assert hits(everything_in(one), "planted") == ["planted"]


# -- a leak would be found ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spelled", sorted(spellings(KEY)))
def test_a_key_is_found_in_every_spelling(spelled: bytes) -> None:
    """Plain, as an address, HTML and JSON write it, in base64 and in hex."""
    assert hits(b"before " + spelled + b" after", KEY) == [KEY]
    assert hits(b"before " + spelled[1:-1] + b" after", KEY) == []


def plant_in_log(_: Path) -> None:
    logging.getLogger("urllib3.connectionpool").debug("POST /?accessKeyId=%s", KEY)


def plant_in_an_asyncio_log(_: Path) -> None:
    loop = asyncio.new_event_loop()  # not run: a browser test of the same process may have one running
    loop.call_exception_handler({"message": KEY})
    loop.close()


def plant_in_output(_: Path) -> None:
    print(f"<td>{KEY}</td>")


def plant_in_the_ledger(folder: Path) -> None:
    with Ledger(folder / "ledger.sqlite", create=True) as ledger:
        plan = sms.plan(pd.DataFrame({"phone": [ANN]}), "Hello", to="phone", campaign=KEY)
        with Sandbox() as box, box.client() as one:
            sms.send(plan, client=one, ledger=ledger, progress=False)
            written = b"".join(path.read_bytes() for path in folder.rglob("ledger.sqlite*") if path.is_file())
    print(written.decode("latin-1"))


@pytest.mark.parametrize(
    "plant", [plant_in_log, plant_in_an_asyncio_log, plant_in_output, plant_in_the_ledger], ids=lambda one: one.__name__
)
def test_a_planted_leak_is_found(
    plant: Callable[[Path], None], tmp_path: Path, logged: Callable[[], str], capfd: pytest.CaptureFixture[str]
) -> None:
    """Each scan above fails when there is something to find."""
    plant(tmp_path)
    out, err = capfd.readouterr()
    assert hits(logged() + out + err, KEY) == [KEY]


def test_a_planted_error_is_found() -> None:
    """An error that quotes the address, as that of ``requests`` does, and a frame that holds the key."""
    namespace: dict[str, Any] = {"__name__": "smsotp_nb.planted"}
    exec("def planted(key):\n    raise ValueError('refused')", namespace)
    with pytest.raises(ValueError) as caught:
        namespace["planted"](KEY)
    assert hits(str(caught.value), KEY) == []
    assert hits(shown(caught.value), KEY) == [KEY]
    assert not has_other_styles() or hits(in_other_styles(caught.value), KEY) == [KEY]
