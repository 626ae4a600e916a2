"""What would help a judged list: what each repair would bring, and whether its default country is the wrong one.

All of it is counted by reading rows again in another way; nothing is done unasked.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from .._calling import refuse
from .._cards import counted
from .._showing import cited
from .cells import text as cells
from .countries import country_name
from .fast.assembly import REGION_PLACE, REGIONS
from .fast.memory import STRING, Mask
from .fast.tables import KINDS
from .judging import answers
from .judging.evidence import DRAWN, drawn
from .judging.judgement import normalize, weigh_column
from .judging.policy import HAS_SOME, NumberOptions, reserved
from .judging.readings import RANK
from .vocabulary import REPAIRS

ASKED: Final = 150  # rows of a list that are read by every country's plan
REREAD: Final = 20_000  # refused rows that are read with each repair; a longer list brings at least as much
FEWEST: Final = 10  # such rows that a doubt about the default needs
HERE, THERE = 0.2, 0.95  # at most so many are mobile numbers of the default country, at least so many of the other
SHOWN: Final = 3
NATIONAL: Final = r"^[\s'\"(]*(?:0[1-9]|[1-9])[\d\s().\-/]{4,}$"
LANDLINE: Final = KINDS.index("FIXED_LINE")
IN_CELLS: Final = ("TEXT_IN_NUMBER", "MULTIPLE_NUMBERS", "NOT_A_NUMBER")  # what two repairs of cells can change
# Only such texts can be read with a repair that reads cells in another way.
MAY_HELP: Final = {
    "trailing_note": r"^(?s:(?:\P{Nd}*\p{Nd}){6}.*[^\p{Nd} ()+./\-])",
    "vanity": r"\p{Nd}\P{Nd}*[A-ZＡ-Ｚ]{3}",
}
FOR_REPAIR: Final = {
    "trailing_note": "with unknown words behind the number",
    "vanity": "with letters of a keypad",
}


@dataclass(slots=True)
class Advice:
    """Counts that grow chunk by chunk.

    Attributes:
        cured: refused rows that a repair would read, by repair, country and kind.
        asked: rows without a calling code that were read by the plans of all countries.
        mobiles: those of them that are mobile numbers, by country.
        landlines: those that are landlines of the default country.
        default: the default country.
        reread: refused rows that were read with each repair.
    """

    cured: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    asked: int = 0
    mobiles: Counter[str] = field(default_factory=Counter)
    landlines: int = 0
    default: str = ""
    reread: int = 0

    def add(
        self,
        judged: pd.DataFrame,
        phones: pd.Series | pd.DataFrame,
        *,
        region: Any,
        default_region: str | None,
        numbers: NumberOptions,
    ) -> None:
        """Read a judged part of a list again: refused rows with each repair, rows without a country by all plans."""
        if isinstance(phones, pd.DataFrame):
            phones = cells_judged(phones, judged)
        beside = None if region is None else cells.column(region, what="region", like=phones)
        unread = ["MISSING", "NOTE_SAYS_NO", "REGION_UNKNOWN"]  # the last is no matter of how a number is written
        self._without_country(judged["problem"].eq("REGION_UNKNOWN"), phones, beside, default_region, numbers)
        out = (judged["to"].isna() & ~judged["problem"].isin(unread)).to_numpy(bool)
        refused = np.flatnonzero(out)[: REREAD - self.reread]
        self.reread += len(refused)
        if len(refused):
            # The whole column says how some of its rows are read.
            evidence = weigh_column(phones, region=beside, default_region=default_region, numbers=numbers)
            self._with_repairs(
                phones.iloc[refused],
                None if beside is None else beside.iloc[refused],
                default_region,
                numbers.replace(evidence=evidence),
                of_cell=judged["problem"].iloc[refused].isin(IN_CELLS).to_numpy(bool),
            )
        if self.asked < ASKED:
            alone = np.arange(len(phones)) if beside is None else np.flatnonzero(beside.isna())
            chosen = phones.iloc[alone[drawn(len(alone), DRAWN)]]
            self._by_all_plans(cells.read(chosen).text, (default_region or "").upper())

    def _without_country(
        self,
        unknown: pd.Series,
        phones: pd.Series,
        beside: pd.Series | None,
        default_region: str | None,
        numbers: NumberOptions,
    ) -> None:
        """Count rows that read by the default alone, where the column beside them may be one of states."""
        if beside is not None and default_region is not None and unknown.any():
            found = normalize(phones[unknown.to_numpy(bool)], default_region=default_region, numbers=numbers)
            self.cured.update({("region", str(beside.name), default_region): int(found["to"].notna().sum())})

    def _with_repairs(
        self, phones: pd.Series, region: Any, default_region: str | None, numbers: NumberOptions, *, of_cell: Mask
    ) -> None:
        """Read refused rows with each repair that may change them; ``of_cell`` have a problem of their cell's text."""
        texts = cells.read(phones).text
        for repair in set(REPAIRS) - set(numbers.repair):
            rows = np.flatnonzero(of_cell & cells.matches(texts, MAY_HELP[repair]) if repair in MAY_HELP else ~of_cell)
            asked = numbers.replace(repair=[*numbers.repair, repair])
            beside = None if region is None else region.iloc[rows]
            found = normalize(phones.iloc[rows], region=beside, default_region=default_region, numbers=asked)
            found = found[found["to"].notna()]
            kinds = zip(found["region"].fillna(""), found["type"].fillna(""), strict=True)
            self.cured.update((repair, *kind) for kind in kinds)

    def _by_all_plans(self, texts: pd.Series, default: str) -> None:
        chosen = texts[cells.matches(texts, NATIONAL)].head(ASKED - self.asked)
        chosen = chosen[~_of_fiction(chosen, default)]
        if chosen.empty:
            return
        self.asked += len(chosen)
        self.default = default
        if default in REGION_PLACE:
            mobile, landline = _read_in(chosen, [default])
            self.mobiles[default] += int(mobile[0])
            self.landlines += int(landline[0])
        if self.mobiles[default] <= HERE * self.asked:
            others = [name for name in REGIONS[1:] if name != default]
            mobile, _ = _read_in(chosen, others)
            self.mobiles.update({name: int(count) for name, count in zip(others, mobile, strict=True) if count})

    def told(self) -> tuple[str, ...]:
        """Return the advice in words, the doubt about the default country first.

        Example:
            >>> from smsotp_nb import phones
            >>> cells = [f"0491 570 1{n:02} (ring twice)" for n in range(6, 12)]
            >>> phones.report(phones.normalize(cells, default_region="AU"), phones=cells, default_region="AU").advice
            ("6 rows with unknown words behind the number: NumberOptions(repair=['trailing_note'])",)
        """
        return (*self._default_told(), *self._repairs_told())

    def _default_told(self) -> list[str]:
        others = [(count, name) for name, count in self.mobiles.items() if name != self.default]
        best = sorted((pair for pair in others if pair[0] >= THERE * self.asked), key=lambda it: (-it[0], it[1]))
        if self.asked < FEWEST or not best or self.mobiles[self.default] > HERE * self.asked:
            return []
        count, name = best[0]
        few = len(best) <= SHOWN
        names = " or ".join(name for _, name in best) if few else f"each of {len(best)} other countries"
        asked = f"default_region={name!r}?" if len(best) == 1 else "which of them is default_region?"
        landlines = f"{self.landlines:,} are landlines and " if self.landlines else ""
        here = f"{landlines}{self.mobiles[self.default]:,} {'' if landlines else 'are '}mobiles in {self.default}, "
        return [
            f"of {self.asked:,} numbers without a calling code {here if self.default else ''}"
            f"{count:,} {'are mobiles ' if not self.default else ''}in {names}: {asked}"
        ]

    def _repairs_told(self) -> list[str]:
        lines = [
            f"in {counted(rows, 'row')} {cited(column)} is not a country, and the number is valid in {default}: leave "
            "region= out if that column holds no countries"
            for (name, column, default), rows in self.cured.items()
            if name == "region" and rows
        ]
        held = "number is held back, which is another", "numbers are held back, which are others"
        lines += [
            f"{counted(rows, *held)} by the countries in column {cited(column)}: pass region={column!r}, or leave that "
            "column out of the list"
            for (name, column, _), rows in self.cured.items()
            if name == "another country" and rows
        ]
        for repair in REPAIRS:
            kinds = {(region, kind): rows for (name, region, kind), rows in self.cured.items() if name == repair}
            if not kinds:
                continue
            (region, kind), most = max(kinds.items(), key=lambda it: it[1])
            total = sum(kinds.values())
            what = FOR_REPAIR.get(repair, "")
            if not what:
                said = "landlines" if kind == "FIXED_LINE" else "mobiles" if "MOBILE" in kind else "numbers"
                rest = f", {total - most:,} of them of other countries or kinds" if total > most else ""
                what = f"reading as {said} of {country_name(region)} with a plus{rest}"
            least = "at least " if self.reread >= REREAD else ""
            lines.append(
                f"{least}{total:,} {'row' if total == 1 else 'rows'} {what}: NumberOptions(repair=[{repair!r}])"
            )
        return lines


