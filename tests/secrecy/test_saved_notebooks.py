"""Notebooks that were run and saved with the state of their widgets: no key in them, and no passcode.

A kernel is started with canaries at hand, verbose tracebacks and every library's log at DEBUG in the output.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from faults import certificates
from faults.acts import body, cut
from faults.server import BreakingServer, Peer, Script, serve
from support.canaries import hits
from support.notebooks import NOTEBOOKS, copied, execute, read, written

from smsotp_nb import Ledger

KEY = "canary/key+7f3a&91e6="
HMAC = "canary/secret+c04e&5d="
OWN_CODE, ENTERED, WRONG = "48151623", "42108642", "31415926"
ANN = "+12025550187"
ECHO = f"no account {KEY} {HMAC} for {ANN} with code {OWN_CODE} or {ENTERED} or {WRONG}"

# Runs in the kernel before the first cell. What a cell needs of the canaries it asks for by name: what a person types
# into a cell stands in that cell.
STARTUP = """
import logging, os, sys
logging.basicConfig(level=logging.DEBUG, stream=sys.stderr)
get_ipython().run_line_magic("xmode", "Verbose")
def canary(name):
    return os.environ["CANARY_" + name]
def with_canaries(made, clients=[]):
    def client(box, **settings):
        clients.append(made(box, access_key_id=canary("KEY"), **settings))
        return clients[-1]
    return client, clients
from smsotp_nb import Sandbox
Sandbox.client, clients = with_canaries(Sandbox.client)
"""


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of notebooks and sample data, with Jupyter folders, a ledger and a kernel's start of its own."""
    copied(tmp_path)
    started = tmp_path / "home" / "ipythondir" / "profile_default" / "startup"
    started.mkdir(parents=True)
    (started / "00-canaries.py").write_text(STARTUP, encoding="utf-8")
    monkeypatch.setenv("JUPYTER_WIDGETS_ECHO", "1")
    given = {"KEY": KEY, "HMAC": HMAC, "OWN_CODE": OWN_CODE, "ENTERED": ENTERED, "WRONG": WRONG, "NUMBER": ANN}
    for name, value in given.items():
        monkeypatch.setenv(f"CANARY_{name}", value)
    return tmp_path


def run(notebook: Any, workplace: Path) -> dict[str, Any]:
    """Run a notebook with the state of its widgets; errors are shown and do not end it."""
    return execute(notebook, workplace / "notebooks", home=workplace, widgets=True, allow_errors=True)


