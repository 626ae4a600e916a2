"""What is handed out: a wheel that shows itself without this repository, and a source archive that can be tested."""

from __future__ import annotations

import email
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import smsotp_nb
from smsotp_nb._cli import main

ROOT = Path(__file__).resolve().parents[2]
WITHOUT = """
import sys
lacking = sys.argv[1].split(",")
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in lacking:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Refuse())
import smsotp_nb as sms
from smsotp_nb._cli import main
people = [{"phone": "+12025550123"}, {"phone": "0170 1234567"}]
plan = sms.plan(people, "Hi", campaign="light", to="phone", default_region="DE")
results = sms.send(plan, sms.Sandbox.at(sys.argv[2]))
print(results["status"].tolist(), len(sms.cost.by_country(results)), sms.parts.count("Hi").parts)
for needed in (lambda: sms.widgets, sms.Sandbox):
    try:
        needed()
    except sms.errors.UsageError as error:
        print(error)
print(main(["sandbox"]))
print([name for name in lacking if name in sys.modules])
"""
LINK = re.compile(r"!?\[[^\]]*\]\(([^)]*)\)")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the source archive, as a release makes them."""
    folder = tmp_path_factory.mktemp("dist")
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", str(folder)],
        cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def unpacked(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel as it lies in an environment, far from the repository."""
    folder = tmp_path_factory.mktemp("site-packages")
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        wheel.extractall(folder)
    return folder


@pytest.fixture(scope="module")
def archived(built: Path) -> list[str]:
    """The names in the source archive, without its own folder."""
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        return [name.partition("/")[2] for name in archive.getnames()]


