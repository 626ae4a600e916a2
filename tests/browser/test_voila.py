"""The forms as pages of their own, without the notebook around them."""

from __future__ import annotations

import io
import shutil
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import pandas as pd
import pytest

from .conftest import ROOT, Browser, Lab, axe_findings, cut_texts, free_port, jupyter_env, start, stop, wait_for
from .test_campaign_form import write
from .test_campaigns_page import PAGE as CAMPAIGNS
from .test_campaigns_page import click, downloaded
from .test_otp_form import enter, send, verified

pytestmark = pytest.mark.skipif(find_spec("voila") is None, reason="voila is not installed")
# The page's own template asks for an icon font there; nothing of ours uses it, and without a network it is missing.
TEMPLATES_OWN = "https://cdn.jsdelivr.net/npm/@fortawesome/"
Serve = Callable[[str, str], Any]


@pytest.fixture(scope="module")
def voila(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of the notebooks as pages, and its address."""
    home = tmp_path_factory.mktemp("voila")
    for folder in ("notebooks", "sample_data"):
        shutil.copytree(ROOT / folder, home / folder, ignore=shutil.ignore_patterns("*.sqlite*"))
    Lab("", home).write("campaigns_page.ipynb", CAMPAIGNS.replace("range(11)", "range(1)"))
    port = free_port()
    command = [sys.executable, "-m", "voila", str(home / "notebooks"), "--no-browser", "--Voila.ip=127.0.0.1"]
    server = start([*command, f"--port={port}", "--show_tracebacks=True"], jupyter_env(home), home)
    try:
        wait_for(f"http://127.0.0.1:{port}/voila/static/nothing", server)
        yield f"http://127.0.0.1:{port}"
    finally:
        stop(server)


@pytest.fixture
def serve(voila: str, browser: Browser) -> Iterator[Serve]:
    """Open a notebook as a page; every visit runs it in a kernel of its own. What leaves loopback fails the test."""
    pages = []

    def served(name: str, theme: str) -> Any:
        pages.append(browser.context.new_page())
        pages[0].goto(f"{voila}/voila/render/{name}?theme={theme}", wait_until="domcontentloaded")
        pages[0].wait_for_function("name => document.body?.matches(`.theme-${name}`)", arg=theme)
        return pages[0]

    browser.strayed.clear()
    yield served
    for page in pages:
        page.close(run_before_unload=False)
    assert [url for url in browser.strayed if not url.startswith(TEMPLATES_OWN)] == []


def test_the_passcode_form(serve: Serve) -> None:
    page = serve("otp_demo.ipynb", "dark")
    card = page.locator(".smsotp-otp").first  # the form, before the presenter
    enter(card, send(card))
    verified(card)
    assert axe_findings(page, ".smsotp-otp") == []
    assert cut_texts(page, ".smsotp-otp") == []


def test_the_campaign_form(serve: Serve) -> None:
    page = serve("campaign_form.ipynb", "light")
    card = page.locator(".smsotp-campaign")
    write(card)
    click(card, "Check the plan")
    click(card, "about USD")
    card.get_by_text(", 0 to go.").wait_for()
    assert axe_findings(page, ".smsotp-campaign") == []


def test_a_file_is_downloaded_from_the_campaigns_page(serve: Serve) -> None:
    page = serve("campaigns_page.ipynb", "light")
    card = page.locator(".smsotp-campaigns")
    click(card, "Open autumn-sale")
    card.get_by_text("40 rows, page 1 of 3").wait_for()
    name, content = downloaded(page, card, "CSV")
    assert (name, len(pd.read_csv(io.BytesIO(content)))) == ("autumn-sale.csv", 40)
    assert axe_findings(page, ".smsotp-campaigns") == []
    assert cut_texts(page, ".smsotp-campaigns") == []