def outputs(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    return [output for cell in notebook["cells"] for output in cell.get("outputs", ())]


def errors(notebook: dict[str, Any]) -> list[str]:
    return [output["ename"] for output in outputs(notebook) if output["output_type"] == "error"]


def left_behind(folder: Path) -> bytes:
    """Return every byte that was written beside the notebook: ledger and its log, reports, history."""
    written = [path for path in folder.rglob("*") if path.is_file() and path.name != "00-canaries.py"]
    return b"".join(path.read_bytes() for path in written)


@pytest.mark.notebook
@pytest.mark.sampled(2)
@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_a_notebook_saved_with_its_widgets_holds_no_key(path: Path, workplace: Path) -> None:
    """Each of ours on a sandbox whose clients have the canary for a key, and the passcodes that the sandbox made."""
    note = "import json, pathlib\nopen_ones = [one.sandbox for one in clients if not one.sandbox._ended]\n"
    note += "codes = [code for box in open_ones for code in box.inbox['code'].dropna()]\n"
    note += "keys = sorted({one.settings._key() for one in clients})\n"
    note += "pathlib.Path('noted.json').write_text(json.dumps([keys, codes]))"
    done = run(read(workplace / "notebooks" / path.name, note), workplace)
    del done["cells"][-1]
    assert errors(done) == []
    noted = workplace / "notebooks" / "noted.json"
    keys, codes = json.loads(noted.read_text(encoding="utf-8"))
    noted.unlink()
    assert keys == ([] if path.stem == "list_cleaning" else [KEY])
    assert bool(codes) == (path.stem == "otp_demo")
    assert hits(json.dumps(done), KEY, *codes) == []
    assert hits(left_behind(workplace), KEY, *codes) == []


# -- one that does everything with a live client -----------------------------------------------------------------------

# What the service does with one request after the other, the last for all that follow.
ACTS = (
    serve,  # the campaign
    serve,  # the form: a passcode
    body(ECHO.encode(), 502),  # three checks
    body(f'{{"code":"104111","message":"{ECHO}"}}'.encode(), 400),
    serve,
    body(f'{{"code":"104111","message":"{ECHO}"}}'.encode(), 400),
    cut("body half", Peer.fin),
)
USE = [
    "import smsotp_nb as sms, pandas as pd, pickle, time\nfrom smsotp_nb._client import RetryPolicy\n"
    "client = sms.Client(sms.Settings.from_env())",
    "display(client, client.settings, vars(client))\nclient",
    "people = pd.DataFrame({'phone': [canary('NUMBER')], 'name': ['Ann']})\n"
    "plan = sms.plan(people, 'Hello {name}', to='phone', campaign='notebook')\nplan",
    "results = sms.send(plan, client=client)\nsms.cost.card(results)",
    "ledger = sms.Ledger()\ndisplay(ledger, ledger.record('notebook'))",
    "sms.charts.report(results, 'report.html')",
    "sms.widgets.CampaignForm(people, client=client)",
]
FORM = [
    "form = sms.widgets.OtpForm(client)\nform",
    # As a page does it: its messages change the fields, and the kernel echoes what it was told.
    "def typed(field, text):\n"
    "    field._handle_msg({'content': {'data': {'method': 'update', 'state': {'value': text}}}, 'buffers': []})\n"
    "def wait(*stages, told=False):\n"
    "    for _ in range(600):\n"
    "        if form.steps.stage in stages and (form._notice.value or not told):\n"
    "            return\n"
    "        time.sleep(0.05)\n"
    "    raise TimeoutError(form.steps.stage)",
    "typed(form.phone, canary('NUMBER'))\ntyped(form.custom, canary('OWN_CODE'))",
    # The form is drawn after its stage has changed; what is drawn after the end of a cell is not in the saved state.
    "form.send_button.click()\nwait('entry')\nwhile form.phone.value:\n    time.sleep(0.05)\ntime.sleep(0.2)",
    "typed(form.code, canary('WRONG'))\nform._notice.value = ''\nform.verify_button.click()\n"
    "wait('entry', told=True)\nform._notice.value",
    "typed(form.code, canary('WRONG'))\nform._notice.value = ''\nform.verify_button.click()\n"
    "wait('entry', told=True)\nform._notice.value",
    "typed(form.code, canary('ENTERED'))\nform.verify_button.click()\nwait('verified')",
]
SHOW = [
    "get_ipython().Completer.complete('client.settings.')",
    "get_ipython().Completer.complete('client.')",
    "from IPython.core.completer import provisionalcompleter\n"
    "with provisionalcompleter():\n"
    "    found = list(get_ipython().Completer.completions('client.settings.access_key_id.', 30))\n"
    "[(one.text, one.type, one.signature) for one in found]",
    "[get_ipython().object_inspect_mime(name, detail_level=1) for name in ('client', 'client.settings', 'form')]",
    "%whos",
    "[repr(getattr(client.settings, name)) for name in dir(client.settings)]",
]
ERRORS = [
    "pickle.dumps(client)",
    "pickle.dumps(client.settings)",
    "sms.Settings(base_url='wrong', access_key_id=canary('KEY'), access_key_secret=canary('HMAC'))",
    "sms.Settings.from_env(base_url='wrong')",
    "sms.Settings.from_env(access_key_id=canary('KEY') + ' ')",
    "client.send_otp(canary('NUMBER'), code=canary('OWN_CODE') + '9')",
    "client.verify_otp('nobody', canary('ENTERED'))",
    "sms.otp.send('nobody', client=client, code=canary('OWN_CODE'))",
    "form.steps.challenge.verify(canary('ENTERED') + '9')",
    "client.send_otp(canary('NUMBER'), code=canary('OWN_CODE'))",
    "client.verify_otp(canary('NUMBER'), canary('ENTERED'))",
    "client.send_message(canary('NUMBER'), text='Hello')",
]
UNREACHED = [
    "nobody = sms.Client(\n"
    "    sms.Settings.from_env(base_url='http://127.0.0.1:9'), retry=RetryPolicy(attempts=2, first_wait=0.01))",
    "nobody.send_otp(canary('NUMBER'), code=canary('OWN_CODE'))",
]


@pytest.fixture(params=["plain", "TLS and signed"])
def service(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[BreakingServer]:
    """A live service, as far as the kernel knows, and the settings for it in the environment."""
    context, scheme = None, "http"
    if request.param != "plain":
        ours, scheme = certificates.authority(), "https"
        (tmp_path / "tls").mkdir()
        context = certificates.context(certificates.leaf(ours, tmp_path / "tls", hosts=("127.0.0.1",)))
        monkeypatch.setenv("SMSOTP_CA_BUNDLE", str(certificates.write(ours, tmp_path / "tls")))
        monkeypatch.setenv("SMSOTP_ACCESS_KEY_SECRET", HMAC)
    with BreakingServer(Script(ACTS, tls=context)) as server:
        monkeypatch.setenv("SMSOTP_BASE_URL", f"{scheme}://127.0.0.1:{server.port}")
        monkeypatch.setenv("SMSOTP_ACCESS_KEY_ID", KEY)
        yield server


@pytest.mark.notebook
@pytest.mark.sampled(1)
def test_a_live_notebook_saved_with_everything_holds_no_key_or_passcode(
    workplace: Path, service: BreakingServer
) -> None:
    """A campaign, the form with a custom code and three checks, Tab and ``?``, and errors in verbose mode."""
    notebook = written(*USE, *FORM, *SHOW, *ERRORS, *UNREACHED)
    done = run(notebook, workplace)
    sound = {"cells": done["cells"][: -len(ERRORS + UNREACHED)]}
    assert [(output["ename"], output["evalue"]) for output in outputs(sound) if "ename" in output] == []
    raised = [
        *("TypeError", "TypeError", "UsageError", "UsageError", "UsageError"),
        *("UsageError", "UsageError", "UsageError", "UsageError"),
        *("ServiceError", "InDoubt", "InDoubt", "NotSent"),
    ]
    assert errors(done) == raised
    saved = json.dumps(done)
    states = json.dumps(done["metadata"]["widgets"])
    assert ANN not in states  # the field of the number is emptied once it was sent to
    assert "Verified" in states
    assert "DEBUG:smsotp_nb:" in saved
    sent = [(request.action, request.fields) for request in service.sends]
    assert {fields.get("code") for _, fields in sent} >= {OWN_CODE, WRONG, ENTERED}
    secrets = (KEY, OWN_CODE, ENTERED, WRONG, *([HMAC] if service.script.tls else []))
    assert hits(saved, *secrets) == []
    assert hits(left_behind(workplace), *secrets) == []


LEAKS: dict[str, str] = {
    "output": "print(canary('KEY'))",
    "error": "raise ValueError('https://sms.example/?accessKeyId=' + canary('KEY'))",
    "variable of a frame": "def refused(key):\n    raise ValueError('refused ' + key[:0])\nrefused(canary('KEY'))",
    "log": "import logging\nlogging.getLogger('urllib3').debug('POST /?accessKeyId=%s', canary('KEY'))",
    "widget": "import ipywidgets\nfield = ipywidgets.Text()\nfield.value = canary('KEY')",
    "display": "from IPython.display import HTML\nHTML('<b>' + canary('KEY') + '</b>')",
    "repr": "{'key': canary('KEY')}",
    "inspection": "key = canary('KEY')\nget_ipython().object_inspect_mime('key')",
}


@pytest.mark.notebook
def test_a_leak_planted_in_a_notebook_is_found(workplace: Path) -> None:
    """Each channel that is searched above, with a key in it."""
    done = run(written(*LEAKS.values()), workplace)
    metadata = {"cells": done["cells"], "widget": done["metadata"]["widgets"]}
    found = {
        name: hits(json.dumps(metadata["widget"] if name == "widget" else cell["outputs"]), KEY)
        for name, cell in zip(LEAKS, done["cells"], strict=True)
    }
    assert found == {name: [KEY] for name in LEAKS}


@pytest.mark.notebook
def test_a_leak_planted_in_a_file_is_found(workplace: Path) -> None:
    """The ledger and what else a notebook writes."""
    with Ledger(workplace / "ledger.sqlite", create=True):
        pass
    assert hits(left_behind(workplace), KEY) == []
    (workplace / "notebooks" / "report.html").write_text(f"<td>{KEY}</td>", encoding="utf-8")
    assert hits(left_behind(workplace), KEY) == [KEY]
