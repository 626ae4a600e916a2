"""What the passcode form says of an outcome: the service's word as such, and what our own clock and count add to it.

The service answers a check with valid or not, and nothing else: whether a code is wrong, expired, used up or locked is
in no reply. What the form concludes from its clock and its count is therefore said to be its own.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..._cards import counted
from ...otp import Request

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


@dataclass(frozen=True, slots=True)
class Known:
    """What the form knows of a passcode by itself.

    ``age`` and ``lifetime`` in seconds, by the clock named ``clock``; ``left`` of ``most`` wrong codes that the form
    takes; ``unanswered``: an earlier check got no answer; ``sent``: how many passcodes were asked for so far;
    ``accepted``: the service said that it took the last one.
    """

    age: float
    lifetime: int
    clock: str
    left: int
    most: int
    unanswered: bool = False
    sent: int = 1
    accepted: bool = True


def no_match(known: Known) -> str:
    """Return what to say when the service answers that a code is not valid.

    Example:
        >>> print(no_match(Known(age=361, lifetime=300, clock="this machine's clock", left=4, most=5)))
        The service says that the code does not match. By this machine's clock it was sent 6 minutes ago and was valid \
for 5 minutes: it has most likely expired. Send a new code.
    """
    return f"{NO_MATCH} {_ours(known)}"


def _ours(known: Known) -> str:
    if known.age >= known.lifetime:
        sent, valid = spoken(known.age), spoken(known.lifetime)
        how = "sent" if known.accepted else "asked for"
        since = f"By {known.clock} it was {how} {sent} ago and was valid for {valid}"
        return f"{since}: it has most likely expired. Send a new code."
    if known.left <= 0:
        return (
            f"That was wrong code {known.most} of the {known.most} that this form takes for one passcode; how many the "
            "service takes is not known. Send a new code."
        )
    if known.unanswered:
        return USED_UP
    which = "Use the code of the newest message" if known.sent > 1 else "Check it and try again"
    return f"{which}; {'1 try' if known.left == 1 else f'{known.left} tries'} left in this form."


def expired(clock: str) -> str:
    """Return what to say when the lifetime is over and nobody has entered a code since."""
    return f"By {clock} this passcode has expired. Send a new code."


def pause(seconds: float | None, *, longest: float) -> str:
    """Return what the service asked for when it throttled a request.

    Example:
        >>> pause(10, longest=300), pause(None, longest=300)
        ('The service asks for a pause of 10 seconds.', 'The service asks for a pause and does not say how long.')
    """
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
    """Return a request as one line; ``to`` is the number as it may be shown.

    Example:
        >>> asked(Request("+12025550123", intent="login", channel="sms"), "+1202...0123")
        'To +1202...0123: SMS, 6 digits, intent login'
    """
    channel = CHANNELS[request.channel or "auto"]
    said = [channel, counted(request.length, "digit"), *([f"intent {request.intent}"] if request.intent else [])]
    return f"To {to}: {', '.join(said)}"


def lines(request: Request, *, sandbox: bool, ledger: str = "") -> str:
    """Return the code that does the same; number and codes stand in it by name, ``ledger`` is a path.

    Example:
        >>> print(lines(Request("+12025550123", intent="login"), sandbox=True))
        import smsotp_nb as sms
        <BLANKLINE>
        client = sms.Sandbox().client()
        challenge = sms.otp.send(number, client=client, intent='login')
        challenge.verify(typed)
    """
    chosen = {
        "digits": request.digits,
        "intent": request.intent,
        "channel": request.channel,
        "signature": request.signature,
        "ttl": request.ttl,
    }
    options = [f"{name}={value!r}" for name, value in chosen.items() if value is not None]
    options += ["code=custom_code"] * bool(request.code) + [f"ledger={ledger!r}"] * bool(ledger)
    given = ", ".join(["number", "client=client", *options])
    client = "sms.Sandbox().client()" if sandbox else "sms.Client(sms.Settings.from_env())"
    return f"import smsotp_nb as sms\n\nclient = {client}\nchallenge = sms.otp.send({given})\nchallenge.verify(typed)"
