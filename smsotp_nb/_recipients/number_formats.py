"""Formats of a spreadsheet that show a plus or zeros which the number itself does not have."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

Shape = tuple[str, ...]  # of a number, from left to right: places of digits (0 or #), and texts, each behind a quote
TOKEN: Final = re.compile(
    r"""\[\$[^\]]{0,255}\]|\[[<>=][^\]]{0,255}\]|\[[A-Za-z]{1,255}\d{0,255}\]|"([^"]{0,255})"|"""
    r"""\\(.)|_.|\*.|([0#?])|([-+ ()/.:])|(.)""",
    re.DOTALL,
)


@cache
def shape_of(code: str) -> Shape | None:
    """Return how a format shows whole numbers; None where it shows their digits and nothing that matters beside them.

    Example:
        >>> shape_of('"+"0'), shape_of("00000000000") is None, shape_of("#,##0.00"), shape_of("dd.mm.yyyy")
        (('"+', '0'), False, None, None)
    """
    shape: list[str] = []
    for token in TOKEN.finditer(code.split(";")[0]):
        quoted, escaped, digit, sign, other = token.groups()
        if other is not None or sign == ".":
            return None
        if digit:
            shape.append("0" if digit == "0" else "#")
        elif text := quoted if quoted is not None else escaped or sign:
            shape.append(f'"{text}')
    matters = shape.count("0") > 1 or any(part[0] == '"' and re.search(r"[+0-9]", part) for part in shape)
    return tuple(shape) if matters and ("0" in shape or "#" in shape) else None


def shown(number: float, shape: Shape) -> str | None:
    """Return a whole number as a format shows it; None for another number.

    Example:
        >>> shown(1761234567, shape_of("00000000000")), shown(49176, shape_of('"+"0')), shown(176, shape_of('"+49 "0'))
        ('01761234567', '+49176', '+49 176')
        >>> shown(1761234567, shape_of("0000-0000000"))
        '0176-1234567'
    """
    if number < 0 or not float(number).is_integer() or number >= 2**53:
        return None
    digits = list(str(int(number)))
    places = [at for at, part in enumerate(shape) if part in "0#"]
    written: list[str] = []
    for at in range(len(shape) - 1, -1, -1):
        part = shape[at]
        if part[0] == '"':
            written.append(part[1:])
        elif at == places[0]:
            written.append("".join(digits) or ("0" if part == "0" else ""))
        elif digits:
            written.append(digits.pop())
        elif part == "0":
            written.append("0")
    return "".join(reversed(written))
