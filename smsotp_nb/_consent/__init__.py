"""Consent in a list: who may not be texted, by what its own columns and words say.

``words`` reads the phrases of ``words.txt``. ``headings`` says what a column asks, ``answers`` what a cell says,
``row_words`` finds refusals in names and notes, ``reader`` puts them together. Plans, lists to exclude, imports of
opt-outs and opt-ins, reports and forms read consent here and nowhere else.
"""

from __future__ import annotations

from .headings import Kind, is_name_of_a_person
from .lists import check_name_of_list, check_not_all_refuse, describe_willing
from .reader import Consent, ConsentColumn, Reply, check_arguments, names_of, read_consent
from .summary import notes_of, table_of
