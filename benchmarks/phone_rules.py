"""What the judgement of phone lists costs and spares: right numbers texted, right ones refused, strangers texted.

    python benchmarks/phone_rules.py [--rows N] [--large] [--rules]

The lists are made up from phonenumbers' own examples of every region, so each row's number is known. Each list is of
one region and one way of writing (or one mess), or mixed as ordinary lists are, and is judged as a whole with its
default region or its country column. A row is *right* where it is texted and the number is its own, *refused* where it
has one and is not texted, a *stranger* where any other number is texted: also where two numbers stand in the cell, or
where its digits are gone, so that there is nobody to text. phonenumbers and its matcher are asked about the same cells.
--rules leaves out one rule after the other and says what changes, on lists of its own: address books of 250 rows and
lists of 64 regions.
"""

from __future__ import annotations

import argparse
import itertools
import random
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from unittest import mock

import numpy as np
import pandas as pd
import phonenumbers
from phonenumbers import PhoneNumber, PhoneNumberFormat

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[1] / "tests")]
import phone_books  # noqa: E402
from phone_books import by_matcher, by_phonenumbers  # noqa: E402
from support import phone_lists  # noqa: E402

from smsotp_nb._phones import reference  # noqa: E402

Drawing = random.Random
Writing = Callable[[PhoneNumber, Drawing], str]
NATIONAL, INTERNATIONAL = PhoneNumberFormat.NATIONAL, PhoneNumberFormat.INTERNATIONAL
BESIDE = ("DE", "IT", "US", "BR", "FR", "GB", "IN", "AT", "ES", "JP")  # defaults of lists from elsewhere


@dataclass(frozen=True, slots=True)
class List:
    """One list: what it is, its cells, the numbers they are meant to be (None: nobody), and how it is judged."""

    kind: str
    phone: pd.Series
    truth: list[str | None]
    default: str | None = None
    country: pd.Series | None = None


def e164(number: PhoneNumber) -> str:
    return phone_lists.written(number, PhoneNumberFormat.E164)


def digits(number: PhoneNumber) -> str:
    return e164(number)[1:]


def national(number: PhoneNumber) -> str:
    return phone_lists.written(number, NATIONAL)


def bare(number: PhoneNumber) -> str:
    return re.sub(r"\D", "", national(number))


def after_code(number: PhoneNumber, between: str) -> str:
    return f"+{number.country_code}{between}{phonenumbers.national_significant_number(number)}"


