"""What the package writes by itself is for its owner alone, even where the umask allows everybody everything."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from smsotp_nb import Folder, Ledger, Sandbox, plan, send
from smsotp_nb import __main__ as cli
from smsotp_nb.errors import LedgerError
from smsotp_nb.widgets import CampaignForm

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes"),
    pytest.mark.usefixtures("everybody_may_do_everything"),
]
PEOPLE = pd.DataFrame({"phone": [f"+1202555{n:04}" for n in range(100, 120)]})


@pytest.fixture
def everybody_may_do_everything() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def too_open(folder: Path) -> dict[str, str]:
    """Return the files and folders under a folder that somebody else may read, write or enter, with their modes."""
    found = {path.relative_to(folder): stat.S_IMODE(path.lstat().st_mode) for path in folder.rglob("*")}
    return {str(path): oct(mode) for path, mode in found.items() if mode & 0o077}


def test_ledger_marks_locks_backups_drafts_and_sandbox_are_for_their_owner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("XDG_STATE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "own" / name))
    monkeypatch.delenv("SMSOTP_LEDGER")
    with Sandbox(state=tmp_path / "box.sqlite") as box:
        ledger = Ledger()
        made = plan(PEOPLE, "Hello!", to="phone", campaign="autumn")
        send(made, client=box.client(), ledger=ledger, progress=False)
        assert len(list(ledger.path.parent.iterdir())) >= 4  # with its log, its memory, its mark, its locks
        form = CampaignForm(PEOPLE, client=box.client(), ledger=ledger)
        form.fields.campaign.value = "spring"
        form._latest.settle()
        assert list(ledger.path.parent.glob("*-drafts/*"))
        backup = ledger.backup(tmp_path / "backups" / "b.sqlite")
        assert too_open(tmp_path) == {}
        ledger.close()
        Ledger.restore(backup, accept_older=True).close()
    assert too_open(tmp_path) == {}


def test_the_folder_of_a_plan_larger_than_memory_is_for_its_owner(tmp_path: Path) -> None:
    (tmp_path / "list").mkdir()
    PEOPLE.to_parquet(tmp_path / "list" / "people.parquet")
    plan(Folder(tmp_path / "list", into=tmp_path / "own"), "Hello!", to="phone", campaign="autumn")
    assert set(too_open(tmp_path)) == {"list", "list/people.parquet"}
    assert len(list((tmp_path / "own").iterdir())) == 3


def test_a_planted_link_is_not_written_through(tmp_path: Path) -> None:
    """A backup or a new ledger is not put where a link of somebody else leads."""
    theirs = tmp_path / "theirs"
    theirs.write_text("theirs")
    ledger = Ledger(tmp_path / "l.sqlite", create=True)
    (tmp_path / "b.sqlite").symlink_to(theirs)
    with pytest.raises(LedgerError, match="already exists"):
        ledger.backup(tmp_path / "b.sqlite")
    (tmp_path / "new.sqlite").symlink_to(tmp_path / "nowhere" / "new.sqlite")
    with pytest.raises(LedgerError):
        Ledger(tmp_path / "new.sqlite", create=True)
    (tmp_path / "m.sqlite-mark").symlink_to(theirs)
    with pytest.raises(LedgerError, match="-mark is a link"):
        Ledger(tmp_path / "m.sqlite", create=True)
    assert theirs.read_text() == "theirs"


PAGE = Path(__file__).parents[2] / "docs" / "guides" / "privacy.md"


def test_the_demo_leaves_what_the_page_names(tmp_path: Path) -> None:
    assert cli.main(["demo", "--ledger", str(tmp_path / "ledger.sqlite")]) == 0
    assert (tmp_path / "ledger.sqlite-demo-sandbox").is_file()
    assert too_open(tmp_path) == {}
    assert "`ledger.sqlite-demo-sandbox`" in PAGE.read_text(encoding="utf-8")
