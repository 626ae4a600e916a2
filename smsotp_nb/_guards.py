"""One table of the guards: what may hold rows of a campaign back, each an argument of ``send`` and ``preflight``.

A row here gives a guard its argument, its words, its problem code and its fields in the campaign form; ``send`` and
``preflight`` (by ``takes_guards``), ``problems``, the form and the documentation read it. How the argument is read, and
what the guard holds back, stands in ``_dispatch.guards``. A new guard is a change of these two files.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, TypedDict, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])
STOP_AFTER_FAILURES = 10


class GuardArguments(TypedDict, total=False):
    """The guards as arguments, for type checkers: one entry for each row of ``GUARDS``."""

    budget: Mapping[str, float | str | Decimal] | None
    quiet_hours: tuple[str, str] | None
    canary: int | None
    stop_after_failures: int | None


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
        name: the argument of ``send`` and ``preflight``.
        default: its default there.
        says: what the docstring of ``send`` says about the argument.
        code: the ``problem`` of rows that it holds back.
        meaning: what the code means.
        next_step: what to do about it.
        ends: whether it ends the call; otherwise it passes over rows.
        example: how the argument is written, in the documentation.
        effect: what the guard does, in the documentation.
        fields: what the campaign form asks for.
    """

    name: str
    default: Any
    says: str
    code: str
    meaning: str
    next_step: str
    ends: bool
    example: str
    effect: str
    fields: tuple[Field, ...] = ()


GUARDS: Final = (
    Guard(
        name="budget",
        default=None,
        says='upper limit of the cost by currency, such as ``{"USD": 50}``, including earlier calls for this campaign. '
        "The call stops before the request that may exceed it. Rows in doubt count as spent.",
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
        default=None,
        says='two times, such as ``("21:00", "08:00")``, between which nobody is texted, by the clock where the number '
        "is at home. If a number may be in several time zones, none of them may be quiet. Rows held back stay planned.",
        code="QUIET_HOURS",
        meaning="the quiet hours apply where the number is at home",
        next_step="send again later",
        ends=False,
        example='quiet_hours=("21:00", "08:00")',
        effect="texts nobody between these times, by the clock where the number is at home",
        fields=(Field("quiet_from", "Quiet from", "21:00"), Field("quiet_to", "Quiet until", "08:00")),
    ),
    Guard(
        name="canary",
        default=None,
        says="send to this many recipients first; the next call without it sends the rest.",
        code="CANARY",
        meaning="the canary was sent",
        next_step="check its results, then send the others without a canary",
        ends=True,
        example="canary=20",
        effect="sends to this many first and stops",
        fields=(Field("canary", "Send first to how many, then look (0: all)", number=True),),
    ),
    Guard(
        name="stop_after_failures",
        default=STOP_AFTER_FAILURES,
        says="stop after this many requests in a row were refused or left in doubt.",
        code="FAILING",
        meaning="too many requests in a row were refused or left in doubt",
        next_step="check their errors, then send again",
        ends=True,
        example="stop_after_failures=10",
        effect="stops after this many requests in a row were refused or left in doubt; on by default",
        fields=(Field("failures", "Stop after failed requests in a row", number=True, value=STOP_AFTER_FAILURES),),
    ),
)
BY_NAME: Final[Mapping[str, Guard]] = {guard.name: guard for guard in GUARDS}

_PLACE = re.compile(r"^( *)\*\*guard_arguments: .*$", flags=re.MULTILINE)


def takes_guards(function: Function) -> Function:
    """Show each guard as an argument of its own, in signature and docstring, where a function takes them all as one."""
    shown = inspect.signature(function)
    others = [one for one in shown.parameters.values() if one.kind is not one.VAR_KEYWORD]
    offered = [
        inspect.Parameter(guard.name, inspect.Parameter.KEYWORD_ONLY, default=guard.default, annotation=kind_of(guard))
        for guard in GUARDS
    ]
    function.__signature__ = shown.replace(parameters=[*others, *offered])  # type: ignore[attr-defined]
    function.__doc__ = documented(function.__doc__ or "")
    return function


def kind_of(guard: Guard) -> str:
    """Return the type of a guard's argument as it is written in ``GuardArguments``."""
    kind = GuardArguments.__annotations__[guard.name]
    return str(getattr(kind, "__forward_arg__", kind))


def documented(docstring: str) -> str:
    """Return a docstring with what each guard does in place of the line ``**guard_arguments: ...``."""
    return _PLACE.sub(lambda place: "\n".join(_entry(guard, place[1]) for guard in GUARDS), docstring)


def _entry(guard: Guard, indent: str) -> str:
    said = f"{guard.name}: {guard.says}"
    return textwrap.fill(said, 118, initial_indent=indent, subsequent_indent=f"{indent}    ", break_on_hyphens=False)
