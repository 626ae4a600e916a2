"""A year of campaigns in a ledger, sent to a sandbox that texts nobody. Seeded; every number is reserved for fiction.

    files = year_of_campaigns("year")
    files.ledger      # what was sent from December 2024 to 16 November 2025
    files.invoice     # what the provider says that October cost, as CSV, with a line a message
    files.replies     # each reply as the service gave it, with its request: a line of JSON each

On Mondays, Wednesdays and Fridays reminders are sent, a campaign a month, until the 25th, and on the 26th there is a
sale. Some sales are written with curly apostrophes and dashes, and so were the reminders of September. One request of
October lost its reply, so three rows are in doubt. The invoice has two of them, and beside them a wrong price, a line
twice, a message that nobody sent, and one message less.
"""

from __future__ import annotations

import csv
import json
import random
import warnings
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

import smsotp_nb as sms

MONTHS = tuple(str(month) for month in pd.period_range("2024-12", "2025-11", freq="M"))
LAST = date(2025, 11, 16)
MISWRITTEN = "2025-09"
INVOICED = "2025-10"
LOST = datetime(2025, 10, 27, 9, tzinfo=UTC)
REMINDER = "Your order of {month} is ready. Our shop keeps it until Saturday evening, at the desk by the door."
SALES = (
    "Hi {name}, it’s our winter sale: 20% off coats, hats and gloves until Sunday, in every shop and online.",
    "Hi {name}, the new year begins with 10% off everything that is blue, until Saturday, in every shop.",
    "Hi {name}, flowers and chocolate are waiting for you – this week with a card that we write by hand.",
    "Hi {name}, spring is here: boots go at half the price until Sunday, and so does every warm jacket.",
    "Hi {name}, it’s Easter week… eggs are hidden in every shop, and some of them hold a voucher for you.",
    "Hi {name}, our garden opens on Saturday at nine. Bring a friend, and the second coffee is on the house.",
    "Hi {name}, summer sale: 30% off sandals, shirts and hats until Sunday, in every shop and online.",
    "Hi {name}, we’re at the lake all week – swim, rest, and pick up your ice cream at our red tent.",
    "Hi {name}, back to school: three notebooks for the price of two until Friday, in every shop.",
    "Hi {name}, autumn sale: 20% off rain coats and umbrellas until Sunday, in every shop and online.",
    "Hi {name}, our shop is ten years old. Come by on Thursday for cake, music and a small present.",
    "Hi {name}, it’s nearly winter: 20% off coats, hats and gloves until Sunday, in every shop and online.",
)
VOUCHER = "Your voucher is at the desk: show this message by Friday and take ten euros off."
NAMES = ("Ann", "Ben", "Carla", "Łucja")
RANGES = {  # of numbers that regulators keep free, and how much of the people each has
    "+12025550": (range(100, 200), 0.25),
    "+14155550": (range(100, 200), 0.23),
    "+3319900": (range(1000, 1200), 0.24),
    "+491713920": (range(100, 300), 0.19),
    "+46701740": (range(610, 700), 0.09),
}
NAMED = {"to": "phone", "keep": ["segment"], "rates": Path(__file__).with_name("rates.csv")}


class Files(NamedTuple):
    """What a year left behind."""

    ledger: Path
    invoice: Path
    replies: Path


def year_of_campaigns(folder: str | Path = "year", *, seed: int = 11) -> Files:
    """Make the year in a folder, or return the one that is there.

    Raises:
        FileExistsError: the folder holds a year that was not finished.
    """
    place = Path(folder)
    files = Files(place / "ledger.sqlite", place / "invoice.csv", place / "replies.jsonl")
    if files.ledger.exists():
        if files.invoice.exists():
            return files
        raise FileExistsError(f"{place} holds a year that was not finished; delete the folder and run this again")
    place.mkdir(parents=True, exist_ok=True)
    with sms.Sandbox(seed=seed) as box:
        year = _Year(files.ledger, box, random.Random(seed))
        year.make()
        replies, lost = _exchanged(year.sent, box.requests), _lost(box.requests, box.inbox)
    files.replies.write_text("".join(json.dumps(reply) + "\n" for reply in replies), encoding="utf-8")
    _write_invoice(files.invoice, replies, lost)
    return files


