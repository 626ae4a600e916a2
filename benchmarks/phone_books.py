"""How many numbers of an address book are read, and how many strangers texted, beside phonenumbers and its matcher.

    python benchmarks/phone_books.py [--rows N] [--seed N] [--held-out] [--habits] [--worst N]

Each list is one country's address book as CRM exports hold it: people at home and abroad, their numbers drawn from the
ranges of phonenumbers' metadata, written by national conventions and by the habits of those who type, paste and export.
The truth is known by construction: a row's number, or nobody where two people, a refusal or too few digits stand in the
cell. A row is *right* where its own number is texted; a *stranger* where any other is, also where nobody should be.
``--held-out`` makes books of other countries with words and labels that no rule was written from, ``--habits`` counts
by habit instead of by list.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import pandas as pd
import phonenumbers
from phonenumbers import PhoneNumber, PhoneNumberFormat, PhoneNumberMatcher, PhoneNumberType

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[1] / "tests")]
from support import phone_lists  # noqa: E402

from smsotp_nb._phones import reference  # noqa: E402

Drawing = random.Random
MOBILE, LANDLINE = ("MOBILE", "FIXED_LINE_OR_MOBILE"), ("FIXED_LINE",)
TRIES: Final = 300
HOMES: Final = (
    *("AR", "AT", "AU", "BE", "BR", "CH", "CL", "CN", "CO", "CZ", "DE", "DK", "EG", "ES", "FR", "GB", "ID", "IN", "IT"),
    *("JP", "KR", "MX", "NL", "NO", "PL", "RU", "SA", "SE", "TR", "US", "VN", "ZA"),
)
HELD_OUT_HOMES: Final = (
    *("AE", "BD", "BG", "CA", "EC", "FI", "GH", "GR", "HK", "HR", "HU", "IE", "IL", "IR", "KE", "KZ", "MA", "MY", "NG"),
    *("NZ", "PE", "PH", "PK", "PT", "RO", "RS", "SG", "SK", "TH", "TW", "UA"),
)


def _drawn(tree: Any, draw: Drawing) -> str:
    """Return a text that a pattern of digits matches."""
    text = ""
    for kind, value in tree:
        name = str(kind)
        if name == "LITERAL":
            text += chr(value)
        elif name == "IN":
            text += draw.choice([chr(code) for item in value for code in _codes(item)])
        elif name == "MAX_REPEAT":
            least, most, part = value
            text += "".join(_drawn(part, draw) for _ in range(draw.randint(least, min(most, 20))))
        elif name == "SUBPATTERN":
            text += _drawn(value[-1], draw)
        elif name == "BRANCH":
            text += _drawn(draw.choice(value[1]), draw)
        else:
            raise ValueError(name)
    return text


def _codes(item: Any) -> range:
    kind, value = str(item[0]), item[1]
    if kind == "LITERAL":
        return range(value, value + 1)
    return range(value[0], value[1] + 1) if kind == "RANGE" else range(ord("0"), ord("9") + 1)


def number_of(region: str, kinds: tuple[str, ...], draw: Drawing) -> PhoneNumber:
    """Draw a valid number of a region and a kind from the whole of its ranges."""
    plan: Any = phonenumbers.PhoneMetadata.metadata_for_region(region)
    desc = plan.mobile if kinds == MOBILE else plan.fixed_line
    tree = re._parser.parse(desc.national_number_pattern)  # type: ignore[attr-defined]
    code = phonenumbers.country_code_for_region(region)
    for _ in range(TRIES):
        digits = _drawn(tree, draw)
        zeros = len(digits) - len(digits.lstrip("0"))
        found = PhoneNumber(country_code=code, national_number=int(digits))
        if zeros:
            found.italian_leading_zero, found.number_of_leading_zeros = True, zeros
        if (
            len(digits) - zeros
            and phonenumbers.is_valid_number_for_region(found, region)
            and PhoneNumberType.to_string(phonenumbers.number_type(found)) in kinds
        ):
            return found
    return number_of(region, MOBILE, draw)  # North America and Denmark do not tell landlines from mobiles


def e164(number: PhoneNumber) -> str:
    return phone_lists.written(number, PhoneNumberFormat.E164)


def abroad(number: PhoneNumber) -> str:
    return phone_lists.written(number, PhoneNumberFormat.INTERNATIONAL)


def at_home(number: PhoneNumber) -> str:
    return phone_lists.written(number, PhoneNumberFormat.NATIONAL)


def digits(number: PhoneNumber) -> str:
    return e164(number)[1:]


def significant(number: PhoneNumber) -> str:
    return str(phonenumbers.national_significant_number(number))


def bare(number: PhoneNumber) -> str:
    return re.sub(r"\D", "", at_home(number))


def grouped(text: str, by: str) -> str:
    """Return a number's text with other separators, or its digits in groups if it has none."""
    if re.search(r"\d[ \-]+\d", text):
        return re.sub(r"[ \-]+", by, text)
    head, tail = text[: len(text) - 6], text[-6:]
    return by.join(part for part in (head, tail[:3], tail[3:]) if part)


