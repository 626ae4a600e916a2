"""The libraries of statistics, loaded when they are first needed: they are an extra, and slow to start."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import UsageError


@contextmanager
def _named() -> Iterator[None]:
    """Name the extra where a library is missing."""
    try:
        yield
    except ImportError:
        raise UsageError("experiments need two libraries more: pip install 'smsotp_nb[statistics]'") from None


def distributions() -> Any:
    """Return ``scipy.stats``."""
    with _named():
        from scipy import stats
    return stats


def proportions() -> Any:
    """Return ``statsmodels.stats.proportion``."""
    with _named():
        from statsmodels.stats import proportion
    return proportion


def several() -> Any:
    """Return ``statsmodels.stats.multitest``."""
    with _named():
        from statsmodels.stats import multitest
    return multitest


def sizes() -> Any:
    """Return ``statsmodels.stats.power``."""
    with _named():
        from statsmodels.stats import power
    return power
