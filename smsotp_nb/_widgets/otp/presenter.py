"""The passcode form for an audience: a phone, what is sent and received, and buttons that let things go wrong."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import ipywidgets
import pandas as pd

from ..._calling import in_our_words
from ..._cards import Card, counted, safe
from ..._client import Client
from ..._client.meaning import Scrubber, success
from ..._client.transport import RawReply
from ..._ledger import LedgerOrPath
from ..._moments import utc_now
from ...sandbox import Sandbox
from ...sandbox.choices import Rules
from ..._wire import OTP_SEND, OTP_VERIFY, OtpReply, VerifyReply, mask, read_otp_send, read_verify
from ...errors import InDoubt, SmsOtpError, Throttled
from .. import skin
from ..inbox import HIDDEN, sandbox_of
from ..stages import Sign, Work
from .form import OtpForm
from .steps import RESEND_WAIT, OtpSteps
from .words import spoken

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
    return f"challenge = sms.otp.send({', '.join(['number', 'client', *options, *own])})"


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


PAUSE = 10  # seconds that a throttled request is told to wait
WRONG = Rules().attempts
NO_CODE = "No code is open. Send one first."
ENDED = "The sandbox has ended. Run the notebook again."
FAULTY = "A check met the fault that is switched on. Reset, and send a new code."
LOST = "The next request will be accepted, and its reply lost."
THROTTLED = f"The next request will be refused, with a pause of {PAUSE} seconds."
LOCKED = (
    f"{counted(WRONG, 'wrong code')} were checked beside the form. By its usual rules the sandbox takes none for this "
    "passcode any more, and its reply does not say so: enter the right one."
)


class Desk:
    """The demonstrator's acts; each returns what it did, in words."""

    def __init__(self, box: Sandbox, steps: OtpSteps) -> None:
        self._box, self._steps = box, steps
        self._moved = 0.0
        self._after = self._last()

    def expire(self) -> str:
        """Move the sandbox's clock past the lifetime of the open code."""
        challenge = self._steps.challenge
        if challenge is None or self._steps.stage != "entry":
            return NO_CODE
        left = challenge.seconds_left
        if not left:
            return "The code has expired already."
        said = f"The sandbox's clock moved on by {spoken(left + 1)}: the code has expired."
        return self._done(lambda: self._move(left + 1), said)

    def lose_reply(self) -> str:
        return self._done(lambda: self._box.fault("drop_after", next=1), LOST)

    def throttle(self) -> str:
        return self._done(lambda: self._box.fault("throttle", next=1, seconds=PAUSE), THROTTLED)

    def lock(self) -> str:
        if self._steps.challenge is None or self._steps.stage != "entry":
            return NO_CODE
        return self._done(self._check_wrong_codes, LOCKED)

    def reset(self) -> str:
        """Take back the faults and the time that were brought about here, empty the inbox, and begin again."""

        def back() -> None:
            self._box.clear_faults("drop_after")
            self._box.clear_faults("throttle")
            self._move(-self._moved)
            self._box.clear()
            self._after = self._last()

        said = self._done(back, "")
        self._steps.reset()
        return said

    def exchanges(self) -> list[Exchange]:
        """Return the passcode requests since the beginning or the last reset, oldest first."""
        try:
            return exchanges(self._box.requests, after=self._after)
        except SmsOtpError:
            return []

    def _done(self, act: Callable[[], object], said: str) -> str:
        try:
            act()
        except (InDoubt, Throttled):
            return FAULTY
        except SmsOtpError:
            return ENDED
        return said

    def _move(self, seconds: float) -> None:
        self._box.advance(seconds)
        self._moved += seconds

    def _check_wrong_codes(self) -> None:
        challenge = self._steps.challenge
        if challenge is None:
            return
        right = self._box.code(challenge.to) or ""
        wrong = "0" * len(right) if right != "0" * len(right) else "1" * len(right)
        for _ in range(WRONG):
            challenge.verify(wrong)

    def _last(self) -> int:
        try:
            taken = self._box.requests["n"]
        except SmsOtpError:
            return 0
        return int(taken.max()) if len(taken) else 0


ONLY_HERE = "on the live service nobody can move the clock or lose a reply; OtpForm serves both"


