"""A ledger on a server: whatever becomes of the server, of the line and of its clients, nobody is texted twice."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import psycopg
import pytest
from kills.child import Child, fork, stop_here
from kills.judge import Judge, audit
from kills.many import CAMPAIGNS, ROWS, together
from kills.people import numbers, plan_of
from kills.worker import Work
from support.canaries import hits
from support.cutting import CuttingProxy
from support.servers import Pooler, Server, need_pooler, need_server

from smsotp_nb import Client, Ledger, People, RequestOptions, Sandbox, cost, plan, revise, send
from smsotp_nb._ledger import Ending, Run
from smsotp_nb._ledger.rows import runners as fences
from smsotp_nb._ledger.rows.statements import NotGuessed, Statements
from smsotp_nb._ledger.sending.holds import Said
from smsotp_nb._ledger.server.connection import Connection
from smsotp_nb._ledger.server.last_seen import Sighting
from smsotp_nb.errors import CampaignLockedError, LedgerError, ReplacedLedgerError, StaleLedgerError


@pytest.fixture
def judge() -> Iterator[Judge]:
    made = Judge()
    yield made
    made.close()


@pytest.fixture
def own_server() -> Iterator[Server]:
    """A server that a test may end as it likes."""
    need_server()
    made = Server().make().start()
    yield made
    with contextlib.suppress(subprocess.CalledProcessError):
        made.stop("immediate")
    made.remove()


@pytest.fixture
def address(server: Server) -> str:
    return server.database()


def work_of(judge: Judge, address: str, *, rows: int = 60, name: str = "autumn") -> Work:
    return Work(address, judge.box.url, plan_of(rows, chunk_size=2, campaign=name, text=name), concurrency=3)


def sql(address: str, *statements: str) -> None:
    with psycopg.connect(address, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)  # type: ignore[arg-type]


def refused(run: Run) -> None:
    """Ask for more until the server, which has read its settings anew by then, is refused."""
    while True:
        run.release()


# -- what a server must keep -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("setting", ["fsync", "full_page_writes"])
def test_a_server_that_may_lose_what_it_confirmed_is_refused(server: Server, address: str, setting: str) -> None:
    with Ledger(address, create=True) as ledger:
        run = ledger._begin(plan_of(10), service="a service")
        try:
            sql(server.address("postgres"), f"ALTER SYSTEM SET {setting}=off", "SELECT pg_reload_conf()")
            with pytest.raises(LedgerError, match=f"{setting} switched off"):
                refused(run)
        finally:
            sql(server.address("postgres"), f"ALTER SYSTEM RESET {setting}", "SELECT pg_reload_conf()")


def test_a_package_that_is_older_than_the_server_asks_for_claims_nothing(address: str) -> None:
    with Ledger(address, create=True) as ledger:
        run = ledger._begin(plan_of(10), service="a service")
        sql(address, "UPDATE served SET since='99.1'")
        with pytest.raises(LedgerError, match=r"asks for smsotp_nb 99\.1 or later"):
            run.claim(0)
        run.close()
    with pytest.raises(LedgerError, match=r"asks for smsotp_nb 99\.1 or later"):
        Ledger(address)


def test_a_claim_is_on_the_disk_of_the_server_whatever_the_database_is_set_to(address: str) -> None:
    name = address.split("/")[3].split("?")[0]
    sql(address, f"ALTER DATABASE {name} SET synchronous_commit=off")
    with Ledger(address, create=True) as ledger:
        for asked, found in (("FULL", "on"), ("NORMAL", "off")):
            with ledger._store.writing(asked) as connection:  # type: ignore[arg-type]
                assert connection.execute("SELECT current_setting('synchronous_commit')").fetchone()[0] == found


def test_an_address_without_a_ledger_is_no_new_ledger(address: str) -> None:
    with pytest.raises(LedgerError, match=r"has no ledger.*create=True"):
        Ledger(address)
    assert Ledger(address, create=True).created
    assert not Ledger(address).created


ROOT = Path(__file__).parents[2]


def documented(number: int) -> list[str]:
    """Return the statements of a block of the pages about a team's ledger and its roles."""
    pages = (ROOT / "docs" / "guides" / "team.md", ROOT / "docs" / "reference" / "roles.md")
    page = "".join(page.read_text(encoding="utf-8") for page in pages)
    return page.split("```sql\n")[number].partition("```")[0].strip().rstrip(";").split(";")


