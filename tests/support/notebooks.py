"""The repository's notebooks, run by a kernel in a folder of their own."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
OWN_FOLDERS = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR", "XDG_DATA_HOME")
LONGEST = 300  # seconds of a cell on a busy machine


def copied(folder: Path) -> Path:
    """Copy notebooks and sample data to ``folder``; return the folder of the notebooks."""
    left_out = shutil.ignore_patterns("*.sqlite*", "*.url", "year", "__pycache__", ".ipynb_checkpoints")
    for name in ("notebooks", "sample_data"):
        shutil.copytree(ROOT / name, folder / name, ignore=left_out)
    return folder / "notebooks"


def environment(folder: Path) -> dict[str, str]:
    """Return the variables of a kernel whose Jupyter files, data and ledger are in ``folder``."""
    own = {name: str(folder / "home" / name.lower()) for name in OWN_FOLDERS}
    own |= {"SMSOTP_LEDGER": str(folder / "ledger.sqlite"), "JUPYTER_PLATFORM_DIRS": "1"}
    return own | {"PYTHONPATH": os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", "")))}


def written(*cells: str) -> Any:
    """Return a notebook of these code cells."""
    nbformat = pytest.importorskip("nbformat")
    return nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(cell) for cell in cells],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
    )


def read(path: Path, *more: str) -> Any:
    """Return a notebook to be run, with ``more`` cells at its end."""
    nbformat = pytest.importorskip("nbformat")
    notebook = nbformat.read(path, as_version=4)
    notebook.cells += [nbformat.v4.new_code_cell(source) for source in more]
    return notebook


def execute(
    notebook: Any, folder: Path, *, home: Path | None = None, widgets: bool = False, allow_errors: bool = False
) -> dict[str, Any]:
    """Run a notebook in ``folder`` as Jupyter does, with its other files in ``home``; return it with its outputs."""
    nbclient = pytest.importorskip("nbclient")
    where = {"metadata": {"path": folder}}
    client = nbclient.NotebookClient(
        notebook, timeout=LONGEST, kernel_name="python3", resources=where, allow_errors=allow_errors
    )
    client.store_widget_state = widgets
    client.execute(env={**os.environ, **environment(home or folder)})
    done: dict[str, Any] = json.loads(json.dumps(notebook))
    return done


def run(path: Path, *more: str) -> dict[str, Any]:
    """Run a notebook and return it with its outputs; ``more`` are cells appended for the test, without a trace."""
    notebook = read(path, *more)
    done = execute(notebook, path.parent, home=path.parent.parent)
    del done["cells"][len(done["cells"]) - len(more) :]
    return done