def in_arabic(text: str) -> str:
    return text.translate(str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩"))


WRITINGS: dict[str, Writing] = {
    "as at home": lambda number, _: national(number),
    "as at home, digits only": lambda number, _: bare(number),
    "E.164": lambda number, _: e164(number),
    "international": lambda number, _: phone_lists.written(number, INTERNATIONAL),
    "calling code without plus": lambda number, _: digits(number),
    "00 in front": lambda number, _: "00" + digits(number),
    "00 in front, with blanks": lambda number, _: "00" + phone_lists.written(number, INTERNATIONAL)[1:],
    "+cc (0)": lambda number, _: after_code(number, " (0)"),
    "calling code twice": lambda number, _: after_code(number, f" {number.country_code}"),
    "plus at the end": lambda number, _: digits(number) + "+",
    "zeros lost": lambda number, _: bare(number).lstrip("0"),
    "a label in front": lambda number, draw: draw.choice(("(M) ", "\u260e ", "Tel: ", "Mobile ")) + national(number),
    "other script, odd blanks": lambda number, draw: (
        in_arabic(national(number)) if draw.random() < 0.5 else national(number).replace(" ", "\u00a0")
    ),
    "a count or word behind": lambda number, draw: (
        national(number) + draw.choice((" (2)", "/-1", " / 2", " (home)", " ext. 12", " M"))
    ),
    ".0 behind": lambda number, draw: draw.choice((bare(number), e164(number), national(number))) + ".0",
    ".00 behind": lambda number, draw: draw.choice((bare(number), e164(number))) + ".00",
    "scientific notation": lambda number, _: f"{int(digits(number)):.{len(digits(number)) - 1}E}",
}
NOBODY: dict[str, Writing] = {
    "number of an order": lambda number, draw: "#" + digits(number)[: draw.randint(7, 9)],
    "letters of a keypad": lambda number, draw: national(number)[:-4].rstrip(" -") + draw.choice(("-HOME", "TAXI")),
    "two short numbers side by side": lambda number, draw: " ".join(
        f"{bare(number)[:6]}{draw.randint(10, 99)}" for _ in range(2)
    ),
    "digits hidden": lambda number, draw: (
        draw.choice((national(number), e164(number)))[:-2] + draw.choice(("**", "...", "..", "__"))
    ),
}
SEPARATORS = (" / ", " ", ", ", " or ", ";", "  ", " o ")


def people(region: str, size: int, draw: Drawing) -> list[PhoneNumber]:
    """Return valid numbers of a region, two mobile ones for each landline where it has both."""
    kinds = ("MOBILE", "MOBILE", "FIXED_LINE")
    examples = [
        example
        for kind in kinds
        if (example := phonenumbers.example_number_for_type(region, getattr(phonenumbers.PhoneNumberType, kind)))
    ]
    found: list[PhoneNumber] = []
    while examples and len(found) < size:
        number = phone_lists.drawn(draw.choice(examples), draw, draw.choice((4, 6, 7, 8, 9)))
        if phone_lists.is_person(number) and phonenumbers.is_valid_number(number):
            found.append(number)
    return found


def cells(texts: list[Any]) -> pd.Series:
    return pd.Series(texts, dtype="str")


def of_one_region(region: str, numbers: list[PhoneNumber], draw: Drawing) -> Iterator[List]:
    truth: list[str | None] = [e164(number) for number in numbers]
    nobody: list[str | None] = [None] * len(numbers)
    for kind, write in WRITINGS.items():
        yield List(kind, cells([write(number, draw) for number in numbers]), truth, region)
    for kind, write in NOBODY.items():
        yield List(kind, cells([write(number, draw) for number in numbers]), nobody, region)
    pairs = zip(numbers, numbers[1:] + numbers[:1], strict=True)
    two = [draw.choice(SEPARATORS).join((national(one), national(other))) for one, other in pairs]
    yield List("two numbers", cells(two), nobody, region)
    at_home = [float(bare(number)) for number in numbers]
    yield List("decimal column, as at home", pd.Series(at_home, dtype="float64"), truth, region)
    abroad = [float(digits(number)) for number in numbers]
    yield List("decimal column, with calling code", pd.Series(abroad, dtype="float64"), truth, region)
    exact = [e164(number) if float(digits(number)) <= 2**24 else None for number in numbers]
    yield List("float32 column", pd.Series(abroad, dtype="float32"), exact, region)
    beside = draw.choice([other for other in BESIDE if other != region])
    yield List("without plus, other default", cells([digits(number) for number in numbers]), truth, beside)
    yield List("plus at the end, other default", cells([digits(number) + "+" for number in numbers]), truth, beside)
    yield List("as at home, wrong default", cells([national(number) for number in numbers]), truth, beside)


ABROAD: tuple[Writing, ...] = (
    lambda number, _: e164(number),
    lambda number, _: "00" + digits(number),
    lambda number, _: digits(number),
    lambda number, _: phone_lists.written(number, INTERNATIONAL),
)


def mixed(pools: dict[str, list[PhoneNumber]], size: int, draw: Drawing) -> Iterator[List]:
    """Home lists with one row of seven from abroad, and lists of all countries with a country column."""
    everywhere = [(region, number) for region, numbers in pools.items() for number in numbers]
    for home in phone_lists.LARGE:
        rows = [(number, national(number)) for number in pools[home]]
        rows += [(number, draw.choice(ABROAD)(number, draw)) for _, number in draw.sample(everywhere, len(rows) // 6)]
        draw.shuffle(rows)
        truth: list[str | None] = [e164(number) for number, _ in rows]
        yield List("home and some from abroad", cells([text for _, text in rows]), truth, home)
        abroad = [number for _, number in draw.sample(everywhere, size)]
        truth = [e164(number) for number in abroad]
        yield List("from everywhere with 00", cells(["00" + digits(number) for number in abroad]), truth, home)
    for kind in ("as at home", "E.164", "calling code without plus", "00 in front", "zeros lost"):
        for _ in range(len(everywhere) // (20 * size)):
            chosen = draw.sample(everywhere, 20 * size)
            texts = [WRITINGS[kind](number, draw) for _, number in chosen]
            country = cells([region for region, _ in chosen])
            truth = [e164(number) for _, number in chosen]
            yield List(f"country column: {kind}", cells(texts), truth, None, country)
    yield from _state_lists(pools["US"] * 3, draw)


NUMERIC: Final = (  # homes and calling codes of columns of numbers, in which zeros and plus signs are lost
    *("AT", "AU", "BE", "BR", "CH", "CN", "DE", "EG", "ES", "FR", "GB", "ID", "IN", "IT", "JP", "KE", "MX", "NG"),
    *("NL", "PL", "RU", "SE", "TR", "UA", "US", "ZA"),
)
SHARES: Final = (0.01, 0.1, 0.5, 0.9)
NUMERIC_ROWS: Final = 200


def numeric(size: int, draw: Drawing) -> Iterator[List]:
    """Columns of numbers: some as at home without their zero, the others of one country with its calling code."""
    pools = {region: people(region, 4 * size, draw) for region in NUMERIC}
    for home, share, other in itertools.product(NUMERIC, SHARES, NUMERIC):
        coded = max(round(share * size), 1)
        chosen = [(number, str(number.national_number)) for number in draw.sample(pools[home], size - coded)]
        chosen += [(number, digits(number)) for number in draw.sample(pools[other], coded)]
        draw.shuffle(chosen)
        truth: list[str | None] = [e164(number) for number, _ in chosen]
        column = pd.Series([int(text) for _, text in chosen], dtype=draw.choice(("int64", "float64")))
        whose = "its own" if home == other else "another"
        yield List(f"numeric column, {share:.0%} with {whose} calling code", column, truth, home)


STATES = (
    "CA",
    "TX",
    "FL",
    "NY",
    "PA",
    "IL",
    "OH",
    "GA",
    "NC",
    "MI",
    "NJ",
    "VA",
    "WA",
    "AZ",
    "TN",
    "MA",
    "IN",
    "CO",
    "DE",
)


def _state_lists(numbers: list[PhoneNumber], draw: Drawing) -> Iterator[List]:
    beside = cells([draw.choice(STATES) for _ in numbers])
    truth: list[str | None] = [e164(number) for number in numbers]
    yield List("states as countries", cells([national(number) for number in numbers]), truth, "US", beside)


def lists(size: int, regions: list[str] = phone_lists.REGIONS) -> Iterator[List]:
    draw = random.Random(14)
    pools = {region: people(region, size, draw) for region in regions}
    pools = {region: numbers for region, numbers in pools.items() if numbers}
    for region, numbers in pools.items():
        yield from of_one_region(region, numbers, draw)
    yield from mixed(pools, size, draw)
    if regions is phone_lists.REGIONS:
        yield from numeric(NUMERIC_ROWS, random.Random(15))


Counts = dict[str, np.ndarray[Any, Any]]


def judged(all_lists: list[List], **options: Any) -> Counts:
    """Return right, refused and strangers for each kind of list."""
    from smsotp_nb import phones

    def by_us(it: List) -> list[str | None]:
        answer = phones.normalize(it.phone, region=it.country, default_region=it.default, **options)
        return [number if isinstance(number, str) else None for number in answer["to"]]

    return counted(all_lists, by_us)


def counted(all_lists: list[List], reader: Callable[[List], list[str | None]]) -> Counts:
    counts: Counts = defaultdict(lambda: np.zeros(3, int))
    for it in all_lists:
        for found, number in zip(reader(it), it.truth, strict=True):
            if found is not None or number is not None:
                counts[it.kind] += (found == number, found is None, found is not None and found != number)
    return counts


def asked(it: List) -> tuple[list[str], list[str | None]]:
    """Return what phonenumbers is asked: cells as text, and the country of each."""
    countries = it.country if it.country is not None else [it.default] * len(it.phone)
    return it.phone.astype(str).tolist(), [country if isinstance(country, str) else None for country in countries]


def table(all_lists: list[List]) -> None:
    """Print the counts of all readers as a table in Markdown."""
    reference.enable_pattern_cache()
    readers = [
        judged(all_lists),
        counted(all_lists, lambda it: by_phonenumbers(*asked(it))),
        counted(all_lists, lambda it: by_matcher(*asked(it))),
    ]
    print("| list | right | refused | strangers | right, phonenumbers | strangers | right, its matcher | strangers |")
    print("|---" * 8 + "|")
    for kind in [*dict.fromkeys(it.kind for it in all_lists), "all"]:
        ours, *others = (total(counts) if kind == "all" else counts[kind] for counts in readers)
        cells = [*ours, *(other[place] for other in others for place in (0, 2))]
        print("|", kind, "|", " | ".join(f"{count:,}" for count in cells), "|")


def total(counts: Counts) -> np.ndarray[Any, Any]:
    return np.sum(list(counts.values()), axis=0)


def for_rules() -> Iterator[List]:
    """Address books with a default country and with a country column, and lists of the large regions."""
    for it in (book for held_out in (False, True) for book in phone_books.books(250, 1, held_out=held_out)):
        yield List("address book", it.phone, it.truth, it.home)
        yield List("address book, country column", it.phone, it.truth, it.home, it.country)
    yield from lists(12, phone_lists.LARGE)


def without_each_rule() -> None:
    """Leave out one rule after the other: what each of them spares and costs, as a table in Markdown."""
    all_lists = list(for_rules())
    print(f"{len(all_lists):,} lists, {sum(len(it.phone) for it in all_lists):,} rows\n")
    everything = total(judged(all_lists))
    print("| without | right | refused | strangers |\n|---|---|---|---|")
    print("| nothing |", " | ".join(f"{count:,}" for count in everything), "|", flush=True)
    for name, left_out in _rules().items():
        with ExitStack() as stack:
            for module, attribute, instead in left_out:
                stack.enter_context(mock.patch.object(module, attribute, instead))
            change = total(judged(all_lists)) - everything
        print(f"| {name} |", " | ".join(f"{count:+,}" for count in change), "|", flush=True)


def _rules() -> dict[str, list[tuple[Any, str, Any]]]:
    """Return what is put in the place of what where a rule is left out; all lists are judged row by row."""
    from smsotp_nb._phones.cells import regions, repairs
    from smsotp_nb._phones.judging import judgement, readings, rows, weighing

    never = re.compile(r"()(?!)")
    by_rows = (judgement, "JUDGED_BY_ROWS", sys.maxsize)

    def without(name: str) -> list[tuple[Any, str, Any]]:
        kept = [tuple(it for it in some if not it.name.startswith(name)) for some in rows.BY_FRONT]
        return [by_rows, (rows, "BY_FRONT", kept)]

    names = dict.fromkeys(it.name.split(", ")[0] for it in readings.READINGS)
    others: dict[str, tuple[Any, str, Any]] = {
        "the same number twice": (repairs, "twice", lambda _: None),
        "two home numbers side by side": (repairs, "_halves", lambda _: []),
        "states": (regions, "PARTS", {}),
        "rows of a code in the column": (weighing, "met", lambda *_: False),
        "columns written in two ways": (weighing, "mixes", lambda *_: False),
    }
    return {
        **{name: without(name) for name in names},
        **{name: [by_rows, (repairs, pattern, never)] for name, pattern in PATTERNS.items()},
        **{name: [by_rows, patch] for name, patch in others.items()},
    }


PATTERNS: Final = {  # of `repairs`, by what they are for
    "hidden digits": "HIDDEN",
    "a count behind": "COUNTED",
    "a plus at the end": "LIKE_A_CODE",
    "times of day": "TIMES",
    "e-mail addresses": "EMAIL",
    "links and URIs": "URI",
    "the plus that messengers leave out": "OF_MESSENGER",
    "numbers as parameters of links": "NAMED",
    "phone-context": "CONTEXT",
    "vCard lines": "VCARD",
    ".0 behind": "FLOAT_TEXT",
    "money with two decimals": "MONEY_TEXT",
    "scientific notation": "SCIENTIFIC",
    "dates": "DATE",
    "numbers of orders": "ID",
    "extensions": "EXTENSION",
    "(0) behind the calling code": "TRUNK_ZERO",
    "shorthand of a second number": "SHORTHAND",
    "two blocks of seven digits": "SIDE_BY_SIDE",
    "carrier codes": "CARRIER",
    "bars and other signs between": "BARS",
    "commas between": "COMMAS",
    "O and l as digits": "LETTERS",
    "O and l that are words": "NO_LETTERS",
    "letters of a keypad": "KEYPAD",
    "counted labels (Phone 2:)": "COUNTED_LABEL",
    "No. as the word number": "NUMBER_WORD",
}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rows", type=int, default=40, help="rows of each list of one region")
    options.add_argument("--rules", action="store_true", help="leave out one rule after the other")
    options.add_argument("--large", action="store_true", help="only the 64 regions with many people")
    chosen = options.parse_args()
    if chosen.rules:
        without_each_rule()
        return
    all_lists = list(lists(chosen.rows, phone_lists.LARGE if chosen.large else phone_lists.REGIONS))
    print(f"{len(all_lists):,} lists, {sum(len(it.phone) for it in all_lists):,} rows\n")
    table(all_lists)


if __name__ == "__main__":
    main()