@pytest.fixture
def campaigns(server: Server) -> Iterator[str]:
    """The address of the database that the page sets up."""
    sql(server.address("postgres"), *documented(1), "CREATE ROLE stranger LOGIN", "CREATE ROLE cleo LOGIN")
    yield server.address("campaigns")
    server.drop(server.address("campaigns"))
    sql(server.address("postgres"), "DROP ROLE anna, ben, cleo, stranger, campaigns_team")


def test_the_address_in_the_environment_is_this_users_ledger(
    address: str, box: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMSOTP_LEDGER", address)
    assert "has no ledger" in plan_of(4)._prospect_now.trouble  # type: ignore[union-attr]
    with pytest.raises(LedgerError, match="has no ledger"):
        send(plan_of(4), client=box.client(), progress=False)
    with Ledger(address, create=True) as ledger:
        backup = Ledger(tmp_path / "l.sqlite", create=True).backup(tmp_path / "b.sqlite")
        send(plan_of(4), client=box.client(), progress=False)
        assert ledger.campaigns()["accepted"].tolist() == [4]
    assert plan_of(4)._prospect_now.reached == 4  # type: ignore[union-attr]
    with pytest.raises(LedgerError, match="names a ledger on a server"):
        Ledger.restore(backup)
    assert len(box.inbox) == 4


def test_an_analyst_reads_costs_and_no_number(campaigns: str, box: Sandbox, client: Client) -> None:
    anna, cleo = (campaigns.replace("postgres@", f"{name}@") for name in ("anna", "cleo"))
    with Ledger(anna, create=True) as ledger:
        send(plan_of(10, chunk_size=2), client=client, ledger=ledger, progress=False)
        spent = cost.spending(ledger)
    sql(anna, *documented(4))
    with Ledger(cleo) as ledger:
        pd.testing.assert_frame_equal(cost.spending(ledger), spent)
        assert ledger.campaigns()["accepted"].tolist() == [10]
        assert "autumn" in ledger.card().text()
        for refused_call in (
            lambda: ledger.record("autumn").results, lambda: People(ledger).register, lambda: cost.outcomes(ledger),
            lambda: People(ledger).opt_out("+12025550123", source="phone"), lambda: ledger.record("autumn").purge(),
            lambda: ledger._begin(plan_of(4, campaign="hers"), service="a service"),
        ):  # fmt: skip
            with pytest.raises(LedgerError, match="permission denied"):
                refused_call()
    for column, table in (
        ("number", "fate"), ("*", "recipient"), ("secret", "ledger"), ("fingerprint", "campaign"), ("body", "chunk"),
        ("body", "fate"), ("segment", "wording"), ("text", "wording"), ("error", "attempt"), ("shared", "sums"),
    ):  # fmt: skip
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            sql(cleo, f"SELECT {column} FROM {table}")


def test_the_documented_setup_lets_the_team_in_and_nobody_else(campaigns: str) -> None:
    here = campaigns
    with Ledger(here.replace("postgres@", "anna@"), create=True) as ledger:
        ledger._begin(plan_of(10), service="a service").close()
    with Ledger(here.replace("postgres@", "ben@")) as ledger:
        assert ledger.campaigns()["planned"].sum() == 10
        assert ledger.record("autumn").purge() == 10
    with pytest.raises(LedgerError, match="permission denied for database"):
        Ledger(here.replace("postgres@", "stranger@"))


def test_the_documented_setup_keeps_numbers_out_of_the_servers_log(server: Server, campaigns: str) -> None:
    """Without it, statements that fail are quoted there, with the row that they were about."""
    number, log = "+12025550187", server.folder / "log"
    with Ledger(campaigns.replace("postgres@", "anna@"), create=True) as ledger:
        sql(campaigns, "ALTER TABLE consent ADD CONSTRAINT nobody CHECK (false) NOT VALID")
        before = len(log.read_text(encoding="utf-8"))
        with pytest.raises(LedgerError, match="violates check constraint"):
            People(ledger).opt_out(number, source="phone")
        said = log.read_text(encoding="utf-8")[before:]
    assert "violates check constraint" in said
    assert number[1:] not in said


@pytest.mark.slow
@pytest.mark.parametrize("way", ["direct", "pooled"])
def test_the_documented_setup_shows_no_value_whatever_the_server_logs(
    own_server: Server, box: Sandbox, client: Client, way: str
) -> None:
    """It logs all statements, how long each took and who waits for whom, and one of its processes is killed."""
    logs = ["log_statement='all'", "log_min_duration_statement=0", "log_lock_waits=on", "deadlock_timeout='100ms'"]
    sql(own_server.address("postgres"), *(f"ALTER SYSTEM SET {one}" for one in logs), "SELECT pg_reload_conf()")
    sql(own_server.address("postgres"), *documented(1))
    address, log = own_server.address("campaigns").replace("postgres@", "anna@"), own_server.folder / "log"
    out, known, late = numbers(3)
    values = [*numbers(10), "Odysseus", "Hello dear", "a-campaign", "on-the-phone", "proof-of-it", "a-reason"]
    with contextlib.ExitStack() as opened:
        if way == "pooled":
            need_pooler()
            address = opened.enter_context(Pooler(own_server)).address(address)
        ledger = opened.enter_context(Ledger(address, create=True))
        people, frame = People(ledger), pd.DataFrame({"phone": numbers(10), "name": "Odysseus"})
        people.opt_out(out, source="on-the-phone", proof="proof-of-it")
        requests = RequestOptions(chunk_size=2, threads=1)
        made = plan(frame, "Hello dear {name}", to="phone", campaign="a-campaign", keep=["name"], requests=requests)
        box.fault("drop_after", next=1)
        with pytest.warns(UserWarning, match="in doubt"):
            send(made, client=client, ledger=ledger, progress=False)
        record = ledger.record("a-campaign")
        assert record.settle(record.in_doubt, accepted=False, reason="a-reason")
        send(made, client=client, ledger=ledger, progress=False)
        assert len(people.history(known)) == 1
        assert people.forget(known) == 1
        killed_at_work(own_server, lambda: people.opt_out(late, source="on-the-phone"), values)
    logged = log.read_text(encoding="utf-8")
    for statement in ("INSERT INTO consent", "INSERT INTO attempt", "INSERT INTO decision", "COPY recipient"):
        assert statement in logged
    assert not hits(logged, *values)


def killed_at_work(server: Server, call: Callable[[], object], values: Sequence[str]) -> None:
    """Kill the process of the server at which a call waits, which shows none of the values."""
    with psycopg.connect(server.address("campaigns"), autocommit=True) as watching:
        with psycopg.connect(server.address("campaigns")) as holding:
            holding.execute("LOCK TABLE consent IN ACCESS EXCLUSIVE MODE")
            waiting = threading.Thread(target=refused_by, args=(call,))
            waiting.start()
            asked = "SELECT pid, query FROM pg_stat_activity WHERE wait_event_type='Lock' AND datname='campaigns'"
            while not (shown := watching.execute(asked).fetchall()):
                time.sleep(0.05)
            logged_by(server, " still waiting for ")
            os.kill(shown[0][0], signal.SIGKILL)
            waiting.join()
            logged_by(server, "Failed process was running")
            holding.close()  # all processes of the server end with the one that was killed
        watching.close()
    assert "consent" in shown[0][1]
    assert not hits(shown[0][1], *values)


def logged_by(server: Server, words: str) -> None:
    while words not in (server.folder / "log").read_text(encoding="utf-8"):
        time.sleep(0.05)


def refused_by(call: Callable[[], object]) -> None:
    with pytest.raises(LedgerError, match="cannot be used"):
        call()


@pytest.fixture
def roles(campaigns: str, server: Server) -> Iterator[dict[str, str]]:
    """The addresses of those to whom the page gives a role each, in a ledger that asks for approvals."""
    people = {name: campaigns.replace("postgres@", f"{name}@") for name in ("anna", "dora", "emil")}
    sql(server.address("postgres"), *documented(2))
    with Ledger(people["anna"], create=True) as ledger:
        ledger.require_approval()
    sql(people["anna"], *documented(3))
    yield people
    sql(campaigns, "DROP OWNED BY campaigns_sender, campaigns_approver")
    sql(server.address("postgres"), "DROP OWNED BY campaigns_sender, campaigns_approver")
    sql(server.address("postgres"), "DROP ROLE dora, emil, campaigns_sender, campaigns_approver")


def refuses(role: str, *calls: Callable[[], object]) -> None:
    for call in calls:
        with pytest.raises(LedgerError, match=f"(permission denied|row-level security).*takes the role.*{role}"):
            call()


def test_each_role_does_what_it_may_and_is_refused_the_rest(
    roles: dict[str, str], box: Sandbox, client: Client
) -> None:
    plan = plan_of(10, chunk_size=2)
    with Ledger(roles["dora"]) as sender, Ledger(roles["emil"]) as approver, Ledger(roles["anna"]) as owner:
        with pytest.warns(UserWarning, match="asks for a second person"):
            send(plan, client=client, ledger=sender, progress=False)
        hers = sender.record("autumn")
        refuses("campaigns_sender", lambda: send(plan, client=client, ledger=approver, progress=False))
        refuses("campaigns_sender", lambda: People(approver).opt_out("+12025550123", source="phone"))
        his = approver.record("autumn")
        assert his.approve(his.proposal, reason="read") == 10
        box.fault("drop_after", next=1)
        with pytest.warns(UserWarning, match="in doubt"):
            send(plan.with_requests(threads=1), client=client, ledger=sender, progress=False)
        doubt = hers.in_doubt
        refuses("campaigns_approver", lambda: hers.settle(doubt, accepted=False))
        assert hers.counts["in_doubt"] == len(doubt) == 2
        assert his.settle(doubt, accepted=True, reason="invoice") == 2
        longer = plan_of(14, chunk_size=2)
        assert revise(longer, client, reason="more people", ledger=sender).added == 4
        assert hers.withdraw(numbers(14)[12:]) == his.withdraw(numbers(12)[10:]) == 2
        People(sender).opt_out(numbers(1), source="phone")
        for ledger, campaign in ((sender, hers), (approver, his)):
            refuses(
                "campaigns_team", campaign.purge, lambda of=ledger: of.retain("24 months"),
                lambda of=ledger: of.require_approval(False), lambda of=ledger: People(of).forget(numbers(1)),
            )  # fmt: skip
        assert owner.record("autumn").purge() == 14
        assert owner.audit()["who"].str.split().str[0].tolist()[:4] == ["anna", "dora", "dora", "emil"]


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    ("who", "statement"),
    [
        ("dora", "INSERT INTO approval SELECT id, 0, 'emil', 0 FROM campaign"),
        ("emil", "INSERT INTO approval SELECT id, 0, 'anna', 0 FROM campaign"),
        ("dora", "INSERT INTO decision (at, who, what, rows) VALUES (0, 'emil (emil on there)', 'sending', 0)"),
        ("dora", "INSERT INTO decision (at, who, what, rows) VALUES (0, 'dora (dora on there)', 'approved', 0)"),
        ("dora", "DELETE FROM decision"),
        ("emil", "UPDATE decision SET who='dora'"),
        ("dora", "UPDATE ledger SET approval=0"),
        ("dora", "UPDATE recipient SET number=1"),
        ("emil", "INSERT INTO attempt (campaign, chunk, session, started_at) VALUES (1, 0, 1, 0)"),
    ],
)
def test_the_server_refuses_by_hand_what_a_role_may_not(roles: dict[str, str], who: str, statement: str) -> None:
    with Ledger(roles["dora"]) as ledger:
        ledger._begin(plan_of(4), service="a service").close()
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        sql(roles[who], statement)


