"""How the values of a column are written into a message: ``{column}``, ``{column:format}``, ``{column|if missing}``.

Numbers, money and times are written by Babel (CLDR) in the language of the message. What a format cannot say is refused
for the whole column, and so is a value that nobody would want to read, before a text exists.
"""

from __future__ import annotations

import datetime as dt
import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from functools import lru_cache
from typing import Any, Final

import babel
import numpy as np
import pandas as pd
from babel import dates as cldr_dates
from babel import numbers as cldr_numbers

from . import _dates as dates
from . import parts
from ._amounts import CONTEXT, exact, half_up
from ._calling import given
from ._pandas import STR
from ._showing import few
from ._showing.text import cited
from .errors import UsageError

DEFAULT_LANGUAGE: Final = "en"
_FORMATS: Final = (
    "numbers: .2f ,.2f ,.0f money .0%; times: date day time weekday, or %d %m %Y %H %M; truth: yes/no; text: <=20"
)
_TIMES: Final = ("date", "day", "time", "weekday")
_NUMBER: Final = re.compile(r"(,?)\.(\d)f")
_PERCENT: Final = re.compile(r"\.(\d)%")
_TRUTH: Final = re.compile(r"\A([^/%{}|]+)/([^/%{}|]+)")
_LENGTH: Final = re.compile(r"<=(\d{1,4})")
_PATTERNS: Final = {"number": _NUMBER, "percent": _PERCENT, "length": _LENGTH, "truth": _TRUTH}
_CODES: Final = {"%d": "{:%d}", "%m": "{:%m}", "%Y": "{:%Y}", "%H": "{:%H}", "%M": "{:%M}"}
# A language tag as BCP 47 writes it: "de", "pt-BR", "zh-Hant". "DE" is a country, and "AT" would be no language at all.
_TAG: Final = re.compile(r"[a-z]{2,3}([-_][A-Z][a-z]{3})?([-_]([A-Z]{2}|\d{3}))?")

