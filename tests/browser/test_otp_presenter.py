"""The presenter in JupyterLab: by mouse and by keyboard, three themes, from a phone's width to a projector's."""

from __future__ import annotations

from typing import Any

from .conftest import Lab, Notebook, cut_texts
from .test_otp_form import IN_FORM, click, enter, focused, open_code, verified, wait_for_focus

PRESENTER = """
from smsotp_nb import Sandbox
from smsotp_nb.widgets import OtpPresenter
box = Sandbox()
presenter = OtpPresenter(box, resend_wait=0)
presenter
"""


def shown(notebook: Notebook, lab: Lab) -> Any:
    notebook.open(lab.write("presenter.ipynb", PRESENTER)).run_all()
    card = notebook.page.locator(".smsotp-presenter")
    card.wait_for()
    return card


def test_a_presentation_by_mouse(notebook: Notebook, lab: Lab) -> None:
    """A lost reply, an expired code, a locked passcode; every request and reply is beside the form; then a reset."""
    card = shown(notebook, lab)
    log = card.locator(".smsotp-log")
    click(card, "Lose the next reply")
    card.get_by_text("The next request will be accepted, and its reply lost.").wait_for()
    card.get_by_label("Phone number", exact=True).fill("+1 415 555 0100")
    click(card, "Send code")
    log.get_by_text("1. otp.send → raises InDoubt").wait_for()
    card.get_by_text("after the sandbox had accepted it").wait_for()
    code = open_code(card)
    click(card, "Let the code expire")
    card.get_by_text("By the sandbox's clock this passcode has expired").wait_for()
    enter(card, code)
    log.get_by_text("2. otp.verify → False").wait_for()
    assert notebook.look() == []
    click(card, "Send a new code")
    log.get_by_text("3. otp.send → a Challenge").wait_for()
    click(card, "Use up the wrong codes")
    card.get_by_text("5 wrong codes were checked").wait_for()
    enter(card, notebook.kernel("box.code('+14155550100')").strip("'"))
    log.get_by_text("9. otp.verify → False").wait_for()
    assert code not in log.inner_text()
    assert "14155550100" not in log.inner_text()
    click(card, "Reset")
    card.get_by_text("Nothing was asked of the service yet.").wait_for()
    wait_for_focus(notebook.page, "Phone number")
    assert notebook.kernel("(len(box.inbox), box.faults, abs(box._ahead) < 1)") == "(0, (), True)"
    assert notebook.look() == []


def test_a_presentation_by_keyboard(notebook: Notebook, lab: Lab) -> None:
    """Throttled, waited for, sent, verified; the focus is never on the page, and no key reaches the notebook."""
    card = shown(notebook, lab)
    page, cells = notebook.page, notebook.cells()
    card.get_by_role("button", name="Let the code expire").focus()
    page.keyboard.press("Enter")
    card.get_by_text("No code is open. Send one first.").wait_for()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    wait_for_focus(notebook.page, "Throttle the next request")
    page.keyboard.press("Space")
    card.get_by_text("The next request will be refused").wait_for()
    for _ in range(3):  # use up, reset, phone
        page.keyboard.press("Tab")
    page.keyboard.type("+14155550100")
    card.get_by_text("✓ United States, +14155550100").wait_for()
    for _ in range(5):  # channel, digits, intent, more options, send
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    wait_for_focus(page, "Stop waiting")
    assert cut_texts(page) == []
    page.keyboard.press("d")
    page.keyboard.press("d")
    page.wait_for_function(IN_FORM)  # ten seconds later
    while focused(page) != "Send code":
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    card.get_by_text("Accepted for").wait_for()
    wait_for_focus(page, "Code from the message")
    page.keyboard.type(open_code(card))
    page.keyboard.press("Enter")
    verified(card)
    wait_for_focus(page, "Start over")
    assert notebook.cells() == cells
