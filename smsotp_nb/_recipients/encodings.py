"""The encoding of a text that does not name it: the one that makes words of one language out of its bytes.

A list of names is too short and too mixed for a detector that compares frequencies: charset-normalizer 3.5 finds 9 of
the 19 encodings in which ``tests/recipients/test_ugly_files.py`` writes names. Here each encoding that decodes the
bytes is judged by what comes out: letters that one language uses, in words whose capitals stand first.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Final

BYTE_ORDER_MARKS: Final = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
# Letters beside a-z of the languages that are written in each encoding, the likelier ones of equals first.
WESTERN: Final = (
    *("äöüßé", "àâçéèêëîïôœùûüÿæ", "áéíñóúü", "ãõáâàéêíóôúçü", "àèéìíòóù", "åäöé", "æøåéö", "ëéïöüèê"),
    *("àçèéíïòóúü·", "äöõüšž"),
)
CENTRAL: Final = ("ąćęłńóśźż", "áčďéěíňóřšťúůýž", "áéíóöőúüű", "ăâîşţșț", "čćđšž", "áäčďéíĺľňóôŕšťúýž", "äöüß", "ëç")
CYRILLIC: Final = (
    "абвгдежзийклмнопрстуфхцчшщъыьэюяё",
    "абвгґдеєжзиіїйклмнопрстуфхцчшщьюя",
    "абвгдђежзијклљмнњопрстћуфхцчџш",
)
LANGUAGES: Final = {
    "cp1252": WESTERN,
    "cp1250": CENTRAL,
    "cp1251": CYRILLIC,
    "cp1254": ("çğıöşüi̇",),
    "cp1253": ("αβγδεζηθικλμνξοπρστυφχψωςάέήίόύώϊϋΐΰ",),
    "cp1257": ("āčēģīķļņšūž", "ąčęėįšųūž", "äõöüšž"),
    "cp1255": ("אבגדהוזחטיכךלמםנןסעפףצץקרשת",),
    "cp1256": ("ءآأؤإئابةتثجحخدذرزسشصضطظعغفقكلمنهوىيپچژگ",),
    "cp874": ("".join(map(chr, range(0x0E01, 0x0E4F))),),
    "cp932": (),
    "gb18030": (),
    "big5": (),
    "cp949": (),
    "euc_jp": (),
    "koi8-u": CYRILLIC,
    "iso8859-2": CENTRAL,
    "iso8859-15": WESTERN,
    "mac_roman": WESTERN,
    "cp850": WESTERN,
    "cp852": CENTRAL,
    "cp866": CYRILLIC,
    "mac_cyrillic": CYRILLIC,
    "cp1258": ("ăâđêôơư",),
    "cp437": WESTERN,
}
RARE: Final = 0.9  # Iceland's letters are where Turkey's stand in the same bytes, and its lists are fewer
WORD: Final = re.compile(r"[^\W\d_]+(?:['’\-][^\W\d_]+)*")
BESIDE_DIGIT: Final = re.compile(  # a letter alone beside a number, where another encoding has a sign of a currency
    r"\d[ \u00a0]?[^\W\d_a-zA-Z](?![^\W\d_])|(?<![^\W\d_])[^\W\d_a-zA-Z][ \u00a0]?\d"
)
PLAIN: Final = frozenset("€£°§©®«»“”„‘’–—…·ºª¿¡№、。・「」（）　\u00a0")
ENOUGH: Final = 4_000  # characters that are judged


def marked(beginning: bytes) -> str | None:
    """Return the encoding that a byte order mark, an escape sequence, or every second byte being zero, tells."""
    for mark, encoding in BYTE_ORDER_MARKS:
        if beginning.startswith(mark):
            return encoding
    if re.search(rb"\x1b\$[@B]", beginning):
        return "iso2022_jp"
    size = len(beginning) // 2
    if size > 4:
        for place, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
            if beginning[place::2].count(0) > 0.6 * size and beginning[1 - place :: 2].count(0) < 0.1 * size:
                return encoding
    return None


def likeliest(lines: Iterable[bytes], fits: Callable[[str], bool]) -> str:
    """Return the encoding in which lines with bytes beyond ASCII read best, of those that fit the whole file."""
    sample = b"\n".join(lines)
    worth = {encoding: _worth(sample, encoding) for encoding in LANGUAGES}
    for encoding in sorted(worth, key=lambda name: -worth[name]):
        if worth[encoding] > float("-inf") and fits(encoding):
            return encoding
    return "latin-1"


def _worth(sample: bytes, encoding: str) -> float:
    try:
        text = codecs.decode(sample, encoding)
    except UnicodeDecodeError:
        return float("-inf")
    signs = [sign for sign in text if sign > "\x7f"][:ENOUGH]
    if not signs:
        return float("-inf")
    shape = sum(_misplaced(word) for word in WORD.findall(text[: 4 * ENOUGH]))
    if not LANGUAGES[encoding]:
        # Half-width kana do not stand alone; the sign of a pound does.
        shape += len(re.findall("(?<![\uff61-\uff9f])[\uff61-\uff9f](?![\uff61-\uff9f])", text))
        return (sum(_of_east_asia(sign, encoding) for sign in signs) - shape) / len(signs)
    shape += len(BESIDE_DIGIT.findall(text[: 4 * ENOUGH]))
    letters = [sign.lower() for sign in signs if sign.isalpha() or encoding in ("cp874", "cp1255", "cp1256")]
    languages = LANGUAGES[encoding]
    best: float = max(sum(letter in language for letter in letters) for language in languages)
    if encoding == "cp1252":
        best = max(best, RARE * sum(letter in "áéíóúýþðæö" for letter in letters))
    known = sum(any(letter in language for language in languages) for letter in letters)
    odd = sum(
        not (sign.isalpha() or sign in PLAIN or "\u0590" < sign < "\u0700") for sign in signs if encoding != "cp874"
    )
    controls = sum("\x80" <= sign < "\xa0" for sign in signs)
    inside = len(re.findall(r"[^\W\d_][^\w\s'’\-,;|.:/()&\"+@]+[^\W\d_]", text))
    return (0.7 * best + 0.3 * known - odd - 4 * controls - shape - inside) / len(signs)


def _misplaced(word: str) -> float:
    """Return what is odd about a word: a capital inside, no capital first where the script has them, two scripts."""
    if word.isascii():
        return 0.0
    parts = re.split(r"['’\-]", word)
    inside: int = sum(after.isupper() and (before.islower() or part[at + 2 : at + 3].islower())
                 for part in parts for at, (before, after) in enumerate(pairwise(part)))  # fmt: skip
    mixed = len({letter < "\u0250" for letter in word if letter.isalpha()}) > 1
    return inside + mixed + (0.1 if word[0] > "\x7f" and word[0].islower() else 0.0)


def _of_east_asia(sign: str, encoding: str) -> float:
    """Return what a sign is worth in one of the encodings of two bytes: those in daily use stand in its first rows."""
    if "\uff61" <= sign <= "\uff9f":  # half-width kana
        return 0.2 if encoding == "cp932" else -1.0
    if sign in PLAIN:
        return 0.5
    if "\u3040" <= sign <= "\u30ff":
        return 1.0 if encoding in ("cp932", "euc_jp") else 0.2
    try:
        first = sign.encode({"cp932": "euc_jp", "gb18030": "gb2312", "cp949": "euc_kr"}.get(encoding, encoding))[0]
    except UnicodeEncodeError:
        return -1.0
    daily = {"cp932": (0xB0, 0xCF), "euc_jp": (0xB0, 0xCF), "gb18030": (0xB0, 0xD7), "big5": (0xA4, 0xC6)}
    low, high = daily.get(encoding, (0xB0, 0xC8))
    if not low <= first <= high or not sign.isalpha():
        return -0.2
    return {"cp949": 1.0, "cp932": 1.0, "big5": 0.98, "gb18030": 0.96, "euc_jp": 0.9}[encoding]