_PLAIN: Final = re.compile(r"[+-]?\d+(\.\d+)?")
_SHARE: Final = re.compile(r"\A[+-]?\d++(\.\d++)?%")
# Three places behind one point are a fraction for one writer, and thousands for another.
_THOUSANDS: Final = re.compile(r"[+-]?[1-9]\d{0,2}\.\d{3}")
_NOISE: Final = r"[+-]?\d+\.\d{7,}"
_MOMENT: Final = r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?: ?(?:Z|[+-]\d{2}:?\d{2}))?"
_TRUTH_WORDS: Final = r"(?i:true|false)"
_WHOLE: Final = r"[+-]?\d+\.0"
_SUSPECT: Final = rf"(?:{_TRUTH_WORDS}|{_NOISE}|{_MOMENT}|{_WHOLE})$"
_TRUTHS: Final = {"true": True, "false": False, "yes": True, "no": False, "1": True, "0": False}
_OTHER_TIMES: Final = "or day, weekday, %d.%m.%Y, and time where it has one"
# A filter, a chain of them or words in quotation marks, as template languages have them behind a bar.
_FILTER: Final = re.compile(
    r"""\A(?:\|.*|.*\|.*|(['"`]).*\1|[a-z_]+(?:\s*[:=]\s*['"`].*|\((?:['"`\d].*)?\))|(?:default|fallback|else)\s*[:=].*"""
    r"|(?:to_?)?(?:upper|lower|title)(?:_?case)?|(?:up|down|proper|camel|snake)_?case|capitali[sz]e(?:_all)?|capfirst"
    r"|ucfirst|ucwords|l?r?trim|l?r?strip|escape|urlencode|url_encode|truncate|titleize)",
    re.IGNORECASE | re.DOTALL,
)
# Errors of spreadsheets, in the languages of Excel and of Google Sheets.
ERRORS: Final = (
    r"(?:#[¡¿]?(?:REF|NAME|VALUE|DIV/0|NUM|NULL|SPILL|CALC|FIELD|BLOCKED|CONNECT|BUSY|UNKNOWN|PYTHON"
    r"|ERR[A-Z]*|FEHLER|FOUT|BŁĄD|FEL|FEJL|FEIL|VIRHE|CHYBA|HIBA|HATA|EROARE|GREŠKA|ОШИБКА|ПОМИЛКА|ГРЕШКА|ΣΦΑΛΜΑ|LỖI|エラー"
    r"|BEZUG|WERT|ZAHL|ÜBERLAUF|KALK|NOM|VALEUR|NOMBRE|NUL|PROPAGATION|VALOR|NULO|NÚM|DESBORDAMIENTO|RIF|NOME|VALORE"
    r"|NULLO|ARG|ADR|NAZWA|LICZBA|DZIEL/0|ZERO|VERW|WAARDE|NAAM|GETAL|DEEL/0|LEEG|VÄRDEFEL|REFERENS|DIVISION/0|NAMN"
    r"|OGILTIGT|SKÄRNING|VÆRDI|VERDI|REFERENCE|NAVN|ARVO|VIITTAUS|JAKO/0|NIMI|TYHJÄ|LUKU|PUUTTUU|ÉRTÉK|HIV|ZÉRÓOSZTÓ|NÉV"
    r"|NULLA|SZÁM|HODNOTA|ODKAZ|DĚLENÍ_NULOU|DELENIENULOU|NÁZEV|NÁZOV|ČÍSLO|DEĞER|BAŞV|SAYI/0|AD|BOŞ|SAYI|VALOARE|NUME"
    r"|VRIJ|VREDN|ЗНАЧ|ССЫЛКА|ДЕЛ/0|ИМЯ|ПУСТО|ЧИСЛО|ПОСИЛАННЯ|ДІЛ/0|ІМЯ|СТОЙН|ΤΙΜΗ|ΑΝΑΦ|ΔΙΑΙΡ/0|ΟΝΟΜΑ|ΚΕΝΟ|ΑΡΙΘ)[!?]"
    r"|#(?:N/A|NV|N/D!?|N/B|N/DISP|ND|I/T|Н/Д|Δ/Υ|NULL|GETTING_DATA|SAKNAS!?|HIÁNYZIK|YOK|NEDOSTUPNÝ|NEPRÍSTUPNÝ"
    r"|NENÍ_K_DISPOZICI))"
)
# What spreadsheets and programs write where there is no value. `Nan` and `Null` are names of people. No classes
# such as \s and \d: with them pandas leaves Arrow and takes five times as long.
_NO_VALUE: Final = (
    r"(?:[Nn]/[Aa]|[nN]\.[aA]\.|"
    "[-\u2013\u2014]{1,3}"
    "|[\u200b-\u200f\u2060\ufeff\u00ad \t-\r\x1c-\x1f\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+"
    r"|\\N|NA|[kK]\. ?[aA]\.|\((?:blank|empty|null|none|leer|vide|vac[ií]o)\)"
    r"|nan|NaN|NAN|None|null|NULL|<NA>|<na>|NaT|undefined|\[object Object\]|Loading\.\.\.|Err:5[0-9][0-9]"
    rf"|{ERRORS})"  # a group: some pandas anchor one end
)
# Characters that would turn a text of 160 letters into one of 70.
_GSM: Final = str.maketrans({"\u202f": " ", "\u00a0": " ", "\u2009": " ", "\u2212": "-", "\u2019": "'"})
_ROWS: Final = 3
_LOOKED_AT: Final = 1_000  # values of a column
NO_TEXT: Final = (
    *(bytes, bytearray, memoryview, list, tuple, dict, set, frozenset, np.ndarray),
    *(dt.timedelta, np.timedelta64, pd.DateOffset),
)


@dataclass(frozen=True, slots=True)
class Slot:
    """One placeholder: the column, how its values are written, and what stands where one is missing.

    Attributes:
        source: as it was written between the braces.
        column: name of the column.
        format: None for the value as it is.
        missing: None where a row without a value gets no message.
    """

    source: str
    column: str
    format: str | None = None
    missing: str | None = None


@dataclass(frozen=True, slots=True)
class Language:
    """In which language values are written, and in which currency amounts are."""

    tag: str = DEFAULT_LANGUAGE
    currency: str | None = None

    @property
    def locale(self) -> babel.Locale:
        return _locale(self.tag)


def slot(source: str) -> Slot:
    """Read what stands between the braces of a placeholder."""
    value, bar, missing = source.partition("|")
    column, colon, form = value.partition(":")
    return Slot(source, column.strip() or column, form.strip() if colon else None, missing.strip() if bar else None)


