"""The one reader of dates that people write: ISO 8601, real times, names of months, and days by their order.

Nothing is guessed. A cell is read where it has one reading; where the order of day and month cannot be known, the
column is refused with both readings of a cell. A number is no date: spreadsheets count days, programs count seconds.
An hour in which clocks are changed may be two moments: `earliest` and `latest` give both.
"""

from __future__ import annotations

from .cell import Written, clock
from .column import Dates, days, earliest, latest, one, read, spanned
