"""From rows to bodies: fill the message for every row and group equal messages, each with its parts and its key.

Also what the ledger keeps of the words: each wording with its placeholders, and how its bodies pack.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from json.encoder import encode_basestring
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from .. import _parts, parts
from .. import _templates as templates
from .._ledger import Wordings
from .._pandas import STR
from .._parts import GSM, GSM_EXTENSION, forcing, measure
from .arguments import Words
from .segments import BLANK, UNKNOWN
from .wording import OneMessage, Wording

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Worded:
    """The message of every row, from 0: ``values`` hold what differs, ``lacking`` the rows that cannot be filled.

    Each entry of ``lacking`` is a problem's code, the rows that have it and notes on them; the first problem of a row
    counts. ``template_id`` is each row's template if segments have their own. ``trimmed`` marks the rows with blanks
    around a value.
    """

    values: dict[str, pd.Series[str]]
    lacking: tuple[tuple[str, npt.NDArray[np.bool_], pd.Series[str]], ...]
    template_id: pd.Series[str] | None = None
    trimmed: npt.NDArray[np.bool_] | None = None


def word(words: Words) -> Worded:
    wording, segments, size = words.wording, words.segments, len(words.frame)
    if segments is None:
        if not wording.columns:
            return Worded({}, ())
        values, missing, note = _filled(wording, wording.messages[0], words.frame)
        return Worded(values, (*_odd(words), ("VALUE_MISSING", missing, note)), trimmed=_trimmed(words))
    values, missing, note = _filled_by_segment(wording, words.frame, segments.codes)
    unknown, blank = segments.codes == UNKNOWN, segments.codes == BLANK
    lacking = (
        ("SEGMENT_MISSING", blank, _repeated(f"SEGMENT_MISSING:{segments.name}", size)),
        ("SEGMENT_UNKNOWN", unknown, "SEGMENT_UNKNOWN:" + segments.values if unknown.any() else _repeated(None, size)),
        *_odd(words),
        ("VALUE_MISSING", missing & (segments.codes >= 0), note),
    )
    return Worded(values, lacking, _template_ids(wording, segments.codes), _trimmed(words))


def _odd(words: Words) -> Iterator[tuple[str, npt.NDArray[np.bool_], pd.Series[str]]]:
    if words.odd is not None:
        yield "VALUE_ODD", words.odd.notna().to_numpy(), words.odd


def _trimmed(words: Words) -> npt.NDArray[np.bool_] | None:
    """Mark the rows in which a value that the message names has blanks around it; None where there are none."""
    found = np.zeros(len(words.frame), bool)
    for message in words.wording.messages:
        for name in dict.fromkeys(slot.column for slot in words.wording.slots(message)):
            if words.frame[name].dtype.kind not in "iufbM":
                texts = templates.as_text(words.frame[name])
                found |= texts.ne(texts.str.strip()).to_numpy(bool, na_value=False) & texts.notna().to_numpy()
    return found if found.any() else None


def _filled(
    wording: Wording, message: OneMessage, frame: pd.DataFrame
) -> tuple[dict[str, pd.Series[str]], npt.NDArray[np.bool_], pd.Series[str]]:
    """Return a message filled for these rows, which of them lack a value, and which value that is."""
    texts = templates.column_texts(frame, wording.slots(message), message.language)
    lacks, note = templates.missing_values(texts, len(frame))
    missing = lacks.to_numpy()
    if message.main is None:
        data = {variable: replaced(texts[slot.source], wording.replace) for variable, slot in wording.variables}
        return data, missing, note
    text = replaced(templates.written(message.main, texts, len(frame)), wording.replace)
    blank = _blank(text, message.main)
    if blank.any():
        missing, note = missing | blank, note.mask(blank, f"VALUE_MISSING:{wording.kind}")
    return {wording.kind: text}, missing, note


def _template_ids(wording: Wording, codes: Ints) -> pd.Series[str] | None:
    if wording.kind != "template":
        return None
    ids = _str([message.body.template_id for message in wording.messages])
    return ids.take(np.maximum(codes, 0)).reset_index(drop=True)


def _filled_by_segment(
    wording: Wording, frame: pd.DataFrame, codes: Ints
) -> tuple[dict[str, pd.Series[str]], npt.NDArray[np.bool_], pd.Series[str]]:
    """Fill each segment's message for its rows alone, and put them together in the order of the rows."""
    order = np.argsort(codes, kind="stable")
    ends = np.searchsorted(codes[order], np.arange(len(wording.messages) + 1))
    none, none_at_all = _repeated(None, ends[0]), _repeated(None, len(codes))
    names = [variable for variable, _ in wording.variables] if wording.kind == "template" else [wording.kind]
    pieces = {name: [none] for name in names}
    missing, notes = [np.zeros(ends[0], dtype=bool)], [none]
    for number, message in enumerate(wording.messages):
        at = order[ends[number] : ends[number + 1]]
        if not len(at):
            continue
        columns = dict.fromkeys(slot.column for slot in wording.slots(message))
        filled, lacking, note = _filled(wording, message, frame[list(columns)].take(at))
        for name in names:
            pieces[name].append(filled[name])
        missing.append(lacking)
        notes.append(note)
    back = np.empty(len(codes), dtype=np.intp)
    back[order] = np.arange(len(codes))
    lacks = np.concatenate(missing)
    values = {
        name: pd.concat(texts, ignore_index=True).take(back).reset_index(drop=True) for name, texts in pieces.items()
    }
    note = pd.concat(notes, ignore_index=True).take(back).reset_index(drop=True) if lacks.any() else none_at_all
    return values, lacks[back], note


