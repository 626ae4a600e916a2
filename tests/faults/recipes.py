"""The recipes that people use for requests that fail, for the campaign to judge; nothing of the package uses them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import requests
import tenacity
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

from smsotp_nb import Settings

from .campaign import ANN, BEN, COR, Call

Attempt = Callable[[str, dict[str, Any]], Any]
FIELDS: dict[str, tuple[str, dict[str, Any]]] = {
    "message": ("sms.message.send", {"to": [ANN, BEN, COR]}),
    "otp": ("otp.send", {"to": ANN}),
    "verify": ("otp.verify", {"to": ANN, "code": "123456"}),
}


@contextlib.contextmanager
def eager(settings: Settings) -> Iterator[Call]:
    """Try again whatever went wrong: tenacity around ``post``, ``raise_for_status`` and ``json``."""
    with requests.Session() as session:
        again = tenacity.retry_if_exception_type((requests.RequestException, ValueError))
        yield _calling(_retrying(again).wraps(_posting(session, settings)))


@contextlib.contextmanager
def by_class(settings: Settings) -> Iterator[Call]:
    """Try again on ConnectionError alone, in the belief that it means that no connection was made."""
    with requests.Session() as session:
        again = tenacity.retry_if_exception_type(requests.ConnectionError)
        yield _calling(_retrying(again).wraps(_posting(session, settings)))


@contextlib.contextmanager
def in_the_adapter(settings: Settings) -> Iterator[Call]:
    """Let urllib3 try again: ``Retry`` with the usual statuses, POST included."""
    retries = Retry(
        total=3,
        allowed_methods=None,
        status_forcelist=(429, 500, 502, 503, 504),
        backoff_factor=0,
        respect_retry_after_header=False,
    )
    with requests.Session() as session:
        session.mount("http://", HTTPAdapter(max_retries=retries))
        yield _calling(_posting(session, settings))


def _posting(session: requests.Session, settings: Settings) -> Attempt:
    def post(action: str, fields: dict[str, Any]) -> Any:
        query = {"action": action, "accessKeyId": settings._key()}
        reply = session.post(settings.base_url + "/", params=query, json=fields, timeout=1)
        reply.raise_for_status()
        return reply.json()

    return post


def _retrying(again: Any) -> tenacity.Retrying:
    return tenacity.Retrying(retry=again, stop=tenacity.stop_after_attempt(4), wait=tenacity.wait_none(), reraise=True)


def _calling(attempt: Any) -> Call:
    def call(operation: str, text: str) -> None:
        action, fields = FIELDS[operation]
        with contextlib.suppress(requests.RequestException, ValueError, RecursionError):
            attempt(action, fields | ({"text": text} if operation == "message" else {}))

    return call
