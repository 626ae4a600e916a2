"""Kill -9 of a sandbox with a state file under load, again and again: what was answered must be there afterwards.

    python -m tests.kills.sandbox 20

After every kill the next process must have every message whose send was answered, sums and a balance that agree with
them, and every passcode as it was left: valid once, and not again.
"""

from __future__ import annotations

import http.client
import json
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

SENDERS = 8
BALANCE = 1_000_000
READS = ("/state.json", "/state.json?requests_after=0&limit=3", "/state.json?messages_after=0&limit=3")
CHECKED = 5  # passcodes after each kill


@dataclass(slots=True)
class Known:
    """What the senders were told, and which passcodes were used up."""

    answered: set[str] = field(default_factory=set)
    codes: dict[tuple[str, str], str] = field(default_factory=dict)
    used: set[tuple[str, str]] = field(default_factory=set)


@contextmanager
def running(state: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    command = ["-m", "smsotp_nb", "sandbox", "--balance", str(BALANCE), "--state", str(state)]
    with subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process, int(process.stdout.readline().strip().rpartition(":")[2])
        finally:
            process.kill()


def ask(connection: http.client.HTTPConnection, path: str, body: dict[str, Any] | None = None) -> Any:
    if body is None:
        connection.request("GET", path)
    else:
        action = f"/?action={path}&accessKeyId=k"
        connection.request("POST", action, json.dumps(body), {"Content-Type": "application/json"})
    return json.loads(connection.getresponse().read())


def send(port: int, known: Known, name: str) -> None:
    """Send messages and passcodes, and read in between, until the sandbox dies."""
    chosen = random.Random(name)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    with suppress(OSError, http.client.HTTPException), closing(connection):
        for n in range(1_000_000):
            what = chosen.random()
            if what < 0.7:
                to = ["+12025550123", "+33199001234"][: chosen.randint(1, 2)]
                found = ask(connection, "sms.message.send", {"to": to, "text": f"Hi {n} " * chosen.randint(1, 30)})
                known.answered.update(record["id"] for record in found["data"]["messages"])
            elif what < 0.9:
                to_one, intent, code = "+12025550199", f"{name}-{n}", f"{chosen.randint(0, 9999):04d}"
                body = {"to": to_one, "intent": intent, "code": code, "ttl": 1800}
                known.answered.add(ask(connection, "otp.send", body)["data"]["id"])
                known.codes[to_one, intent] = code
            else:
                ask(connection, chosen.choice(READS))


def check(port: int, known: Known) -> int:
    """Compare what is there with what was told, and return how many messages there are."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        report = ask(connection, "/state.json?messages_after=0")
        kept = {message["id"] for message in report["inbox"]}
        assert known.answered <= kept, f"{len(known.answered - kept)} messages were answered and are lost"
        assert report["messages"] == len(kept)
        price = sum(Decimal(message["price"]) for message in report["inbox"])
        assert price + Decimal(report["balance"]) == BALANCE
        for (to, intent), code in list(known.codes.items())[-CHECKED:]:
            is_valid = ask(connection, "otp.verify", {"to": to, "intent": intent, "code": code})["data"]["valid"]
            assert is_valid == ((to, intent) not in known.used), "a passcode is not as it was left"
            known.used.add((to, intent))
    return len(kept)


def main(kills: int) -> None:
    known = Known()
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder) / "box.sqlite"
        for kill in range(kills):
            with running(state) as (process, port):
                check(port, known)
                names = [f"{kill}-{sender}" for sender in range(SENDERS)]
                senders = [threading.Thread(target=send, args=(port, known, name)) for name in names]
                for sender in senders:
                    sender.start()
                time.sleep(random.uniform(0.2, 2))
                process.kill()
                for sender in senders:
                    sender.join(30)
        with running(state) as (_process, port):
            kept = check(port, known)
    print(f"{kills} kills, {len(known.answered):,} messages answered, {kept:,} kept, none lost")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
