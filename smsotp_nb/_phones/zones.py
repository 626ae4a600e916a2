"""The time zones that a number may be in; by phonenumbers' table of prefixes."""

from __future__ import annotations

import phonenumbers
from phonenumbers import timezone


def time_zones(e164: str) -> tuple[str, ...]:
    """Return the names of a number's time zones, several where its prefix spans them; empty when none is known.

    Example:
        >>> time_zones("+12025550123"), time_zones("+33199001234")
        (('America/New_York',), ('Europe/Paris',))
    """
    try:
        number = phonenumbers.parse(e164)
    except phonenumbers.NumberParseException:
        return ()
    found = timezone.time_zones_for_number(number)
    return tuple(name for name in found if name != timezone.UNKNOWN_TIMEZONE)
