"""Rows that are held because of what the list says of its people, or because nobody knows whose number it is."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from .._consent import Consent, check_name_of_list, check_not_all_refuse, is_name_of_a_person, read_consent
from .._pandas import STR
from .._showing import few, mask, spelled
from .arguments import Asked
from .assembly import people_of
from .wording import Column, plain_words

# A family shares a phone, of which six and more are rare; an office or a placeholder is shared by any number of people.
NAMES_HELD: Final = 8  # different names beside one number: nobody knows whose phone it is
NAMES_TOLD: Final = 4
SHOWN_NUMBERS: Final = 3


def read(people: pd.DataFrame, asked: Asked, call: Mapping[str, Any]) -> Consent:
    """Read what the columns of the list say of consent.

    Raises:
        UsageError: the list is named as one of people who opted out, or a column can be read both ways.
    """
    check_name_of_list(people)
    other: list[Hashable] = [*asked.numbers.to, asked.numbers.region]
    message = plain_words(asked.message["words"])
    if isinstance(message, Column):  # whole messages say how to opt out
        other.append(message.name)
    return read_consent(people, consent=call["consent"], ignore=call["ignore_consent"], other=other)


def hold_back(numbers: pd.DataFrame, consent: Consent) -> pd.DataFrame:
    """Mark rows without consent, and all rows of a person of whom one row says no.

    Raises:
        UsageError: everybody in the list says no.
    """
    check_not_all_refuse(consent, numbers["to"].notna().to_numpy(bool))
    if not consent.held.any():
        return numbers
    numbers = numbers.reset_index(drop=True)
    people, others = people_of(numbers)
    refused = consent.refused
    of_others = others.index.to_numpy(np.int64)
    phones = others.to_numpy(np.int64)
    refusing = np.concatenate([people[refused], phones[refused[of_others]]])
    refusing = np.unique(refusing[refusing > 0])
    held = consent.held | np.isin(people, refusing)
    held[of_others[np.isin(phones, refusing)]] = True
    columns = consent.column_of_each()
    notes = [f"NO_CONSENT:{column}" if column else "NO_CONSENT:another row of this person" for column in columns]
    return _marked(numbers, held, "NO_CONSENT", notes)


def hold_shared(numbers: pd.DataFrame, people: pd.DataFrame) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Mark rows of a number that stands beside many names; return advice on those that stand beside several."""
    names = [name for name in people.columns if is_name_of_a_person(spelled(name))]
    names = [name for name in names if isinstance(people[name], pd.Series)]
    repeated = numbers["to"].notna() & numbers["to"].duplicated(keep=False)
    if not names or not repeated.any():
        return numbers, ()
    places = np.flatnonzero(repeated.to_numpy(bool))
    different = _different_names(people[names].iloc[places], numbers["to"].iloc[places])
    count = numbers["to"].map(different).fillna(0).to_numpy()
    notes = [f"SHARED_NUMBER:{int(names)} names" for names in count]
    result = _marked(numbers, count >= NAMES_HELD, "SHARED_NUMBER", notes)
    told = different[different >= NAMES_TOLD].sort_values(ascending=False)
    advice = []
    if len(told):
        shown = few([f"{mask(str(to))} beside {int(many)} names" for to, many in told.items()], most=SHOWN_NUMBERS)
        advice.append(
            f"One number stands beside several people: {shown}. From {NAMES_HELD} names on its rows are held "
            "(SHARED_NUMBER), below that the first of them is texted: see whether it is a placeholder"
        )
    return result, tuple(advice)


def _different_names(names: pd.DataFrame, to: pd.Series) -> pd.Series:
    """Return how many different names stand beside each number, whatever their case and blanks."""
    parts = [names[name].astype(object).map(spelled, na_action="ignore").fillna("") for name in names.columns]
    texts = parts[0].astype(str)
    for part in parts[1:]:
        texts = texts.str.cat(part.astype(str), sep=" ")
    texts = texts.str.casefold().str.split().str.join(" ")
    return texts[texts.ne("")].groupby(to[texts.ne("")].to_numpy()).nunique()


def _marked(numbers: pd.DataFrame, held: npt.NDArray[np.bool_], problem: str, notes: list[str]) -> pd.DataFrame:
    """Return the numbers with a problem, and its note, in the rows that have none yet."""
    held = held & numbers["problem"].isna().to_numpy(bool)
    note = numbers["note"].astype(object).where(numbers["note"].notna(), "")
    note = pd.Series([f"{old} {new}".strip() for old, new in zip(note, notes, strict=True)], numbers.index, dtype=STR)
    result = numbers.assign(problem=numbers["problem"].mask(held, problem))
    return result.assign(note=numbers["note"].mask(held, note))
