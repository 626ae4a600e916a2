"""Phone lists made up for tests and measurements: every region and kind, every sort of mess, nobody's list.

Numbers are phonenumbers' own examples with their last digits drawn anew, so that they stay in their ranges or fall
just beside them; what is drawn is never sent anywhere. The same seed gives the same list.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import pandas as pd
import phonenumbers
from phonenumbers import PhoneNumberFormat, PhoneNumberType

from support.dtypes import STR

REGIONS = sorted(phonenumbers.SUPPORTED_REGIONS)
KINDS = [kind for kind in PhoneNumberType.values() if kind != PhoneNumberType.UNKNOWN]
LARGE = [  # 64 regions with many people
    *("AE", "AR", "AT", "AU", "BD", "BE", "BR", "CA", "CH", "CL", "CN", "CO", "CZ", "DE", "DK", "DZ", "EC", "EG", "ES"),
    *("ET", "FI", "FR", "GB", "GH", "GR", "HK", "HU", "ID", "IE", "IL", "IN", "IQ", "IR", "IT", "JP", "KE", "KR", "KZ"),
    *("LK", "MA", "MM", "MX", "MY", "NG", "NL", "NO", "NP", "NZ", "PE", "PH", "PK", "PL", "PT", "RO", "RU", "SA", "SE"),
    *("SG", "TH", "TR", "TW", "TZ", "UA", "US"),
]
SCRIPTS = ("٠١٢٣٤٥٦٧٨٩", "०१२३४५६७८९", "０１２３４５６７８９")
NASTY = (
    list("0123456789" * 3 + "++＋  --().,;/#x~*[]_'\"=?&@\\\n\t")
    + list("abcEXTextnintanexoдобſK")
    + [
        "\u00a0",
        "\u200b",
        "\u2060",
        "\u00ad",
        "\u30fc",
        "\u2013",
        "\uff0d",
        "\u3000",
        "\u202a",
        "٣",
        "०",
        "０",
        "²",
        "①",
        "é",
    ]
    + [";ext=", " ext. ", "tel:", ";phone-context=", ";isub=", ",,", " x", "/x", "00", "+00", "(0)", "011", "\ufeff"]
)

Drawing = random.Random


def example_numbers(regions: list[str] = REGIONS) -> list[tuple[str, phonenumbers.PhoneNumber]]:
    """Every example number of phonenumbers with its region, those of the codes without a region too."""
    found = [
        (region, number)
        for region in regions
        for kind in KINDS
        if (number := phonenumbers.example_number_for_type(region, kind)) is not None
    ]
    if regions is REGIONS:
        codes = sorted(phonenumbers.COUNTRY_CODES_FOR_NON_GEO_REGIONS)
        found += [("001", number) for code in codes if (number := phonenumbers.example_number_for_non_geo_entity(code))]
    return found


def is_person(number: phonenumbers.PhoneNumber) -> bool:
    """A number of a kind that people have: mobile or fixed line."""
    return phonenumbers.number_type(number) in (0, 1, 2)


def drawn(number: phonenumbers.PhoneNumber, draw: Drawing, changed: int = 4) -> phonenumbers.PhoneNumber:
    """The number with its last digits drawn anew."""
    national = phonenumbers.national_significant_number(number)
    keep = max(1, len(national) - draw.randint(0, changed))
    digits = national[:keep] + "".join(draw.choice("0123456789") for _ in national[keep:])
    zeros = len(digits) - len(digits.lstrip("0"))
    other = phonenumbers.PhoneNumber(country_code=number.country_code, national_number=int(digits))
    if zeros:
        other.italian_leading_zero, other.number_of_leading_zeros = True, min(zeros, len(digits) - 1)
    return other


def written(number: phonenumbers.PhoneNumber, style: PhoneNumberFormat | int) -> str:
    return phonenumbers.format_number(number, style)  # type: ignore[arg-type]


def _digits(number: phonenumbers.PhoneNumber) -> str:
    return written(number, PhoneNumberFormat.E164)[1:]


def _in_script(number: phonenumbers.PhoneNumber, draw: Drawing) -> str:
    return written(number, PhoneNumberFormat.NATIONAL).translate(str.maketrans("0123456789", draw.choice(SCRIPTS)))


def _spoiled(number: phonenumbers.PhoneNumber, draw: Drawing) -> str:
    text = list(written(number, draw.choice((0, 1, 2, 3))))
    for _ in range(draw.randint(1, 3)):
        at = draw.randrange(len(text) + 1)
        text[at : at + draw.randint(0, 1)] = draw.choice(NASTY)
    return "".join(text)


Style = Callable[[phonenumbers.PhoneNumber, Drawing], str]
E164: Style = lambda number, _: written(number, PhoneNumberFormat.E164)  # noqa: E731
STYLES: list[tuple[int, Style]] = [  # how often in a messy list, and how written
    (22, lambda number, _: written(number, PhoneNumberFormat.NATIONAL)),
    (16, lambda number, _: written(number, PhoneNumberFormat.INTERNATIONAL)),
    (14, E164),
    (8, lambda number, _: phonenumbers.national_significant_number(number)),
    (7, lambda number, _: "00" + _digits(number)),
    (5, lambda number, _: _digits(number)),
    (5, lambda number, _: written(number, PhoneNumberFormat.NATIONAL).replace(" ", ".")),
    (4, lambda number, _: f"+{number.country_code} (0){phonenumbers.national_significant_number(number)}"),
    (3, lambda number, _: "Tel: " + written(number, PhoneNumberFormat.NATIONAL)),
    (2, lambda number, _: f"'{written(number, PhoneNumberFormat.E164)}"),
    (2, lambda number, _: f"{_digits(number)}.0"),
    (2, lambda number, draw: f"{written(number, PhoneNumberFormat.NATIONAL)} ext. {draw.randrange(10000)}"),
    (1, lambda number, draw: f"{written(number, PhoneNumberFormat.NATIONAL)} x{draw.randrange(1000)}"),
    (2, lambda number, _: written(number, PhoneNumberFormat.INTERNATIONAL).replace(" ", "\u00a0")),
    (1, lambda number, _: written(number, PhoneNumberFormat.INTERNATIONAL).replace("-", "\u2013") + " "),
    (1, _in_script),
    (1, lambda number, _: written(number, PhoneNumberFormat.NATIONAL) + " (home)"),
    (1, lambda number, _: phonenumbers.national_significant_number(number)[:-2]),
    (1, lambda number, _: phonenumbers.national_significant_number(number) + "77"),
    (1, lambda number, _: written(number, PhoneNumberFormat.NATIONAL) + " / 2"),
    (1, lambda number, _: "n/a"),
    (1, _spoiled),
    (
        1,
        lambda number, draw: " or ".join(
            written(it, PhoneNumberFormat.NATIONAL) for it in (number, drawn(number, draw))
        ),
    ),
]


def messy(size: int, *, seed: int = 0, regions: list[str] = LARGE) -> pd.DataFrame:
    """A list as people keep it: mostly good numbers in every usual writing, ``phone`` and ``country``."""
    draw = random.Random(seed)
    numbers = [it for it in example_numbers(regions) if is_person(it[1])]
    styles = [style for often, style in STYLES for _ in range(often)]
    rows = []
    for _ in range(size):
        region, number = draw.choice(numbers)
        rows.append((draw.choice(styles)(drawn(number, draw, 6), draw), region))
    return pd.DataFrame(rows, columns=["phone", "country"]).astype(STR)


def corpus(size: int, *, seed: int = 0) -> pd.DataFrame:
    """Every region and kind in every writing and mess, with right, wrong, odd and missing regions."""
    draw = random.Random(seed)
    numbers = example_numbers()
    styles = [style for _, style in STYLES] + [_spoiled] * 5
    rows = []
    for _ in range(size):
        region, number = draw.choice(numbers)
        text = draw.choice(styles)(drawn(number, draw, draw.choice((2, 4, 8))), draw)
        rows.append((text, _region(region, draw)))
    return pd.DataFrame(rows, columns=["phone", "country"]).astype(STR)


def _region(own: str, draw: Drawing) -> str | None:
    chance = draw.random()
    if chance < 0.6:
        return own
    if chance < 0.8:
        return draw.choice(REGIONS)
    return draw.choice((None, None, own.lower(), "ZZ", "AQ", "001", "uk"))


def fuzz(size: int, *, seed: int) -> pd.DataFrame:
    """Strings drawn from nasty pieces, and digit strings that begin like numbers of all kinds."""
    draw = random.Random(seed)
    prefixes = ["", "", "+", "0", "00", "+00", "011", "1", "9"] + [
        str(code) for code in phonenumbers.COUNTRY_CODE_TO_REGION_CODE
    ]
    rows = []
    for _ in range(size):
        if draw.random() < 0.5:
            text = "".join(draw.choice(NASTY) for _ in range(draw.randint(0, 18)))
        else:
            front = draw.choice(("", "", "+")) + draw.choice(prefixes) + draw.choice(("", "", "0", "1", "8"))
            text = front + "".join(draw.choice("0123456789") for _ in range(draw.randint(0, 16)))
        rows.append((text, draw.choice((*REGIONS, None, "us", "ZZ"))))
    return pd.DataFrame(rows, columns=["phone", "country"]).astype(STR)


def chunks(
    make: Callable[..., pd.DataFrame], total: int, *, size: int = 50_000, seed: int = 0
) -> Iterator[pd.DataFrame]:
    """A large list in parts, each from a seed of its own."""
    for part in range((total + size - 1) // size):
        yield make(min(size, total - part * size), seed=seed + part)


def example(region: str, kind: str = "MOBILE") -> str:
    """Return phonenumbers' own example number of a region in E.164, or ``""`` where it has none of that kind."""
    number = phonenumbers.example_number_for_type(region, getattr(PhoneNumberType, kind))
    return written(number, PhoneNumberFormat.E164) if number else ""
