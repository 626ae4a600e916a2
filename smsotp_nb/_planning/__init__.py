"""Turn recipients into a plan: who would be texted what, in which requests, at what estimated cost, and who is not.

The plan is the dry run. Nothing here opens a connection.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pandas as pd

from .. import _wire as wire
from .. import phones
from .._calling import in_our_words, not_flag, refuse
from .._frames import AnyFrame, as_pandas
from .._ledger import LedgerOrPath
from .._pandas import lent
from .._policy import Policy, not_policy
from . import arguments, assembly, making, suppression
from .bodies import body_key
from .dataset import AnyPlan, DatasetPlan, plan_dataset
from .kept_words import gsm_parts
from .message import Message
from .oneself import to_oneself
from .prospects import prospect
from .value import Plan
from .wording import Column, TemplateData, Words, column

__all__ = [
    "UNASKED",
    "AnyPlan",
    "Column",
    "DatasetPlan",
    "Message",
    "Plan",
    "body_key",
    "column",
    "gsm_parts",
    "plan",
    "plan_dataset",
    "to_oneself",
]

UNASKED: Final[Any] = object()  # as ``ledger=``: ask none, for plans that are made with every key


@in_our_words
def plan(
    recipients: AnyFrame,
    *,
    to: str,
    campaign: str,
    region: str | pd.Series[Any] | None = None,
    default_region: str | None = None,
    text: Words = None,
    content: Words = None,
    template_id: str | Mapping[Any, str] | None = None,
    template_data: TemplateData = None,
    template_text: str | Mapping[Any, str] | None = None,
    by: str | pd.Series[Any] | None = None,
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
) -> Plan:
    """Plan a campaign without sending anything.

    Planning checks every number, fills the text for every row, groups rows with equal messages into requests and
    estimates the cost. The result says for each row whether it is ``planned`` or ``skipped``; if it is skipped,
    ``problem`` says why. The codes are those of ``phones.normalize``, and SUPPRESSED, EXCLUDED, SEGMENT_MISSING,
    SEGMENT_UNKNOWN (the note names the segment), VALUE_MISSING (the note names the column) and DUPLICATE_OF (the note
    names the row that is planned instead).

    Args:
        recipients: one row per message. The frame is not changed.
        to: name of the column with the phone numbers.
        campaign: name under which the send is recorded. The same name again means the same campaign.
        region: each number's country: a column name, or a Series on the same index.
        default_region: two-letter country code for rows without a country.
        text: the whole message; pass exactly one of ``text``, ``content`` and ``template_id``. ``{column}`` stands for
            that column's value, ``{{`` for a brace. A dict has a message for each segment; ``column("msg")`` or a
            Series on the same index has each row's whole message, in which nothing is a placeholder. Placeholders as
            other tools write them are refused, unless ``Message(..., literal=True)`` says that they are words.
        content: the message without its signature, which the service joins to it. Placeholders, dict and column as
            in ``text``.
        template_id: id of a template of the service, or a dict with one for each segment.
        template_data: the columns that fill the template's variables, or a mapping ``{variable: column}``.
        template_text: the template's text with ``{variable}``, or a dict by segment; used for the estimate only.
        by: each row's segment, for messages by segment: a column name, or a Series on the same index. Labels are
            compared as text, without blanks around them. The column is carried into the results (that of a Series
            without a name as ``segment``).
        priority: segments in the order in which they go first where a person stands in several; otherwise the first
            row does.
        signature: the sender's name, 2 to 16 characters. Required in the cn variant.
        signature_join: how content and signature are joined; used for the estimate only.
        variant: ``"intl"`` or ``"cn"``, as the client has it.
        fill: ``{column: value}`` to use where that column is missing.
        suppress: numbers never to text: a list, Series, frame, or the path of a file.
        ignore_unreadable_suppressions: continue even if entries of ``suppress`` or ``exclude`` cannot be read.
        exclude: people whom another campaign has. ``ledger.campaign(name)`` excludes everybody it may have reached
            (accepted, in doubt or being sent); anything that ``suppress`` takes, such as a result table, excludes
            everybody in it.
        keep: your own columns to carry into the results and the ledger.
        keep_bodies: keep in the ledger what the messages say, with their placeholders, for `cost.words`. With False it
            keeps only a hash of them, their encoding and parts. What placeholders are filled with is never kept.
        rates: a rate table (see `rates.check`), or the path of one.
        today: date for which rates are looked up; today in UTC by default.
        replace: characters to replace in the message, such as ``parts.PLAIN``. By default nothing is replaced.
        chunk_size: recipients per request, at most 1,000.
        repair: repairs of ``phones.normalize`` that are made only on request.
        policy: how often a person may be texted over all campaigns, see `Policy`. Without one, nobody gets the same
            message again within three days. `send` decides it when the request leaves.
        ledger: the Ledger, or its path, that is asked whom opt-outs and the policy hold back now, and how the plan
            differs from the recorded campaign of this name; the plan's card says so, and ``plan.prospect`` holds it. By
            default this user's one ledger, where there is one. Nothing is recorded in it.

    Returns:
        The plan. Print it, or show it in a notebook, before you send it.

    Raises:
        UsageError: something is wrong with the call; the message lists everything.

    Example:
        >>> people = pd.DataFrame({"phone": ["+1 202 555 0123", "12025550123", "+1 202 555 0147"], "name": "Ann"})
        >>> made = plan(people, to="phone", default_region="US", campaign="demo", text="Hi {name}")
        >>> made.rows[["to", "status", "problem"]].values.tolist()[1]
        ['+12025550123', 'skipped', 'DUPLICATE_OF']
        >>> people["language"] = ["en", "en", "de"]
        >>> words = {"de": "Hallo {name}", "en": "Hi {name}"}
        >>> plan(people, to="phone", default_region="US", campaign="demo", text=words, by="language").texts.tolist()
        ['Hi Ann', 'Hallo Ann']
    """
    recipients = as_pandas(recipients)
    region = as_pandas(region)
    message = {
        "text": as_pandas(text),
        "content": as_pandas(content),
        "template_id": template_id,
        "template_data": template_data,
        "template_text": template_text,
        "by": as_pandas(by),
        "priority": priority,
        "signature": signature,
        "signature_join": signature_join,
        "fill": fill,
        "replace": replace,
    }
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
        keep_bodies=keep_bodies,
        message=message,
    )
    refuse(not_flag("ignore_unreadable_suppressions", ignore_unreadable_suppressions), not_policy(policy))
    numbers = phones.normalize(recipients[to], region=asked.region, default_region=default_region, repair=repair)
    reading = suppression.Reading(
        to, region if isinstance(region, str) else None, default_region, repair, ignore_unreadable_suppressions
    )
    left_out = {}
    if suppress is not None:
        left_out["SUPPRESSED"] = suppression.suppressed(suppress, reading)
    if exclude is not None:
        left_out["EXCLUDED"] = suppression.excluded(exclude, reading)
    kept = making.carried(recipients[list(asked.keep)], asked.words)
    numbers = numbers.reset_index(drop=True)
    made_of = making.MadeOf(lent(recipients), asked, numbers, left_out, making.given(message), kept)
    made = Plan(**assembly.assemble(made_of), policy=policy)
    return dataclasses.replace(made, prospect=None if ledger is UNASKED else prospect(made, ledger))
