"""The command `smsotp-nb` in the process of the test, as the distribution declares it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.metadata import entry_points

main: Callable[[Sequence[str]], int] = entry_points(group="console_scripts")["smsotp-nb"].load()
