"""Make the pictures of the README and the site from the real thing: JupyterLab, Chromium, sample data and sandbox.

Run it from the repository's root: ``python docs/pictures.py``. It writes a picture for each name in ``PICTURES``, such
as ``docs/campaign.png``; names, such as ``cleaner``, write only those. What it needs is in the ``test`` extra, and
Chromium.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from playwright.sync_api import sync_playwright  # noqa: E402
from support.sampling import Sample  # noqa: E402

from tests.browser.conftest import CHROMIUM, CHROMIUM_ARGS, THEMES, Lab, Notebook, running_lab  # noqa: E402

SCALE = 1.5
SHOWN = 640  # pixels of a form that is longer than the window
CAMPAIGN = (
    "import smsotp_nb as sms",
    "plan = sms.plan(\n"
    '    "../sample_data/recipients.csv", "Hi {name|there}, 20% off until Sunday.", campaign="autumn-sale",\n'
    '    to="phone", region="country", default_region="DE", signature="Acme",\n'
    '    exclude="../sample_data/suppression.csv", rates="../sample_data/rates.csv",\n'
    ")\nplan",
)
PASSCODE = ("import smsotp_nb as sms\nbox = sms.Sandbox()\nsms.widgets.OtpForm(box.client())",)
PRESENTER = ("import smsotp_nb as sms\nbox = sms.Sandbox()\nsms.widgets.OtpPresenter(box)",)
CLEANER = (
    'import smsotp_nb as sms\n\npeople = sms.read_recipients("../sample_data/recipients.csv")',
    'sms.widgets.PhoneCleaner(people, default_region="DE")',
)
FORM = (
    'import smsotp_nb as sms\n\npeople = sms.read_recipients("../sample_data/recipients.csv")',
    'box, ledger = sms.Sandbox(), sms.Ledger("form.sqlite", create=True)\n'
    'sms.widgets.CampaignForm(people, client=box, ledger=ledger, rates="../sample_data/rates.csv",\n'
    '                         exclude="../sample_data/suppression.csv")',
)
CAMPAIGNS = (
    "import warnings\nimport smsotp_nb as sms\n\n"
    'warnings.simplefilter("ignore", sms.errors.SmsOtpWarning)\n'
    'people = sms.read_recipients("../sample_data/recipients.csv")\n'
    'box, ledger = sms.Sandbox(), sms.Ledger("campaigns.sqlite", create=True)\n'
    'for name, share in (("spring-sale", 40), ("summer-news", 90), ("autumn-sale", 230)):\n'
    '    plan = sms.plan(people.head(share), f"News of {name}.", campaign=name, to="phone", region="country",\n'
    '                    default_region="DE", exclude="../sample_data/suppression.csv",\n'
    "                    requests=sms.RequestOptions(chunk_size=5, threads=1))\n"
    '    if name == "autumn-sale":\n        box.fault("drop_after", next=1)\n'
    "    sms.send(plan, box, ledger=ledger, limits=sms.Limits(first=60), progress=False)",
    "sms.widgets.CampaignsPage(ledger, client=box, plans=[plan])",
)
REPORT = (
    CAMPAIGN[0],
    CAMPAIGN[1].removesuffix("plan") + 'box, ledger = sms.Sandbox(), sms.Ledger("report.sqlite", create=True)\n'
    "results = sms.send(plan, box, ledger=ledger, progress=False)\n"
    'sms.charts.report(results, "report.html")',
)


def main(*names: str) -> None:
    """Write the pictures of these names, or all."""
    with tempfile.TemporaryDirectory() as folder, running_lab(Path(folder) / "home", Path(folder) / "work") as lab:
        for name in names or PICTURES:
            cells, draw, width, height = PICTURES[name]
            with opened(lab, f"{name}.ipynb", cells, width=width, height=height) as notebook:
                draw(notebook, ROOT / "docs" / f"{name}.png")


@contextmanager
def opened(lab: Lab, name: str, cells: tuple[str, ...], *, width: int, height: int) -> Iterator[Notebook]:
    """Open a notebook of these cells, run it, and close everything afterwards."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, headless=True, args=CHROMIUM_ARGS)
        context = chromium.new_context(
            viewport={"width": width, "height": height}, device_scale_factor=SCALE, reduced_motion="reduce"
        )
        notebook = Notebook(context.new_page(), lab, Sample("pictures"))
        notebook.open(lab.write(name, *cells)).theme(THEMES[0])
        yield notebook.run_all()
        notebook.shut_down()
        chromium.close()


