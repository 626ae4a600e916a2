"""What a button says is what it does: changes that come with the press, late presses, and files that are refused."""

from __future__ import annotations

import html
import threading
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from support.forms import join, waited, written
from support.uploads import taken, upload

import smsotp_nb as sms
from smsotp_nb import Client, Ledger, Sandbox
from smsotp_nb._widgets import lists, skin
from smsotp_nb._widgets.controls import Pinned
from smsotp_nb._widgets.settling import Doubts
from smsotp_nb._widgets.stages import Work
from smsotp_nb.errors import UsageError
from smsotp_nb.widgets import CampaignForm, CampaignsPage, OtpForm, PhoneCleaner

pytestmark = pytest.mark.filterwarnings("ignore::smsotp_nb.errors.SmsOtpWarning")
RATES = pd.DataFrame({"iso": ["US"], "currency": "USD", "price": ["0.0075"]})
PEOPLE = pd.DataFrame({"phone": [f"+1 202 555 01{n:02d}" for n in range(12)], "name": [f"P{n}" for n in range(12)]})
ANOTHER = "had changed when you pressed it"


@pytest.fixture
def form(client: Client, ledger: Ledger) -> Iterator[CampaignForm]:
    """A form with a plan of twelve messages."""
    made = written(waited(CampaignForm(PEOPLE, client=client, ledger=ledger, rates=RATES)))
    made.write.check_button.click()
    assert made.sending.send_button.description.startswith("Send 12 messages")
    yield made
    made._latest.settle()


def label(pinned: Pinned) -> str:
    """Return the number of a label, as the page reads it."""
    names = [name for name in pinned.button._dom_classes if name.startswith("smsotp-label-")]
    return names[0].rpartition("-")[2] if names else ""


def press(pinned: Pinned, seen: str = "") -> None:
    """Press a button as the page does: it tells which label was there."""
    pinned._telling.value = f"{seen or label(pinned)} {datetime.now(UTC).timestamp()}"
    join()


# -- the button


def test_a_press_for_a_label_that_is_gone_does_nothing_and_says_so() -> None:
    done, stale = list[int](), list[str]()
    pinned = Pinned("Send")
    pinned.does(done.append, work=Work(print), stale=lambda: stale.append("stale"))
    pinned.offer("Send 12", 12)
    seen = label(pinned)
    pinned.offer("Send 5", 5)
    press(pinned, seen)
    assert (done, stale) == ([], ["stale"])
    pinned.offer("Send 12", 12)  # as it was: yet somebody else may have looked at it in between
    press(pinned, seen)
    assert (done, stale) == ([], ["stale", "stale"])
    press(pinned)
    assert done == [12]


def test_a_second_press_does_nothing_while_and_after_the_first() -> None:
    done, stale, go, work = list[int](), list[str](), threading.Event(), Work(print)
    pinned = Pinned("Send")
    pinned.does(lambda what: (go.wait(30), done.append(what))[1], work=work, stale=lambda: stale.append("stale"))
    pinned.offer("Send 5", 5)
    seen = label(pinned)
    for _ in range(2):
        pinned._telling.value = f"{seen} {datetime.now(UTC).timestamp()}"
    go.set()
    work.settle()
    pinned.offer("Send the other 35", 35)
    press(pinned, seen)  # the second press of a double click, heard late
    assert (done, stale) == ([5], [])


@pytest.mark.parametrize("script", [True, False], ids=["a page with the script", "a page without it"])
def test_each_press_is_done_once(script: bool) -> None:
    done, stale, work = list[int](), list[str](), Work(print)
    pinned = Pinned("Write")
    pinned.does(done.append, work=work, stale=lambda: stale.append("stale"))
    pinned.offer("Write", 1)
    for moment in range(3):
        press(pinned) if script else pinned.button.click()
        work.settle()
        assert (done, stale) == ([1] * (moment + 1), [])


def test_a_press_while_the_outcome_is_shown_is_not_lost() -> None:
    """Whoever reads an outcome may press at once, before it is drawn to its end."""
    done, work = list[int](), Work(print)
    pinned = Pinned("Write")

    def move(what: int) -> Callable[[], None]:
        done.append(what)
        return pinned.button.click if len(done) == 1 else lambda: None

    pinned.does(move, work=work, stale=lambda: None)
    pinned.offer("Write", 5)
    pinned.button.click()
    for _ in range(2):
        work.settle()
    assert done == [5, 5]


