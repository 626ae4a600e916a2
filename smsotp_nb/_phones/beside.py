"""Choose names for new columns beside those of a list, so that none is lost and none occurs twice."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable


def free_names(new: Iterable[str], taken: Iterable[Hashable]) -> dict[str, str]:
    """Return a name for each new column: its own or, if the list has that, ``sms_...``, then ``sms_..._2``.

    Example:
        >>> free_names(["to", "note"], ["note", "phone"])
        {'to': 'to', 'note': 'sms_note'}
        >>> free_names(["to"], ["to", "sms_to"])
        {'to': 'sms_to_2'}
    """
    used = {str(name) for name in taken}
    named = {}
    for name in new:
        tries = itertools.chain([name, f"sms_{name}"], (f"sms_{name}_{count}" for count in itertools.count(2)))
        named[name] = next(one for one in tries if one not in used)
        used.add(named[name])
    return named