def no_language(value: Any) -> str | None:
    """Complain of a language that is none."""
    wrong = f"language= must be a language such as 'de' or 'pt-BR', got {given(value)}"
    return None if isinstance(value, str) and is_language(value) else wrong


def is_language(tag: str) -> bool:
    """Whether a text is the tag of a language that CLDR knows, in the case that BCP 47 gives it."""
    if not _TAG.fullmatch(tag):
        return False
    try:
        _locale(tag)
    except (babel.UnknownLocaleError, ValueError):
        return False
    return True


def no_currency(value: Any) -> str | None:
    """Complain of a currency that is none."""
    known = isinstance(value, str) and value in cldr_numbers.list_currencies()
    return None if known else f"currency= must be the code of a currency such as 'EUR', got {given(value)}"


def wrong_format(one: Slot, currency: str | None) -> str | None:
    """Complain of a format that does not exist, or that lacks its currency."""
    form = one.format
    if _FILTER.fullmatch(one.missing or ""):
        first = _again(replace(one, missing="words"), form)
        return (
            f"{{{one.source}}} has {given(one.missing)} as the words for a missing value, which is how other tools "
            f"write a filter and would be sent literally; write {first} with plain words, or change the column"
        )
    words, colon, behind = (one.missing or "").rpartition(":")
    if colon and _kind(behind.strip()) not in ("", "truth"):
        again = _again(replace(one, missing=words.strip()), behind.strip())
        return f"{{{one.source}}} has its format behind the words for a missing value; write {again}"
    if form == "money" and not currency:
        return f"currency= is needed to write {{{one.source}}}: three letters such as 'EUR'"
    if form is None or _kind(form):
        return None
    return f"{{{one.source}}} has the format {form!r}, which is none; {_FORMATS}"


def _kind(form: str | None) -> str:
    """Return what a format writes; "" of what is no format."""
    if form in (*_TIMES, "money"):
        return "money" if form == "money" else "time"
    found = (kind for kind, pattern in _PATTERNS.items() if pattern.fullmatch(form or ""))
    return next(found, "codes" if "%" in (form or "") and {*re.findall(r"%.?", form or "")} <= {*_CODES} else "")


def says_time(one: Slot) -> bool:
    """Whether a format writes a day or a time."""
    return _kind(one.format) in ("time", "codes")


def says_hours(one: Slot) -> bool:
    """Whether a format writes a time of day."""
    return one.format == "time" or any(code in (one.format or "") for code in ("%H", "%M"))


def advice(column: pd.Series, one: Slot, language: Language) -> str | None:
    """Say what people may read otherwise than it is meant: hours of UTC, a fraction with another language's sign."""
    if says_hours(one):
        read = dates.read(column.dropna().head(_LOOKED_AT), by_argument=False)
        if len(offsets := np.unique(read.offset[~np.isnat(read.wall)])) > 1 and column.dtype.kind != "M":
            return (
                f"{{{one.source}}} is written as each value has it, by {len(offsets)} clocks: some name another zone, "
                "or none; convert them to one zone first"
            )
        if len(read.wall) and read.zoned.all() and not read.offset.any():
            return (
                f"{{{one.source}}} is written in UTC, as the column has it; if people are to read another clock, "
                f"convert it first: pd.to_datetime(frame[{one.column!r}], format='ISO8601', utc=True)"
                ".dt.tz_convert('Europe/Berlin')"
            )
    sign = cldr_numbers.get_decimal_symbol(language.locale)
    if one.format is None and sign != "." and isinstance(column.dtype, np.dtype) and column.dtype.kind == "f":
        fractions = column[(column % 1 != 0) & column.notna()]
        if len(fractions):
            shown = np.format_float_positional(fractions.iloc[0], trim="-")
            again = _again(one, ".2f")
            return f"{{{one.source}}} is written as {shown}; {language.tag!r} has {sign!r} there: write {again}"
    return None


def depends_on_language(one: Slot) -> bool:
    """Whether a value is written differently in another language."""
    return _kind(one.format) in ("time", "money", "number", "percent")


def no_value(texts: pd.Series) -> pd.Series:
    """Mark the texts that say that there is no value: ``#N/A``, ``nan``, ``None`` and their kind."""
    marked: pd.Series = texts.str.strip().str.fullmatch(_NO_VALUE, na=False).astype(bool)
    return marked


