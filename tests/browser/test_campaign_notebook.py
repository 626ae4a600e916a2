"""The campaign notebook in JupyterLab, as an analyst runs it: from the list to the cost, and Run All once more."""

from __future__ import annotations

from .conftest import Notebook

CARDS = ".smsotp-card"
LENGTH = """() => Array.from(document.querySelectorAll('.jp-Notebook .jp-Cell'))
  .map(cell => cell.getBoundingClientRect().height).reduce((all, height) => all + height, 0)"""


def test_the_campaign_notebook_runs_and_running_it_again_texts_nobody(notebook: Notebook) -> None:
    notebook.open("notebooks/campaign.ipynb").run_all()
    page = notebook.page
    page.locator(CARDS, has_text="Nothing has been sent.").wait_for()
    sent = notebook.kernel("len(box.inbox)")
    assert int(sent) > 100
    assert page.evaluate(LENGTH) <= 5_000  # pixels; what is longer is not read
    notebook.run_all()
    assert notebook.kernel("len(box.inbox)") == sent
    assert notebook.kernel("box.inbox['to'].is_unique") == "True"
    assert notebook.look(CARDS) == []
