"""How the time of public functions grows with the length of a text that was made to be slow.

    python benchmarks/hostile_texts.py [WORDS ...] [--long] [--milliseconds 5] [--runs 3]

Each function gets each of the texts at a length n at which it needs some milliseconds, then at 2n and 4n: CPU time, the
best of some runs. The exponent is that of the growth, n to the power of it: 1 is linear, 2 quadratic. What lies above
1.35 is measured again with more runs and texts of up to eight times the length, because the step at which a text leaves
the processor's cache looks like growth; it is marked if both doublings lie there, and the command ends with 1. What
half a million characters keep busy for less than half the milliseconds is not. WORDS keep the pairs whose name holds
one of them, --long prints every pair and not only the five steepest of each function.
"""

from __future__ import annotations

import argparse
import atexit
import contextlib
import datetime as dt
import functools
import itertools
import logging
import math
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

import smsotp_nb as sms
from smsotp_nb import _templates as templates
from smsotp_nb import otp, parts, phones, rates, recipients, results, sandbox, settings
from smsotp_nb._cards import Card
from smsotp_nb._cards.blocks import Message, Note, Table
from smsotp_nb._phones import one_phone
from smsotp_nb._phones.vocabulary import REPAIRS
from smsotp_nb.sandbox import choices, messages
from smsotp_nb.sandbox.expectations import Expectation
from smsotp_nb.sandbox.faults import Fault

SHORTEST, LONGEST = 512, 1 << 19  # characters
STEEP = 1.35
REPEATED: tuple[str, ...] = (
    "(", "+", "0", "1 ", " ", "a", "aA", "a ", "\u0301", ",", ";", '"', '","', '"a"b,', "'=", ",=", "\n", "\r", "\t",
    "{", "{a}", "{a", "=", "\\", "\x00", "\u202e", "ext", "x1", "tel:", ";phone-context=", "/", "1/2", "€", "[", "😀",
    ".-", " - ", "\uff11", "<", "A1", "a:", "@", "1;2\n", "e9",
    "\u0301\u0323",  # marks that Unicode orders anew: the square of their number, wherever a text is normalized
)  # fmt: skip
BORDERS = (("", ""), ("+1", "!"), ('"', "x"), ("{", "\x00"))  # what stands before and behind, in turn

Act = Callable[[], Any]
CLIENT = sms.Client(settings.Settings(base_url="https://a.test", access_key_id="key"))
US = {"default_region": "US"}


class Growth(NamedTuple):
    function: str
    text: str
    size: int
    seconds: tuple[float, ...]
    error: str = ""

    @property
    def exponent(self) -> float:
        return math.log(self.seconds[-1] / self.seconds[0]) / math.log(2 ** (len(self.seconds) - 1))


def series(text: str) -> pd.Series:
    return pd.Series([text], dtype=object)


def frame(text: str) -> pd.DataFrame:
    return pd.DataFrame({"phone": [text], "name": [text]}, dtype=object)


def result_table(**columns: str) -> pd.DataFrame:
    empty = {name: pd.Series([None], dtype=dtype) for name, dtype in results.COLUMNS.items()}
    return pd.DataFrame(empty).assign(status="accepted", to="+12025550123", **columns)


def written(text: str, folder: Path, ending: str) -> Path:
    file = folder / f"list{ending}"
    file.write_text(text, encoding="utf-8", errors="surrogatepass", newline="")
    return file


def rehearsed(text: str) -> None:
    with sms.Sandbox() as box:
        box.client().send_message("+12025550123", text=text)
        str(box.inbox)