def code_of(number: PhoneNumber) -> str:
    return f"+{number.country_code}"


@dataclass(frozen=True, slots=True)
class Person:
    """Whose number it is: the number, whether it is of the book's country, and another number of the same country."""

    number: PhoneNumber
    home: bool
    other: PhoneNumber


Habit = Callable[[Person, Drawing], str]


def plainly(person: Person, draw: Drawing) -> str:
    """Write a number as people of the country do, without a mess."""
    number = person.number
    ways: list[Callable[[PhoneNumber], str]] = [
        e164,
        abroad,
        abroad,
        lambda it: "00" + digits(it),
        lambda it: abroad(it).replace("-", " "),
        lambda it: grouped(abroad(it), draw.choice((".", "-", ""))),
    ]
    if person.home:
        ways = [at_home] * 4 + [bare, bare, *ways, lambda it: grouped(at_home(it), draw.choice((".", "-", "/")))]
    return draw.choice(ways)(number)


def _international(person: Person, draw: Drawing) -> str:
    return draw.choice((e164, abroad))(person.number)


def _no_plus(person: Person, draw: Drawing) -> str:
    return draw.choice((digits, lambda it: abroad(it)[1:]))(person.number)


LINKS: Final[tuple[Habit, ...]] = (
    lambda it, _: f"https://wa.me/{digits(it.number)}",
    lambda it, _: f"wa.me/{digits(it.number)}",
    lambda it, _: f"http://wa.me/+{digits(it.number)}?text=Hola%20%20123",
    lambda it, _: f"https://api.whatsapp.com/send?phone={digits(it.number)}",
    lambda it, _: f"https://api.whatsapp.com/send/?phone=%2B{digits(it.number)}&text&type=phone_number&app_absent=0",
    lambda it, _: f"https://web.whatsapp.com/send?text=hi&phone={digits(it.number)}",
    lambda it, _: f"whatsapp://send?phone={digits(it.number)}",
    lambda it, _: "tel:" + phone_lists.written(it.number, PhoneNumberFormat.RFC3966).removeprefix("tel:"),
    lambda it, _: f"tel:{e164(it.number)}",
    lambda it, _: f"tel://{e164(it.number)}",
    lambda it, _: f"tel:{significant(it.number)};phone-context={code_of(it.number)}",
    lambda it, _: f"sms:{e164(it.number)}?body=Hello%2020",
    lambda it, _: f"sms://{e164(it.number)};?&body=x",
    lambda it, _: f"smsto:{e164(it.number)}",
    lambda it, draw: f"TEL;TYPE=CELL:{_international(it, draw)}",
    lambda it, draw: f"TEL;TYPE=CELL,VOICE;PREF=1:{_international(it, draw)}",
    lambda it, _: f"TEL;VALUE=uri;TYPE=cell:tel:{e164(it.number)}",
    lambda it, draw: f"item1.TEL;type=CELL;type=VOICE;type=pref:{_international(it, draw)}",
    lambda it, _: f'<a href="tel:{e164(it.number)}">{abroad(it.number)}</a>',
    lambda it, _: f"[{abroad(it.number)}](tel:{e164(it.number)})",
    lambda it, _: f"callto:{e164(it.number)}",
)
HELD_OUT_LINKS: Final[tuple[Habit, ...]] = (
    lambda it, _: f"{digits(it.number)}@c.us",
    lambda it, _: f"{digits(it.number)}@s.whatsapp.net",
    lambda it, _: f"viber://chat?number=%2B{digits(it.number)}",
    lambda it, _: f"viber://add?number={digits(it.number)}",
    lambda it, _: f"https://t.me/+{digits(it.number)}",
    lambda it, _: f"https://signal.me/#p/+{digits(it.number)}",
    lambda it, _: f"sip:+{digits(it.number)}@sip.example.com;user=phone",
    lambda it, _: f"facetime:+{digits(it.number)}",
    lambda it, _: f"skype:+{digits(it.number)}?call",
    lambda it, _: f"imessage:+{digits(it.number)}",
    lambda it, _: f"TEL;WORK;VOICE:{abroad(it.number)}",
    lambda it, _: f"TEL;CELL:{abroad(it.number)}",
    lambda it, _: f"<tel:{e164(it.number)}>",
    lambda it, _: f"tel:{quote(abroad(it.number))}",
    lambda it, _: f"https://wa.me/{digits(it.number)}/?text=a",
    lambda it, _: f"www.wa.me/{digits(it.number)}",
)


