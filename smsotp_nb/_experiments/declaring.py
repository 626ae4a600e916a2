"""What an experiment is, declared before anybody is drawn: arms, holdout, unit, outcomes and the reading day."""

from __future__ import annotations

import json
import math
import numbers
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, Literal

from .._calling import given, nearest, not_choice, not_mapping, not_text, refuse
from .._policy import Window, window_of, written
from .._services import name_key

HOLDOUT: Final = "holdout"
KINDS: Final = ("binary", "amount")
ASSIGNMENT: Final = ("unit", "arm", "at", "contacted", "cost", "currency")  # columns that a reading needs
TOLD: Final = ("in_doubt", "unpriced", "elsewhere")  # and those it tells of where they are; the strata follow
_WHOLE: Final = 100.0  # per cent
_CLOSE: Final = 1e-9
_WORDS: Final = {
    "arms": "its arms",
    "holdout": "its holdout",
    "unit": "its unit",
    "outcomes": "its outcomes",
    "window": "its reading day",
    "strata": "its strata",
    "seed": "its seed",
    "until": "the end of its holdout",
}


@dataclass(frozen=True, slots=True)
class Declared:
    """An experiment as it was declared; shares are per cent.

    ``until`` is the end of a holdout that holds for every campaign, None for one of the experiment's own campaigns.
    """

    name: str
    arms: Mapping[str, float]
    holdout: float
    unit: str
    outcomes: Mapping[str, Literal["binary", "amount"]]
    window: timedelta
    strata: tuple[str, ...] = ()
    seed: str = field(default="", repr=False)
    until: datetime | None = None

    @property
    def weights(self) -> dict[str, float]:
        """The share of each arm, the holdout's last."""
        return {**self.arms, **({HOLDOUT: self.holdout} if self.holdout else {})}

    @property
    def key(self) -> bytes:
        """The key of the hash that draws the arms: the same on every machine."""
        return "\0".join((name_key(self.name), self.seed)).encode()

    def recorded(self, *, integers: bool) -> str:
        """Return the declaration as it is recorded, with whether the units are whole numbers."""
        return json.dumps({**self._values(), "integers": integers}, sort_keys=True)

    def differences(self, recorded: str) -> list[str]:
        mine, theirs = self._values(), json.loads(recorded)
        return [
            f"{said} ({_shown(theirs.get(name))} recorded, {_shown(mine[name])} now)"
            for name, said in _WORDS.items()
            if mine[name] != theirs.get(name)
        ]

    def _values(self) -> dict[str, Any]:
        return {
            "arms": dict(sorted(self.arms.items())),
            "holdout": self.holdout,
            "unit": self.unit,
            "outcomes": dict(sorted(self.outcomes.items())),
            "window": written(self.window),
            "strata": list(self.strata),
            "seed": self.seed,
            "until": None if self.until is None else self.until.isoformat(),
        }


def declare(
    name: Any,
    *,
    arms: Any,
    holdout: Any,
    unit: Any,
    outcomes: Any,
    read_after: Window,
    strata: Any,
    seed: Any,
    holdout_until: Any,
) -> Declared:
    """Check a declaration; a UsageError lists all that is wrong with it."""
    wrong: list[str | None] = [_not_a_name("the name of an experiment", name), not_text("unit", unit)]
    shares = _arms(arms, holdout, wrong)
    kinds = _outcomes(outcomes, wrong)
    problems: list[str] = []
    window = window_of("read_after=", read_after, problems)
    levels = (strata,) if isinstance(strata, str) else tuple(strata) if isinstance(strata, Iterable) else ()
    if not all(isinstance(level, str) for level in levels) or not isinstance(strata, str | Iterable):
        wrong.append(f"strata= must be a list of column names, such as ['region'], got {given(strata)}")
    wrong += [
        f"strata= cannot name a column {level!r}: assigned() has one of that name already; rename it in the list"
        for level in levels
        if level in (*ASSIGNMENT, *TOLD)
    ]
    wrong += [*problems, not_text("seed", seed)]
    if holdout_until is not None and not (isinstance(holdout_until, datetime) and holdout_until.tzinfo is not None):
        moment = "must be a datetime with its zone, such as datetime(2027, 1, 1, tzinfo=UTC)"
        wrong.append(f"holdout_until= {moment}, got {given(holdout_until)}")
    if holdout_until is not None and not holdout:
        wrong.append("holdout_until= needs a holdout=, such as 5")
    refuse(*wrong)
    assert window is not None
    return Declared(name.strip(), shares, float(holdout), unit, kinds, window, levels, seed, holdout_until)


