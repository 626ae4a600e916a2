"""What is refused of the libraries below us is refused in words; what pandas 2 does otherwise reaches nobody."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from packaging.requirements import Requirement
from packaging.version import Version
from support.dtypes import dtype_names
from support.small_plans import plan

from smsotp_nb import phones
from smsotp_nb._pandas import holds_text, lent, without

ROOT = Path(__file__).parents[2]


def test_urllib3_1_is_refused_in_words(tmp_path: Path) -> None:
    program = (
        "import urllib3; urllib3.__version__ = '1.26.20'\n"
        "import smsotp_nb\n"
        "try: smsotp_nb.Client\n"
        "except smsotp_nb.errors.UsageError as error: print(error)\n"
    )
    said = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=300
    ).stdout
    assert "needs urllib3 2 or later" in said
    assert "1.26.20" in said


BLANKS = [np.nan, None, pd.NA, ""]


@pytest.mark.parametrize("blank", BLANKS, ids=repr)
@pytest.mark.parametrize("dtype", ["object", "string", "category"])
def test_a_blank_region_is_no_region_whatever_stands_for_it(blank: object, dtype: str) -> None:
    """Nobody is dropped for a country that is only missing: the default region holds for him."""
    people = pd.DataFrame({"phone": ["030 901820", "+14155550100", "030 901820"], "country": ["DE", blank, blank]})
    people = people.astype({"country": dtype})
    found = phones.normalize(people["phone"], region=people["country"], default_region="DE")
    assert found["to"].tolist() == ["+4930901820", "+14155550100", "+4930901820"]
    checked = phones.verdict(people["phone"], region=people["country"], default_region="DE")
    assert checked["e164"].tolist() == found["to"].tolist()


@pytest.mark.filterwarnings("ignore:The 'future.infer_string' option is deprecated")
@pytest.mark.parametrize("inferred", [False, True])
def test_frames_are_alike_whatever_pandas_takes_text_for(inferred: bool) -> None:
    """``future.infer_string`` decides what the caller's columns are, and nothing of what he gets."""
    with pd.option_context("future.infer_string", inferred):
        found = phones.normalize(pd.Series(["+14155550100", None]))
        made = plan(pd.DataFrame({"phone": ["+12025550123", None], "name": ["Ann", "Bob"]}), leave_out=["+12025550147"])
    assert set(dtype_names(found).values()) == {"str"}
    assert made.rows["status"].tolist() == ["planned", "skipped"]
    assert dtype_names(made.rows)["to"] == "str"


def test_the_header_of_a_bare_list_is_a_number_in_a_column_of_objects_too() -> None:
    """A list without a header, read by pandas 2 into objects: its first number is left out as well."""
    bare = pd.DataFrame({"+12025550123": ["+12025550147"]}, dtype=object)
    made = plan(pd.DataFrame({"phone": ["+12025550123", "+12025550147", "+12025550199"], "name": "x"}), leave_out=bare)
    assert made.rows["status"].tolist() == ["skipped", "skipped", "planned"]


@pytest.mark.parametrize("first", range(8))
def test_a_slice_of_texts_keeps_its_bytes(first: int) -> None:
    texts = pa.array(["+4930901820", "nope", None, "+1 415 555 0100"] * 5, pa.large_string()).slice(first)
    marked = [at % 3 == 0 for at in range(len(texts))]
    expected = [None if mark else text for mark, text in zip(marked, texts.to_pylist(), strict=True)]
    assert without(texts, pa.array(marked)).to_pylist() == expected
    assert without(pa.chunked_array([texts]), pa.array(marked)).to_pylist() == expected


def test_what_is_handed_out_is_the_callers() -> None:
    ours = pd.DataFrame({"n": [1, 2]})
    given = lent(ours)
    given.loc[0, "n"] = 7
    assert ours["n"].tolist() == [1, 2]
    assert given["n"].tolist() == [7, 2]


def test_text_is_told_from_other_objects() -> None:
    columns = [["a", None], ["a", 1], [1, 2], [None, None]]
    assert [holds_text(pd.Series(column, dtype=object)) for column in columns] == [True, False, False, False]


AGES = {"phonenumbers"}  # its numbering plans change monthly, and tests quote those of the pinned release


def test_the_oldest_set_is_what_we_say_we_support() -> None:
    """What ``make test-oldest`` installs is the lower bound of each library that a user of the package gets."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = (project["optional-dependencies"][name] for name in ("excel", "keyring", "plot"))
    declared = [Requirement(line) for line in chain(project["dependencies"], *extras)]
    bounds = {it.name: Version(part.version) for it in declared for part in it.specifier if it.name not in AGES}
    lines = (ROOT / "constraints-oldest.txt").read_text(encoding="utf-8").splitlines()
    pinned = {name: Version(version) for name, version in (line.split("==") for line in lines)}
    assert {name: pinned[name] for name in bounds} == bounds
    assert len(bounds) > 10


def test_the_page_on_hosts_says_what_pip_replaces_there() -> None:
    """A library below our bound is named as replaced; all others are in the set that ``make test-hosts`` runs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    bounds = {it.name: it.specifier for it in map(Requirement, project["dependencies"])}
    page = (ROOT / "docs" / "guides" / "hosted.md").read_text(encoding="utf-8")
    seen = set()
    for name, has, replaced in re.findall(r"^\| (?:Google |Amazon )?(\w+) \| (pandas [^|]*) \| ([^|]*) \|", page, re.M):
        libraries = {word.lower(): version for word, version in re.findall(r"(\w+) ([\d.]+)", has) if word != "Python"}
        old = [one for one, version in libraries.items() if one in bounds and version not in bounds[one]]
        assert replaced.split(", ") == old, name
        kept = {one: Version(version) for one, version in libraries.items() if one not in old}
        path = ROOT / "tests" / "hosts" / f"{name.lower()}.txt"
        pins = re.findall(r"^(\w+)==(.*)$", path.read_text(encoding="utf-8"), re.M) if path.exists() else []
        assert {one: Version(version) for one, version in pins} == kept, name
        seen.add(name)
    assert seen == {"Colab", "Databricks", "SageMaker", "Deepnote"}


def test_the_container_installs_its_libraries_by_their_hashes() -> None:
    text = (ROOT / "requirements-sandbox.txt").read_text(encoding="utf-8").replace("\\\n", "")
    pins = [line.split() for line in text.splitlines() if not line.startswith("#")]
    assert all("==" in name and hashes for name, *hashes in pins)
    assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", one) for _, *hashes in pins for one in hashes)
    pinned = dict(name.split("==") for name, *_ in pins)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    bounds = {it.name: it.specifier for it in map(Requirement, project["dependencies"]) if it.name in pinned}
    assert {"pyarrow"} == set(bounds)
    assert all(bounds[name].contains(pinned[name]) for name in bounds)
    assert "--require-hashes -r requirements-sandbox.txt" in (ROOT / "Containerfile").read_text(encoding="utf-8")