def _texts() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    name = ""
    for line in Path(__file__).with_suffix(".txt").read_text("utf-8").splitlines():
        if line.startswith("[") and line.endswith("]") and "|" not in line:
            name = line.strip("[]")
        elif name:
            found[name] = (*found.get(name, ()), *filter(None, line.split(" | ")))
    return found


TEXTS: Final = _texts()
LABELS: Final = TEXTS["labels"]
HELD_OUT_LABELS: Final = TEXTS["held out labels"]
WORDS: Final = TEXTS["words"]
HELD_OUT_WORDS: Final = TEXTS["held out words"]
NO: Final = TEXTS["no"]
HELD_OUT_NO: Final = TEXTS["held out no"]
EMAILS: Final = ("anna@example.com", "j.smith77@example.co.uk", "info@example.org")
SCRIPTS: Final = (
    "٠١٢٣٤٥٦٧٨٩",
    "۰۱۲۳۴۵۶۷۸۹",
    "०१२३४५६७८९",
    "０１２３４５６７８９",
    "০১২৩৪৫৬৭৮৯",
    "๐๑๒๓๔๕๖๗๘๙",
    "𝟎𝟏𝟐𝟑𝟒𝟓𝟔𝟕𝟖𝟗",
    "០១២៣៤៥៦៧៨៩",
)
BARS: Final = ("ー", "ｰ", "－", "–", "—", "‐", "‑", "−", "~", "・", "·", "•", "|", "･")
HELD_OUT_BARS: Final = (
    "‒",
    "―",
    "～",
    "〜",
    "─",
    "⁃",
    "∙",
    "⋅",
    "│",
    "｜",
    "﹣",
    "_",
    "⁓",
    "=",
    ":",
    "'",
    ",",
    "、",
    "．",
)


def _with_letters(text: str, draw: Drawing) -> str:
    zeros = [at for at, sign in enumerate(text) if sign in "01" and at]
    for at in draw.sample(zeros, min(len(zeros), draw.randint(1, 2))):
        text = text[:at] + (draw.choice("OOo") if text[at] == "0" else draw.choice("lI")) + text[at + 1 :]
    return text


def _twice(it: Person, draw: Drawing) -> str:
    between = draw.choice((" / ", ", ", "; ", " | ", "\n", " or ", " ", "/", " - "))
    first = plainly(it, draw)
    second = abroad(it.number) if "+" not in first and it.home else (at_home(it.number) if it.home else e164(it.number))
    if draw.random() < 0.2:
        return f"{first} ({second})"
    return first + between + second


def _email(it: Person, draw: Drawing) -> str:
    parts = [draw.choice(EMAILS), plainly(it, draw)]
    draw.shuffle(parts)
    return draw.choice((" ", " / ", ", ", "; ", " | ")).join(parts)


def _barred(bars: tuple[str, ...]) -> Habit:
    return lambda it, draw: grouped(plainly(it, draw).replace("/", " ").replace(".", " "), draw.choice(bars))


def _scripted(it: Person, draw: Drawing) -> str:
    return plainly(it, draw).translate(str.maketrans("0123456789", draw.choice(SCRIPTS)))


