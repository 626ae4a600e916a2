"""What the columns beside the numbers of a list say of each person: that texts are welcome, that they are not, or
nothing.

One reading serves both imports: a list of opt-ins must say no of nobody, and a list of opt-outs yes of nobody.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from .. import _dates as dates
from .._phones import SAYING_NO, declines, says_no
from .._values import no_value

_MOST: Final = 0.5  # of the filled cells of a column of answers say yes or no
_YES: Final = frozenset(
    "yes y true t 1 1.0 x ja j oui o si sì sí s sim da tak kyllä evet e hai ano áno igen wahr vrai verdadero "  # noqa: SIM905
    "verdad vero waar on in v ok okay так да ναι はい 是 对 同意 예 네 نعم כן हाँ ✓ ✔ ✅ ☑".split()
)
_NO: Final = frozenset(
    "no n false f 0 0.0 nein nie non não nao nej nei ei ee ne nem nu nee off out falsch faux falso onwaar yok "  # noqa: SIM905
    "hayır нет ні не όχι いいえ 否 不 不同意 아니요 아니오 لا לא नहीं ✗ ✘ ✕ ❌ ☒".split()
)
_COUNTED: Final = frozenset({"0", "0.0", "1", "1.0"})
_ANSWER: Final = re.compile(
    r"\A\W*(\w+|[^\w\s])(?:\W*|\s*[,.!;:–-].*"
    r"| +(?:thank|dank|please|bitte|gern|merc|graci|grazi|por|prego|obrig|tack|takk).*)"
)
_BETWEEN: Final = re.compile(r"[,;|/]")
_AGREED: Final = re.compile(
    r"(?:sms[ -])?(?:"
    r"(?:re)?subscribed|unstop|opt(?:ed)?[ -]?in|zugestimmt|eingewilligt|abonniert|inscrite?|abonn[eé]e?|suscrit[oa]"
    r"|inscrit[oa]|iscritt[oa]|ingeschreven|aangemeld|tilmeldt|påmeldt|anmäld|подписан[ао]?|согласен|согласна|已订阅|已同意"
    r")[.!]?(?:[ -]sms)?"
)
_AGREED_IN_PLACE: Final = re.compile(
    r"(?:sms[ -])?(?:"  # elsewhere these words may speak of anything
    r"start(?:ed)?|given|granted|consent(?:ed)?|agreed?|accept(?:ed)?|approved?|allow(?:ed)?|active|confirmed|enabled"
    r"|permitted|erteilt|angemeldet|aktiv|bestätigt|erlaubt|akzeptiert|erwünscht|donné|accordée?|acceptée?|autorisée?|aceptad[oa]"
    r"|concedid[oa]|otorgad[oa]|alta|accettat[oa]|concess[oa]|toegestaan|gegeven|udzielon[ao]|wyrażon[ao]|udělen[oa]?|lämnat|givet|verildi|дано|получено"
    r")[.!]?(?:[ -]sms)?"
)
_WITHDRAWN: Final = re.compile(
    r"(?:sms[ -])?(?:"
    r"(?:consent |opt[ -]?in )?(?:withdrawn|revoked|unsubscribed?|opt(?:ed)?[ -]?out|stop(?:p|ped)?|declined|refused"
    r"|denied|do[ -]?not[ -].*|dnc|widerrufen|widersprochen|abgemeldet|abgelehnt|d[eé]sinscrite?|d[eé]sabonn[eé]e?"
    r"|retir(?:ad[oa]|[eé]e?)|r[eé]voqu[eé]e?|refus[eé]e?|revocad[oa]"
    r"|wycofan[ae]|de baja|revocato|disiscritt[oa]|uitgeschreven|ingetrokken)"
    r")[.!]?(?:[ -]sms)?"
)
_OF_CONSENT: Final = re.compile(
    r"consen[ts]|opt(?:ed)? ?in(?:\b|\d)|zgod|souhlas|súhlas|izin|onay|同意|согласи|samtyk|samtyc"
    r"|status|subscri|permission|permiso|einwillig|zustimm|erlaub|agree|accept|allow|autoris"
    r"|toestem|\bgdpr\b|\bdsgvo\b|\bsms\b",
    re.IGNORECASE,
)
_OF_ANSWERS: Final = re.compile(  # a yes is one to texts
    r"text|keyword|event|reply|answer|antwort|réponse|respuesta|resposta|risposta|antwoord|svar|\bbody\b|message|nachricht"
    r"|\bmay we\b|dürfen|marketing|newsletter|werbung|contact|kontakt|ответ|рассыл|短信",
    re.IGNORECASE,
)
_OF_END: Final = re.compile(  # whoever it names is none any more
    r"\bdeleted?\b|\bremoved?\b|cancel|\bend(?:ed|s)?\b(?: (?:date|on|at)\b)?|\bleft\b|\bclosed\b|archived|terminat"
    r"|gelöscht|gekündigt|austritt|supprim|eliminad|borrad|resili|résili|verwijderd|opgezegd|usuni|удал",
    re.IGNORECASE,
)


class Says(NamedTuple):
    """The rows in which a column says that texts are welcome, and those in which it says that they are not."""

    yes: npt.NDArray[np.bool_]
    no: npt.NDArray[np.bool_]


def read(heading: str, cells: pd.Series, has_number: npt.NDArray[np.bool_], written: dates.Written, at: Any) -> Says:
    """Read a column by its heading, with blanks between its words, and its cells as stripped texts.

    ``at`` are the moments of the list, where it has them: a no on an earlier day than that of its row is none.
    """
    words = cells.str.casefold().str.replace("_", " ", regex=False).fillna("")
    words = words.mask(no_value(cells), "")
    filled = words.ne("").to_numpy(bool)
    answers = words.map({text: it[1] if (it := _ANSWER.fullmatch(text)) else "" for text in words.unique()})
    counts = (words.str.fullmatch(r"[0-9.]+") & ~words.isin(_COUNTED)).to_numpy(bool).any()
    if counts:
        answers = answers.mask(answers.isin(_COUNTED), "")
    yes, no = answers.isin(_YES).to_numpy(bool), answers.isin(_NO).to_numpy(bool)
    blank = has_number & ~filled
    marked = yes.any() and not no.any() and blank.any() and bool(yes[filled].all())  # what is not marked is a no
    differ = marked or bool(yes.any() and no.any() and (yes | no).sum() >= _MOST * filled.sum())
    of_no = SAYING_NO.search(heading) is not None or declines(heading)
    of_end = not of_no and _OF_END.search(heading) is not None
    agreed = _of_each(words, _one_of(_AGREED))
    named = not (of_no or of_end) and _OF_CONSENT.search(heading) is not None
    of_consent = named or bool(agreed.any() and agreed.sum() >= _MOST * filled.sum() and not of_no)
    of_answers = of_consent or (not of_no and _OF_ANSWERS.search(heading) is not None)
    ended = yes
    if not (of_no or of_answers or differ) or of_end:
        yes, no = np.zeros_like(yes), np.zeros_like(no)
    elif marked:
        no = blank
    if of_no:
        yes, no = no, yes
    refused = _of_each(words, declines) | _of_each(words, _one_of(_WITHDRAWN))
    if of_consent:
        refused |= _of_each(words, says_no) & ~yes | words.isin(["pending", "expired", "bounced"]).to_numpy(bool)
    if of_no or of_end:
        said = dates.read(cells.reset_index(drop=True), written)
        day = said.wall.astype("datetime64[D]")
        earlier = ~np.isnat(day) & (day < at.wall.astype("datetime64[D]") if at is not None else False)
        of_cells = filled & ~yes if of_no else ended | ~np.isnat(day)
        refused = (refused | of_cells) & ~earlier
        no = no & ~earlier
    if of_answers or (refused.any() and not of_no):
        agreed = agreed | _of_each(words, _one_of(_AGREED_IN_PLACE))
    said_yes = (yes | agreed) & ~refused
    if of_consent and said_yes.any():  # among such answers, one that we do not know is no yes
        refused |= filled & ~said_yes
    return Says(said_yes, no | refused)


def _one_of(whole: re.Pattern[str]) -> Callable[[str], bool]:
    """Return whether a text, or one of those that it lists, is such a word."""
    return lambda text: any(whole.fullmatch(part.strip()) for part in _BETWEEN.split(text))


def _of_each(texts: pd.Series, says: Callable[[str], bool]) -> npt.NDArray[np.bool_]:
    """Mark the texts that say so, addresses of mail and of pages aside."""
    words = {text: " ".join(one for one in text.split() if "@" not in one and "://" not in one)
             for text in texts.unique()}  # fmt: skip
    return texts.map({text: bool(rest) and says(rest) for text, rest in words.items()}).to_numpy(bool)
