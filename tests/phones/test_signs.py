"""What the engine believes of signs is what phonenumbers' patterns say, read by Python's own reader of expressions."""

from __future__ import annotations

import re
from re import _constants, _parser

import pytest
from phonenumbers import phonenumberutil
from support import phone_signs

from smsotp_nb._phones import reference
from smsotp_nb._phones.fast import signs

NUMBER = "030901820"


def own_classes() -> list[re.Pattern[str]]:
    """The classes and letters of the pattern of a viable number."""
    parts = phone_signs.parts(_parser.parse(phone_signs.VIABLE.pattern, phone_signs.VIABLE.flags))
    found = [phone_signs.class_of(*part) for part in parts]
    return [re.compile(it, phone_signs.VIABLE.flags) for it in dict.fromkeys(found) if it is not None]


def test_known_are_the_signs_of_the_pattern_and_no_others() -> None:
    """The engine reads the pattern by a few expressions; Python's parser finds the same signs in it."""
    classes = own_classes()
    assert len(classes) > 30
    for sign in phone_signs.BASIC:
        assert signs.is_known(sign) == any(it.fullmatch(sign) for it in classes), ascii(sign)


def test_a_plus_is_known_in_front_only() -> None:
    """So a plus behind a digit means that a text is no number."""
    _, branches = _parser.parse(phone_signs.VIABLE.pattern, phone_signs.VIABLE.flags)[0][1]
    first, second = (list(branch) for branch in branches)
    operator, (_, _, inside) = second[0]
    assert operator is _constants.MAX_REPEAT
    assert re.fullmatch(phone_signs.class_of(*inside[0]), "+")
    behind = [phone_signs.class_of(*part) for part in phone_signs.parts([*first, *second[1:]])]
    assert not [it for it in behind if it is not None and re.fullmatch(it, "+")]


def test_what_a_semicolon_may_begin() -> None:
    """Texts with a context or a subaddress are left to phonenumbers; there is no other parameter but the extension."""
    named = [value for name, value in vars(phonenumberutil).items() if name.startswith("_RFC3966")]
    literal = [it for it in named if isinstance(it, str) and re.fullmatch(r"[;a-z:=-]+", it)]
    assert sorted(literal) == [";ext=", ";isub=", ";phone-context=", "tel:"]


@pytest.mark.parametrize(
    ("sign", "fate"),
    [
        ("\u00a0", "-"),
        ("\uff0f", "-"),
        ("\uff5e", "~"),  # punctuation and a label
        ("\uff03", "~"),  # a label
        ("\u0301", "~"),  # stands in one label
        ("\u30fc", "q"),  # punctuation and a letter
        ("\uff58", "q"),  # a label
        ("\u212a", "q"),  # a K in other dress
        ("\uff0b", "+"),
        ("\u0663", "3"),
        ("\u00b2", signs.LETTER),  # a number, but no decimal digit
        ("\u2603", signs.SIGN),
        (signs.LETTER, signs.SIGN),
        (signs.SIGN, signs.SIGN),
        ("x", "x"),
    ],
)
def test_fates(sign: str, fate: str) -> None:
    assert signs.fate(sign) == fate


def test_no_sign_that_may_stand_between_digits_is_forgotten() -> None:
    """Every sign that phonenumbers drops from a number is written as punctuation or left undecided."""
    for sign in phone_signs.BASIC:
        if not sign.isascii() and reference.ask(NUMBER[:5] + sign + NUMBER[5:], "DE").e164 is not None:
            assert signs.fate(sign) in "-~q0123456789+", ascii(sign)


def test_a_pattern_that_takes_any_sign_knows_them_all() -> None:
    """Then nothing is refused for a sign, and phonenumbers is asked."""
    for expression in ("a.", "[^a]", r"\[[a-z.]x|."):
        assert signs.known_by(re.compile(expression)).fullmatch("\u2603")
