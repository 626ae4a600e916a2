"""JupyterLab and Chromium for the browser tests: one of each a session, and one page in which notebooks are opened.

Everything is on loopback. A request to anywhere else is refused, recorded, and fails the test that made it.
"""

from __future__ import annotations

import ctypes
import itertools
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from support.chromium import CHROMIUM
from support.sampling import Sample

ROOT = Path(__file__).resolve().parents[2]
SHOTS = ROOT / "screenshots"
WAIT = 120_000  # milliseconds; a busy machine is slow, and only what fails waits so long
NEEDED = ("playwright", "jupyterlab", "axe_playwright_python")
THEMES = ("JupyterLab Light", "JupyterLab Dark", "JupyterLab Dark High Contrast")
WIDTHS = (390, 640, 760, 1280)  # 640 is what 1280 holds at a zoom of 200%
CHROMIUM_ARGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-component-update"]
CHROMIUM_ARGS += ["--disable-background-networking", "--disable-sync"]
# Nothing but this machine has an address. (To route each request through Playwright would do the same, and would switch
# the cache of scripts off: every page would load and compile JupyterLab anew.)
CHROMIUM_ARGS += ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"]
LOCAL = ("http://127.0.0.1", "ws://127.0.0.1", "data:", "blob:", "about:")
LAB_SETTINGS: dict[str, dict[str, Any]] = {
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False, "doNotDisturbMode": True},
    "docmanager-extension/plugin": {"autosave": False},
    "notebook-extension/tracker": {"windowingMode": "none"},
}
READY = """path => {
  const shown = window.jupyterapp?.shell.currentWidget;
  const kernel = shown?.sessionContext?.session?.kernel;
  return shown?.context?.path === path && shown.context.isReady
    && kernel?.status === 'idle' && kernel.connectionStatus === 'connected';
}"""
OPEN = """async path => {
  const app = window.jupyterapp;
  for (const open of Array.from(app.shell.widgets('main'))) open.dispose();
  await app.commands.execute('docmanager:open', {path});
}"""
CLOSE = """async () => {
  for (const open of Array.from(window.jupyterapp.shell.widgets('main'))) {
    await open.sessionContext?.shutdown();
    open.dispose();
  }
}"""
IN_KERNEL = """async code => {
  const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
  const request = kernel.requestExecute({code, store_history: false});
  let said = '';
  request.onIOPub = message => { said += message.content.text ?? message.content.evalue ?? ''; };
  await request.done;
  return said;
}"""
LAB_RUNS = "() => !!window.jupyterapp"
PATH = "() => window.jupyterapp.shell.currentWidget.context.path"
# What a press raises in the kernel stands in no cell.
LISTEN = """() => {
  window.complaints = [];
  window.jupyterapp.shell.currentWidget.sessionContext.iopubMessage.connect((_, message) => {
    const said = message.content;
    if (message.header.msg_type === 'error') window.complaints.push(said.traceback.join('\\n'));
    if (said.name === 'stderr') window.complaints.push(said.text);
  });
}"""
ERRORS = "() => (window.complaints ?? []).join('\\n').slice(-3000)"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    missing = [name for name in NEEDED if find_spec(name) is None] + ([] if CHROMIUM else ["chromium"])
    required = "browser" in os.environ.get("SMSOTP_REQUIRE", "")
    for item in items:
        if Path(__file__).parent not in item.path.parents:
            continue
        item.add_marker(pytest.mark.browser)
        if missing and not required:
            item.add_marker(pytest.mark.skip(reason=f"not found: {', '.join(missing)}"))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    outcome: Any = yield
    setattr(item, f"report_{outcome.get_result().when}", outcome.get_result())


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start(command: list[str], env: dict[str, str], cwd: Path) -> subprocess.Popen[bytes]:
    """Start a server in its own group that dies with this process, however this process dies."""

    def die_with_parent() -> None:
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)

    with (cwd / "server.log").open("wb") as log:
        return subprocess.Popen(
            command, cwd=cwd, env=env, stdout=log, stderr=log, start_new_session=True, preexec_fn=die_with_parent
        )


def stop(server: subprocess.Popen[bytes]) -> None:
    for how, seconds in ((signal.SIGINT, 3), (signal.SIGTERM, 5), (signal.SIGKILL, 5)):
        if server.poll() is not None:
            return
        os.killpg(server.pid, how)
        try:
            server.wait(seconds)
        except subprocess.TimeoutExpired:
            continue