def asked(method: str, address: str, body: str, headers: dict[str, str]) -> None:
    """Send bytes to the HTTP parser of a sandbox as they are, and read what it says."""
    sent = body.encode()
    lines = [f"{method} {address} HTTP/1.1", "Host: localhost", "Connection: close", f"Content-Length: {len(sent)}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    with contextlib.suppress(ConnectionError), socket.create_connection(listening(), timeout=60) as line:
        line.sendall("\r\n".join([*lines, "", ""]).encode() + sent)
        while line.recv(1 << 16):
            pass


@functools.cache
def listening() -> tuple[str, int]:
    box = sms.Sandbox()
    atexit.register(box.close)
    return "127.0.0.1", int(box.url.rstrip("/").rpartition(":")[2])


def remembered(text: str, folder: Path) -> None:
    """Let a sandbox keep a text in its state file, and read it back."""
    file = folder / "state.sqlite"
    file.unlink(missing_ok=True)
    with sms.Sandbox(state=file) as box:
        box.client().send_message("+12025550123", text=text)
    with sms.Sandbox(state=file) as box:
        str(box.inbox)


def planned(**given: Any) -> None:
    sms.plan(frame("+12025550123"), **{"message": "Hello", "campaign": "a", "to": "phone", **given})


def filled(text: str) -> None:
    sms.plan(frame("+12025550123").assign(name=text), "Hello {name}", campaign="a", to="phone")


def shown(text: str) -> None:
    card = Card("a", text, (Note("i", text), Table(columns=("a",), rows=((text,),)), Message("a", text)))
    card.html(), card.text(80)


def on_text() -> dict[str, Callable[[str], Any]]:
    """Return the functions that take a text, a cell or a column of them, by name."""
    return {
        "phones.normalize": lambda text: phones.normalize(series(text), **US),
        "phones.normalize repair": lambda text: phones.normalize(
            series(text), reading=phones.Reading(repair=REPAIRS), **US
        ),
        "phones.normalize region": lambda text: phones.normalize(series("2025550123"), region=series(text)),
        "phones.normalize default_region": lambda text: phones.normalize(["2025550123"], default_region=text),
        "phones.verdict": lambda text: phones.verdict(series(text), **US),
        "phones.explain": lambda text: phones.explain(text, **US),
        "phones.duplicates": lambda text: phones.duplicates(series(text)),
        "phones.one_phone": lambda text: one_phone(series(text)),
        "phones.explode": lambda text: phones.explode(frame(text), "phone", **US),
        "phones.find_columns": lambda text: phones.find_columns(frame(text), **US),
        "phones.weigh_column": lambda text: phones.weigh_column(series(text), **US),
        "phones.edit": lambda text: phones.edit(frame("a"), {0: {"phone": text}}),
        "phones.report": lambda text: phones.report(phones.normalize(series(text), **US), numbers=series(text)),
        "parts.count": parts.count,
        "parts.counts": lambda text: parts.counts([text]),
        "parts.explain": parts.explain,
        "parts.plain": parts.plain,
        "parts.split": parts.split,
        "templates.parse": templates.parse,
        "plan of a value": filled,
        "rates.check": lambda text: rates.check(
            pd.DataFrame({name: [text] for name in ("iso", "currency", "price", "type", "valid_from", "low", "seen")})
        ),
        "results.check": lambda text: results.check(result_table(error=text)),
        "results.check amounts": lambda text: results.check(result_table(price=text, at=text, parts=text)),
        "results.publishable": lambda text: results.publishable(result_table(error=text)),
        "settings.Settings": lambda text: settings.Settings(base_url=f"https://{text}", access_key_id=text),
        "settings.Settings service": lambda text: settings.Settings(base_url="https://a.test", service=text),
        "otp.Request": lambda text: otp.Request(to=text, intent=text, signature=text),
        "otp.send": lambda text: otp.send(text, client=CLIENT),
        "sandbox.Rules": lambda text: sandbox.Rules(templates={"a": text}),
        "sandbox.Sandbox": rehearsed,
        "sandbox templates": lambda text: messages.fill(text, dict.fromkeys(messages.variables(text), "x")),
        "sandbox templates value": lambda text: messages.fill("{a}{a}", {"a": text}),
        "sandbox signed": lambda text: messages.add_signature(text, text, "cn"),
        "sandbox passcode": lambda text: messages.passcode_text("123456", text, "cn"),
        "sandbox fault": Fault.read,
        "sandbox fault field": lambda text: Fault.read(f"latency seconds={text}"),
        "sandbox reserved": lambda text: choices.error_code_of([text]),
        "sandbox expectation": lambda text: Expectation.from_arguments({"text": text}).describe(),
        "sandbox http body": lambda text: asked("POST", "/?action=otp.send&accessKeyId=k", text, {}),
        "sandbox http address": lambda text: asked("POST", f"/{text}", "{}", {}),
        "sandbox http query": lambda text: asked("POST", f"/?action={text}", "{}", {}),
        "sandbox http header": lambda text: asked("POST", "/", "{}", {"X-A": text, "Cookie": text}),
        "plan text": lambda text: planned(message=text),
        "plan campaign": lambda text: planned(campaign=text),
        "plan signature": lambda text: planned(signature=text),
        "plan numbers": lambda text: sms.plan(frame(text), "Hello", to="phone", campaign="a", **US),
        "plan region": lambda text: sms.plan(
            frame("2025550123").assign(country=text), "Hello", to="phone", region="country", campaign="a"
        ),
        "settings.Settings signature": lambda text: settings.Settings.from_env({"SMSOTP_BASE_URL": text}),
        "cards": shown,
    }


def on_file(folder: Path) -> dict[str, Callable[[str], Any]]:
    """Return the functions that read or write a file, by name; the text is the whole file, its header or a cell."""
    head = ",".join(results.COLUMNS)
    cells = ",".join("accepted" if name == "status" else "" for name in results.COLUMNS)
    people = sms.People(sms.Ledger(folder / "people.sqlite", create=True))
    return {
        "rates.read": lambda text: rates.read(written(text, folder, ".csv")),
        "rates.read header": lambda text: rates.read(written(f"iso,currency,price,{text}\n", folder, ".csv")),
        "rates.read rows": lambda text: rates.read(written(f"iso,currency,price\n{text}", folder, ".csv")),
        "recipients.read_recipients": lambda text: recipients.read_recipients(written(text, folder, ".csv")),
        "recipients.read_recipients rows": lambda text: recipients.read_recipients(
            written(f"phone,name\n+12025550123,{text}", folder, ".csv")
        ),
        "recipients.read_chunks": lambda text: list(recipients.read_chunks(written(text, folder, ".csv"), rows=1000)),
        "results.read": lambda text: results.read(written(text, folder, ".csv")),
        "results.read header": lambda text: results.read(written(f"{head},{text}\n{cells},\n", folder, ".csv")),
        "results.read index": lambda text: results.read(written(f"{text},{head}\n,{cells}\n", folder, ".csv")),
        "results.read row": lambda text: results.read(written(f"{head},a\n{cells},{text}\n", folder, ".csv")),
        "results.read cell": lambda text: results.read(
            written(f'{head},a\n{cells},"{text.replace(chr(34), chr(34) * 2)}"\n', folder, ".csv")
        ),
        "results.write csv": lambda text: results.write(result_table(error=text), folder / "w.csv", overwrite=True),
        "results.write xlsx": lambda text: results.write(result_table(error=text), folder / "w.xlsx", overwrite=True),
        "sandbox state": lambda text: remembered(text, folder),
        "sandbox state file": lambda text: sms.Sandbox(state=written(text, folder, ".sqlite")).close(),
        "sandbox templates file": lambda text: messages.load_templates(written(text, folder, ".json")),
        "sandbox templates file value": lambda text: messages.load_templates(
            written(f'{{"a":{text}}}', folder, ".json")
        ),
        "people.opt_out": lambda text: people.opt_out(text, source=text),
        "people.history": lambda text: people.history(text),
        "people.import_optouts": lambda text: people.import_optouts(frame(text), column="phone", source="list", **US),
    }


def days(count: int) -> list[dt.date]:
    return [dt.date.fromordinal(1 + at) for at in range(count)]


def on_numbers(folder: Path) -> dict[str, Callable[[int], Any]]:
    """Return calls whose size is a count: of columns, of rows that are alike, of digits."""
    head = ",".join(results.COLUMNS)
    cells = ",".join("accepted" if name == "status" else "" for name in results.COLUMNS)

    def many(n: int) -> str:
        return ",".join(f"c{at}" for at in range(n))

    return {
        "results.read columns": lambda n: results.read(
            written(f"{head},{many(n)}\n{cells},{'1,' * (n - 1)}1\n", folder, ".csv")
        ),
        "results.read index columns": lambda n: results.read(
            written(f"{many(n)},{head}\n{'1,' * n}{cells}\n", folder, ".csv")
        ),
        "results.read rows": lambda n: results.read(written(f"{head}\n" + f"{cells}\n" * n, folder, ".csv")),
        "rates.read columns": lambda n: rates.read(written(f"iso,currency,price,{many(n)}\n", folder, ".csv")),
        "rates.check rows": lambda n: rates.check(
            pd.DataFrame({"iso": "US", "currency": "USD", "price": [1] * n, "valid_from": days(n)})
        ),
        "rates.check repeats": lambda n: rates.check(pd.DataFrame({"iso": "US", "currency": "USD", "price": [1] * n})),
        "recipients.read_recipients columns": lambda n: recipients.read_recipients(
            written(f"{many(n)}\n{'1,' * (n - 1)}1\n", folder, ".csv")
        ),
        "phones.normalize alike": lambda n: phones.normalize(pd.Series(["+12025550123"] * n)),
        "phones.normalize integer": lambda n: phones.normalize(pd.Series([1 << 4 * n], dtype=object)),
        "phones.explode pieces": lambda n: phones.explode(frame(" / ".join(["+12025550123"] * n)), "phone"),
        "phones.find_columns columns": lambda n: phones.find_columns(pd.DataFrame([["1"] * n])),
        "templates.parse variables": lambda n: templates.parse("".join(f"{{v{at}}}" for at in range(n))),
        "plan columns": lambda n: sms.plan(
            pd.DataFrame([["+12025550123"] * (n + 1)], columns=["phone", *(f"c{at}" for at in range(n))]),
            "{c0}",
            campaign="a",
            to="phone",
        ),
        "cards rows": lambda n: Card("a", "", (Table(columns=("a", "b"), rows=(("x", "y"),) * n),)).html(),
    }


def text_of(unit: str, border: tuple[str, str], size: int) -> str:
    return border[0] + (unit * (size // len(unit) + 1))[:size] + border[1]


def pairs(folder: Path) -> Iterator[tuple[str, str, Callable[[int], Act]]]:
    """Give each pair: the function, the text in words, and what makes the call for a size."""
    for name, act in (on_text() | on_file(folder)).items():
        for at, unit in enumerate(REPEATED):
            border = BORDERS[at % len(BORDERS)]
            yield name, ascii(text_of(unit, border, 2 * len(unit))), functools.partial(_call, act, unit, border)
    for name, counted in on_numbers(folder).items():
        yield name, "count", functools.partial(_counted, counted)


def _call(act: Callable[[str], Any], unit: str, border: tuple[str, str], size: int) -> Act:
    return functools.partial(act, text_of(unit, border, size))


def _counted(act: Callable[[int], Any], size: int) -> Act:
    return functools.partial(act, size)


def seconds_of(act: Act, runs: int) -> tuple[float, str]:
    """Return the best CPU time of a call and the name of an error that is not ours."""
    best, error = math.inf, ""
    for _ in range(runs):
        began = time.process_time()
        try:
            act()
        except sms.errors.SmsOtpError:
            pass
        except Exception as foreign:  # noqa: BLE001 - any is a finding
            error = type(foreign).__name__
        best = min(best, time.process_time() - began)
    return best, error


def growth(name: str, text: str, make: Callable[[int], Act], *, least: float, runs: int, most: int = 1) -> Growth:
    """Return how the time of a pair grows from the first size that can be measured, up to ``most`` times LONGEST."""
    size, longest = (SHORTEST, most * LONGEST) if text != "count" else (SHORTEST // 8, most * LONGEST // 16)
    floor, error = seconds_of(make(8), runs)
    while True:
        taken, wrong = seconds_of(make(size), 1)
        error = error or wrong
        if taken - floor >= least or size >= longest:
            break
        size *= 2
    found = [seconds_of(make(size * times), runs) for times in (1, 2, 4)]
    error = next((wrong for _, wrong in found if wrong), error)
    return Growth(name, text, size, tuple(max(taken - floor, least / 20) for taken, _ in found), error)


def measured(name: str, text: str, make: Callable[[int], Act], *, least: float, runs: int) -> Growth:
    """Return the growth of a pair; a steep one is believed only if more and longer runs say the same."""
    found = growth(name, text, make, least=least, runs=runs)
    if found.exponent > STEEP and found.seconds[-1] > least:
        return growth(name, text, make, least=8 * least, runs=2 * runs, most=8)
    return found


def steep(found: Growth, least: float) -> bool:
    """Return whether both doublings took too much: where a text leaves the processor's cache, one of them does."""
    grown = [later / earlier for earlier, later in itertools.pairwise(found.seconds)]
    return found.seconds[0] >= least / 2 and min(grown) > 2**STEEP


def line(found: Growth, least: float) -> str:
    times = "  ".join(f"{1000 * taken:9.1f}" for taken in found.seconds)
    mark = "  ABOVE LINEAR" if steep(found, least) else ""
    wrong = f"  {found.error}" if found.error else ""
    return f"{found.function:36} {found.text:26.26} {found.size:8,}  {times}  {found.exponent:5.2f}{mark}{wrong}"


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("words", nargs="*")
    asked.add_argument("--long", action="store_true")
    asked.add_argument("--milliseconds", type=float, default=5.0)
    asked.add_argument("--runs", type=int, default=3)
    given = asked.parse_args()
    least = given.milliseconds / 1000
    logging.getLogger("smsotp_nb").setLevel(logging.ERROR)
    print(f"{'function':36} {'text':26} {'n':>8}  {'ms at n':>9}  {'2n':>9}  {'4n':>9}  exponent")
    every: list[Growth] = []
    with tempfile.TemporaryDirectory() as folder:
        by_name: dict[str, list[Any]] = {}
        for name, text, make in pairs(Path(folder)):
            if not given.words or any(word in name for word in given.words):
                by_name.setdefault(name, []).append((text, make))
        for name, group in by_name.items():
            rows = [measured(name, text, make, least=least, runs=given.runs) for text, make in group]
            every += rows
            rows.sort(key=lambda found: -found.exponent)
            shown_rows = [
                at for at, found in enumerate(rows) if given.long or at < 5 or steep(found, least) or found.error
            ]
            print("\n".join(line(rows[at], least) for at in shown_rows), flush=True)
    bad = [found for found in every if steep(found, least)]
    foreign = [found for found in every if found.error]
    print(f"{len(every):,} pairs, {len(bad)} above linear, {len(foreign)} with an error that is not ours")
    return 1 if bad or foreign else 0


if __name__ == "__main__":
    sys.exit(main())