def _labelled(labels: tuple[str, ...]) -> Habit:
    return lambda it, draw: draw.choice(labels) + draw.choice((" ", " ", "")) + plainly(it, draw)


def _noted(words: tuple[str, ...]) -> Habit:
    def write(it: Person, draw: Drawing) -> str:
        word, number = draw.choice(words), plainly(it, draw)
        return f"{word} {number}" if draw.random() < 0.2 else f"{number} {word}"

    return write


def _extended(it: Person, draw: Drawing) -> str:
    return plainly(it, draw) + draw.choice(
        (" ext. 12", " x345", " Durchwahl 7", "#12", ";ext=4", " доб. 12", " int. 3", " 内線12")
    )


def _quoted(it: Person, draw: Drawing) -> str:
    text = plainly(it, draw)
    return draw.choice(
        (
            "'{}",
            '"{}"',
            '="{}"',
            " {} ",
            "{};",
            "\u202a{}\u202c",
            "\u200e{}",
            "{}.",
            "({})",
            "<{}>",
            "{},",
            "'{}'",
            "\t{}",
        )
    ).format(text)


def _float(it: Person, draw: Drawing) -> str:
    return draw.choice((digits, bare))(it.number) + ".0"


def _trunk(it: Person, _: Drawing) -> str:
    return f"{code_of(it.number)} (0){significant(it.number)}" if significant(it.number)[0] != "0" else e164(it.number)


def _twice_code(it: Person, _: Drawing) -> str:
    return f"{code_of(it.number)} {code_of(it.number)[1:]} {significant(it.number)}"


# Conventions of one country, for its mobile numbers.
def _mexican(it: Person, draw: Drawing) -> str:
    number = significant(it.number)
    spaced = f"{number[:2]} {number[2:6]} {number[6:]}"
    return draw.choice(
        ("01 {}", "044 {}", "045 {}", "+52 1 {}", "+521{}", "521{}", "(044) {}", "+52 (1) {}", "00521{}", "01{}")
    ).format(draw.choice((number, spaced)))


def _brazilian(it: Person, draw: Drawing) -> str:
    number = significant(it.number)
    rest = f"{number[2:-4]}-{number[-4:]}"
    return draw.choice(
        ("(0xx{}) {}", "0xx{} {}", "({}) {}", "(0{}) {}", "0{}{}", "0 15 {} {}", "55{}{}", "+55 0{} {}", "{}.{}")
    ).format(number[:2], rest)


def _russian(it: Person, draw: Drawing) -> str:
    number = significant(it.number)
    return (
        draw.choice(("8{}", "8 ({}", "7{}", "+7({}", "8-{}", "+8 {}", "+7 8 {}"))
        .format(number if draw.random() < 2 else "")
        .replace("(" + number, f"({number[:3]}) {number[3:]}")
    )


def _argentine(it: Person, draw: Drawing) -> str:
    number = significant(it.number)  # 9 11 1234 5678
    if not number.startswith("911"):
        return e164(it.number)
    return draw.choice(
        ("011 15 {}", "(011) 15-{}", "+54 9 11 {}", "+54 11 15 {}", "54911{}", "11 15 {}", "+54 (9) 11 {}")
    ).format(number[3:])


def _french(_: Person, draw: Drawing) -> str:
    region = draw.choice(("RE", "GP", "MQ", "GF", "YT"))
    other = number_of(region, MOBILE, draw)
    return f"0{significant(other)}", e164(other)  # type: ignore[return-value]


def _indian(it: Person, draw: Drawing) -> str:
    number = significant(it.number)
    return draw.choice(("0{}", "91-{}", "+91-{}", "91 {}", "+91 0{}", "0091{}", "+91{}")).format(number)


def _zero_kept(it: Person, _: Drawing) -> str:
    return f"{code_of(it.number)} {bare(it.number)}"


def _trunk_lost(it: Person, _: Drawing) -> str:
    return significant(it.number)


CONVENTIONS: Final[dict[str, Habit]] = {
    "MX": _mexican,
    "BR": _brazilian,
    "RU": _russian,
    "AR": _argentine,
    "FR": _french,
    "IN": _indian,
}

# How often in a thousand rows.
Table = tuple[tuple[str, int, Habit], ...]


