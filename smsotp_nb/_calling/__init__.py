"""Calls of the public functions.

``arguments`` checks what a caller gave by its kind, ``words`` answers misspelt and missing arguments and is the base of
options, ``tracebacks`` keeps variables out of errors.
"""

from .arguments import (
    given,
    nearest,
    not_a,
    not_all_text,
    not_callable,
    not_choice,
    not_flag,
    not_frame,
    not_list,
    not_mapping,
    not_number,
    not_path,
    not_replacement,
    not_series,
    not_text,
    not_texts,
    not_whole,
    not_zone,
    refuse,
)
from .tracebacks import bare, without_variables
from .words import Options, as_printed, in_our_words, made_in_our_words
