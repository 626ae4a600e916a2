"""A ledger in a file: its store, the locks that hold its files, copies, and what was last seen of it."""
