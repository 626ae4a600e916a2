"""Find the columns of numbers and of countries by what stands in them: the one to text, or all of a row's person."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd

from .._calling import in_our_words, not_frame, refuse
from .._frames import AnyFrame, as_pandas
from .._recipients import add_columns
from .._showing import cited, few
from .cells import notes, regions
from .cells import text as cells
from .countries import country_name
from .judging.judgement import normalize
from .judging.policy import NumberOptions

SAMPLE: Final = 300
ENOUGH: Final = 0.5
MOBILE_TYPES: Final = ("MOBILE", "FIXED_LINE_OR_MOBILE")
NAMED: Final = re.compile(
    r"phone|mobil|\bcell|cell(?:ular)?\b|handy|(?:^|[^a-z])tel(?:[^a-z]|e[fp]|$)|msisdn|sms|whats ?app"
    r"|rufn(?:umme)?r|fone|fono|\bgsm\b|\bmob\b|mobiel|portable|\btlf|\btfno|natel|puhelin|kom[oó]rk"
    r"|\bcep tel|\bfon\b|моб|連絡先|연락처"
    r"|телефон|电话|電話|手机|手機|携帯|전화|휴대|هاتف|جوال|טלפון|τηλ[έε]φων|โทร|điện thoại",
    re.IGNORECASE,
)
MOBILE_NAMED: Final = re.compile(
    r"mobil|mobiel|m[oó]vil|\bcell|celular|handy|msisdn|\bsms\b|whats ?app|portable|gsm|kom[oó]rk"
    r"|мобил|携帯|手机|手機|휴대|جوال",
    re.IGNORECASE,
)
OF_OTHERS: Final = re.compile(  # whom the row names beside its own person
    r"emergency|notfall|emergencia|urgence|emerg[eê]ncia|emergenza|noodgeval|manager|vorgesetzt|supervisor|\bboss\b|assist"
    r"|asistente|sekret[aä]r|secretar|spouse|partner|parent\b|mother|father|guardian|next of kin|referr|wife|husband"
    r"|eltern|mutter|vater|ehe(?:frau|mann)|c[oó]nyuge|conjoint|agent|owner|store|branch|filiale|driver|fahrer|\brep\b"
    r"|sales|representative|betreuer|berater|vertreter|ansprechpartner|broker|makler|employer|arbeitgeber|nachbar|neighbo",
    re.IGNORECASE,
)
SAYING_NO: Final = re.compile(
    r"opt(?:ed)?[ -]?out|unsub|withdr|revok|do[ -]?not|\bdon'?t\b|\bdn[cdtm]\b|\bstop|suppress|black ?list"
    r"|block(?:ed| ?list)|robinson|abgemeldet|abmeld|widerr|widerspr|sperr|d[eé]sinscri|d[eé]sabonn"
    r"|\bbaja\b|disiscri|uitgeschreven",
    re.IGNORECASE,
)
# What the name of a column of phones may say beside that; any other word may say that the phones are somebody else's.
OF_ONES_OWN: Final = """
a the of for in with without as value valid verified clean cleaned raw formatted format international intl e country
code number numbers num no nr nummer nummern numero numeros numer nomor broj cislo numarasi номер номера
matkapuhelin 号码 號碼 番号 번호 telephone telefon telefono telefone telefoon telefonu phone fon funk mobilfunk ruf
contact contacto contatto contato kontakt main primary secondary first second other alt alternate alternative
default haupt principal principale work home house business office private personal own company direct day daytime
evening privat privates prive dienst dienstlich geschaft geschaftlich beruflich arbeit buro eigene festnetz domicile
travail bureau pro professionnel personnel perso trabajo trabalho casa oficina particular personale lavoro ufficio
werk zakelijk prywatny sluzbowy customer client cliente clients kunde kunden kundin klant klient member mitglied
patient guest gast user nutzer subscriber recipient employee participant teilnehmer attendee applicant person people
lead buyer billing shipping der die des das den dem von fur de del della dell du la le do da di s whats app
""".split()  # noqa: SIM905
NUMBER_WORD: Final = re.compile(r"\b(?:no|nr)\b\.?", re.IGNORECASE)  # Phone no. says nothing against it
PERHAPS_NAMED: Final = re.compile(
    r"contact|kontakt|контакт|联系|number|nummer|n[uú]mero|num[eé]ro|номер|号码", re.IGNORECASE
)
NAMED_OTHERWISE: Final = re.compile(
    r"order|invoice|account|customer|client|ticket|serial|tracking|reference|article|product|member|policy|card"
    r"|bestell|rechnung|kunden|konto|artikel|vertrag|pedido|factura|cuenta|commande|facture|compte|klant|cliente|fattura"
    r"|ordine|zam[oó]wien|klient|заказ|клиент|счет|订单|客户|注文|顧客|sipariş|müşteri|\b(?:ref|sku|zip|vat|iban|plz|ean|isbn"
    r"|ssn|cpf|nif|dni|pin|key)\b|postal|postcode"
    # places, addresses of machines, measures, and what somebody spent or scored
    r"|latitud|longitud|\blat ?lo?ng?\b"
    r"|\b(?:lat|lon|lng|long|gps|geo|coords?|breite|l[äa]nge|breitengrad|l[äa]ngengrad)\b|coordinat|koordinat"
    r"|\bipv?[46]?\b|\bip ?addr|\bmac\b|\bhost\b|device|user ?agent|session"
    r"|rating|score|\brank|points?\b|punkte|bewertung|note\b|stars?\b|percent|prozent|\brate\b|ratio"
    r"|\bvalue\b|\bwert\b|\bltv\b|\bclv\b|revenue|umsatz|turnover|spen[dt]\b|spending|balance|saldo|salary|gehalt|income"
    r"|\btotal\b|\bsum\b|summe|quantity|\bqty\b|menge|weight|gewicht|height|gr[öo][sß]+e\b|\bsize\b|distance|duration"
    r"|\btax|steuer|passport|ausweis|\bimei\b|barcode|licen[cs]e|\bplate|insurance|versicherung|temperatur|\bversion\b|\bepoch|\bhash\b|\bage\b|\balter\b",
    re.IGNORECASE,
)
NEVER_NUMBERS: Final = re.compile(  # even where the name speaks of phones as well: Mobile ID, SMS date
    r"\bids?\b|\bdat(?:es?|um)\b|date$|datum|fecha|дата|日期|birth|geburt|\bdob\b|nascimento|nacimiento"
    r"|created|updated|timestamp|amount|betrag|price|fax|opt.?(?:in|out)|consent|verified|\btype\b|\bcount\b",
    re.IGNORECASE,
)
COUNTRY_NAMED: Final = re.compile(
    r"country|countries|\bland\b|land[_ .-]?(?:code|kode|kod)|l[äa]nder|staat\b|pa[ií]s(?:es)?\b|\bpays\b|paese|nazione"
    r"|\biso(?:$|\b|[_ -]?\d|[_ -]?code)|nationality|\bnation\b|\bkraj\b|\bmaa\b|[üu]lke|стран|国|國|국가|الدولة|بلد"
    r"|dial(?:l?ing)?[_ -]?code|calling[_ -]?code|l[äa]ndervorwahl|landesvorwahl|indicatif|\bddi\b",
    re.IGNORECASE,
)
COUNTRY_OF_ELSE: Final = re.compile(  # of a birth, a bill: where somebody's phone need not be
    r"birth|born|geburt|nacimiento|naissance|nascita|nascimento|origin|herkunft|nationalit|citizen|staatsang|passport|\bpass"
    r"|reisepass|visa\b|billing|rechnung|factur|fattur|invoice|shipping|liefer|employer|arbeitgeber|compan|firma|bank|\btax"
    r"|steuer|issu|ausstell|destination|ziel|manufactur|herstell|payment|zahl|card",
    re.IGNORECASE,
)
REGION_NAMED: Final = re.compile(r"region|regi[oó]n|région", re.IGNORECASE)  # of the world, of sales, or a country
PART_NAMED: Final = re.compile(
    r"state|province|provincia|prov\b|county|bundesland|kanton|canton|estado|\buf\b|languag|sprache|lang\b|locale|langue"
    r"|idioma|lingua|língua|\btaal\b|j[eę]zyk|spr[aå]k|kieli|\bdil\b|язык|语言|語言|言語|لغة|currency|w[äa]hrung|devise|moneda"
    r"|valuta|waluta|moeda",
    re.IGNORECASE,
)
STATE_NAMED: Final = re.compile(rf"{PART_NAMED.pattern}|{REGION_NAMED.pattern}", re.IGNORECASE)
NAME_WORTH: Final = 0.3
MOBILE_WORTH: Final = 0.1
OWN_WORTH: Final = 0.3  # more than that and how the cells are written together
WRITTEN: Final = r"^\W*(?:\+|00|0[1-9])|[0-9][ ().-]+[0-9]"  # as people write numbers to call, and no order number
SEVEN_DIGITS: Final = r"[0-9](?:[^0-9]{0,3}[0-9]){6}"
WITH_PLUS: Final = r"^\W*\+"
AT_HOME: Final = r"^\W*0[1-9](?:[ ().\-/]*[0-9]){6,10}\W*$"  # a national number with its trunk prefix
DIGITS: Final = r"^\s*\+?[0-9]+(?:[.]0+)?\s*$"
MONTH: Final = r"(?:0?[1-9]|1[0-2])"
OF_MONTH: Final = r"(?:0?[1-9]|[12][0-9]|3[01])"
YEAR: Final = r"(?:19|20)[0-9]{2}"
DAY: Final = (  # 2024-01-15, 15.01.2024, 01/15/2024, perhaps with a time, or 20240115, 15012024, 20240115093000
    rf"^\s*(?:(?:{YEAR}[-./]{MONTH}[-./]{OF_MONTH}|{OF_MONTH}[-./]{OF_MONTH}[-./]{YEAR})(?:[T ][0-9:.+]+Z?)?"
    rf"|{YEAR}{MONTH.replace('?', '')}{OF_MONTH.replace('?', '')}(?:[0-2][0-9][0-5][0-9][0-5][0-9])?(?:[.]0)?"
    rf"|{OF_MONTH.replace('?', '')}{OF_MONTH.replace('?', '')}{YEAR}(?:[.]0)?)\s*$"
)
FLAGS: Final = frozenset(
    "yes no y n si sì sí ja nein oui non sim nao não nee nej nei ei tak nie true false na n/a".split()  # noqa: SIM905
)
# Two cells that phonenumbers reads in many countries and that are no numbers to call: 60.169857, 198.51.100.7.
A_DECIMAL: Final = r"[-−]?(?:0|[1-9][0-9]*)[.][0-9]*[1-9][0-9]*"
DECIMAL: Final = rf"^\s*{A_DECIMAL}(?:[,; ]+{A_DECIMAL})?\s*$"  # one, or a place as latitude and longitude
DOTTED_QUAD: Final = r"^\s*[0-9]{1,3}(?:[.][0-9]{1,3}){3}(?::[0-9]+)?\s*$"
AMOUNT: Final = (
    r"^\s*-?(?:(?:0|[1-9][0-9]*)[.,][0-9]*[1-9][0-9]*|[1-9][0-9]?(?:[.,'][0-9]{3}){2})\s*$"  # no number has one point
)
OF_TIME: Final = re.compile(r"\bseen\b|\btime\b|zeit\b|epoch|\bts\b|\bat$", re.IGNORECASE)
NEARLY_ALL: Final = 0.9
ENDING: Final = 6  # letters: моб-ильный
SEVERAL: Final = 3  # countries at least that a column without a telling name has
AGREEING: Final = 0.8  # of the numbers agree with such a column,
BEYOND: Final = 0.2  # and so many more than if its cells stood in any other order
NEAR: Final = 0.1  # of the numbers: so much less than the best column of countries another one may fit
MOST: Final = 80  # different cells of countries that are tried


@dataclass(frozen=True, slots=True)
class Found:
    """The columns that read best (None if there is none), the share of readable cells in every column, and the reasons.

    Example:
        >>> found = find_columns(pd.DataFrame({"mobile": ["+14155550100"]}))
        >>> found.shares.values.tolist(), found.why
        ([['mobile', 1.0, 0.0]], {'mobile': '100% of its cells are numbers'})
    """

    phone: str | None
    region: str | None
    shares: pd.DataFrame
    why: dict[str, str]


@in_our_words
def find_columns(frame: AnyFrame, *, default_region: str | None = None) -> Found:
    """Find the column of phone numbers and the column of countries by their names and content.

    A column of numbers qualifies if at least half of its filled cells, in a sample of 300 rows, read as valid numbers;
    a telling name decides between equals: a mobile before a landline, and the person's own before one with a word that
    may name somebody else (for emergencies, Child's mobile). Under a telling name, or written as at home (0151 ...),
    numbers that only lack a country qualify, too.
    Columns of days, ids, amounts, places and addresses of machines are no phone numbers, although 20240115 is a German
    landline and 60.169857 a Finnish one, and bare digits under a name that says nothing have to be mobile numbers.
    Where a column is named for phones and empty, no other one takes its place.

    A column of countries has a telling name (country, land, pays, iso, region, dial code ...) and reads as countries,
    or at least three different countries agree with the numbers beside them. Flags, counts, languages and states
    are no countries, although NO, 1, DE and CA read as such. If ``default_region`` fits the numbers as well as the
    column and makes other numbers of them, no column is chosen. ``shares`` has the columns ``column, numbers,
    countries``, best first. ``why`` says by column why it was chosen or, where it looks like numbers, why not; a frame
    of `read_recipients` has it in ``attrs["smsotp_nb"]["columns"]`` from then on, and so have its plan and its report.
    Of two columns of countries the one is chosen that the numbers fit; if both fit and make other numbers of them,
    neither is, and ``why`` says so.

    Example:
        >>> frame = pd.DataFrame({"id": ["17", "18"], "m": ["0491 570 156", "030 901820"], "land": ["AU", "DE"]})
        >>> found = find_columns(frame)
        >>> found.phone, found.region
        ('m', 'land')
    """
    frame = as_pandas(frame)
    refuse(not_frame("frame", frame))
    regions.default(default_region)
    columns = _sampled(frame)
    named = [place for place, it in columns.items() if it.telling and it.share >= ENOUGH]
    beside, compete = _named_countries(columns, named, default_region)
    phone, numbers = _phone(columns, beside, default_region)
    if phone is None and beside is not None:
        phone, numbers = _phone(columns, None, default_region)
    unnamed = [place for place, it in columns.items() if it.perhaps and place not in compete]
    if phone is not None:
        region = _region(columns, phone, beside, [place for place in unnamed if place != phone], default_region)
    else:
        found = ((place, *_phone(columns, place, default_region)) for place in unnamed)
        fitting = ((at, number, shares) for at, number, shares in found if number is not None)
        region, phone, numbers = next(
            (it for it in fitting if _agree(columns[it[1]].cells, columns[it[0]], default_region)),
            (beside, None, numbers),
        )
    table = pd.DataFrame(
        {
            "column": [frame.columns[place] for place in columns],
            "numbers": [numbers.get(place, 0.0) for place in columns],
            "countries": [it.share for it in columns.values()],
        }
    )
    name = [None if place is None else frame.columns[place] for place in (phone, region)]
    why = {} if phone is None else {str(name[0]): _why(phone, columns, numbers, frame.columns)}
    why |= {} if region is None else {str(name[1]): f"{columns[region].share:.0%} of its cells are countries"}
    why |= {str(frame.columns[place]): _why_not(columns[place]) for place in _not_read(columns, numbers, phone)}
    rivals = " or ".join(repr(str(frame.columns[place])) for place in compete)
    unclear = f"not chosen: the numbers do not show that the countries of {rivals} are theirs"
    why |= {str(frame.columns[place]): unclear for place in compete}
    add_columns(frame, why)
    table = table.sort_values(["numbers", "countries"], ascending=False, ignore_index=True)
    return Found(name[0], name[1], table, why)


def sample_of(rows: Any) -> Any:
    return rows.sample(SAMPLE, random_state=0) if len(rows) > SAMPLE else rows


def _sampled(frame: pd.DataFrame) -> dict[int, Column]:
    """Return a sample of each column whose name is its own, by place."""
    sample = sample_of(frame)
    return {
        place: Column.of(words_of(str(name)), sample.iloc[:, place])
        for place, name in enumerate(frame.columns)
        if list(frame.columns).count(name) == 1
    }


def _not_read(columns: dict[int, Column], shares: dict[int, float], phone: int | None) -> list[int]:
    """Return the columns that look like numbers, by their cells or by an empty one's name, and are none to text."""
    return [
        place
        for place, it in columns.items()
        if place != phone and (it.empty_phones or (it.no_numbers and shares.get(place, 0.0) >= ENOUGH))
    ]


def _why_not(column: Column) -> str:
    return f"not read: {column.no_numbers or 'it is named for phones and has no cell'}"


def _why(phone: int, columns: dict[int, Column], shares: dict[int, float], names: pd.Index) -> str:
    """Say why a column is the one of the numbers."""
    share = shares[phone]
    why = f"{share:.0%} of its cells are numbers" if share else "national numbers, without a country"
    others = [at for at in shares if at != phone and shares[at] >= ENOUGH and not columns[at].no_numbers]
    if not others:
        return why
    worth = max(columns[at].number_worth for at in others)
    by = ", by its name" if columns[phone].number_worth > worth else ""
    return f"{why}; preferred to {', '.join(repr(str(names[at])) for at in others)}{by}"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the sample, read as countries.

    Attributes:
        cells, text: its cells, and their texts.
        known: the countries that they read as.
        share: of its filled cells that are countries; none where the column says yes and no, or is one of states or
            languages by its name.
        telling: its name says that it holds countries.
        worth: what its name is worth for that.
        perhaps: it may hold countries although its name does not say so.
        number_worth: what its name is worth for holding numbers to text.
        no_numbers: why it holds no numbers to text, whatever its cells read as; None where it may.
        empty_phones: its name is one of a person's phones, and no cell has anything.
        states: whose states its cells are as much as countries, by its name and by each cell.
    """

    cells: pd.Series
    text: pd.Series
    known: regions.Regions
    share: float
    telling: bool
    worth: float
    perhaps: bool
    number_worth: float
    no_numbers: str | None
    empty_phones: bool
    states: str | None

    @classmethod
    def of(cls, name: str, column: pd.Series) -> Column:
        text = cells.read(column).text
        known = regions.read(text)
        read, unread = int((known.place >= 0).sum()), int(known.unknown.sum())
        country, other = COUNTRY_NAMED.search(name), PART_NAMED.search(name)
        words = {word.strip().casefold() for word in text.dropna().unique()}
        flags = len(words) > 1 and words <= FLAGS
        share = read / (read + unread) if read and not flags and (country or not other) else 0.0
        counted = share_of(text, DIGITS) >= ENOUGH
        worth, no_numbers = _name_of_numbers(name), why_no_numbers(name, text)
        states = regions.states_in(words) if STATE_NAMED.search(name) and not country else None
        world = REGION_NAMED.search(name) is not None and not counted and share >= NEARLY_ALL
        kinds = len(np.unique(known.place[known.place >= 0]))
        return cls(
            cells=column,
            text=text,
            known=known,
            share=share,
            telling=bool(country) or (world and states is None),
            worth=0.0 if not country else -NAME_WORTH if COUNTRY_OF_ELSE.search(name) else NAME_WORTH,
            perhaps=not counted and states is None and share >= NEARLY_ALL and SEVERAL <= kinds <= MOST,
            number_worth=worth,
            no_numbers=no_numbers,
            empty_phones=worth > NAME_WORTH and no_numbers is None and not words,
            states=states,
        )


def words_of(name: str) -> str:
    """Return the words of a column's name set apart: ``code_pays`` and ``customerId`` have two."""
    return re.sub(r"_|(?<=[a-z])(?=[A-Z])", " ", name)


def _name_of_numbers(name: str) -> float:
    """What a column's name says for its being the one to text: order numbers are no phone numbers."""
    if OF_OTHERS.search(name):
        return NAME_WORTH / 2 if NAMED.search(name) else 0.0
    if notes.says_no(NUMBER_WORD.sub(" ", name)):
        return NAME_WORTH / 4 if NAMED.search(name) else 0.0
    mobile = MOBILE_NAMED.search(name) is not None
    if mobile or NAMED.search(name):
        return NAME_WORTH + OWN_WORTH * _ones_own(name) + MOBILE_WORTH * mobile
    if NAMED_OTHERWISE.search(name):
        return -2 * NAME_WORTH
    return NAME_WORTH / 2 if PERHAPS_NAMED.search(name) else 0.0


def _ones_own(name: str) -> bool:
    """Return whether nothing in the name of a column of phones may say that they are somebody else's."""
    return all(map(_says_nobody, re.findall(r"[^\W\d_]+", name)))


def _says_nobody(word: str) -> bool:
    """Return whether a word is one of phones, perhaps with an ending, or one that names nobody."""
    word = re.sub(r"(?<=.)(?:telefon)?(?:n[uú]mm?ero?|nr)?$", "", word.casefold())
    stem = NAMED.match(word) or MOBILE_NAMED.match(word)
    return notes.folded(word) in OF_ONES_OWN or (stem is not None and len(word) - stem.end() <= ENDING)


def why_no_numbers(name: str, text: pd.Series) -> str | None:
    """Return why a column holds no numbers to text, whatever its cells read as; None where it may hold them."""
    if SAYING_NO.search(name):
        return "its name says that people said no"
    named = NAMED.search(name) is not None and "fax" not in name.casefold()
    if not named and share_of(text, DECIMAL) >= ENOUGH:
        return "its cells are decimal numbers"
    if share_of(text, DOTTED_QUAD) >= ENOUGH:
        return "its cells are addresses of machines"
    of_else = NEVER_NUMBERS.search(name) or OF_TIME.search(name) or (NAMED_OTHERWISE.search(name) and not named)
    if of_else and (share_of(text, WITH_PLUS) < ENOUGH or "fax" in name.casefold()):
        return "its name speaks of something else"
    if share_of(text, WITH_PLUS) >= ENOUGH:
        return None
    if share_of(text, DAY) >= NEARLY_ALL:
        return "its cells are days"
    return "its cells are numbers one after the other" if not named and _consecutive(text) else None


def _consecutive(text: pd.Series) -> bool:
    """Return whether nearly all cells are numbers one after the other, as ids are and phones hardly."""
    number = pd.to_numeric(text, errors="coerce").dropna().sort_values().diff().dropna()
    return len(number) >= SEVERAL and bool((number == 1).mean() >= NEARLY_ALL) and share_of(text, DIGITS) == 1


def share_of(text: pd.Series, pattern: str) -> float:
    return float(cells.matches(text, pattern).sum() / max(text.notna().sum(), 1))


def _phone(
    columns: dict[int, Column], beside: int | None, default_region: str | None
) -> tuple[int | None, dict[int, float]]:
    """Return the column of numbers, if one qualifies, and the share of valid numbers in every column."""
    region = None if beside is None else columns[beside].cells
    shares = {place: _numbers(it, region, default_region) for place, it in columns.items() if place != beside}
    scores = {
        place: enough + columns[place].number_worth + NAME_WORTH / 2 * share_of(columns[place].text, WRITTEN)
        for place, (_, enough) in shares.items()
        if enough >= ENOUGH and not columns[place].no_numbers
    }
    if any(it.empty_phones for it in columns.values()):
        scores = {place: score for place, score in scores.items() if columns[place].number_worth >= NAME_WORTH}
    return max(scores, key=scores.__getitem__, default=None), {place: share for place, (share, _) in shares.items()}


def _numbers(column: Column, region: pd.Series | None, default_region: str | None) -> tuple[float, float]:
    """Return the share of valid numbers, and of those that count: without a name, bare digits have to be mobiles."""
    judged = normalize(column.cells, region=region, default_region=default_region)
    filled = judged.loc[judged["problem"] != "MISSING"]
    kinds = filled["type"]
    share = float(kinds.notna().mean()) if len(kinds) else 0.0
    at_home = not column.number_worth < 0 and share_of(column.text, AT_HOME) >= NEARLY_ALL
    if len(kinds) and (column.number_worth >= NAME_WORTH or at_home):
        # A national list needs a country; its column is found all the same, so that this can be said of it.
        numbers = kinds.notna() | filled["problem"].isin(["REGION_MISSING", "MULTIPLE_NUMBERS"])
        return share, float(numbers.mean())
    if column.number_worth >= NAME_WORTH or share_of(column.text, WRITTEN) >= ENOUGH:
        return share, share
    return share, float(kinds.isin(MOBILE_TYPES).mean()) if len(kinds) else 0.0


def _named_countries(
    columns: dict[int, Column], named: list[int], default_region: str | None
) -> tuple[int | None, list[int]]:
    """Return that of the columns named as countries which the numbers fit; else none, and those that compete.

    Columns that fit equally well compete where they make other numbers of the same cells. A name that says that the
    countries are those of something else, such as a birth, counts for less than any other, and alone it has to fit.
    """
    if len(named) == 1 and columns[named[0]].worth >= 0:
        return named[0], []
    found = (_phone(columns, it, default_region)[0] for it in (*named, None))
    phone = next((at for at in found if at is not None), None)
    if phone is None or not named:
        return max(named, key=lambda at: columns[at].share + columns[at].worth, default=None), []
    numbers = columns[phone].cells
    judged = {at: normalize(numbers, region=columns[at].cells, default_region=default_region) for at in named}
    fits = {at: _fit(it) for at, it in judged.items()}
    near = [at for at in named if fits[at] > max(fits.values()) - NEAR]
    own = [at for at in near if columns[at].worth >= 0] or near
    first = max(own, key=lambda at: (fits[at], columns[at].share + columns[at].worth))
    if columns[first].worth < 0 and fits[first] < NEARLY_ALL:
        return None, own
    to = judged[first]["to"]
    others = [judged[at]["to"].where(to.notna()) for at in own]
    differ = any((it.ne(to) & it.notna()).any() for it in others)
    return (None, own) if differ else (first, [])


def _fit(judged: pd.DataFrame) -> float:
    """Return the share of filled cells that are valid numbers of the country beside them."""
    filled = judged[judged["problem"] != "MISSING"]
    agree = filled["type"].notna() & ~filled["note"].str.contains("REGION_MISMATCH", na=False)
    return float(agree.mean()) if len(filled) else 0.0


def _region(
    columns: dict[int, Column], phone: int, beside: int | None, unnamed: list[int], default_region: str | None
) -> int | None:
    """Return the column of countries: the named one unless the default fits clearly better, or one that agrees."""
    numbers = columns[phone].cells
    if beside is not None and not _default_fits(numbers, columns[beside], default_region):
        return beside
    return next((place for place in unnamed if _agree(numbers, columns[place], default_region)), None)


def _default_fits(numbers: pd.Series, column: Column, default_region: str | None) -> bool:
    """Return whether the default country fits the numbers as well as a column does, and makes others of them."""
    if default_region is None:
        return False
    alone = normalize(numbers, default_region=default_region)
    beside = normalize(numbers, region=column.cells, default_region=default_region)
    same = alone["to"].eq(beside["to"]) | (alone["to"].isna() & beside["to"].isna())
    return not same.all() and _fits(alone) >= _fits(beside)


def _fits(judged: pd.DataFrame) -> tuple[float, float]:
    """Return the shares of cells that are valid numbers, and of those that are mobiles."""
    return float(judged["type"].notna().mean()), float(judged["type"].isin(MOBILE_TYPES).mean())


def why_states(numbers: pd.Series, countries: pd.Series, default_region: str | None) -> str | None:
    """Return why a column that is named as the numbers' countries holds states, with both readings; else None.

    Its name and each of its cells say so, and the country of these states, or the default one, fits the numbers as
    well.
    """
    sample = sample_of(countries)
    column = Column.of(words_of(str(countries.name)), sample)
    if column.states is None:
        return None
    home = default_region or column.states
    if not _default_fits(numbers.reindex(sample.index) if len(sample) < len(numbers) else numbers, column, home):
        return None
    cells_shown = few(list(dict.fromkeys(column.text.dropna())), cited)
    return (
        f"the cells of column {cited(countries.name)} ({cells_shown}) are states of {country_name(column.states)} as "
        f"well as countries, and the numbers are as valid in {country_name(home)}: leave region= out and pass "
        f"default_region={home!r}, or call the column 'country' if its cells are countries"
    )


def _agree(numbers: pd.Series, column: Column, default_region: str | None) -> bool:
    """Return whether the countries of a column without a telling name agree with the numbers beside them.

    They do if nearly all numbers are of the country of their row, and far fewer would be if the same cells stood in
    another order. Where numbers need a country, the default must not fit more of them; in a short list, not as many.
    """
    place = column.known.place
    rows = np.flatnonzero(place >= 0)
    if not len(rows):
        return False
    kinds, cell = np.unique(place[rows], return_inverse=True)
    chosen = numbers.iloc[rows]
    alone = normalize(chosen)["region"]
    many = pd.concat([chosen] * len(kinds), ignore_index=True)
    countries = pd.Series(np.repeat([column.known.names[kind] for kind in kinds], len(rows)))
    judged = normalize(many, region=countries, numbers=NumberOptions(evidence="none"))
    fits = (judged["region"] == countries.set_axis(judged.index)).to_numpy(bool).reshape(len(kinds), len(rows))
    used = fits.any(axis=0) | alone.notna().to_numpy(bool)
    if used.sum() < SEVERAL:
        return False
    own = float(fits[cell, np.arange(len(rows))][used].mean())
    share = np.bincount(cell) / len(rows)
    chance = float((share @ fits)[used].mean())
    if own < AGREEING or own < chance + BEYOND:
        return False
    national = alone.isna().to_numpy(bool) & used
    if default_region is None or not national.any():
        return True
    by_default = normalize(chosen, default_region=default_region)["type"].notna().to_numpy(bool)
    own, other = fits[cell, np.arange(len(rows))][national].mean(), by_default[national].mean()
    return bool(own > other)
