"""What the passcode form says: the service's word as such, what our own clock and count add to it, and the screen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..._cards import counted, safe
from ...otp import Request
from .. import skin
from ..stages import Notice

ASKING = "Asking the service …"
NOTHING_SENT = "No passcode was sent."
NOTHING_CHECKED = "The code was not checked."
UNREACHED = "The service cannot be reached. Try again."
SEND_IN_DOUBT = "No answer came: the passcode may or may not have been sent."
LOOK_IN_THE_INBOX = "Look in the inbox: if its message is there, enter that code; if not, send a new one."
ASK_THE_PERSON = "If a message arrives, enter its code. If none does, send a new one; both may be billed."
CHECK_IN_DOUBT = (
    "No answer came: whether the code is right is not known, and the check may have used it up. "
    "Enter it again, or send a new one."
)
NO_MATCH = "The service says that the code does not match."
USED_UP = (
    "An earlier check of this passcode got no answer; if it succeeded, the code is used up, which the service does not "
    "tell. Send a new code."
)
CHANNELS = {"auto": "automatic channel", "sms": "SMS", "call": "voice call", "whatsapp": "WhatsApp"}
LONG = 120  # seconds from which a time is told in minutes


def no_match(
    *,
    age: float,
    lifetime: int,
    clock: str,
    left: int,
    most: int,
    unanswered: bool = False,
    sent: int = 1,
    accepted: bool = True,
) -> str:
    """Return what to say when the service answers that a code is not valid.

    Args:
        age: seconds by the clock named ``clock``, as ``lifetime``.
        left: of ``most`` wrong codes that the form takes.
        unanswered: an earlier check got no answer.
        sent: how many passcodes were asked for so far.
        accepted: the service said that it took the last one.
    """
    if age >= lifetime:
        how = "sent" if accepted else "asked for"
        since = f"By {clock} it was {how} {spoken(age)} ago and was valid for {spoken(lifetime)}"
        return f"{NO_MATCH} {since}: it has most likely expired. Send a new code."
    if left <= 0:
        return (
            f"{NO_MATCH} That was wrong code {most} of the {most} that this form takes for one passcode; how many the "
            "service takes is not known. Send a new code."
        )
    if unanswered:
        return f"{NO_MATCH} {USED_UP}"
    which = "Use the code of the newest message" if sent > 1 else "Check it and try again"
    return f"{NO_MATCH} {which}; {'1 try' if left == 1 else f'{left} tries'} left in this form."


def expired(clock: str) -> str:
    return f"By {clock} this passcode has expired. Send a new code."


def pause(seconds: float | None, *, longest: float) -> str:
    if seconds is None:
        return "The service asks for a pause and does not say how long."
    more = "at least " if seconds >= longest else ""
    return f"The service asks for a pause of {more}{spoken(seconds)}."


def spoken(seconds: float) -> str:
    """Return a span of time in words, rounded down.

    Example:
        >>> spoken(1), spoken(90), spoken(361)
        ('1 second', '90 seconds', '6 minutes')
    """
    whole = int(seconds)
    return counted(whole, "second") if whole < LONG else counted(whole // 60, "minute")


def asked(request: Request, to: str) -> str:
    """Return a request as one line; ``to`` is the number as it may be shown."""
    channel = CHANNELS[request.channel or "auto"]
    said = [channel, counted(request.length, "digit"), *([f"intent {request.intent}"] if request.intent else [])]
    return f"To {to}: {', '.join(said)}"


def lines(request: Request, *, sandbox: bool, ledger: str = "") -> str:
    """Return the code that does the same; number and codes stand in it by name, ``ledger`` is a path."""
    chosen = {
        "digits": request.digits,
        "intent": request.intent,
        "channel": request.channel,
        "signature": request.signature,
        "ttl": request.ttl,
    }
    options = [f"{name}={value!r}" for name, value in chosen.items() if value is not None]
    options += ["code=custom_code"] * bool(request.code) + [f"ledger={ledger!r}"] * bool(ledger)
    given = ", ".join(["number", "client", *options])
    client = "sms.Sandbox().client()" if sandbox else "sms.Client(sms.Settings.from_env())"
    return f"import smsotp_nb as sms\n\nclient = {client}\nchallenge = sms.otp.send({given})\nchallenge.verify(typed)"


@dataclass(frozen=True, slots=True)
class View:
    """All that a screen needs: which step, what is enabled, what is the one thing to do next, and the words."""

    stage: str
    step: int
    notice: Notice
    can_send: bool
    send_label: str
    can_enter: bool
    next: Literal["send", "verify", "restart"]
    asked: str = ""
    answered: bool = True
    left: int = 0
    lifetime: int = 0
    expired: bool = False
    code_length: int = 0
    pausing: int = 0
    pause: int = 0


def left_html(view: View) -> str:
    """Return how long the code is valid by the form's clock, in words and as a bar."""
    if view.stage not in ("entry", "checking"):
        return ""
    if view.expired:
        return skin.line("Code expired", "warn") + skin.bar(0.0)
    words = f'Code valid for <span class="smsotp-num">{_clock(view.left)}</span>'
    return f'<p class="smsotp-line">{words}</p>' + skin.bar(view.left / view.lifetime if view.lifetime else 0.0)


def pause_html(view: View) -> str:
    words = f'The service asks to wait: <span class="smsotp-num">{_clock(view.pausing)}</span> left'
    return f'<p class="smsotp-line">{words}</p>' + skin.bar(view.pausing / view.pause if view.pause else 0.0)


def verified_html(view: View) -> str:
    if view.stage != "verified":
        return ""
    return (
        '<div class="smsotp-verified" role="status"><i aria-hidden="true">✓</i><p class="smsotp-big">Verified</p>'
        f'<p class="smsotp-line">{safe(view.notice.text)}</p></div>'
    )


def _clock(seconds: int) -> str:
    return f"{seconds // 60}:{seconds % 60:02d}"