def _repeated(text: str | None, size: int) -> pd.Series[str]:
    return _str([text]).take(np.zeros(size, dtype=np.intp)).reset_index(drop=True)


def _blank(text: pd.Series[str], template: templates.Template) -> npt.NDArray[np.bool_]:
    """Mark texts that came out blank; only blank words for a missing value can do that."""
    if any(literal.strip() for literal in template.literals):
        return np.zeros(len(text), dtype=bool)
    return (text.str.strip() == "").to_numpy(dtype=bool, na_value=False)


def group(worded: Worded, at: npt.NDArray[np.intp]) -> tuple[Ints, npt.NDArray[np.intp]]:
    """Number the bodies of the rows at these positions, by first appearance.

    Returns:
        The body number of each of these rows, and for each body the position of the row where it appears first.
    """
    codes = np.zeros(len(at), dtype=np.int64)
    for values in (*worded.values.values(), *([] if worded.template_id is None else [worded.template_id])):
        found, distinct = pd.factorize(values.take(at))
        codes, _ = pd.factorize(codes * (len(distinct) + 1) + found)
    codes = codes.astype(np.int64)
    first = np.flatnonzero(~pd.Series(codes).duplicated().to_numpy())
    return codes, at[first]


def table(wording: Wording, worded: Worded, first: npt.NDArray[np.intp]) -> pd.DataFrame:
    """Return the bodies frame, without recipients; index is the body number."""
    body, size = wording.messages[0].body, len(first)
    main = wording.messages[0].main
    literal = parts.plain("".join(main.literals), replace=wording.replace) if main else None
    same: dict[str, str | None] = {
        "kind": body.kind,
        "text": literal if body.kind == "text" else None,
        "content": literal if body.kind == "content" else None,
        "template_id": body.template_id,
        "template_data": "{}" if body.kind == "template" else None,
        "signature": body.signature,
    }
    frame = pd.DataFrame({name: _str([value]).take(np.zeros(size, dtype=np.intp)) for name, value in same.items()})
    frame.index = pd.RangeIndex(size, name="body")
    distinct = {name: values.take(first) for name, values in worded.values.items()}
    if body.kind == "template" and distinct:
        frame["template_data"] = _str(_json_objects(distinct)).set_axis(frame.index)
    else:
        for name, values in distinct.items():
            frame[name] = values.set_axis(frame.index)
    if worded.template_id is not None:
        frame["template_id"] = worded.template_id.take(first).set_axis(frame.index)
    return pd.concat([frame, _estimated(wording.reads(frame))], axis=1)


def _json_objects(values: Mapping[str, pd.Series[str]]) -> list[str | None]:
    quoted = [
        [f"{encode_basestring(name)}:{encode_basestring(text)}" for text in series.tolist()]
        for name, series in values.items()
    ]
    return ["{" + ",".join(pairs) + "}" for pairs in zip(*quoted, strict=True)]


def replaced(texts: pd.Series[str], replace: Mapping[str, str]) -> pd.Series[str]:
    """Return the texts with these characters written otherwise."""
    if not replace:
        return texts
    at = texts.str.contains(f"[{re.escape(''.join(replace))}]", na=False).to_numpy(dtype=bool)
    if not at.any():
        return texts
    found = set("".join(texts[at].tolist())) & replace.keys()
    if not found.isdisjoint("".join(replace[char] for char in found)):  # one after the other would replace twice
        changed = texts.to_numpy(dtype=object).copy()
        changed[at] = [parts.plain(text, replace=replace) for text in changed[at]]
        return _str(changed.tolist()).set_axis(texts.index)
    for char in found:
        texts = texts.str.replace(char, replace[char], regex=False)
    return texts


