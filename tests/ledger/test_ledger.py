"""The ledger keeps its promises: recorded once, durable before the first byte, one runner, clear refusals."""

from __future__ import annotations

import os
import signal
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import psycopg
import pytest
from kills.child import fork
from kills.people import numbers, plan_of
from support.tables import whole

from smsotp_nb import Ledger, Plan, RequestOptions, plan, results
from smsotp_nb._ledger import Claim, Ending, Run, Wanted
from smsotp_nb._ledger.record import recording
from smsotp_nb._ledger.rows import columns
from smsotp_nb._ledger.server.address import Address
from smsotp_nb._wire import MessageRecord, SendReply
from smsotp_nb.errors import CampaignLockedError, PlanChanged, UsageError

SERVICE = "a service"
pytestmark = pytest.mark.both_ledgers


@pytest.fixture
def begin(ledger: Ledger) -> Callable[..., Run]:
    def begun(made: Plan, service: str = SERVICE) -> Run:
        return ledger._begin(made, service=service)

    return begun


def reply(*to: str, missing: tuple[str, ...] = ()) -> SendReply:
    records = tuple(
        MessageRecord(id="ab" * 16, to=number, iso="US", cc="1", parts=1, price_micros=7500) for number in to
    )
    return SendReply(records, missing, currency="USD", recipients=len(to))


def states(path: Path | Address, *, campaign: int = 1) -> dict[int, int]:
    """Rows by state as a second, raw connection finds them."""
    connection: Any = psycopg.connect(**path.arguments()) if isinstance(path, Address) else sqlite3.connect(path)
    try:
        sql = f"SELECT state, count(*) FROM fate WHERE campaign={campaign} GROUP BY state"
        return dict(connection.execute(sql).fetchall())
    finally:
        connection.close()


def claimed(run: Run, chunk: int = 0) -> Claim:
    claim = run.claim(chunk)
    assert claim is not None
    return claim


# -- recording ---------------------------------------------------------------------------------------------------------


def people(**more: Any) -> pd.DataFrame:
    return pd.DataFrame({"phone": ["+12025550100", "nobody", "+33199001234", "+12025550101"], **more})


def test_a_campaign_reads_back_as_a_result_table_by_position_whatever_the_callers_index_was(
    ledger: Ledger, begin: Callable[..., Run]
) -> None:
    rates = pd.DataFrame({"iso": ["US", "FR"], "currency": ["USD", "EUR"], "price": ["0.0075", "0.05"]})
    frame = people(segment=["a", None, "c", "d"], size=[1, 2, 3, 4]).set_index(pd.Index(["x", "x", "y", "x"]))
    made = plan(
        frame,
        "Hello",
        to="phone",
        campaign="autumn",
        keep=["segment", "size"],
        rates=rates,
        requests=RequestOptions(chunk_size=2),
    )
    begin(made).close()
    found = whole(ledger.record("autumn"))
    kinds = results.COLUMNS | results.DETAILS
    assert found[list(kinds)].dtypes.to_dict() == kinds
    assert found.index.tolist() == [0, 1, 2, 3]
    assert found["to"].tolist()[::2] == ["+12025550100", "+33199001234"]
    assert found["status"].tolist() == ["planned", "skipped", "planned", "planned"]
    assert found["est_cost"].fillna(-1).tolist() == [0.0075, -1, 0.05, 0.0075]
    assert found["est_currency"].fillna("").tolist() == ["USD", "", "EUR", "USD"]
    assert found["chunk"].fillna(-1).tolist() == [0, -1, 0, 1]
    assert found["segment"].fillna("").tolist() == ["a", "", "c", "d"]
    assert found["size"].tolist() == [1, 2, 3, 4]
    assert results.check(found) is not None