def test_jobs_are_done_one_after_another_and_their_errors_told() -> None:
    told, done, work = list[str](), list[str](), Work(lambda words, sign: told.append(words))

    def fails(error: Exception) -> None:
        raise error

    work.begin("first", lambda: (threading.Event().wait(0.1), done.append("first"))[1])
    work.begin("second", lambda: done.append("second"))
    work.begin("third", lambda: fails(UsageError("the ledger is gone")))
    work.begin("fourth", lambda: fails(ZeroDivisionError()))
    work.settle()
    assert done == ["first", "second"]
    failed = "The form failed (ZeroDivisionError). Run the cell again."
    assert told == ["Nothing was changed. The ledger is gone.", failed]


def test_a_button_without_an_offer_does_nothing() -> None:
    done = list[int]()
    pinned = Pinned("Send")
    pinned.does(done.append, work=lambda job: job(), stale=lambda: done.append(-1))
    pinned.offer("Send 5", 5)
    pinned.offer("Send 5", None)
    press(pinned)
    assert done == []


# -- sending


def test_a_number_that_comes_with_the_press_is_shown_first(form: CampaignForm, box: Sandbox) -> None:
    seen = label(form.sending.send)
    form.sending.guard_fields["canary"].value = 5
    press(form.sending.send, seen)
    assert box.inbox.empty
    assert ANOTHER in form._notice.value
    assert form.sending.send_button.description == "Send the first 5 messages, about USD 0.0375"
    press(form.sending.send)
    assert len(box.inbox) == 5


LATE = {"words": "Bye", "campaign": "another", "phone": "name", "exclude": "nobody.csv"}
LATE_GUARDS = {"canary": 3, "budget": "USD 0.02", "speed": 1, "quiet_from": "21:00"}


@pytest.mark.parametrize(("name", "value"), (LATE | LATE_GUARDS).items())
def test_what_a_page_tells_after_the_press_sends_nothing_else(
    form: CampaignForm, box: Sandbox, monkeypatch: pytest.MonkeyPatch, name: str, value: Any
) -> None:
    """A page holds back what is typed while the kernel is busy: the press comes first, the field a moment later."""

    def settled(read: Callable[[], Any], *, wait: float) -> Any:
        (form.fields.kept | form.sending.guard_fields)[name].value = value
        return read()

    monkeypatch.setattr(skin, "settled", settled)
    press(form.sending.send)
    assert box.inbox.empty
    assert ANOTHER in form._notice.value


def test_a_press_behind_an_opt_out_is_not_for_the_new_count(form: CampaignForm, box: Sandbox) -> None:
    seen = label(form.sending.send)
    form.outcome.stop_number.value, form.outcome.stop_source.value = "+1 202 555 0103", "phone call"
    form.outcome.opt_out_button.click()
    assert form.sending.send_button.description.startswith("Send 11 messages")
    press(form.sending.send, seen)
    assert box.inbox.empty


def test_numbers_follow_each_key(form: CampaignForm) -> None:
    fields = [*form.sending.guard_fields.values()]
    assert all(getattr(field, "continuous_update", True) for field in fields)


def test_the_rest_that_another_process_changed_is_not_withdrawn(form: CampaignForm, ledger: Ledger) -> None:
    form.sending.guard_fields["canary"].value = 4
    press(form.sending.send)
    form.sending.withdraw_button.click()
    assert form.sending.sure_button.description == "Yes, withdraw 8"
    ledger.record("hello").withdraw(["+12025550111"])
    press(form.sending.sure)
    assert ledger.record("hello").counts["planned"] == 7
    assert "Nothing was changed. This campaign has changed meanwhile" in form._notice.value


# -- a list that is uploaded


def csv(rows: int) -> bytes:
    return PEOPLE.head(rows).to_csv(index=False).encode()


@pytest.fixture
def uploading(client: Client, ledger: Ledger) -> Iterator[CampaignForm]:
    """A form whose list is uploaded: ``first.csv`` with five rows."""
    made = written(waited(CampaignForm(client=client, ledger=ledger, rates=RATES)))
    upload(made.write.upload, "first.csv", csv(5))
    assert "List: first.csv, 5 rows." in made._head.value
    yield made
    made._latest.settle()


BAD = [("second.csv", b""), ("second.xlsx", b"no workbook"), ("second.csv", b"a,a\n1,2\n")]


