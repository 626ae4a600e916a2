"""Passcode requests as they went over the line, with the call that made them: numbers masked, codes as dots."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import pandas as pd

from ..._cards import safe
from ..._client.meaning import Scrubber, success
from ..._client.transport import RawReply
from ..._moments import utc_now
from ..._wire import OTP_SEND, OTP_VERIFY, OtpReply, VerifyReply, mask, read_otp_send, read_verify
from ...errors import InDoubt, Throttled
from ..inbox import HIDDEN

SHOWN = 12
OPTIONS = ("digits", "intent", "channel", "signature", "ttl")
EMPTY = '<p class="smsotp-empty">Nothing was asked of the service yet.<br>Requests and replies appear here.</p>'


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request with its reply, fit to be shown: ``call`` is the Python that makes it, ``result`` what it gives."""

    number: int
    action: str
    request: str
    reply: str
    call: str
    result: str


def exchanges(requests: pd.DataFrame, *, after: int = 0) -> list[Exchange]:
    """Return the passcode requests of a sandbox's journal behind entry ``after``, oldest first, numbered from 1."""
    ours = requests[requests["action"].isin([OTP_SEND, OTP_VERIFY]) & (requests["n"] > after)]
    return [_exchange(number, row) for number, row in enumerate(ours.to_dict("records"), start=1)]


def _exchange(number: int, row: Mapping[Any, Any]) -> Exchange:
    body, reply = _read(row["body"]), _read(row["reply"])
    status = None if pd.isna(row["status"]) else int(row["status"])
    request = f"{row['method']} {row['path']}\n\n{_written(_veiled(body)) if body else _size(row['size'])}"
    return Exchange(
        number,
        row["action"],
        request,
        _reply(status, reply, row, str(body.get("code", ""))),
        _call(row["action"], body),
        _result(row["action"], status, row),
    )


def _read(text: object) -> dict[str, Any]:
    """Return a JSON object, or an empty one for anything else."""
    try:
        found = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _veiled(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body of a request without its passcode and its whole number."""
    hidden = {"code": HIDDEN * len(str(body["code"]))} if "code" in body else {}
    return {**body, **({"to": mask(str(body["to"]))} if "to" in body else {}), **hidden}


def _reply(status: int | None, reply: Mapping[str, Any], row: Mapping[Any, Any], code: str) -> str:
    if status is None:
        return "no reply: the connection broke" + (" after the sandbox had accepted it" if row["accepted"] else "")
    line = f"{status} {HTTPStatus(status).phrase}" + (", with Retry-After" if row["fault"] == "throttle" else "")
    if not reply:
        return line if status == HTTPStatus.TOO_MANY_REQUESTS else f"{line}\n\n{_size(row['reply_size'])}"
    data = reply.get("data")
    shown = {**reply, "data": {**data, "to": mask(str(data.get("to")))}} if isinstance(data, dict) else dict(reply)
    written = _written(shown)
    return f"{line}\n\n{written.replace(code, HIDDEN * len(code)) if code else written}"


def _size(count: object) -> str:
    return f"({count} bytes that are no JSON object)"


def _written(body: Mapping[str, Any]) -> str:
    return json.dumps(body, indent=2, ensure_ascii=False)


def _call(action: str, body: Mapping[str, Any]) -> str:
    if action == OTP_VERIFY:
        return "challenge.verify(typed)"
    options = [f"{name}={body[name]!r}" for name in OPTIONS if name in body]
    own = ["code=custom_code"] if "code" in body else []
    return f"challenge = sms.otp.send({', '.join(['number', 'client=client', *options, *own])})"


def _result(action: str, status: int | None, row: Mapping[Any, Any]) -> str:
    """Return what the call gives for this reply: what the client itself makes of it."""
    found: Any = None
    if status is not None:
        read = read_verify if action == OTP_VERIFY else read_otp_send
        found = success(
            RawReply(status, (), str(row["reply"]).encode()),
            lambda data, request_id: read(data, str(row["to"]), request_id=request_id),
            action=action,
            seconds=0.0,
            scrub=Scrubber(),
            now=utc_now,
        )
    if isinstance(found, VerifyReply):
        return str(found.valid)
    if isinstance(found, OtpReply):
        return "a Challenge"
    said = {Throttled: ": certainly not accepted", InDoubt: ": accepted or not, nobody here knows"}
    kind = type(found) if found is not None else InDoubt
    return f"raises {kind.__name__}{said.get(kind, '')}"


def log_html(found: Sequence[Exchange]) -> str:
    """Return the exchanges, newest first and open, the others folded to a line."""
    newest = list(reversed(found[-SHOWN:]))
    items = "".join(_item(one, opened=place == 0) for place, one in enumerate(newest))
    more = len(found) - len(newest)
    items += f'<li class="smsotp-more">and {more:,} more</li>' if more else ""
    content = f'<ol class="smsotp-log">{items}</ol>' if items else EMPTY
    title = "Requests and replies"
    return f'<div class="smsotp-inbox" role="group" aria-label="{title}"><h3>{title}</h3>{content}</div>'


def _item(one: Exchange, *, opened: bool) -> str:
    summary = f"{one.number}. {safe(one.action)} → {safe(one.result.partition(':')[0])}"
    panes = (("Python", f"{one.call}\n# {one.result}"), ("Request", one.request), ("Reply", one.reply))
    shown = "".join(f"<h4>{name}</h4><pre>{safe(text)}</pre>" for name, text in panes)
    state = " open" if opened else ""
    return f'<li><details class="smsotp-lines"{state}><summary>{summary}</summary>{shown}</details></li>'
