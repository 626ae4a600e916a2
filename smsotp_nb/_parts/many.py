"""Many texts at once: arrays over all characters of a chunk of texts instead of a Python step per character."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate, islice, pairwise
from typing import Final

import numpy as np
import numpy.typing as npt

from .._calling import in_our_words, not_all_text, not_texts, refuse
from .packing import GSM, GSM_EXTENSION, JOINED, SINGLE

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

_TEXTS: Final = 1 << 15  # texts in a chunk
_FIELD: Final = (1 << 21) - 1  # what one of the three fields of a running sum can hold
_CHARACTERS: Final = _FIELD // 2  # characters in a chunk: each adds two units at most


@dataclass(frozen=True, slots=True, eq=False)
class Measures:
    """The results of `count` for many texts, as arrays in their order.

    ``over`` is the number of units in the last part: to be removed to save it, 0 in texts of one part. ``wide`` marks
    the texts that need ucs2.
    """

    parts: Ints
    units: Ints
    over: Ints
    wide: Bools


@in_our_words
def counts(texts: Iterable[str]) -> tuple[list[int], list[str]]:
    """Count the parts of many texts: the parts of each and the encoding of each, in order. Equal to `count` on every
    text.

    Example:
        >>> counts(["Hello", "日" * 71])
        ([1, 2], ['gsm7', 'ucs2'])
    """
    found = measure(texts)
    return found.parts.tolist(), np.where(found.wide, "ucs2", "gsm7").tolist()


@in_our_words
def measure(texts: Iterable[str]) -> Measures:
    """Measure many texts: parts, units, units in the last part, and which need ucs2."""
    chunks = [_measure(_Chunk.of(chunk)) for chunk in _chunks(texts)]
    if not chunks:
        none = np.zeros(0, dtype=np.int64)
        return Measures(none, none, none, none.astype(bool))
    parts, units, over, wide = zip(*chunks, strict=True)
    return Measures(np.concatenate(parts), np.concatenate(units), np.concatenate(over), np.concatenate(wide))


def forcing(texts: Iterable[str]) -> list[str]:
    """Return for each text the characters that force ucs2, each once, in the order of their code points."""
    return [found for chunk in _chunks(texts) for found in _forcing(_Chunk.of(chunk))]


# -- chunks ------------------------------------------------------------------------------------------------------------


def _chunks(texts: Iterable[str]) -> Iterator[list[str]]:
    """Cut the texts into lists of at most `_TEXTS` texts and `_CHARACTERS` characters; a longer text stands alone."""
    refuse(not_texts("texts", texts))
    source = iter(texts.to_pylist() if hasattr(texts, "to_pylist") else texts)  # Arrow's own cells are no str
    while block := list(islice(source, _TEXTS)):
        if not set(map(type, block)) <= {str}:
            refuse(not_all_text("texts", block))
        ends = list(accumulate(map(len, block)))
        start = base = 0
        for place, end in enumerate(ends):
            if end - base > _CHARACTERS and place > start:
                yield block[start:place]
                start, base = place, ends[place - 1]
        yield block[start:]


def _weights() -> Ints:
    """Return the weight of each character of the basic plane, and last that of all others.

    A weight holds three counts: ucs2 units, characters outside GSM-7 (<< 21) and septets (<< 42).
    """
    weights = np.full(0x10001, 1 + (1 << 21), dtype=np.int64)
    weights[-1] += 1
    weights[[ord(char) for char in GSM]] = 1 + (1 << 42)
    weights[[ord(char) for char in GSM_EXTENSION]] = 1 + (2 << 42)
    return weights


_WEIGHTS = _weights()


@dataclass(frozen=True, slots=True, eq=False)
class _Chunk:
    """Texts laid end to end: code points, where each text starts and ends, and running sums before every character."""

    codes: npt.NDArray[np.uint32]
    starts: Ints
    ends: Ints
    septets: Ints
    units: Ints
    outside: Ints

    @classmethod
    def of(cls, texts: list[str]) -> _Chunk:
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        ends = np.cumsum(lengths)
        codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
        weights = _WEIGHTS[np.minimum(codes, 0x10000)]
        if len(codes) > _CHARACTERS:  # one huge text: its sums would run over from field to field
            fields = [_running((weights >> shift) & _FIELD) for shift in (42, 0, 21)]
        else:
            sums = _running(weights)
            fields = [sums >> 42, sums & _FIELD, (sums >> 21) & _FIELD]
        return cls(codes, ends - lengths, ends, *fields)


def _running(values: Ints) -> Ints:
    sums = np.zeros(len(values) + 1, dtype=np.int64)
    np.cumsum(values, out=sums[1:])
    return sums


def _measure(chunk: _Chunk) -> tuple[Ints, Ints, Ints, Bools]:
    starts, ends = chunk.starts, chunk.ends
    wide = chunk.outside[ends] > chunk.outside[starts]
    parts = np.ones(len(starts), dtype=np.int64)
    units, over = np.zeros_like(parts), np.zeros_like(parts)
    for encoding, running, rows in (("gsm7", chunk.septets, ~wide), ("ucs2", chunk.units, wide)):
        units[rows] = (running[ends] - running[starts])[rows]
        long = rows & (units > SINGLE[encoding])
        if long.any():
            parts[long], last = _pack(running, starts[long], ends[long], JOINED[encoding])
            over[long] = np.where(parts[long] == 2, units[long] - SINGLE[encoding], running[ends[long]] - running[last])
    return parts, units, over, wide


def _pack(running: Ints, starts: Ints, ends: Ints, limit: int) -> tuple[Ints, Ints]:
    """Cut many texts into parts, one part of each text a round: up to the last character that still fits.

    Returns the parts of each text and where its last one begins.
    """
    parts = np.zeros(len(starts), dtype=np.int64)
    at, last = starts.copy(), starts.copy()
    active = np.arange(len(starts))
    while len(active):
        parts[active] += 1
        last[active] = at[active]
        reached = np.searchsorted(running, running[at[active]] + limit, side="right") - 1
        at[active] = np.minimum(reached, ends[active])
        active = active[at[active] < ends[active]]
    return parts, last


def _forcing(chunk: _Chunk) -> list[str]:
    places = np.flatnonzero(np.diff(chunk.outside))
    texts = np.searchsorted(chunk.ends, places, side="right")
    pairs = np.unique((texts << 21) | chunk.codes[places].astype(np.int64))
    characters = (pairs & _FIELD).astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
    bounds = np.searchsorted(pairs >> 21, np.arange(len(chunk.ends) + 1)).tolist()
    return [characters[start:end] for start, end in pairwise(bounds)]