def rewritten(bodies: pd.DataFrame, replace: Mapping[str, str]) -> pd.DataFrame:
    """Return the bodies as ``Message(replace=...)`` would have made them, estimates left as they are."""
    frame = bodies.copy(deep=False)
    for name in ("text", "content"):
        frame[name] = replaced(frame[name], replace)
    data = frame["template_data"]
    if data.notna().any():
        values = [{key: parts.plain(text, replace=replace) for key, text in json.loads(one).items()} for one in data]
        frame["template_data"] = _str([json.dumps(one, ensure_ascii=False) for one in values]).set_axis(frame.index)
    return frame


def _estimated(texts: pd.Series[str]) -> pd.DataFrame:
    """Return ``encoding`` (str) and ``est_parts`` (Int64) of texts, missing where the text is."""
    known = texts.dropna()
    found = measure(known.tolist())
    frame = pd.DataFrame({"encoding": _encodings(found), "est_parts": found.parts}, index=known.index)
    return frame.astype({"encoding": STR, "est_parts": "Int64"}).reindex(texts.index)


def measured(texts: pd.Series[str], plain: pd.Series[str]) -> pd.DataFrame:
    """Return what `measure` says of the texts, and parts and encoding of their plain form."""
    known = texts.dropna()
    given = known.tolist()
    found, after = measure(given), measure(plain[known.index].tolist())
    frame = pd.DataFrame(
        {
            "encoding": _encodings(found),
            "parts": found.parts,
            "units": found.units,
            "over": found.over,
            "forcing": forcing(given),
            "plain_encoding": _encodings(after),
            "plain_parts": after.parts,
        },
        index=known.index,
    )
    counts, words = ["parts", "units", "over", "plain_parts"], ["encoding", "forcing", "plain_encoding"]
    return frame.astype(dict.fromkeys(counts, "Int64") | dict.fromkeys(words, STR)).reindex(texts.index)


def _encodings(found: _parts.Measures) -> npt.NDArray[np.str_]:
    return np.where(found.wide, "ucs2", "gsm7")


# -- the key of a body -------------------------------------------------------------------------------------------------


def body_keys(frame: pd.DataFrame) -> Ints:
    """Return 8 bytes of BLAKE2b over each body in one canonical form, as signed integers."""
    if frame.empty:
        return np.zeros(0, dtype=np.int64)
    kind, signature = str(frame["kind"].iloc[0]), _or_none(frame["signature"].iloc[0])
    keys = np.zeros(len(frame), dtype=np.int64)
    of_template, ids = pd.factorize(frame["template_id"], use_na_sentinel=False)
    for number, template_id in enumerate(ids.tolist()):
        mine = of_template == number
        # JSON in one line, which all bodies of a kind share, and a line break.
        shared = json.dumps([kind, _or_none(template_id), signature], ensure_ascii=False, separators=(",", ":"))
        texts = (f"{shared}\n{text}".encode() for text in frame[_VARYING[kind]].array[mine].tolist())
        digests = b"".join([blake2b(text, digest_size=8).digest() for text in texts])
        keys[mine] = np.frombuffer(digests, dtype=">i8")
    return keys


# In which field the bodies of one plan may differ, beside the id of their template; all others are equal.
_VARYING = {"text": "text", "content": "content", "template": "template_data"}


def _or_none(value: Any) -> str | None:
    return None if pd.isna(value) else str(value)


def _str(texts: list[str | None]) -> pd.Series[str]:
    made: pd.Series[str] = pd.Series(texts, dtype=STR)
    return made


_FOREIGN: Final = f"[^{re.escape(GSM + GSM_EXTENSION)}]"
MEASURED: Final = ("wording", "parts", "plain_parts", "gsm_parts", "forcing")  # of each body
_MOST: Final = 1_000  # sets of characters that are told apart in a plan; the rarest beyond are kept as not known


