"""The notebooks are stored clean, hold no logic, run top to bottom on the sandbox, and keep no secret."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
SENDING = [path for path in NOTEBOOKS if "sms.send(" in path.read_text(encoding="utf-8")]
LOGIC = (ast.FunctionDef, ast.ClassDef, ast.For, ast.While, ast.If, ast.Try, ast.Lambda, ast.ListComp, ast.DictComp)
MOST_CELLS = 24
WARNINGS = {"campaign": "the canary was sent"}  # what a notebook is meant to say on the way


def load(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def code_cells(path: Path) -> list[dict[str, Any]]:
    return [cell for cell in load(path)["cells"] if cell["cell_type"] == "code"]


every = pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])


@every
def test_stored_without_outputs_counts_or_widget_state(path: Path) -> None:
    for cell in code_cells(path):
        assert (cell["outputs"], cell["execution_count"], cell["metadata"]) == ([], None, {})
    metadata = load(path)["metadata"]
    assert metadata["kernelspec"]["name"] == "python3"
    assert "widgets" not in metadata


@every
def test_cells_hold_no_logic(path: Path) -> None:
    """What a notebook needs beyond calls belongs in the package, where tests reach it."""
    assert len(load(path)["cells"]) <= MOST_CELLS
    for cell in code_cells(path):
        found = [
            type(node).__name__ for node in ast.walk(ast.parse("".join(cell["source"]))) if isinstance(node, LOGIC)
        ]
        assert found == [], "".join(cell["source"])


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of notebooks and sample data, with a ledger and Jupyter folders of its own."""
    for name in ("notebooks", "sample_data"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("*.sqlite*", ".ipynb_checkpoints"))
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    monkeypatch.setenv("SMSOTP_LEDGER", str(tmp_path / "ledger.sqlite"))
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", ""))))
    return tmp_path


def run(path: Path, *more: str) -> dict[str, Any]:
    """Run a notebook and return it with its outputs; ``more`` are cells appended for the test, without a trace."""
    nbclient = pytest.importorskip("nbclient")
    import nbformat

    notebook: Any = nbformat.read(path, as_version=4)
    written = len(notebook.cells)
    notebook.cells += [nbformat.v4.new_code_cell(source) for source in more]
    where = {"metadata": {"path": path.parent}}
    client = nbclient.NotebookClient(notebook, timeout=100, kernel_name="python3", resources=where)
    client.store_widget_state = False
    client.execute()
    notebook.cells = notebook.cells[:written]
    found: dict[str, Any] = json.loads(nbformat.writes(notebook))
    return found


def stderr(notebook: dict[str, Any]) -> str:
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", ())]
    return "".join("".join(output["text"]) for output in outputs if output.get("name") == "stderr")


@pytest.mark.notebook
@every
def test_runs_top_to_bottom_and_keeps_no_secret(path: Path, workplace: Path) -> None:
    keep_codes = "import json, pathlib\npathlib.Path('codes.json').write_text(json.dumps(\n"
    keep_codes += "    [code for code in globals().get('box', sms.Sandbox()).inbox['code'].dropna()]))"
    done = run(workplace / "notebooks" / path.name, keep_codes)
    codes = json.loads((workplace / "notebooks" / "codes.json").read_text(encoding="utf-8"))
    assert path.stem != "otp_demo" or codes, "the demo sent a passcode"
    saved = json.dumps(done)
    assert [code for code in codes if re.search(rf"(?<!\d){code}(?!\d)", saved)] == []
    assert "accessKeyId" not in saved
    assert "widgets" not in done["metadata"]
    expected, said = WARNINGS.get(path.stem, ""), stderr(done)
    assert expected in said
    assert said.count(".py:") == bool(expected)
    assert expected or said == ""


@pytest.mark.notebook
@pytest.mark.parametrize("path", SENDING, ids=[path.stem for path in SENDING])
def test_run_all_again_texts_nobody_twice(path: Path, workplace: Path) -> None:
    keep_numbers = "import json, pathlib\npathlib.Path('numbers.json').write_text(json.dumps(box.inbox['to'].tolist()))"
    texted = []
    for _ in range(2):
        run(workplace / "notebooks" / path.name, keep_numbers)
        texted.append(json.loads((workplace / "notebooks" / "numbers.json").read_text(encoding="utf-8")))
    assert texted[0] == texted[1]
    assert len(set(texted[0])) == len(texted[0]) > 0
