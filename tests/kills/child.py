"""A task in a forked process: warm, so that hundreds of them can be started and killed in a minute."""

from __future__ import annotations

import ctypes
import os
import pickle
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(slots=True)
class Child:
    """A forked process at work; what its task returns, or the error it raised, comes back through a pipe."""

    pid: int
    pipe: int

    def kill(self) -> bool:
        """End it by SIGKILL; True when it had not ended by itself."""
        os.kill(self.pid, signal.SIGKILL)
        return self.wait() is None

    def wait(self) -> tuple[bool, Any] | None:
        """Return (True, result) or (False, error) of the task; None when it was killed."""
        with os.fdopen(self.pipe, "rb") as pipe:
            said = pipe.read()
        _, status = os.waitpid(self.pid, 0)
        if os.WIFSIGNALED(status):
            return None
        found: tuple[bool, Any] = pickle.loads(said)
        return found

    def result(self) -> Any:
        """Return what the task returned; raise what it raised."""
        found = self.wait()
        assert found is not None, "the child was killed"
        if not found[0]:
            raise found[1]
        return found[1]


def stop_here() -> None:
    """Stop this process at this line, until somebody lets it go on.

    A signal to the process is handled by any of its threads: this one may run on for a while, and send what it was to
    be stopped before.
    """
    signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)


def fork(task: Callable[[], Any]) -> Child:
    """Run a task in a forked process."""
    read, write = os.pipe()
    with warnings.catch_warnings():  # later Pythons warn where threads run; the children open everything anew
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid:
        os.close(write)
        return Child(pid, read)
    os.close(read)
    _die_with_the_parent()
    try:
        said = (True, task())
    except BaseException as error:  # noqa: BLE001 - told to the parent, who raises it
        error.add_note(traceback.format_exc())
        said = (False, error)
    with os.fdopen(write, "wb") as pipe:
        pipe.write(pickle.dumps(said))
    os._exit(0)


def _die_with_the_parent() -> None:
    """Let no child outlive a test that failed or was killed."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
