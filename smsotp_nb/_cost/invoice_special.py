"""Lines of an invoice that are of no message: totals, taxes, credits, fees and payments, by their words and amounts."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import pandas as pd

from .._cards import money
from .._pandas import STR
from .._pandas import texts as texts_of
from .._showing import label as called

_TAX: Final = r"taxe?s?|vat|gst|hst|pst|mwst|ust|(?:umsatz|mehrwert)?steuer|tva|iva|btw|moms|impuestos?|imposta"
# What a line says that is of no message, the first that applies: a total with tax is a total, that of a tax is none.
SPECIAL: Final[tuple[tuple[str, re.Pattern[str]], ...]] = tuple(
    (kind, re.compile(words, re.IGNORECASE))
    for kind, words in (
        (
            "tax",
            rf"^\W*(?:total )?(?:sales |use |state |local |service )?(?:{_TAX})\b(?!.*(?:total|gesamt))"
            rf"|^(?!.*(?:incl|inkl|total|gesamt|summe)).*\b(?:{_TAX})\W*(?:\d+(?:[.,]\d+)? ?%\W*)?$",
        ),
        (
            "total",
            r"\b(?:grand |sub)?-?totals?\b|\bsumme\b|gesamt|zwischensumme|\bamount due\b|\bbalance\b|\bsaldo\b|\bsum\b",
        ),
        (
            "credit",
            r"\bcredit(?: note)?\b|refund|discount|rebate|gutschrift|rabatt|\bremise\b|\bavoir\b|adjustment|erstattung"
            r"|descuento|promotional credit",
        ),
        (
            "fee",
            r"^(?!.*\b(?:sms|messag\w*|texts?|outbound|nachrichten)[ -]?(?:fees?|gebühr\w*|charges?)\b)"
            r".*(?:\bfees?\b|gebühr"
            r"|\bfrais\b|rental|\bmonthly (?:fee|rent|charge|plan|number|service)|monatlich|\bset-?up\b"
            r"|surcharge|subscription|abonnement"
            r"|\brent\b|\bminimum\b|grundpreis|miete|\bcuota\b)",
        ),
    )
)
_WORD: Final = re.compile(r"\b[^\W\d_]{3,}(?:\d+ ?%|\b)")
_INITIAL: Final = r"\b[^\W\d_]"
_INITIALS: Final = rf"(?:{_INITIAL}\.){{2}}"  # I.V.A.
_OTHER_WORDS: Final = re.compile(r"body|text|content|message_?body|status|error|tag|campaign|ref", re.IGNORECASE)
_HUNDREDTH: Final = 10_000  # in millionths
_MOST_TAX: Final = 0.4  # of what is taxed


def special_of(frame: pd.DataFrame, found: Mapping[str, Hashable], of_messages: pd.Series) -> pd.Series:
    """Return tax, total, credit or fee for lines of no message that say so in words, whatever column has them."""
    labels, prices = ({found.get(name) for name in names} for names in (("id", "to"), ("price", "unit_price")))
    said: pd.Series = pd.Series(pd.NA, index=frame.index, dtype=STR)
    for column in frame.columns:
        if (column not in labels and _OTHER_WORDS.search(str(column))) or frame[column].dtype.kind in "fiMb":
            continue
        texts = texts_of(frame[column]).mask(of_messages)
        if texts.str.fullmatch(r"debit|dr", case=False, na=False).any():  # beside it, a credit is a direction
            continue
        if column in prices:  # "0.0075 excl. VAT" is no line of a tax
            texts = texts.mask(texts.str.match(r"\W*\d", na=False))
        said = said.where(said.notna(), special_words(texts))
    return said


def special_words(texts: pd.Series) -> pd.Series:
    """Return tax, total, credit or fee where a cell says so."""
    texts = texts.where(
        texts.str.contains(rf"{_WORD.pattern}|{_INITIALS}", na=False)
    )  # numbers and ids, which may be a million
    kinds = {
        text: next(
            (kind for kind, words in SPECIAL if words.search(re.sub(rf"(?<={_INITIAL})[.]", "", text[:200]))), None
        )
        for text in texts.dropna().unique().tolist()
    }
    return texts.map(kinds, na_action="ignore").astype(STR)


@dataclass(slots=True)
class _Sums:
    """Sums of the lines above in whole millionths: of all, without tax, and of messages alone; of all since a total."""

    unit: int  # to which its lines are rounded
    taxes: int  # of the whole invoice
    lines: int = 0
    every: int = 0
    net: int = 0
    plain: int = 0
    count: int = 0
    since: list[tuple[int, int, bool]] = field(default_factory=list)  # place, amount, whether it is of messages
    since_count: int = 0
    totals: list[tuple[int, bool]] = field(default_factory=list)  # amounts, and whether they are those of lines
    last: int | None = None  # the last total that is that of lines
    paid: set[int] = field(default_factory=set)

    def add(self, place: int, amount: int, kind: object, own: bool, count: int) -> None:
        self.lines, self.every, self.count = self.lines + 1, self.every + amount, self.count + count
        self.net += amount * (kind != "tax")
        self.plain += amount * (not isinstance(kind, str))
        self.since.append((place, amount, own))
        self.since_count += count

    def wholes(self) -> list[int]:
        return [self.every, self.net, self.net + self.taxes, self.plain] if self.lines else []

    def are(self, amount: int, kind: object, count: int) -> bool:
        """Whether an amount is one of these sums."""
        like = self.wholes() if kind == "tax" else [*self.wholes(), *self.parts()]  # no tax is as much as all
        return any(self.near(one, amount) for one in like) and (
            kind == "total" or count in (0, self.count, self.since_count)
        )

    def near(self, one: int, total: int) -> bool:
        """Whether a total is this sum, but for the rounding of each line, and of the total itself to hundredths."""
        of_lines = min(self.unit * (self.lines + 1) // 2, abs(one) // 200)
        of_total = min(_HUNDREDTH // 2, abs(one) // 20) if total % _HUNDREDTH == 0 else 0
        return abs(one - total) <= max(of_lines, of_total)

    def between(self, amount: int) -> int | None:
        """Return the place of the one line between the last total and this one, where it is as much as a tax."""
        if not self.last or len(self.since) != 1:
            return None
        place, more, own = self.since[0]
        is_tax = not own and amount == self.last + more and 0 < more < _MOST_TAX * self.last
        return place if is_tax else None

    def parts(self) -> list[int]:
        """Sums since the last total: alone where messages are in it, and together with that total."""
        since = sum(amount for _, amount, _ in self.since)
        alone = [since] if any(own for *_, own in self.since) else []
        return alone if self.last is None else [*alone, self.last + since]


def by_amounts(lines: pd.DataFrame, times: pd.Series, places: int, notes: list[str]) -> pd.Series:
    """Return ``special`` with what amounts alone show of lines that name no message, number or country; note it.

    The sum of the lines above, all or those since the last total, is a total; what leads from one total to the next
    is a tax; the opposite of a balance is its payment.
    """
    special, unit = lines["special"].astype(object), 10 ** max(6 - places, 0)
    count = lines["messages"].fillna(lines["parts"])
    words = lines["id"].str.contains(_WORD.pattern, na=False) & ~lines["id"].str.contains(r"\d", na=False)
    named = lines[["country", "to"]].notna().any(axis=1) | (lines["id"].notna() & ~words).astype("bool")
    has_names = bool((named & special.isna()).any())
    own = named if has_names else count.notna() if count.notna().any() else times.str.contains(r"\d", na=False)
    maybe = lines["price"].notna() & special.map(lambda kind: pd.isna(kind) or kind == "total")
    maybe &= ~own.astype("bool") & bool(own.any())
    maybe |= special.isin(["total", "tax"]) & lines["price"].notna()
    if not maybe.any():
        return special.astype(STR)
    price = (lines["price"].fillna(0) * 1_000_000).round().astype("int64")
    by: dict[Any, _Sums] = {}
    for currency, part in price.groupby(lines["currency"]):
        by[currency] = _Sums(unit, int(part[special[part.index].eq("tax")].sum()))
    cells = (lines["currency"], price, special, maybe, own, count.fillna(0).astype("int64"))
    kinds = special.tolist()
    for place, (currency, amount, kind, may, mine, number) in enumerate(zip(*cells, strict=True)):
        if currency not in by:
            continue
        sums = by[currency]
        if not may or not amount:
            sums.add(place, amount, kind, bool(mine), int(number))
            continue
        is_sum = sums.are(amount, kind, int(number))
        if pd.isna(kind) and amount < 0 and -amount in {total for total, _ in sums.totals}:
            kinds[place] = "payment"
            sums.paid.add(-amount)
        elif is_sum or kind == "total":
            kinds[place] = "total"
            sums.totals.append((amount, is_sum))
            if is_sum:
                if (added := sums.between(amount)) is not None and pd.isna(kinds[added]):
                    kinds[added] = "tax"
                sums.last, sums.since, sums.since_count = amount, [], 0
        else:
            sums.add(place, amount, kind, bool(mine), int(number))
    found = pd.Series(kinds, index=lines.index, dtype=object)
    notes += [
        f"Read as {kind} by the amount: rows {_shown(rows)}."
        for kind in ("total", "tax", "payment")
        if len(rows := lines.index[found.eq(kind) & ~special.eq(kind)])
    ]
    if len(rows := lines.index[found.isna() & maybe]):
        notes.append(f"Of no message and no sum of the lines above, but counted: rows {_shown(rows)}.")
    notes += [said for currency, sums in by.items() if (said := _of_totals(sums, str(currency)))]
    return found.astype(STR)


def _shown(rows: pd.Index) -> str:
    return ", ".join(map(called, rows[:3])) + ", ..." * (len(rows) > 3)


def _of_totals(sums: _Sums, currency: str) -> str:
    """Return in words whether the totals of an invoice are those of its lines."""
    wrong = [amount for amount, agrees in sums.totals if not agrees and amount not in sums.paid]
    good = [amount for amount, agrees in sums.totals if agrees]
    wholes = sums.wholes()  # of all lines: a total may stand above them
    near = {amount: min((abs(one - amount), one) for one in wholes) for amount, _ in sums.totals if wholes}
    whole = [amount for amount, (_, one) in near.items() if sums.near(one, amount)]
    if whole:
        apart, nearest = near[whole[-1]]
        total, added = (money(amount / 1_000_000, currency) for amount in (whole[-1], nearest))
        if apart <= (_HUNDREDTH // 2 if whole[-1] % _HUNDREDTH == 0 else 0):
            return f"Its total of {total} is that of its lines."
        return f"Its total says {total}, and its lines add up to {added}, which may be their rounding."
    if not sums.lines or not (wrong or good):
        return ""
    if not wrong:
        return f"Its totals in {currency} are those of the lines above each."
    lines_are = money(sums.every / 1_000_000, currency)
    return f"Its total says {money(wrong[-1] / 1_000_000, currency)}, and its lines add up to {lines_are}."
