"""The table of the guards: what may hold rows of a campaign back, each an option of `Limits`.

A row gives a guard its problem code, its words and its fields in the campaign form; ``problems``, the form and the
documentation read it. How the option is read, and what the guard holds back, stands in ``_dispatch.guards``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

Budget = Mapping[str, float | str | Decimal]
STOP_AFTER = 10


@dataclass(frozen=True, slots=True)
class Field:
    """One field of the campaign form: its name and label, an example of what to type, whether it is a number, and then
    its first value."""

    name: str
    label: str
    example: str = ""
    number: bool = False
    value: int = 0


@dataclass(frozen=True, slots=True)
class Guard:
    """One guard.

    Attributes:
        name: the option of ``Limits``.
        code: the ``problem`` of rows that it holds back.
        meaning: what the code means.
        next_step: what to do about it.
        ends: whether it ends the call; otherwise it passes over rows.
        example: how the option is written, in the documentation.
        effect: what the guard does, in the documentation.
        fields: what the campaign form asks for.
        default: its default in ``Limits``.
    """

    name: str
    code: str
    meaning: str
    next_step: str
    ends: bool
    example: str
    effect: str
    fields: tuple[Field, ...]
    default: Any = None


GUARDS: Final = (
    Guard(
        name="budget",
        code="BUDGET",
        meaning="the next request may exceed the budget",
        next_step="send again with a higher budget",
        ends=True,
        example='budget={"USD": 50}',
        effect="stops before the request that may cross the amount; rows in doubt count as spent",
        fields=(Field("budget", "Spend at most", "USD 50"),),
    ),
    Guard(
        name="quiet_hours",
        code="QUIET_HOURS",
        meaning="the quiet hours apply in the local time of the number",
        next_step="send again later",
        ends=False,
        example='quiet_hours=("21:00", "08:00")',
        effect="texts nobody between these times, in the local time of the number",
        fields=(Field("quiet_from", "Quiet from", "21:00"), Field("quiet_to", "Quiet until", "08:00")),
    ),
    Guard(
        name="first",
        code="CANARY",
        meaning="the first recipients were texted",
        next_step="check their results, then send the others without first=",
        ends=True,
        example="first=20",
        effect="sends to this many first and stops",
        fields=(Field("canary", "Send first to how many, then look (0: all)", number=True),),
    ),
    Guard(
        name="stop_after",
        default=STOP_AFTER,
        code="FAILING",
        meaning="too many requests in a row were refused or left in doubt",
        next_step="check their errors, then send again",
        ends=True,
        example="stop_after=10",
        effect="stops after this many requests in a row were refused or left in doubt; on by default",
        fields=(Field("failures", "Stop after failed requests in a row", number=True, value=STOP_AFTER),),
    ),
)