def test_what_a_server_does_by_itself_is_refused(address: str, tmp_path: Path) -> None:
    with Ledger(address, create=True) as ledger:
        with pytest.raises(LedgerError, match="pg_dump; nothing was written"):
            ledger.backup(tmp_path / "backup.sqlite")
        with pytest.raises(LedgerError, match="export each campaign instead"):
            ledger.to_parquet(tmp_path / "parquet")
    assert not (tmp_path / "backup.sqlite").exists()
    assert not (tmp_path / "parquet").exists()


def test_the_card_names_who_runs_a_campaign_until_it_has_ended(address: str) -> None:
    with Ledger(address, create=True) as ledger:
        run = ledger._begin(plan_of(10), service="a service")
        assert f"Being run by {fences.me()} since 20" in str(ledger.record("autumn").card())
        run.close()
        assert "Being run by" not in str(ledger.record("autumn").card())


# -- deaths ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("how", ["kill", "immediate"])
def test_a_server_that_dies_during_a_campaign_texts_nobody_twice(own_server: Server, judge: Judge, how: str) -> None:
    work = work_of(judge, own_server.database(), rows=200)
    judge.box.fault("latency", seconds=0.3)  # so that it goes on for ten seconds, in which the server dies
    child = fork(work.run)
    while len(judge.box.inbox) < 20:
        time.sleep(0.01)
    own_server.kill() if how == "kill" else own_server.stop("immediate")
    with pytest.raises(LedgerError, match="cannot be used"):
        child.result()
    own_server.start()
    judge.box.clear_faults()
    work.run()
    found = audit(work.ledger, judge.texted("autumn"), campaign="autumn")
    assert (found.duplicates, found.lost) == (0, 0), found.odd
    assert found.in_doubt <= 12  # as many as were under way, and as many that were claimed next