def wordings(words: Words, bodies: pd.DataFrame, first: Ints, *, keep: bool) -> Wordings:
    """Return the wordings of a plan; ``first`` are the positions of the rows that have each body first.

    ``keep`` says whether the ledger may keep the words themselves.
    """
    wording = words.wording
    place = words.segments.codes[first] if words.segments is not None else np.zeros(len(first), np.int64)
    texts = wording.reads(bodies)
    packed = measured(texts, wording.reads(rewritten(bodies, parts.PLAIN)))
    measures = pd.DataFrame(
        {
            "wording": place,
            "parts": packed["parts"],
            "plain_parts": packed["plain_parts"],
            "gsm_parts": gsm_parts(texts),
            "forcing": _sources(wording, words.frame, packed["forcing"], place, first),
        },
        index=bodies.index,
    )
    return Wordings(said(wording), measures, keep)


def gsm_parts(texts: pd.Series[str]) -> pd.Series[Any]:
    """Count the parts of each text as if every character were in the GSM alphabet."""
    known = texts.dropna()
    counted = _parts.measure(known.str.replace(_FOREIGN, "?", regex=True)).parts
    return pd.Series(counted, index=known.index, dtype="Int64").reindex(texts.index)


def said(wording: Wording) -> pd.DataFrame:
    """Return what each message says, its placeholders as they were written."""
    return pd.DataFrame([_said(wording, message) for message in wording.messages], dtype=STR)


def _said(wording: Wording, message: OneMessage) -> dict[str, str | None]:
    template = message.main or message.template_text
    text = None if template is None else _source(wording, template)
    cells = pd.DataFrame({name: pd.Series([text], dtype=STR) for name in ("text", "content")})
    reads = text if wording.kind == "template" or text is None else str(wording.reads(cells).iloc[0])
    return {
        "segment": message.segment,
        "template": message.body.template_id,
        "text": reads,
        "variables": json.dumps(_columns(wording, message), ensure_ascii=False),
    }


def _columns(wording: Wording, message: OneMessage) -> list[str]:
    return list(dict.fromkeys(slot.column for slot in wording.slots(message)))


def _source(wording: Wording, template: templates.Template) -> str:
    """Write a parsed text with its placeholders again, characters replaced as in the messages."""
    literals = [_replaced(wording, text).replace("{", "{{").replace("}", "}}") for text in template.literals]
    slots = [f"{{{slot.source}}}" for slot in template.slots]
    return "".join(piece for pair in zip(literals, [*slots, ""], strict=True) for piece in pair)


def _replaced(wording: Wording, text: str) -> str:
    return parts.plain(text, replace=wording.replace) if wording.replace else text


# -- where the characters come from ------------------------------------------------------------------------------------


def _sources(
    wording: Wording, frame: pd.DataFrame, forcing: pd.Series[str], place: Ints, first: Ints
) -> pd.Series[str]:
    """Return as JSON, for each body, the characters that force ucs2 by the column that they come from."""
    found = pd.Series(None, index=forcing.index, dtype=object)
    foreign = forcing.fillna("").ne("").to_numpy(bool)
    for number, message in enumerate(wording.messages):
        mine = np.flatnonzero(foreign & (place == number))
        if len(mine):
            found.iloc[mine] = _of_message(wording, message, frame, forcing.iloc[mine].tolist(), first[mine])
    counted = found.value_counts()
    if len(counted) > _MOST:
        found = found.where(found.isin(counted.index[:_MOST]))
    kept: pd.Series[str] = found.astype(STR)
    return kept


def _of_message(
    wording: Wording, message: OneMessage, frame: pd.DataFrame, forcing: list[str], first: Ints
) -> list[str]:
    columns = _columns(wording, message)
    template = message.main or message.template_text
    literals = "".join(template.literals) if template else ""
    joined = f"{wording.signature or ''}{''.join(wording.join.literals)}" if wording.kind == "content" else ""
    own = set(_parts.forcing([_replaced(wording, literals) + joined])[0])
    if len(columns) == 1:  # whatever the text does not hold itself
        values = {columns[0]: [_in_order(set(signs) - own) for signs in forcing]}
    else:
        slots = wording.slots(message)
        filled = templates.column_texts(frame.iloc[first], slots, message.language)
        texts = {name: [filled[one.source].fillna("") for one in slots if one.column == name] for name in columns}
        values = {name: _parts.forcing(map("".join, zip(*of, strict=True))) for name, of in texts.items()}
    said = []
    for at, signs in enumerate(forcing):
        here = {"": own & set(signs)} | {name: set(each[at]) & set(signs) for name, each in values.items()}
        said.append(json.dumps({name: _in_order(found) for name, found in here.items() if found}, ensure_ascii=False))
    return said


def _in_order(signs: Iterable[str]) -> str:
    return "".join(sorted(signs))
