"""Documents are tests: the README's Python runs, its commands exist, and what it links to is there."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import pandas as pd
import pytest

import smsotp_nb as sms
from smsotp_nb.errors import SmsOtpWarning

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_the_readme_runs_from_top_to_bottom(box: sms.Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every Python block of the README runs in order, the live one against a sandbox given by the environment."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("SMSOTP_BASE_URL", box.url)
    monkeypatch.setenv("SMSOTP_ACCESS_KEY_ID", "a-key-of-nobody")
    names: dict[str, object] = {}
    blocks = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert len(blocks) >= 3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmsOtpWarning)
        for block in blocks:
            exec(compile(block, "README.md", "exec"), names)
    results = names["results"]
    assert isinstance(results, pd.DataFrame)
    assert (results["status"] == "accepted").sum() + 1 == len(box.inbox), "the campaign, and one test to oneself"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document: Path) -> None:
    """A relative link or picture names a file of the project."""
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", document.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (document.parent / target).exists(), f"{document.name} links to {target}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_make_targets_exist(document: Path) -> None:
    """A documented make target is in the Makefile."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in set(re.findall(r"`?make ([a-z-]+)", document.read_text(encoding="utf-8"))):
        if target in {"a", "the", "it", "sure"}:
            continue
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), f"{document.name}: make {target}"
