"""Forms in hosts of all kinds: what a form loads, and what a kernel says when it ends with forms open."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.notebooks import environment

LIVE = """
import sys
import smsotp_nb as sms
client = sms.Client(sms.Settings(base_url="https://sms.example", access_key_id="canary", access_key_secret="canary"))
form = sms.widgets.OtpForm(client)
print(form._where, *[name for name in ["smsotp_nb.sandbox.server"] if name in sys.modules])
"""
PAGE = (
    "import pandas as pd, smsotp_nb as sms\n"
    "people = pd.DataFrame({'phone': ['+1 202 555 0123', '+1 202 555 0147']})\n"
    "box, ledger = sms.Sandbox(), sms.Ledger('ledger.sqlite', create=True)\n"
    "sms.send(sms.plan(people, 'Hi', campaign='hello', to='phone'), box, ledger=ledger, progress=False)",
    "form = sms.widgets.CampaignForm(people, client=box, ledger=ledger)\nform",
    "page = sms.widgets.CampaignsPage(ledger, client=box)\npage",
    "sms.widgets.PhoneCleaner(people)",
    "passcode = sms.widgets.OtpForm(box, ledger=ledger)\npasscode",
    "passcode.phone.value = '+12025550123'\npasscode.send_button.click()\npasscode.work.settle()",
    "sms.widgets.InboxView(box)",
)


def test_a_live_passcode_form_loads_no_server() -> None:
    done = subprocess.run([sys.executable, "-c", LIVE], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.strip().endswith("There is no inbox here.")


@pytest.mark.notebook
def test_a_page_that_ends_with_a_ledger_and_forms_open_leaves_no_traceback(tmp_path: Path) -> None:
    manager = pytest.importorskip("jupyter_client.manager").KernelManager(kernel_name="python3")
    manager.shutdown_wait_time = 120
    said = tmp_path / "stderr"
    with said.open("w") as file:
        manager.start_kernel(cwd=str(tmp_path), env={**os.environ, **environment(tmp_path)}, stderr=file, stdout=file)
        client = manager.client()
        client.start_channels()
        try:
            client.wait_for_ready(timeout=120)
            replies = [client.execute_interactive(cell, timeout=120, output_hook=lambda _: None) for cell in PAGE]
        finally:
            client.stop_channels()
            manager.shutdown_kernel()  # asks once; a second request would meet a kernel that has stopped to listen
    assert [reply["content"]["status"] for reply in replies] == ["ok"] * len(PAGE)
    assert [line for line in said.read_text().splitlines() if "Traceback" in line or "Exception" in line] == []
