"""Time planning beyond normalization, beside a plain script that only formats and groups the same frame.

    python benchmarks/planning.py [rows]

The numbers carry the calling code 999, which no country has; they stand for what ``phones.normalize`` would return.
"""

from __future__ import annotations

import inspect
import resource
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from smsotp_nb._planning import Message, Plan, Template, arguments, assembly, column, plan, suppression

TEXT = "Hi {name}, your bill of {amount} for {city} is due. Pay until Sunday and save 20 %. Thank you, Acme."
MESSAGES: dict[str, dict[str, Any]] = {
    "one text for all": {"message": "The office is closed on Friday. Thank you for your patience, Acme."},
    "a hundred texts": {"message": "Hi, the shop in {city} is closed on Friday. Thank you for your patience, Acme."},
    "every text its own": {"message": TEXT},
    "every text its own, from a column": {"message": column("words")},
    "the same, not looked through": {"message": Message(column("words"), literal=True)},
    "every text its own, ucs2, 3 parts": {"message": "Добрый день, {name}! " + TEXT + " 😀", "signature": "Acme"},
    "template, every row its own": {"message": Template("bill", ["name", "amount", "city"])},
}


def frame(rows: int) -> pd.DataFrame:
    """Return recipients with distinct names and amounts in a hundred cities."""
    random = np.random.default_rng(1)
    number = pd.Series(np.arange(rows)).astype("str")
    people = pd.DataFrame(
        {
            "phone": "+999" + (pd.Series(np.arange(rows)) + 10**8).astype("str"),
            "name": "Name" + number,
            "amount": random.integers(1, 90_000, rows) / 100,
            "city": "City " + pd.Series(random.integers(0, 100, rows)).astype("str"),
        }
    )
    bill = ", your bill of $" + people["amount"].astype("str") + " for " + people["city"]
    return people.assign(words="Hi " + people["name"] + bill + TEXT.partition("{city}")[2])


def normalized(people: pd.DataFrame) -> pd.DataFrame:
    """Return what `phones.normalize` gives for good numbers, a tenth of them repeated."""
    rows = len(people)
    to = people["phone"].where(np.arange(rows) % 10 != 9, people["phone"].shift(5))
    regions = pd.Series(["US", "IN", "DE", "FR", "BR"], dtype="str").take(np.arange(rows) % 5).reset_index(drop=True)
    blank = pd.Series([None], dtype="str").take(np.zeros(rows, dtype=np.intp)).reset_index(drop=True)
    kind = pd.Series(["MOBILE"], dtype="str").take(np.zeros(rows, dtype=np.intp)).reset_index(drop=True)
    return pd.DataFrame({"to": to, "region": regions, "type": kind, "problem": blank, "note": blank})


def planned(people: pd.DataFrame, numbers: pd.DataFrame, message: dict[str, Any]) -> Plan:
    """Plan as `plan` does once the numbers are normalized."""
    rates = pd.DataFrame({"iso": ["US", "IN", "DE"], "currency": "USD", "price": [0.0075, 0.0021, 0.0713]})
    defaults = {name: one.default for name, one in inspect.signature(plan).parameters.items()}
    asked = arguments.read(
        people, defaults | {"to": "phone", "campaign": "benchmark", "keep": ("city",), "rates": rates} | message
    )
    words = arguments.words_of(asked.wording, people, asked.message, asked.keep, list(people.columns))
    stops = np.unique(suppression.persons(people["phone"].iloc[::1000].astype("str")))
    left_out = [suppression.Suppression("stops", "SUPPRESSED", stops, len(stops))]
    kept = arguments.carried(people[list(asked.keep)], words)
    return Plan(**assembly.assemble(arguments.MadeOf(people, asked, words, numbers, (), left_out, kept)))


def plain(people: pd.DataFrame, numbers: pd.DataFrame) -> pd.Series:
    """Format, drop duplicates and group with pandas alone: no problems, no parts, no requests, no cost."""
    rows = zip(people["name"], people["amount"], people["city"], strict=True)
    texts = pd.Series([TEXT.format(name=name, amount=amount, city=city) for name, amount, city in rows])
    return texts[~numbers["to"].duplicated()].value_counts()


def seconds(work: Callable[[], object]) -> float:
    """Return how long the work takes, seconds."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main(rows: int) -> None:
    people = frame(rows)
    numbers = normalized(people)
    base = seconds(lambda: plain(people, numbers))
    print(f"{rows:,} rows; plain formatting and grouping: {base:.2f} s")
    for name, message in MESSAGES.items():
        took = seconds(partial(planned, people, numbers, message))
        print(f"{name:36} {took:6.2f} s  {took / base:4.1f} x plain  {took / rows * 1e6:5.1f} us a row")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