def written(column: pd.Series, texts: pd.Series, one: Slot, language: Language) -> pd.Series:
    """Return the values of a column as a message holds them; NaN where there is none.

    Args:
        column: as the list has it.
        texts: the same as text (str), NaN where there is no value.
        one: the placeholder.
        language: of the message, with the currency of its amounts.

    Raises:
        UsageError: the format cannot say a value of the column, or there is none and a value needs one.
    """
    _refuse_without_text(column, texts, one)
    if one.format is None:
        _refuse_unreadable(column, texts, one)
        return texts
    codes, distinct = pd.factorize(texts)
    values = _read(column, texts, codes, distinct, one)
    result: pd.Series = pd.Series([*map(_writer(one, language), values), None], dtype=STR).take(codes)
    return result.set_axis(texts.index)


# -- values that need a format -----------------------------------------------------------------------------------------


def _refuse_without_text(column: pd.Series, texts: pd.Series, one: Slot) -> None:
    """Refuse bytes, collections and lengths of time, whose text is Python's."""
    wrong = column[(texts.notna() & _holds(column, NO_TEXT)).to_numpy(bool)]
    if len(wrong):
        where = f"column {one.column!r}, row {cited(wrong.index[0])}: a value of type {type(wrong.iloc[0]).__name__}"
        raise UsageError(f"{where} is no text; write it as text into the column first ({_counted(len(wrong))})")


def _refuse_unreadable(column: pd.Series, texts: pd.Series, one: Slot) -> None:
    """Refuse truth values, times and long fractions: they need a format."""
    dtype = column.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "iu":
        return
    if isinstance(dtype, np.dtype) and dtype.kind == "f" and ((column.round(6) == column) | column.isna()).all():
        return
    if texts.str.match(_SUSPECT, na=False).any():
        truth = texts.str.fullmatch(_TRUTH_WORDS, na=False).astype(bool)
        if truth[texts.notna()].all():
            _refuse(texts, truth, one, "is a truth value", "yes/no", "with your own two words")
        truth &= _holds(column, (bool, np.bool_))
        _refuse(texts, truth, one, "is a truth value beside other values; put words in its place")
        _refuse(texts, texts.str.fullmatch(_MOMENT, na=False), one, "is a time", "date", _OTHER_TIMES)
        _refuse(
            texts, texts.str.fullmatch(_NOISE, na=False), one, "has more than six decimal places", ".2f", "or money"
        )
        whole = texts.str.fullmatch(_WHOLE, na=False).astype(bool)
        if not (texts.str.fullmatch(_PLAIN.pattern, na=False).astype(bool) & ~whole).any():
            keeping = f"or {_again(one, '<=20')} to keep it"
            _refuse(texts, whole, one, "ends in .0, as every number here: a program wrote it so", ".0f", keeping)
    _refuse(texts, texts.notna() & _holds(column, (dt.time,)), one, "is a time", "time", "or %H:%M")
    real = texts.notna() if dtype.kind == "M" else _holds(column, (dt.date,))
    _refuse(texts, texts.notna() & real, one, "is a time", "date", _OTHER_TIMES)


def _holds(column: pd.Series, kinds: tuple[type, ...]) -> pd.Series:
    """Mark the cells of a column of objects that are of these types."""
    if not isinstance(column.dtype, (np.dtype, pd.CategoricalDtype, pd.ArrowDtype)) or column.dtype.kind in "iufbUS":
        return pd.Series(False, index=column.index)
    return pd.Series([isinstance(cell, kinds) for cell in column], index=column.index, dtype=bool)


def _refuse(texts: pd.Series, marked: pd.Series, one: Slot, what: str, form: str = "", more: str = "") -> None:
    wrong = texts[marked.to_numpy(bool)]
    if len(wrong):
        then = f"; write {_again(one, form)} {more}" if form else ""
        where = f"column {one.column!r}, row {cited(wrong.index[0])}: {cited(wrong.iloc[0])}"
        raise UsageError(f"{where} {what}{then} ({_counted(len(wrong))})")


def _again(one: Slot, form: str | None) -> str:
    """Return a placeholder with another format."""
    missing = "" if one.missing is None else f"|{one.missing}"
    return f"{{{one.column}{'' if form is None else f':{form}'}{missing}}}"


def _counted(rows: int) -> str:
    return "1 row" if rows == 1 else f"{rows:,} rows"


# -- reading what a format says ----------------------------------------------------------------------------------------


