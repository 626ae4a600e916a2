"""The sample-ratio check: do the arms have the sizes that they were given?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from .library import distributions

RED: Final = 0.001  # Fabijan et al., KDD 2019: a threshold that a healthy experiment hardly ever meets


@dataclass(frozen=True, slots=True)
class Ratio:
    """The sizes of the arms beside those expected, and how likely such a difference is by chance."""

    sizes: Mapping[str, int]
    expected: Mapping[str, float]
    p: float

    @property
    def is_red(self) -> bool:
        """Say whether the sizes are not those of the arms that were declared."""
        return self.p < RED

    def sentence(self) -> str:
        """Return the check in words."""
        if not sum(self.sizes.values()):
            return "Nobody has an arm, so there are no sizes to check."
        shown = ", ".join(f"{arm} {size:,} (expected {self.expected[arm]:,.0f})" for arm, size in self.sizes.items())
        if self.is_red:
            return (
                f"The arms do not have the sizes they were given: {shown}; chance alone does this in fewer than 1 of "
                "1,000 experiments. Look for what removed people from one arm only; until then no difference means "
                "anything."
            )
        return f"The arms have the sizes they were given, up to chance (p = {self.p:.2g}): {shown}."


def check(sizes: Mapping[str, int], weights: Mapping[str, float]) -> Ratio:
    """Compare the sizes of arms with their weights by the chi-squared test.

    Args:
        sizes: people of each arm.
        weights: the share of each arm, in any unit: 45, 45 and 10 as well as 0.45, 0.45 and 0.1.

    Example:
        >>> check({"plain": 5100, "holdout": 4900}, {"plain": 50, "holdout": 50}).is_red
        False
        >>> check({"plain": 5300, "holdout": 4700}, {"plain": 50, "holdout": 50}).is_red
        True
    """
    people, total = sum(sizes.values()), sum(weights[arm] for arm in sizes)
    expected = {arm: people * weights[arm] / total for arm in sizes}
    if len(sizes) < 2 or not people:
        return Ratio(dict(sizes), expected, 1.0)
    p = distributions().chisquare([*sizes.values()], [*expected.values()]).pvalue
    return Ratio(dict(sizes), expected, float(p))
