"""What a traceback may show of the frames that an error went through: never their variables.

pytest's ``-l``, IPython's verbose mode and whatever else prints variables would show keys, passcodes and addresses with
passwords that a call was given or had read. Python's own errors, Ctrl-C and a test's timeout may strike at any line.
`in_our_words`, which every public call goes through, sees to it. Only the client's operations clear their own
variables besides: a second Ctrl-C may strike while those of the first are being cleared, and they hold a passcode.
"""

from __future__ import annotations

import contextlib
import os
import sysconfig
import traceback
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import FrameType

_INSTALLED = {"site-packages", "dist-packages"}  # folders of libraries, wherever they are


@cache
def _beneath() -> tuple[str, ...]:
    """Return where code is that runs beneath a call of this package: its own, Python's and that of its libraries."""
    installed = [sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")]
    return "<frozen", f"{Path(__file__).parents[1]}{os.sep}", *installed


def without_variables(error: BaseException) -> None:
    """Clear the variables of the frames that an error and those behind it have left, but for a caller's own code."""
    for one in _with_those_behind(error):
        for frame, _ in traceback.walk_tb(one.__traceback__):
            if _is_beneath(frame):
                with contextlib.suppress(RuntimeError):  # it is still running
                    frame.clear()


def bare(error: BaseException) -> BaseException:
    """Return an error without its frames and without the errors behind it, whose frames would be shown too."""
    error.__cause__ = error.__context__ = None
    return error.with_traceback(None)


def _is_beneath(frame: FrameType) -> bool:
    module = str(frame.f_globals.get("__name__"))  # what a dataclass makes of its fields has no file
    return _is_library(frame.f_code.co_filename) or module.partition(".")[0] == __package__.partition(".")[0]


@cache
def _is_library(file: str) -> bool:
    return file.startswith(_beneath()) or not _INSTALLED.isdisjoint(Path(file).parts)


def _with_those_behind(error: BaseException) -> Iterator[BaseException]:
    seen, left = set[int](), [error]
    while left:
        one = left.pop()
        if id(one) not in seen:
            seen.add(id(one))
            yield one
            left += [behind for behind in (one.__cause__, one.__context__) if behind is not None]
            left += one.exceptions if isinstance(one, BaseExceptionGroup) else ()
