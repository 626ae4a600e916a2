"""A ledger on a PostgreSQL server.

- ``address``, ``connection``; ``dialect`` spells the statements of ``rows`` for PostgreSQL
- ``store``, and a lease for the one runner of a campaign; how long one lasts is in ``rows/runners``
- ``last_seen``: what was last seen of a database, so that an older copy is noticed
"""
