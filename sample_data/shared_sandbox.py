"""One sandbox for the kernels that run the same notebook, on two machines or two on this one; and one that may die."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import smsotp_nb as sms


def shared_sandbox(state: str | Path) -> sms.Sandbox:
    """Return the sandbox at the address in ``SMSOTP_SANDBOX``; without one, that of this state file.

    The first kernel that asks starts the latter and writes its address beside the file; others connect to it. When that
    kernel has ended, ask again: another one then starts it from the file, with all that it held.

    Raises:
        UsageError: the state file cannot be used, or an address beyond this machine lacks its token in
            ``SMSOTP_SANDBOX_TOKEN``. SmsOtpError: no sandbox answers at the address.
    """
    if address := os.environ.get("SMSOTP_SANDBOX", "").strip():
        return sms.Sandbox.at(address, token=os.environ.get("SMSOTP_SANDBOX_TOKEN") or None)
    beside = Path(state).with_suffix(".url")
    try:
        box = sms.Sandbox(state=state)
    except sms.errors.UsageError:
        if not beside.exists():
            raise
        return sms.Sandbox.at(beside.read_text(encoding="utf-8"))
    beside.write_text(box.url, encoding="utf-8")
    return box


def other_machine(code: str, box: sms.Sandbox, *, messages: int) -> subprocess.Popen[bytes]:
    """Run code in another process; return it once so many messages have arrived, or it has ended."""
    process = subprocess.Popen([sys.executable, "-c", code])
    while len(box.inbox) < messages and process.poll() is None:
        time.sleep(0.1)
    return process
