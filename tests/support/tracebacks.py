"""What a notebook would save of an error: its traceback in plain and in verbose mode, and in the styles of others."""

from __future__ import annotations

import importlib.util
import io
import traceback
import warnings
from types import FrameType, TracebackType
from typing import Any

import IPython
from IPython.core.ultratb import VerboseTB

# IPython 9 gave colours another name.
PLAIN: dict[str, Any] = {"theme_name": "nocolor"} if IPython.version_info[0] >= 9 else {"color_scheme": "NoColor"}


def shown(error: BaseException) -> str:
    """Return every form in which a cell can show an error, the variables of each frame of the package included.

    The frames of the caller are left out: what the user typed stands in the user's cell anyway.
    """
    ours = _from_the_package(error.__traceback__)
    verbose = VerboseTB(**PLAIN, include_vars=True).text(type(error), error, ours) if ours else ""
    plain = "".join(traceback.format_exception(error))
    variables = traceback.TracebackException(type(error), error, ours, capture_locals=True)
    local = "".join(variables.format())
    return "\n".join([plain, verbose, local, repr(error), str(error), repr(vars(error))])


def chain(error: BaseException) -> list[BaseException]:
    """Return the errors that hang on an error as its cause or context."""
    found, todo = [], [error.__cause__, error.__context__]
    while todo:
        one = todo.pop()
        if one is not None and one not in found:
            found.append(one)
            todo += [one.__cause__, one.__context__]
    return found


def has_other_styles() -> bool:
    """Say whether cgitb, which Python 3.13 has no more, or rich is there."""
    return bool(importlib.util.find_spec("cgitb") or importlib.util.find_spec("rich"))


def in_other_styles(error: BaseException) -> str:
    """Return an error as cgitb and rich show it with the variables of its frames, as far as they are installed."""
    ours = _from_the_package(error.__traceback__)
    return _by_cgitb(error, ours) + _by_rich(error, ours)


def frames(error: BaseException) -> list[FrameType]:
    """Return the frames of the package in an error's traceback, outermost first."""
    found = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    return [frame for frame in found if _ours(frame)]


def _by_cgitb(error: BaseException, ours: TracebackType | None) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            import cgitb
        except ModuleNotFoundError:  # Python 3.13
            return ""
    if ours is None or any(map(_lost_an_argument, frames(error))):
        return ""
    return cgitb.text((type(error), error, ours), context=9)


def _lost_an_argument(frame: FrameType) -> bool:
    """Say whether an argument was deleted: cgitb breaks on such a frame."""
    code = frame.f_code
    named = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return any(name not in frame.f_locals for name in named)


def _by_rich(error: BaseException, ours: TracebackType | None) -> str:
    try:
        from rich.console import Console
        from rich.traceback import Traceback
    except ModuleNotFoundError:
        return ""
    shown_by = Traceback.from_exception(
        type(error), error, ours, show_locals=True, locals_max_length=1000, locals_max_string=1000, width=1000
    )
    console = Console(file=io.StringIO(), width=1000)
    console.print(shown_by)
    return console.file.getvalue()


def _ours(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).startswith("smsotp_nb")  # what dataclasses generate has no file


def _from_the_package(frames: TracebackType | None) -> TracebackType | None:
    while frames and not _ours(frames.tb_frame):
        frames = frames.tb_next
    return frames