def habits(*, held_out: bool) -> Table:
    return (
        ("plainly", 610, plainly),
        ("links", 45, _any(LINKS + HELD_OUT_LINKS if held_out else LINKS)),
        ("words", 45, _noted(HELD_OUT_WORDS if held_out else WORDS)),
        ("labels", 45, _labelled(HELD_OUT_LABELS if held_out else LABELS)),
        ("no plus", 30, _no_plus),
        ("O for 0", 10, lambda it, draw: _with_letters(plainly(it, draw), draw)),
        ("bars", 14, _barred(HELD_OUT_BARS if held_out else BARS)),
        ("underscores", 5, _barred(("_",))),
        ("twice", 14, _twice),
        ("e-mail", 8, _email),
        ("scripts", 10, _scripted),
        ("extension", 8, _extended),
        ("quoted", 25, _quoted),
        (".0", 10, _float),
        ("(0)", 12, _trunk),
        ("code twice", 3, _twice_code),
        ("code and zero", 6, _zero_kept),
        ("trunk lost", 12, _trunk_lost),
        ("convention", 30, plainly),
    )


def _any(ways: tuple[Habit, ...]) -> Habit:
    return lambda it, draw: draw.choice(ways)(it, draw)


def nobody(no: tuple[str, ...]) -> Table:
    return (
        ("says no", 12, _noted(no)),
        (
            "two people",
            12,
            lambda it, draw: plainly(it, draw) + draw.choice((" / ", ", ", " or ", ";", "\n", " ")) + at_home(it.other),
        ),
        ("hidden", 5, lambda it, draw: abroad(it.number)[:-3] + draw.choice(("***", "xxx", "...", "___"))),
        ("cut off", 6, lambda it, draw: abroad(it.number)[: -draw.randint(3, 5)].rstrip(" -")),
        ("blank", 8, lambda _, draw: draw.choice(("", "n/a", "-", "none", "?", "unknown", "k.A.", "0", "x", "TBD"))),
        (
            "no number",
            8,
            lambda _, draw: draw.choice(
                (
                    "see notes",
                    *EMAILS,
                    "12.03.2021",
                    "2024-01-15",
                    "1.41556E+10",
                    "ask",
                    "ID 48213",
                    "https://example.com/12345678",
                )
            ),
        ),
        ("one digit more", 3, lambda it, _: e164(it.number) + "77"),
    )


@dataclass(frozen=True, slots=True)
class Book:
    """One address book: its country, cells, the country beside each, who is meant (None: nobody), by which habit."""

    home: str
    phone: pd.Series
    country: pd.Series
    truth: list[str | None]
    habit: list[str]


def book(home: str, size: int, draw: Drawing, homes: tuple[str, ...], *, held_out: bool) -> Book:
    people, nobodies = habits(held_out=held_out), nobody(HELD_OUT_NO if held_out else NO)
    table = [*((name, often, write, True) for name, often, write in people), *((*it, False) for it in nobodies)]
    rows = []
    for name, _, write, somebody in draw.choices(table, [often for _, often, _, _ in table], k=size):
        at = home if draw.random() < 0.85 else draw.choice(homes)
        kind = MOBILE if draw.random() < 0.88 else LANDLINE
        number, other = number_of(at, kind, draw), number_of(at, kind, draw)
        it = Person(number, at == home, other)
        text: Any = None
        if name == "convention" and at == home and kind == MOBILE and home in CONVENTIONS:
            write = CONVENTIONS[home]
        if name in ("code twice", "(0)", "code and zero") and not phonenumbers.ndd_prefix_for_region(at, True):
            write = plainly
        if name == "trunk lost" and at != home:
            write = plainly
        if name == ".0" and at != home:
            text = digits(number) + ".0"
        text = write(it, draw) if text is None else text
        if name in ("cut off", "one digit more") and phonenumbers.is_valid_number(phonenumbers.parse(text, at)):
            continue  # nothing in such a cell can tell
        truth: str | None = e164(number) if somebody else None
        if isinstance(text, tuple):
            text, truth = text
        rows.append((text, at, truth, name))
    texts, country, truths, habit = zip(*rows, strict=True)
    return Book(home, pd.Series(texts, dtype="str"), pd.Series(country, dtype="str"), list(truths), list(habit))


