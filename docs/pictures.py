"""Make the pictures of the README from the real thing: JupyterLab, Chromium, the sample data and the sandbox.

Run it from the repository's root: ``python docs/pictures.py``. It writes ``docs/campaign.png`` and
``docs/passcode.png``. What it needs is in the ``test`` extra, and Chromium.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from playwright.sync_api import sync_playwright  # noqa: E402

from tests.browser.conftest import CHROMIUM, CHROMIUM_ARGS, THEMES, Lab, Notebook, running_lab  # noqa: E402

SCALE = 1.5
CAMPAIGN = (
    'import smsotp_nb as sms\n\npeople = sms.read_recipients("../sample_data/recipients.csv")',
    "plan = sms.plan(\n"
    '    people, to="phone", region="country", default_region="DE", campaign="autumn-sale",\n'
    '    content="Hi {name}, 20 % off until Sunday.", signature="Acme", fill={"name": "there"},\n'
    '    suppress="../sample_data/suppression.csv", rates="../sample_data/rates.csv",\n'
    ")\nplan",
)
PASSCODE = ("import smsotp_nb as sms\nbox = sms.Sandbox()\nsms.widgets.OtpForm(box.client())",)


def main() -> None:
    """Write both pictures."""
    with tempfile.TemporaryDirectory() as folder, running_lab(Path(folder) / "home", Path(folder) / "work") as lab:
        with opened(lab, "autumn-sale.ipynb", CAMPAIGN, width=1180, height=900) as notebook:
            campaign(notebook, ROOT / "docs" / "campaign.png")
        with opened(lab, "passcode.ipynb", PASSCODE, width=1080, height=1000) as notebook:
            passcode(notebook, ROOT / "docs" / "passcode.png")


@contextmanager
def opened(lab: Lab, name: str, cells: tuple[str, ...], *, width: int, height: int) -> Iterator[Notebook]:
    """Open a notebook of these cells, run it, and close everything afterwards."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, headless=True, args=CHROMIUM_ARGS)
        context = chromium.new_context(
            viewport={"width": width, "height": height}, device_scale_factor=SCALE, reduced_motion="reduce"
        )
        notebook = Notebook(context.new_page(), lab)
        yield notebook.open(lab.write(name, *cells), THEMES[0]).run_all()
        notebook.shut_down()
        chromium.close()


def campaign(notebook: Notebook, file: Path) -> None:
    """Show the plan of a campaign: figures, countries, and that nothing has been sent."""
    page = notebook.page
    page.locator(".smsotp-card").wait_for()
    page.locator(".jp-CodeCell").first.evaluate("cell => cell.scrollIntoView()")
    page.screenshot(path=file)


def passcode(notebook: Notebook, file: Path) -> None:
    """Show the passcode form with a code on its way and the inbox that has it."""
    card: Any = notebook.page.locator(".smsotp-form")
    card.get_by_label("Phone number", exact=True).fill("+1 415 555 0100")
    card.get_by_label("Intent (optional)").fill("login")
    card.get_by_role("button", name="Send code").click()
    card.get_by_text("Accepted for").wait_for()
    card.screenshot(path=file)


if __name__ == "__main__":
    main()
