"""Plan a list larger than memory: a folder of Parquet files in, a plan whose rows are Parquet files out.

``source`` reads the list in pieces, ``staging`` judges each as `plan` does, ``joining`` decides over all of them by
DuckDB (``engine``) within the memory it is given, ``value`` is the plan, and ``overview`` its card.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pandas as pd
import pyarrow.parquet as pq

from .. import _wire as wire
from .. import phones
from .._calling.arguments import given, not_flag, not_path, refuse
from .._calling.words import in_our_words
from .._frames import AnyFrame, as_pandas
from .._ledger import LedgerOrPath
from .._pandas import STR
from .._policy import Policy, not_policy
from ..errors import FileExists, UsageError
from . import arguments, engine, estimating, hints, joining, kept_words, suppression
from . import bodies as body_rows
from . import dataset_overview as overview
from . import folder as source
from .files import AnyPlan, DatasetPlan
from .folder import Source
from .joining import Found
from .message import Message
from .prospects import prospect
from .staging import BODIES, Asking, staged
from .wording import Column, TemplateData

__all__ = ["AnyPlan", "DatasetPlan", "plan_dataset"]

FILES: Final = ("planned.parquet", "skipped.parquet", "bodies.parquet")
_OURS: Final = ("row", "chunk", "est_parts", "encoding", "est_cost", "est_currency")  # columns of these files


@in_our_words
def plan_dataset(
    folder: str | Path,
    *,
    into: str | Path,
    to: str,
    campaign: str,
    region: str | None = None,
    default_region: str | None = None,
    text: str | Column | Message | Mapping[Any, str | Column | Message] | None = None,
    content: str | Column | Message | Mapping[Any, str | Column | Message] | None = None,
    template_id: str | Mapping[Any, str] | None = None,
    template_data: TemplateData = None,
    template_text: str | Mapping[Any, str] | None = None,
    by: str | None = None,
    priority: Sequence[Any] = (),
    signature: str | None = None,
    signature_join: str | None = None,
    variant: wire.Variant = "intl",
    fill: Mapping[str, Any] | None = None,
    suppress: Any = None,
    ignore_unreadable_suppressions: bool = False,
    exclude: Any = None,
    keep: Sequence[str] = (),
    keep_bodies: bool = True,
    rates: AnyFrame | str | Path | None = None,
    today: dt.date | None = None,
    replace: Mapping[str, str] | None = None,
    chunk_size: int = 100,
    repair: Sequence[str] = (),
    policy: Policy | None = None,
    ledger: LedgerOrPath | None = None,
    memory: str = "2 GB",
) -> DatasetPlan:
    """Plan a campaign of a list larger than memory, without sending anything.

    The same as `plan` for the rows of all files together, in the order of the files' names, each cell as text: the same
    rows are planned, in the same requests, with the same fingerprint. Rows are known by their place, counted from 0.
    Needs the extra ``smsotp_nb[datasets]``.

    Args:
        folder: the list: a folder of Parquet files with the same columns.
        into: the folder for the plan's files, which name people. It is made; one that holds an earlier plan is replaced
            when the new plan is whole.
        to: as for `plan`, as are all arguments that are not listed here.
        campaign: as for `plan`.
        region: name of a column; a Series is not taken here.
        default_region: as for `plan`.
        text: as for `plan`, but for a Series.
        content: as for `plan`, but for a Series.
        template_id: as for `plan`.
        template_data: as for `plan`.
        template_text: as for `plan`.
        by: name of a column; a Series is not taken here.
        priority: as for `plan`.
        signature: as for `plan`.
        signature_join: as for `plan`.
        variant: as for `plan`.
        fill: as for `plan`.
        suppress: as for `plan`; the list itself has to fit into memory.
        ignore_unreadable_suppressions: as for `plan`.
        exclude: as for `plan`; the list itself has to fit into memory.
        keep: as for `plan`.
        keep_bodies: as for `plan`.
        rates: as for `plan`.
        today: as for `plan`.
        replace: as for `plan`.
        chunk_size: as for `plan`.
        repair: as for `plan`.
        policy: as for `plan`.
        ledger: as for `plan`.
        memory: how much memory planning may take, such as ``"2 GB"``; at least 1 GB. What does not fit is kept in
            ``into`` while the plan is made: about 150 bytes a row.

    Returns:
        The plan. Print it, or show it in a notebook, before you send it.

    Raises:
        UsageError: something is wrong with the call or a file; the message lists everything.
        FileExists: ``into`` holds other files than an earlier plan's.

    Example:
        >>> import tempfile
        >>> import smsotp_nb as sms
        >>> place = Path(tempfile.mkdtemp())
        >>> people = pd.DataFrame({"phone": ["+1 202 555 0123", "12025550123", "+1 202 555 0147"], "name": "Ann"})
        >>> (place / "list").mkdir()
        >>> people.to_parquet(place / "list" / "people.parquet")
        >>> made = sms.plan_dataset(
        ...     place / "list", into=place / "plan", to="phone", default_region="US", campaign="demo", text="Hi {name}"
        ... )
        >>> made.figures["planned"], made.problems["problem"].tolist()
        (2, ['DUPLICATE_OF'])
    """
    message = {
        "text": text,
        "content": content,
        "template_id": template_id,
        "template_data": template_data,
        "template_text": template_text,
        "by": by,
        "priority": priority,
        "signature": signature,
        "signature_join": signature_join,
        "fill": fill,
        "replace": replace,
    }
    refuse(
        *(_not_a_name(name, value) for name, value in {"region": region, **message}.items()),
        not_flag("ignore_unreadable_suppressions", ignore_unreadable_suppressions),
        not_policy(policy),
        said="the plan cannot be made: ",
    )
    limit = engine.megabytes(memory)
    engine.library()
    found = source.opened(folder)
    call = {
        "to": to,
        "region": region,
        "campaign": campaign,
        "keep": keep,
        "chunk_size": chunk_size,
        "variant": variant,
        "rates": as_pandas(rates),
        "today": today,
        "keep_bodies": keep_bodies,
        "message": message,
    }
    asked, sample = _asked(found, call)
    target = _target(into, found.folder)
    reading = suppression.Reading(to, region, default_region, repair, ignore_unreadable_suppressions)
    left_out = {}
    if suppress is not None:
        left_out["SUPPRESSED"] = suppression.suppressed(suppress, reading)
    if exclude is not None:
        left_out["EXCLUDED"] = suppression.excluded(exclude, reading)
    evidence = phones.weigh_column(
        sample[to], region=None if region is None else sample[region], default_region=default_region, repair=repair
    )
    asking = Asking(asked, found.columns, to, region, default_region, tuple(repair), evidence)
    made = _made(found, target, asking, left_out, policy, limit)
    return dataclasses.replace(made, prospect=prospect(made, ledger))


def _not_a_name(name: str, value: Any) -> str | None:
    value = value.words if isinstance(value, Message) else value
    if not isinstance(value, pd.Series | pd.DataFrame):
        return None
    return f"{name}= must name a column of the files, got {given(value)}; write it into the files first"


# -- arguments ---------------------------------------------------------------------------------------------------------


def _asked(found: Source, call: dict[str, Any]) -> tuple[arguments.Asked, pd.DataFrame]:
    """Check the arguments, first against the columns, then against rows drawn from all; return them with these rows."""
    nobody = pd.DataFrame({name: pd.Series([], dtype=STR) for name in found.columns})
    asked = arguments.read(nobody, **call)
    _refuse_taken(asked)
    needed = _columns(asked, call["to"], call["region"])
    sample = found.sample(needed, joining.BATCH)
    return arguments.read(sample.reindex(columns=list(found.columns)), **call), sample


def _refuse_taken(asked: arguments.Asked) -> None:
    by = asked.words.segments
    names = dict.fromkeys([*asked.keep, *([by.name] if by else [])])
    wrong = [f"keep=: {name!r} is a column of the plan's files; rename yours first" for name in names if name in _OURS]
    refuse(*wrong, said="the plan cannot be made: ")


def _columns(asked: arguments.Asked, to: str, region: str | None) -> list[str]:
    by = asked.words.segments
    names = [to, region, by.name if by else None, *asked.keep, *asked.words.wording.columns]
    return list(dict.fromkeys(name for name in names if name is not None))


def _target(into: Any, folder: Path) -> Path:
    refuse(not_path("into", into, example="'plan'"))
    target = Path(into).expanduser().absolute()
    if target.resolve() == folder.resolve():
        raise UsageError("into= is the folder of the list itself; name another one for the plan's files")
    if target.exists() and not target.is_dir():
        raise UsageError(f"into= {str(target)!r} is a file; name a folder for the plan's files")
    others = sorted(path.name for path in target.iterdir() if path.name not in FILES) if target.is_dir() else []
    if others:
        raise FileExists(
            f"{target} holds other files ({', '.join(others[:3])}{' ...' if others[3:] else ''}), which a plan would "
            "replace; name a folder of its own",
            path=str(target),
        )
    if not target.parent.is_dir():
        raise UsageError(f"folder not found: {target.parent}; create it first")
    return target


# -- making it ---------------------------------------------------------------------------------------------------------


def _made(
    found: Source, target: Path, asking: Asking, left_out: Mapping[str, pd.Series], policy: Policy | None, memory: int
) -> DatasetPlan:
    try:
        with tempfile.TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent) as name:
            work, whole = Path(name), Path(name) / "plan"
            whole.mkdir(mode=0o700)
            _stage(found, work, asking)
            with engine.opened(work, memory) as connection:
                decided = joining.decided(connection, work, whole, asking, left_out, overview.NOTED)
            for file in whole.iterdir():
                file.chmod(0o600)
            _put_in_place(whole, target, work)
    except OSError as error:
        raise UsageError(
            f"{target} cannot be written: {error.strerror or error}; what was there is unchanged"
        ) from None
    return _plan(target, asking, decided, policy)


def _stage(found: Source, work: Path, asking: Asking) -> None:
    needed = _columns(asking.asked, asking.to, asking.region)
    with (
        pq.ParquetWriter(work / "rows.parquet", asking.rows_schema()) as rows,
        pq.ParquetWriter(work / "bodies.parquet", BODIES) as bodies,
    ):
        for frame in found.frames(needed, joining.BATCH):
            judged, said = staged(frame, asking)
            rows.write_table(judged)
            bodies.write_table(said)


def _put_in_place(whole: Path, target: Path, work: Path) -> None:
    """Give the plan its place in one step; an earlier one goes with the folder for work."""
    if target.is_dir():
        target.rename(work / "earlier")
    whole.rename(target)


def _plan(target: Path, asking: Asking, decided: Found, policy: Policy | None) -> DatasetPlan:
    asked, words = asking.asked, asking.asked.words
    rates = estimating.rates(decided.groups, asked.rates, today=asked.today)
    estimate = estimating.by_country(decided.groups, rates, decided.groups["many"])
    said = _said(asking)
    made = DatasetPlan(
        folder=target,
        campaign=asked.campaign,
        variant=asked.variant,
        chunk_size=asked.chunk_size,
        kept=asking.kept,
        by=words.segments.name if words.segments else None,
        segments=words.wording.segments,
        signature_join=words.wording.join_text,
        fingerprint=decided.fingerprint,
        hint=None,
        policy=policy,
        figures=decided.figures,
        notes=decided.notes,
        _problems=decided.problems,
        _estimate=estimate,
        _wording=words.wording,
        _said=said,
        _keep_bodies=asked.keep_bodies,
        _shown=decided.shown,
    )
    return dataclasses.replace(made, hint=hints.passcode(made.samples()))


def _said(asking: Asking) -> pd.DataFrame:
    """Return each wording with its placeholders, as the ledger keeps it."""
    words = dataclasses.replace(asking.asked.words, segments=None)
    none = body_rows.table(words.wording, body_rows.Worded({}, ()), joining.NOBODY)
    return kept_words.wordings(words, words.frame, none, joining.NOBODY, keep=asking.asked.keep_bodies).said
