"""``send`` keeps the promise: nobody texted twice, every row's fate known or named as in doubt."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from kills.people import numbers, plan_of
from kills.service import STRANGER, Post, Service
from support.sending import sent, status

from smsotp_nb import Client, Ledger, Limits, Plan, Sandbox, cost, plan, results, send, send_test
from smsotp_nb.errors import CampaignIncomplete, CampaignLockedError, PlanChanged, SmsOtpWarning, UsageError
from smsotp_nb.results import Progress
from smsotp_nb.settings import Settings

pytestmark = pytest.mark.usefixtures("little_patience")


# -- the table ---------------------------------------------------------------------------------------------------------


def messy(**options: Any) -> Plan:
    frame = pd.DataFrame(
        {
            "phone": ["+12025550100", "nobody", "+33199001234", "+12025550100", None],
            "name": list("abcde"),
            "n": range(5),
        },
        index=["x", "x", 7, "y", "x"],
    )
    return plan(frame, "Hi {name}", to="phone", campaign="autumn", keep=["n"], **options)


def test_a_kept_text_that_is_no_unicode_stays_in_the_table_and_is_recorded_with_question_marks(
    client: Client, ledger: Ledger
) -> None:
    people = pd.DataFrame({"phone": numbers(2), "remark": pd.Series(["half \ud83d", "größer"], dtype=object)})
    made = plan(people, "Hello", to="phone", campaign="autumn", keep=["remark"])
    assert sent(made, client, ledger)["remark"].tolist() == ["half \ud83d", "größer"]
    assert ledger.record("autumn").results["remark"].tolist() == ["half ?", "größer"]


def test_the_table_has_one_row_for_each_input_row_on_its_index_and_in_its_order(
    box: Sandbox, client: Client, ledger: Ledger
) -> None:
    table = send(messy(), client=client, ledger=ledger, progress=False)
    details = ledger.record("autumn").details
    assert table.index.tolist() == ["x", "x", 7, "y", "x"]
    assert table.dtypes.to_dict() == results.COLUMNS | {"n": "int64"}
    assert [*table.columns][-2:] == ["n", "campaign"]
    assert table["status"].tolist() == ["accepted", "skipped", "accepted", "skipped", "skipped"]
    assert table["problem"].notna().tolist() == [False, True, False, True, True]
    assert table["n"].tolist() == [0, 1, 2, 3, 4]
    assert table["iso"].fillna("").tolist() == ["US", "", "FR", "", ""]
    assert table["price"].notna().tolist() == [True, False, True, False, False]
    assert details["attempts"].tolist() == [1, 0, 1, 0, 0]
    assert set(table["id"].dropna()) == set(box.inbox["id"])
    assert details["service"].unique().tolist() == [client.service]
    assert details.dtypes.to_dict() == results.DETAILS
    now = pd.Timestamp.now("UTC").tz_localize(None)
    assert table["at"].dropna().between(now - pd.Timedelta("60s"), now + pd.Timedelta("1s")).all()
    assert results.check(table) is not None


def test_the_ledger_alone_gives_the_same_table_by_position(client: Client, ledger: Ledger) -> None:
    table = send(messy(), client=client, ledger=ledger, progress=False)
    recorded = ledger.record("autumn").results
    sendable = table["status"].eq("accepted").to_numpy()
    pd.testing.assert_frame_equal(recorded[sendable].reset_index(drop=True), table[sendable].reset_index(drop=True))


def test_two_texts_are_two_requests_and_each_row_has_its_own_message(
    box: Sandbox, client: Client, ledger: Ledger
) -> None:
    send(messy(), client=client, ledger=ledger, progress=False)
    assert dict(zip(box.inbox["to"], box.inbox["text"], strict=True)) == {
        "+12025550100": "Hi a",
        "+33199001234": "Hi c",
    }


def test_a_plan_without_recipients_sends_nothing(box: Sandbox, client: Client, ledger: Ledger) -> None:
    nobody = plan(pd.DataFrame({"phone": ["nobody"]}), "Hello", to="phone", campaign="autumn")
    assert send(nobody, client=client, ledger=ledger, progress=False)["status"].tolist() == ["skipped"]
    assert box.requests.empty, "the service has heard of nothing"


# -- again -------------------------------------------------------------------------------------------------------------


def test_the_same_call_again_texts_nobody_and_returns_the_same_table(
    box: Sandbox, client: Client, ledger: Ledger
) -> None:
    first = send(plan_of(50), client=client, ledger=ledger, progress=False)
    again = send(plan_of(50), client=client, ledger=Ledger(ledger.path), progress=False)
    assert len(box.inbox) == 50
    pd.testing.assert_frame_equal(first, again)


def test_without_a_ledger_the_users_own_is_used(box: Sandbox, client: Client, tmp_path: Path) -> None:
    for _ in range(2):
        send(plan_of(10), client=client, progress=False)
    assert len(box.inbox) == 10
    assert Ledger().path == tmp_path / "user-ledger.sqlite"


def test_another_chunk_size_between_runs_goes_on_with_the_recorded_chunks(service: Service, ledger: Ledger) -> None:
    service.script(["accept", "funds"])
    sent(plan_of(30, chunk_size=10), service.client(), ledger, threads=1)
    table = sent(plan_of(30, chunk_size=7), service.client(), ledger)
    assert status(table) == {"accepted": 30}
    assert sorted(len(post.to) for post in service.posts) == [10, 10, 10, 10]
    assert set(service.accepted.values()) == {1}


def test_a_changed_plan_is_refused_and_nothing_is_sent(service: Service, ledger: Ledger) -> None:
    sent(plan_of(30), service.client(), ledger)
    with pytest.raises(PlanChanged, match="5 recipients added") as caught:
        sent(plan_of(35), service.client(), ledger)
    assert (caught.value.added, len(service.posts)) == (5, 3)


def test_a_rehearsal_on_the_sandbox_does_not_stand_in_the_way_of_the_real_send(
    client: Client, service: Service, ledger: Ledger
) -> None:
    assert status(sent(plan_of(20), client, ledger)) == {"accepted": 20}
    assert status(sent(plan_of(20), service.client(), ledger)) == {"accepted": 20}
    assert len(service.accepted) == 20
    assert ledger.record("autumn").service == "scripted"
    assert ledger.record("autumn", client).service == client.service
    assert ledger.record("autumn", service="scripted").counts["accepted"] == 20


# -- before the first byte ---------------------------------------------------------------------------------------------


def test_the_intent_is_committed_when_the_request_arrives(ledger: Ledger) -> None:
    """The service itself looks into the file, through a connection of its own, before it answers."""
    found: list[set[tuple[int, int]]] = []

    def look(post: Post) -> None:
        connection = sqlite3.connect(ledger.path)
        marks = ",".join(post.to).replace("+", "")
        sql = f"SELECT DISTINCT state, attempt IS NOT NULL FROM fate WHERE number IN ({marks})"
        found.append(set(connection.execute(sql).fetchall()))
        connection.close()

    with Service(seen=look) as service:
        sent(plan_of(40, chunk_size=5), service.client(), ledger)
    assert found == [{(1, 1)}] * 8  # sending, by an attempt


# -- fates of a request ------------------------------------------------------------------------------------------------

# fate of the second of three chunks, and what its ten rows become: status, problem, error_code, http_status
FATES = {
    "refuse": ("rejected", "REJECTED", "107111", 400),
    "internal": ("in_doubt", "NO_ANSWER", "", 400),
    "vanish": ("in_doubt", "NO_ANSWER", "", -1),
    "lost": ("in_doubt", "NO_ANSWER", "", -1),
    "half": ("in_doubt", "NO_ANSWER", "", 200),
    "500": ("in_doubt", "NO_ANSWER", "", 500),
    "garbage": ("in_doubt", "NO_ANSWER", "", 200),
}


@pytest.mark.parametrize("fate", FATES)
def test_one_chunks_fate_is_its_own_and_is_not_repeated(fate: str, service: Service, ledger: Ledger) -> None:
    service.script(["accept", fate])
    sent(plan_of(30), service.client(), ledger, threads=1)
    table = sent(plan_of(30), service.client(), ledger)
    state, problem, code, http = FATES[fate]
    rows = table.iloc[10:20]
    assert status(table) == {"accepted": 20, state: 10}
    assert rows["status"].unique().tolist() == [state]
    assert rows["problem"].unique().tolist() == [problem]
    details = ledger.record("autumn").details.iloc[10:20]
    assert details["error_code"].fillna("").unique().tolist() == [code]
    assert details["http_status"].fillna(-1).unique().tolist() == [http]
    assert details["error"].notna().all()
    assert len(service.posts) == 3


def test_rows_in_doubt_keep_phase_time_and_status_as_evidence(service: Service, ledger: Ledger) -> None:
    service.script(["500"])
    sent(plan_of(10), service.client(), ledger)
    doubt = ledger.record("autumn").in_doubt
    assert doubt["to"].tolist() == numbers(10)
    assert doubt["phase"].unique().tolist() == ["body"]
    assert doubt["http_status"].unique().tolist() == [500]
    assert (doubt["settled_at"] >= doubt["started_at"]).all()


@pytest.mark.parametrize(("accepted", "texts"), [(True, 1), (False, 2)])
def test_only_a_person_ends_a_doubt_and_only_no_sends_again(
    accepted: bool, texts: int, service: Service, ledger: Ledger
) -> None:
    service.script(["vanish"])
    sent(plan_of(10), service.client(), ledger)
    assert status(sent(plan_of(10), service.client(), ledger)) == {"in_doubt": 10}
    campaign = ledger.record("autumn")
    campaign.settle(campaign.in_doubt, accepted=accepted)
    assert status(sent(plan_of(10), service.client(), ledger)) == {"accepted": 10}
    assert set(service.accepted.values()) == {texts}


def test_rejected_rows_wait_until_a_person_retries_them(service: Service, ledger: Ledger) -> None:
    service.script(["refuse"])
    sent(plan_of(10), service.client(), ledger)
    campaign = ledger.record("autumn")
    campaign.retry(campaign.rejected.head(3))
    table = sent(plan_of(10), service.client(), ledger)
    assert status(table) == {"rejected": 7, "accepted": 3}
    assert ledger.record("autumn").details["attempts"].tolist() == [2] * 3 + [1] * 7


def test_a_record_that_is_missing_leaves_its_number_in_doubt(service: Service, ledger: Ledger) -> None:
    service.script(["missing"])
    with pytest.warns(SmsOtpWarning, match="1 row .* in doubt"):
        table = send(plan_of(10), client=service.client(), ledger=ledger, progress=False)
    assert table["status"].tolist() == ["in_doubt"] + ["accepted"] * 9
    assert table["problem"].iloc[0] == "NO_RECORD"
    assert status(sent(plan_of(10), service.client(), ledger)) == {"accepted": 9, "in_doubt": 1}


@pytest.mark.parametrize("fate", ["foreign", "repeated"])
def test_records_nobody_asked_for_change_no_row(fate: str, service: Service, ledger: Ledger) -> None:
    service.script([fate])
    table = sent(plan_of(10), service.client(), ledger)
    assert status(table) == {"accepted": 10}
    assert STRANGER not in set(table["to"])
    assert table["price"].sum() == pytest.approx(0.075)


def test_totals_that_disagree_with_their_records_are_warned_of(service: Service, ledger: Ledger) -> None:
    service.script(["totals"])
    with pytest.warns(SmsOtpWarning, match=r"1 reply disagrees .* totalAmount says 0\.085000"):
        table = send(plan_of(10), client=service.client(), ledger=ledger, progress=False)
    assert status(table) == {"accepted": 10}
    assert table["price"].sum() == pytest.approx(0.075)


def test_a_throttled_request_is_posted_again_at_once_where_the_service_says_zero(
    service: Service, ledger: Ledger
) -> None:
    service.script(["throttle"])
    assert status(sent(plan_of(10), service.client(), ledger)) == {"accepted": 10}
    assert [post.fate for post in service.posts] == ["throttle", "accept"]


def test_throttled_for_too_long_stops_with_rows_planned(service: Service, ledger: Ledger) -> None:
    service.usual = "throttle"
    with pytest.warns(CampaignIncomplete, match="throttled"):
        table = send(plan_of(30).with_requests(threads=1), client=service.client(), ledger=ledger, progress=False)
    assert table["problem"].fillna("").tolist() == ["THROTTLED"] * 30
    assert len(service.posts) == 3
    service.usual = "accept"
    assert status(sent(plan_of(30), service.client(), ledger)) == {"accepted": 30}


# -- what stops a campaign ---------------------------------------------------------------------------------------------


def test_out_of_funds_keeps_the_rest_and_a_top_up_goes_on(ledger: Ledger) -> None:
    with Sandbox(balance="0.2") as box, box.client() as client:  # 26 texts at 0.0075
        with pytest.warns(CampaignIncomplete, match="20 accepted, .* 30 to go; the balance does not cover"):
            table = send(plan_of(50).with_requests(threads=1), client=client, ledger=ledger, progress=False)
        assert status(table) == {"accepted": 20, "planned": 30}
        assert table["problem"].fillna("").tolist() == [""] * 20 + ["NO_FUNDS"] * 30
        assert ledger.record("autumn").details["error_code"].iloc[20] == "105400"
        box.top_up(10)
        assert status(sent(plan_of(50), client, ledger)) == {"accepted": 50}
        assert len(box.inbox) == 50


def test_a_refused_account_stops_instead_of_rejecting_every_chunk(service: Service, ledger: Ledger) -> None:
    service.usual = "account"
    with pytest.warns(CampaignIncomplete, match="account or its key was refused"):
        table = send(plan_of(50).with_requests(threads=1), client=service.client(), ledger=ledger, progress=False)
    assert status(table) == {"rejected": 10, "planned": 40}


def test_a_service_that_is_down_leaves_all_rows_planned(ledger: Ledger) -> None:
    with Service() as gone:
        client = gone.client()
    with pytest.warns(CampaignIncomplete, match="could not be reached"):
        table = send(plan_of(30).with_requests(threads=2), client=client, ledger=ledger, progress=False)
    assert status(table) == {"planned": 30}
    assert set(table["problem"].dropna()) == {"NOT_SENT"}
    assert ledger.record("autumn").details["attempts"].max() == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"limits": {"first": 3}}, "must be Limits"),
        ({"client": "https://sms.example"}, "needs a client"),
        ({"plan": pd.DataFrame()}, "needs a Plan"),
    ],
    ids=["no limits", "no client", "no plan"],
)
def test_a_call_that_cannot_work_is_refused_before_anything_is_recorded(
    options: dict[str, Any], said: str, service: Service, ledger: Ledger
) -> None:
    made = options.pop("plan", plan_of(10))
    with pytest.raises(UsageError, match=said):
        send(made, **({"client": service.client(), "ledger": ledger} | options))
    assert ledger.campaigns().empty


def test_a_body_the_variant_refuses_is_refused_before_anything_is_recorded(ledger: Ledger, service: Service) -> None:
    settings = Settings(base_url=service.url, access_key_id="demo", variant="cn")
    with Client(settings) as client, pytest.raises(UsageError, match="signature= is required"):
        send(plan_of(10), client=client, ledger=ledger)
    assert ledger.campaigns().empty


# -- many at once, and interrupts --------------------------------------------------------------------------------------


def test_two_sends_at_once_the_second_is_told_who_runs_it(ledger: Ledger) -> None:
    arrived, answer = threading.Event(), threading.Event()

    def wait(post: Post) -> None:
        arrived.set()
        answer.wait(120)

    with Service(seen=wait) as service:
        first = threading.Thread(target=sent, args=(plan_of(10), service.client(), ledger))
        first.start()
        assert arrived.wait(120)
        with pytest.raises(CampaignLockedError, match="another call in this kernel"):
            sent(plan_of(10), service.client(), Ledger(ledger.path))
        answer.set()
        first.join()
    assert len(service.posts) == 1


def test_a_stop_begins_nothing_more_and_records_the_answers_under_way(service: Service, ledger: Ledger) -> None:
    def stop(told: Progress) -> None:
        if told.accepted >= 30:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match=r"interrupted; recorded: .* accepted, 0 in doubt"):
        sent(plan_of(400), service.client(), ledger, progress=stop)
    counts = ledger.record("autumn").counts
    assert counts["accepted"] == len(service.accepted)
    assert counts["accepted"] < 400
    assert status(sent(plan_of(400), service.client(), ledger)) == {"accepted": 400}
    assert set(service.accepted.values()) == {1}


def test_a_stop_ends_the_wait_for_the_rate_and_what_waited_is_planned(service: Service, ledger: Ledger) -> None:
    def stop(told: Progress) -> None:
        if told.accepted:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match="10 accepted, 0 in doubt, 0 rejected, 30 to go"):
        # The second list would go after 100 s.
        sent(plan_of(40), service.client(), ledger, progress=stop, limits=Limits(per_second=0.1))
    assert len(service.posts) == 1


def test_a_progress_callback_that_fails_stops_the_campaign_as_a_stop_does(service: Service, ledger: Ledger) -> None:
    def broken(told: Progress) -> None:
        if told.accepted >= 30:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        sent(plan_of(1000), service.client(), ledger, progress=broken)
    assert len(service.posts) < 100
    assert ledger.record("autumn").counts["sending"] == 0
    assert status(sent(plan_of(1000), service.client(), ledger)) == {"accepted": 1000}
    assert set(service.accepted.values()) == {1}


def test_progress_is_told_from_the_waiting_thread_from_nothing_to_all(service: Service, ledger: Ledger) -> None:
    told: list[Progress] = []
    threads = set()

    def listen(progress: Progress) -> None:
        told.append(progress)
        threads.add(threading.get_ident())

    sent(plan_of(30), service.client(), ledger, progress=listen)
    assert threads == {threading.get_ident()}
    assert [progress.done for progress in told] == [0, 10, 20, 30]
    assert {progress.total for progress in told} == {30}
    assert (told[-1].accepted, told[-1].left, told[-1].cost_micros, told[-1].currency) == (30, 0, 225_000, "USD")
    assert sorted(told, key=lambda progress: progress.at) == told
    told.clear()
    sent(plan_of(30), service.client(), ledger, progress=listen)
    assert [(progress.done, progress.cost_micros, progress.currency) for progress in told] == [(30, 225_000, "USD")]


def test_the_progress_of_the_rest_tells_what_the_whole_campaign_was_billed(service: Service, ledger: Ledger) -> None:
    """Rows and money are of the same messages: those of the canary are in both, however the ledger keeps them."""
    told: list[Progress] = []
    sent(plan_of(30), service.client(), ledger, limits=Limits(first=7))
    table = sent(plan_of(30), service.client(), ledger, progress=told.append)
    found = [(progress.accepted, progress.cost_micros) for progress in (told[0], told[-1])]
    assert found == [(7, 52_500), (30, 225_000)]
    assert cost.summary(table)["cost"].tolist() == [0.225]


# -- to oneself --------------------------------------------------------------------------------------------------------


def test_a_test_to_oneself_sends_each_time_and_is_recorded_apart(box: Sandbox, client: Client, ledger: Ledger) -> None:
    made = messy()
    for _ in range(2):
        table = send_test(made, to="+1 415 555 0100", client=client, ledger=ledger, row=1)
        assert table["to"].tolist() == ["+14155550100"]
        assert table["status"].tolist() == ["accepted"]
    box.expect(times=2)
    box.expect(to="+14155550100", text="Hi c", times=2)
    assert ledger.campaigns()["kind"].tolist() == ["test", "test"]
    assert status(send(made, client=client, ledger=ledger, progress=False)) == {"skipped": 3, "accepted": 2}
    assert ledger.record("autumn").counts["accepted"] == 2