def run(unpacked: Path, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": str(unpacked), "SMSOTP_LEDGER": str(home / "l.sqlite")}
    code = "import smsotp_nb, sys; from smsotp_nb._cli import main; print(smsotp_nb.__file__); sys.exit(main())"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=home, env=environ, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip


def test_without_forms_and_sandbox_everything_else_works(tmp_path: Path) -> None:
    """Where a library is not installed, what needs it names the command that installs it."""
    with smsotp_nb.Sandbox() as box:
        done = subprocess.run(
            [sys.executable, "-c", WITHOUT, "ipywidgets,IPython,jedi,aiohttp,tqdm,openpyxl,python_calamine", box.url],
            cwd=tmp_path, env={**os.environ, "SMSOTP_LEDGER": str(tmp_path / "l.sqlite")},
            capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
    assert done.stdout.splitlines() == [
        "['accepted', 'accepted'] 2 1",
        "widgets needs ipywidgets, which is not installed: python -m pip install ipywidgets",
        "a Sandbox needs aiohttp, which is not installed: python -m pip install aiohttp",
        "2",
        "[]",
    ], done.stderr
    assert "the sandbox needs aiohttp" in done.stderr


@pytest.mark.slow
def test_the_wheel_runs_the_demo_on_data_of_its_own(unpacked: Path, tmp_path: Path) -> None:
    done = run(unpacked, tmp_path, "demo")
    assert done.returncode == 0, done.stderr
    assert str(unpacked) in done.stdout.splitlines()[0], "the wheel is what runs"
    assert "By country" in done.stdout


def test_the_wheel_writes_notebooks_that_find_their_data(unpacked: Path, tmp_path: Path) -> None:
    """Every notebook of the repository is written, and each file that one reads stands where it looks."""
    done = run(unpacked, tmp_path, "notebooks", "tour")
    assert done.returncode == 0, done.stderr
    written = sorted((tmp_path / "tour" / "notebooks").iterdir())
    assert [path.name for path in written] == sorted(path.name for path in (ROOT / "notebooks").glob("*.ipynb"))
    for path in written:
        text = path.read_text(encoding="utf-8")
        assert text == (ROOT / "notebooks" / path.name).read_text(encoding="utf-8")
        for name in re.findall(r"\.\./sample_data/[\w.]+", text):
            assert (path.parent / name).is_file(), f"{path.name} reads {name}"
        for name in re.findall(r"from (\w+) import", text):
            assert (
                not (ROOT / "sample_data" / f"{name}.py").exists()
                or (tmp_path / "tour" / "sample_data" / f"{name}.py").is_file()
            ), f"{path.name} imports {name}"


def test_notebooks_replace_a_file_only_when_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["notebooks", str(tmp_path)]) == 0
    changed = tmp_path / "notebooks" / "campaign.ipynb"
    changed.write_text("mine", encoding="utf-8")
    assert main(["notebooks", str(tmp_path)]) == 2
    assert "--force" in capsys.readouterr().err
    assert changed.read_text(encoding="utf-8") == "mine"
    assert main(["notebooks", str(tmp_path), "--force"]) == 0
    assert changed.read_text(encoding="utf-8") != "mine"
    assert main(["notebooks", str(changed)]) == 2
    assert "cannot be created" in capsys.readouterr().err


def test_what_the_notebooks_need_is_told_everywhere_alike(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever follows the README, the site or the command has the extras that every notebook asks for."""
    assert main(["notebooks", str(tmp_path)]) == 0
    told = re.findall(r"smsotp_nb\[([\w,]+)\]", capsys.readouterr().out)
    assert len(told) == 1
    for page in ("README.md", "docs/tutorials/index.md"):
        assert f'"smsotp_nb[{told[0]}]"' in (ROOT / page).read_text(encoding="utf-8")
    code = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "notebooks").iterdir())
    asked = {extra for extra, word in (("excel", ".xlsx"),) if word in code}
    assert asked == {"excel"}
    assert {*told[0].split(",")} == {"notebook", *asked}


def test_the_command_says_its_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == f"smsotp-nb {smsotp_nb.__version__}\n"


def test_an_index_page_has_no_link_into_the_repository(built: Path) -> None:
    """The long description is the README; what would need the files beside it is told without a link or picture."""
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        metadata = next(name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
        message = email.message_from_bytes(wheel.read(metadata))
    page = message.get_payload()
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert isinstance(page, str)
    assert message["Version"] == smsotp_nb.__version__
    assert LINK.findall(readme), "the README of the repository has links"
    assert [target for target in LINK.findall(page) if not target.startswith(("http://", "https://", "#"))] == []
    assert "<img" not in page
    assert re.findall(r"```.*?```", page, re.DOTALL) == re.findall(r"```.*?```", readme, re.DOTALL)


def test_the_source_archive_holds_all_that_tests_need(archived: list[str]) -> None:
    """Every file of the repository is in it, so its tests run."""
    assert kept_in_git() - set(archived) == set()


def test_nothing_is_released_with_an_address_or_version_left_open() -> None:
    """The workflow of a release builds by this command."""
    done = subprocess.run(["make", "dist", "TAG=v0.0.0"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode
    assert "write the owner" in done.stdout or "must be the version" in done.stdout
    assert "make dist TAG=" in (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")


def test_the_conda_package_needs_what_the_wheel_needs() -> None:
    recipe = (ROOT / "recipe.yaml").read_text(encoding="utf-8")
    needed = re.search(r"  run:\n((?:    - .*\n)+)", recipe)
    assert needed
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = {f"python{project['requires-python']}", *project["dependencies"]}
    named = {line[6:].replace(" ", "") for line in needed[1].splitlines()}
    assert named == {name.replace("tzdata", "python-tzdata") for name in wanted}
    assert f'version: "{smsotp_nb.__version__}"' in recipe


def test_no_folder_was_left_behind_in_the_repository() -> None:
    """What somebody tried by hand at the top of the checkout isn't handed to everybody."""
    folders = {path.split("/")[0] for path in kept_in_git() if "/" in path}
    assert folders <= {".ci", ".github", "benchmarks", "docs", "notebooks", "sample_data", "smsotp_nb", "tests"}


def kept_in_git() -> set[str]:
    """Return the paths of the files that git keeps here."""
    if not (ROOT / ".git").exists():
        pytest.skip("this is no checkout, so there is nothing to compare with")
    told = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return {path for path in told.split("\0") if path and (ROOT / path).exists()}