def campaign(notebook: Notebook, file: Path) -> None:
    """Show the plan of a campaign: figures, countries, and that nothing has been sent."""
    page = notebook.page
    page.locator(".smsotp-card").wait_for()
    page.locator(".jp-CodeCell").first.evaluate("cell => cell.scrollIntoView()")
    page.screenshot(path=file)


def form(notebook: Notebook, file: Path) -> None:
    """Show the campaign form with a text and its preview."""
    card: Any = notebook.page.locator(".smsotp-form")
    card.get_by_label("Campaign name").fill("spring")
    card.get_by_label("Default country").fill("DE")
    card.get_by_label("Text", exact=True).fill("Hi {name}, 20% off until Sunday.")
    card.get_by_label("Signature").fill("Acme")
    card.get_by_text("rows would be texted").wait_for()
    shown(notebook, file)


def campaigns(notebook: Notebook, file: Path) -> None:
    """Show the campaigns of a ledger, one of them with rows in doubt."""
    notebook.page.locator(".smsotp-form").get_by_text("3 campaigns").first.wait_for()
    shown(notebook, file)


def report(notebook: Notebook, file: Path) -> None:
    """Show the beginning of a report."""
    page = notebook.page.context.new_page()
    page.goto((notebook.lab.folder / "notebooks" / "report.html").as_uri())
    page.screenshot(path=file)


def passcode(notebook: Notebook, file: Path) -> None:
    """Show the passcode form with a code on its way and the inbox that has it."""
    card: Any = notebook.page.locator(".smsotp-form")
    card.get_by_label("Phone number", exact=True).fill("+1 415 555 0100")
    card.get_by_label("Intent (optional)").fill("login")
    card.get_by_role("button", name="Send code").click()
    card.get_by_text("Accepted for").wait_for()
    card.screenshot(path=file)


def presenter(notebook: Notebook, file: Path) -> None:
    """Show the presenter after a reply was lost: the form in doubt, the code on the phone, requests and replies."""
    card: Any = notebook.page.locator(".smsotp-form")
    card.get_by_role("button", name="Lose the next reply").click()
    card.get_by_text("its reply lost").wait_for()
    card.get_by_label("Phone number", exact=True).fill("+1 415 555 0100")
    card.get_by_role("button", name="Send code").click()
    card.get_by_text("No answer came").wait_for()
    card.get_by_text("raises InDoubt").first.wait_for()
    card.screenshot(path=file)


def cleaner(notebook: Notebook, file: Path) -> None:
    """Show the phone cleaner on the sample list."""
    notebook.page.locator(".smsotp-form").get_by_text("Page 1 of").wait_for()
    shown(notebook, file)


def shown(notebook: Notebook, file: Path) -> None:
    """Write the upper part of a form."""
    card: Any = notebook.page.locator(".smsotp-form")
    card.evaluate("form => form.scrollIntoView()")
    seen = card.bounding_box()
    clip = {"x": seen["x"], "y": seen["y"], "width": seen["width"], "height": min(SHOWN, seen["height"])}
    notebook.page.screenshot(path=file, clip=clip)


PICTURES = {
    "campaign": (CAMPAIGN, campaign, 1180, 900),
    "form": (FORM, form, 1080, 1000),
    "campaigns": (CAMPAIGNS, campaigns, 1080, 1000),
    "report": (REPORT, report, 1000, 760),
    "passcode": (PASSCODE, passcode, 1080, 1000),
    "presenter": (PRESENTER, presenter, 1280, 1000),
    "cleaner": (CLEANER, cleaner, 1080, 1000),
}

if __name__ == "__main__":
    main(*sys.argv[1:])
