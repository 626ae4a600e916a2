"""Turn recipients into a plan: who would be texted what, in which requests, at what estimated cost, and who is not.

The plan is the dry run. Nothing here opens a connection. The files, in the order of the work:

- ``folder``: a list in Parquet files, and where its plan goes
- ``arguments``: what `plan` was given, checked
- ``wording``: the messages, with their placeholders
- ``segments``: who is in which segment
- ``mistakes``, ``foreign_placeholders``: texts that would reach people with a placeholder in them
- ``suppression``: whom to leave out
- ``bodies``: the message of each row, equal ones grouped
- ``kept_words``: what the ledger keeps of the words
- ``assembly``: rows to requests, in memory, and what they would cost
- ``staging``, ``joining``: the same for a folder, a piece at a time and then by DuckDB
- ``rows``: what a plan holds, in memory or in files
- ``value``: the plan
- ``overview``: its card
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
from .._calling import in_our_words, not_frame, refuse
from .._frames import AnyFrame, as_pandas
from .._ledger import LedgerOrPath
from .._pandas import lent
from .._policy import Policy
from . import arguments, assembly, folder, joining, suppression
from .bodies import body_key
from .folder import Folder
from .kept_words import gsm_parts
from .staging import Asking
from .value import Plan, prospect_of, to_oneself
from .wording import Column, Message, TemplateData, Words, column

__all__ = ["UNASKED", "Column", "Folder", "Message", "Plan", "body_key", "column", "gsm_parts", "plan", "to_oneself"]

UNASKED: Final[Any] = object()  # as ``ledger=``: ask none, for plans that are made with every key


@in_our_words
def plan(
    people: AnyFrame | Folder,
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
        people: one row per message. The frame is not changed. A `Folder` is a list larger than memory; then ``region``
            and ``by`` are names of columns, and messages are no Series.
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
        suppress: numbers never to text: a list, Series, frame, or the path of a file.
        ignore_unreadable_suppressions: continue even if entries of ``suppress`` or ``exclude`` cannot be read.
        exclude: people whom another campaign has. ``record(name)`` excludes everybody it may have reached
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
    call = dict(locals())
    fields = _in_files(people, call) if isinstance(people, Folder) else _in_memory(as_pandas(people), call)
    made = Plan(**fields)
    return dataclasses.replace(made, prospect=None if ledger is UNASKED else prospect_of(made, ledger))


def _in_memory(people: pd.DataFrame, call: Mapping[str, Any]) -> dict[str, Any]:
    refuse(not_frame("people", people, hint="; read_recipients(path) reads one from a file"))
    refuse(arguments.no_label(people.index), said=arguments.REFUSED)
    asked = arguments.read(people, call)
    words = arguments.words_of(asked.wording, people, asked.message, asked.keep, list(people.columns))
    numbers = phones.normalize(**asked.numbers_of(people)).reset_index(drop=True)
    left_out = suppression.left_out(call["suppress"], call["exclude"], asked.reading)
    kept = arguments.carried(people[list(asked.keep)], words)
    asked = dataclasses.replace(asked, message=arguments.as_now(asked.message))
    return assembly.assemble(arguments.MadeOf(lent(people), asked, words, numbers, left_out, kept))


def _in_files(lists: Folder, call: Mapping[str, Any]) -> dict[str, Any]:
    refuse(*arguments.not_in_files(call), said=arguments.REFUSED)
    joining.library()
    source = folder.opened(lists)
    asked = arguments.read(source.nobody(source.columns), call)
    taken = [name for name in (*asked.keep, asked.message["by"]) if name in joining.OURS]
    wrong = [f"keep=: {name!r} is a column of the plan's files; rename yours first" for name in taken]
    refuse(*wrong, said=arguments.REFUSED)
    target = folder.target_of(lists, joining.FILES)
    sample = source.sample(asked.columns, joining.BATCH)
    words = arguments.words_of(asked.wording, sample, asked.message, asked.keep, source.columns)
    evidence = phones.weigh_column(**asked.numbers_of(sample))
    asking = Asking(asked, words, source.columns, evidence)
    left_out = suppression.left_out(call["suppress"], call["exclude"], asked.reading)
    return joining.planned(source, target, asking, left_out, memory=folder.megabytes(lists.memory))