def wait_for(url: str, server: subprocess.Popen[bytes], seconds: float = 180) -> None:
    """Return when something answers at ``url``, whatever it answers."""
    until = time.monotonic() + seconds
    while time.monotonic() < until and server.poll() is None:
        try:
            urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, timeout=20).close()
        except urllib.error.HTTPError as error:
            error.close()
            return
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError(f"no answer at {url}")


def jupyter_env(folder: Path) -> dict[str, str]:
    """Return an environment whose Jupyter files, ledger and user data all live in ``folder``, without a proxy."""
    env = {name: value for name, value in os.environ.items() if not name.upper().endswith("_PROXY")}
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR", "XDG_DATA_HOME"):
        env[name] = str(folder / name.lower())
    env["JUPYTERLAB_SETTINGS_DIR"] = str(folder / "settings")
    env["JUPYTERLAB_WORKSPACES_DIR"] = str(folder / "workspaces")
    env["SMSOTP_LEDGER"] = str(folder / "ledger.sqlite")
    env["NO_PROXY"] = "127.0.0.1,localhost"
    env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{env['PATH']}"
    env["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), env.get("PYTHONPATH"))))
    return env


@dataclass
class Lab:
    """A running JupyterLab over a copy of the notebooks."""

    url: str
    folder: Path

    def write(self, name: str, *cells: str) -> str:
        """Put a notebook of code cells beside the others and return its path."""
        code = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        written = {
            "cells": [{**code, "id": f"cell-{number}", "source": source} for number, source in enumerate(cells)],
            "metadata": {"kernelspec": kernel},
            "nbformat": 4,
            "nbformat_minor": 5,
        }
        (self.folder / "notebooks" / name).write_text(json.dumps(written), encoding="utf-8")
        return f"notebooks/{name}"


@contextmanager
def running_lab(home: Path, folder: Path) -> Iterator[Lab]:
    """Run JupyterLab over copies of the notebooks and the sample data in ``folder``, with its own files in ``home``."""
    for name in ("notebooks", "sample_data"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("*.sqlite*", ".ipynb_checkpoints"))
    for name, values in LAB_SETTINGS.items():
        file = home / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(values), encoding="utf-8")
    port = free_port()
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--ip=127.0.0.1", f"--port={port}", "--allow-root"]
    command += ["--ServerApp.port_retries=0", f"--ServerApp.root_dir={folder}", "--IdentityProvider.token="]
    command += ["--ServerApp.password=", "--LabApp.expose_app_in_browser=True", "--LabApp.news_url="]
    # Otherwise a language server that is installed for the check of types reads every notebook that is opened.
    command += ["--LabApp.extension_manager=readonly", "--LanguageServerManager.autodetect=False"]
    server = start(command, jupyter_env(home), home)
    try:
        wait_for(f"http://127.0.0.1:{port}/api", server)
        yield Lab(f"http://127.0.0.1:{port}", folder)
    finally:
        stop(server)


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with running_lab(tmp_path_factory.mktemp("jupyter"), tmp_path_factory.mktemp("work")) as running:
        yield running


@dataclass
class Browser:
    """One Chromium context and what it saw: requests that wanted to leave loopback."""

    context: Any
    strayed: list[str] = field(default_factory=list)
    thrown: list[str] = field(default_factory=list)
    lab_page: Any = None

    @contextmanager
    def visiting(self, url: str) -> Iterator[Any]:
        """Show an address in a page of its own; no request may leave loopback, and no script may throw."""
        page = self.context.new_page()
        thrown: list[str] = []
        page.on("pageerror", lambda error: thrown.append(str(error)))
        self.strayed.clear()
        page.goto(url)
        yield page
        page.close()
        assert self.strayed == []
        assert thrown == []

    def page_of_lab(self) -> Any:
        """Return the page in which JupyterLab runs: to load it takes longer than most of what is done in it."""
        if self.lab_page is None:
            self.lab_page = self.context.new_page()
            # Ten times a second in place of once for each picture that is drawn: what looks through a page costs less.
            self.lab_page.wait_for_function = partial(self.lab_page.wait_for_function, polling=100)
            self.lab_page.on("pageerror", lambda error: self.thrown.append(f"{error}\n{error.stack}"))
        return self.lab_page

    def give_up_page_of_lab(self) -> None:
        """After a failure the next test begins in a page of its own."""
        self.lab_page.close(run_before_unload=False)
        self.lab_page = None

    def note(self, request: Any) -> None:
        if not request.url.startswith(LOCAL):
            self.strayed.append(request.url)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    assert CHROMIUM, "no Chromium on this machine"
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, headless=True, args=CHROMIUM_ARGS)
        context = chromium.new_context(viewport={"width": 1280, "height": 1400}, reduced_motion="reduce")
        context.set_default_timeout(WAIT)
        made = Browser(context)
        context.on("request", made.note)
        yield made
        chromium.close()


