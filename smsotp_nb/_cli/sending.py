"""``smsotp-nb send``: a campaign from a file without anybody at the keyboard, and an exit code for its scheduler."""

from __future__ import annotations

import argparse
import contextlib
import sys
import warnings
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._outputs import outputs
from ..sandbox.command import path_typed
from ..errors import CampaignHeld, SmsOtpWarning, UsageError
from .terminal import add_ledger, add_numbers, add_reading, let_interrupts_through, reading, say, with_options

if TYPE_CHECKING:
    import pandas as pd

    from .._cards import Card
    from .._ledger import Ledger
    from .._planning import Plan

REFUSED = 2
AGAIN = 3
IN_DOUBT = 4
CODES = (
    "Exit codes: 0 nobody is left to be texted; 2 an option, a file, a setting or a ledger that cannot be used; 3 not "
    "complete: the same command goes on later, and texts nobody twice; 4 complete but for rows in doubt, which "
    "somebody has to look at."
)


def describe(send: argparse.ArgumentParser) -> None:
    send.epilog = CODES
    add = send.add_argument
    add("file", type=path_typed, help="the recipients: CSV, Excel or Parquet")
    add("message", help="the words, with columns in braces: 'Hi {name|there}, ...'")
    add("--campaign", required=True, metavar="NAME", help="name under which the ledger records who was texted")
    add("--to", required=True, action="append", metavar="COLUMN", help="column of the numbers; may be repeated")
    add_numbers(send)
    add("--language", metavar="TAG", help="in which numbers and dates are written, such as de or pt-BR (default: en)")
    add("--currency", metavar="CODE", help="of the amounts that {column:money} writes, such as EUR")
    add("--signature", metavar="TEXT", help="who signs the message")
    add(
        "--leave-out", type=path_typed, action="append", default=[], metavar="FILE",
        help="people who are not texted; may be repeated",
    )  # fmt: skip
    add("--rates", type=path_typed, metavar="FILE", help="prices by country, for the estimate and the budget")
    add("--keep", action="append", default=[], metavar="COLUMN", help="column that the results keep; may be repeated")
    add(
        "--budget", action="append", default=[], metavar="CURRENCY=AMOUNT",
        help="upper limit of the cost, such as USD=50, earlier runs included; one for each currency",
    )  # fmt: skip
    add("--per-second", type=float, metavar="N", help="upper limit of recipients a second")
    add("--quiet-hours", nargs=2, metavar=("FROM", "TO"), help="when nobody is texted, by their clock: 21:00 08:00")
    add("--first", type=int, metavar="N", help="text this many recipients first, earlier runs included")
    add("--out", type=path_typed, metavar="FILE", help="write the results: .csv, .xlsx, .parquet")
    add("--force", action="store_true", help="replace an existing file of results")
    add("--sandbox", action="store_true", help="rehearse against a sandbox beside the ledger: nobody is texted")
    add("--yes", action="store_true", help="send; without it, the command shows the plan and sends nothing")
    add_reading(send)
    add_ledger(send)
    send.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Plan; with ``--yes`` send, write the results, and say by the exit code what is left to do."""
    from .._dispatch import Limits, preflight, send
    from .._ledger import opened
    from .._planning import overview, plan
    from .._results import files
    from ..phones import Reading
    from ..recipients import read_recipients

    let_interrupts_through()
    limits = Limits(
        budget=_budget(options.budget), per_second=options.per_second, quiet_hours=options.quiet_hours,
        first=options.first,
    )  # fmt: skip
    out = [] if options.out is None else [options.out]
    inputs = [path for path in (options.file, options.rates, *options.leave_out) if path is not None]
    with opened(options.ledger, begin=True) as ledger:
        made = plan(
            read_recipients(options.file, **reading(options)), _message(options), campaign=options.campaign,
            to=options.to[0] if len(options.to) == 1 else options.to, region=options.region,
            default_region=options.default_region, signature=options.signature,
            leave_out=options.leave_out or None, rates=options.rates, keep=options.keep, ledger=ledger,
            reading=Reading(repair=options.repair),
        )  # fmt: skip
        with _client(options, ledger) as client:
            if not options.yes:
                return _dry_run(made, preflight(made, client, limits=limits, ledger=ledger), options)
            for note in overview.left_out(made.left_out):
                if note.sign == "!":  # a list that matches nobody
                    warnings.warn(note.text, SmsOtpWarning, stacklevel=1)
            try:
                # What cannot be written is told before anybody is texted.
                with outputs(*out, inputs=inputs, overwrite=options.force) as opened_files:
                    for file in opened_files:
                        files.as_bytes(made.rows.head(0), file.path.name)
                    results = send(made, client, limits=limits, ledger=ledger, progress=sys.stderr.isatty())
                    for file in opened_files:
                        file.file.write(files.as_bytes(results, file.path.name))
            except CampaignHeld as held:
                say(f"smsotp-nb: {held}", hang="  ", error=True)
                return AGAIN
    for path in out:
        say(f"Results written to {path}.")
    return _said(results)


def _message(options: argparse.Namespace) -> Any:
    """Return the words, with the language and currency of their values where they were given."""
    from .._planning import Message

    if "\\n" in options.message:
        raise UsageError("the message has \\n as two signs: write a line break itself, in most shells as $'Hi\\nBye'")
    given = {name: value for name in ("language", "currency") if (value := getattr(options, name)) is not None}
    return Message(options.message, **given) if given else options.message


def _dry_run(plan: Plan, ready: Card, options: argparse.Namespace) -> int:
    """Print what a send would do, and return the exit code: 2 where it would refuse the limits."""
    from .._cards import Note

    told = with_options(str(_ahead(plan, ready)), options)
    print(told.replace("plan.problems has", "the file of --out has"))
    return REFUSED if any(isinstance(block, Note) and block.sign == "cross" for block in ready.blocks) else 0


def _ahead(plan: Plan, ready: Card) -> Card:
    """Show on one card what a send would do now and, below it, what the plan says of costs, texts and the list."""
    from .._cards import Block, Card, Figures, Table
    from .._planning import overview

    (free, *others), now, below, title = plan.card().blocks, ready.blocks[0], list[Block](), ""
    if isinstance(now, Figures) and isinstance(free, Figures) and now.pairs[0] != free.pairs[0]:
        title = f"All {free.pairs[0][1]:,} to go without these limits"
    for block in others:
        if block in ready.blocks or (isinstance(block, Table) and block.columns == overview.FATES):
            continue
        if isinstance(block, Table) and title:
            block = replace(block, title=title)
        below.append(block)
    return Card(ready.title, ready.state, (*ready.blocks, *below), f"{ready.closing} --yes sends what goes now.")


@contextlib.contextmanager
def _client(options: argparse.Namespace, ledger: Ledger) -> Any:
    """Connect to the service of the settings, or to a sandbox that stays with the ledger."""
    from .._client import Client
    from ..sandbox import Sandbox
    from ..settings import Settings

    if not options.sandbox:
        with Client(Settings.from_env()) as client:
            yield client
        return
    if not isinstance(ledger.path, Path):
        raise UsageError("--sandbox: the ledger is on a server; rehearse with --ledger and the path of a file")
    with Sandbox(state=ledger.path.with_name(ledger.path.name + "-sandbox")) as box, box.client() as client:
        yield client


def _budget(given: list[str]) -> dict[str, Decimal] | None:
    """Read amounts such as USD=50."""
    amounts = {}
    for one in given:
        currency, is_pair, amount = one.partition("=")
        try:
            amounts[currency.strip().upper()] = Decimal(amount.strip())
        except InvalidOperation:
            is_pair = ""
        if not is_pair:
            raise UsageError(f"--budget {one!r}: write a currency and an amount, such as USD=50")
    return amounts or None


def _said(results: pd.DataFrame) -> int:
    """Print how the campaign stands and return the exit code."""
    from .._ledger import state_line

    counts = {str(state): int(rows) for state, rows in results["status"].value_counts().items()}
    say(f"{results['campaign'].iloc[0] if len(results) else 'Nobody'}: {state_line(counts)}, "
        f"{counts.get('skipped', 0):,} left out")  # fmt: skip
    if counts.get("planned"):
        return AGAIN
    return IN_DOUBT if counts.get("in_doubt") else 0
