"""A stranger's page beside the sandbox, in Chromium: it learns nothing by timing, and the inbox stands in no frame."""

from __future__ import annotations

import functools
import http.server
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from smsotp_nb import Sandbox

from .conftest import WAIT, Browser
from .test_sandbox_inbox import US, post

# A hit is answered at once; without one the sandbox waits, and the time tells the stranger what it may not read.
TIMED = """async ([box, piece]) => {
  const began = performance.now();
  const query = new URLSearchParams({text: piece, wait: 20});
  await fetch(`${box}/inbox.json?${query}`, {mode: 'no-cors', cache: 'no-store'}).catch(() => null);
  return performance.now() - began;
}"""
AT_ONCE = 15_000  # milliseconds; a busy machine answers late as well


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_arguments: Any) -> None:
        pass


@pytest.fixture(params=["127.0.0.1", "localhost"], ids=["same site", "another site"])
def stranger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The origin of a stranger's page: another port of the same host, or another host."""
    (tmp_path / "index.html").write_text("<!doctype html><title>Stranger</title><p>Win a prize!</p>")
    handler = functools.partial(Quiet, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield f"http://{request.param}:{server.server_port}"
        server.shutdown()


@pytest.fixture
def page(browser: Browser, stranger: str, box: Sandbox) -> Iterator[Any]:
    post(box, "otp.send", to=US, code="004217")
    context = browser.context.browser.new_context()
    context.set_default_timeout(WAIT)
    opened = context.new_page()
    opened.goto(stranger)
    yield opened
    context.close()


@dataclass(slots=True)
class Answers:
    """What the sandbox answered: a page may not see it, and Chromium withholds it from the page's own events.

    A status may be told before the request it belongs to, and a little after the page knows.
    """

    page: Any
    url: str
    asked: dict[str, str] = field(default_factory=dict)
    replies: list[tuple[str, int]] = field(default_factory=list)

    def first(self, count: int) -> list[int]:
        """The statuses of the first so many answers of the sandbox, not of the stranger's own server."""
        for _ in range(WAIT // 10):
            found = [status for number, status in self.replies if self.asked.get(number, "").startswith(self.url)]
            if len(found) >= count:
                break
            self.page.wait_for_timeout(10)
        return found[:count]


@pytest.fixture
def answers(page: Any, box: Sandbox) -> Answers:
    found = Answers(page, box.url)
    protocol = page.context.new_cdp_session(page)
    protocol.on("Network.requestWillBeSent", lambda it: found.asked.update({it["requestId"]: it["request"]["url"]}))
    protocol.on(
        "Network.responseReceivedExtraInfo", lambda it: found.replies.append((it["requestId"], it["statusCode"]))
    )
    protocol.send("Network.enable")
    return found


def test_a_strangers_page_learns_no_passcode_by_timing(page: Any, box: Sandbox, answers: Answers) -> None:
    hit, miss = (page.evaluate(TIMED, [box.url, piece]) for piece in ("code is 0", "code is 9"))
    assert (hit < AT_ONCE) == (miss < AT_ONCE), f"told apart: {hit:.0f} ms and {miss:.0f} ms"
    assert answers.first(2) == [403, 403]


@pytest.mark.parametrize("path", ["/", "/inbox.json", "/requests.json"])
def test_the_sandbox_stands_in_no_frame(page: Any, box: Sandbox, path: str) -> None:
    make = "src => { const frame = document.createElement('iframe'); frame.src = src; document.body.append(frame); }"
    with page.expect_response(lambda reply: reply.url.startswith(box.url)) as answered:
        page.evaluate(make, f"{box.url}{path}")
    assert answered.value.status == 403
    page.wait_for_function("() => frames.length === 1")
    assert "Sandbox inbox" not in page.frames[-1].content()


@pytest.mark.parametrize("kind", ["img", "script"])
def test_no_other_element_of_a_strangers_page_is_answered(page: Any, box: Sandbox, answers: Answers, kind: str) -> None:
    make = f"""src => new Promise(done => {{
      const made = document.createElement('{kind}');
      made.onload = made.onerror = done;
      made.src = src;
      document.body.append(made);
    }})"""
    page.evaluate(make, f"{box.url}/inbox.json?text=code&wait=1")
    assert answers.first(1) == [403]


def test_a_window_that_a_stranger_opens_shows_no_messages(page: Any, box: Sandbox) -> None:
    with page.context.expect_page() as opened:
        page.evaluate("address => { window.open(address); }", f"{box.url}/inbox.json")
    opened.value.wait_for_load_state()
    assert "004217" not in opened.value.content()


def test_a_link_in_a_notebook_of_another_address_opens_the_inbox(page: Any, box: Sandbox) -> None:
    link = "href => { document.body.innerHTML = `<a target=_blank rel=noopener href='${href}'>Open the inbox</a>`; }"
    page.evaluate(link, f"{box.url}/?token={box.token}")
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Open the inbox").click()
    opened.value.locator("#list li", has_text="004217").wait_for()


def test_a_strangers_form_sends_nothing(page: Any, box: Sandbox) -> None:
    sent = """async box => {
      for (const type of ['text/plain', 'application/x-www-form-urlencoded'])
        await fetch(`${box}/?action=sms.message.send&accessKeyId=k`, {
          method: 'POST', mode: 'no-cors', headers: {'Content-Type': type}, body: '{"to": "+12025550123", "text": "x"}'
        }).catch(() => null);
    }"""
    page.evaluate(sent, box.url)
    assert len(box.inbox) == 1
