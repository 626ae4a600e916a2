"""What words beside a number say: that it must not be texted, that nothing speaks against it, or nothing we understand.

A word that ``notes.txt`` does not know keeps a row from being texted, too, but then its owner is asked what it means.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from importlib.resources import files
from typing import Final, Literal

Says = Literal["no", "nothing", "other person", "unclear"]

STROKES: Final = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ð": "d", "ı": "i", "æ": "ae", "œ": "oe", "ё": "е"})


def folded(text: str) -> str:
    """Return text without case, accents and vowel signs, in which words of a list are looked for."""
    if not text.isascii():
        signs = unicodedata.normalize("NFKD", text.casefold())
        return "".join(sign for sign in signs if unicodedata.category(sign)[0] != "M").translate(STROKES)
    return text.casefold()


def _lists() -> dict[str, list[str]]:
    """Return the lists of ``notes.txt`` by their names, folded."""
    lists: dict[str, list[str]] = {}
    words: list[str] = []
    for line in (files(__package__) / "notes.txt").read_text("utf-8").splitlines():
        if line.startswith("["):
            words = lists.setdefault(line.strip("[]"), [])
        elif not line.startswith("#"):
            words += folded(line).split()
    return lists


LISTS: Final = _lists()
WORDS: Final = frozenset(LISTS["words that say no"])
STEMS: Final = re.compile("|".join(map(re.escape, LISTS["parts of words that say no"])))
SIGNS: Final = tuple(LISTS["signs that say no"])
ABSENT: Final = frozenset(LISTS["words that say that there is no number"])
ABSENT_SIGNS: Final = re.compile("无|無|没有|沒有|なし|無し|없음|空号|空號|不存在|ไม่มี")
HARMLESS: Final = frozenset(LISTS["words that say nothing"])
OTHER_PEOPLE: Final = frozenset(LISTS["words for other people"])
ALSO_NAMES: Final = frozenset(LISTS["words for other people, but names with a capital"])  # Anne, or Turkish for mother
ALONE_A_WIFE: Final = "frau"  # before a name a title
HARMLESS_SIGNS: Final = frozenset("".join(LISTS["signs that say nothing"]))
SURNAMES: Final = tuple(unicodedata.normalize("NFC", name) for name in LISTS["surnames without blanks"])
HONORIFICS: Final = tuple(unicodedata.normalize("NFC", word) for word in LISTS["honorifics without blanks"])
SCRIPTS: Final = frozenset(unicodedata.name(word[0]).split()[0] for word in (*WORDS, *SIGNS))
PARTICLES: Final = frozenset(
    "van von der den de del della di da dos das du la le el al bin ibn ben ter ten zu".split()  # noqa: SIM905
)
NAMES: Final = 3  # words of a name at most, without its particles
LETTERS: Final = re.compile(r"[^\W\d_]+")
MARKS: Final = (
    "\u0300-\u036f\u0591-\u05c7\u064b-\u0670\u0900-\u0903\u093a-\u0963\u0980-\u0fff\u1000-\u109f\u1780-\u17ff"
)
WORD: Final = re.compile(rf"[^\W\d_](?:[^\W\d_]|[{MARKS}])*+")
EAST: Final = 4  # signs of a Chinese, Japanese or Korean name
ANY_WORD: Final = re.compile(r"[a-z][^0-9]{0,2}[a-z]|n['`]")  # is in any text in ASCII with a word that says no
LATIN_NOT: Final = re.compile(r"n['’ʼ`´]t\b")
FRENCH_NOT: Final = re.compile(r"\bn['’ʼ`´](?=\w)")
SPELLED: Final = re.compile(r"(?<![^\W_])[^\W\d_](?:[ .]{1,2}[^\W\d_]){2,}(?![^\W_])")  # S T O P, R.I.P.
ALONE: Final = (
    r"(?:only|just|nur|lediglich|solo|seulement|uniquement|alleen|endast|kun|bara|tylko|somente|apenas|sadece|тольк[ои]|лише"
    r"|فقط)"
)
# What a number is said to be there for alone, so that nobody texts it: need, calls, and other ways to write.
FOR: Final = (
    r"(?:emergen|notfall|urgen|noodgeval|nodsituation|calls?\b|calling|voice|anruf|appel|llamad|chiamat|bel(?:len)?\b|dzwon"
    r"|ligac|ring\b|(?<!mobile )(?<!cell )phone(?: calls?|\b)|tele(?:f|ph)|tel\b|звон|дзвін|телеф|هاتف|اتصال"
    r"|whats|wapp|viber|telegram|signal|wechat|messenger|mail|post\b)"
)
FOR_THAT_ALONE: Final = re.compile(rf"\b{ALONE} {{1,3}}(?:\w{{1,9}} {{1,3}})?{FOR}|{FOR}\w{{0,9}} {{1,3}}{ALONE}\b")
SOMEBODY_ELSE: Final = re.compile(
    r"\b(?:an)?(?:other|new|different|neue[rs]?|andere[rs]?|nuev[oa]|otr[oa]|nouve(?:au|l|lle)|autre|nuov[oa]|altr[oa])"
    r" (?:customer|client|owner|person|family|user|tenant|holder|people|kunde|besitzer|inhaber|familie|nutzer"
    r"|client[ea]|due[ñn][oa]|persona|familia|propri[ée]taire|personne|famille|proprietari[oa]|famiglia)",
)
PUNCTUATION: Final = frozenset(" \t\r\n()[]<>{},;:.-–—/&'’`´\"|*+#!=~\u200d\ufe0f")
SOUTHERN: Final = 12  # letters of a name in a script without capitals
EASTERN: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


NUMBER_WORD: Final = re.compile(r"\b(?:no\.|nr\b\.?)", re.IGNORECASE)
REFUSED: Final = re.compile(  # what is said in a cell without a number; that there is no phone is another matter
    r"\bstop+\b|opt(?:ed)?[ -]?out|unsub|\bdo[ -]?not\b|\bdon['’]?t\b|\bdn[cdtm]\b|revok|withdr|suppress"
    r"|black ?list|robinson|\bblocked\b|deceased|\bdied?\b|\bdead\b|verst(?:orben|\.)|\btot\b|fallecid|d[eé]c[eé]d"
    r"|overleden|zmar[lł]|\bno (?:sms|texts?|messages|marketing|contact|calls)\b"
    r"|\bkeine? (?:sms|werbung|nachricht|kontakt|anruf)"
    r"|\bnicht (?:anruf|kontakt|anschreib|texten|sms)|widerr|widerspr|gesperrt|abgemeldet|abmeld"
    r"|\bbaja\b(?! california)|d[eé]sabonn|d[eé]sinscri"
    r"|\bne pas\b|\bno (?:llamar|contactar|enviar)|\bniet (?:bellen|sms)|disiscri|uitgeschreven",
    re.IGNORECASE,
)


OF_TEXTS: Final = re.compile(  # what somebody says no to
    r"\bsms|text|messag|mensa|nachricht|mitteilung|werb|reklam|pub\b|publicit|advert|market|contac|kontakt|\bcalls?\b"
    r"|\bcalled|anruf|anschreib|ruf|appel|llam|chiam|bell|newsl|subscri|abon|interes|intér|wunsch|wünsch|möcht|moecht|want|wish"
    r"|souhait|quier|desea|vuol|\bwil\b|chce|\bvill?\b|ønsk|halu|istem|хоч|смс|сообщ|рассыл|звон|短信|信息|联系|聯絡|メッセージ|連絡|문자|연락",
    re.IGNORECASE,
)


def declines(text: str) -> bool:
    """Return whether words of any column of a list say that somebody wants no texts.

    Example:
        >>> [declines(it) for it in ("möchte keine SMS", "ne souhaite pas de SMS", "old customer", "Le Mans")]
        [True, True, False, False]
    """
    return refuses(text) or (OF_TEXTS.search(text) is not None and says_no(NUMBER_WORD.sub(" ", text)))


def says_no(text: str) -> bool:
    """Return whether words of a cell say that its number must not be texted.

    Example:
        >>> [says_no(it) for it in ("0171 1234567 (nicht anrufen!)", "Faxnummer: 030 1", "n'appelez plus", "Ann")]
        [True, True, True, False]
    """
    plain = text.casefold()
    if plain.isascii() and not ANY_WORD.search(plain):
        return False
    plain = folded(FRENCH_NOT.sub("ne ", LATIN_NOT.sub(" not", plain)))
    if not plain.isascii() and any(sign in plain for sign in SIGNS):
        return True
    if FOR_THAT_ALONE.search(plain):
        return True
    plain = SPELLED.sub(lambda word: re.sub(r"[ .]", "", word[0]), plain)
    words = [word for word in LETTERS.findall(plain) if word not in HARMLESS]  # none of these says no
    return not WORDS.isdisjoint(words) or STEMS.search(" ".join(words)) is not None


@lru_cache(maxsize=4096)
def read(note: str) -> Says:
    """Return what words beside a number say.

    Example:
        >>> [read(it) for it in ("(home)", "- Ann van Dyck", "(do not text)", "(ring twice)", "(mobile?)")]
        ['nothing', 'nothing', 'no', 'unclear', 'unclear']
        >>> [read(it) for it in ("Tfno.", "携帯", "王小明", "(김철수)", "使われていません")]
        ['nothing', 'nothing', 'nothing', 'nothing', 'no']
    """
    if says_no(note):
        return "no"
    if of_other_people(note):
        return "other person"
    if SOMEBODY_ELSE.search(note.casefold()):
        return "unclear"
    if not all(
        sign in PUNCTUATION or sign in HARMLESS_SIGNS for sign in note if unicodedata.category(sign)[0] not in "LM"
    ):
        return "unclear"
    words = WORD.findall(unicodedata.normalize("NFC", note))
    unknown = [word for word in words if folded(word) not in HARMLESS and word not in PARTICLES]
    names = [word for word in unknown if not (len(word) == 1 and word.isupper())]  # beside initials
    known = len(names) <= NAMES and all(map(_like_a_name, names)) and bool(names or not unknown)
    return "nothing" if known else "unclear"


def of_other_people(text: str) -> bool:
    """Return whether words beside a number say that it is somebody else's: a relative's, a neighbour's, a colleague's.

    Example:
        >>> [of_other_people(it) for it in ("(neighbour)", "Mom's cell", "(Frau)", "(Frau Meier)", "(home)")]
        [True, True, True, False, False]
    """
    words = WORD.findall(unicodedata.normalize("NFC", text))
    if any(folded(word) in OTHER_PEOPLE and not _is_name_too(word) for word in words):
        return True
    names = [word for word in words if folded(word) not in HARMLESS and folded(word) != ALONE_A_WIFE]
    return not names and any(folded(word) == ALONE_A_WIFE for word in words)


def _is_name_too(word: str) -> bool:
    return word[0].isupper() and folded(word) in ALSO_NAMES


def _like_a_name(word: str) -> bool:
    """Return whether a word is written like a name; a single letter may stand for anything."""
    if EASTERN.search(word):
        return word.endswith(HONORIFICS) or (word.startswith(SURNAMES) and 2 <= len(word) <= EAST)
    if word[:1].lower() == word[:1].upper():  # no capitals in this script, of which we must know what says no
        return 2 <= len(word) <= SOUTHERN and unicodedata.name(word[0]).split()[0] in SCRIPTS
    return len(word) > 1 and word[0].isupper() and word[1:] == word[1:].lower()


def of_all_numbers(text: str) -> bool:
    """Return whether a cell of several numbers says no to any of them; that one is a fax says nothing of the others."""
    return says_no(" ".join(word for word in text.split() if "fax" not in word.casefold()))


def refuses(text: str) -> bool:
    """Return whether words without a number say that somebody is not to be texted.

    Example:
        >>> [refuses(it) for it in ("STOP", "do not call", "deceased", "no landline", "unknown", "moved")]
        [True, True, True, False, False, False]
    """
    return REFUSED.search(text) is not None


def refuses_alone(text: str) -> bool:
    """Return whether a cell of phones without a number says no, rather than that there is none.

    Example:
        >>> [refuses_alone(it) for it in ("não enviar", "退订", "†", "kein Handy", "No", "invalid", "無し")]
        [True, True, True, False, False, False, False]
    """
    plain = folded(ABSENT_SIGNS.sub(" ", text))
    words = LETTERS.findall(plain)
    of_person = not words or any(word not in ABSENT and word not in HARMLESS for word in words)
    return declines(text) or (of_person and says_no(plain))