def _read(
    column: pd.Series, texts: pd.Series, codes: np.ndarray[Any, Any], distinct: Iterable[str], one: Slot
) -> list[Any]:
    """Return each distinct value as the format needs it."""
    kind, words = _kind(one.format), list(distinct)
    share = next((text for text in words if _SHARE.fullmatch(text.strip())), None)
    if share is not None and kind in ("number", "money"):
        where = f"column {one.column!r}, row {few(texts.index[texts.eq(share)].tolist(), cited, _ROWS)}: {cited(share)}"
        raise UsageError(f"{where} is a share; write {_again(one, '.0%')}, or {_again(one, None)}")
    if says_time(one):
        first = pd.Series(codes).drop_duplicates()
        return _times(column.iloc[first[first >= 0].index], one)
    if kind == "length":
        if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iufbM":
            raise UsageError(f"column {one.column!r} is no text; {{{one.source}}} would cut its values off")
        return words
    read = _truth if kind == "truth" else _number
    if kind == "percent":
        words = [
            str(exact(text.strip()[:-1]).scaleb(-2, CONTEXT)) if _SHARE.fullmatch(text.strip()) else text
            for text in words
        ]
    values = [read(text) for text in words]
    if read is _number and _maybe_thousands(column, words):
        values = [None if _THOUSANDS.fullmatch(text) else value for text, value in zip(words, values, strict=True)]
    wrong = [code for code, value in enumerate(values) if value is None]
    if wrong:
        rows = np.isin(codes, wrong)
        raise UsageError(_cannot(one, texts.index[rows], words[codes[rows][0]], number=read is _number))
    return values


def _maybe_thousands(column: pd.Series, words: list[str]) -> bool:
    """Whether text such as 1.234 may be one thousand and more: every fraction of the column has three places."""
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iuf":
        return False
    return all(len(text.strip().partition(".")[2]) in (0, 3) for text in words)


def _cannot(one: Slot, rows: pd.Index, text: str, *, number: bool) -> str:
    where = f"column {one.column!r}, row {few(rows.tolist(), cited, _ROWS)}: {cited(text)}"
    if number and _THOUSANDS.fullmatch(text):
        return f"{where} may be thousands or a fraction; make the column numbers first, which {{{one.source}}} needs"
    if number:
        return (
            f"{where} is not a number such as 1234.5, which {{{one.source}}} needs; write them so in the column first"
        )
    return f"{where} is not a truth value, which {{{one.source}}} needs"


def _number(text: str) -> str | None:
    text = text.strip()
    return text.lstrip("+") if _PLAIN.fullmatch(text) else None


def _truth(text: str) -> bool | None:
    return _TRUTHS.get(text.strip().lower())


def _times(column: pd.Series, one: Slot) -> list[Any]:
    clocks = [dates.clock(cell) if isinstance(cell, str) else None for cell in column]
    if all(clocks):
        column = pd.Series(clocks, column.index, object)
    kind = pd.api.types.infer_dtype(column, skipna=True)
    if kind == "time":
        if one.format != "time" and (one.format in _TIMES or set(re.findall("%.", one.format or "")) - {"%H", "%M"}):
            raise UsageError(f"column {one.column!r} has times without a day, which {{{one.source}}} needs")
        return column.tolist()
    read = dates.read(column, by_argument=False)
    if read.unclear:
        raise UsageError(f"column {one.column!r} has {read.unclear}")
    if read.wrong:
        place, why = next(iter(read.wrong.items()))
        where = f"column {one.column!r}, row {cited(column.index[place])}"
        such = "2026-10-03 18:30" if says_hours(one) else "2026-10-03"
        raise UsageError(f"{where} has {why}; {{{one.source}}} needs a time such as {such}")
    if says_hours(one) and read.midnight.all():
        raise UsageError(f"column {one.column!r} has days without a time, which {{{one.source}}} needs")
    days = np.flatnonzero(~read.clock & ~np.isnat(read.wall))
    if says_hours(one) and len(days):
        where = f"column {one.column!r}, row {cited(column.index[days[0]])}: {cited(column.iloc[days[0]])}"
        raise UsageError(f"{where} is a day without a time, which {{{one.source}}} needs")
    return [moment.item() for moment in read.wall]


# -- writing -----------------------------------------------------------------------------------------------------------