SAVE_WIDGETS = "@jupyter-widgets/jupyterlab-manager:saveWidgetState"


class Notebook:
    """A notebook open in JupyterLab, driven as its user would."""

    def __init__(self, page: Any, lab: Lab, themes: Sequence[str]) -> None:
        self.page = page
        self.lab = lab
        self._themes = themes

    def open(self, path: str, *, anew: bool = False) -> Notebook:
        """Open a notebook in place of the one that is open; ``anew`` loads the page, as its user might."""
        if anew or not self.page.evaluate(LAB_RUNS):
            self.page.goto(f"{self.lab.url}/doc/tree/{path}?reset", wait_until="domcontentloaded")
        else:
            self.page.evaluate(OPEN, path)
        self.page.wait_for_function(READY, arg=path)
        self.page.evaluate(LISTEN)
        return self

    def run_all(self) -> Notebook:
        went_well = self.command("notebook:run-all-cells")
        assert went_well, self.page.evaluate(ERRORS)
        return self

    def command(self, name: str, **arguments: Any) -> Any:
        call = "([name, arguments]) => window.jupyterapp.commands.execute(name, arguments)"
        return self.page.evaluate(call, [name, arguments])

    def theme(self, name: str) -> None:
        if self.page.evaluate("() => document.body.dataset.jpThemeName") != name:
            self.command("apputils:change-theme", theme=name)
            # The splash of one change must be gone before the next: two at once make JupyterLab throw.
            themed = """name => document.body.dataset.jpThemeName === name
              && !document.querySelector("#jupyterlab-splash")"""
            self.page.wait_for_function(themed, arg=name)

    def cells(self) -> int:
        return int(self.page.evaluate("() => window.jupyterapp.shell.currentWidget.content.widgets.length"))

    def delete_keys(self) -> None:
        """Press what deletes a cell where the notebook has the focus, and see that none is gone."""
        before = self.cells()
        self.page.keyboard.press("d")
        self.page.keyboard.press("d")
        assert self.cells() == before

    def restart(self) -> None:
        """Restart the kernel, as the menu would, and wait until it is there again."""
        self.page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")
        self.page.wait_for_function(READY, arg=self.page.evaluate(PATH))
        self.kernel("None")  # by its answer the manager of widgets has seen the restart, too

    def kernel(self, expression: str) -> str:
        """Return the repr of a Python expression in the notebook's kernel, without a cell."""
        return str(self.page.evaluate(IN_KERNEL, f"print(repr({expression}), end='')"))

    def save_widgets(self, wanted: bool = True) -> None:
        """Set "Save Widget State Automatically": one setting of the whole JupyterLab, and its command is a toggle."""
        toggled = "([name, wanted]) => window.jupyterapp.commands.isToggled(name) === wanted"
        if not self.page.evaluate(toggled, [SAVE_WIDGETS, wanted]):
            self.command(SAVE_WIDGETS)
            self.page.wait_for_function(toggled, arg=[SAVE_WIDGETS, wanted])

    def saved(self) -> str:
        """Save and return the text of the notebook's file, with the state of its widgets where that was asked for."""
        self.command("docmanager:save")
        return (self.lab.folder / self.page.evaluate(PATH)).read_text(encoding="utf-8")

    def look(self, selector: str = ".smsotp-form", picture: str = "") -> list[str]:
        """Return what axe-core objects to, and the texts that are cut.

        A notebook has one theme, and the next notebook the next one; each look is narrow and wide. In an exhaustive run
        every look takes all themes and widths.
        With ``SMSOTP_SHOOT`` set, pictures are written.
        """
        findings = []
        for theme in self._themes:
            self.theme(theme)
            findings += [f"{theme}: {objection}" for objection in axe_findings(self.page, selector)]
            for pixels in WIDTHS if len(self._themes) > 1 else (WIDTHS[0], WIDTHS[-1]):
                self.resize(pixels)
                findings += [f"{theme}, cut at {pixels}: {cut}" for cut in cut_texts(self.page, selector)]
                if picture and "SMSOTP_SHOOT" in os.environ:
                    self.shoot(f"{picture}-{theme[11:].lower().replace(' ', '-')}-{pixels}", selector)
        return findings

    def resize(self, width: int, height: int = 1400) -> None:
        """Make the window so large, and wait until JupyterLab has laid its panels out anew."""
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.wait_for_function(LAID_OUT, arg=width)

    def shoot(self, name: str, selector: str) -> None:
        SHOTS.mkdir(exist_ok=True)
        self.page.locator(selector).first.screenshot(path=SHOTS / f"{name}.png")

    def shut_down(self) -> None:
        self.page.evaluate("() => window.jupyterapp?.shell.currentWidget?.sessionContext?.shutdown()")