@pytest.mark.slow
def test_eight_processes_text_everybody_once_through_a_pooler_in_transaction_mode(server: Server) -> None:
    need_pooler()
    with Pooler(server) as pooler:
        found = together(address=pooler.address(server.database()))
    assert (found.rows, found.campaigns) == (CAMPAIGNS * ROWS, CAMPAIGNS)
    assert (found.duplicates, found.lost, found.in_doubt) == (0, 0, 0), found.odd


@pytest.mark.slow
def test_a_line_that_is_cut_at_any_message_texts_nobody_twice(server: Server, judge: Judge, address: str) -> None:
    Ledger(address, create=True).close()
    with CuttingProxy(Path(f"{server.folder}/.s.PGSQL.5432")) as proxy:
        through = f"postgresql://postgres@127.0.0.1:{proxy.port}/{address.split('/')[3].split('?')[0]}?sslmode=disable"
        whole = work_of(judge, through, rows=4, name="whole")
        proxy.cut_after(None)
        whole.run()
        messages = proxy.passed
        cut = 0
        for number in range(3, messages, max(messages // 10, 1)):
            work = work_of(judge, through, rows=4, name=f"c{number}")
            proxy.cut_after(number)
            with contextlib.suppress(LedgerError):
                work.run()
            cut += proxy.was_cut
            proxy.cut_after(None)
            work.run()
            found = audit(through, judge.texted(work.plan.campaign), campaign=work.plan.campaign)
            assert (found.duplicates, found.lost) == (0, 0), (number, found.odd)
    assert cut >= 8


# -- a sender that stands still ----------------------------------------------------------------------------------------


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seconds in the place of minutes."""
    monkeypatch.setattr(fences, "VOID_AFTER", 2.0)
    monkeypatch.setattr(fences, "REQUEST", 4.0)
    monkeypatch.setattr(fences, "MARGIN", 2.0)


def stops_before_its_bytes(work: Work) -> Callable[[], object]:
    """Return a task that sends and stands still, once, between its claim and the first byte."""

    def task() -> object:
        deliver, stood = Client._deliver, threading.Event()

        def slow(self: Client, *arguments: object, **options: object) -> object:
            if not stood.is_set():
                stood.set()
                stop_here()
            return deliver(self, *arguments, **options)  # type: ignore[arg-type]

        Client._deliver = slow  # type: ignore[method-assign]
        from smsotp_nb import Sandbox

        with Ledger(work.ledger) as ledger, Sandbox.at(work.url).client(deadline=1.0) as client:
            from smsotp_nb import send

            return send(work.plan.with_requests(threads=1), client=client, ledger=ledger, progress=False)

    return task


def stopped(child: Child) -> None:
    _, status = os.waitpid(child.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status)


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
def test_a_sender_that_sleeps_between_claim_and_bytes_texts_nobody_after_a_person_decided(
    judge: Judge, address: str
) -> None:
    Ledger(address, create=True).close()
    work = work_of(judge, address, rows=6)
    child = fork(stops_before_its_bytes(work))
    stopped(child)
    assert not judge.texted("autumn")
    with Ledger(address) as ledger:
        campaign = ledger.record("autumn")
        assert campaign.counts["sending"] == 2
        with pytest.raises(CampaignLockedError, match=rf"process {child.pid}\) since .* it can be taken over after"):
            campaign.retry([])
        while campaign.counts["in_doubt"] == 0:
            time.sleep(0.05)
        assert campaign.settle(campaign.in_doubt, accepted=False, reason="the provider has no record") == 2
        work.run()
    os.kill(child.pid, signal.SIGCONT)
    with pytest.raises(CampaignLockedError, match="taken over"):
        child.result()
    found = audit(address, judge.texted("autumn"), campaign="autumn")
    assert (found.rows, found.duplicates, found.lost, found.in_doubt) == (6, 0, 0, 0), found.odd


@pytest.fixture(params=["file", "server"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where an empty ledger is."""
    found = str(tmp_path / "ledger.sqlite") if request.param == "file" else request.getfixturevalue("address")
    Ledger(found, create=True).close()
    return str(found)


@pytest.mark.parametrize("clock", ["clock_gettime", "time"])
def test_a_claim_is_void_when_either_clock_has_gone_on(
    judge: Judge, place: str, monkeypatch: pytest.MonkeyPatch, clock: str
) -> None:
    """The one goes on while a machine sleeps; the other is set right after a virtual machine stood still."""
    deliver, told, tried = Client._deliver, getattr(time, clock), []

    def after_a_pause(self: Client, *arguments: object, **options: object) -> object:
        later = 0 if tried else fences.VOID_AFTER
        tried.append(None)
        monkeypatch.setattr(time, clock, lambda *which: told(*which) + later)
        before = len(judge.box.inbox)
        try:
            return deliver(self, *arguments, **options)  # type: ignore[arg-type]
        finally:
            assert len(judge.box.inbox) == before + (0 if later else 2)

    monkeypatch.setattr(Client, "_deliver", after_a_pause)
    assert replace(work_of(judge, place, rows=6), concurrency=1).run()["accepted"] == 6
    assert len(tried) == 4


@pytest.mark.parametrize("said", ["opted out", "forgotten"])
def test_who_says_no_while_a_claimed_request_waits_is_not_texted(judge: Judge, place: str, said: str) -> None:
    work = work_of(judge, place, rows=6)
    child = fork(stops_before_its_bytes(work))
    stopped(child)
    first = numbers(1)[0]
    with Ledger(place) as ledger:
        assert ledger.record("autumn").counts["sending"] == 2
        People(ledger).opt_out(first, source="phone") if said == "opted out" else People(ledger).forget(first)
    time.sleep(fences.FRESH)
    os.kill(child.pid, signal.SIGCONT)
    child.result()
    assert sorted(judge.texted("autumn")) == sorted(numbers(6)[1:])


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
def test_a_sender_that_stands_still_in_its_turn_does_not_keep_others_from_saying_no(address: str) -> None:
    """The server ends its transaction; the sender goes on with another one."""
    Ledger(address, create=True).close()

    def task() -> str:
        with Ledger(address) as ledger:
            run = ledger._begin(plan_of(4, chunk_size=2), service="a service")
            look, stood = run._holds.look, threading.Event()

            def slow(connection: Statements) -> Said:
                if not isinstance(connection, Connection):  # as where a guess is wrong
                    raise NotGuessed
                if not stood.is_set():
                    stood.set()
                    connection.send()
                    stop_here()
                return look(connection)

            run._holds.look = slow  # type: ignore[method-assign]
            with pytest.raises(LedgerError, match="cannot be used"):
                run.claim(0)
            claim = run.claim(0)
            run.close()
            return "+".join(claim.to) if claim else ""

    child = fork(task)
    stopped(child)
    with Ledger(address) as ledger:
        assert People(ledger).opt_out(numbers(1)[0], source="phone") == 1
    os.kill(child.pid, signal.SIGCONT)
    assert child.result() == numbers(2)[1]


# -- a database that went back -----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_restored_dump_is_refused_until_a_person_says_so(
    server: Server, judge: Judge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = server.database()
    name = address.split("/")[3].split("?")[0]
    work_of(judge, address, rows=4, name="first").run()
    dump = server.folder / "dump.sql"
    server.call("pg_dump", "-h", str(server.folder), "-U", "postgres", "-f", str(dump), name)
    work_of(judge, address, rows=4, name="second").run()
    sql(server.address("postgres"), f"DROP DATABASE {name} WITH (FORCE)", f"CREATE DATABASE {name}")
    server.call("psql", "-h", str(server.folder), "-U", "postgres", "-f", str(dump), name)
    with monkeypatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path / "new"))
        with pytest.raises(StaleLedgerError, match="made anew"):
            Ledger(address)
    with pytest.raises(StaleLedgerError, match=r"made anew.*Up to 4 recipients.*accept_older=True") as raised:
        Ledger(address)
    assert raised.value.recipients == 4
    with Ledger(address, accept_older=True) as ledger:
        assert ledger.campaigns()["campaign"].tolist() == ["first"]
    Ledger(address).close()


