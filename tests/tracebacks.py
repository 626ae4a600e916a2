"""What a notebook would save of an error: its traceback in plain and in verbose mode."""

from __future__ import annotations

import traceback
from pathlib import Path
from types import TracebackType

from IPython.core.ultratb import VerboseTB

import smsotp_nb

PACKAGE = str(Path(smsotp_nb.__file__).parent)


def shown(error: BaseException) -> str:
    """Return every form in which a cell can show an error, the variables of each frame of the package included.

    The frames of the caller are left out: what the user typed stands in the user's cell anyway.
    """
    ours = _from_the_package(error.__traceback__)
    verbose = VerboseTB(theme_name="nocolor", include_vars=True).text(type(error), error, ours) if ours else ""
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


def _from_the_package(frames: TracebackType | None) -> TracebackType | None:
    while frames and not frames.tb_frame.f_code.co_filename.startswith(PACKAGE):
        frames = frames.tb_next
    return frames
