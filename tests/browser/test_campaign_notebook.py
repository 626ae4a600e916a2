"""The campaign notebook in JupyterLab, as an analyst reads it: from the list to the cost."""

from __future__ import annotations

from .conftest import Notebook

CARDS = ".smsotp-card"
LENGTH = """() => Array.from(document.querySelectorAll('.jp-Notebook .jp-Cell'))
  .map(cell => cell.getBoundingClientRect().height).reduce((all, height) => all + height, 0)"""


def test_the_campaign_notebook_can_be_read_from_top_to_bottom(notebook: Notebook) -> None:
    notebook.open("notebooks/campaign.ipynb").run_all()
    page = notebook.page
    page.locator(CARDS, has_text="Nothing has been sent.").wait_for()
    assert int(notebook.kernel("len(box.inbox)")) > 100
    assert page.evaluate(LENGTH) <= 5_000  # pixels; what is longer is not read
    assert notebook.kernel("box.inbox['to'].is_unique") == "True"
    assert notebook.look(CARDS) == []
