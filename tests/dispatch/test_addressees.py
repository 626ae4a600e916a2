"""The plan says who is texted: an altered or damaged record neither adds a stranger nor texts anybody twice."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest
from kills.people import numbers
from support.sending import sent

from smsotp_nb import Client, Ledger, Limits, Plan, RequestOptions, Sandbox, plan
from smsotp_nb.errors import LedgerError

STRANGER = "+12025550199"


def made() -> Plan:
    """Two teams in a chunk each, with words of its own."""
    frame = pd.DataFrame({"phone": numbers(6), "team": list("aaabbb")})
    return plan(frame, "Hello {team}", to="phone", campaign="autumn", requests=RequestOptions(chunk_size=3))


def recorded(ledger: Ledger, first: Plan, client: Client) -> Path:
    """Record a campaign of which nothing was sent yet."""
    ledger._begin(first, service=client.service).close()
    ledger.close()
    return ledger.path


def altered(path: Path, sql: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(sql)
        connection.commit()
    for mark in path.parent.glob(f"{path.name}-mark"):
        mark.unlink()


ANYBODY = "UPDATE recipient SET number={} WHERE position={}"
ALTERED = {
    "a stranger": ANYBODY.format(STRANGER[1:], 1),
    "somebody of another request": ANYBODY.format("(SELECT number FROM recipient WHERE position=5)", 1),
    "somebody of this request": ANYBODY.format("(SELECT number FROM recipient WHERE position=2)", 1),
    "no number": ANYBODY.format("NULL", 1),
    "text": ANYBODY.format("'abc'", 1),
    "a negative number": ANYBODY.format("-1", 1),
    "nought": ANYBODY.format("0", 1),
    "a number beyond all": ANYBODY.format("9223372036854775807", 1),
    "another's words": "UPDATE chunk SET body=(SELECT body FROM chunk WHERE chunk=1) WHERE chunk=0",
    "no words of the plan": "UPDATE chunk SET body=7 WHERE chunk=0",
    "a place that is none": "UPDATE recipient SET number='1,2' WHERE position=1",
}


@pytest.mark.parametrize("sql", ALTERED.values(), ids=ALTERED.keys())
def test_an_altered_record_texts_nobody_else(
    sql: str, box: Sandbox, client: Client, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    altered(recorded(ledger, made(), client), sql)
    monkeypatch.setattr("smsotp_nb._ledger.opening._refuse_damaged", lambda *_: None)  # as if nobody had seen the file
    with pytest.raises(LedgerError, match="Nothing of this request was sent"):
        sent(made(), client, ledger, threads=1)
    inbox = box.inbox
    words = dict(zip(numbers(6), ["Hello a"] * 3 + ["Hello b"] * 3, strict=True))
    assert not inbox["to"].duplicated().any()
    assert {to: text for to, text in zip(inbox["to"], inbox["text"], strict=True) if words.get(to) != text} == {}


def test_nobody_who_was_texted_takes_the_place_of_another(box: Sandbox, client: Client, ledger: Ledger) -> None:
    """What was sent in an earlier call counts, too."""
    sent(made(), client, ledger, limits=Limits(first=3))
    with ledger._store.writing() as connection:
        connection.execute(ANYBODY.format("(SELECT number FROM recipient WHERE position=0)", 4))
        connection.execute("UPDATE chunk SET body=(SELECT body FROM chunk WHERE chunk=0)")
    with pytest.raises(LedgerError, match="a second time"):
        sent(made(), client, ledger)
    assert sorted(box.inbox["to"]) == sorted(numbers(3))


def test_nobody_who_was_texted_in_an_earlier_call_is_texted_the_same_words_again(
    box: Sandbox, client: Client, ledger: Ledger
) -> None:
    alike = plan(
        pd.DataFrame({"phone": numbers(6)}),
        "Hello",
        to="phone",
        campaign="autumn",
        requests=RequestOptions(chunk_size=3),
    )
    sent(alike, client, ledger, limits=Limits(first=3))
    with ledger._store.writing() as connection:
        connection.execute(ANYBODY.format(numbers(1)[0][1:], 4))
    with pytest.raises(LedgerError, match=r"request 2 would text people \(\+1201\.\.\.0100\) whom the plan"):
        sent(alike, client, ledger)
    assert sorted(box.inbox["to"]) == sorted(numbers(3))


def test_a_list_in_another_order_continues(box: Sandbox, client: Client, ledger: Ledger) -> None:
    sent(made(), client, ledger, limits=Limits(first=2))
    turned = pd.DataFrame({"phone": numbers(6)[::-1], "team": list("bbbaaa")})
    again = plan(turned, "Hello {team}", to="phone", campaign="autumn", requests=RequestOptions(chunk_size=3))
    assert sent(again, client, ledger)["status"].eq("accepted").all()
    assert sorted(box.inbox["to"]) == sorted(numbers(6))
