"""A service that breaks at chosen bytes, the kinds of its faults, and the client's verdict on each."""
