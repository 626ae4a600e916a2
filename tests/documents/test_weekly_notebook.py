"""The weekly campaign in kernel after kernel: new people, changed words, new opt-outs, and another week."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest
from support.notebooks import copied, execute, read

from .test_notebooks import keeps_no_secret

KEEP = """import pathlib
box.inbox[["to", "text"]].to_csv("inbox.csv", index=False)
campaign.results.assign(words=campaign.results["message"].map(campaign.messages["words"])).to_csv("rows.csv")"""
MINE = "+12025550199"


def ran(
    folder: Path, *, week: str = "2026-49", corrected: str = "einlösbar bis", warned: bool = True
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Run the notebook in a fresh kernel; return who has which text in the inbox, and the campaign's rows."""
    notebook = read(folder / "weekly_campaign.ipynb", KEEP)
    for cell in notebook.cells:
        cell.source = cell.source.replace("2026-49", week).replace("einlösbar bis", corrected)
    keeps_no_secret(execute(notebook, folder, home=folder.parent), [], "weekly_campaign" if warned else "")
    inbox = pd.read_csv(folder / "inbox.csv", dtype=str)
    return inbox[inbox["to"].ne(MINE)], pd.read_csv(folder / "rows.csv", dtype=str)


def equal_inbox(inbox: pd.DataFrame, rows: pd.DataFrame) -> None:
    """The text that a person has is that of the words which the person's accepted row names, and of no others."""
    texted = rows[rows["status"].eq("accepted")].set_index("to")["words"]
    has = inbox.set_index("to")["text"]
    assert sorted(texted.index) == sorted(has.index)
    for number, words in texted.items():
        literals = re.split(r"\{.*?\}", words)
        assert re.fullmatch(".+?".join(map(re.escape, literals)), has[number]), (words, has[number])


@pytest.mark.notebook
def test_in_every_kernel_each_customer_has_one_text_and_the_right_one(tmp_path: Path) -> None:
    folder = copied(tmp_path)
    first, rows = ran(folder)
    assert len(first) == 54
    assert first["to"].is_unique
    assert first["text"].str.contains("Punkte sind .*, bis ").sum() == 20, "the first twenty have the typo"
    assert first["text"].str.contains("einlösbar bis").sum() == 11
    equal_inbox(first, rows)
    texts = first.set_index("to")["text"]
    assert texts["+491713920000"] == "[Acme] Hallo Jörg, 473 Punkte sind 2,37 €, bis 6. Dezember."
    assert texts["+12025550100"].startswith("[Acme] Hi Ann, ")
    assert texts["+12025550100"].endswith(", to spend until December 6.")

    lists = folder.parent / "sample_data"
    with (lists / "customers.csv").open("a", encoding="utf-8") as people:
        people.write(
            "1099;Udo;+49 171 3920098;de;400;2.00;2026-12-06\n1100;Eva;+49 171 3920099;de;80;0.40;2026-12-06\n"
        )
    with (lists / "customers_stop.csv").open("a", encoding="utf-8") as stop:
        stop.write("+49 171 3920099\n")
    second, rows = ran(folder, corrected="noch bis")
    assert second["to"].is_unique, "a second kernel texts nobody twice"
    new = second[~second["to"].isin(first["to"])]
    assert new["to"].tolist() == ["+491713920098"], "who said stop is not texted, who is new is"
    assert "noch bis" in new["text"].iloc[0]
    equal_inbox(second, rows)

    third, rows = ran(folder, week="2026-50", warned=False)
    assert len(third) == len(second), "the cap holds everybody back in the same five days"
    assert set(rows["problem"].dropna()) == {"CAPPED", "SAME_TEXT", "SUPPRESSED"}