@pytest.mark.parametrize(("name", "content"), BAD, ids=["empty", "no workbook", "twice a name"])
def test_a_refused_list_leaves_none_in_use(uploading: CampaignForm, box: Sandbox, name: str, content: bytes) -> None:
    upload(uploading.write.upload, name, content)
    assert name in uploading.write._read.value
    assert "No list is in use." in uploading._head.value
    assert uploading._choices().to == ""
    uploading.write.check_button.click()
    assert uploading.steps.stage == "write"
    assert "Choose the list of recipients." in uploading._notice.value
    press(uploading.sending.send)
    assert box.inbox.empty
    assert "first.csv" not in html.unescape(uploading._lines.value)


def test_a_reading_that_breaks_leaves_no_list_in_use(uploading: CampaignForm, monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(file: Path, how: Mapping[str, Any]) -> Any:
        raise MemoryError

    monkeypatch.setattr(lists, "_read", breaks)
    upload(uploading.write.upload, "second.csv", csv(3))
    assert "second.csv cannot be read. The form failed (MemoryError)" in uploading.write._read.value
    assert uploading.steps.listed() == "No list is in use."


@pytest.mark.parametrize("content", [b"", csv(3)], ids=["refused", "good"])
def test_a_file_that_arrives_after_the_plan_takes_the_plan_away(
    uploading: CampaignForm, box: Sandbox, content: bytes
) -> None:
    uploading.write.check_button.click()
    seen = label(uploading.sending.send)
    assert uploading.steps.stage == "planned"
    upload(uploading.write.upload, "second.csv", content)
    press(uploading.sending.send, seen)
    assert box.inbox.empty
    assert (uploading.steps.stage, uploading.steps.plan) == ("write", None)


def test_a_file_that_arrives_while_the_list_is_planned_is_not_taken(
    uploading: CampaignForm, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = uploading.steps._planned

    def planned(frame: pd.DataFrame, choices: Any) -> Any:
        upload(uploading.write.upload, "second.csv", csv(3))
        return make(frame, choices)

    monkeypatch.setattr(uploading.steps, "_planned", planned)
    uploading.write.check_button.click()
    assert "second.csv was not taken" in uploading.write._read.value
    assert "List: first.csv, 5 rows." in uploading.write._read.value
    assert uploading.sending.send_button.description.startswith("Send 5 messages")


def test_another_list_replaces_all_that_came_after_the_first(uploading: CampaignForm, box: Sandbox) -> None:
    form = uploading
    form.write.check_button.click()
    form.sending.guard_fields["canary"].value = 2
    press(form.sending.send)
    form.sending.back_button.click()
    form.sending.guard_fields["canary"].value, form.sending.typed.value, form.sending.reason.value = 2, "2", "typo"
    assert form.fields.phone.disabled
    mobiles = PEOPLE.tail(6).rename(columns={"phone": "mobile"})
    upload(form.write.upload, "second.csv", mobiles.to_csv(index=False).encode())
    assert (form._choices().to, form.fields.phone.disabled) == ("mobile", False)
    assert (form.sending.guards().first, form.sending.typed.value, form.sending.reason.value) == (0, "", "")
    assert (form.steps.alone, form.steps.unfinished, form.steps.results) == (0, "", None)
    form.fields.campaign.value = "next"
    form.write.check_button.click()
    assert form.sending.send_button.description == "Send 6 messages, about USD 0.0450"
    press(form.sending.send)
    assert len(box.inbox) == 8


def test_every_screen_names_the_list_and_the_suppression_list(
    uploading: CampaignForm, box: Sandbox, tmp_path: Path
) -> None:
    book = tmp_path / "people.xlsx"
    with pd.ExcelWriter(book) as writer:
        PEOPLE.head(3).to_excel(writer, sheet_name="Kunden", index=False)
        PEOPLE.to_excel(writer, sheet_name="Alt", index=False)
    upload(uploading.write.upload, "people.xlsx", book.read_bytes())
    named = "List: people.xlsx, sheet Kunden, 3 rows."
    assert "people.xlsx, sheet Kunden: 3 rows" in uploading.write._read.value
    assert named in uploading._head.value
    uploading.write.check_button.click()
    assert named in uploading._head.value
    assert f"{named} Suppression list: none." in uploading.sending._where.value
    assert named in uploading._saved().text(400)
    uploading.sending.back_button.click()
    (tmp_path / "no.csv").write_text("phone\n+12025550100\n")
    uploading.fields.exclude.value = str(tmp_path / "no.csv")
    uploading.write.check_button.click()
    assert f"Suppression list: {tmp_path / 'no.csv'}." in uploading.sending._where.value
    press(uploading.sending.send)
    assert len(box.inbox) == 2
    assert named in uploading._head.value
    assert named in uploading._saved().text(400)


def test_a_suppression_list_that_is_refused_is_not_none(uploading: CampaignForm, box: Sandbox) -> None:
    uploading.write.check_button.click()
    uploading.sending.back_button.click()
    uploading.fields.exclude.value = "gone.csv"
    uploading.write.check_button.click()
    assert (uploading.steps.stage, uploading.steps.plan) == ("write", None)
    press(uploading.sending.send)
    assert box.inbox.empty


# -- campaigns and doubt


@pytest.fixture
def page(client: Client, ledger: Ledger) -> CampaignsPage:
    """The page of a campaign with eight messages to go."""
    plan = sms.plan(PEOPLE, "News.", to="phone", campaign="begun")
    sms.send(plan, client=client, ledger=ledger, progress=False, limits=sms.Limits(first=4))
    made: CampaignsPage = waited(CampaignsPage(ledger, client=client, plans=[plan]).settle())
    made.steps.open(made.steps.answer.listing.entries[0])
    return made


def test_a_press_for_a_campaign_as_it_was_sends_and_withdraws_nothing(
    page: CampaignsPage, ledger: Ledger, box: Sandbox
) -> None:
    seen = label(page.send)
    page.steps.again()
    press(page.send, seen)
    assert (len(box.inbox), ANOTHER in page._outcome.value) == (4, True)
    page.withdraw_button.click()
    ledger.record("begun").withdraw(["+12025550111"])
    press(page.sure)
    assert ledger.record("begun").counts["planned"] == 7
    assert "Nothing was changed. This campaign has changed meanwhile" in page._outcome.value
    assert page.send_button.description.startswith("Send the other 7 messages")
    press(page.send)
    assert len(box.inbox) == 11


def test_a_tick_that_comes_with_the_press_is_shown_first(client: Client, ledger: Ledger, box: Sandbox) -> None:
    box.fault("drop_after", next=1)
    sms.send(sms.plan(PEOPLE, "Hi", to="phone", campaign="doors"), client=client, ledger=ledger, progress=False)
    doubts = waited(Doubts())
    doubts.settling.show((ledger.record("doors"), None))
    first, second = (row.place for row in doubts.settling.rows()[:2])
    doubts.settling.tick(first, True)
    seen = label(doubts._accepted)
    doubts.settling.tick(second, True)
    press(doubts._accepted, seen)
    assert ledger.record("doors").counts["in_doubt"] == 12
    assert ANOTHER in doubts._notice.value
    press(doubts._accepted)
    assert ledger.record("doors").counts["in_doubt"] == 10


# -- the cleaner


def test_a_list_that_is_being_judged_anew_is_not_downloaded_as_it_was() -> None:
    people = pd.DataFrame({"phone": ["030 901820", "+12025550123"], "second": ["+12025550124", "nobody"]})
    cleaner = PhoneCleaner(people, phone="phone").settle()
    cleaner.phone.value = "second"
    press(cleaner.clean)
    assert not cleaner.settle().download.open
    assert ANOTHER in cleaner._notice.value
    press(cleaner.clean)
    assert b"+12025550124" in taken(cleaner.settle().download)[1]


# -- passcodes


def test_what_is_on_its_way_is_not_edited(box: Sandbox) -> None:
    form = OtpForm(box)
    form._settle = 0.0
    form.phone.value = "+1 202 555 0123"
    seen = list[bool]()
    form.drawn = lambda: (
        seen.append(form.phone.disabled and form.intent.disabled) if form.steps.stage == "sending" else None
    )
    form.send_button.click()
    for _ in range(200):
        if form.steps.stage == "entry" and not form.phone.disabled:
            break
        threading.Event().wait(0.05)
    assert seen
    assert all(seen)
    assert not form.phone.disabled


def test_a_code_that_was_entered_for_another_passcode_is_not_checked(box: Sandbox) -> None:
    form = OtpForm(box, resend_wait=0)
    steps = form.steps
    steps.send(sms.otp.Request("+12025550123"))
    before = steps.challenge
    steps.resend(before)
    steps.resend(before)  # a second press
    assert steps.sent == 2
    steps.verify("123456", before)
    assert (steps.tries, steps.stage) == (0, "entry")
