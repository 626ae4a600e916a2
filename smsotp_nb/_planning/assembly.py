"""From rows to requests: mark problems, group rows with equal bodies, cut the groups into chunks, estimate costs."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from .. import _values as values
from .. import rates as rate_tables
from .._pandas import STR
from .._phones import country_name
from .._recipients import source_of
from .._results import contract
from . import bodies as body_rows
from . import suppression
from .arguments import MadeOf, Words
from .bodies import Ints, Worded
from .rows import TRIMMED, InMemory, fingerprint
from .segments import Segments
from .suppression import Suppression

Positions = npt.NDArray[np.intp]
_HINT_TEXTS = 50
_KEY = "segment"
SAYING_NO: Final = ("NOTE_SAYS_NO", "SUPPRESSED", "EXCLUDED")  # at one number of a row, and so at all of them
_COUNTS = ("messages", "bodies", "est_parts")


def assemble(made_of: MadeOf, *, planned_before: npt.NDArray[np.bool_] | None = None) -> dict[str, Any]:
    """Return the fields of the plan. Of several rows of a person, one that was planned before comes first."""
    asked, numbers = made_of.asked, made_of.numbers
    words, labels = made_of.words, made_of.kept.index
    wording, worded = words.wording, body_rows.word(words)
    people, beside = people_of(numbers)
    problem, note, matched = problems(numbers, people, beside, worded, made_of.left_out)
    rank = _rank(words.segments, planned_before)
    refused = numbers.index[problem.isin(SAYING_NO).to_numpy(bool)]
    problem, note = _without_refused(people, beside, refused, problem, note, labels)
    problem, note = _without_duplicates(people, problem, note, labels, rank, words.segments)
    at = np.flatnonzero(problem.isna().to_numpy())
    codes, first = body_rows.group(worded, at)
    bodies = body_rows.table(wording, worded, first)
    bodies.insert(6, "recipients", pd.Series(np.bincount(codes, minlength=len(bodies)), dtype="Int64"))
    keys = body_rows.body_keys(bodies)
    keys.setflags(write=False)
    rows = _rows(numbers, problem, note, at, codes, bodies, asked.wire.chunk_size)
    priced = rates(rows.iloc[at], asked.rates, today=asked.today)
    estimate = by_country(rows.iloc[at], priced)
    rows["est_cost"] = contract.money(rows["est_parts"].astype("float64") * priced["micros"].reindex(rows.index))
    rows["est_currency"] = priced["currency"].reindex(rows.index)
    rows["row"] = row_numbers(labels)
    # Without the names of its levels, which may be those of our columns; whoever looks at the rows gets them back.
    unnamed = labels.set_names([None] * labels.nlevels)
    rows = pd.concat([rows.set_axis(unnamed), made_of.kept.set_axis(unnamed)], axis=1)
    beside = beside[beside.index.isin(at)]
    others = people[beside.index.to_numpy("int64")], np.array(beside, np.int64)
    said = partial(body_rows.wordings, words, bodies, first, keep=asked.message["keep_words"])
    return {
        "_kept": tuple(made_of.kept.columns),
        "by": words.segments.name if words.segments else None,
        "fingerprint": fingerprint([numbers["to"].iloc[at].tolist()], [keys[codes]]),
        "advice": (
            *passcode(wording.sampled(bodies.iloc[_shown(words.segments, at, codes, len(bodies))])),
            *of_values(words),
            *words.told,
            *made_of.advice,
        ),
        "_asked": asked,
        "_held": InMemory(rows, bodies, keys, said, others, tuple(labels.names)),
        "source": source_of(made_of.frame, *asked.numbers.to, asked.numbers.region),
        "_columns": of_columns(numbers),
        "_left_out": suppression.table(made_of.left_out, matched),
        "_estimate": estimate,
        "_made_of": made_of,
    }


def row_numbers(labels: pd.Index) -> pd.arrays.IntegerArray:
    """Return the number of each row: its label, which is that of a file's row; by position from 1 where it is none."""
    numbers = labels if labels.nlevels == 1 and pd.api.types.is_integer_dtype(labels.dtype) else None
    if numbers is None or numbers.hasnans:
        numbers = pd.RangeIndex(1, len(labels) + 1)
    return pd.array(numbers.to_numpy("int64"), dtype="Int64")