class _Year:
    """The year while it is made: a ledger whose clock is the day that is being sent, and a sandbox."""

    def __init__(self, ledger: Path, box: sms.Sandbox, chance: random.Random) -> None:
        # The year is made from its first day on: a ledger believes no moment before the latest that it has seen.
        self._now = datetime.fromisoformat(f"{MONTHS[0]}-01T08:00:00+00:00")
        # Whoever deleted the folder and makes the year again lost no record of anybody: the sandbox texts nobody.
        self._ledger = sms.Ledger(ledger, create=True, accept_older=True, now=lambda: self._now)
        self._box, self._client, self._chance = box, box.client(), chance
        self.sent: list[tuple[str, datetime]] = []  # the campaign and moment of each request

    def make(self) -> None:
        for number, month in enumerate(MONTHS):
            self._remind(month, size=16 + number + self._chance.randrange(5))
            if month < f"{LAST:%Y-%m}":
                self._sell(month, size=60 + 3 * number + self._chance.randrange(20))
            if month == INVOICED:
                self._lose_a_reply()
        self._ledger.close()

    def _remind(self, month: str, *, size: int) -> None:
        """Send the reminders of a month, a request a day."""
        days = _days(month)
        text = REMINDER.replace("{month}", f"{days[0]:%B}")
        text = text.replace(". Our", " – our") if month == MISWRITTEN else text
        people = self._people(size * len(days))
        name = f"reminders-{month}"
        plan = sms.plan(
            people, text, campaign=name, requests=sms.RequestOptions(chunk_size=-(-len(people) // len(days))), **NAMED
        )
        with self._ledger._begin(plan, service=self._client.service) as run:
            for chunk, self._now in zip(run.chunks(), days, strict=True):
                claim = run.claim(chunk)
                assert claim is not None
                run.settle_reply(claim, self._client.send_message(claim.to, text=text), seconds=0.1)
                self.sent.append((name, self._now))

    def _sell(self, month: str, *, size: int) -> None:
        self._now = datetime.fromisoformat(f"{month}-26T09:00:00+00:00")
        name, text = f"sale-{self._now:%B}".lower(), SALES[self._now.month % 12]
        self._send(sms.plan(self._people(size), text, campaign=name, **NAMED))

    def _lose_a_reply(self) -> None:
        self._now = LOST
        self._box.fault("drop_after", next=1)
        self._send(
            sms.plan(self._people(6), VOUCHER, campaign="vouchers", requests=sms.RequestOptions(chunk_size=3), **NAMED)
        )

    def _send(self, plan: sms.Plan) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sms.errors.SmsOtpWarning)  # rows are meant to be in doubt
            sms.send(plan.with_requests(threads=1), self._client, ledger=self._ledger, progress=False)
        self.sent += [(plan.campaign, self._now)] * (len(self._box.requests) - len(self.sent))

    def _people(self, size: int) -> pd.DataFrame:
        rows = [
            (f"{start}{last}", self._chance.choice(NAMES), self._chance.choice(("regular", "new")))
            for start, (lasts, share) in RANGES.items()
            for last in self._chance.sample(lasts, round(share * size))
        ]
        self._chance.shuffle(rows)
        return pd.DataFrame(rows, columns=["phone", "name", "segment"])


def _days(month: str) -> list[datetime]:
    """Return the Mondays, Wednesdays and Fridays of a month until its 25th, at nine."""
    days = pd.date_range(f"{month}-01T09:00", periods=31, freq="D", tz="UTC").to_pydatetime()
    return [
        day
        for day in days
        if f"{day:%Y-%m}" == month and day.weekday() in (0, 2, 4) and day.day <= 25 and day.date() <= LAST
    ]


def _exchanged(sent: list[tuple[str, datetime]], requests: pd.DataFrame) -> list[dict[str, Any]]:
    """Return what each request asked and what came back; nothing came back of a reply that was lost."""
    return [
        {
            "campaign": campaign,
            "at": f"{at:%Y-%m-%d %H:%M:%S}",
            "request": json.loads(body),
            "reply": json.loads(reply) if reply else None,
        }
        for (campaign, at), body, reply in zip(sent, requests["body"], requests["reply"], strict=True)
    ]


def _lost(requests: pd.DataFrame, inbox: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the messages of the request that lost its reply, as the sandbox knows them."""
    body = json.loads(requests.loc[requests["fault"] == "drop_after", "body"].iloc[0])
    found = inbox[inbox["to"].isin(body["to"]) & (inbox["text"] == body["text"])]
    return found[["id", "to", "parts", "price"]].to_dict("records")


def _write_invoice(path: Path, replies: list[dict[str, Any]], lost: list[dict[str, Any]]) -> None:
    """Write the invoice of a month, with the differences that are planted in it."""
    known = [
        (reply["at"], message)
        for reply in replies
        if reply["reply"] and reply["at"].startswith(INVOICED)
        for message in reply["reply"]["data"]["messages"]
    ]
    known += [(f"{LOST:%Y-%m-%d %H:%M:%S}", message) for message in lost[:2]]
    lines = [
        [message["id"], message["to"], at, message["parts"], f"{float(message['price']):.6f}", "USD"]
        for at, message in known
    ]
    lines[4][4] = "0.150000"  # a wrong price
    lines[7][0], lines[7][1] = "0" * 32, "+12025550199"  # a message that nobody sent, in place of one that was
    lines.append(lines[9])  # the same message once more
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["Message", "Number", "Sent (UTC)", "Parts", "Amount", "Currency"], *lines])
