"""The libraries of statistics, loaded when they are first needed: they are an extra, and slow to start."""

from __future__ import annotations

from typing import Any

from ..errors import UsageError

_NEEDED = "experiments need two libraries more: pip install 'smsotp_nb[statistics]'"


def distributions() -> Any:
    """Return ``scipy.stats``."""
    try:
        from scipy import stats
    except ImportError:
        raise UsageError(_NEEDED) from None
    return stats


def proportions() -> Any:
    """Return ``statsmodels.stats.proportion``."""
    try:
        from statsmodels.stats import proportion
    except ImportError:
        raise UsageError(_NEEDED) from None
    return proportion


def several() -> Any:
    """Return ``statsmodels.stats.multitest``."""
    try:
        from statsmodels.stats import multitest
    except ImportError:
        raise UsageError(_NEEDED) from None
    return multitest


def sizes() -> Any:
    """Return ``statsmodels.stats.power``."""
    try:
        from statsmodels.stats import power
    except ImportError:
        raise UsageError(_NEEDED) from None
    return power
