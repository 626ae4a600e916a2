"""Rows to requests: problems marked, equal bodies grouped first and cut into chunks second, costs estimated."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import cast

import numpy as np
import numpy.typing as npt
import pandas as pd

from .. import phones
from .._pandas import STR
from .._results import contract
from . import bodies as body_rows
from . import estimating, hints
from .arguments import Asked
from .bodies import Ints, Worded
from .value import Plan
from .wording import Wording

Positions = npt.NDArray[np.intp]
_HINT_TEXTS = 50


def assemble(
    recipients: pd.DataFrame,
    asked: Asked,
    numbers: pd.DataFrame,
    worded: Worded,
    left_out: Mapping[str, pd.Series[str]],
) -> Plan:
    """Build the plan from numbers (`phones.normalize`), worded rows and, by problem, whom to leave out."""
    numbers = numbers.reset_index(drop=True)
    problem, note = _problems(numbers, worded, left_out, recipients.index)
    at = np.flatnonzero(problem.isna().to_numpy())
    codes, first = body_rows.group(worded, at)
    bodies = body_rows.table(asked.wording, worded, first)
    bodies["recipients"] = pd.array(np.bincount(codes, minlength=len(bodies)), dtype="Int64")
    texts = asked.wording.reads(bodies)
    bodies = pd.concat([bodies, body_rows.estimate_parts(texts)], axis=1)
    keys = body_rows.body_keys(bodies)
    keys.setflags(write=False)
    rows = _rows(numbers, problem, note, at, codes, bodies, asked.chunk_size)
    rates = estimating.rates(rows.iloc[at], asked.rates, today=asked.today)
    estimate = estimating.by_country(rows.iloc[at], rates)
    rows["est_cost"] = contract.money(rows["est_parts"].astype("float64") * rates["micros"].reindex(rows.index))
    rows["est_currency"] = rates["currency"].reindex(rows.index)
    rows = pd.concat([rows.set_axis(recipients.index), recipients[list(asked.keep)]], axis=1)
    planned_to = numbers["to"].iloc[at]
    return Plan(
        campaign=asked.campaign,
        variant=asked.variant,
        chunk_size=asked.chunk_size,
        kept=asked.keep,
        signature_join=asked.wording.join_text,
        fingerprint=fingerprint(planned_to, keys[codes]),
        body_keys=keys,
        hint=hints.passcode(_sample(texts, asked.wording, bodies)),
        _rows=rows,
        _bodies=bodies,
        _estimate=estimate,
        _wording=asked.wording,
    )


# -- problems ----------------------------------------------------------------------------------------------------------


def _problems(
    numbers: pd.DataFrame, worded: Worded, left_out: Mapping[str, pd.Series[str]], labels: pd.Index
) -> tuple[pd.Series[str], pd.Series[str]]:
    """Return problem and note; a duplicate is one of a row that will be sent, so that nobody is left out by it."""
    problem, note, phone = numbers["problem"].copy(), numbers["note"].copy(), phones.one_phone(numbers["to"])
    for why, whom in left_out.items():
        problem = problem.mask(problem.isna() & phone.isin(phones.one_phone(whom)), why)
    lacking = problem.isna() & worded.missing
    problem = problem.mask(lacking, "VALUE_MISSING")
    note = _joined(note, worded.note, lacking.to_numpy())
    at = np.flatnonzero(problem.isna().to_numpy())
    codes, _ = pd.factorize(phone.iloc[at])
    repeated = pd.Series(codes).duplicated().to_numpy()
    if repeated.any():
        copies, firsts = at[repeated], at[~repeated]
        marked = np.zeros(len(note), dtype=bool)
        marked[copies] = True
        said = np.full(len(note), None, dtype=object)
        said[copies] = [f"DUPLICATE_OF:{label}" for label in labels.take(firsts[codes[repeated]]).tolist()]
        problem = problem.mask(marked, "DUPLICATE_OF")
        note = _joined(note, cast("pd.Series[str]", pd.Series(said, dtype=STR)), marked)
    return problem, note


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
    return cast("Ints", before[codes] + rank // size)


# -- the whole ---------------------------------------------------------------------------------------------------------


def fingerprint(to: pd.Series[str], keys: Ints) -> str:
    digest = hashlib.sha256("\n".join(to.tolist()).encode())
    digest.update(b"\n" + keys.astype(">i8").tobytes())
    return digest.hexdigest()


def _sample(texts: pd.Series[str], asked: Wording, bodies: pd.DataFrame) -> list[str]:
    """Return texts to look at for advice; of a template without text its variables' names and values."""
    if asked.body.kind == "template" and asked.template_text is None:
        return [data.replace('"', " ").replace("_", " ") for data in bodies["template_data"].head(_HINT_TEXTS)]
    return texts.head(_HINT_TEXTS).tolist()