@pytest.fixture(scope="session")
def themes(sample: Sample) -> Iterator[tuple[str, ...]]:
    """The themes of each notebook in turn."""
    return itertools.cycle([THEMES]) if sample.exhaustive else sample.turned([(theme,) for theme in THEMES])


@pytest.fixture
def notebook(
    lab: Lab, browser: Browser, themes: Iterator[tuple[str, ...]], request: pytest.FixtureRequest
) -> Iterator[Notebook]:
    """A notebook to be opened; the test fails if a request left loopback, or the page threw an error."""
    page = browser.page_of_lab()
    made = Notebook(page, lab, next(themes))
    browser.strayed.clear()
    browser.thrown.clear()
    yield made
    failed = getattr(request.node, "report_call", None)
    if failed is not None and failed.failed:
        SHOTS.mkdir(exist_ok=True)
        file = SHOTS / f"failed-{request.node.name.replace('/', '-')}.png"
        page.screenshot(path=file)
        print(f"screenshot: {file}\n{page.evaluate(ERRORS)}")
    if page.evaluate(LAB_RUNS):
        made.save_widgets(False)
        page.evaluate(CLOSE)
    thrown = list(browser.thrown)
    if thrown or failed is None or failed.failed:
        browser.give_up_page_of_lab()
    else:
        made.resize(WIDTHS[-1])
    assert browser.strayed == []
    assert thrown == []


LAID_OUT = """width => {
  const panel = Array.from(document.querySelectorAll('.jp-NotebookPanel')).find(one => one.checkVisibility());
  return innerWidth === width && (!panel || Math.abs(innerWidth - panel.getBoundingClientRect().right) < 60);
}"""
CUT = """root => {
  const pen = document.createElement('canvas').getContext('2d');
  const written = part => part.matches('select') ? part.selectedOptions[0]?.text ?? '' : part.value || part.placeholder;
  const fits = part => {
    const style = getComputedStyle(part);
    if (part.matches('[type=checkbox]')) return true;
    if (part.matches('input,select')) {
      const words = written(part).replaceAll('\\u200b', '');
      pen.font = style.font;
      const spacing = (parseFloat(style.letterSpacing) || 0) * words.length;
      const room = part.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
      return pen.measureText(words).width + spacing <= room + 1;
    }
    const own = part.matches('button') || Array.from(part.childNodes).some(n => n.nodeType === 3 && n.data.trim());
    if (!own || style.display === 'inline' || style.overflowX === 'auto') return true;
    return part.scrollWidth <= part.clientWidth + 1 && part.scrollHeight <= part.clientHeight + 3;
  };
  return Array.from(document.querySelectorAll(root + ' *'))
    .filter(part => part.offsetParent && !fits(part)).map(part => part.outerHTML.slice(0, 200));
}"""


def expect(locator: Any) -> Any:
    """Return Playwright's assertions on ``locator``, each of which waits until it holds."""
    from playwright.sync_api import expect as expected

    expected.set_options(timeout=WAIT)
    return expected(locator)


def cut_texts(page: Any, selector: str = ".smsotp-form") -> list[str]:
    """Return the elements whose words are wider than the box that shows them.

    A page lays itself out some time after its size or theme changed: what is cut for two seconds is cut.
    """
    until = time.monotonic() + 2
    while (cut := list(page.evaluate(CUT, selector))) and time.monotonic() < until:
        page.wait_for_timeout(100)
    return cut


def axe_findings(page: Any, selector: str = ".smsotp-form") -> list[str]:
    """Return what axe-core objects to inside ``selector``, one line each."""
    from axe_playwright_python.base import AXE_FILE_PATH

    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(Path(AXE_FILE_PATH).read_text(encoding="utf-8"))
    found = page.evaluate("selector => axe.run(selector, {resultTypes: ['violations']})", selector)
    return [
        f"{rule['id']}: {node['html'][:140]} -- {node.get('failureSummary', '')[:300]}"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]