@pytest.mark.slow
def test_a_standby_that_is_promoted_is_refused_although_a_kernel_holds_the_ledger_open(
    own_server: Server, judge: Judge
) -> None:
    """The kernel's next claim refuses it, and so does whoever opens it."""
    address = own_server.database()
    Ledger(address, create=True).close()
    copy = own_server.folder / "copy"
    own_server.call(
        "pg_basebackup", "--checkpoint=fast", "-h", str(own_server.folder), "-U", "postgres", "-D", str(copy), "-R"
    )
    with Ledger(address) as ledger:
        run = ledger._begin(plan_of(10, chunk_size=2), service="a service")
        assert run.claim(0)
        own_server.stop("immediate")
        (own_server.folder / "data").rename(own_server.folder / "old")
        copy.rename(own_server.folder / "data")
        own_server.start()
        own_server.call("pg_ctl", "-D", str(own_server.data), "-w", "promote")
        with pytest.raises(LedgerError, match="cannot be used"):
            run.claim(1)
        with pytest.raises(StaleLedgerError, match="a standby was promoted"):
            run.claim(1)
        with pytest.raises(StaleLedgerError, match="a standby was promoted"):
            Ledger(address)
        run.close()


@pytest.mark.slow
def test_a_promoted_standby_is_refused_to_everybody_until_somebody_accepts_it(
    own_server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """To a kernel that had only looked, and to one with a new home; then nobody has to accept it again."""
    address, copy = own_server.database(), own_server.folder / "copy"

    def home(of: str) -> None:
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / of))

    home("sender")
    Ledger(address, create=True).close()
    own_server.call(
        "pg_basebackup", "--checkpoint=fast", "-h", str(own_server.folder), "-U", "postgres", "-D", str(copy), "-R"
    )
    with Ledger(address) as ledger:
        run = ledger._begin(plan_of(10, chunk_size=2), service="a service")
        assert run.claim(0)
        run.close()
    home("looker")
    with Ledger(address) as looker:
        assert len(looker.campaigns()) == 1
        own_server.stop("immediate")
        (own_server.folder / "data").rename(own_server.folder / "old")
        copy.rename(own_server.folder / "data")
        own_server.start()
        own_server.call("pg_ctl", "-D", str(own_server.data), "-w", "promote")
        with pytest.raises(LedgerError, match="cannot be used"):
            looker.campaigns()
        with pytest.raises(StaleLedgerError, match="a standby was promoted"):
            looker.campaigns()
        for of in ("looker", "new", "sender"):
            home(of)
            with pytest.raises(StaleLedgerError, match=r"a standby was promoted.*once for all"):
                Ledger(address)
        home("new")
        with Ledger(address, accept_older=True) as accepting:
            assert accepting.audit()["what"].tolist() == ["older database accepted"]
        assert len(looker.campaigns()) == 0
    for of in ("looker", "sender", "another"):
        home(of)
        with Ledger(address) as ledger:
            run = ledger._begin(plan_of(4, campaign=of, text=of), service="a service")
            assert run.claim(0)
            run.close()