def cells_judged(people: pd.DataFrame, judged: pd.DataFrame) -> pd.Series:
    """Return the cell of each row that its number or problem is of."""
    names = [str(name) for name in people.columns]
    refuse(None if "column" in judged else "numbers= has several columns; give the one that was judged")
    which = judged["column"].map({name: at for at, name in enumerate(names)}).fillna(0).to_numpy("int64")
    columns = [people.iloc[:, at].astype(object) for at in range(len(names))]
    return (
        pd.concat(columns, ignore_index=True).take(which * len(people) + np.arange(len(people))).set_axis(judged.index)
    )


def _of_fiction(texts: pd.Series, region: str) -> npt.NDArray[np.bool_]:
    """Return which texts are numbers of a country that are for fiction, which phonenumbers may call invalid."""
    found = answers.of(pa.array(texts, STRING), pa.array([region] * len(texts), STRING))
    return reserved(found.e164, HAS_SOME.take(found.cc))


def _read_in(texts: pd.Series, regions: list[str]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return, for each region, how many texts are its mobile numbers, and how many its landlines."""
    size, places = len(texts), len(regions)
    which = np.repeat(np.arange(places), size)
    found = answers.of(
        pa.array(list(texts) * places, STRING), pa.DictionaryArray.from_arrays(which, pa.array(regions, STRING))
    )
    mine = found.valid & (found.region == np.array([REGION_PLACE[name] for name in regions])[which])
    kinds = (RANK.take(found.kind) == 2, found.kind == LANDLINE)
    mobile, landline = ((mine & kind).reshape(places, size).sum(axis=1) for kind in kinds)
    return mobile, landline
