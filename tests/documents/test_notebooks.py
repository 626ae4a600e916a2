"""The notebooks are stored clean, hold no logic, run top to bottom on the sandbox, and keep no secret."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest
from support.notebooks import NOTEBOOKS, copied, run

# The others are run by tests of their own.
RUN_HERE = [path for path in NOTEBOOKS if path.stem not in {"cost", "weekly_campaign", "hand_over"}]
SENDING = [path for path in NOTEBOOKS if "sms.send(" in path.read_text(encoding="utf-8")]
LOGIC = (ast.FunctionDef, ast.ClassDef, ast.For, ast.While, ast.If, ast.Try, ast.Lambda, ast.ListComp, ast.DictComp)
MOST_CELLS = 24
# What a notebook is meant to say on the way.
WARNINGS = {"campaign": "the first recipients were texted", "weekly_campaign": "in doubt"}


def load(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def code_cells(path: Path) -> list[dict[str, Any]]:
    return [cell for cell in load(path)["cells"] if cell["cell_type"] == "code"]


every = pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])


@every
def test_stored_without_outputs_counts_or_widget_state(path: Path) -> None:
    for cell in code_cells(path):
        assert (cell["outputs"], cell["execution_count"]) == ([], None)
        assert cell["metadata"] in ({}, {"tags": ["parameters"]})
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


def stderr(notebook: dict[str, Any]) -> str:
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", ())]
    return "".join("".join(output["text"]) for output in outputs if output.get("name") == "stderr")


KEEP_CODES = """import json, pathlib
pathlib.Path("codes.json").write_text(json.dumps(
    [code for code in globals().get("box", sms.Sandbox()).inbox["code"].dropna()]))"""
KEEP_NUMBERS = """import json, pathlib
pathlib.Path("numbers.json").write_text(json.dumps(box.inbox["to"].tolist()))"""


def keeps_no_secret(done: dict[str, Any], codes: list[str], name: str) -> None:
    """Of a notebook that was run: no secret is in it, and it complains of nothing but what it is meant to."""
    assert name != "otp_demo" or codes, "the demo sent a passcode"
    saved = json.dumps(done)
    assert [code for code in codes if re.search(rf"(?<!\d){code}(?!\d)", saved)] == []
    assert "accessKeyId" not in saved
    assert "widgets" not in done["metadata"]
    expected, said = WARNINGS.get(name, ""), stderr(done)
    assert expected in said
    assert said.count(".py:") == bool(expected)
    assert expected or said == ""


def kept(folder: Path, name: str) -> list[str]:
    texts: list[str] = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    return texts


@pytest.mark.notebook
@pytest.mark.parametrize("path", RUN_HERE, ids=[path.stem for path in RUN_HERE])
def test_runs_top_to_bottom_and_again_texts_nobody_twice(path: Path, tmp_path: Path) -> None:
    """One that sends is run a second time; the service answers in half the time."""
    folder, sends = copied(tmp_path), path in SENDING
    copy = folder / path.name
    copy.write_text(copy.read_text(encoding="utf-8").replace("seconds=1)", "seconds=0.5)"), encoding="utf-8")
    done = run(copy, KEEP_CODES, *[KEEP_NUMBERS] * sends)
    keeps_no_secret(done, kept(folder, "codes"), path.stem)
    if sends:
        texted = kept(folder, "numbers")
        run(copy, KEEP_NUMBERS)
        assert kept(folder, "numbers") == texted
        assert len(set(texted)) == len(texted) > 0