def _writer(one: Slot, language: Language) -> Callable[[Any], str | None]:
    form, kind = one.format or "", _kind(one.format)
    if kind == "length":
        return lambda text: shortened(text, int(form.removeprefix("<="))) or None
    if kind == "time":
        return lambda moment: _cldr_time(moment, form, language.locale).translate(_GSM)
    if kind in ("percent", "money", "number"):
        return _Digits(form, language).write
    if kind == "codes":
        return lambda moment: re.sub(r"%.", lambda code: _CODES[code[0]].format(moment), form)
    yes, no = form.split("/")
    return lambda truth: (yes if truth else no).strip()


def shortened(text: str, most: int) -> str:
    """Return the first characters of a text, never a part of one that is made of several."""
    if len(text) <= most:
        return text
    while most and (unicodedata.combining(text[most]) or text[most] in "\u200d\ufe0f" or text[most - 1] == "\u200d"):
        most -= 1
    return text[:most].rstrip()


def _cldr_time(moment: Any, form: str, locale: babel.Locale) -> str:
    if form == "date":
        return cldr_dates.format_date(moment, "medium", locale=locale)
    if form == "day":
        return cldr_dates.format_skeleton("MMMMd", moment, locale=locale)
    if form == "weekday":
        return cldr_dates.format_date(moment, "EEEE", locale=locale)
    return cldr_dates.format_time(moment, "short", locale=locale)


class _Digits:
    """Writes numbers as Babel does: Babel writes one number of each length, and the digits are put into its place."""

    def __init__(self, form: str, language: Language) -> None:
        locale, currency = language.locale, language.currency
        self._shift = 0
        if form == "money":
            assert currency is not None
            self._places = cldr_numbers.get_currency_precision(currency)
            pattern = _money_pattern(locale, currency)
            self._by_babel: Callable[[Decimal], str] = lambda number: cldr_numbers.format_currency(
                number, currency, pattern, locale=locale
            )
        elif percent := _PERCENT.fullmatch(form):
            self._places, self._shift = int(percent[1]), 2
            pattern = re.sub(r"0(?=\D*$)", "0" + self._fraction, locale.percent_formats[None].pattern)
            self._by_babel = lambda number: cldr_numbers.format_percent(number.scaleb(-2), pattern, locale=locale)
        else:
            self._places = int(form[-2])
            grouping = locale.decimal_formats[None].pattern.partition(".")[0] if form[0] == "," else "0"
            pattern = grouping + self._fraction
            self._by_babel = lambda number: cldr_numbers.format_decimal(number, pattern, locale=locale)
        self._shapes: dict[tuple[bool, int], str] = {}

    @property
    def _fraction(self) -> str:
        return f".{'0' * self._places}" if self._places else ""

    def write(self, number: str) -> str:
        whole, _, fraction = number.lstrip("-").partition(".")
        if self._shift or len(fraction) > self._places or (whole[0] == "0" and len(whole) > 1):
            rounded = half_up(exact(number).scaleb(self._shift, CONTEXT), self._places)
            whole, _, fraction = format(rounded.copy_abs(), "f").partition(".")
        digits = whole + fraction.ljust(self._places, "0")
        key = number[0] == "-" and digits.strip("0") != "", len(digits)
        shape = self._shapes.get(key)
        if shape is None:
            ones = exact("1" * len(digits)).scaleb(-self._places, CONTEXT)
            with localcontext(CONTEXT):  # Babel calculates in the context of the thread
                text = self._by_babel(-ones if key[0] else ones).translate(_GSM)
            shape = self._shapes[key] = text.replace("%", "%%").replace("1", "%s")
        return shape % tuple(digits)


def _money_pattern(locale: babel.Locale, currency: str) -> str:
    """Return the pattern of amounts: with the sign of the currency where GSM-7 has it, else with its code."""
    pattern = locale.currency_formats["standard"].pattern
    symbol = cldr_numbers.get_currency_symbol(currency, locale).translate(_GSM)
    if parts.count(symbol).encoding != "gsm7":
        pattern, symbol = pattern.replace("¤", "¤¤"), currency
    return re.sub(r"¤(?=[#0])", "¤\u00a0", pattern) if symbol[-1].isalpha() else pattern


@lru_cache(maxsize=64)
def _locale(tag: str) -> babel.Locale:
    return babel.Locale.parse(tag.replace("-", "_"))
