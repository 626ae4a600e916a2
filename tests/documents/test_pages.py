"""Documents are tests: the README's Python runs, its commands exist, and what it links to is there."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path

import pandas as pd
import pytest

import smsotp_nb as sms
from smsotp_nb.errors import SmsOtpWarning

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").rglob("*.md"))
OF_THE_ROOT = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md")
DOCUMENTS = [*(ROOT / name for name in OF_THE_ROOT), *PAGES]
# Pages that the site is given while it is built; its own test follows the links to them.
MADE = {ROOT / "docs" / "tutorials" / f"{path.stem}.md" for path in (ROOT / "notebooks").glob("*.ipynb")}
MADE |= {ROOT / "docs" / "changelog.md", ROOT / "docs" / "contributing.md"}
WITH_CODE = [page for page in PAGES if "```python" in page.read_text(encoding="utf-8")]


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def blocks(document: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", document.read_text(encoding="utf-8"), flags=re.DOTALL)


def test_the_readme_runs_from_top_to_bottom(box: sms.Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every Python block of the README runs in order, the live one against a sandbox given by the environment."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("SMSOTP_BASE_URL", box.url)
    monkeypatch.setenv("SMSOTP_ACCESS_KEY_ID", "a-key-of-nobody")
    names: dict[str, object] = {}
    assert len(blocks(ROOT / "README.md")) >= 3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmsOtpWarning)
        for block in blocks(ROOT / "README.md"):
            exec(compile(block, "README.md", "exec"), names)
    results = names["results"]
    assert isinstance(results, pd.DataFrame)
    assert (results["status"] == "accepted").sum() + 1 == len(box.inbox), "the campaign, and one test to oneself"


@pytest.mark.parametrize("page", WITH_CODE, ids=named)
def test_the_code_of_a_page_runs(page: Path, box: sms.Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every Python block of a page runs in order, beside the sample data; the live service is a sandbox."""
    (tmp_path / "sample_data").symlink_to(ROOT / "sample_data")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SMSOTP_BASE_URL", box.url)
    monkeypatch.setenv("SMSOTP_ACCESS_KEY_ID", "a-key-of-nobody")
    names: dict[str, object] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmsOtpWarning)
        for block in blocks(page):
            exec(compile(block, named(page), "exec"), names)


@pytest.mark.parametrize("document", DOCUMENTS, ids=named)
def test_links_lead_somewhere(document: Path) -> None:
    """A relative link or picture names a file of the project."""
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", document.read_text(encoding="utf-8")):
        if "://" not in target:
            there = (document.parent / target).resolve()
            assert there.exists() or there in MADE, f"{document.name} links to {target}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=named)
def test_make_targets_exist(document: Path) -> None:
    """A documented make target is in the Makefile."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in set(re.findall(r"`?make ([a-z-]+)", document.read_text(encoding="utf-8"))):
        if target in {"a", "the", "it", "sure"}:
            continue
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), f"{document.name}: make {target}"


ASIDE = {"Reference", "Evidence", "Project"}  # parts of the site that the others link to


def main_path() -> list[Path]:
    """Return the files of the pages to read, as the site's navigation names them; a tutorial's is its notebook."""
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    parts = re.split(r"^  - ", text[text.index("\nnav:") :], flags=re.MULTILINE)[1:]
    read = [part for part in parts if part.partition(":")[0] not in ASIDE]
    pages = [ROOT / "docs" / name for name in re.findall(r"[\w/]+\.md", "".join(read))]
    return [page if page.exists() else ROOT / "notebooks" / f"{page.stem}.ipynb" for page in pages]


def words_of(page: Path) -> int:
    """Count the words of a page without its code."""
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".ipynb":
        text = "\n".join(
            "".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "markdown"
        )
    return len(re.sub(r"```.*?```", "", text, flags=re.DOTALL).split())


def test_the_main_path_of_the_site_stays_short() -> None:
    """Start, tutorials, guides and what happens when: proofs and pages to look things up in stand apart."""
    pages = main_path()
    assert len(pages) > 20
    assert sum(map(words_of, pages)) <= 15_000, {page.name: words_of(page) for page in pages}


def test_the_readme_stays_short() -> None:
    """The first screens show an example, what comes of it and a picture."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.split()) <= 900
    first = "".join(text.splitlines(keepends=True)[:60])
    assert all(sign in first for sign in ("```python", "|---|", "!["))
