"""A service that breaks at chosen bytes, the kinds of its faults, and what the client makes of each."""
