"""Likely mistakes in messages: the name of a column as the text, placeholders that would be sent as words.

Each would be sent literally to everybody on the list, so each is refused before anything is planned.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, reduce
from html import unescape
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from .. import _templates as templates
from .. import _wire as wire
from .._calling import given
from .._showing import few
from .._values import NO_TEXT, Slot
from .._values import slot as placeholder
from ..columns import absent, listed
from . import signs
from .wording import OneMessage, Wording, for_segments

Codes: TypeAlias = "npt.NDArray[np.int64] | None"
Rows: TypeAlias = npt.NDArray[np.intp]
_SLOT: Final = re.compile(r"\{([^{}]+)\}")
_TEMPLATE: Final = re.compile(r"\{\{|\*\|")
_ODD_VALUE: Final = (r"\{|\*\|", r"^\s*[\[({<%#$@~|:!*^=?`§«‹\\_-]+\s*[\pL_\[({%=]", r"^\s*[｛［＜＃＄＠％【]")
_LITERALLY: Final = "or pass sms.Message(..., literal=True) if it is meant literally"


def found_in(wording: Wording, frame: pd.DataFrame, names: Iterable[Any], codes: Codes = None) -> list[str]:
    """Return what is wrong with messages in the light of the columns of their recipients.

    ``frame`` is what the messages are filled from, ``names`` the columns of the recipients, ``codes`` which message
    each row gets where there are several.
    """
    columns = [name for name in names if isinstance(name, str) and name.strip()]
    foreign = Foreign(frame, columns)
    complaints = [
        (message.segment, said) for message in wording.messages for said in _in_message(message, columns, foreign)
    ]
    wrong = for_segments(complaints, len(wording.messages))
    signature = wording.signature
    if signature is not None:
        wrong += _column_names("signature", signature, columns)
        if _SLOT.search(signature) or foreign.found([signature]):
            wrong.append("signature= is one name for everybody; {placeholders} are filled in the message alone")
        wrong += [_sign(f"signature= holds {given(sign)}", kind) for sign, kind in signs.in_text(signature)]
    return wrong + in_cells(wording, frame, columns, codes)


def in_cells(wording: Wording, frame: pd.DataFrame, names: Iterable[Any], codes: Codes) -> list[str]:
    """Return what is wrong with the cells that messages take from a frame: they bring placeholders along.

    Arguments as for `found_in`.
    """
    names = list(names)
    whole = list(_whole(wording, codes))
    wrong = [said for name, rows in whole for said in _foreign_cells(frame, name, rows, names)]
    values = [name for name in wording.columns if name not in {of for of, _ in whole}]
    return list(dict.fromkeys([*wrong, *_in_values(wording, values, frame, names)]))


def no_columns(wording: Wording, frame: pd.DataFrame) -> list[str]:
    """Report placeholders and columns of messages that are not there."""
    wrong = []
    for message in wording.messages:
        if message.own is not None:
            missing = absent(message.own, frame.columns)
            wrong += [(message.segment, f"message: {missing}")] if missing else []
            continue
        slots, currency = wording.slots(message), message.language.currency
        wrong += [(message.segment, no) for no in templates.wrong_slots(slots, frame, currency)]
    return for_segments(wrong, len(wording.messages))


def signature_beside_text(wording: Wording, variant: wire.Variant) -> str | None:
    """Report a signature beside ``text``. Only the cn variant sends one there; elsewhere nobody would read it."""
    if variant == "cn" or wording.kind != "text" or wording.signature is None:
        return None
    return (
        "signature= is not put in front of a message that travels as text, which goes without one: leave out "
        "field='text' to have both joined, or write the name into the message"
    )


def _in_message(message: OneMessage, columns: list[str], foreign: Foreign) -> Iterator[str]:
    if message.main is None or message.own is not None or message.literal:
        return
    body = message.body
    words = body.text or body.content or ""
    yield from _column_names("message", words, columns)
    for shape, meant in foreign.found([words]).items():
        yield (
            f"message holds {given(shape)}, a placeholder as another tool writes it, which would be sent "
            f"literally. Write {_ours(meant, columns)}, {_LITERALLY}"
        )
    names = _BETWEEN.join(slot.column for slot in message.main.slots)
    for sign, kind in signs.in_text(_BETWEEN.join(message.main.literals), names):
        yield _sign(f"message holds {given(sign)}", kind)


def _ours(meant: str | None, columns: list[str]) -> str:
    if meant is not None:
        return f"'{{{meant}}}'"
    return f"'{{column}}' with one pair of braces and the name of a column {listed(columns)}"


def _column_names(name: str, value: str, columns: list[str]) -> Iterator[str]:
    meant = [column for column in columns if column.strip().casefold() == value.strip().casefold()]
    if meant and name == "signature":
        yield f"signature={given(value)} is the name of a column; it is one sender's name, the same for everybody"
    elif meant:
        yield (
            f"message {given(value)} is the name of a column: everybody would get this word. Write "
            f"'{{{meant[0]}}}' within a message, sms.column({meant[0]!r}) where its cells are whole messages, or "
            "sms.Message(..., literal=True)"
        )


def _whole(wording: Wording, codes: Codes) -> Iterator[tuple[str, npt.NDArray[np.bool_] | None]]:
    """Return the columns whose cells are sent as they stand, and which rows get them; None for all."""
    for number, message in enumerate(wording.messages):
        if not message.literal and message.own is not None:
            yield message.own, None if codes is None else codes == number
    if not all(message.literal for message in wording.messages):
        yield from ((slot.column, None) for _, slot in wording.variables)


def _foreign_cells(
    frame: pd.DataFrame, name: str, rows: npt.NDArray[np.bool_] | None, names: list[Any]
) -> Iterator[str]:
    if absent(name, frame.columns) or pd.api.types.is_numeric_dtype(frame[name].dtype):
        return
    texts = templates.as_text(frame[name] if rows is None else frame[name][rows])
    found = Foreign(frame, names, ours=False).found(texts.dropna().unique())
    for shape in list(found)[:1]:
        there = texts.index[[shape in looked_through(text) for text in texts.fillna("")]].tolist()
        where = f" in row {few(there, given)}" if there else ""
        yield (
            f"column {name!r} holds {given(shape)}{where}, as other tools or we write a placeholder: what stands in a "
            "cell is never filled, so it would be sent literally to these people. Write the message itself with "
            f"'{{column}}', fill the column first, {_LITERALLY}"
        )


def _in_values(wording: Wording, values: Iterable[str], frame: pd.DataFrame, names: list[Any]) -> Iterator[str]:
    """Report values that bring placeholders along, which are never filled."""
    if all(message.literal for message in wording.messages):
        return
    columns = set(names)
    for name in values:
        if absent(name, frame.columns) or pd.api.types.is_numeric_dtype(frame[name].dtype):
            continue
        texts = templates.as_text(frame[name])
        odd = texts[_matched(pa.array(texts, pa.large_string(), from_pandas=True), _ODD_VALUE)]
        meant = [(label, of) for label, text in odd.items() if (of := columns & set(_SLOT.findall(text)))]
        if 2 * len(meant) > int(texts.notna().sum()):  # a column of texts to be filled, not one odd name among many
            yield _said(name, meant)
        elif len(odd):
            alone = Foreign(frame, names, ours=False).found(odd.unique())
            foreign = [text for text in odd if _TEMPLATE.search(text) or looked_through(text).strip() in alone]
            yield from _foreign_cells(frame[frame[name].isin(foreign).to_numpy(bool)], name, None, names)


def _matched(texts: pa.Array, patterns: Iterable[str]) -> npt.NDArray[np.bool_]:
    found = reduce(pc.or_, (pc.match_substring_regex(texts, one) for one in patterns))
    return np.asarray(found.fill_null(False).to_numpy(zero_copy_only=False), bool)


def in_signs(wording: Wording, frame: pd.DataFrame, codes: Codes) -> Iterator[tuple[str, Rows, bool, str]]:
    """Give cells with signs as another format writes them, or letters that were read in a wrong encoding: their column,
    their places, whether they are most of its values, by which the column is wrong, and what to say of them.
    """
    linked = {slot.column for message in wording.messages for slot in _in_links(message)}
    for number, message in enumerate(wording.messages):
        rows = np.arange(len(frame)) if codes is None else np.flatnonzero(codes == number)
        for name in () if message.literal else dict.fromkeys(slot.column for slot in wording.slots(message)):
            if absent(name, frame.columns) or pd.api.types.is_numeric_dtype(frame[name].dtype):
                continue
            column = frame[name].iloc[rows]
            if column.dtype == object:  # the others are refused by their type
                column = column.mask(np.array([isinstance(cell, NO_TEXT) for cell in column], bool))
            texts = templates.as_text(column)
            cells = pa.array(texts, pa.large_string(), from_pandas=True)
            for found, kind in signs.in_texts(cells, whole=message.own is not None, linked=name in linked):
                at = np.flatnonzero(texts.isin(list(found)).to_numpy(bool))
                there = templates.value_texts(texts.iloc[at])
                odd = [isinstance(text, str) and kind.find(text) is not None for text in there]
                if any(odd):
                    # Where a column was read in a wrong encoding, not all of its broken letters are found.
                    among = texts[[not text.isascii() for text in texts.fillna("")]] if kind.of_encoding else texts
                    yield name, rows[at[odd]], 2 * sum(odd) > among.count(), _in_rows(name, there[odd], kind)


def _in_rows(name: str, there: pd.Series[str], kind: signs.Kind) -> str:
    text = there.iloc[0]
    sign = kind.find(text)
    whole = "" if sign == text else f" ({given(text)})"
    holds = f"column {name!r} holds {given(sign)} in row {few(there.index.tolist(), given)}{whole}"
    return _sign(holds, kind, f"frame[{name!r}]")


def _sign(holds: str, kind: signs.Kind, values: str = "") -> str:
    how = kind.how.format(values=values) if values else ""
    return f"{holds}, {kind.writes}, which would be sent literally. {kind.helps}{how}, {_LITERALLY}"


def _in_links(message: OneMessage) -> Iterator[Slot]:
    """Return the placeholders that stand in a link, where %20 is a blank."""
    linked = False
    for literal, slot in zip(*(message.main.literals, message.main.slots) if message.main else ((), ()), strict=False):
        linked = bool(re.search(r"(?:://|www\.)\S*$", literal)) or (linked and not re.search(r"\s", literal))
        if linked:
            yield slot


def _said(column: str, meant: list[tuple[Any, set[str]]]) -> str:
    first = sorted(meant[0][1])[0]
    rows = f"row {few([label for label, _ in meant], given)}"
    return (
        f"column {column!r} holds placeholders such as {{{first}}} in {rows}: what stands in a cell is never "
        "filled, so they would get the word itself. Write the message with its placeholders, or fill the column first"
    )


def _words_of(text: str) -> frozenset[str]:
    return frozenset(text.split())


# What other tools call a field of a person, folded as in `folded`.
_PERSON: Final = _words_of(
    """
    name names fullname firstname fname forename givenname christianname middlename mname lastname lname surname
    familyname nickname displayname preferredname username firstnm lastnm namefirst namelast salutation greetingname
    email emailaddress emailaddr mail mailaddress phone phonenumber mobile mobilephone mobilenumber mobileno phoneno
    cell cellphone cellnumber telephone msisdn smsnumber handynummer telefon telefonnummer telefono telefone vorname
    nachname familienname rufname anrede prenom nom nomcomplet nomdefamille civilite nombre nombres apellido
    apellidos nome cognome sobrenome nomecompleto voornaam achternaam naam fornamn efternamn fornavn etternavn
    efternavn imie nazwisko jmeno prijmeni meno priezvisko etunimi sukunimi nimi keresztnev vezeteknev prenume isim
    soyad soyisim ime prezime имя фамилия отчество имяклиента імя прізвище όνομα onoma 姓名 名字 名前 氏名 お名前
    이름 성명 الاسم שם नाम nama
    """
)
# What they put before it: the object whose field it is.
_OBJECTS: Final = _words_of(
    """
    contact contacts recipient subscriber customer client user member lead person people profile guest buyer patient
    student attendee donor employee billing shipping account company order data var vars field fields custom
    customfield customattribute attribute attributes attr param params merge mergefield mergetag model row record
    item event context ctx to your the my sms mob
    """
)
# Further fields, which only double braces and their like make a placeholder: a text may say "[code]" for its readers.
_FIELDS: Final = _words_of(
    """
    first last title company companyname organization organisation city town street address state zip zipcode
    postcode country birthday birthdate dob date time day today code otp coupon couponcode discount amount price
    total balance owed due duedate order orderid ordernumber orderno invoice invoicenumber link url shortlink
    product productname store storename event eventname appointment appointmentdate appointmenttime unsubscribe
    unsubscribelink unsubscribeurl optout sender sendername id customerid age gender points
    """
)
_BEFORE: Final = _words_of(
    """
    if elseif elsif elif else unless each for foreach in with echo print get put end not raw v v2 set
    """
)
_BETWEEN: Final = "\x1e"  # between two texts that are looked through at once
_BARE: Final = r"[^\W\d_]\w{0,40}(?:[ .\-]\w{1,40}){0,3}"
_SHAPES: Final = re.compile(
    r"\{{2,4}[^{}\x1e]{0,200}(?:\{[^{}\x1e]{0,80}\}[^{}\x1e]{0,80})?\}{2,4}"  # {{x}} {{{x}}} {{${x}}}
    r"|\{[^{}\x1e]{0,200}\}"  # {x} {$x} {% if x %}
    r"|\$!?\{[^{}\x1e]{0,80}\}|[#@%\\]\{[^{}\x1e]{0,80}\}"  # ${x} $!{x} #{x} @{x} %{x}
    r"|\$\[[^\[\]\x1e]{0,80}\]|[$@%\\]\([^()\x1e]{0,80}\)"  # $[x]$ $(x) @(x) %(x)s \(x)
    r"|\[%[^\[\x1e]{0,120}?%\]|\[{1,3}[^\[\]\x1e]{0,120}(?:\[[^\[\]\x1e]{0,40}\][^\[\]\x1e]{0,40})?\]{1,3}"  # [x] [[x]]
    r"|\({2,3}[^()\x1e]{0,120}\){2,3}"  # ((x))
    r"|<[%?][^<\x1e]{0,120}?[%?]>|<{1,3}[^<>\x1e]{0,120}>{1,3}"  # <%= x %> <? x ?> <x> <<x>>
    r"|«[^«»\x1e]{0,80}»|‹[^‹›\x1e]{0,80}›"
    r"|\*\|[^*\x1e]{0,120}?\|\*"  # *|X|*
    r"|%%=[^%\x1e]{0,120}=%%"
    r"|%(?:\d\$)?[sd@](?!\w)"  # %s %1$s
    # %x% #x# %%x%% :x: and their like; the last mark is left, because the next placeholder may begin with it
    rf"|([%#|~:!$@*^=+?`§¤¦–—-])\1?{_BARE}(?:[|,:][^|#%\n\x1e]{{0,40}}?)?(?=(\1))"
    r"|__?(?<![^\W_]_)(?<![^\W_]__)[^\W_]{1,40}(?:[ .\-_][^\W_]{1,40}){0,3}(?=(__?)(?!\w))"
    r"|[$@%:]!?[^\W\d_]\w{0,40}(?:[ .\-]\w{1,40}){0,2}"  # $x @x %x :x
)
# What is looked for in many texts, in the syntax of Arrow: marks that mean a placeholder or that few texts have.
_SURE: Final = (
    r"\*\||<[%?]|\[%|\{|%%=|(?:^|[^\pN%])%(?:\pN\$)?[sd@]|\$!?[(\[]|[@%\\]\(|&[#a-z0-9]+;"
    r"|[｛［＜＃＄＠]|(?:^|\PN)％\pL"
)
_FEW: Final = 1_000  # texts
_SHORT: Final = 3  # letters of a word that stands in many others
_SEPARATED: Final = r"[ ._\-]?"
_AROUND: Final = re.compile(r"^[\W_]+|[\W_]+$")
_PIECES: Final = re.compile(r"[|,:;=?!()\[\]{}<>\"'`*«»‹›\\]+")
_PATH: Final = re.compile(r"\.|->|::|/")
_ALWAYS: Final = ("*|", "<%", "<?", "[%", "{%", "{#", "%%=")
_STRONG: Final = ("{{", "[[", "((", "<<", "%%", "##", "$$", "@@", "__", "~~", "$[", "$(", "%(", "\\(", "@(")
_LANGUAGES: Final = ("{{", "${", "$!{", "$[", "[[", "%%", "##", *_ALWAYS)
_EMPHASIS: Final = frozenset(":!-*+?=~_–—`")  # marks that texts also put around or before a word of their own


def folded(name: str) -> str:
    """Return a name as it is compared: letters and digits alone, without case, accents, blanks and underscores."""
    if name.isascii():
        return re.sub(r"[\W_]+", "", name.lower())
    plain = "".join(char for char in unicodedata.normalize("NFKD", name) if not unicodedata.combining(char))
    return re.sub(r"[\W_]+", "", plain.casefold())


def looked_through(text: str) -> str:
    """Return a text as placeholders are looked for in it: a wide brace is none of ours, but sent as a pair is."""
    return unicodedata.normalize("NFKC", unescape(text).replace("｛", "{{").replace("｝", "}}"))


class Foreign:
    """Finds placeholders of other tools in texts for people who have these columns.

    ``ours`` says whether ``{column}`` is a placeholder in these texts; it is a word of a whole message, and of a value.
    """

    def __init__(self, frame: pd.DataFrame, names: Iterable[Any], *, ours: bool = True) -> None:
        named = [name for name in names if isinstance(name, str) and not name.strip().isdigit()]
        self.columns: Mapping[str, str] = {short: name for name in reversed(named) if (short := folded(name))}
        self._frame, self._ours = frame, ours

    def found(self, texts: Any) -> dict[str, str | None]:
        """Return each placeholder as written in an array of texts, and the column that it means, if there is one."""
        every = pa.array(texts, pa.large_string())
        if len(every) > _FEW:
            every = every.filter(reduce(pc.or_, (pc.match_substring_regex(every, one) for one in self._suspect())))
        # All are looked through at once, and what is found in them is judged once for each spelling.
        shapes = dict.fromkeys(_shapes(looked_through(_BETWEEN.join(every.to_pylist()))))
        return {shape: column for written in shapes for shape, column in self._judged(written)}

    def _suspect(self) -> Iterator[str]:
        """Return patterns of Arrow: every text with a placeholder of another tool has one of them, and few others.

        Each is small enough for Arrow's engine to build its table, without which it is fifty times slower.
        """
        words = sorted({*_PERSON, *_FIELDS, *self.columns, *map(str.lower, self.columns.values())})
        spelled = "|".join(_SEPARATED.join(map(_with_accents, word)) for word in words if len(word) > _SHORT)
        short = "|".join(re.escape(word) for word in words if len(word) <= _SHORT)
        yield _SURE
        for word in (f"(?:{spelled})", rf"(?:{short})(?:[^\pL\pN]|$)"):
            yield rf"(?i)(?:[\[<«‹]|\(\()(?:[^\])>»›]*[^\pL\])>»›])?{word}"
            yield rf"(?i)[%#|~:!$@*^=+?`§¤¦–—_-](?:[\pL\pN_.]*[._])?[!_]*{word}"

    def _judged(self, shape: str) -> Iterator[tuple[str, str | None]]:
        word = self._word(shape)
        if word is not None:
            yield shape, self.columns.get(folded(word))
            return
        ours = re.match(r"\{([^{}]*)\}", shape) if self._ours else None
        # The marks of our own format, {due:%d.%m.%Y}, are no placeholders.
        for inner in _shapes(placeholder(ours[1]).missing or "" if ours else shape[1:]):
            yield from self._judged(inner)

    def _word(self, shape: str) -> str | None:
        """Return the word that makes this a placeholder, which may be blank; None where it is none."""
        found = re.match(r"[^\w\s]+|_+", shape)
        opens = found[0] if found else ""
        slot = re.search(r"(?<!\{)\{([^{}]*)\}(?!\})", shape)
        if self._ours and slot and not shape.startswith("{{"):
            return self._around_ours(opens, placeholder(slot[1]).column)
        if re.fullmatch(r"%(\d\$)?[sd@]", shape) or opens.startswith(_ALWAYS):
            return next((word for word in _words(shape) if self._known(word, opens)), "")
        inner = _AROUND.sub("", shape)
        if opens.startswith("{{") and _of_a_template_language(shape, inner):
            return next((word for word in _words(shape) if folded(word) in self.columns), "")
        if opens in ("$", "$!", "@", "%", ":") and not shape.endswith(opens):
            return self._prefixed(opens, inner)
        every = opens.startswith(("{{", "{%", "$!{"))
        opens = "%%" if opens == "%" else opens  # here it closes, too
        return next((word for word in _words(inner, every=every) if self._known(word, opens)), None)

    def _around_ours(self, opens: str, column: str) -> str | None:
        """Judge marks around a placeholder of ours: ``${owed}`` is a dollar and an amount, ``${name}`` is none."""
        if folded(column) not in self.columns:
            return None
        if opens.startswith(("${", "$!{")):
            return None if _is_amount(self._frame, self.columns[folded(column)]) else column
        if opens.startswith(("#{", "@{", "%{", "\\{")):
            return column if _is_person(folded(column)) else None
        return column if opens.startswith((*_ALWAYS, *_STRONG)) else None

    def _prefixed(self, opens: str, inner: str) -> str | None:
        """Return the longest column or name behind a mark, such as the words "first name" of "@first name and"."""
        words = re.findall(r"\w+", inner)
        for many in range(min(3, len(words)), 0, -1):
            for word in ("".join(words[:many]), words[many - 1] if "." in inner else ""):
                if word and self._known(word, opens):
                    return word
        return None

    def _known(self, word: str, opens: str) -> bool:
        short = folded(word)
        if _is_person(short):
            return True
        if short in _FIELDS and opens.startswith(_LANGUAGES):
            return True
        return short in self.columns and not (set(opens) <= _EMPHASIS and len(set(opens)) == 1 and opens != "__")


def _shapes(text: str) -> Iterator[str]:
    """Return what stands in marks, but for marks within a word and per cent signs of numbers."""
    for match in _SHAPES.finditer(text):
        start, end, shape = *match.span(), match[0]
        before, after, closes = text[max(0, start - 2) : start], text[end : end + 3], match[2] or match[3] or ""
        if shape[0] in _EMPHASIS and (before[-1:].isalnum() or after[len(closes) :].isalnum()):
            continue
        if shape[0] in "@%" and shape[1:2] not in "%{([" and _within(before, closes):
            continue
        yield shape + closes


def _within(before: str, closes: str) -> bool:
    """Say whether a mark belongs to what stands before it: a number, or a word where no second mark follows."""
    return before.rstrip()[-1:].isdigit() or (not closes and bool(re.search(r"\w$", before)))


def _of_a_template_language(shape: str, inner: str) -> bool:
    """Say whether double braces hold what only a template language has: filters, blocks, fields of an object."""
    if re.match(r"\{\{+\s*([#/^.&>$~-]|1?\d\s*\}\})", shape) or "|" in inner or "??" in inner:
        return True
    path = [piece for piece in _PATH.split(inner) if piece]
    return len(path) > 1 and folded(path[0]) in _OBJECTS


def _words(inner: str, *, every: bool = False) -> Iterator[str]:
    """Return what could be the name of a field: without filters, the object before it, and words such as "if"."""
    pieces = [piece.strip() for piece in _PIECES.split(_AROUND.sub("", inner)) if piece.strip()]
    for piece in pieces:
        words = piece.split()
        while len(words) > 1 and folded(words[0]) in _BEFORE:
            words = words[1:]
        name = _AROUND.sub("", " ".join(words))
        path = [part for part in _PATH.split(name) if part.strip()]
        yield name
        yield from path[-1:]
        if every:
            yield from re.findall(r"\w+", piece)
        elif folded(name) not in _OBJECTS | _BEFORE:
            return


@cache
def _accents() -> Mapping[str, str]:
    """Return the letters that are folded to each letter."""
    found: dict[str, str] = {}
    for letter in map(chr, range(0xC0, 0x250)):
        plain = folded(letter)
        if plain != letter:
            found[plain] = found.get(plain, "") + letter
    return found


def _with_accents(letter: str) -> str:
    return f"[{letter}{_accents()[letter]}]" if letter in _accents() else re.escape(letter)


def _is_person(short: str) -> bool:
    if short in _PERSON:
        return True
    return any(short.startswith(of) and short[len(of) :] in _PERSON for of in _OBJECTS if len(of) < len(short))


def _is_amount(frame: pd.DataFrame, column: str) -> bool:
    """Say whether a column holds numbers: most of what stands in its first rows begins with a digit."""
    if column not in frame.columns:
        return False
    if frame[column].dtype.kind in "iuf":
        return True
    texts = templates.as_text(frame[column].head(1_000)).dropna()
    if texts.empty:
        return not _is_person(folded(column))
    return 2 * int(texts.str.match(r"\s*[-+]?\d").sum()) > len(texts)