def of_columns(numbers: pd.DataFrame) -> dict[str, int]:
    """Return how many numbers are of which column; nothing where there is one."""
    if "column" not in numbers:
        return {}
    counts = numbers["column"][numbers["to"].notna()].value_counts(sort=False)
    return {str(name): int(rows) for name, rows in counts.items()}


# -- problems ----------------------------------------------------------------------------------------------------------


def people_of(numbers: pd.DataFrame) -> tuple[Ints, pd.Series[Any]]:
    """Return the person of each row, indexed from 0, and those of its other numbers, an entry each."""
    people = suppression.persons(numbers["to"])
    if "others" not in numbers:
        return people, pd.Series(np.zeros(0, np.int64), pd.Index([], dtype="int64"))
    others = numbers["others"].astype(object).str.split().explode().dropna().astype(STR)
    return people, pd.Series(suppression.persons(others), others.index)


def problems(
    numbers: pd.DataFrame, people: Ints, beside: pd.Series[Any], worded: Worded, left_out: Sequence[Suppression]
) -> tuple[pd.Series[str], pd.Series[str], list[int]]:
    """Return problem and note of every row, duplicates aside, and how many rows each list to leave out matches."""
    matched = []
    problem, note = numbers["problem"].copy(), numbers["note"].copy()
    for whom in left_out:
        on_it = _among(people, whom.people)
        on_it[beside.index[_among(np.array(beside, np.int64), whom.people)]] = True
        on_it &= people > 0
        problem = problem.mask(problem.isna() & on_it, whom.problem)
        matched.append(int(on_it.sum()))
    for code, marked, said in worded.lacking:
        lacking = problem.isna() & marked
        problem = problem.mask(lacking, code)
        note = _joined(note, said, lacking.to_numpy())
    if worded.trimmed is not None:
        note = _joined(note, pd.Series(TRIMMED, note.index, STR), worded.trimmed & problem.isna().to_numpy())
    return problem, note, matched


def _among(people: Ints, others: Ints) -> npt.NDArray[np.bool_]:
    """Mark the people who are among others, who stand in order."""
    found: npt.NDArray[np.bool_] = np.append(others, -1)[np.searchsorted(others, people)] == people
    return found


def _rank(segments: Segments | None, before: npt.NDArray[np.bool_] | None) -> Ints | None:
    """Return a rank for each row: a person is texted by their lowest. None if simply the first row counts."""
    ranks = segments.ranks if segments is not None and segments.priority else None
    if before is None:
        return ranks
    new = (~before).astype(np.int64)
    return new if ranks is None else new * (int(ranks.max(initial=0)) + 1) + ranks


def _without_refused(
    people: Ints,
    beside: pd.Series[Any],
    refused: pd.Index,
    problem: pd.Series[str],
    note: pd.Series[str],
    labels: pd.Index,
) -> tuple[pd.Series[str], pd.Series[str]]:
    """Mark rows with a number of which one of these other rows says no as duplicates of that one."""
    saying = beside[beside.index.isin(refused)]
    if saying.empty:
        return problem, note
    own: pd.Series[int] = pd.Series(people)
    rows = own[saying.index.unique()]
    saying = pd.concat([saying, rows[rows > 0]]).sort_index(kind="stable")
    first = saying[~saying.duplicated().to_numpy()]
    each = pd.concat([own[own > 0], beside])
    found = pd.Index(first).get_indexer(pd.Index(each))
    said_in = pd.Series(first.index.to_numpy()[found], each.index)[found >= 0].groupby(level=0).min()
    at = said_in.reindex(problem.index[problem.isna().to_numpy()]).dropna().astype("int64")
    if at.empty:
        return problem, note
    return _duplicates(problem, note, at.index.to_numpy(), labels.take(at.to_numpy()))


