"""Texts of others that quote a person's number: what forgetting that person takes out of them, and what it leaves."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pandas as pd
import pytest
from support.answers import Ending, MessageRecord, Messages, SendReply
from support.servers import sampled, stored

from smsotp_nb import Ledger, People, RequestOptions, Sandbox, Template, plan, send

from .sending import NUMBERS, plan_of

ASKED = "+12025550123"
NEIGHBOUR = "+12025550124"
QUOTED = [
    ("as it is", "12025550123", "(forgotten)"),
    ("with a plus", "tel:+12025550123", "tel:(forgotten)"),
    ("set apart", "+1 202 555 0123", "(forgotten)"),
    ("in brackets", "call (202) 555-0123.", "call (forgotten)."),
    ("all in brackets", "Ann (+1 202 555 0123)", "Ann (forgotten)"),
    ("with hyphens", "202-555-0123", "(forgotten)"),
    ("with dots", "202.555.0123", "(forgotten)"),
    ("with other hyphens and blanks", "+1\u00a0202\u2011555\u20130123", "(forgotten)"),
    ("at home", "2025550123", "(forgotten)"),
    ("dialled abroad", "001 202 555 0123", "(forgotten)"),
    ("a number read as a float", "12025550123.0", "(forgotten).0"),
    ("beside another one", f"12025550123/{NEIGHBOUR[1:]}", f"(forgotten)/{NEIGHBOUR[1:]}"),
    ("after another one", f"{NEIGHBOUR}, 2025550123", f"{NEIGHBOUR}, (forgotten)"),
    ("with its place", "form 12025550123-1", "form (forgotten)-1"),
    ("full-width", "１２０２５５５０１２３", "(forgotten)"),
    ("full-width and set apart", "＋１ ２０２ ５５５ ０１２３", "＋(forgotten)"),
    ("before letters", "12025550123x", "(forgotten)x"),
    ("digit by digit", "1 2 0 2 5 5 5 0 1 2 3", "(forgotten)"),
    ("of somebody else", NEIGHBOUR, NEIGHBOUR),
    ("in a longer number", "912025550123", "912025550123"),
    ("of another country", "+44 202 555 0123", "+44 202 555 0123"),
    ("a fraction", "0.5550123", "0.5550123"),
    ("few digits", "555 012", "555 012"),
]


@pytest.mark.both_ledgers
def test_sources_proofs_reasons_and_kept_columns_of_others_lose_the_number(ledger: Ledger, box: Sandbox) -> None:
    texts, left = [case[1] for case in QUOTED], [case[2] for case in QUOTED]
    frame = pd.DataFrame({"phone": NUMBERS[: len(texts)], "memo": texts, "tags": [{"of": [text]} for text in texts]})
    assert ASKED not in set(frame["phone"])
    made = plan(frame, "Hi", to="phone", campaign="a", keep=["memo", "tags"])
    send(made, client=box.client(), ledger=ledger, progress=False)
    people = People(ledger)
    for number, text in zip(NUMBERS, texts, strict=False):
        people.opt_out(number, source=f"web {text}", proof=f"letter {text}")
    later = plan_of("later", NUMBERS[:1], text="Ho")
    ledger._begin(later, service=box.client().service).close()
    ledger.record("later").withdraw(reason=" and ".join(texts))
    people.forget(ASKED)
    kept = ledger.record("a").results
    assert kept["memo"].tolist() == left
    assert [tags["of"][0] for tags in kept["tags"]] == left
    assert people.register["source"].iloc[: len(texts)].tolist() == [f"web {text}" for text in left]
    assert people.register["proof"].iloc[: len(texts)].tolist() == [f"letter {text}" for text in left]
    assert ledger.record("later").changes["reason"].tolist() == [" and ".join(left)]


@pytest.mark.both_ledgers
def test_kept_numbers_that_are_no_text_go_where_they_are_the_persons(ledger: Ledger, box: Sandbox) -> None:
    values = [12025550123, 2025550123.0, 5550123, 12025550124, 0.5550123]
    frame = pd.DataFrame({"phone": NUMBERS[:5], "other": pd.Series(values, dtype=object)})
    send(plan(frame, "Hi", to="phone", campaign="a", keep=["other"]), client=box.client(), ledger=ledger,
         progress=False)  # fmt: skip
    People(ledger).forget(ASKED)
    kept = ledger.record("a").results["other"]
    assert kept.isna().tolist() == [True, True, False, False, False]
    assert kept.dropna().tolist() == values[2:]


@pytest.mark.both_ledgers
def test_two_entries_that_differ_by_forgotten_numbers_alone_become_one(ledger: Ledger, box: Sandbox) -> None:
    people = People(ledger)
    for other in (ASKED, NEIGHBOUR):
        people.opt_out(NUMBERS[0], source=f"said by {other}", at="2026-11-01 10:00+00:00")
    assert people.forget([ASKED, NEIGHBOUR]) == 0
    assert people.register["source"].tolist().count("said by (forgotten)") == 1
    assert people.is_opted_out(NUMBERS[0])


@pytest.mark.both_ledgers
def test_ids_and_errors_of_the_service_lose_the_number(ledger: Ledger, box: Sandbox, tmp_path: Path) -> None:
    three = [ASKED, NEIGHBOUR, "+12025550125"]
    asked = ".".join(number[1:] for number in three)
    with ledger._begin(plan_of("a", three, requests=RequestOptions(chunk_size=3)), service=box.client().service) as run:
        claim = run.claim(0)
        assert claim
        records = [MessageRecord(f"id-{number}", number, "US", "1", 1, 7500) for number in three]
        run.settle_reply(claim, SendReply(Messages.of(records), request_id=f"rq-{asked}"), seconds=0.1)
    with ledger._begin(
        plan_of("b", three, text="Ho", requests=RequestOptions(chunk_size=3)), service=box.client().service
    ) as run:
        claim = run.claim(0)
        assert claim
        run.settle(claim, Ending("rejected", "body", 400, f"107111 {ASKED}", f"InvalidPhoneNumbers: {asked}", asked))
    sampled(ledger)
    told = json.loads(People(ledger).export(ASKED, tmp_path / "one.json").read_text(encoding="utf-8"))
    assert sorted((one["where"], one["quoted"]) for one in told["mentions"]) == [
        ("error of a request", ASKED),
        ("error of a request", ASKED[1:]),
        ("id of a message", ASKED),
        ("id of a request", ASKED[1:]),
        ("id of a request", ASKED[1:]),
    ]
    People(ledger).forget(ASKED)
    ledger.close()
    assert ASKED[1:].encode() not in stored(ledger)
    assert NEIGHBOUR[1:].encode() in stored(ledger)
    assert ledger.record("a").results["id"].tolist() == ["id-(forgotten)", *(f"id-{number}" for number in three[1:])]
    assert ledger.record("b").requests["error"].iloc[0].startswith("InvalidPhoneNumbers: (forgotten).12025550124")


@pytest.mark.slow
@pytest.mark.both_ledgers
def test_a_thousand_people_are_forgotten_at_once(ledger: Ledger, box: Sandbox) -> None:
    many = [f"+1202555{n:04}" for n in range(1000, 2000)]
    frame = pd.DataFrame({"phone": NUMBERS[:3], "memo": [f"of {many[0]}", f"of {many[-1]} and {NEIGHBOUR}", "of 12"]})
    send(plan(frame, "Hi", to="phone", campaign="a", keep=["memo"]), client=box.client(), ledger=ledger,
         progress=False)  # fmt: skip
    People(ledger).forget(many)
    kept = ledger.record("a").results["memo"].tolist()
    assert kept == ["of (forgotten)", f"of (forgotten) and {NEIGHBOUR}", "of 12"]


@pytest.mark.sampled(6)
@pytest.mark.both_ledgers
@pytest.mark.parametrize("between", ["\t", "\n", "\x0b", "\u2028", '"', "\\"], ids=ascii)
def test_what_json_writes_otherwise_sets_digits_apart_as_well(
    between: str, ledger: Ledger, box: Sandbox, tmp_path: Path
) -> None:
    memo = f"ask 202{between}555{between}0123"
    frame = pd.DataFrame({"phone": NUMBERS[:1], "memo": [memo]})
    send(plan(frame, "Hi", to="phone", campaign="a", keep=["memo"]), client=box.client(), ledger=ledger,
         progress=False)  # fmt: skip
    told = json.loads(People(ledger).export(ASKED, tmp_path / "one.json").read_text(encoding="utf-8"))
    assert [one["quoted"] for one in told["mentions"]] == [memo[4:]]
    People(ledger).forget(ASKED)
    assert ledger.record("a").results["memo"].tolist() == ["ask (forgotten)"]


def test_noughts_without_end_take_no_longer_than_their_number(ledger: Ledger, box: Sandbox) -> None:
    frame = pd.DataFrame({"phone": NUMBERS[:1], "memo": ["0 " * 3_000 + "x 2025550123"]})
    send(plan(frame, "Hi", to="phone", campaign="a", keep=["memo"]), client=box.client(), ledger=ledger,
         progress=False)  # fmt: skip
    begun = time.process_time()
    People(ledger).forget(ASKED)
    assert time.process_time() - begun < 8  # looked at from each of them it would take minutes
    assert ledger.record("a").results["memo"].tolist() == ["0 " * 3_000 + "x (forgotten)"]


def test_a_number_behind_a_nul_is_found(ledger: Ledger, tmp_path: Path) -> None:
    """There a text ends for SQLite, though not in the file."""
    People(ledger).opt_out(NEIGHBOUR, source=f"a\0 for {ASKED}", proof="p\0 1 202\000555 0123")
    told = json.loads(People(ledger).export(ASKED, tmp_path / "one.json").read_text(encoding="utf-8"))
    assert [one["quoted"] for one in told["mentions"]] == [ASKED, "1 202\000555 0123"]
    People(ledger).forget(ASKED)
    ledger.close()
    assert ASKED[1:].encode() not in stored(ledger)
    assert b"555 0123" not in stored(ledger)


@pytest.mark.both_ledgers
def test_what_is_told_is_what_goes_and_nothing_else(ledger: Ledger, box: Sandbox, tmp_path: Path) -> None:
    memo = [{ASKED: 1, "(202) 555-0123": 2}, [5550123, 2025550123, 12025550123]]
    frame = pd.DataFrame({"phone": [NEIGHBOUR, "+12025550125"], "memo": pd.Series(memo, dtype=object)})
    send(plan(frame, "Hi", to="phone", campaign="a", keep=["memo"]), client=box.client(), ledger=ledger,
         progress=False)  # fmt: skip
    people = People(ledger)
    told = json.loads(people.export(ASKED, tmp_path / "one.json").read_text(encoding="utf-8"))
    assert [one["quoted"] for one in told["mentions"]] == [ASKED, "(202) 555-0123", "2025550123", "12025550123"]
    people.forget(ASKED)
    kept = ledger.record("a").results["memo"].tolist()
    assert kept == [{"(forgotten)": 1, "(forgotten) 2": 2}, [5550123, None, None]]
    assert json.loads(people.export(ASKED, tmp_path / "two.json").read_text(encoding="utf-8"))["mentions"] == []


@pytest.mark.sampled(4)
@pytest.mark.both_ledgers
@pytest.mark.parametrize("written", ["12025550123", "+1 202 555 0123", "(202) 555-0123", "0012025550123"])
def test_words_and_their_segments_lose_the_number(ledger: Ledger, box: Sandbox, tmp_path: Path, written: str) -> None:
    """Also where a person's number is the name of the segment that gets words of its own."""
    frame = pd.DataFrame({"phone": [ASKED, NEIGHBOUR], "client": [written, "others"]})
    words = {written: f"Hello {written}", "others": f"We moved, {{client}}; call {written}"}
    made = plan(frame, words, to="phone", campaign="a", by="client")
    send(made, client=box.client(), ledger=ledger, progress=False)
    template = plan(frame, Template(f"t {written}", {"client": "client"}), to="phone", campaign="b")
    ledger._begin(template, service=box.client().service).close()
    sampled(ledger)
    told = json.loads(People(ledger).export(ASKED, tmp_path / "one.json").read_text(encoding="utf-8"))
    where = {one["where"] for one in told["mentions"]}
    assert where == {"segment of a campaign", "words of a campaign", "id of a template", "kept column"}
    with ledger._store.reading() as connection:
        keys = {key for (key,) in connection.execute("SELECT key FROM wording").fetchall()}
    People(ledger).forget(ASKED)
    with ledger._store.reading() as connection:
        found = connection.execute("SELECT segment, text, template, key FROM wording ORDER BY id").fetchall()
    assert {segment for segment, *_ in found} == {"(forgotten)", "others", None}
    assert [text for _, text, *_ in found][:2] == ["Hello (forgotten)", "We moved, {client}; call (forgotten)"]
    assert not keys & {key for *_, key in found}  # whoever knows the words could try numbers
    ledger.close()
    assert written.encode() not in stored(ledger)
    send(made, client=box.client(), ledger=ledger, progress=False)
    assert len(box.inbox) == 2
