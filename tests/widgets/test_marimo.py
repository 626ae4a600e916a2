"""In marimo cards and tables show, and a form says which calls do its job."""

from __future__ import annotations

import html
import os
import subprocess
import sys
import textwrap
from importlib.metadata import version

import ipywidgets
import pytest

pytestmark = pytest.mark.skipif(ipywidgets.__version__ < "8", reason="marimo itself needs ipywidgets 8")

APP = """
    import marimo

    app = marimo.App()

    @app.cell
    def _():
        import polars as pl
        import smsotp_nb as sms
        box = sms.Sandbox()
        people = pl.DataFrame({"phone": ["+12025550123"], "name": ["Ann"]})
        plan = sms.plan(people, "Hi {name}", to="phone", campaign="in-marimo", keep=["name"])
        return box, people, plan, sms

    @app.cell
    def _(plan):
        plan
        return

    @app.cell
    def _(box, people, plan, sms):
        results = sms.send(plan, client=box.client(), progress=False)
        pl.from_pandas(results)
        return (results,)

    @app.cell
    def _(results, sms):
        sms.cost.card(results)
        return

    @app.cell
    def _(people, sms):
        sms.widgets.PhoneCleaner(people)
        return

    @app.cell
    def _(box, people, sms):
        [sms.widgets.OtpForm(box), sms.widgets.InboxView(box), sms.widgets.CampaignForm(people, client=box)]
        return

    if __name__ == "__main__":
        app.run()
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What a marimo app of ours shows, run without a browser, as text."""
    folder = tmp_path_factory.mktemp("marimo")
    (folder / "app.py").write_text(textwrap.dedent(APP), encoding="utf-8")
    command = [sys.executable, "-m", "marimo", "export", "html", "app.py", "-o", "app.html", "--no-include-code"]
    environ = {**os.environ, "SMSOTP_LEDGER": str(folder / "l.sqlite"), "HOME": str(folder)}
    done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, f"marimo {version('marimo')}: {done.stdout}{done.stderr}"
    text = (folder / "app.html").read_text(encoding="utf-8")
    return html.unescape(text.replace("\\u003C", "<").replace("\\u003E", ">").replace("\\u0026", "&"))


def test_cards_and_tables_show(page: str) -> None:
    assert "smsotp-card" in page
    assert "Plan: in-marimo" in page
    assert "USD 0.0075 for 1 accepted message" in page
    assert "marimo-table" in page, "the results are shown as marimo shows a polars frame"


@pytest.mark.parametrize(
    ("form", "calls"),
    [
        ("PhoneCleaner", "sms.phones.normalize(...)"),
        ("OtpForm", "sms.otp.send(...)"),
        ("InboxView", "box.inbox"),
        ("CampaignForm", "sms.send(...)"),
    ],
)
def test_a_form_says_what_to_call_instead(page: str, form: str, calls: str) -> None:
    assert f"{form} is made of ipywidgets, which marimo does not run" in page
    assert calls in page
    assert "widget-view+json" not in page, "no widget that stays empty"
