"""Phone numbers to E.164; the public face is `smsotp_nb.phones`, and other rooms import from here.

``cells``       what surrounds a number in its cell: text, repairs, notes, the country beside it
``fast``        phonenumbers' verdict for whole columns
``judging``     the verdict and the judgement on top of it, from a column to its frame
``owner``       cells replaced, and the workbook of questions that the owner of a list answers
``reference``   phonenumbers' own answer, number by number
``countries``   one number, one country: names, calling codes, places
``zones``       the time zones of a number
``vocabulary``  the codes of problems, notes and repairs
``columns``     which columns of a list hold numbers and countries
``batches``     numbers in Arrow's record batches
``streams``     lists that come in chunks
``summary``     the report on a list
``met``         which numbers were seen before
``beside``      names for new columns
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import attributes

if TYPE_CHECKING:
    from .batches import normalize_batch, normalize_schema, verdict_batch, verdict_schema
    from .beside import free_names
    from .columns import Found, find_columns
    from .countries import country_name, look_up, place
    from .judging.evidence import DRAWN, Evidence, Level, drawn
    from .judging.explanation import Explanation, explain
    from .judging.judgement import TEXTABLE, NoteOrRefuse, normalize, weigh_column
    from .judging.several import duplicates, explode, one_phone, one_phone_digits, spellings
    from .judging.verdicts import verdict
    from .owner.edits import Cells, edit, with_cells, without_rows
    from .owner.merging import Answers, merge_answers
    from .owner.questions import ask_owner, name_of_row, text_of
    from .streams import Cleaned, clean_chunks
    from .summary import Report, Tally, report, unusable
    from .vocabulary import PROBLEMS, meaning_of_note
    from .zones import time_zones

# Nothing is loaded before it is used: a sandbox, which asks for countries only, starts without pandas.
__getattr__ = attributes(
    __name__,
    {
        "batches": ["normalize_batch", "normalize_schema", "verdict_batch", "verdict_schema"],
        "beside": ["free_names"],
        "columns": ["Found", "find_columns"],
        "countries": ["country_name", "look_up", "place"],
        "judging.evidence": ["DRAWN", "Evidence", "Level", "drawn"],
        "judging.explanation": ["Explanation", "explain"],
        "judging.judgement": ["TEXTABLE", "NoteOrRefuse", "normalize", "weigh_column"],
        "judging.several": ["duplicates", "explode", "one_phone", "one_phone_digits", "spellings"],
        "judging.verdicts": ["verdict"],
        "owner.edits": ["Cells", "edit", "with_cells", "without_rows"],
        "owner.merging": ["Answers", "merge_answers"],
        "owner.questions": ["ask_owner", "name_of_row", "text_of"],
        "streams": ["Cleaned", "clean_chunks"],
        "summary": ["Report", "Tally", "report", "unusable"],
        "vocabulary": ["PROBLEMS", "meaning_of_note"],
        "zones": ["time_zones"],
    },
)
__all__ = [
    "DRAWN",
    "PROBLEMS",
    "TEXTABLE",
    "Answers",
    "Cells",
    "Cleaned",
    "Evidence",
    "Explanation",
    "Found",
    "Level",
    "NoteOrRefuse",
    "Report",
    "Tally",
    "ask_owner",
    "clean_chunks",
    "country_name",
    "drawn",
    "duplicates",
    "edit",
    "explain",
    "explode",
    "find_columns",
    "free_names",
    "look_up",
    "meaning_of_note",
    "merge_answers",
    "name_of_row",
    "normalize",
    "normalize_batch",
    "normalize_schema",
    "one_phone",
    "one_phone_digits",
    "place",
    "report",
    "spellings",
    "text_of",
    "time_zones",
    "unusable",
    "verdict",
    "verdict_batch",
    "verdict_schema",
    "weigh_column",
    "with_cells",
    "without_rows",
]
