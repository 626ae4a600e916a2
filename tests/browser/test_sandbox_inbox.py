"""The sandbox's inbox page in Chromium: live, searchable, readable in both colour schemes, and safe from its texts."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import closing, suppress
from typing import Any

import pytest
from support.sockets import without_token

from smsotp_nb import Sandbox

from .conftest import WAIT, Browser, axe_findings, cut_texts

US, FR = "+12025550123", "+33199001234"
KEY = "a-key-of-nobody-4711"
HOSTILE = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"


def post(box: Sandbox, action: str, **fields: Any) -> None:
    """Ask the sandbox for something, whatever it answers, or if the connection breaks."""
    with closing(http.client.HTTPConnection("127.0.0.1", int(box.url.rpartition(":")[2]), timeout=120)) as connection:
        path, headers = f"/?action={action}&accessKeyId={KEY}", {"Content-Type": "application/json"}
        connection.request("POST", path, json.dumps(fields), headers)
        with suppress(http.client.HTTPException, ConnectionError):
            connection.getresponse().read()


def fill(box: Sandbox) -> None:
    post(box, "sms.message.send", to=[US, FR], content="Hi Anna, 20% off until Sunday.", signature="Acme")
    post(box, "sms.message.send", to=FR, text=HOSTILE)
    post(box, "otp.send", to=US, intent="login", code="004217")
    post(box, "otp.send", to="nobody")


@pytest.fixture
def page(browser: Browser, box: Sandbox) -> Iterator[Any]:
    fill(box)
    with browser.visiting(f"{box.url}/#{box.token}") as opened:
        opened.locator("#main:not([hidden])").wait_for()
        yield opened


def wait_for_rows(page: Any, count: int) -> None:
    script = "count => document.querySelectorAll('#messages li').length === count"
    page.wait_for_function(script, arg=count, timeout=WAIT)


def test_the_page_shows_messages_codes_and_requests_and_follows_them(page: Any, box: Sandbox) -> None:
    wait_for_rows(page, 4)
    assert page.locator(".code").first.inner_text() == "004217"
    assert page.title() == "Sandbox inbox", "a text is text"
    assert HOSTILE in page.locator("#messages").inner_text()
    assert page.locator("#requests details").count() == 4
    page.locator("#requests summary").first.click()
    raw = page.locator("#requests details").first.inner_text()
    assert "107111" in raw
    assert "accessKeyId=***" in raw
    assert KEY not in page.content()
    post(box, "sms.message.send", to=US, text="Just now")
    wait_for_rows(page, 5)
    page.get_by_label("Search").fill("just NOW")
    wait_for_rows(page, 1)


def test_balance_clock_faults_and_the_inbox_are_controlled_from_the_page(page: Any, box: Sandbox) -> None:
    before = box.balance
    page.get_by_role("button", name="Top up").click()
    page.wait_for_function("before => document.querySelector('#balance').textContent !== before", arg=f"USD {before}")
    assert box.balance == before + 100
    page.get_by_role("button", name="5 minutes on").click()
    page.get_by_text("300 s ahead").wait_for()
    page.get_by_label("Kind").select_option("throttle")
    page.get_by_role("button", name="Switch on").click()
    page.get_by_text("throttle, seconds 1").wait_for()
    assert [fault.kind for fault in box.faults] == ["throttle"]
    page.get_by_role("button", name="Switch off throttle").click()
    page.locator("#faults").get_by_text("None").wait_for()
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Clear the inbox").click()
    wait_for_rows(page, 0)
    assert (len(box.inbox), len(box.requests)) == (0, 0)


def test_without_its_token_the_page_asks_for_it(browser: Browser, box: Sandbox) -> None:
    fill(box)
    with browser.visiting(box.url) as page:
        page.get_by_label("Token").wait_for()
        assert page.locator("#main").is_hidden()
        page.get_by_label("Token").fill(str(box.token))
        page.get_by_role("button", name="Open the inbox").click()
        wait_for_rows(page, 4)
        assert str(box.token) not in page.url


def test_a_sandbox_without_a_token_shows_its_inbox_at_once(browser: Browser) -> None:
    with without_token() as box, browser.visiting(box.url) as page:
        page.get_by_text("No messages yet.").wait_for()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_is_readable_in_both_schemes_and_widths(page: Any, scheme: str, width: int) -> None:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    assert axe_findings(page, "body") == []
    assert cut_texts(page, "main") == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
