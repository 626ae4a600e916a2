"""Phone numbers to E.164; the public face is `smsotp_nb.phones`, and other rooms import from here.

``cells``       what surrounds a number in its cell: text, repairs, notes, the country beside it
``fast``        phonenumbers' verdict for whole columns
``judging``     the verdict and the judgement on top of it, from a column to its frame
``owner``       cells replaced, and the workbook of questions that the owner of a list answers
``reference``   columns of phonenumbers' own answers
``countries``   one number, one country: names, calling codes, places, time zones
``vocabulary``  the codes of problems, notes and repairs
``columns``     which columns of a list hold numbers and countries; ``all_columns`` all of a person's numbers
``pieces``      lists that come in pieces: Arrow's record batches, chunks
``advice``      what would help a list: repairs, another default country
``summary``     the report on a list, and which numbers were seen before
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import attributes

if TYPE_CHECKING:
    from .advice import Advice, cells_judged
    from .all_columns import (
        by_another_country,
        international,
        may_be_numbers,
        named_countries,
        own_columns,
        warn_of_doubtful,
    )
    from .cells.notes import declines, says_no
    from .cells.regions import country_code
    from .cells.repairs import clean
    from .columns import SAYING_NO, Found, find_columns, why_states
    from .countries import ask, country_name, place, time_zones
    from .judging.answers import parse
    from .judging.evidence import DRAWN, Evidence, Level, drawn
    from .judging.explanation import Explanation, explain
    from .judging.judgement import first_usable, normalize, normalize_columns, weigh_column
    from .judging.policy import NumberOptions, not_reading
    from .judging.several import duplicates, explode, of_any_country, one_phone, one_phone_digits, said_no, spellings
    from .owner.merging import Answers, Cells, edit, merge_answers, with_cells, without_rows
    from .owner.questions import ask_owner, name_of_row, text_of
    from .pieces import Cleaned, clean_chunks, normalize_batch, parse_batch
    from .summary import Report, Tally, free_names, rejected, report
    from .vocabulary import PROBLEMS, meaning_of_note

# Nothing is loaded before it is used: a sandbox, which asks for countries only, starts without pandas.
__getattr__ = attributes(
    __name__,
    {
        "advice": ["Advice", "cells_judged"],
        "cells.notes": ["declines", "says_no"],
        "cells.regions": ["country_code"],
        "cells.repairs": ["clean"],
        "columns": ["SAYING_NO", "Found", "find_columns", "why_states"],
        "countries": ["ask", "country_name", "place", "time_zones"],
        "judging.evidence": ["DRAWN", "Evidence", "Level", "drawn"],
        "judging.explanation": ["Explanation", "explain"],
        "judging.judgement": ["first_usable", "normalize", "normalize_columns", "weigh_column"],
        "judging.policy": ["NumberOptions", "not_reading"],
        "judging.several": [
            "duplicates",
            "explode",
            "of_any_country",
            "one_phone",
            "one_phone_digits",
            "said_no",
            "spellings",
        ],
        "judging.answers": ["parse"],
        "owner.merging": ["Answers", "Cells", "edit", "merge_answers", "with_cells", "without_rows"],
        "owner.questions": ["ask_owner", "name_of_row", "text_of"],
        "all_columns": [
            *("by_another_country", "international", "may_be_numbers", "named_countries", "own_columns"),
            "warn_of_doubtful",
        ],
        "pieces": [
            *("Cleaned", "clean_chunks"),
            *("normalize_batch", "parse_batch"),
        ],
        "summary": ["Report", "Tally", "free_names", "rejected", "report"],
        "vocabulary": ["PROBLEMS", "meaning_of_note"],
    },
)
