"""Phone numbers to E.164, with a reason for every row that fails.

``parse`` is phonenumbers' own answer, untouched. ``normalize`` is our judgement on top of it: ``to`` is filled only
where we would text that number. A valid number is a number of some plan; whether anybody can be reached there, and
whether it is the right person, no plan can say. So what might text a stranger is refused, and every repair is noted.

Problems: one code for a row, the first that applies.

=========================  ============================================================================================
MISSING                    no number in the cell: blank, or a word such as n/a
NOT_TEXT                   the cell holds neither text nor a number
SCI_NOTATION_LOST_DIGITS   a spreadsheet wrote it like 1.41556E+10 and the last digits are lost
MULTIPLE_NUMBERS           more than one number in the cell; none is chosen
TEXT_IN_NUMBER             letters or other signs among the digits
NOTE_SAYS_NO               words beside the number say that it should not be texted (no, stop, wrong, deceased, fax ...)
OTHER_PERSON               words beside the number say that it is somebody else's (wife, mother, neighbour ...)
DIGITS_HIDDEN              stars or dots in place of digits that were hidden or cut off
AMBIGUOUS_READING          two readings are valid numbers of different people
NOT_A_NUMBER               not a phone number
REGION_MISSING             no calling code in the number and no country beside it
REGION_UNKNOWN             no calling code in the number and the country beside it cannot be read
UNKNOWN_CALLING_CODE       no country has this calling code
TOO_SHORT_AFTER_IDD        almost no digits after the international prefix
TOO_SHORT_NSN              almost no digits after the calling code
TOO_LONG                   more digits than any number of that country
TOO_SHORT                  fewer digits than any number of that country
INVALID_LENGTH             no number of that country has this many digits
LOCAL_ONLY                 the area code is missing
NOT_IN_USE                 the right length, but the numbering plan of its country has no such number
TYPE_NOT_ALLOWED           a kind of number that is not texted (premium, toll-free, pager ...)
REGION_MISMATCH            a number of another country than the one beside it (only with region_mismatch='refuse')
TEST_NUMBER                a number reserved for fiction (only with test_numbers='refuse')
DUPLICATE_OF               the same number as another row that is planned (set when planning)
=========================  ============================================================================================

Notes: any number of codes for a row, joined by a blank; a repair that was made or a fact worth knowing.

=========================  ============================================================================================
TRIMMED                    blanks or stray punctuation around the number removed
INVISIBLE_REMOVED          invisible characters or unusual blanks removed
DIGITS_TRANSLATED          digits of another script written as 0-9
QUOTE_REMOVED              a spreadsheet's apostrophe, quotes or ="..." removed
LABEL_REMOVED              a label, a name, a link or an e-mail address around the number removed
LETTERS_READ               O or l in place of a 0 or 1 read as that digit
SAME_NUMBER_TWICE          the cell has the same number in two notations
FLOAT_ENDING               the cell was a decimal number; its .0 is not part of the phone number
SCI_NOTATION               scientific notation with all digits present written out
EXTENSION_DROPPED          an extension after the number dropped
TRUNK_ZERO_DROPPED         a zero that is dialled at home only, such as the (0) after a calling code, dropped
LEADING_ZERO_RESTORED      a leading zero that belongs to the number put back
IDD_00_READ                00 read as the plus sign
PLUS_RESTORED              read as if it began with a plus, which was lost
TRAILING_NOTE_DROPPED      words behind the number that say nothing against it, such as (home) or a name, dropped
VANITY_LETTERS             repair 'vanity': letters read as digits of a keypad
OLD_PREFIX_DROPPED         a prefix that is dialled no more, such as Mexico's 01, 044 or +52 1, dropped
OVERSEAS_READ              a number of a French overseas department, written as in France
CODE_SAID_TWICE            a calling code written twice read once
PLUS_MOVED                 a plus at the end, as in right-to-left exports, moved to the front
COLUMN_EVIDENCE            the other rows of the column show which of two readings is meant
REGION_CASE                the country code was not in capitals
REGION_ALIAS               a customary code such as UK, a flag, a locale such as en-US
REGION_ALPHA3              the country as a three-letter code
REGION_NAME                the country as a name or nationality, in any language
REGION_CALLING_CODE        the country as a calling code such as +49
REGION_UNKNOWN             the country cell cannot be read; the number has its own calling code
REGION_MISMATCH            a number of another country than the one beside it
TEST_NUMBER                a number reserved for fiction
FIXED_LINE                 a landline; it may not receive texts
VOIP                       an internet telephony number; it may not receive texts
=========================  ============================================================================================

Never done, because each would text strangers: guessing a country, an area code or a digit; keeping the first of two
numbers; reading the shorthand 4155550100/2; dropping words that may say no; choosing between two valid readings;
mending numbers that a reform of their plan has changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._lazy import attributes

if TYPE_CHECKING:
    from ._phones import (
        Answers,
        Cleaned,
        Explanation,
        Found,
        NumberOptions,
        Report,
        ask_owner,
        clean_chunks,
        duplicates,
        edit,
        explain,
        explode,
        find_columns,
        merge_answers,
        normalize,
        normalize_batch,
        parse,
        parse_batch,
        rejected,
        report,
        weigh_column,
    )

__all__ = [
    "Answers",
    "Cleaned",
    "Explanation",
    "Found",
    "NumberOptions",
    "Report",
    "ask_owner",
    "clean_chunks",
    "duplicates",
    "edit",
    "explain",
    "explode",
    "find_columns",
    "merge_answers",
    "normalize",
    "normalize_batch",
    "parse",
    "parse_batch",
    "rejected",
    "report",
    "weigh_column",
]
__getattr__ = attributes(__name__, {"_phones": __all__})


def __dir__() -> list[str]:
    return list(__all__)
