"""The panes of the passcode form as HTML: a step that is past, the time left, a pause, the end. All is escaped."""

from __future__ import annotations

from ..._cards import safe
from .. import skin
from .steps import View


def past_html(view: View) -> str:
    """Return the step that is past as one line; a sign says whether the service answered."""
    return skin.line(view.asked, "ok" if view.answered else "warn") if view.asked else ""


def left_html(view: View) -> str:
    """Return how long the code is valid by the form's clock, in words and as a bar."""
    if view.stage not in ("entry", "checking"):
        return ""
    if view.expired:
        return _bar('<p class="smsotp-line smsotp-warn">! Code expired</p>', 0.0)
    words = f'Code valid for <span class="smsotp-num">{_clock(view.left)}</span>'
    return _bar(f'<p class="smsotp-line">{words}</p>', view.left / view.lifetime if view.lifetime else 0.0)


def pause_html(view: View) -> str:
    """Return the pause that the service asked for as it passes, in words and as a bar."""
    words = f'The service asks to wait: <span class="smsotp-num">{_clock(view.pausing)}</span> left'
    return _bar(f'<p class="smsotp-line">{words}</p>', view.pausing / view.pause if view.pause else 0.0)


def verified_html(view: View) -> str:
    """Return the end of the form, large."""
    if view.stage != "verified":
        return ""
    return (
        '<div class="smsotp-verified" role="status"><i aria-hidden="true">✓</i><p class="smsotp-big">Verified</p>'
        f'<p class="smsotp-line">{safe(view.notice.text)}</p></div>'
    )


def notice_html(view: View) -> str:
    """Return what was last said; at the end the large words say it."""
    return "" if view.stage == "verified" else skin.notice(view.notice.text, view.notice.sign)


def _bar(words: str, share: float) -> str:
    return f'{words}<div class="smsotp-track"><div class="smsotp-bar" style="width:{share:.1%}"></div></div>'


def _clock(seconds: int) -> str:
    return f"{seconds // 60}:{seconds % 60:02d}"