class OtpPresenter(skin.Shown):
    """The passcode form for an audience. Make it the last line of a cell, in a notebook or a page of voila.

    Beside the form stand the phone, which is the sandbox's inbox, and every request with its reply and the Python that
    makes it. Buttons let the code expire (on the sandbox's clock), lose the next reply, throttle the next request, and
    use up the wrong codes that the sandbox takes. Reset takes all of that back and empties the sandbox's inbox. Numbers
    are masked and passcodes are dots, except on the phone while they are open.

    Args:
        box: the sandbox, or a client of one.
        ledger: a Ledger, or its path, in which each passcode's number, country, parts and price are recorded; see
            `OtpForm`.
        resend_wait: seconds before another passcode can be requested.

    Attributes:
        widget: the ipywidgets root, to place in a layout of your own.
        form: the `OtpForm` inside.

    Raises:
        UsageError: not a sandbox; on the live service nothing can be made to go wrong.
        LedgerError: the ledger cannot be used.

    Example:
        >>> from smsotp_nb import Sandbox
        >>> from smsotp_nb.widgets import OtpPresenter
        >>> with Sandbox() as box:
        ...     presenter = OtpPresenter(box)
        >>> presenter
        <OtpPresenter at step 'Request'; run the cell to use it>
    """

    _calls = "sms.otp.send(...), challenge.verify(...)"

    @in_our_words
    def __init__(
        self, box: Sandbox | Client, *, ledger: LedgerOrPath | None = None, resend_wait: float = RESEND_WAIT
    ) -> None:
        sandbox = sandbox_of(box, what="a presenter", live=ONLY_HERE)
        self.form = OtpForm(box, ledger=ledger, resend_wait=resend_wait)
        self._desk = Desk(sandbox, self.form.steps)
        self.work = Work(self._say)
        self._seen: object = None
        self.widget = self._lay_out()
        self.form.drawn = self._form_drawn
        self._draw_log()

    def __repr__(self) -> str:
        return repr(self.form).replace("OtpForm", "OtpPresenter")

    def _lay_out(self) -> ipywidgets.VBox:
        self._said, self._log = skin.block(), skin.block("", "smsotp-side")
        self.expire_button = self._button("Let the code expire", self._desk.expire)
        self.lose_button = self._button("Lose the next reply", self._desk.lose_reply)
        self.throttle_button = self._button("Throttle the next request", self._desk.throttle)
        self.lock_button = self._button("Use up the wrong codes", self._desk.lock)
        self.reset_button = self._button("Reset", self._desk.reset)
        acts = (self.expire_button, self.lose_button, self.throttle_button, self.lock_button, self.reset_button)
        desk = skin.box(skin.box(*acts, classes=("smsotp-acts",)), self._said, classes=("smsotp-desk",))
        phone = skin.box(self.form.side, classes=("smsotp-phone",))
        stage = skin.box(self.form.main, phone, self._log, classes=("smsotp-body", "smsotp-stage"))
        return skin.form(self.form.head, desk, stage, classes=("smsotp-otp", "smsotp-presenter"))

    def _button(self, label: str, act: Callable[[], str]) -> ipywidgets.Button:
        made = skin.button(label)
        made.on_click(lambda _: self.work.begin(made, lambda: self._act(act)))
        return made

    def _act(self, act: Callable[[], str]) -> Callable[[], None]:
        said = act()

        def show() -> None:
            self.form._refresh()
            self._say(said)
            self._draw_log()

        return show

    def _say(self, words: str, sign: Sign = "") -> None:
        self._said.value = skin.notice(words, sign)

    def _form_drawn(self) -> None:
        """Follow the form: what was announced at the buttons has come about, or was overtaken."""
        if self._seen != self._of_form():
            self._said.value = ""
            self._draw_log()

    def _draw_log(self) -> None:
        """Read the journal when something happened, not with every tick of the countdown."""
        self._seen = self._of_form()
        self._log.value = log_html(self._desk.exchanges())
        self._save_card()

    def _of_form(self) -> object:
        return self.form.steps.stage, self.form.steps.notice

    def _moment(self) -> object:
        return self.form.steps.stage

    def _saved(self) -> Card:
        return Card("One-time passcode, presented", "", closing=skin.TO_USE)
