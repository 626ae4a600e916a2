"""The sandbox's page for a team: refused and struck requests, raw bytes, downloads, one message deleted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from smsotp_nb import Sandbox

from .conftest import Browser, axe_findings
from .test_sandbox_inbox import FR, KEY, US, cut_but_on_purpose, post

HOSTILE = "<img src=x onerror=\"document.title='owned'\">"


def fill(box: Sandbox) -> None:
    post(box, "sms.message.send", to=[US, FR], content="Hi Anna, 20% off until Sunday.", signature="Acme")
    post(box, "sms.message.send", to=[US, "nobody"], text=HOSTILE)
    box.fault("drop_after", next=1)
    post(box, "otp.send", to=FR, code="004217")
    post(box, "otp.verify", to=FR, code="000000")


@pytest.fixture
def page(browser: Browser, box: Sandbox) -> Iterator[Any]:
    fill(box)
    with browser.visiting(f"{box.url}/?token={box.token}") as page:
        page.locator("#live.on").wait_for()
        yield page


def outcomes(page: Any) -> list[str]:
    return list(page.locator("#request-list .outcome").all_inner_texts())


def show_requests(page: Any, rows: int = 4) -> None:
    page.get_by_role("tab", name="Requests").click()
    page.locator("#request-list li").nth(rows - 1).wait_for()


def test_refused_and_struck_requests_are_listed_newest_first(page: Any) -> None:
    show_requests(page)
    assert outcomes(page) == ["✓ answered", "! struck by drop after", "✗ refused 107111", "✓ accepted"]
    page.locator("#outcome").select_option("refused")
    page.wait_for_function("() => document.querySelectorAll('#request-list li').length === 1")
    page.locator("#outcome").select_option("")
    page.locator("#request-search").fill("anna")
    page.wait_for_function("() => document.querySelectorAll('#request-list li').length === 1")


def test_a_new_request_shows_up_by_itself(page: Any, box: Sandbox) -> None:
    show_requests(page)
    post(box, "otp.send", to="nobody")
    page.locator("#request-list li").nth(4).wait_for()
    assert outcomes(page)[0] == "✗ refused 107111"


def test_a_request_is_shown_raw_with_its_reply_and_without_the_key(page: Any) -> None:
    show_requests(page)
    page.locator("#request-list .row").nth(2).click()
    page.locator("#request").wait_for()
    sent, reply = page.locator("#request-sent").inner_text(), page.locator("#request-reply").inner_text()
    assert sent.startswith("POST /?action=sms.message.send&accessKeyId=***\nHost: ")
    assert json.loads(sent.partition("\n\n")[2]) == {"to": [US, "nobody"], "text": HOSTILE}
    assert reply.startswith("400\n\n")
    assert "InvalidPhoneNumbers" in reply
    assert KEY not in page.content()
    assert page.title() == "Sandbox inbox"
    assert page.locator("main img").count() == 0


def test_a_struck_request_says_what_struck_it(page: Any) -> None:
    show_requests(page)
    page.locator("#request-list .row").nth(1).click()
    reply = page.locator("#request-reply")
    reply.wait_for()
    assert "Nothing was answered." in reply.inner_text()
    assert "the request is accepted, then the connection is reset without a reply" in reply.inner_text()
    assert "1 message accepted" in page.locator("#request-about").inner_text()


def test_tabs_and_requests_can_be_used_from_the_keyboard(page: Any) -> None:
    page.get_by_role("tab", name="Messages").focus()
    page.keyboard.press("ArrowRight")
    page.locator("#request-list li").nth(3).wait_for()
    page.locator("#request-list .row").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.activeElement.id === 'request-title'")
    page.keyboard.press("Escape")
    assert page.locator("#request").is_hidden()
    assert page.evaluate("() => document.activeElement.dataset.n") == "3"
    page.get_by_role("tab", name="Requests").focus()
    page.keyboard.press("ArrowLeft")
    assert page.locator("#messages").is_visible()
    assert page.locator("#requests").is_hidden()


def saved(page: Any, name: str) -> Any:
    with page.expect_download() as download:
        page.get_by_role("button", name=name).click()
    return json.loads(Path(download.value.path()).read_text(encoding="utf-8"))


def test_messages_requests_and_one_request_are_downloaded(page: Any) -> None:
    assert [message["to"] for message in saved(page, "Download")["messages"]] == [US, FR, FR]
    show_requests(page)
    found = saved(page, "Download")
    assert [request["outcome"] for request in found["requests"]] == ["accepted", "refused", "struck", "answered"]
    page.locator("#request-list .row").first.click()
    page.locator("#request").wait_for()
    assert saved(page, "Download this request")["action"] == "otp.verify"
    assert KEY not in json.dumps(found)


def test_one_message_is_deleted(page: Any, box: Sandbox) -> None:
    page.locator(f".row[data-to='{FR}']").first.click()
    page.locator("#bubbles li").nth(1).wait_for()
    page.locator("#bubbles li").first.get_by_role("button", name="Delete").click()
    page.wait_for_function("() => document.querySelectorAll('#bubbles li').length === 1")
    page.wait_for_function("() => document.querySelectorAll('#list li').length === 2")
    assert box.inbox["to"].tolist() == [US, FR]
    assert "2 messages" in page.locator("#total").inner_text()


def test_a_clock_that_a_test_moves_is_seen(page: Any, box: Sandbox) -> None:
    box.advance(301)
    page.locator("#clock", has_text="301 s ahead").wait_for()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("colours", ["light", "dark", "forced"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_requests_are_readable_and_whole(page: Any, box: Sandbox, colours: str, width: int) -> None:
    page.emulate_media(
        color_scheme="dark" if colours == "dark" else "light", forced_colors="active" if colours == "forced" else "none"
    )
    page.set_viewport_size({"width": width, "height": 1200})
    show_requests(page)
    page.locator("#request-list .row").nth(2).click()
    page.locator("#request").wait_for()
    assert axe_findings(page, "body") == []
    assert cut_but_on_purpose(page) == []
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