def _arms(arms: Any, holdout: Any, wrong: list[str | None]) -> dict[str, float]:
    complaint = not_mapping("arms", arms, example="{'plain': 45, 'emoji': 45}")
    if complaint or not arms:
        wrong.append(complaint or "arms= must name an arm, such as {'plain': 90}")
        return {}
    found = [_not_a_name("the name of an arm", arm) for arm in arms]
    found += [_not_a_share(f"arms[{arm!r}]", share, above=True) for arm, share in arms.items()]
    found.append(_not_a_share("holdout", holdout, above=False))
    if any(found):
        wrong += found
        return {}
    keys = [name_key(arm) for arm in arms]
    if HOLDOUT in keys:
        wrong.append("an arm cannot be called 'holdout'; give its share as holdout=")
    if len(set(keys)) < len(keys):
        wrong.append(f"two arms of {', '.join(map(repr, arms))} have the same name but for case or blanks; rename one")
    if len(arms) < 2 and not holdout:
        wrong.append("one arm has nothing to be compared with; give it a holdout=, or another arm")
    total = float(math.fsum([*arms.values(), holdout]))
    if abs(total - _WHOLE) > _CLOSE:
        parts = " + ".join(f"{arm} {float(share):g}" for arm, share in [*arms.items(), (HOLDOUT, holdout)])
        wrong.append(f"arms and holdout must add up to 100 per cent: {parts} is {total:g}")
    return {arm.strip(): float(share) for arm, share in arms.items()}


def _not_a_share(name: str, share: Any, *, above: bool) -> str | None:
    real = isinstance(share, numbers.Real) and not isinstance(share, bool) and math.isfinite(share)
    if real and (share > 0 if above else share >= 0) and share <= _WHOLE:
        return None
    return f"{name}= must be per cent, {'above 0' if above else 'from 0'} to 100, got {given(share)}"


def _not_a_name(what: str, name: Any) -> str | None:
    if isinstance(name, str) and name_key(name) and "/" not in name_key(name):
        return None
    rule = "must be text without a slash: campaigns are called experiment/arm"
    return f"{what} {rule}, got {given(name)}"


def _outcomes(outcomes: Any, wrong: list[str | None]) -> dict[str, Literal["binary", "amount"]]:
    complaint = not_mapping("outcomes", outcomes, example="{'bought': 'binary', 'spend': 'amount'}")
    if complaint or not outcomes:
        wrong.append(complaint or "outcomes= must name an outcome, such as {'bought': 'binary'}")
        return {}
    for name, kind in outcomes.items():
        wrong.append(not_text("the name of an outcome", name))
        if kind not in KINDS:
            close = nearest(kind, KINDS) if isinstance(kind, str) else ""
            wrong.append(f"outcomes[{name!r}] must be 'binary' or 'amount', got {given(kind)}{close}")
    return dict(outcomes)


def not_a_stratum(name: str, asked_for: Any, asked: Declared) -> str | None:
    """Complain about what is none of the experiment's strata."""
    if asked_for in asked.strata:
        return None
    if not asked.strata:
        return f"{name}= takes one of the strata, and this experiment was declared without any; leave it out"
    return not_choice(name, asked_for, asked.strata)


def _shown(value: Any) -> str:
    return "none" if value in (None, [], "") else json.dumps(value, ensure_ascii=False)
