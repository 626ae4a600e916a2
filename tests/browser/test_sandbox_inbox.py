"""The sandbox's inbox page in Chromium: live, searchable, readable in both colour schemes, and safe from its texts."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import closing, suppress
from typing import Any

import pytest

from smsotp_nb import Sandbox
from smsotp_nb.errors import SmsOtpWarning

from .conftest import WAIT, Browser, axe_findings, cut_texts

US, FR, SE, AU = "+12025550123", "+33199001234", "+46701740605", "+61491570156"
KEY = "a-key-of-nobody-4711"
HOSTILE = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"


def post(box: Sandbox, action: str, **fields: Any) -> None:
    """Ask the sandbox for something, whatever it answers, or if the connection breaks."""
    with closing(http.client.HTTPConnection("127.0.0.1", int(box.url.rpartition(":")[2]), timeout=120)) as connection:
        path, headers = f"/?action={action}&accessKeyId={KEY}", {"Content-Type": "application/json"}
        connection.request("POST", path, json.dumps(fields), headers)
        with suppress(http.client.HTTPException, ConnectionError):
            connection.getresponse().read()


def cut_but_on_purpose(page: Any) -> list[str]:
    """Return what is cut, but for the preview of a text, and headings for screen readers."""
    return [found for found in cut_texts(page, "main") if not any(name in found for name in ("said", "unseen"))]


def fill(box: Sandbox) -> None:
    post(box, "sms.message.send", to=[US, FR, SE, AU], content="Hi Anna, 20% off until Sunday.", signature="Acme")
    post(box, "sms.message.send", to=US, content="Hi Bob, 20% off until Sunday.", signature="Acme")
    dear = "It’s your last chance: 20% off everything until Sunday evening, and more."
    post(box, "sms.message.send", to=FR, text=dear)
    post(box, "sms.message.send", to=SE, text=HOSTILE)
    post(box, "otp.send", to=US, intent="login", code="004217")


@pytest.fixture
def page(browser: Browser, box: Sandbox) -> Iterator[Any]:
    fill(box)
    with browser.visiting(f"{box.url}/?token={box.token}") as opened:
        opened.locator("#live.on").wait_for()
        yield opened


def numbers(page: Any) -> list[str]:
    return list(page.locator("#list .number").all_inner_texts())


def wait_for_rows(page: Any, count: int) -> None:
    page.wait_for_function("count => document.querySelectorAll('#list li').length === count", arg=count)


def test_messages_are_listed_newest_first_with_their_price(page: Any) -> None:
    assert numbers(page) == [US, SE, FR, US, AU, SE, FR, US]
    assert "USD 0.0075" in page.locator("#list li").first.inner_text()
    assert "8 messages, USD" in page.locator("#total").inner_text()


def test_a_new_message_shows_up_by_itself(page: Any, box: Sandbox) -> None:
    post(box, "sms.message.send", to=AU, text="Just now")
    page.locator("#list li", has_text="Just now").wait_for()
    assert numbers(page)[0] == AU


def test_search_and_filters_narrow_the_list(page: Any) -> None:
    page.keyboard.press("/")
    page.keyboard.type("last chance")
    wait_for_rows(page, 1)
    page.locator("#search").fill("")
    page.locator("#kind").select_option("passcode")
    wait_for_rows(page, 1)
    page.locator("#kind").select_option("")
    wording = page.locator("#wording option", has_text="20% off until Sunday. (5)").get_attribute("value")
    page.locator("#wording").select_option(wording)
    wait_for_rows(page, 5)
    page.locator("#search").fill("nobody says this")
    page.locator("#empty", has_text="No message fits these filters.").wait_for()


def test_a_narrowed_list_is_live_too(page: Any, box: Sandbox) -> None:
    page.locator("#kind").select_option("passcode")
    wait_for_rows(page, 1)
    post(box, "sms.message.send", to=AU, text="Not a passcode")
    post(box, "otp.send", to=AU, code="556677")
    page.locator("#list li", has_text="556677").wait_for()
    assert numbers(page) == [AU, US]


def test_a_thread_draws_the_parts_and_the_characters_that_made_them_dear(page: Any) -> None:
    page.locator(f".row[data-to='{FR}']").first.click()
    bubble = page.locator("#bubbles li").last
    bubble.wait_for()
    assert page.locator("#thread-title").inner_text() == FR
    assert page.locator("#bubbles li").count() == 2
    assert [mark.inner_text() for mark in bubble.locator("mark").all()] == ["’"]
    assert bubble.locator(".piece-name").all_inner_texts() == ["Part 1 of 2", "Part 2 of 2"]
    assert "UCS-2 because of ’ (U+2019)" in bubble.inner_text()


def test_a_message_turns_no_line_of_the_page(page: Any, box: Sandbox) -> None:
    post(box, "sms.message.send", to=AU, text="Pay\u202e001 DUA")
    page.locator(f".row[data-to='{AU}']").first.click()
    line = page.locator("#bubbles .under", has_text="UCS-2 because of")
    line.wait_for()
    assert line.inner_text() == "UCS-2 because of U+202E"


def test_a_thread_grows_while_it_is_open_and_can_narrow_the_list(page: Any, box: Sandbox) -> None:
    page.locator(f".row[data-to='{SE}']").first.click()
    page.locator("#bubbles li").nth(1).wait_for()
    post(box, "otp.send", to=SE, code="998877")
    page.locator("#bubbles", has_text="998877").wait_for()
    page.locator("#only").click()
    wait_for_rows(page, 3)
    assert set(numbers(page)) == {SE}
    page.locator("#unchoose").click()
    wait_for_rows(page, 9)


def test_a_code_is_copied(page: Any, browser: Browser) -> None:
    browser.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator("#list .copy").click()
    page.locator("#list .copy", has_text="Copied").wait_for()
    assert page.evaluate("() => navigator.clipboard.readText()") == "004217"


def test_hostile_text_is_shown_as_text(page: Any) -> None:
    page.locator(f".row[data-to='{SE}']").first.click()
    page.locator("#bubbles li").nth(1).wait_for()
    assert HOSTILE in page.locator("#bubbles").inner_text()
    assert page.title() == "Sandbox inbox"
    assert page.locator("main script, main img").count() == 0


def test_everything_can_be_done_from_the_keyboard(page: Any) -> None:
    page.locator(".row").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_function("to => document.activeElement.textContent === to", arg=SE)
    page.keyboard.press("Escape")
    assert page.locator("#thread").is_hidden()
    assert page.evaluate("() => document.activeElement.dataset.to") == SE


def test_the_balance_is_topped_up_at_the_side(page: Any, box: Sandbox) -> None:
    before = box.balance
    page.locator("#amount").fill("12.5")
    page.get_by_role("button", name="Top up").click()
    page.wait_for_function("() => document.getElementById('said').textContent.startsWith('The balance is')")
    assert float(box.balance - before) == 12.5


def test_a_fault_is_switched_on_and_off_at_the_side(page: Any, box: Sandbox) -> None:
    page.locator("#fault-kind").select_option("throttle")
    page.locator("#fault-next").fill("3")
    page.get_by_role("button", name="Switch on").click()
    page.locator("#faults li", has_text="throttle, next 3, 1 s").wait_for()
    assert [fault.describe() for fault in box.faults] == ["throttle, next 3, seconds 1"]
    page.get_by_role("button", name="Switch off throttle").click()
    page.locator("#faults li", has_text="None").wait_for()
    assert box.faults == ()


def test_the_clock_is_moved_at_the_side(page: Any, box: Sandbox) -> None:
    page.get_by_role("button", name="5 minutes on").click()
    page.locator("#clock", has_text="300 s ahead").wait_for()
    page.get_by_role("button", name="Machine’s time").click()
    page.locator("#clock", has_text="the machine’s time").wait_for()


def test_clearing_asks_once_more(page: Any, box: Sandbox) -> None:
    page.get_by_role("button", name="Clear the inbox").click()
    page.get_by_role("button", name="Keep").click()
    assert len(box.inbox) == 8
    page.get_by_role("button", name="Clear the inbox").click()
    page.get_by_role("button", name="Yes, clear all messages").click()
    page.locator("#empty", has_text="No messages yet.").wait_for()
    assert len(box.inbox) == 0
    assert f"curl '{box.url}/?action=otp.send" in page.locator("#example").inner_text()


def test_a_sandbox_that_ends_is_said_to_have_ended(page: Any, box: Sandbox) -> None:
    box.close()
    page.locator("#live.off", has_text="does not answer").wait_for()


def test_nothing_comes_from_elsewhere_and_nothing_inline_runs(page: Any, box: Sandbox) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", int(box.url.rpartition(":")[2]), timeout=120)
    connection.request("GET", f"/?token={box.token}")
    policy = connection.getresponse().getheader("Content-Security-Policy") or ""
    connection.close()
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


@pytest.mark.sampled(3)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 1000, 760, 390])
def test_the_page_is_readable_and_whole(page: Any, scheme: str, width: int) -> None:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 1200})
    page.locator(f".row[data-to='{FR}']").first.click()
    page.locator("#bubbles li").nth(1).wait_for()
    assert axe_findings(page, "body") == []
    assert cut_but_on_purpose(page) == []
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")


def test_of_many_messages_the_latest_are_listed_and_all_are_searched(browser: Browser) -> None:
    with Sandbox(balance=10**6) as box:
        for number in range(20):
            post(box, "sms.message.send", to=[US, FR] * 50, text=f"Round {number} of the soak")
        with browser.visiting(f"{box.url}/?token={box.token}") as page:
            page.locator("#list li").nth(99).wait_for()
            page.locator("#search").fill("Round 7 of")
            page.locator("#list .said", has_text="Round 7 of the soak").first.wait_for()


# beyond this machine


@pytest.fixture
def far(browser: Browser) -> Iterator[tuple[Sandbox, Any]]:
    """A sandbox that others reach, and the page of somebody who has not signed in."""
    with pytest.warns(SmsOtpWarning, match="other machines"):
        box = Sandbox(host="0.0.0.0", token="a-token-for-a-test")
    post(box, "sms.message.send", to=US, text="Behind the token")
    context = browser.context.browser.new_context()
    context.set_default_timeout(WAIT)
    opened = context.new_page()
    opened.goto(box.url)
    yield box, opened
    context.close()
    box.close()


def test_beyond_this_machine_the_page_asks_for_the_token_and_shows_nothing_before(far: tuple[Sandbox, Any]) -> None:
    _box, page = far
    assert page.title() == "Sandbox: sign in"
    assert "Behind the token" not in page.content()
    page.get_by_label("Token").fill("another one")
    page.get_by_role("button", name="Open the inbox").click()
    page.get_by_label("Token").wait_for()
    assert page.title() == "Sandbox: sign in"


def test_with_the_token_the_inbox_opens_and_the_token_leaves_the_address(far: tuple[Sandbox, Any]) -> None:
    box, page = far
    page.get_by_label("Token").fill("a-token-for-a-test")
    page.keyboard.press("Enter")
    page.locator("#list li", has_text="Behind the token").wait_for()
    page.wait_for_url(f"{box.url}/")
    post(box, "sms.message.send", to=US, text="Live behind the token")
    page.locator("#list li", has_text="Live behind the token").wait_for()
    (cookie,) = page.context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, "Strict", "/")
    page.reload()
    page.locator("#list li", has_text="Behind the token").first.wait_for()
    assert "a-token-for-a-test" not in page.url


@pytest.mark.sampled(2)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_of_the_token_is_readable(far: tuple[Sandbox, Any], width: int, scheme: Any) -> None:
    _box, page = far
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme)
    assert axe_findings(page, "body") == []
    assert cut_texts(page, "body") == []
