"""What the sandbox costs: requests a second against a plain handler of the same web library, start and memory.

    python benchmarks/sandbox.py            every figure; about a minute
    python benchmarks/sandbox.py --short    fewer requests

Every server is a process of its own, one after the other in turns; the load comes from this process over plain
sockets, so that as little as possible of what is measured is the load itself. Start and memory are those of
``python -m smsotp_nb sandbox`` until it answers, less those of an interpreter that does nothing.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import selectors
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import cast

PLAIN = """
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

REPLY = {"code": "0", "message": "Success", "data": {"recipients": 1, "messageCount": 1, "currency": "USD",
    "totalAmount": "0.007500", "messages": [{"id": "0" * 32, "to": "+12025550123", "iso": "US", "cc": "1", "parts": 1,
    "price": "0.007500"}]}}

class Plain(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_POST(self):
        json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps(REPLY).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass

server = ThreadingHTTPServer(("127.0.0.1", 0), Plain)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
"""
BODY = '{"to": "+120255501%02d", "text": "Hello, your order %06d is ready."}'
REQUEST = (
    "POST /?action=sms.message.send&accessKeyId=benchmark HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n"
    "Content-Type: application/json\r\nContent-Length: %d\r\n\r\n"
)


@contextlib.contextmanager
def running(*command: str) -> Iterator[tuple[int, int]]:
    """Run a server and yield its process id and its port, which stands at the end of its first line."""
    with subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.pid, int(process.stdout.readline().strip().rstrip("/").rpartition(":")[2])
        finally:
            process.kill()


def is_whole(reply: bytes) -> bool:
    head, found, body = reply.partition(b"\r\n\r\n")
    return bool(found) and len(body) >= int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])


def requests_per_second(port: int, connections: int, count: int) -> float:
    """Keep so many connections busy, one request at a time on each, until ``count`` replies have come."""
    head, waiting = REQUEST % (port, len(BODY % (0, 0))), {}
    with selectors.DefaultSelector() as chosen, contextlib.ExitStack() as stack:
        began = time.perf_counter()
        requests = ((head + BODY % (n % 100, n)).encode() for n in range(count))
        for request in itertools.islice(requests, connections):
            one = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            chosen.register(one, selectors.EVENT_READ)
            waiting[one] = b""
            one.sendall(request)
        answered = 0
        while answered < count:
            for key, _events in chosen.select():
                one = cast("socket.socket", key.fileobj)
                waiting[one] += one.recv(65536)
                if is_whole(waiting[one]):
                    assert waiting[one].startswith(b"HTTP/1.1 200"), waiting[one]
                    answered, waiting[one] = answered + 1, b""
                    one.sendall(next(requests, b""))
        return count / (time.perf_counter() - began)


SANDBOX = ("-m", "smsotp_nb", "sandbox", "--balance", "100000000")


def measure_speed(count: int, rounds: int) -> None:
    print("requests a second, one recipient each, as a ratio to a plain handler of the same web library")
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        state = ("--state", str(Path(folder) / "state.sqlite"))
        servers = {
            "plain handler": stack.enter_context(running("-c", PLAIN)),
            "sandbox": stack.enter_context(running(*SANDBOX)),
            "sandbox --state": stack.enter_context(running(*SANDBOX, *state)),
        }
        for connections in (1, 64):
            found: dict[str, list[tuple[float, float]]] = {name: [] for name in servers}
            for _ in range(rounds):
                for name, (pid, port) in servers.items():
                    before = processor(pid)
                    rate = requests_per_second(port, connections, count)
                    found[name].append((rate, count / (processor(pid) - before)))
            for name, rates in found.items():
                print(f"  {connections:>2} connections, {name:<16} {told(rates, found['plain handler'])}")


def told(rates: list[tuple[float, float]], plain: list[tuple[float, float]]) -> str:
    """Return requests a second by the clock, and ratios by the clock and by the processor."""
    by_clock, by_processor = (
        [one[which] / other[which] for one, other in zip(rates, plain, strict=True)] for which in (0, 1)
    )
    said = f"{statistics.median(rate for rate, _ in rates):>7,.0f}/s"
    for name, ratios in (("ratio", by_clock), ("of the processor", by_processor)):
        said += f"   {name} {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
    return said


def resident(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024


def processor(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def started(*command: str) -> tuple[float, float, float]:
    """Return the seconds until the first line, those of the processor, and the memory by then in MB."""
    began = time.perf_counter()
    with running(*command) as (pid, _port):
        return time.perf_counter() - began, processor(pid), resident(pid)


def measure_start(rounds: int) -> None:
    nothing = ("-c", "import time; print(':1', flush=True); time.sleep(60)")
    print("start of `smsotp-nb sandbox` until it answers, beyond an interpreter that does nothing")
    found = [
        [mine - bare for mine, bare in zip(started(*SANDBOX), started(*nothing), strict=True)] for _ in range(rounds)
    ]
    for name, values in zip(("seconds", "seconds of the processor", "MB"), zip(*found, strict=True), strict=True):
        print(f"  {statistics.median(values):.2f} {name} ({min(values):.2f} to {max(values):.2f})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true")
    short = parser.parse_args().short
    measure_start(3 if short else 9)
    measure_speed(1_000 if short else 5_000, 3 if short else 7)


if __name__ == "__main__":
    main()
