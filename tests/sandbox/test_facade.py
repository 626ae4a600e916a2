"""`Sandbox` as a notebook meets it: starts at once, shows its inbox as a frame, leaves nothing behind."""

from __future__ import annotations

import contextlib
import gc
import http.client
import importlib
import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pandas as pd
import pytest
from support.dtypes import dtype_names

from smsotp_nb import Sandbox, sandbox
from smsotp_nb.errors import InsufficientFunds, SmsOtpError, UsageError

US, FR = "+12025550123", "+33199001234"


@pytest.fixture
def box() -> Iterator[Sandbox]:
    with Sandbox(balance="1.00") as running:
        yield running


def test_a_client_sends_and_the_inbox_is_a_frame(box: Sandbox) -> None:
    reply = box.client().send_message([US, FR], content="Hi", signature="Acme")
    frame = box.inbox
    assert frame["id"].tolist() == [record.id for record in reply.messages]
    assert frame["text"].tolist() == ["[Acme] Hi"] * 2
    assert dtype_names(frame) == {
        "id": "str",
        "to": "str",
        "text": "str",
        "code": "str",
        "channel": "str",
        "iso": "str",
        "parts": "Int64",
        "price": "float64",
        "currency": "str",
        "at": "datetime64[us, UTC]",
    }
    assert frame["code"].isna().all()
    assert box.balance == 1 - sum((record.price or Decimal()) for record in reply.messages)


def test_an_empty_inbox_has_the_same_columns_and_dtypes(box: Sandbox) -> None:
    empty = box.inbox
    box.client().send_otp(US)
    assert len(empty) == 0
    pd.testing.assert_series_equal(empty.dtypes, box.inbox.dtypes)


def test_the_code_of_a_number_is_the_last_one_sent_there(box: Sandbox) -> None:
    client = box.client()
    assert box.code(US) is None
    client.send_otp(US, code="111111")
    client.send_otp(US, code="222222")
    client.send_otp(FR, code="333333")
    client.send_message(US, text="no code")
    assert (box.code(US), box.code(FR)) == ("222222", "333333")
    assert client.verify_otp(US, "222222").valid


def test_the_client_knows_its_sandbox_and_the_sandboxs_own_id(box: Sandbox) -> None:
    client = box.client(read_timeout=3)
    assert client.sandbox is box
    assert client.service == f"sandbox:{box.id}"
    assert client.settings.read_timeout == 3


def test_a_sandbox_in_another_process_is_reached_by_its_address(box: Sandbox) -> None:
    other = Sandbox.at(box.url + "/")
    box.client().send_otp(US, code="123456")
    assert (other.id, other.code(US), len(other.inbox)) == (box.id, "123456", 1)
    assert other.client().service == box.client().service
    other.close()
    assert box.balance > 0


def test_the_variant_and_form_of_a_sandbox_reach_its_client() -> None:
    with Sandbox(variant="cn", form="earlier") as box:
        settings = Sandbox.at(box.url).client().settings
        assert (settings.variant, settings.form) == ("cn", "earlier")
        assert box.client().send_message(US, content="Hi", signature="Acme").currency == "CNY"


def test_topping_up_lets_the_next_request_through() -> None:
    with Sandbox(balance=0) as box:
        with pytest.raises(InsufficientFunds):
            box.client().send_message(US, text="Hi")
        assert box.top_up(0.0075) == Decimal("0.007500")
        assert box.client().send_message(US, text="Hi").messages


@pytest.mark.parametrize("amount", [-1, "much", float("nan"), "1e30"])
def test_an_amount_that_is_none_is_refused(box: Sandbox, amount: float | str) -> None:
    with pytest.raises(UsageError, match="an amount"):
        box.top_up(amount)
    with pytest.raises(UsageError, match="an amount"):
        Sandbox(balance=amount)


def test_a_repr_is_short_and_shows_no_number(box: Sandbox) -> None:
    box.client().send_otp(US, code="123456")
    assert repr(box) == f"Sandbox({box.url}, 1 message, balance USD 0.99)"
    assert f'<a href="{box.url}"' in box._repr_html_()
    assert US not in box._repr_html_()
    box.close()
    assert repr(box) == f"Sandbox({box.url}, not running, or busy)"


def test_a_repr_does_not_wait_for_a_sandbox_that_is_busy() -> None:
    """A traceback that prints variables prints every sandbox among them."""
    with Sandbox() as running, socket.create_server(("127.0.0.1", 0)) as silent:
        box = Sandbox.at(running.url)
        box._endpoint.url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        begun = time.monotonic()
        assert repr(box) == f"Sandbox({box.url}, not running, or busy)"
        assert "not running, or busy" in box.card().html()
        assert time.monotonic() - begun < 60, "two looks of a second, not of 90"


@contextlib.contextmanager
def answering(body: bytes) -> Iterator[str]:
    """Run a program in the place of a sandbox that answers everything with these bytes, and yield its address."""

    class Stranger(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_arguments: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Stranger) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize("body", [b"{}", b"[]", b"null", b'{"balance": "much"}', b"x", b"[" * 100_000], ids=repr)