def _without_duplicates(
    people: Ints,
    problem: pd.Series[str],
    note: pd.Series[str],
    labels: pd.Index,
    rank: Ints | None,
    segments: Segments | None,
) -> tuple[pd.Series[str], pd.Series[str]]:
    """Mark all rows of a person but one as duplicates. The one left can be sent if any can, so nobody is lost."""
    at = np.flatnonzero(problem.isna().to_numpy())
    if rank is not None:
        at = at[np.argsort(rank[at], kind="stable")]
    codes, _ = pd.factorize(people[at])
    repeated = pd.Series(codes).duplicated().to_numpy()
    if not repeated.any():
        return problem, note
    copies, firsts = at[repeated], at[~repeated][codes[repeated]]
    why = None if segments is None else segments.said_of(copies, firsts)
    return _duplicates(problem, note, copies, labels.take(firsts), why)


def _duplicates(
    problem: pd.Series[str], note: pd.Series[str], copies: Positions, firsts: pd.Index, why: Any = None
) -> tuple[pd.Series[str], pd.Series[str]]:
    """Mark rows as duplicates, each of the row of that label."""
    marked, said = np.zeros(len(note), bool), np.full(len(note), None, dtype=object)
    marked[copies] = True
    said[copies] = [f"DUPLICATE_OF:{label}" for label in firsts.tolist()]
    if why is not None:
        said[copies] += why
    return problem.mask(marked, "DUPLICATE_OF"), _joined(note, pd.Series(said, dtype=STR), marked)


def _joined(note: pd.Series[str], more: pd.Series[str], at: npt.NDArray[np.bool_]) -> pd.Series[str]:
    if not at.any():
        return note
    alone = note.isna().to_numpy()
    return note.mask(at & alone, more).mask(at & ~alone, note + " " + more)


# -- rows --------------------------------------------------------------------------------------------------------------


def _rows(
    numbers: pd.DataFrame,
    problem: pd.Series[str],
    note: pd.Series[str],
    at: Positions,
    codes: Ints,
    bodies: pd.DataFrame,
    chunk_size: int,
) -> pd.DataFrame:
    size = len(numbers)
    rows = numbers[["to", "region", "type"]].copy()
    states = pd.Series(["planned", "skipped"], dtype=STR)
    rows["status"] = states.take(problem.notna().to_numpy(dtype=np.intp)).set_axis(rows.index)
    rows["problem"], rows["note"] = problem, note
    rows["body"] = _integers(codes, at, size)
    rows["chunk"] = _integers(_chunks(codes, chunk_size), at, size)
    parts = bodies["est_parts"].take(codes)
    known = parts.notna().to_numpy()
    rows["est_parts"] = _integers(parts[known].to_numpy(dtype=np.int64), at[known], size)
    places = np.full(size, -1, dtype=np.intp)
    places[at] = codes
    rows["encoding"] = bodies["encoding"].reset_index(drop=True).reindex(places).set_axis(rows.index)
    return rows


def _integers(values: Ints, at: Positions, size: int) -> pd.arrays.IntegerArray:
    """Return an Int64 column with these values at these positions and nothing elsewhere."""
    data, mask = np.zeros(size, dtype=np.int64), np.ones(size, dtype=bool)
    data[at], mask[at] = values, False
    return pd.arrays.IntegerArray(data, mask)