def test_a_ledger_is_opened_while_another_process_of_this_user_records(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is noted of the other's request is later than what was seen of the database, and no sign of an older one."""
    with Ledger(address, create=True) as first:
        run, read = first._begin(plan_of(10, chunk_size=2), service="a service"), Sighting.read.__func__  # type: ignore[attr-defined]
        run.claim(0)
        left = [1]

        def meanwhile(kind: type[Sighting], row: tuple[object, ...]) -> object:
            if left:
                run.claim(left.pop())
            return read(kind, row)

        monkeypatch.setattr(Sighting, "read", classmethod(meanwhile))
        with Ledger(address) as second:
            assert second.record("autumn").counts["sending"] == 4
        run.close()


def test_a_database_that_is_exchanged_under_an_open_connection_ends_the_run(address: str) -> None:
    """As a pooler does after a failover: the connection stays, and the server behind it is another one."""
    with Ledger(address, create=True) as ledger:
        run = ledger._begin(plan_of(10), service="a service")
        served = ledger._store._opened
        assert served is not None
        sql(
            address,
            "CREATE TABLE other (LIKE ledger INCLUDING ALL)",
            "INSERT INTO other SELECT * FROM ledger",
            "ALTER TABLE ledger RENAME TO former",
            "ALTER TABLE other RENAME TO ledger",
        )
        with pytest.raises(ReplacedLedgerError, match="made anew"):
            run.claim(0)
        run.close()


# -- the clock of a server is set back or forward in the middle of a campaign --------------------------------------

# Found before the function of that name which PostgreSQL has.
SHIM = """
CREATE TABLE shift (by interval NOT NULL);
INSERT INTO shift VALUES ('0');
CREATE FUNCTION clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
  AS 'SELECT pg_catalog.clock_timestamp() + by FROM shift';
"""


def with_clock(server: Server) -> str:
    """Return the address of a database whose clock can be set."""
    made = server.database()
    name = made.split("/")[3].split("?")[0]
    with psycopg.connect(made, autocommit=True) as connection:
        connection.execute(SHIM)
        connection.execute(f"ALTER DATABASE {name} SET search_path = public, pg_catalog")  # type: ignore[arg-type]
    return made


@pytest.fixture
def shifted(server: Server, two_machines: None) -> str:
    """A ledger on a server whose clock can be set."""
    made = with_clock(server)
    Ledger(made, create=True).close()
    return made


@pytest.fixture
def two_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody sees of the other's process whether it lives, as on another machine."""
    monkeypatch.setattr(fences, "process_key", lambda _=None: "")


def test_an_answer_that_comes_after_a_take_over_changes_who_counts_as_texted(shifted: str) -> None:
    """Who counts is packed when the second runner ends; the first one's answer makes that out of date."""
    packed = "SELECT count(*) FROM contacts"
    with Ledger(shifted) as first, Ledger(shifted) as second, psycopg.connect(shifted, autocommit=True) as look:
        run = first._begin(plan_of(4, chunk_size=2), service="a service")
        claim = run.claim(0)
        assert claim is not None
        set_clock(shifted, "1 hour")
        second._begin(plan_of(4, chunk_size=2), service="a service").close()
        assert look.execute(packed).fetchone() == (1,)
        run.settle(claim, Ending("NOT_SENT", phase="before"))
        assert look.execute(packed).fetchone() == (0,)
        run.close()


def set_clock(address: str, by: str) -> None:
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("UPDATE shift SET by=%s::interval", (by,))


def before_the_bytes(monkeypatch: pytest.MonkeyPatch, act: Callable[[], None]) -> None:
    """Do something once, between the first claim and its request."""
    left, deliver = [act], Client._deliver

    def delivered(self: Client, *arguments: Any, **options: Any) -> Any:
        if left:
            left.pop()()
        return deliver(self, *arguments, **options)

    monkeypatch.setattr(Client, "_deliver", delivered)


def test_a_clock_that_is_set_back_lets_nobody_in_and_holds_nobody_up(
    judge: Judge, shifted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    work, refused = (
        Work(shifted, judge.box.url, plan_of(12, chunk_size=2, campaign="autumn", text="autumn"), concurrency=1),
        [],
    )

    def meanwhile() -> None:
        set_clock(shifted, "-1 hour")
        with pytest.raises(CampaignLockedError, match="can be taken over after") as raised:
            work.run()
        refused.append(raised.value)

    before_the_bytes(monkeypatch, meanwhile)
    assert work.run()["accepted"] == 12
    assert len(refused) == 1
    found = audit(shifted, judge.texted("autumn"), campaign="autumn")
    assert (found.rows, found.duplicates, found.lost) == (12, 0, 0), found.odd


def test_a_clock_that_is_set_forward_gives_the_campaign_away_and_texts_nobody_twice(
    judge: Judge, shifted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the first runner had claimed is in doubt for the second, until the first one's answer settles it."""
    work, second = (
        Work(shifted, judge.box.url, plan_of(12, chunk_size=2, campaign="autumn", text="autumn"), concurrency=1),
        [],
    )

    def meanwhile() -> None:
        set_clock(shifted, "1 hour")
        second.append(work.run())

    before_the_bytes(monkeypatch, meanwhile)
    with pytest.raises(CampaignLockedError, match="was taken over by"):
        work.run()
    assert (second[0]["accepted"], second[0]["in_doubt"]) == (10, 2)
    found = audit(shifted, judge.texted("autumn"), campaign="autumn")
    assert (found.rows, found.duplicates, found.lost, found.in_doubt) == (12, 0, 0, 0), found.odd
