"""Forms that are driven without a browser."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from smsotp_nb import Ledger
from smsotp_nb.widgets import CampaignForm

HOLD = """
import sys, smsotp_nb as sms
ledger = sms.Ledger(sys.argv[1])
lock = ledger._store.lock(ledger.record(sys.argv[2])._number, sys.argv[2])
print("held", flush=True)
sys.stdin.read()
"""


def join() -> None:
    """Wait until the jobs of all forms have ended."""
    for thread in [one for one in threading.enumerate() if one.name == "smsotp-form"]:
        thread.join(120)


def waited(form: Any) -> Any:
    """Let a press return when its work has ended, which a thread of its own does, and wait for no last keys."""
    begin = form.work.begin

    def begin_and_wait(*asked: Any) -> None:
        begin(*asked)
        join()

    form._settle, form.work.begin = 0.0, begin_and_wait
    return form


def written(form: CampaignForm, *, first: int = 0) -> CampaignForm:
    """Write a campaign, of which some go first."""
    form.fields.campaign.value, form.fields.kind.value, form.fields.words.value = "hello", "text", "Hi {name}"
    form.fields.default_region.value, form.sending.guard_fields["canary"].value = "us", first
    return form


def every(widget: Any) -> list[Any]:
    """Return a widget and everything inside it."""
    return [widget, *(one for child in getattr(widget, "children", ()) for one in every(child))]


def states(widget: Any) -> str:
    """Return the state of a widget and of everything inside it, as a notebook would save it.

    The random ids of the widgets are left out: any few digits that a test looks for stand in one of them some day.
    """
    return re.sub("[0-9a-f]{32}", "", json.dumps([one.get_state() for one in every(widget)], default=str))


@contextmanager
def held(ledger: Ledger, campaign: str) -> Iterator[int]:
    """Let another process run a campaign; its number is given."""
    command = [sys.executable, "-c", HOLD, str(ledger.path), campaign]
    holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2])
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        yield holder.pid
    finally:
        holder.communicate()