def _chunks(codes: Ints, size: int) -> Ints:
    """Number the requests: rows of one body, at most ``size`` of them, bodies in the order of their first row."""
    order = np.argsort(codes, kind="stable")
    counts = np.bincount(codes)
    begins = np.cumsum(counts) - counts
    rank = np.empty(len(codes), dtype=np.int64)
    rank[order] = np.arange(len(codes)) - begins[codes[order]]
    requests = -(-counts // size)
    before = np.cumsum(requests) - requests
    return before[codes] + rank // size


# -- the whole ---------------------------------------------------------------------------------------------------------


def _shown(segments: Segments | None, at: Positions, codes: Ints, many: int) -> list[int]:
    """Return which of so many bodies are looked at for advice: the first ones, and that of each segment's first row."""
    shown = range(min(_HINT_TEXTS, many))
    if segments is None:
        return [*shown]
    _, first = np.unique(segments.codes[at], return_index=True)
    return list(dict.fromkeys([*shown, *codes[first].tolist()]))


# -- costs -------------------------------------------------------------------------------------------------------------


def rates(planned: pd.DataFrame, book: rate_tables.Book, *, today: dt.date) -> pd.DataFrame:
    """Return the rate of every planned row, looked up once for every pair of region and type.

    ``currency`` (str), ``micros, low, high`` (float64, millionths of one part) are missing where there is no rate;
    ``old`` (bool) marks rates past their time.
    """
    kinds = planned[["region", "type"]].drop_duplicates()
    found = [
        rate_tables.find(book, str(region), str(type_)) for region, type_ in zip(*map(kinds.get, kinds), strict=True)
    ]
    names = {"currency": STR, "micros": "float64", "low": "float64", "high": "float64"}
    table = pd.DataFrame({name: [getattr(rate, name, None) for rate in found] for name in names}).astype(names)
    table["old"] = pd.Series([rate is not None and rate.old(today=today) for rate in found], dtype=bool)
    # Both number the pairs by their first appearance.
    pairs = planned.groupby(["region", "type"], sort=False, dropna=False).ngroup()
    return table.take(pairs.to_numpy()).set_axis(planned.index)


def by_country(planned: pd.DataFrame, rates: pd.DataFrame, many: pd.Series[int] | None = None) -> pd.DataFrame:
    """Sum planned rows by region and currency, the most expensive first; see ``Plan.estimate`` for the columns.

    ``many`` says for how many recipients each row stands; by default for one.
    """
    frame = _summed(planned, rates, "region", planned["region"], many)
    frame.insert(2, "country", pd.Series([country_name(region) for region in frame["region"]], dtype=STR))
    order = ["est_cost", "messages", "region"]
    return frame.sort_values(order, ascending=[False, False, True], ignore_index=True)


def by_segment(
    planned: pd.DataFrame, rates: pd.DataFrame, name: str, values: pd.Series[str], labels: tuple[str, ...]
) -> pd.DataFrame:
    """Sum planned rows by segment and currency; see ``Plan.estimate_by_segment`` for the columns."""
    frame = _summed(planned, rates, _KEY, values).rename(columns={_KEY: name})
    cells = pd.DataFrame({_KEY: values, "body": planned["body"], "encoding": planned["encoding"]})
    groups = cells.groupby([_KEY, rates["currency"]], dropna=False, sort=True)
    frame.insert(3, "bodies", pd.Series(groups["body"].nunique().to_numpy(), dtype="Int64"))
    encodings = groups["encoding"].agg(["nunique", "first"]).reset_index(drop=True)
    frame["encoding"] = encodings["first"].mask(encodings["nunique"] > 1, "mixed").astype(STR)
    place = {label: number for number, label in enumerate(labels)}
    absent = [label for label in labels if label not in set(frame[name])]
    nobody = {name: pd.Series(absent, dtype=STR), "confidence": "none"} | dict.fromkeys(_COUNTS, 0)
    whole = pd.concat([frame, pd.DataFrame(nobody).reindex(columns=frame.columns).astype(frame.dtypes)])
    return whole.sort_values(name, key=lambda of: of.map(place), kind="stable", ignore_index=True)


def _summed(
    planned: pd.DataFrame, rates: pd.DataFrame, name: str, values: pd.Series[str], many: pd.Series[int] | None = None
) -> pd.DataFrame:
    stands_for = pd.Series(1, index=planned.index) if many is None else many
    parts = planned["est_parts"].astype("float64") * stands_for
    cells = pd.DataFrame({name: values, "currency": rates["currency"], "old": rates["old"], "parts": parts})
    cells["many"], cells["rated"] = stands_for, rates["micros"] * stands_for
    for amount in ("micros", "low", "high"):
        cells[amount] = parts * rates[amount]
    cells["rate"] = rates["micros"]
    groups = cells.groupby([name, "currency"], dropna=False, sort=True)
    sums = groups[["parts", "micros", "low", "high"]].sum(min_count=1).reset_index()
    confidence = np.where(sums["currency"].isna(), "none", np.where(groups["old"].any(), "old", "known"))
    return pd.DataFrame(
        {
            "currency": sums["currency"].astype(STR),
            name: sums[name].astype(STR),
            "messages": pd.array(groups["many"].sum().to_numpy("int64"), dtype="Int64"),
            "est_parts": sums["parts"].astype("Int64"),
            "rate": contract.money(_rate(groups, sums["micros"] / sums["parts"])),
            "est_cost": contract.money(sums["micros"]),
            "est_low": contract.money(sums["low"]),
            "est_high": contract.money(sums["high"]),
            "confidence": pd.Series(confidence, dtype=STR),
        }
    )


def _rate(groups: Any, by_parts: pd.Series[float]) -> pd.Series[float]:
    """Return the one rate of each group; where it differs by type of number, the average of a part."""
    found = groups["rate"].agg(["nunique", "first"]).reset_index(drop=True)
    mean = (groups["rated"].sum() / groups["many"].sum()).reset_index(drop=True)
    rate: pd.Series[float] = found["first"].where(found["nunique"] <= 1, by_parts.fillna(mean))
    return rate


# -- advice --------------------------------------------------------------------------------------------------------


PASSCODE = (
    "This looks like a verification code. Passcodes belong to otp.send: the service makes, sends and checks the code, "
    "and nobody stores it."
)

# "code" in the languages where verification texts are most often seen, and what is asked for by a code that sells.
_WORDS = re.compile(
    r"\b(?:code|codes|passcode|otp|pin|one-time|verification|verify|2fa"
    r"|kode|kod|kód|koodi|código|codigo|codice|cod|mã|sandi|passwort|einmalpasswort|bestätigungscode"
    r"|sicherheitscode|verificatiecode|doğrulama|verifica|verificación|verificação|vérification|weryfikacyjny|tasdiqlash)\b"
    r"|код|кода|κωδικός|רקוד|קוד|رمز|كود|कोड|ওটিপি|कूट|รหัส|验证码|驗證碼|校验码|動態碼|認証|コード|인증|코드",
    re.IGNORECASE,
)
_SELLS = re.compile(
    r"%|\b(?:promo|discount|coupon|voucher|rabatt|gutschein|descuento|cupón|réduction|sconto|zip|postal|dress|qr)\b"
    r"|优惠|優惠|クーポン|쿠폰|скидк|промокод",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"(?<![A-Za-z0-9_.,/-])[0-9]{4,8}(?![A-Za-z0-9_/-]|[.,][0-9])")
_YEAR = re.compile(r"(?:19|20)\d\d")


def of_values(words: Words) -> tuple[str, ...]:
    """Return advice on how the values of placeholders are written."""
    found = (
        values.advice(words.frame[one.column], one, message.language)
        for message in words.wording.messages
        if message.own is None
        for one in words.wording.slots(message)
    )
    return tuple(dict.fromkeys(filter(None, found)))


def passcode(texts: Iterable[str]) -> tuple[str, ...]:
    """Return advice when one of these texts, as people will read it, looks like a verification code."""
    for text in texts:
        numbers = [found for found in _DIGITS.findall(text) if not _YEAR.fullmatch(found)]
        if numbers and _WORDS.search(text) and not _SELLS.search(text):
            return (PASSCODE,)
    return ()
