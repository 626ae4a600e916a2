"""What ``send`` returns: the result table, and warnings about what is not complete."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd

from .._cards import counted
from .._ledger import places, state_line
from .._pandas import STR
from .._planning import AnyPlan, DatasetPlan, Plan
from ..errors import CampaignIncomplete, SmsOtpWarning
from ..problems import explain
from ..results import COLUMNS


def table_of(plan: Plan, outcomes: pd.DataFrame | None, service: str) -> pd.DataFrame:
    """Return the result table: the plan's rows with what the ledger knows of those that were to be sent.

    The two are matched by person, so the list may be in another order than the recorded one.
    """
    rows = plan.rows
    if outcomes is None:
        unknown = [name for name in COLUMNS if name in {"status", "problem", "chunk"} or name not in rows]
        outcomes = pd.DataFrame({name: pd.Series(dtype=COLUMNS[name]) for name in unknown}).assign(number=None)
    recorded = outcomes[outcomes["chunk"].notna().to_numpy()]
    place = places(rows, recorded["number"])
    by_position = recorded.take(np.flatnonzero(place >= 0)).set_axis(place[place >= 0]).reindex(range(len(rows)))
    table = pd.DataFrame(index=rows.index)
    for name, dtype in COLUMNS.items():
        if name in {"campaign", "service"}:
            column: Any = plan.campaign if name == "campaign" else service
        elif name in {"status", "problem"}:
            ours = pd.Series(rows[name].array).where(rows["status"].ne("planned").to_numpy())
            column = by_position[name].where(by_position["status"].notna(), ours).array
        else:
            column = by_position[name].array if name in by_position else rows[name].array
            column = pd.Series(column).fillna(0).array if name == "attempts" else column
        table[name] = pd.Series(column, index=rows.index, dtype=dtype)
    for name in plan.kept:
        table[name] = rows[name]
    return table


def fates_of(plan: DatasetPlan, fates: pd.DataFrame | None) -> pd.DataFrame:
    """Return how many rows there are of each status and problem, as the ledger knows or, without it, the plan."""
    if fates is None:
        skipped = plan.problems.drop(columns="first_rows")
        skipped.insert(0, "status", pd.Series(["skipped"] * len(skipped), dtype=STR))
        return skipped
    return fates.drop(columns=["earliest", "latest"])


def tell(
    campaign: str, counts: dict[str, int], stopper: tuple[str, str] | None, disagreements: list[str], *, until: str = ""
) -> None:
    """Warn of what is not complete (held back ``until`` when, in words), in doubt, or in disagreement with itself."""
    if counts["planned"]:
        held = f"rows are held back (see their problem){until}"
        why = f"{explain(stopper[0])} ({stopper[1]})" if stopper else f"{held}; call send again to continue"
        text = f"campaign {campaign!r} is not complete: {state_line(counts)}; {why}"
        warnings.warn(text, CampaignIncomplete, stacklevel=5)
    if counts["in_doubt"]:
        warnings.warn(
            f"{counted(counts['in_doubt'], 'row')} of campaign {campaign!r} in doubt: what may have been accepted is "
            f"not sent again. Look at ledger.campaign({campaign!r}).in_doubt and resolve it",
            SmsOtpWarning,
            stacklevel=5,
        )
    if disagreements:
        warnings.warn(
            f"{counted(len(disagreements), 'reply disagrees', 'replies disagree')} with its own records: "
            f"{disagreements[0]}; the table holds the records",
            SmsOtpWarning,
            stacklevel=5,
        )


def nobody(plan: AnyPlan, service: str) -> pd.DataFrame:
    """Return what ``send`` returns of a plan that has nobody to text."""
    return fates_of(plan, None) if isinstance(plan, DatasetPlan) else table_of(plan, None, service)