def books(size: int, seed: int, *, held_out: bool) -> Iterator[Book]:
    homes = HELD_OUT_HOMES if held_out else HOMES
    for home in homes:
        yield book(home, size, random.Random(f"{seed} {home}"), homes, held_out=held_out)


Reader = Callable[[Book], list[str | None]]


def by_us(it: Book, *, countries: bool = False, **reading: Any) -> list[str | None]:
    from smsotp_nb import phones

    beside = it.country if countries else None
    judged = phones.normalize(it.phone, region=beside, default_region=it.home, numbers=phones.NumberOptions(**reading))
    return [number if isinstance(number, str) else None for number in judged["to"]]


def by_phonenumbers(texts: Iterable[str], regions: Iterable[str | None]) -> list[str | None]:
    found: list[str | None] = []
    for text, region in zip(texts, regions, strict=True):
        try:
            number = phonenumbers.parse(text, region)
        except phonenumbers.NumberParseException:
            found.append(None)
            continue
        found.append(e164(number) if phonenumbers.is_valid_number(number) else None)
    return found


def by_matcher(texts: Iterable[str], regions: Iterable[str | None]) -> list[str | None]:
    pairs = zip(texts, regions, strict=True)
    matched = (next(iter(PhoneNumberMatcher(text, region)), None) for text, region in pairs)
    return [None if match is None else e164(match.number) for match in matched]


@dataclass(slots=True)
class Count:
    right: int = 0
    refused: int = 0
    strangers: int = 0

    def __str__(self) -> str:
        there = self.right + self.refused
        texted = self.right + self.strangers
        return f"{self.right / max(there, 1):8.1%} {self.strangers / max(texted, 1):9.2%} {self.strangers:5,}"


def count(found: list[str | None], truth: list[str | None], into: Count) -> None:
    for number, meant in zip(found, truth, strict=True):
        into.right += number is not None and number == meant
        into.strangers += number is not None and number != meant
        into.refused += meant is not None and number != meant


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rows", type=int, default=1_500, help="rows of each list")
    options.add_argument("--seed", type=int, default=36)
    options.add_argument("--held-out", action="store_true")
    options.add_argument("--habits", action="store_true", help="count by habit")
    options.add_argument("--worst", type=int, default=5, help="how many of the worst lists, and of cells, to show")
    chosen = options.parse_args()
    reference.enable_pattern_cache()
    made = list(books(chosen.rows, chosen.seed, held_out=chosen.held_out))
    print(f"{len(made)} lists, {sum(len(it.phone) for it in made):,} rows\n")
    readers: dict[str, Reader] = {
        "phonenumbers": lambda it: by_phonenumbers(it.phone, [it.home] * len(it.phone)),
        "its matcher": lambda it: by_matcher(it.phone, [it.home] * len(it.phone)),
        "normalize": by_us,
        "normalize, country column": lambda it: by_us(it, countries=True),
    }
    print(f"{'read by':28} {'recall':>8} {'strangers of texted':>15}   worst lists")
    for name, reader in readers.items():
        total, lists = Count(), {}
        for it in made:
            lists[it.home] = Count()
            found = reader(it)
            for into in (total, lists[it.home]):
                count(found, it.truth, into)
        worst = sorted(lists, key=lambda home: lists[home].right / (lists[home].right + lists[home].refused))
        shares = (f"{home} {str(lists[home]).split()[0]}" for home in worst[: chosen.worst])
        print(f"{name:28} {total}   {', '.join(shares)}", flush=True)
    if chosen.habits:
        _by_habit(made, chosen.worst)


def _by_habit(made: list[Book], shown: int) -> None:
    counts: dict[str, Count] = {}
    cells: dict[str, list[str]] = {}
    for it in made:
        for habit, text, number, meant in zip(it.habit, it.phone, by_us(it), it.truth, strict=True):
            count([number], [meant], counts.setdefault(habit, Count()))
            if number != meant:
                cells.setdefault(habit, []).append(f"{it.home} {text!r}{f' -> {number}' if number else ''} ({meant})")
    print()
    for habit, found in counts.items():
        print(f"{habit:28} {found}  of {found.right + found.refused}")
        for cell in random.Random(0).sample(cells.get(habit, []), min(shown, len(cells.get(habit, [])))):
            print("     ", cell)


if __name__ == "__main__":
    main()
