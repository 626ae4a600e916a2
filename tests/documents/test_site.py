"""The site is built strictly and without a network, loads nothing from elsewhere, and its tables name what exists."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from support.chromium import CHROMIUM
from support.commands import main
from support.notebooks import NOTEBOOKS
from support.sampling import Sample

from smsotp_nb import errors, rates, settings
from smsotp_nb.problems import PROBLEMS
from smsotp_nb.results import COLUMNS

ROOT = Path(__file__).resolve().parents[2]
NO_NETWORK = Path(__file__).parent / "no_network"
LOADING = {"src", "srcset", "data", "poster", "action", "background"}
OUTSIDE = re.compile(r"^\s*(?:[a-z]+:)?//", flags=re.IGNORECASE)

REQUIRED = "browser" in os.environ.get("SMSOTP_REQUIRE", "")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as `make docs` builds it, by a Python without a network; `.ci/run` names the one that it has built."""
    if built := os.environ.get("SMSOTP_SITE"):
        return Path(built)
    folder = tmp_path_factory.mktemp("site")
    paths = os.pathsep.join((str(NO_NETWORK), os.environ.get("PYTHONPATH", "")))
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


class Read(HTMLParser):
    """What a page loads, what it links to, and the places in it that can be linked to."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.places |= {found[name] for name in ("id", "name") if name in found}
        self.loads += [value for name, value in found.items() if name in LOADING]
        self.loads += re.findall(r"url\(([^)]*)\)", found.get("style", ""))
        if tag == "link":
            self.loads.append(found.get("href", ""))
        elif tag == "a" and "href" in found:
            self.links.append(found["href"])


def pages(site: Path) -> Iterator[tuple[Path, Read]]:
    for page in sorted(site.rglob("*.html")):
        yield page, Read(page)


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    """Fonts, scripts, styles and pictures of every page and style sheet stand in the site itself."""
    found = {page.name: [load for load in read.loads if OUTSIDE.match(load)] for page, read in pages(site)}
    for sheet in site.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        named = re.findall(r"(?:url\(|@import)\s*[\"']?([^\"')]+)", text)
        found[sheet.name] = [load for load in named if OUTSIDE.match(load)]
    assert len(found) > 30
    assert {name: loads for name, loads in found.items() if loads} == {}


def test_links_lead_to_a_page_and_a_place_on_it(site: Path) -> None:
    """Generated tables and docstrings link as well as the pages that mkdocs checks."""
    known = dict(pages(site))
    broken = []
    for page, read in known.items():
        for link in [*read.links, *read.loads]:
            target, _, place = link.partition("#")
            if OUTSIDE.match(link) or ":" in target or page.name == "404.html":
                continue
            there = (page.parent / target).resolve() if target else page
            if not there.exists() or (place and there in known and place not in known[there].places):
                broken.append(f"{page.relative_to(site)}: {link}")
    assert broken == []


REFERENCE = {
    "result_columns": [*COLUMNS, "planned", "sending", "accepted", "rejected", "in_doubt", "skipped"],
    "problems": [*PROBLEMS, "INVISIBLE_REMOVED", "TRAILING_NOTE_DROPPED"],
    "rates": [*rates.NEEDED, *rates.OPTIONAL],
    "settings": [f"SMSOTP_{name.upper()}" for name in settings.READ_FROM_ENVIRONMENT],
    "errors": [name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, Exception)],
    "command_line": ["smsotp-nb demo", "smsotp-nb clean", "smsotp-nb sandbox", "--force"],
}


@pytest.mark.parametrize("page", REFERENCE)
def test_the_reference_names_what_exists(site: Path, page: str) -> None:
    """Tables are made from the code, so none can lack a name; this holds that they are made at all."""
    text = (site / "reference" / f"{page}.html").read_text(encoding="utf-8")
    assert [name for name in REFERENCE[page] if f">{name}<" not in text and f">{name} " not in text] == []


def commands(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    """Return the names of all commands, those within others too, as the page's anchors spell them."""
    with pytest.raises(SystemExit):
        main([*words, "--help"])
    _, several, within = capsys.readouterr().out.partition("\n  COMMAND\n")
    if not several:
        return ["-".join(["smsotp-nb", *words])]
    return [
        found for one in re.findall(r"^    ([\w-]+)", within, re.MULTILINE) for found in commands(capsys, *words, one)
    ]