def test_campaigns_are_listed_with_their_rows_by_state(ledger: Ledger, begin: Callable[..., Run]) -> None:
    run = begin(plan_of(30))
    run.settle_reply(claimed(run), reply(*numbers(10)), seconds=0.1)
    run.settle(claimed(run, 1), Ending("rejected"))
    run.close()
    listed = ledger.campaigns()
    row = listed.iloc[0]
    assert (row["service"], row["campaign"], row["rows"]) == (SERVICE, "autumn", 30)
    assert (row["accepted"], row["rejected"], row["planned"]) == (10, 10, 10)
    assert str(listed["created_at"].dtype).endswith("UTC]")


def test_the_same_plan_again_goes_on_with_the_same_campaign(ledger: Ledger, begin: Callable[..., Run]) -> None:
    first = begin(plan_of(30))
    first.settle_reply(claimed(first), reply(*numbers(10)), seconds=0.1)
    first.close()
    with begin(plan_of(30)) as again:
        assert again.campaign == first.campaign
        assert again.chunks() == [1, 2]
    assert len(ledger.campaigns()) == 1


def test_another_chunk_size_keeps_the_recorded_chunks(begin: Callable[..., Run]) -> None:
    begin(plan_of(30, chunk_size=10)).close()
    with begin(plan_of(30, chunk_size=3)) as run:
        assert run.chunks() == [0, 1, 2]
        assert claimed(run).to == tuple(numbers(10))


def changed_plans() -> dict[str, tuple[pd.DataFrame, str, tuple[int, int, int], str]]:
    phones = numbers(5)
    names = ["Ann", "Bob", "Cy", "Di", "Ed"]
    base = pd.DataFrame({"phone": phones, "name": names})
    more = pd.DataFrame({"phone": numbers(7)[5:], "name": ["Fay", "Gus"]})
    return {
        "added": (pd.concat([base, more]), "Hi {name}", (2, 0, 0), "2 recipients added"),
        "removed": (base.iloc[:2], "Hi {name}", (0, 3, 0), "3 removed"),
        "changed": (base.assign(name=[*names[:4], "Eve"]), "Hi {name}", (0, 0, 1), "1 with another text"),
        "another text": (base, "Hello {name}", (0, 0, 5), "5 with another text"),
        "all three": (
            pd.concat([base.iloc[1:], more]).assign(name=["Bo", *names[2:], "Fay", "Gus"]),
            "Hi {name}",
            (2, 1, 1),
            "2 recipients added, 1 removed, 1 with another text",
        ),
    }


@pytest.mark.parametrize("case", changed_plans())
def test_a_changed_plan_is_refused_and_the_refusal_counts_what_changed(case: str, begin: Callable[..., Run]) -> None:
    frame, text, counts, said = changed_plans()[case]
    base = pd.DataFrame({"phone": numbers(5), "name": ["Ann", "Bob", "Cy", "Di", "Ed"]})
    begin(plan(base, "Hi {name}", to="phone", campaign="autumn")).close()
    with pytest.raises(PlanChanged, match=said) as caught:
        begin(plan(frame, text, to="phone", campaign="autumn"))
    assert (caught.value.added, caught.value.removed, caught.value.changed) == counts
    begin(plan(base, "Hi {name}", to="phone", campaign="autumn")).close()  # the refusal let the campaign go


