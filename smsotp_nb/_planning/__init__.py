"""Turn recipients into a plan: who would be texted what, in which requests, at what estimated cost, and who is not.

The plan is the dry run. Nothing here opens a connection. The files, in the order of the work:

- ``folder``: a list in Parquet files, and where its plan goes
- ``arguments``: what `plan` was given, checked
- ``wording``: the messages, with their placeholders
- ``segments``: who is in which segment
- ``mistakes``: texts that would reach people with a placeholder in them, ours or another tool's
- ``signs``: signs of HTML, JSON, links, another encoding or a program in values and messages
- ``suppression``: whom to leave out
- ``consent``: whom the list itself says not to text, and numbers of nobody in particular
- ``bodies``: the message of each row, equal ones grouped, and what the ledger keeps of the words
- ``assembly``: rows to requests, in memory, and what they would cost
- ``joining``: the same for a folder, a piece at a time and then by DuckDB
- ``rows``: what a plan holds, in memory or in files
- ``value``: the plan
- ``overview``: its card
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pandas as pd

from .._calling import in_our_words, not_frame, refuse
from .._frames import AnyFrame, as_pandas
from .._ledger import LedgerOrPath
from .._pandas import lent
from .._phones import Advice
from .._policy import Policy
from .._wire import RequestOptions
from ..phones import NumberOptions
from ..recipients import read_recipients
from . import arguments, assembly, folder, joining, suppression
from . import consent as consents
from .bodies import gsm_parts
from .folder import Folder
from .joining import Asking
from .value import Plan, prospect_of, seen, to_oneself
from .wording import Column, Message, Template, Words, column

UNASKED: Final[Any] = object()  # as ``ledger=``: ask none, for plans that are made with every key


@in_our_words
def plan(
    people: AnyFrame | str | Path | Folder,
    message: Words,
    *,
    campaign: str,
    to: str | list[str] | pd.Series[Any],
    region: str | pd.Series[Any] | None = None,
    default_region: str | None = None,
    consent: str | list[str] | None = None,
    ignore_consent: str | Sequence[str] = (),
    by: str | pd.Series[Any] | None = None,
    signature: str | None = None,
    exclude: Any = None,
    keep: Sequence[str] = (),
    rates: AnyFrame | str | Path | None = None,
    policy: Policy | None = None,
    numbers: NumberOptions = NumberOptions(),
    requests: RequestOptions = RequestOptions(),
    ledger: LedgerOrPath | None = None,
) -> Plan:
    """Plan a campaign without sending anything.

    Planning checks every number, fills the text for every row, groups rows with equal messages into requests and
    estimates the cost. The result says for each row whether it is ``planned`` or ``skipped``; if it is skipped,
    ``problem`` says why. The codes are those of ``phones.normalize``, and NO_CONSENT (the note names the
    column), SHARED_NUMBER, SUPPRESSED, EXCLUDED, SEGMENT_MISSING,
    SEGMENT_UNKNOWN (the note names the segment), VALUE_MISSING, VALUE_ODD (the note names the column) and DUPLICATE_OF
    (the note names the row that is planned instead).

    Args:
        people: one row per message: a frame, which is not changed, or the path of a file, read by `read_recipients`. A
            `Folder` is a list larger than memory; then ``to``, ``region`` and ``by`` are names of columns, and messages
            are no Series.
        message: a text, in which ``{column}`` stands for that column's value and ``{{`` for a brace; a dict with a
            message for each segment; ``column("msg")`` or a Series on the same index with each row's whole message, in
            which nothing is a placeholder; a `Message`, which says how words are meant; or a `Template` that the
            service holds. Placeholders as other tools write them are refused, unless ``Message(..., literal=True)``.
        campaign: name under which the send is recorded. The same name again means the same campaign.
        to: the column with the phone numbers, or a Series on the same index. Of several columns, such as ``["mobile",
            "phone"]``, the first usable number of each row is texted; the card says how many are of which. A row of
            which a cell says no, or any of whose numbers `exclude` has, is not texted.
        region: each number's country: a column name, or a Series on the same index.
        default_region: two-letter country code for rows without a country.
        consent: the column, or columns, that must say yes of a row; of all others nobody is texted. Without it the
            columns that ask about consent or refusal are read: who says no, or a word that is neither yes nor no, is
            held (NO_CONSENT), and a blank cell is no answer. Names and notes count where they clearly say no. The card
            and `Plan.consent` name each column with its counts.
        ignore_consent: columns that were misread as consent.
        by: each row's segment, for messages by segment: a column name, or a Series on the same index. Labels are
            compared as text, without blanks around them. The column is carried into the results (that of a Series
            without a name as ``segment``).
        signature: the sender's name, 2 to 16 characters, which the service joins to the message. Required in the cn
            variant. Without one nothing is put in front of the message.
        exclude: whom not to text: numbers, a Series, a frame or the path of a file (SUPPRESSED); the record, plan or
            result table of another campaign, of which those count whom it may have reached or is about to (EXCLUDED);
            or a list of these.
        keep: your own columns to carry into the results and the ledger.
        rates: a rate table (see `rates.check`), or the path of one; the rates of today, in UTC, count.
        policy: how often a person may be texted over all campaigns, see `Policy`. Without one, nobody gets the same
            message again within three days. `send` decides it when the request leaves.
        numbers: how phone numbers are read, see `NumberOptions`; also those of ``exclude``.
        requests: how the campaign travels: variant, size of requests, threads; see `RequestOptions`.
        ledger: the Ledger, or its path, in which `send` records the plan. It is asked whom opt-outs and the policy hold
            back now, and how the plan differs from the recorded campaign of this name; the plan's card and rows
            say so. By default this user's one ledger, where there is one. Planning records nothing.

    Returns:
        The plan. Print it, or show it in a notebook, before you send it.

    Raises:
        UsageError: something is wrong with the call; the message lists everything.

    Example:
        >>> people = pd.DataFrame({"phone": ["+1 202 555 0123", "12025550123", "+1 202 555 0147"], "name": "Ann"})
        >>> made = plan(people, "Hi {name}", to="phone", default_region="US", campaign="demo")
        >>> made.rows[["to", "status", "problem"]].values.tolist()[1]
        ['+12025550123', 'skipped', 'DUPLICATE_OF']
        >>> people["language"] = ["en", "en", "de"]
        >>> words = {"de": "Hallo {name}", "en": "Hi {name}"}
        >>> plan(people, words, to="phone", default_region="US", campaign="demo", by="language").texts.tolist()
        ['Hi Ann', 'Hallo Ann']
    """
    call = dict(locals())
    if isinstance(people, str | Path):
        people = read_recipients(people)
    fields = _in_files(people, call) if isinstance(people, Folder) else _in_memory(as_pandas(people), call)
    if ledger is UNASKED:
        return Plan(**fields)
    made = Plan(**fields, _ledger=ledger)
    return dataclasses.replace(made, _prospect=prospect_of(made, ledger), _asks=True)


def _in_memory(people: pd.DataFrame, call: Mapping[str, Any]) -> dict[str, Any]:
    refuse(not_frame("people", people, hint="; read_recipients(path) reads one from a file"))
    refuse(arguments.no_label(people.index), said=arguments.REFUSED)
    asked = arguments.read(people, call)
    words = arguments.words_of(asked.wording, people, asked.message, asked.keep, list(people.columns))
    numbers, advice = asked.judged(people), Advice()
    asked.advise(advice, people, numbers)
    numbers = asked.held(advice, people, numbers)
    listed = consents.read(people, asked, call)
    numbers = consents.hold_back(numbers, listed)
    numbers, shared = consents.hold_shared(numbers, people)
    left_out = suppression.left_out(call["exclude"], asked.numbers)
    kept = arguments.carried(people[list(asked.keep)], words)
    asked = dataclasses.replace(asked, message=arguments.as_now(asked.message))
    made_of = arguments.MadeOf(
        lent(people), asked, words, numbers.reset_index(drop=True), (*advice.told(), *shared), left_out, kept, listed
    )
    return assembly.assemble(made_of)


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
    left_out = suppression.left_out(call["exclude"], asked.numbers)
    asking = Asking(asked, words, source.columns, asked.weighed(sample), left_out)
    return joining.planned(source, target, asking, memory=folder.megabytes(lists.memory))
