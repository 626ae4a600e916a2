"""The passcode form in JupyterLab, driven as its user would: mouse, keyboard, three themes, three widths."""

from __future__ import annotations

import re
from typing import Any

from .conftest import Lab, Notebook, expect

FORM = """
from smsotp_nb.sandbox import Sandbox
from smsotp_nb.widgets import OtpForm
box = Sandbox()
form = OtpForm(box.client(), resend_wait=0)
form
"""
FOCUSED = """() => {
  const part = document.activeElement;
  return part === document.body ? "the page" : part.labels?.[0]?.textContent || part.textContent;
}"""
IN_FORM = "() => !!document.activeElement.closest('.smsotp-form .smsotp-head, .smsotp-form > :has(.smsotp-head)')"


def shown(notebook: Notebook, lab: Lab) -> Any:
    """Open a notebook with the form and return the card."""
    notebook.open(lab.write("form.ipynb", FORM)).run_all()
    card = notebook.page.locator(".smsotp-otp")
    card.wait_for()
    return card


def click(card: Any, name: str) -> None:
    card.get_by_role("button", name=name, exact=True).click()


def send(card: Any, number: str = "+1 415 555 0100") -> str:
    """Ask for a code and return it as the inbox shows it."""
    card.get_by_label("Phone number", exact=True).fill(number)
    card.get_by_label("Phone number", exact=True).press("Enter")
    card.get_by_text("Accepted for").wait_for()
    expect(card.get_by_label("Code from the message")).to_have_attribute("autocomplete", "one-time-code")
    return open_code(card)


def open_code(card: Any) -> str:
    """Return the code that the inbox shows, once the page has written it in place of the dots."""
    card.locator(".smsotp-mail b").filter(has_text=re.compile(r"^[0-9]+$")).first.wait_for()
    return str(card.locator(".smsotp-mail b").first.inner_text())


def enter(card: Any, code: str) -> None:
    card.get_by_label("Code from the message").fill(code)
    click(card, "Verify")


def wrong(code: str) -> str:
    return "000000" if code != "000000" else "111111"


def verified(card: Any, masked: str = "+1415...0100") -> None:
    card.locator(".smsotp-big").filter(has_text="Verified").wait_for()
    card.get_by_text(f"The service confirmed the code for {masked} at").wait_for()


def focused(page: Any) -> str:
    """Return the label of what has the focus: the text of a button, the label of a field."""
    return str(page.evaluate(FOCUSED))


def wait_for_focus(page: Any, label: str) -> None:
    """Wait until the focus is at what has this label: a form moves it after the words that a test waits for."""
    page.wait_for_function(f"label => ({FOCUSED})() === label", arg=label)


def test_a_wrong_code_an_expired_one_and_a_new_one(notebook: Notebook, lab: Lab) -> None:
    """In each state nothing is cut or jumps, axe finds nothing in any theme, and the focus is at the next field."""
    card = shown(notebook, lab)
    states = [look(notebook, card)]
    code = send(card)
    states.append(look(notebook, card))
    enter(card, wrong(code))
    card.get_by_text("The service says that the code does not match. Check it and try again; 4 tries").wait_for()
    wait_for_focus(notebook.page, "Code from the message")
    states.append(look(notebook, card))
    notebook.kernel("box.advance(361)")
    card.get_by_text("By the sandbox's clock this passcode has expired").wait_for()
    enter(card, code)
    card.get_by_text("it was sent 6 minutes ago and was valid for 5 minutes: it has most likely expired").wait_for()
    states.append(look(notebook, card))
    click(card, "Send a new code")
    card.get_by_text("Accepted for").wait_for()
    wait_for_focus(notebook.page, "Code from the message")
    again = notebook.kernel("box.code('+14155550100')").strip("'")
    enter(card, f"{again[:3]} {again[3:]}")
    verified(card)
    wait_for_focus(notebook.page, "Start over")
    states.append(look(notebook, card))
    assert [findings for findings, _ in states] == [[]] * len(states)
    assert len({height for _, height in states}) == 1


def test_a_pause_that_is_asked_for_and_a_reply_that_is_lost(notebook: Notebook, lab: Lab) -> None:
    """The pause counts down, goes over, or is ended; in doubt the inbox shows the code that is asked for."""
    card = shown(notebook, lab)
    card.get_by_label("Phone number", exact=True).fill("+1 415 555 0100")
    notebook.kernel("box.fault('throttle', next=1, seconds=4)")
    click(card, "Send code")
    card.get_by_text("The service asks to wait: 0:0").wait_for()
    wait_for_focus(notebook.page, "Stop waiting")
    expect(card.get_by_role("button", name="Send code in 0:0")).to_be_disabled()
    card.get_by_text("The pause that the service asked for is over. Try again.").wait_for()
    notebook.page.wait_for_function(IN_FORM)  # not on "Send code": a key meant for the other button would send
    notebook.kernel("box.fault('throttle', next=1, seconds=200)")
    click(card, "Send code")
    card.get_by_text("The service asks to wait: 3:").wait_for()
    assert notebook.look() == []
    click(card, "Stop waiting")
    card.get_by_text("You stopped waiting.").wait_for()
    assert notebook.kernel("len(box.inbox)") == "0"
    notebook.kernel("box.fault('drop_after', next=1)")
    click(card, "Send code")
    card.get_by_text("the passcode may or may not have been sent. Look in the inbox").wait_for()
    enter(card, open_code(card))
    verified(card)
    assert notebook.kernel("len(box.inbox)") == "1"


def look(notebook: Notebook, card: Any) -> tuple[list[str], float]:
    """Return what a look finds, and the card's height."""
    return notebook.look(), card.bounding_box()["height"]


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
    wait_for_focus(page, "Code from the message")
    page.keyboard.type(open_code(card))
    page.keyboard.press("Enter")
    verified(card)
    wait_for_focus(page, "Start over")
    for key in ("d", "d", "x", "a", "0", "0"):
        page.keyboard.press(key)
    assert notebook.cells() == before
    expect(card.locator(".smsotp-big")).to_be_visible()
    assert notebook.kernel("form.steps.challenge.intent") == "'dd'"


def test_neither_code_nor_number_is_left_in_a_saved_notebook(notebook: Notebook, lab: Lab) -> None:
    """Not even with "Save Widget State Automatically", and not while the page shows the code."""
    card = shown(notebook, lab)
    notebook.save_widgets()
    code = send(card, "+1 202 555 0123")
    assert code == notebook.kernel("box.code('+12025550123')").strip("'")
    while_open = notebook.saved()
    field = card.get_by_label("Code from the message")
    field.fill(code)
    field.blur()
    expect(field).to_have_attribute("placeholder", "6 digits typed")
    typed = notebook.saved()
    click(card, "Verify")
    verified(card, "+1202...0123")
    card.locator(".smsotp-mail b").filter(has_text="••••••").first.wait_for()
    for text in (while_open, typed, notebook.saved()):
        assert "application/vnd.jupyter.widget-state+json" in text
        assert code not in text
        assert "2025550123" not in re.sub("[ ()+-]", "", text)


def test_the_passcode_notebook_runs_and_its_form_works(notebook: Notebook) -> None:
    notebook.open("notebooks/otp_demo.ipynb").run_all()
    card = notebook.page.locator(".smsotp-otp").first  # the form, before the presenter
    enter(card, send(card))
    verified(card)
