"""A ledger in a file.

- ``store`` opens and writes it; ``disk``: which file systems are fit for it; ``locks`` keep its files where they are,
  and admit one runner for a campaign; ``last_seen``: what this user last saw of it
- ``copies``: backups
"""
