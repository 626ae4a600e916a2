"""Recipients to a plan: who would be texted, what, in which requests, at what estimated cost, and who not and why.

The plan is the dry run. Nothing here opens a connection.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from .. import _wire as wire
from .. import phones
from . import arguments, assembly, bodies, suppression
from .bodies import body_key
from .oneself import to_oneself
from .value import Plan
from .wording import TemplateData

__all__ = ["Plan", "body_key", "plan", "to_oneself"]


def plan(
    recipients: pd.DataFrame,
    *,
    to: str,
    campaign: str,
    region: str | pd.Series[Any] | None = None,
    default_region: str | None = None,
    text: str | None = None,
    content: str | None = None,
    template_id: str | None = None,
    template_data: TemplateData = None,
    template_text: str | None = None,
    signature: str | None = None,
    signature_join: str | None = None,
    variant: wire.Variant = "intl",
    fill: Mapping[str, Any] | None = None,
    suppress: Any = None,
    ignore_unreadable_suppressions: bool = False,
    exclude: Any = None,
    keep: Sequence[str] = (),
    rates: pd.DataFrame | str | Path | None = None,
    today: dt.date | None = None,
    replace: Mapping[str, str] | None = None,
    chunk_size: int = 100,
    repair: Sequence[str] = (),
) -> Plan:
    """Plan a campaign: judge every row, fill the text, group equal messages, cut them into requests, estimate the cost.

    A row is planned or skipped; ``problem`` says why: the codes of ``phones.normalize``, then SUPPRESSED, EXCLUDED,
    VALUE_MISSING (the note names the column) and DUPLICATE_OF (the note names the row that is planned instead).

    Args:
        recipients: one row a message; never changed.
        to: the column of the phone numbers.
        campaign: the name under which the send is recorded; the same name again is the same campaign.
        region: the column, or a Series on the same index, of each number's country.
        default_region: two-letter country for the rows without one.
        text, content, template_id: one of them. In ``text`` and ``content``, ``{column}`` stands for that column's
            value, ``{{`` for a brace; ``content`` is joined with ``signature`` by the service.
        template_data: columns whose values fill the template's variables, or ``{variable: column}``.
        template_text: the template's text with ``{variable}``, for the estimate only.
        signature: the sender's name, 2 to 16 characters; required in the cn variant.
        signature_join: how content and signature are joined, for the estimate only.
        fill: ``{column: value}`` for rows where that column is missing.
        suppress: numbers never to text: list, Series, frame or path.
        ignore_unreadable_suppressions: go on although entries of ``suppress`` or ``exclude`` cannot be read.
        exclude: whom to leave out because another campaign has them: ``ledger.campaign(name)``, of which all count whom
            it may have reached (accepted, in doubt or being sent), or everybody in what ``suppress`` takes, such as the
            file or the frame of another send's results.
        keep: columns that travel into the results and the ledger.
        rates: a rate table (`rates.check`) or the path of one.
        today: the day for which rates are looked up; by default today, UTC.
        replace: characters to write otherwise in the message, such as ``parts.PLAIN``; nothing is replaced without it.
        chunk_size: recipients in one request, at most 1,000.
        repair: repairs of ``phones.normalize`` that are only made when asked for.

    Raises:
        UsageError: lists everything wrong with the call.

    Example:
        >>> people = pd.DataFrame({"phone": ["+1 202 555 0123", "12025550123", "+1 202 555 0147"], "name": "Ann"})
        >>> made = plan(people, to="phone", default_region="US", campaign="demo", text="Hi {name}")
        >>> made.rows[["to", "status", "problem"]].values.tolist()[1]
        ['+12025550123', 'skipped', 'DUPLICATE_OF']
    """
    asked = arguments.read(
        recipients,
        to=to,
        region=region,
        campaign=campaign,
        keep=keep,
        chunk_size=chunk_size,
        variant=variant,
        rates=rates,
        today=today,
        message={
            "text": text,
            "content": content,
            "template_id": template_id,
            "template_data": template_data,
            "template_text": template_text,
            "signature": signature,
            "signature_join": signature_join,
            "fill": fill,
            "replace": replace,
        },
    )
    numbers = phones.normalize(recipients[to], region=asked.region, default_region=default_region, repair=repair)
    reading = suppression.Reading(
        to, region if isinstance(region, str) else None, default_region, repair, ignore_unreadable_suppressions
    )
    left_out = {}
    if suppress is not None:
        left_out["SUPPRESSED"] = suppression.suppressed(suppress, reading)
    if exclude is not None:
        left_out["EXCLUDED"] = suppression.excluded(exclude, reading)
    return assembly.assemble(recipients, asked, numbers, bodies.word(asked.wording, recipients), left_out)
