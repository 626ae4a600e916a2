"""Notebooks to pages: executed on a copy with a ledger of its own, then text, code and outputs one after the other."""

from __future__ import annotations

import hashlib
import html
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbclient
import nbformat

TUTORIALS = (
    "list_cleaning",
    "campaign",
    "weekly_campaign",
    "campaign_form",
    "cost",
    "otp_demo",
    "hand_over",
    "compare_texts",
)
WIDGET = "application/vnd.jupyter.widget-view+json"
FORM = re.compile(r'class="smsotp-place [^"]*" data-form="(\w+)"')
PICTURES = {
    "OtpForm": ("passcode.png", "The passcode form: a number, an intent, a button, and the sandbox's inbox beside it"),
    "OtpPresenter": (
        "presenter.png",
        "The presenter: buttons, the form, a phone with the code, requests and replies",
    ),
    "CampaignForm": (
        "form.png",
        "The campaign form: name, columns and text at the left, three messages as they will be read at the right",
    ),
    "InboxView": (
        "sandbox-inbox-light.png",
        "The sandbox's inbox: the messages that arrived, and one as a phone shows it",
    ),
    "PhoneCleaner": (
        "cleaner.png",
        "The cleaner: the clean list to write, and each row before and after, with the reason",
    ),
}
FOLDERS = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
FOLDERS += ("XDG_DATA_HOME", "XDG_STATE_HOME")


@dataclass(frozen=True, slots=True)
class Executed:
    """A notebook as a page: its Markdown with a mark for each output, the outputs as HTML, and the stored notebook."""

    name: str
    markdown: str
    outputs: list[str]
    source: str


def executed(root: Path, cache: Path) -> Iterator[Executed]:
    """Run every tutorial, or take it from the cache where neither it nor the package has changed since."""
    for path in (root / "notebooks" / f"{name}.ipynb" for name in TUTORIALS):
        kept = cache / f"{path.stem}-{_state_of(root, path)}.json"
        if not kept.exists():
            cache.mkdir(exist_ok=True)
            for old in cache.glob(f"{path.stem}-*.json"):
                old.unlink()
            kept.write_text(json.dumps(_run(root, path)), encoding="utf-8")
        cells = json.loads(kept.read_text(encoding="utf-8"))["cells"]
        yield _as_page(path, cells)


def with_outputs(page: str, outputs: list[str]) -> str:
    """Return a page in which each mark is replaced by its output."""
    return re.sub(r'<div data-output="(\d+)"></div>', lambda mark: outputs[int(mark[1])], page)


def _state_of(root: Path, notebook: Path) -> str:
    found = hashlib.sha256()
    data = (path for path in sorted((root / "sample_data").iterdir()) if path.is_file())
    for path in (notebook, *sorted((root / "smsotp_nb").rglob("*.py")), *data):
        found.update(path.name.encode() + path.read_bytes())
    return found.hexdigest()[:16]


def _run(root: Path, path: Path) -> dict[str, Any]:
    """Execute a copy of the notebook beside the sample data; nothing of this user is read or written."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for name in ("notebooks", "sample_data"):
            shutil.copytree(root / name, place / name, ignore=shutil.ignore_patterns("*.sqlite*"))
        environment = {name: str(place / name.lower()) for name in FOLDERS}
        environment |= {"SMSOTP_LEDGER": str(place / "ledger.sqlite"), "JUPYTER_PLATFORM_DIRS": "1"}
        environment |= {"PYTHONPATH": os.pathsep.join((str(root), os.environ.get("PYTHONPATH", "")))}
        notebook: Any = nbformat.read(place / "notebooks" / path.name, as_version=4)
        client = nbclient.NotebookClient(
            notebook, timeout=100, kernel_name="python3", resources={"metadata": {"path": str(place / "notebooks")}}
        )
        client.store_widget_state = False
        client.execute(env={**os.environ, **environment})
        text = nbformat.writes(notebook).replace(str(place) + os.sep, "")
    # A warning names the temporary file of its cell, which says nothing to a reader.
    text = re.sub(r'[^"\s]*ipykernel_\d+/\d+\.py:\d+: ', "", text)
    found: dict[str, Any] = json.loads(text)
    return found


def _as_page(path: Path, cells: list[dict[str, Any]]) -> Executed:
    blocks: list[str] = []
    outputs: list[str] = []
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            blocks.append(source)
            continue
        blocks.append(f"```python\n{source}\n```")
        for output in _shown(cell["outputs"]):
            blocks.append(f'<div data-output="{len(outputs)}"></div>')
            outputs.append(f'<div class="notebook-output">{output}</div>')
    note = f"This page is `notebooks/{path.name}`, executed while the site was built ([download]({path.name}))."
    blocks.insert(1, f"*{note}*")
    return Executed(path.stem, "\n\n".join(blocks) + "\n", outputs, path.read_text(encoding="utf-8"))


def _shown(outputs: list[dict[str, Any]]) -> Iterator[str]:
    for output in outputs:
        data = output.get("data", {})
        if output["output_type"] == "error":
            raise RuntimeError(f"a notebook ended with {output['ename']}: {output['evalue']}")
        form = FORM.search("".join(data.get("text/html", "")))
        if form is not None:
            file, words = PICTURES[form[1]]
            yield f'<img src="../{file}" alt="{html.escape(words)}">'
        elif WIDGET not in data:
            yield _html(output)


def _html(output: dict[str, Any]) -> str:
    data = output.get("data", {})
    if "text/html" in data:
        return "".join(data["text/html"])
    if "image/png" in data:
        return f'<img alt="chart" src="data:image/png;base64,{"".join(data["image/png"])}">'
    return f"<pre><code>{html.escape(''.join(data.get('text/plain') or output.get('text', '')))}</code></pre>"
