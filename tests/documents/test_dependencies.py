"""Every dependency is explained, and the bill of materials names each with its version."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NOT_FOR_USERS = ("docs", "suite", "test")


def named(requirement: str) -> str:
    return re.split(r"[\[<>=!~; ]", requirement)[0]


def table(columns: int) -> list[tuple[str, ...]]:
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    rows = [tuple(cell.strip(" `") for cell in line.strip("| ").split("|")) for line in page.split("\n") if "|" in line]
    return [row for row in rows if len(row) == columns and not row[0].startswith("---")][1:]


def test_every_library_is_explained_and_no_other() -> None:
    assert sorted(row[0] for row in table(2)) == sorted(map(named, PROJECT["dependencies"]))


def test_every_extra_is_explained_and_no_other() -> None:
    extras = {name: needs for name, needs in PROJECT["optional-dependencies"].items() if name not in NOT_FOR_USERS}
    assert sorted(row[:2] for row in table(3)) == sorted((name, named(one)) for name in extras for one in extras[name])


def test_the_bill_of_materials_names_every_dependency_with_its_version(tmp_path: Path) -> None:
    pytest.importorskip("cyclonedx_py")
    bill = tmp_path / "sbom.json"
    command = [sys.executable, "-m", "cyclonedx_py", "environment", sys.executable, "--output-reproducible"]
    # Whether it keeps to its schema is a matter of that program, and to see it takes nine tenths of its time.
    subprocess.run([*command, "--no-validate", "-o", str(bill)], check=True, capture_output=True)
    components = {one["name"]: one["version"] for one in json.loads(bill.read_text(encoding="utf-8"))["components"]}
    needed = list(map(named, PROJECT["dependencies"]))
    assert {name: components.get(name) for name in needed} == {name: version(name) for name in needed}
