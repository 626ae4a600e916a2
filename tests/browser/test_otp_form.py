"""The passcode form in JupyterLab, driven as its user would: mouse, keyboard, three themes, three widths."""

from __future__ import annotations

from typing import Any

from .conftest import THEMES, Lab, Notebook, axe_findings, cut_texts

FORM = """
from smsotp_nb._sandbox import Sandbox
from smsotp_nb.widgets import OtpForm
box = Sandbox()
form = OtpForm(box.client(), resend_wait=0)
form
"""
WIDTHS = (390, 760, 1280)


def shown(notebook: Notebook, lab: Lab, theme: str = THEMES[0]) -> Any:
    """Open a notebook with the form and return the card."""
    notebook.open(lab.write("form.ipynb", FORM), theme).run_all()
    card = notebook.page.locator(".smsotp-form")
    card.wait_for()
    return card


def click(card: Any, name: str) -> None:
    card.get_by_role("button", name=name, exact=True).click()


def send(card: Any, number: str = "+1 415 555 0100") -> str:
    """Ask for a code and return it as the inbox shows it."""
    card.get_by_label("Phone number", exact=True).fill(number)
    click(card, "Send code")
    card.get_by_text("Accepted for").wait_for()
    return str(card.locator(".smsotp-mail b").first.inner_text())


def fits(notebook: Notebook) -> dict[int, list[str]]:
    found = {}
    for pixels in WIDTHS:
        notebook.width(pixels)
        found[pixels] = cut_texts(notebook.page)
    return {pixels: cut for pixels, cut in found.items() if cut}


def test_every_state_is_legible_in_every_theme_and_nothing_jumps(notebook: Notebook, lab: Lab) -> None:
    """The theme changes under a form that is in use, without running it again."""
    card = shown(notebook, lab)
    states = [look(notebook, card)]
    code = send(card)
    states.append(look(notebook, card))
    card.get_by_label("Code from the message").fill("000000" if code != "000000" else "111111")
    click(card, "Verify")
    card.get_by_text("Wrong code").wait_for()
    states.append(look(notebook, card))
    assert fits(notebook) == {}
    card.get_by_label("Code from the message").fill(code)
    click(card, "Verify")
    card.get_by_text("Verified +14155550100").wait_for()
    states.append(look(notebook, card))
    assert fits(notebook) == {}
    assert [findings for findings, _ in states] == [[]] * 4
    assert len({height for _, height in states}) == 1


def look(notebook: Notebook, card: Any) -> tuple[list[str], float]:
    """Return what axe-core objects to in each theme, and the card's height."""
    findings = []
    for theme in THEMES:
        notebook.theme(theme)
        findings += [f"{theme}: {found}" for found in axe_findings(notebook.page)]
    return findings, card.bounding_box()["height"]


def test_the_keyboard_alone_is_enough_and_no_key_reaches_the_notebook(notebook: Notebook, lab: Lab) -> None:
    card = shown(notebook, lab)
    page = notebook.page
    before = notebook.cells()
    card.get_by_label("Phone number", exact=True).focus()
    page.keyboard.type("+14155550100")
    card.get_by_text("✓ United States, +14155550100").wait_for()
    for _ in range(4):  # channel, digits, intent, more options
        page.keyboard.press("Tab")
        page.keyboard.press("d")
        page.keyboard.press("d")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    card.get_by_text("Accepted for").wait_for()
    code = card.locator(".smsotp-mail b").first.inner_text()
    page.keyboard.type(code)
    page.keyboard.press("Enter")
    card.get_by_text("Verified +14155550100").wait_for()
    page.wait_for_function("() => document.activeElement.textContent === 'Start over'")
    for key in ("d", "d", "x", "a", "0", "0"):
        page.keyboard.press(key)
    assert notebook.cells() == before
    assert card.get_by_text("Verified +14155550100").is_visible()
    assert notebook.kernel("form.steps.challenge.intent") == "'dd'"


def test_no_code_is_left_in_a_saved_notebook(notebook: Notebook, lab: Lab) -> None:
    """Not even with "Save Widget State Automatically", and not while the page shows the code."""
    card = shown(notebook, lab)
    notebook.command("@jupyter-widgets/jupyterlab-manager:saveWidgetState")
    code = send(card)
    assert code == eval(notebook.kernel("box.code('+14155550100')"))
    while_open = saved(notebook, lab)
    card.get_by_label("Code from the message").fill(code)
    click(card, "Verify")
    card.get_by_text("Verified +14155550100").wait_for()
    assert card.locator(".smsotp-mail b").first.inner_text() == "••••••"
    for text in (while_open, saved(notebook, lab)):
        assert "application/vnd.jupyter.widget-state+json" in text
        assert code not in text


def saved(notebook: Notebook, lab: Lab) -> str:
    notebook.command("docmanager:save")
    return (lab.folder / "notebooks" / "form.ipynb").read_text(encoding="utf-8")


def test_the_passcode_notebook_runs_and_its_form_works(notebook: Notebook) -> None:
    notebook.open("notebooks/otp_demo.ipynb", THEMES[1]).run_all()
    card = notebook.page.locator(".smsotp-form")
    code = send(card)
    card.get_by_label("Code from the message").fill(code)
    click(card, "Verify")
    card.get_by_text("Verified +14155550100").wait_for()