def test_whatever_answers_in_the_place_of_a_sandbox_is_told(box: Sandbox, body: bytes) -> None:
    with answering(body) as address:
        box._endpoint.url = address  # the port has passed to another program
        assert repr(box) == f"Sandbox({address}, not running, or busy)"
        with pytest.raises(SmsOtpError, match=r"No sandbox answers|is not a sandbox of this version"):
            Sandbox.at(address)
        with pytest.raises(SmsOtpError):
            len(box.inbox)


def test_an_address_without_a_sandbox_is_a_clear_error() -> None:
    with Sandbox() as box:
        url = box.url
    with pytest.raises(SmsOtpError, match=r"No sandbox answers"):
        Sandbox.at(url)
    with pytest.raises(UsageError, match="runs on this machine"):
        Sandbox.at("https://sms.example")


def test_a_sandbox_ends_when_nothing_refers_to_it() -> None:
    before = threading.active_count()
    for _ in range(3):
        box = Sandbox()
    url = box.url
    del box
    gc.collect()
    assert threading.active_count() <= before  # threads of earlier tests may end meanwhile
    with pytest.raises(SmsOtpError):
        Sandbox.at(url)


def test_a_sandbox_that_ends_while_strangers_connect_leaves_no_socket_open() -> None:
    def connect(address: tuple[str, int], ended: threading.Event) -> None:
        with suppress(OSError):
            while not ended.is_set():
                socket.create_connection(address, timeout=120).close()

    with pytest.MonkeyPatch.context() as patched:
        left: list[object] = []
        patched.setattr(sys, "unraisablehook", lambda unraisable: left.append(unraisable.exc_value))
        for _ in range(3):
            box, ended = Sandbox(), threading.Event()
            address = ("127.0.0.1", int(box.url.rpartition(":")[2]))
            strangers = [threading.Thread(target=connect, args=(address, ended)) for _ in range(4)]
            for stranger in strangers:
                stranger.start()
            time.sleep(0.02)
            box.close()
            ended.set()
            for stranger in strangers:
                stranger.join()
        gc.collect()
        assert not left


def test_a_client_keeps_its_sandbox_alive() -> None:
    client = Sandbox().client()
    gc.collect()
    assert client.send_message(US, text="Hi").messages


def test_a_state_file_keeps_the_id_over_ports(tmp_path: Path) -> None:
    with Sandbox(state=tmp_path / "box.sqlite") as first:
        first.client().send_otp(US, code="123456")
    with Sandbox(state=tmp_path / "box.sqlite", balance=5) as second:
        assert (second.id, second.code(US)) == (first.id, "123456")
        assert second.balance == Decimal("999.992500")
    with Sandbox() as third:
        assert third.id != first.id


def test_reloading_the_package_leaves_a_running_sandbox_alone(box: Sandbox) -> None:
    """What a notebook's autoreload does after an edit."""
    assert sandbox.Sandbox is Sandbox  # looked up now, so that it is put back in the end
    loaded = [name for name in sys.modules if name.startswith("smsotp_nb.sandbox")]
    modules = [sys.modules[name] for name in sorted(loaded, key=lambda name: -name.count("."))]
    kept = [vars(module).copy() for module in modules]
    try:
        for module in modules:
            importlib.reload(module)
        assert box.client().send_message(US, text="Hi").messages
        assert len(box.inbox) == 1
        with sandbox.Sandbox() as new:
            assert new.id != box.id
    finally:
        for module, names_of in zip(modules, kept, strict=True):
            vars(module).update(names_of)


SCRIPT = """
    import http.client, sys
    from smsotp_nb import Sandbox
    box = Sandbox()
    print(box.url, flush=True)
    {end}
"""
ENDS = {
    "end of script": "pass",
    "exit": "sys.exit(0)",
    "error": "raise SystemExit(3)",
    "closed twice": "box.close(); box.close()",
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS.keys())
def test_a_process_that_forgets_its_sandbox_ends_at_once_and_quietly(end: str) -> None:
    script = textwrap.dedent(SCRIPT).format(end=end)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300, check=False)
    assert done.stderr == ""
    port = int(done.stdout.strip().rpartition(":")[2])
    with pytest.raises(ConnectionRefusedError):
        http.client.HTTPConnection("127.0.0.1", port, timeout=120).connect()


def test_a_killed_process_leaves_no_server_behind() -> None:
    script = textwrap.dedent(SCRIPT).format(end="sys.stdin.read()")
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stdin=subprocess.PIPE) as process:
        assert process.stdout is not None
        url = process.stdout.readline().decode().strip()
        assert Sandbox.at(url).id
        process.send_signal(signal.SIGKILL)
        process.wait()
    with pytest.raises(SmsOtpError):
        Sandbox.at(url)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_does_not_end_its_parents_sandbox(box: Sandbox) -> None:
    child = os.fork()
    if child == 0:
        box.close()
        os._exit(0)
    os.waitpid(child, 0)
    assert Sandbox.at(box.url).id == box.id


def test_a_cell_that_starts_a_sandbox_on_a_file_can_be_run_again(tmp_path: Path) -> None:
    """The newer one of a process takes over the file, inbox and id included; the older one has ended."""
    first = Sandbox(state=tmp_path / "box.sqlite")
    first.client().send_message("+12025550123", text="Hello")
    again = Sandbox(state=tmp_path / "box.sqlite")
    with again:
        assert (again.id, len(again.inbox)) == (first.id, 1)
        assert "not running" in repr(first)
