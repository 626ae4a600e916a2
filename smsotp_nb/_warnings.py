"""Warnings that point at the line of whoever called the package."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from types import FrameType
from typing import Final

from ._showing import visible
from .errors import SmsOtpWarning

_PACKAGE: Final = str(Path(__file__).parent) + "/"
# Frames between two of the package that no user wrote: decorators and context managers.
_BETWEEN: Final = ("contextlib.py", "functools.py")


def warn_user(message: str, category: type[SmsOtpWarning] = SmsOtpWarning, *, field: str | None = None) -> None:
    """Warn at the first line outside the package: of the notebook or script that called it.

    Control characters, which the name of a file may have, are written as numbers: on a terminal they would act.

    Example:
        >>> with warnings.catch_warnings(record=True) as caught:
        ...     warnings.simplefilter("always")
        ...     warn_user("look here")
        >>> [str(warning.message) for warning in caught]
        ['look here']
    """
    warning = category(visible(message, keep="\n\t"))
    warning.field = field
    frame = _caller(sys._getframe(1))
    module = frame.f_globals.get("__name__", "<unknown>")
    registry = frame.f_globals.setdefault("__warningregistry__", {})
    warnings.warn_explicit(warning, category, frame.f_code.co_filename, frame.f_lineno, module, registry)


def _caller(frame: FrameType) -> FrameType:
    """Return the first frame outside the package; of a thread of the package's own, the outermost one."""
    while frame.f_back is not None and _is_inside(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def _is_inside(filename: str) -> bool:
    return filename.startswith(_PACKAGE) or Path(filename).name in _BETWEEN