def test_every_command_is_described(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A command that the help names has a section of its own."""
    text = (site / "reference" / "command_line.html").read_text(encoding="utf-8")
    found = commands(capsys)
    assert {"smsotp-nb-send", "smsotp-nb-people-forget"} <= set(found)
    assert [command for command in found if f'id="{command}"' not in text] == []


@pytest.mark.parametrize("name", [path.stem for path in NOTEBOOKS])
def test_tutorials_are_executed_notebooks(site: Path, name: str) -> None:
    """Each page shows outputs, and nothing of the machine that built it."""
    text = (site / "tutorials" / f"{name}.html").read_text(encoding="utf-8")
    assert 'class="notebook-output"' in text
    assert "Traceback" not in text
    assert str(ROOT) not in text
    assert (site / "tutorials" / f"{name}.ipynb").exists()


SEEN = ("index", "tutorials/index", "guides/forms", "guides/hosted", "what_happens_when", "evidence/index")


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        """Say nothing of each request."""


@pytest.fixture
def address(site: Path) -> Iterator[str]:
    """The site behind a server on loopback: a browser searches it only there."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.mark.browser
@pytest.mark.skipif(not CHROMIUM and not REQUIRED, reason="not found: chromium")
def test_a_browser_asks_nobody_else_and_finds_a_word(address: str) -> None:
    """No script of a page reaches out either, and the search of the site answers with the page that is meant."""
    pytest.importorskip("playwright.sync_api")
    with ThreadPoolExecutor(1) as pool:  # the browser of other tests keeps an event loop in this thread
        asked, found = pool.submit(_visit, address).result()
    assert {word: page for word, page in FOUND.items() if not any(page in link for link in found[word])} == {}
    assert len(asked) > 10
    assert [url for url in asked if not url.startswith((address, "data:", "blob:"))] == []


# What people search for, and a page that has to be among the first three answers.
FOUND = {"voila": "guides/forms", "landline": "phones", "opt-out": "guides/people", "colab": "guides/hosted"}


def _visit(address: str) -> tuple[list[str], dict[str, list[str]]]:
    """Return what the browser asked for, and the first answers to each word."""
    from playwright.sync_api import sync_playwright

    asked: list[str] = []
    found = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        page.on("request", lambda request: asked.append(request.url))
        for name in ("index", "tutorials/campaign", "reference/campaigns"):
            page.goto(f"{address}/{name}.html")
            page.wait_for_load_state("networkidle")
        for word in FOUND:
            page.goto(f"{address}/index.html")
            page.get_by_placeholder("Search").click()
            page.keyboard.type(word)
            page.locator(".md-search-result__link").first.wait_for()
            page.wait_for_timeout(500)
            links = page.locator(".md-search-result__item > .md-search-result__link")
            found[word] = [str(links.nth(place).get_attribute("href")) for place in range(min(3, links.count()))]
        browser.close()
    return asked, found


@pytest.mark.browser
@pytest.mark.skipif(not CHROMIUM and not REQUIRED, reason="not found: chromium")
def test_pages_can_be_read_by_everybody_in_light_and_dark_on_a_phone_too(address: str, sample: Sample) -> None:
    """axe finds nothing, and no page is wider than the screen; half of the pages on each screen, others each day."""
    pytest.importorskip("axe_playwright_python")
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(_obstacles, address, sample).result() == []


def _obstacles(address: str, sample: Sample) -> list[str]:
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import sync_playwright

    found = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        for scheme, width in (("light", 390), ("dark", 1280), ("light", 1280), ("dark", 390))[
            : None if os.environ.get("SMSOTP_SHOOT_SITE") else 2
        ]:
            page = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 900})
            for name in SEEN if os.environ.get("SMSOTP_SHOOT_SITE") else sample(SEEN, 3, scheme):
                page.goto(f"{address}/{name}.html")
                if folder := os.environ.get("SMSOTP_SHOOT_SITE"):
                    page.screenshot(path=Path(folder) / f"{name.replace('/', '-')}-{scheme}-{width}.png")
                wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
                ours = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa"]}).response["violations"]
                found += [f"{name} {scheme} {width}: {one['id']} {one['nodes'][0]['target']}" for one in ours]
                found += [f"{name} {scheme} {width}: {wide} px too wide"] * (wide > 0)
            page.close()
        browser.close()
    return found
