"""The columns of a provider's invoice or export: found by their names, and their amounts and currencies as written."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import Any, Final, NamedTuple

import pandas as pd

from .._pandas import STR
from .._pandas import texts as texts_of
from ..errors import UsageError

# In the order of preference, letters and digits of a name alone. Of exports as their public documentation has them.
NAMES: Final[dict[str, tuple[str, ...]]] = {
    name: tuple(words.split())
    for name, words in {
        "id": "messageid messagesid messageuuid msgid smsid sid smsuuid uuid mdrid nachrichtenid "
        "messageidentifier recordid id",
        "to": "to recipient recipientnumber destinationphonenumber destinationnumber destination tonumber "
        "phonenumber destinationaddress receiver cld called msisdn mobile mobilenumber phone telephone "
        "number empfänger empfangernr empfanger rufnummer zielrufnummer telefonnummer handynummer nummer "
        "handy handynr destinataire numero numéro téléphone destinatario teléfono telefono "
        "numerodestinatario destinatário telefone ontvanger telefoonnummer mottagare odbiorca",
        "at": "at sentat sentdate datesent sentdatetime sentonutc0 senttime sendat sendtime datereceived "
        "publishtimeutc publishtime messagetime submittedat submitdate submittime datetime createdat "
        "createtime datecreated created timestamp sent date time startdate chargeperiodstart periodstart "
        "usagestartdate usagestart zeitstempel versanddatum versandzeit datum zeitpunkt dateenvoi "
        "dateheure fecha fechahora dataora datainvio datadiinvio dataenvio datadeenvio dataehora verzondenop "
        "verzenddatum skickat datawysłania day dia giorno dag month mês mese maand period donedate statusdatetime",
        "clock": "time uhrzeit zeit heure hora timeofday",
        "until": "enddate chargeperiodend periodend usageenddate usageend bis",
        "part": "partnumber partno segmentnumber partindex",
        "parts": "parts numsegments segments segmentcount numberofsegments totalparts messagepartcount partcount "
        "messageparts messagecount messagescount smscount smsparts numparts units fragments smssize "
        "credits billableunits teile anzahlteile smsanzahl",
        "messages": "messages quantity count usage volume qty nummessages numberofmessages totalmessages messagessent "
        "consumedquantity billedquantity anzahl menge nachrichten anzahlnachrichten nombre quantité "
        "cantidad mensajes quantidade mensagens quantità messaggi aantal aantalberichten antal",
        "price": "price netamount netprice netcost net nettobetrag netto montantht totalprice priceamount "
        "totalcost totalamount cost messageprice messagecost smscost amount charge charges totalcharge "
        "billedcost purchaseprice amountdue preis gesamtpreis betrag nettobetrag kosten prix prixtotal "
        "montant montantht coût importe precio coste preço valor valortotal custo importo prezzo costo bedrag belopp "
        "kwota koszt",
        "unit_price": "unitprice pricepermessage pricepersms priceperunit priceperpart rate totalrate unitcost "
        "einzelpreis stückpreis prixunitaire preciounitario",
        "currency": "currency priceunit pricecurrency currencycode billingcurrency purchasepricecurrency costcurrency "
        "curr ccy währung waehrung wahrung devise moneda divisa valuta moeda waluta",
        "country": "country countryiso countrycode destinationcountry iso countryname networkcountry land zielland "
        "pays país pais paese paísdedestino region",
        "kind": "category traffictype messagetype type usagetype product productname service servicename "
        "chargedescription description item produkt art beschreibung designation producto",
    }.items()
}
_LONGEST_NAME: Final = 200  # characters of a column's name that are looked at
# Where no name is one of these: words that a name has, and words that it must not have.
LIKE: Final[dict[str, tuple[re.Pattern[str], re.Pattern[str]]]] = {
    field: (re.compile(has), re.compile(lacks))
    for field, has, lacks in (
        (
            "id",
            r"\b(?:message|msg|sms|nachricht\w*) ?(?:u?u?id|sid|guid|key|identifier)\b|\buuid\b|\bguid\b",
            r"account|batch",
        ),
        (
            "to",
            r"recipient|destination|receiver|called|msisdn|mobile|phone|empfänger|\bziel|destinat|\bto\b",
            r"country|network|operator|prefix|code|\bid\b|status|type|from|sender|zone|land",
        ),
        (
            "at",
            r"\b(?:sent|send|submi\w+|created|date|datetime|time|timestamp)\b|datum|zeit|fecha|heure|\bdate",
            r"done|deliver|final|updat|seen|status|expir|duration|\bend\b|latency|zone|valid|until|invoice|due|count|paid",
        ),
        (
            "price",
            r"price|\bcost|amount|charge|preis|betrag|kosten|\bprix|montant|importe|precio|coût",
            r"unit|\bper\b|rate|currency|\b(?:tax|vat|mwst)(?: |$)|\bid\b|type|code|carrier|fee|date|class|categ|gross"
            r"|brutto",
        ),
        ("parts", r"\b(?:parts|segments|teile|fragments)\b", r"^$"),
        ("messages", r"quantity|\bcount\b|number of|\bno of|anzahl|volume|\bqty\b|\bmessages\b", r"error|retry|unit"),
        ("currency", r"currency|währung|devise|moneda|\bccy\b", r"^$"),
        ("country", r"country|\bland\b|\bpays\b|pa[ií]s\b", r"prefix|calling|dial|from|sender|origin"),
    )
}
_CODES: Final = (
    "AED ARS AUD BGN BHD BRL CAD CHF CLP CNY COP CZK DKK EGP EUR GBP HKD HUF IDR ILS INR JPY KES KRW KWD MAD MXN MYR "
    "NGN NOK NZD PEN PHP PKR PLN QAR RON RUB SAR SEK SGD THB TRY TWD UAH USD VND ZAR"
)
CURRENCIES: Final = frozenset(_CODES.split())
_DOLLARS: Final = "USD AUD CAD NZD SGD HKD MXN ARS CLP COP TWD"
SYMBOLS: Final[dict[str, tuple[str, ...]]] = {
    sign: tuple(codes.split())
    for sign, codes in {
        "$": _DOLLARS, "US$": "USD", "A$": "AUD", "C$": "CAD", "R$": "BRL", "€": "EUR", "£": "GBP", "¥": "CNY JPY",
        "￥": "CNY JPY", "元": "CNY", "₹": "INR", "₽": "RUB", "₺": "TRY", "₩": "KRW", "zł": "PLN", "Kč": "CZK",
        "kr": "SEK NOK DKK", "Fr.": "CHF", "R": "ZAR", "₦": "NGN", "₪": "ILS", "฿": "THB", "₫": "VND",
    }.items()
}  # fmt: skip
_SIGNS: Final = "|".join(map(re.escape, sorted(SYMBOLS, key=len, reverse=True)))
_UNIT: Final = rf"[A-Za-z]{{3}}|{_SIGNS}"
AMOUNT: Final = re.compile(
    rf"\A(?P<open>\()?\s*+(?P<sign>[-+−–])?\s*+(?P<before>{_UNIT})?\s*+(?P<inner>[-+−–])?\s*+"
    r"(?P<number>\d[\d.,' \u00a0\u2019\u202f]*+(?:[eE][-+]?\d+)?|[.,]\d+)\s*+"
    rf"(?P<after>{_UNIT})?\s*+(?P<tail>-)?\s*+(?P<close>\))?"
)
_SPACES: Final = "[' \u00a0\u2019\u202f]"
_COMMA: Final = re.compile(rf"(?:\d+|\d{{1,3}}(?:(?:\.|{_SPACES})\d{{3}})+)(?:,\d+)?")
_POINT: Final = re.compile(rf"(?:\d+|\d{{1,3}}(?:(?:,|{_SPACES})\d{{3}})+)?(?:\.\d+)?(?:[eE][-+]?\d+)?")
_GROUPS: Final = re.compile(r"[1-9]\d{0,2}(?:[.,]\d{3})+")  # 1,234: a thousand, or a decimal comma
_PLACES: Final = 6  # of an amount
_MOST: Final = 0.9  # of the lines that show what is true of a file
TOO_MUCH: Final = 1e9  # of a line: what is more is no price and no number of parts


def plain(name: Hashable) -> str:
    """Return the letters and digits of a column's name in lower case, without the currency that a price names.

    Example:
        >>> plain("PriceInUSD"), plain("Sent on (UTC+0)"), plain("price.amount"), plain("Amount (EUR)")
        ('price', 'sentonutc0', 'priceamount', 'amount')
    """
    text = str(name)[:_LONGEST_NAME]
    code = currency_in(text)
    if code:
        text = re.sub(rf"[\s_.(\[-]*(?:in)?[\s_.(\[-]*{code}[\s)\]]*$", "", text, flags=re.IGNORECASE)
    return "".join(sign for sign in text.casefold() if sign.isalnum())


def currency_in(name: Hashable) -> str | None:
    """Return the currency that ends a column's name.

    Example:
        >>> currency_in("PriceInUSD"), currency_in("total_eur"), currency_in("Betrag (EUR)"), currency_in("Price")
        ('USD', 'EUR', 'EUR', None)
    """
    ends = re.search(r"(?:In|[\s_.(\[-]|^)([A-Za-z]{3})[)\]\s]*$", str(name)[:_LONGEST_NAME])
    return ends[1].upper() if ends and ends[1].upper() in CURRENCIES else None


def found_columns(frame: pd.DataFrame, named: Mapping[str, Any]) -> dict[str, Hashable]:
    """Return the column of each field: the one that is named, or the first one of a telling name."""
    known: dict[str, Hashable] = {}
    columns = frame.columns[~frame.columns.duplicated(keep=False)]
    blank = [column for column in columns if texts_of(frame[column]).isna().all()]
    for column in [*columns.drop(blank), *blank]:
        known.setdefault(plain(column), column)
    found: dict[str, Hashable] = {}
    for field, names in NAMES.items():
        taken = {*found.values(), *named.values()}
        if field in named:
            found[field] = named[field]
        else:
            named_so = [known[name] for name in names if name in known and known[name] not in taken]
            first = next((column for column in named_so if column not in blank), next(iter(named_so), None))
            if first is not None:
                found[field] = first
    for field, (has, lacks) in LIKE.items():
        if field not in found:
            rest = [column for column in known.values() if column not in {*found.values()}]
            like = (column for column in rest if has.search(_words(column)) and not lacks.search(_words(column)))
            if (first := next(like, None)) is not None:
                found[field] = first
    return found


_SHOWN: Final = 1000  # lines that show which column is the amount
_PER: Final = (1, 100, 1000)  # messages or parts that a unit price is of; or it is in cents


def by_numbers(frame: pd.DataFrame, found: dict[str, Hashable], decimal: str | None) -> str:
    """Take the column that is quantity times another one for the price, and that for its unit price; say so.

    A column that was taken for the price by its name stays where it is such a product.
    """
    taken = {column for field, column in found.items() if field not in ("price", "unit_price", "messages", "parts")}
    shown = frame.loc[:, ~frame.columns.duplicated(keep=False)].head(_SHOWN)
    read: dict[Hashable, Amounts] = {}
    for column in shown.columns.difference([*taken], sort=False):
        with contextlib.suppress(UsageError):
            if (one := amounts(shown[column], decimal)).numbers.notna().any():
                read[column] = one
    if decimal is None and any(one.decimal == "," for one in read.values()):
        read = {column: amounts(shown[column], ",") for column in read}
    counts = [found[name] for name in ("messages", "parts") if found.get(name) in read]
    prices = [column for column in read if column not in counts]
    fitting = [
        (unit, amount, count)
        for count in counts
        for unit in prices
        for amount in prices
        if unit != amount and _is_product(read[amount], read[unit], read[count].numbers)
    ]
    if "price" in found:
        if any(amount == found["price"] for _, amount, _ in fitting):
            return ""
        fitting = [one for one in fitting if one[0] == found["price"]]
    if not fitting:
        return ""
    found["unit_price"], found["price"], count = fitting[0]
    return f"{found['price']!r} is {count!r} times {found['unit_price']!r}: it is taken for the amount."


def _is_product(amount: Amounts, unit: Amounts, count: pd.Series) -> bool:
    """Return whether amounts are counts times prices, but for the rounding of both; one count alone shows nothing."""
    known = amount.numbers.notna() & unit.numbers.notna() & count.notna()
    theirs, each, many = amount.numbers[known], unit.numbers[known], count[known]
    if not (many.gt(1) & theirs.ne(0)).any():
        return False
    rounding = 0.5 * 10.0**-amount.places + 1e-9
    of_each = 0.5 * 10.0**-unit.places if unit.places > 1 else 0.0
    return any(
        (theirs - many * each / per).abs().le(rounding + of_each * many.abs() / per).mean() >= _MOST for per in _PER
    )


def _words(name: Hashable) -> str:
    """Return the words of a name in lower case, without what stands in parentheses.

    Example:
        >>> _words("DestinationPhone_number (E.164)")
        'destination phone number'
    """
    bare = re.sub(r"\([^()]*\)", " ", str(name)[:_LONGEST_NAME])
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", bare)
    return " ".join(re.findall(r"\w+", apart.replace("_", " "))).casefold()


class Amounts(NamedTuple):
    """What cells of amounts say: numbers, the currency or sign beside each, and the most decimal places of any.

    Zeros at the end count where they are written; one place is taken for two, whose zero was lost.
    """

    numbers: pd.Series
    units: pd.Series
    places: int
    decimal: str


def amounts(cells: pd.Series, decimal: str | None) -> Amounts:
    """Read amounts as people and programs write them: $ 0.0075, 0,0075 €, (1.50), USD -0.5, 7.5e-3.

    Raises:
        UsageError: a comma may be of decimals or of thousands in all of them.
    """
    if pd.api.types.is_numeric_dtype(cells.dtype) and not pd.api.types.is_bool_dtype(cells.dtype):
        return _of_numbers(cells, decimal)
    texts = texts_of(cells).str.strip()
    read = [AMOUNT.fullmatch(text) if isinstance(text, str) else None for text in texts.array]
    numbers = ["" if one is None else one["number"].strip() for one in read]
    written = [isinstance(cell, str) for cell in cells.array]
    sign = decimal or _decimal([number for number, text in zip(numbers, written, strict=True) if text], cells.name)
    values = [
        _value(one, number, sign if text else ".") for one, number, text in zip(read, numbers, written, strict=True)
    ]
    units = [None if one is None else one["before"] or one["after"] for one in read]
    found = pd.Series([value for value, _ in values], index=cells.index, dtype="float64")
    places = max((places for value, places in values if value is not None), default=0)
    return Amounts(found, pd.Series(units, index=cells.index, dtype=STR), places + (places == 1), sign)


def _of_numbers(cells: pd.Series, decimal: str | None) -> Amounts:
    numbers = cells.astype("float64")
    numbers = numbers.where(numbers.abs() < TOO_MUCH)
    exact = numbers.dropna().round(_PLACES)
    places = next((places for places in (0, *range(2, _PLACES)) if exact.eq(exact.round(places)).all()), _PLACES)
    return Amounts(numbers, pd.Series(pd.NA, index=cells.index, dtype=STR), places, decimal or ".")


def _decimal(numbers: Iterable[str], name: Hashable) -> str:
    """Return the decimal sign that the cells show: a point, or a comma where one can be nothing else."""
    unclear = ""
    commas = False
    for number in filter(None, numbers):
        if "," not in number or _GROUPS.fullmatch(number):
            unclear = unclear or (number if "," in number else "")
            if "." in number and not _GROUPS.fullmatch(number):
                return "."
        elif _COMMA.fullmatch(number):
            commas = True
        else:
            return "."
    if unclear and not commas:
        raise UsageError(
            f"column {name!r} of the invoice can be read in two ways, such as {unclear!r}; pass decimal='.' if the "
            "comma parts thousands, decimal=',' if it is the decimal sign"
        )
    return "," if commas else "."


def _value(one: re.Match[str] | None, number: str, decimal: str) -> tuple[float | None, int]:
    """Return the number of a cell and how many decimal places it has."""
    shape = _POINT if decimal == "." else _COMMA
    if one is None or not number or not shape.fullmatch(number) or bool(one["open"]) != bool(one["close"]):
        return None, 0
    bare = re.sub(rf"{_SPACES}|{',' if decimal == '.' else '[.]'}", "", number).replace(",", ".")
    value = float(bare)
    below = sum(bool(mark) and mark not in "+" for mark in (one["open"], one["sign"], one["inner"], one["tail"])) % 2
    mantissa = bare.lower().partition("e")
    places = len(mantissa[0].partition(".")[2]) - int(mantissa[2] or 0)
    return (-value if below else value, max(places, 0)) if value < TOO_MUCH else (None, 0)


def currencies(units: pd.Series, known: Collection[str]) -> pd.Series:
    """Return three-letter codes for codes and signs; a sign of several currencies is the one that is recorded.

    Example:
        >>> currencies(pd.Series(["usd", "$", "kr", None]), ["USD"]).tolist()[:2]
        ['USD', 'USD']
    """
    codes = {str(unit): _code(str(unit), known) for unit in units.dropna().unique()}
    return units.map(codes).astype(STR)


def _code(unit: str, known: Collection[str]) -> str | None:
    of = SYMBOLS.get(unit)
    if of is None:
        return unit.upper() if re.fullmatch("[A-Za-z]{3}", unit) else None
    fitting = [code for code in of if code in known]
    return of[0] if len(of) == 1 else fitting[0] if len(fitting) == 1 else None
