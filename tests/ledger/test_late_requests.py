"""A request late in a campaign costs a server as little as the first."""

from __future__ import annotations

import time

import psycopg
from kills.people import plan_of
from support.sending import sent
from support.servers import Server

from smsotp_nb import Ledger, Sandbox

REQUESTS = 600
OTHERS = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname=current_database() AND pid<>pg_backend_pid() "
    "AND backend_type='client backend'"
)
WITHOUT_STATISTICS = (
    "SELECT format('ALTER TABLE %s SET (autovacuum_enabled=false)', relid::regclass) FROM pg_stat_user_tables"
)


def test_a_request_reads_no_earlier_ones(server: Server, box: Sandbox) -> None:
    """The server has no statistics of tables that were empty a moment before, and must not read them all each time.

    Were it to take statistics in the meantime, which is a matter of the minute, it would rightly read a table of a few
    pages as a whole for a while; so it takes none here.
    """
    address = server.database()
    with Ledger(address, create=True) as ledger, box.client() as client:
        with psycopg.connect(address, autocommit=True) as connection:
            for (statement,) in connection.execute(WITHOUT_STATISTICS).fetchall():
                connection.execute(statement)
        sent(plan_of(REQUESTS, chunk_size=1, campaign="autumn", text="Hello"), client, ledger)
    with psycopg.connect(address, autocommit=True) as connection:
        while connection.execute(OTHERS).fetchone() != (0,):  # a connection counts what it read when it has ended
            time.sleep(0.01)
        sql = "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_user_tables WHERE relname='attempt'"
        (read,) = connection.execute(sql).fetchone() or (0,)
    assert REQUESTS < read < 20 * REQUESTS
