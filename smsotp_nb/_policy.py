"""How often a person may be texted, and whether with the same words: a value that a plan carries to its send."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from typing import Any, Final, Literal

from ._calling import given, in_our_words, not_choice, refuse

Kind = Literal["marketing", "transactional"]
KINDS: Final = ("marketing", "transactional")
_UNITS: Final = {"s": 1, "min": 60, "h": 3600, "d": 86_400, "w": 604_800}
_WRITTEN: Final = re.compile(r"\A\s{0,9}(\d{1,9}(?:\.\d{1,9})?)\s{0,9}(s|min|h|d|w)\s{0,9}\Z")
_BEYOND: Final = 1e9  # seconds; a timedelta has room for so many
MOST_CAP: Final = 1_000
LONGEST: Final = timedelta(days=366)
Window = str | timedelta


@dataclass(frozen=True, slots=True, init=False)
class Policy:
    """How often a person may be texted. Decided for each person at the moment that the request leaves.

    A person counts as contacted from the moment a message may have left: rows that are being sent, accepted or in
    doubt, of every campaign on every live service in the same ledger. Each sandbox counts by itself. Messages of
    ``send_test`` and passcodes do not count.

    Args:
        caps: pairs of a number and a window, such as ``[(1, "24h"), (3, "7d")]``: at most so many messages to a person
            in any such span of time. Windows roll: they are not calendar days. A window is a number with a unit
            (``s, min, h, d, w``) or a timedelta of at most 366 days.
        kind: ``"marketing"``, or ``"transactional"`` for messages that caps do not hold back, such as the notice of a
            delivery. An opt-out holds back both.
        same_text: how long a person is not sent the same message again, under whatever campaign, as a window; None
            lets it through. The default is three days.

    Raises:
        UsageError: a cap of zero, a window without a unit, or something else that is no policy; lists all of it.

    Example:
        >>> Policy(caps=[(1, "24h"), (3, "7d")])
        Policy(caps=[(1, '24h'), (3, '7d')], kind='marketing', same_text='3d')
    """

    caps: tuple[tuple[int, timedelta], ...]
    kind: Kind
    same_text: timedelta | None

    @in_our_words
    def __init__(
        self,
        caps: Iterable[tuple[int, Window]] = (),
        *,
        kind: Kind = "marketing",
        same_text: Window | None = "3d",
    ) -> None:
        wrong: list[str] = []
        read = _caps(caps, wrong)
        same = None if same_text is None else window_of("same_text=", same_text, wrong)
        refuse(*wrong, not_choice("kind", kind, KINDS))
        object.__setattr__(self, "caps", read)
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "same_text", same)

    @property
    def _active_caps(self) -> tuple[tuple[int, timedelta], ...]:
        """The caps that hold back messages of this kind."""
        return self.caps if self.kind == "marketing" else ()

    def __repr__(self) -> str:
        caps = ", ".join(f"({most}, {written(window)!r})" for most, window in self.caps)
        same = None if self.same_text is None else written(self.same_text)
        return f"Policy(caps=[{caps}], kind={self.kind!r}, same_text={same!r})"


def written(window: timedelta) -> str:
    """Return a window as it is written.

    Example:
        >>> written(timedelta(hours=24)), written(timedelta(days=7)), written(timedelta(minutes=90))
        ('24h', '7d', '90min')
    """
    seconds = window.total_seconds()
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds % size == 0 and (unit != "d" or seconds > size):
            return f"{seconds / size:.0f}{unit}"
    return f"{seconds:g}s"


def _caps(caps: Any, wrong: list[str]) -> tuple[tuple[int, timedelta], ...]:
    if isinstance(caps, tuple) and len(caps) == 2 and isinstance(caps[0], int):  # one pair, without its list
        caps = [caps]
    if isinstance(caps, str) or not isinstance(caps, Iterable):
        wrong.append(f'caps= must be a list of pairs such as [(1, "24h"), (3, "7d")], got {given(caps)}')
        return ()
    found = []
    pairs = [*islice(caps, MOST_CAP + 1)]  # it may have no end
    if len(pairs) > MOST_CAP:
        wrong.append(f"caps= must be a list of at most {MOST_CAP:,} pairs")
    for cap in pairs[:MOST_CAP]:
        if not isinstance(cap, tuple | list) or len(cap) != 2:
            wrong.append(f'each of caps= must be a pair such as (1, "24h"), got {given(cap)}')
            continue
        most, window = cap
        if isinstance(most, bool) or not isinstance(most, int) or not 1 <= most <= MOST_CAP:
            wrong.append(
                f"a cap must be a whole number from 1 to {MOST_CAP:,}, got {given(most)}; to text nobody, withdraw the "
                "campaign"
            )
            continue
        read = window_of("a window of caps=", window, wrong)
        if read is not None:
            found.append((most, read))
    return tuple(found)


def window_of(name: str, window: Any, wrong: list[str]) -> timedelta | None:
    """Return a window as it was given, such as ``"24h"``; add to ``wrong`` what is none."""
    read: timedelta | None = None
    if isinstance(window, timedelta):
        read = window
    elif isinstance(window, str) and (match := _WRITTEN.match(window)):
        read = timedelta(seconds=min(float(match[1]) * _UNITS[match[2]], _BEYOND))
    if read is None:
        wrong.append(f'{name} needs a number and a unit (s, min, h, d or w), such as "24h", got {given(window)}')
    elif not timedelta(0) < read <= LONGEST:
        wrong.append(f"{name} must be longer than nothing and at most 366 days, got {written(read)}")
        read = None
    return read


def not_policy(policy: Any) -> str | None:
    """Complain of what is no policy; None is fine.

    Example:
        >>> not_policy((1, "24h"))
        'policy= must be a Policy such as Policy(caps=[(1, "24h")]), got tuple'
    """
    if policy is None or isinstance(policy, Policy):
        return None
    return f'policy= must be a Policy such as Policy(caps=[(1, "24h")]), got {given(policy)}'