def test_an_interrupted_recording_leaves_no_half_campaign(
    ledger: Ledger, begin: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("smsotp_nb._ledger.record.recording.destinations", interrupted)
        with pytest.raises(KeyboardInterrupt):
            begin(plan_of(10))
    assert ledger.campaigns().empty
    begin(plan_of(10)).close()


# -- claim and settle --------------------------------------------------------------------------------------------------


def test_when_claim_returns_a_second_connection_finds_the_intent(ledger: Ledger, begin: Callable[..., Run]) -> None:
    run = begin(plan_of(20))
    assert states(ledger.path) == {0: 20}
    claim = claimed(run)
    assert states(ledger.path) == {0: 10, 1: 10}
    assert claim.positions == tuple(range(10))
    run.close()


def test_a_chunk_is_claimed_once(begin: Callable[..., Run]) -> None:
    with begin(plan_of(10)) as run:
        claimed(run)
        assert run.claim(0) is None
        assert run.claim(99) is None


OUTCOMES = {
    "rejected": ("rejected", "REJECTED"),
    "in_doubt": ("in_doubt", "NO_ANSWER"),
    "NOT_SENT": ("planned", "NOT_SENT"),
    "THROTTLED": ("planned", "THROTTLED"),
    "NO_FUNDS": ("planned", "NO_FUNDS"),
}


@pytest.mark.parametrize("name", OUTCOMES)
def test_settling_moves_the_rows_of_the_claim_alone(name: str, begin: Callable[..., Run]) -> None:
    run = begin(plan_of(20))
    run.settle(claimed(run), Ending(name, "body", 400, "107111", "why", "r-1", 0.5))
    found = run.outcomes()
    state, problem = OUTCOMES[name]
    assert found["status"].tolist() == [state] * 10 + ["planned"] * 10
    assert found["problem"].fillna("").tolist() == [problem] * 10 + [""] * 10
    assert found["attempts"].tolist() == [1] * 10 + [0] * 10
    assert found["error_code"].iloc[0] == "107111"
    assert found["error_code"].isna().iloc[10]
    run.close()


def test_a_partial_reply_accepts_its_records_and_leaves_the_others_in_doubt(
    ledger: Ledger, begin: Callable[..., Run]
) -> None:
    to = numbers(10)
    with begin(plan_of(10)) as run:
        run.settle_reply(claimed(run), reply(*reversed(to[:7]), missing=tuple(to[7:])), seconds=0.1)
        found = run.outcomes()
    assert found["status"].tolist() == ["accepted"] * 7 + ["in_doubt"] * 3
    assert found["problem"].tolist()[7:] == ["NO_RECORD"] * 3
    assert found["price"].sum() == pytest.approx(7 * 0.0075)
    assert ledger.record("autumn").in_doubt["to"].tolist() == to[7:]


def test_ids_of_any_shape_and_missing_fields_read_back(begin: Callable[..., Run]) -> None:
    to = numbers(4)
    ids = ["0f" * 16, "0F" * 16, "short", None]
    records = tuple(MessageRecord(id=name, to=number) for name, number in zip(ids, to, strict=True))
    with begin(plan_of(4)) as run:
        run.settle_reply(claimed(run), SendReply(records), seconds=0.1)
        found = run.outcomes()
    assert found["id"].fillna("none").tolist() == [name or "none" for name in ids]
    assert found[["iso", "cc", "parts", "price", "currency"]].isna().all(axis=None)


@pytest.mark.parametrize("rows", [recording.TOGETHER - 1, recording.TOGETHER, recording.TOGETHER * 2 + 1])
def test_every_row_is_recorded_however_many_there_are(rows: int, ledger: Ledger, begin: Callable[..., Run]) -> None:
    frame = pd.DataFrame({"phone": numbers(rows), "own": range(rows)})
    begin(
        plan(frame, "Hello", to="phone", campaign="autumn", keep=["own"], requests=RequestOptions(chunk_size=7))
    ).close()
    found = whole(ledger.record("autumn"))
    assert found["to"].tolist() == frame["phone"].tolist()
    assert found["own"].tolist() == frame["own"].tolist()
    assert found["chunk"].tolist() == [place // 7 for place in range(rows)]


# -- life after a death ------------------------------------------------------------------------------------------------


def test_an_intent_whose_process_died_is_in_doubt_and_never_claimed_again(
    ledger: Ledger, begin: Callable[..., Run]
) -> None:
    claimed(begin_and_die := begin(plan_of(20)))
    begin_and_die.close()
    with begin(plan_of(20)) as run:
        assert run.recovered == 10
        assert run.claim(0) is None
        assert run.counts()["in_doubt"] == 10
    doubt = ledger.record("autumn").in_doubt
    assert doubt["phase"].unique().tolist() == ["unknown"]
    assert doubt["error"].str.contains("ended before the answer").all()
    assert doubt["started_at"].notna().all()


def test_who_looks_before_the_next_send_sees_what_a_death_left_in_doubt(
    ledger: Ledger, begin: Callable[..., Run]
) -> None:
    claimed(run := begin(plan_of(20)))
    run.close()
    campaign = ledger.record("autumn")
    assert "0 accepted, 10 in doubt, 0 rejected, 10 to go" in repr(campaign)
    assert campaign.settle(campaign.in_doubt, accepted=False) == 10


def test_looking_leaves_a_running_campaign_alone(ledger: Ledger, begin: Callable[..., Run]) -> None:
    with begin(plan_of(20)) as run:
        claim = claimed(run)
        campaign = Ledger(ledger.path).record("autumn")
        assert campaign.in_doubt.empty
        assert campaign.counts["sending"] == 10
        run.settle_reply(claim, reply(*claim.to), seconds=0.1)
        assert campaign.counts["accepted"] == 10


def in_doubt_campaign(begin: Callable[..., Run], count: int = 10) -> None:
    claimed(run := begin(plan_of(count)))
    run.close()
    begin(plan_of(count)).close()


def test_resolving_as_accepted_settles_and_as_not_accepted_plans_again(
    ledger: Ledger, begin: Callable[..., Run]
) -> None:
    in_doubt_campaign(begin)
    campaign = ledger.record("autumn")
    assert campaign.settle(campaign.in_doubt.head(4), accepted=True) == 4
    assert campaign.settle(numbers(10)[4:6], accepted=False) == 2
    assert campaign.settle([numbers(10)[6]] * 2, accepted=False) == 1
    assert "4 accepted, 3 in doubt, 0 rejected, 3 to go" in repr(campaign)
    with begin(plan_of(10)) as run:
        assert claimed(run).to == tuple(numbers(10)[4:7])
    assert "autumn" in repr(campaign)
    assert "+1201" not in repr(campaign)


@pytest.mark.parametrize(
    "rows",
    [["+14155550100"], ["nobody"], [12015550100], pd.DataFrame({"phone": []})],
    ids=["not in it", "no number", "an integer", "no column to"],
)
def test_resolving_what_is_not_in_doubt_is_refused_and_changes_nothing(
    rows: Any, ledger: Ledger, begin: Callable[..., Run]
) -> None:
    in_doubt_campaign(begin)
    campaign = ledger.record("autumn")
    with pytest.raises(UsageError):
        campaign.settle(rows, accepted=False)
    with pytest.raises(UsageError):
        campaign.retry(numbers(1))
    assert campaign.counts["in_doubt"] == 10


def test_rejected_rows_are_retried_by_a_person_only(ledger: Ledger, begin: Callable[..., Run]) -> None:
    with begin(plan_of(10)) as run:
        run.settle(claimed(run), Ending("rejected", "body", 400, "107111", "why"))
        assert run.claim(0) is None
    campaign = ledger.record("autumn")
    assert campaign.rejected["error_code"].unique().tolist() == ["107111"]
    assert campaign.retry(campaign.rejected.iloc[:3]) == 3
    with begin(plan_of(10)) as run:
        assert len(claimed(run).to) == 3


def test_an_answer_after_the_second_stop_is_recorded_but_never_over_a_later_attempt(
    ledger: Ledger, begin: Callable[..., Run]
) -> None:
    """The service knows better than the person who said that it was not accepted, until the row is posted again."""
    run = begin(plan_of(30))
    in_doubt, planned, claimed_again = (claimed(run, chunk) for chunk in range(3))
    assert run.abandon() == 30
    run.close()
    ledger.record("autumn").settle([*planned.to, *claimed_again.to], accepted=False)
    with begin(plan_of(30)) as later:
        claimed(later, 2)
        for claim in (in_doubt, planned, claimed_again):
            run.settle_reply(claim, reply(*claim.to), seconds=9.0)
        assert later.counts()["accepted"] == 20
        assert later.counts()["sending"] == 10


@pytest.mark.parametrize("name", ["NOT_SENT", "rejected", "in_doubt"])
def test_a_late_end_of_an_old_attempt_changes_no_row(name: str, ledger: Ledger, begin: Callable[..., Run]) -> None:
    """Were a later attempt of the same rows put back to planned by it, they would be posted a third time."""
    run = begin(plan_of(20))
    doubted, claimed_again = claimed(run, 0), claimed(run, 1)
    run.abandon()
    run.close()
    ledger.record("autumn").settle(list(claimed_again.to), accepted=False)
    with begin(plan_of(20)) as later:
        claimed(later, 1)
        run.settle(doubted, Ending(name))
        run.settle(claimed_again, Ending(name))
        assert (later.counts()["in_doubt"], later.counts()["sending"]) == (10, 10)


def test_one_name_on_two_services_is_two_campaigns_and_the_card_says_so(
    ledger: Ledger, begin: Callable[..., Run]
) -> None:
    in_doubt_campaign(begin)
    begin(plan_of(10), service="sandbox:another").close()
    assert ledger.record("autumn").service == SERVICE
    assert "Also of this name: 1 rehearsal." in ledger.record("autumn").card().text()
    assert ledger.record("autumn", service="sandbox:another").counts["planned"] == 10
    with pytest.raises(UsageError, match="it holds 'autumn'"):
        ledger.record("spring")


# -- one runner --------------------------------------------------------------------------------------------------------


def test_a_second_call_in_this_kernel_hears_so(begin: Callable[..., Run]) -> None:
    run = begin(plan_of(10))
    with pytest.raises(CampaignLockedError, match="another call in this kernel") as caught:
        begin(plan_of(10))
    assert caught.value.pid == os.getpid()
    run.close()
    begin(plan_of(10)).close()


def test_nothing_is_resolved_while_the_campaign_runs(ledger: Ledger, begin: Callable[..., Run]) -> None:
    in_doubt_campaign(begin)
    with begin(plan_of(10)), pytest.raises(CampaignLockedError):
        ledger.record("autumn").settle(numbers(1), accepted=False)


def test_another_process_hears_the_pid_and_the_lock_ends_with_its_holder(tmp_path: Path) -> None:
    def hold() -> None:
        held = Ledger(tmp_path / "l.sqlite", create=True)._begin(plan_of(10), service=SERVICE)
        os.write(ready, b"x")
        signal.pause()
        held.close()

    heard, ready = os.pipe()
    child = fork(hold)
    os.read(heard, 1)
    with Ledger(tmp_path / "l.sqlite", create=True) as ledger:
        with pytest.raises(CampaignLockedError, match=f"process {child.pid} on ") as caught:
            ledger._begin(plan_of(10), service=SERVICE)
        assert caught.value.pid == child.pid
        assert child.kill()
        ledger._begin(plan_of(10), service=SERVICE).close()


@pytest.mark.file_only
def test_a_ledger_reached_through_a_link_has_the_same_lock(tmp_path: Path, ledger: Ledger) -> None:
    link = tmp_path / "elsewhere" / "link.sqlite"
    link.parent.mkdir()
    link.symlink_to(ledger.path)
    with ledger._begin(plan_of(10), service=SERVICE), Ledger(link) as other, pytest.raises(CampaignLockedError):
        other._begin(plan_of(10), service=SERVICE)


def test_a_forked_child_does_not_keep_the_lock_alive(ledger: Ledger) -> None:
    run = ledger._begin(plan_of(10), service=SERVICE)
    child = fork(signal.pause)
    run.close()
    ledger._begin(plan_of(10), service=SERVICE).close()
    assert child.kill()


def test_a_forked_child_uses_the_ledger_without_harm_to_its_parent(ledger: Ledger) -> None:
    run = ledger._begin(plan_of(20), service=SERVICE)
    claimed(run)
    counted = fork(lambda: ledger.record("autumn").counts["planned"]).result()
    assert counted == 10
    with pytest.raises(CampaignLockedError):
        fork(lambda: ledger._begin(plan_of(20), service=SERVICE)).result()
    claimed(run, 1)
    run.close()
    assert states(ledger.path) == {1: 20}


def test_eight_processes_open_a_new_ledger_and_record_one_campaign(tmp_path: Path) -> None:
    def open_it() -> str:
        with Ledger(tmp_path / "new" / "l.sqlite", create=True) as ledger:
            try:
                ledger._begin(plan_of(50), service=SERVICE).close()
            except CampaignLockedError:
                return "held"
        return "had"

    said = [child.result() for child in [fork(open_it) for _ in range(8)]]
    assert "had" in said
    with Ledger(tmp_path / "new" / "l.sqlite", create=True) as ledger:
        assert ledger.campaigns()["rows"].tolist() == [50]
        assert states(ledger.path) == {0: 50}


def test_a_new_ledger_waits_for_another_process_that_begins_it(tmp_path: Path) -> None:
    """SQLite itself waits for nobody when a file gets its log."""
    path = tmp_path / "l.sqlite"
    path.touch(mode=0o600)
    with closing(sqlite3.connect(path, isolation_level=None)) as other, ThreadPoolExecutor() as threads:
        other.execute("BEGIN IMMEDIATE")
        opened = threads.submit(lambda: Ledger(path, create=True).close())
        wait([opened], timeout=0.5)
        early = opened.done()
        other.execute("ROLLBACK")
        opened.result(120)
    assert not early


# -- campaigns side by side --------------------------------------------------------------------------------------------


def test_campaigns_of_one_ledger_leave_each_other_alone(ledger: Ledger, begin: Callable[..., Run]) -> None:
    """Chunks have the same numbers in each: rows, texts, chunks to go and what a start recovers are of one campaign."""
    spring, autumn = plan_of(20, campaign="spring", text="In spring"), plan_of(30, campaign="autumn", text="In autumn")
    with begin(spring) as first:
        under_way = claimed(first)
        with begin(autumn) as second:
            assert (second.recovered, second.chunks()) == (0, [0, 1, 2])
            claim = claimed(second)
            assert claim.to == tuple(numbers(10))
            assert claim.body == autumn._held.body_keys[0] != under_way.body
            second.settle_reply(claim, reply(*claim.to), seconds=0.1)
            assert second.chunks() == [1, 2]
        assert states(ledger.path, campaign=1) == {0: 10, 1: 10}
        first.settle_reply(under_way, reply(*under_way.to), seconds=0.1)
        assert first.chunks() == [1]
    assert states(ledger.path, campaign=2) == {0: 20, 2: 10}


def test_whatever_is_done_in_one_campaign_leaves_every_row_of_another_as_it_is(
    ledger: Ledger, begin: Callable[..., Run]
) -> None:
    """Chunks of the same numbers, whole and in parts, under way, held and planned in both."""

    def rows(campaign: int) -> list[tuple[Any, ...]]:
        with ledger._store.reading() as connection:
            return [
                row
                for table in ("recipient", "chunk", "attempt")
                for row in connection.execute(f"SELECT * FROM {table} WHERE campaign=?", (campaign,))
            ]

    with begin(plan_of(60, campaign="spring")) as first, begin(plan_of(60, campaign="autumn")) as second:
        claimed(first, 0), claimed(first, 1), first.claim(2, [20, 21]), first.claim(3, [30])
        first.hold("QUIET_HOURS", chunk=4, positions=[41])
        before = rows(1)
        claims = [claimed(second, chunk) for chunk in range(4)]
        second.settle_reply(claims[0], reply(*claims[0].to), seconds=0.1)
        second.settle_reply(claims[1], reply(*claims[1].to[1:], missing=claims[1].to[:1]), seconds=0.1)
        second.settle(claims[2], Ending("in_doubt", "body", 500))
        second.settle(claims[3], Ending("NOT_SENT", "connect"))
        some, others = second.claim(3, [30, 31]), second.claim(3, [32])
        assert some
        assert others
        second.settle_reply(some, reply(*some.to), seconds=0.1)
        second.settle(others, Ending("rejected", "body", 400))
        claimed(second, 4), second.claim(5, [50])
        second.release()
        second.hold("BUDGET")
        second.abandon()
        assert rows(1) == before
        after = rows(2)
        first.abandon()
        first.release()
        first.hold("CANARY")
        assert rows(2) == after


def test_a_claim_of_some_rows_holds_no_others_of_its_chunk(begin: Callable[..., Run]) -> None:
    """Also while others of the chunk are under way: a list sent in halves posts each number once."""
    with begin(plan_of(10)) as run:
        halves = [run.claim(0, places) for places in ([0, 1, 2, 3, 4], [5, 6, 7, 8, 9])]
        assert [half.positions for half in halves if half] == [(0, 1, 2, 3, 4), (5, 6, 7, 8, 9)]
        assert [half.to for half in halves if half] == [tuple(numbers(5)), tuple(numbers(10)[5:])]
        assert run.claim(0) is None


@pytest.mark.parametrize("name", ["NOT_SENT", "rejected", "in_doubt"])
def test_the_end_of_one_attempt_leaves_rows_of_another_under_way(begin: Callable[..., Run], name: str) -> None:
    """Also of the same chunk: what was not sent is planned again, what is under way beside it is not."""
    with begin(plan_of(10)) as run:
        one, other = run.claim(0, [0, 1]), run.claim(0, [2, 3, 4])
        assert one is not None
        assert other is not None
        run.settle(one, Ending(name, "connect"))
        assert run.counts()["sending"] == 3
        assert not {2, 3, 4} & {row.position for row in run.pending(0)}


def test_an_empty_claim_leaves_no_request_behind(ledger: Ledger, begin: Callable[..., Run]) -> None:
    with begin(plan_of(10)) as run:
        run.settle_reply(claimed(run), reply(*numbers(10)), seconds=0.1, then=Wanted(0))
        assert run.claim(0) is None
    assert len(ledger.record("autumn").requests) == 1


@pytest.mark.file_only
def test_every_intent_is_asked_to_be_on_the_disk(ledger: Ledger, begin: Callable[..., Run]) -> None:
    """Alone, beside an answer, beside a refusal; an answer alone may be lost in a power cut."""
    durable: list[str] = []

    def level() -> str:
        with ledger._store.reading() as connection:
            return {1: "NORMAL", 2: "FULL"}[connection.execute("PRAGMA synchronous").fetchone()[0]]

    with begin(plan_of(40)) as run:
        first = claimed(run)
        durable.append(level())
        second = run.settle_reply(first, reply(*first.to), seconds=0.1, then=Wanted(1))
        durable.append(level())
        assert second is not None
        run.release()
        third = run.settle(second, Ending("rejected"), then=Wanted(2))
        durable.append(level())
        assert third is not None
        run.settle(third, Ending("rejected"))
        durable.append(level())
    assert durable == ["FULL", "FULL", "FULL", "NORMAL"]


@pytest.mark.parametrize("block", [1, 2, 3, 7])
def test_a_table_is_the_same_in_whatever_blocks_it_is_read(
    ledger: Ledger, begin: Callable[..., Run], monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    """Blocks end within chunks and between them, and positions go up and down from chunk to chunk."""
    frame = people(name=["Ann", "Bob", "Cy", "Ann"])
    frame = pd.concat([frame, frame.assign(phone=[*numbers(12)[8:]])], ignore_index=True)
    with begin(plan(frame, "Hi {name}", to="phone", campaign="autumn", keep=["name"])) as run:
        claim = claimed(run)
        run.settle_reply(claim, reply(*claim.to), seconds=0.1)
    whole = ledger.record("autumn").results
    assert len(whole) == 8
    monkeypatch.setattr(columns, "BLOCK", block)
    pd.testing.assert_frame_equal(ledger.record("autumn").results, whole)
