"""What ``send`` returns: the result table, and warnings about what is not complete."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import pandas as pd

from .._cards import counted
from .._ledger import Run, state_line, until
from .._pandas import STR
from .._planning import Plan
from .._results.contract import ALL, COLUMNS, STATES, ordered, without_zone
from ..errors import CampaignIncomplete, LedgerError, SmsOtpWarning
from ..problems import explain

_CALLER = 5  # frames above a warning


def table_of(plan: Plan, recorded: pd.DataFrame | None) -> pd.DataFrame:
    """Return the result table: the plan's rows with what the ledger knows of those that were to be sent.

    ``recorded`` is by the place of each row in the plan, see `Run.placed`; None where nothing was recorded.
    """
    rows = plan._as_planned
    if recorded is None:
        unknown = [name for name in (*COLUMNS, "chunk") if name in {"status", "problem", "chunk"} or name not in rows]
        recorded = pd.DataFrame({name: pd.Series(dtype=ALL[name]) for name in unknown})
    by_position = recorded.reindex(range(len(rows)))
    table = pd.DataFrame(index=rows.index)
    for name, dtype in COLUMNS.items():
        if name == "campaign":
            column: Any = plan.campaign
        elif name in {"status", "problem"}:
            ours = pd.Series(rows[name].array).where(rows["status"].ne("planned").to_numpy())
            column = by_position[name].where(by_position["status"].notna(), ours).array
        else:
            column = by_position[name].array if name in by_position else rows[name].array
            column = without_zone(pd.Series(column)).array if isinstance(column.dtype, pd.DatetimeTZDtype) else column
        table[name] = pd.Series(column, index=rows.index, dtype=dtype)
    return pd.concat([table, rows[list(plan._kept)]], axis=1)[ordered(plan._kept)]


def nobody(plan: Plan) -> pd.DataFrame:
    """Return what ``send`` returns of a plan that has nobody to text."""
    if plan._folder is None:
        return table_of(plan, None)
    skipped = plan._unplanned.drop(columns="first_rows")
    skipped.insert(0, "status", pd.Series(["skipped"] * len(skipped), dtype=STR))
    return skipped


class Report:
    """What ``send`` tells at the end of a call: the campaign's result table, and warnings of what is not complete."""

    def __init__(self, plan: Plan, run: Run) -> None:
        self._plan, self._run = plan, run
        self._counts: dict[str, int] = {}
        self._until = ""

    def table(self, *, accepted: int) -> pd.DataFrame:
        """Return the result table, of which so many rows were recorded as accepted.

        Raises:
            LedgerError: fewer rows stand as accepted than were recorded, or rows have no state: the ledger was altered.
        """
        table = self._rows() if self._plan._folder is None else self._fates()
        unknown = int(table["status"].isna().sum())
        if unknown or self._counts["accepted"] < accepted:
            raise LedgerError(
                f"the ledger was altered while campaign {self._plan.campaign!r} was sent: {accepted:,} rows were "
                f"recorded as accepted, and {self._counts['accepted']:,} stand as such. Do not send it again from this "
                "ledger, which would text people twice; restore a backup, or see who else writes into it"
            )
        return table

    def _fates(self) -> pd.DataFrame:
        found = self._run.fates()
        self._until = until(found["earliest"].min(), found["latest"].max())
        self._counts = {name: int(found.loc[found["status"].eq(name), "rows"].sum()) for name in STATES}
        return found.drop(columns=["earliest", "latest"])

    def _rows(self) -> pd.DataFrame:
        outcomes = self._run.outcomes()
        self._until = until(outcomes["not_before"].min(), outcomes["not_before"].max())
        self._counts = {name: int(outcomes["status"].eq(name).sum()) for name in STATES}
        with self._run.understood():  # what it holds may have been altered since
            return table_of(self._plan, self._run.placed(outcomes, self._plan))

    def warn(self, stopper: tuple[str, str] | None, disagreements: Sequence[str]) -> None:
        """Warn of what is not complete (and held back until when), in doubt, or in disagreement with itself."""
        campaign, counts = self._plan.campaign, self._counts
        if counts["planned"]:
            held = f"rows are held back (see their problem){self._until}"
            why = f"{explain(stopper[0])} ({stopper[1]})" if stopper else f"{held}; call send again to continue"
            text = f"campaign {campaign!r} is not complete: {state_line(counts)}; {why}"
            warnings.warn(text, CampaignIncomplete, stacklevel=_CALLER)
        if counts["in_doubt"]:
            warnings.warn(
                f"{counted(counts['in_doubt'], 'row')} of campaign {campaign!r} in doubt: what may have been accepted "
                f"is not sent again. Look at sms.record({campaign!r}, client{self._run.in_code}).in_doubt "
                "and settle it",
                SmsOtpWarning,
                stacklevel=_CALLER,
            )
        if disagreements:
            warnings.warn(
                f"{counted(len(disagreements), 'reply disagrees', 'replies disagree')} with its own records: "
                f"{disagreements[0]}; the table holds the records",
                SmsOtpWarning,
                stacklevel=_CALLER,
            )
