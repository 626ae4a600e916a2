"""A ledger on a PostgreSQL server: its address, connection, dialect and store, leases, and what was last seen of it."""
