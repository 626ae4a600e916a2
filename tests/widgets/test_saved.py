"""What a notebook keeps of a form: where it stands in words, brought up to date, and nothing that was typed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd
import pytest
from support.notebooks import execute
from support.notebooks import written as notebook_of

from smsotp_nb import Client, Ledger, Sandbox
from smsotp_nb.otp import Request
from smsotp_nb.widgets import CampaignForm, CampaignsPage, InboxView, OtpForm, OtpPresenter, PhoneCleaner

WIDGET = "application/vnd.jupyter.widget-view+json"
PEOPLE = pd.DataFrame({"phone": [f"+1 202 555 01{number:02d}" for number in range(10)] + ["nobody"]})
TYPED = "canary-4711"


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    with Sandbox() as made:
        yield made


def written(form: CampaignForm) -> CampaignForm:
    form.fields.campaign.value, form.fields.words.value, form.fields.kind.value = "hello", f"Hi {TYPED}", "text"
    return form


def checked(form: CampaignForm) -> CampaignForm:
    written(form).steps.check(form._choices())
    return form


def first_sent(form: CampaignForm) -> CampaignForm:
    form.sending.guard_fields["canary"].value = 4
    checked(form).steps.send(form.sending.guards())
    return form


def rewriting(form: CampaignForm) -> CampaignForm:
    first_sent(form).steps.back()
    return form


def sent(form: CampaignForm) -> CampaignForm:
    checked(form).steps.send(form.sending.guards())
    return form


@pytest.mark.filterwarnings("ignore::smsotp_nb.errors.SmsOtpWarning")
@pytest.mark.parametrize(
    ("drive", "says", "not_said"),
    [
        (written, ("Campaign form", "Run this cell to use it."), "At step"),
        (checked, ("At step Check on 2", "Nothing has been sent.", "Run this cell again to go on."), "Write"),
        (first_sent, ("4  accepted", "6  to go", "Run this cell again to go on."), "At step"),
        (rewriting, ("At step Write on 2", "4 of this campaign were texted", "for the other 6"), "Nothing has been"),
        (sent, ("10  accepted", " 0  to go", " 1  left out", "recorded in the ledger"), "At step"),
    ],
)
def test_a_campaign_form_is_kept_where_it_stands(
    drive: Callable[[CampaignForm], CampaignForm],
    says: tuple[str, ...],
    not_said: str,
    client: Client,
    ledger: Ledger,
) -> None:
    """Never at an earlier step than it has reached, and nothing of the text."""
    kept = drive(CampaignForm(PEOPLE, client=client, ledger=ledger))._saved().text()
    assert [words for words in says if words not in kept] == []
    assert not_said not in kept
    assert TYPED not in kept
    assert "555" not in kept


def test_a_passcode_form_is_kept_without_number_and_code(box: Sandbox) -> None:
    form = OtpForm(box)
    assert form._saved().text() == "One-time passcode\n\nRun this cell to use it."
    form.steps.send(Request("+12025550123"))
    code = box.code("+12025550123") or ""
    assert "At step Enter code on 2" in form._saved().text()
    form.steps.verify(code)
    kept = form._saved().text()
    assert "✓ Verified +1202...0123 on 2" in kept
    assert code not in kept
    assert "+12025550123" not in kept


def test_a_cleaner_is_kept_with_its_counts() -> None:
    kept = PhoneCleaner(PEOPLE).settle()._saved().text()
    assert "11 rows" in kept
    assert "10  fixed" in kept
    assert "555" not in kept


FORMS: dict[str, Callable[[Sandbox, Ledger], Any]] = {
    "<CampaignForm at step 'Write'; run the cell to use it>": lambda box, ledger: CampaignForm(
        PEOPLE, client=box, ledger=ledger
    ),
    "<CampaignsPage; run the cell to use it>": lambda _, ledger: CampaignsPage(ledger),
    "<InboxView; run the cell to use it>": lambda box, _: InboxView(box),
    "<OtpForm at step 'Request'; run the cell to use it>": lambda box, _: OtpForm(box),
    "<OtpPresenter at step 'Request'; run the cell to use it>": lambda box, _: OtpPresenter(box.client()),
    "<PhoneCleaner of 11 rows; run the cell to use it>": lambda *_: PhoneCleaner(PEOPLE),
}


@pytest.mark.parametrize(("said", "made"), FORMS.items(), ids=FORMS)
def test_the_saved_output_names_the_form_and_nothing_else(
    said: str, made: Callable[[Sandbox, Ledger], Any], box: Sandbox, ledger: Ledger
) -> None:
    form = made(box, ledger)
    assert form._repr_mimebundle_()["text/plain"] == repr(form) == said
    assert set(form._repr_mimebundle_()) == {"text/plain", WIDGET}
    assert "+1 202" not in form._saved().text()


def test_the_card_is_hidden_where_the_form_is_live_and_only_there(box: Sandbox) -> None:
    """The style names this one form; the text of the form's own output is empty, for the card says it all."""
    one, other = OtpForm(box), OtpForm(box)
    marks = [f"smsotp-of-{form.widget.model_id}" for form in (one, other)]
    assert marks[0] != marks[1]
    kept = shown(one)
    assert set(kept[0]) == {"text/html", "text/plain"}
    assert f"body:has(.smsotp-form.{marks[0]}:not(.jupyter-widgets-disconnected))" in kept[0]["text/html"]
    assert marks[1] not in kept[0]["text/html"]
    assert marks[0] in one.widget._dom_classes
    assert kept[1][WIDGET]["model_id"] == one.widget.model_id
    assert kept[1]["text/plain"] == ""


def shown(form: Any) -> list[dict[str, Any]]:
    """Return the outputs that IPython is given for a form."""
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output

    InteractiveShell.instance()
    try:
        with capture_output() as caught:
            form._ipython_display_()
        return [output.data for output in caught.outputs]
    finally:
        InteractiveShell.clear_instance()


CELLS = (
    "import threading, time, pandas as pd, smsotp_nb as sms\n"
    "from smsotp_nb.widgets import CampaignForm\n"
    "from smsotp_nb import Ledger, Sandbox\n"
    "people = pd.DataFrame({'phone': [f'+1 202 555 01{n:02d}' for n in range(10)]})\n"
    "box = Sandbox()",
    "form = CampaignForm(people, client=box, ledger=Ledger('ledger.sqlite', create=True))\nform",
    "form.fields.campaign.value, form.fields.words.value, form.fields.kind.value = 'hello', 'Hi', 'text'\n"
    "form.write.check_button.click()\n"
    "while form.steps.stage != 'planned': time.sleep(0.05)\n"
    "form.sending.send_button.click()\n"
    "while form.steps.stage != 'done': time.sleep(0.05)\n"
    "for work in threading.enumerate():\n"
    "    if work.name == 'smsotp-form': work.join()",
)


@pytest.mark.notebook
def test_the_saved_output_follows_the_form(tmp_path: Any) -> None:
    """A kernel and a notebook: buttons are pressed in another cell, and the cell of the form tells the end."""
    kept, live = execute(notebook_of(*CELLS), tmp_path)["cells"][1]["outputs"]
    assert "10  accepted" in "".join(kept["data"]["text/plain"])
    assert "Write" not in json.dumps(kept)
    assert WIDGET in live["data"]
