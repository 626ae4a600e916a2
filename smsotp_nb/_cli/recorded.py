"""``smsotp-nb people`` and ``smsotp-nb campaigns``: what is recorded, and decisions about people."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from typing import TYPE_CHECKING, Any

from .._cards import Card, Table, counted
from ..sandbox.command import path_typed
from .._services import shown as service_shown
from .._wire import mask
from ..errors import UsageError
from .terminal import add_ledger, add_reading, let_interrupts_through, reading, say

if TYPE_CHECKING:
    import pandas as pd

    from .._people import People

_ROW = "row "  # begins what an import says of a row that it cannot read


def describe_people(people: argparse.ArgumentParser) -> None:
    commands = people.add_subparsers(required=True, metavar="COMMAND")
    for name, what in (("opt-out", "do not want to be texted any more"), ("opt-in", "agreed to be texted")):
        command = commands.add_parser(name, help=f"record that people {what}")
        _describe_numbers(command, several=True)
        command.add_argument("--source", required=True, metavar="TEXT", help="how it came, such as 'phone call'")
        command.add_argument("--proof", metavar="TEXT", help="what shows it, such as the number of a letter")
        command.add_argument(
            "--at", metavar="TIME", help="when it was said, such as '2026-11-12 09:30+01:00' (default: now)"
        )
        command.set_defaults(run=_say, opted_out=(name == "opt-out"))
    _describe_import(commands.add_parser("import", help="record a list of opt-outs, or of opt-ins"))
    history = commands.add_parser("history", help="show what was sent to a person, and what was held back")
    export = commands.add_parser("export", help="write all that is stored about a person, who asks for it, as JSON")
    forget = commands.add_parser("forget", help="delete what is stored about people; they stay opted out")
    for command, run in ((history, _history), (export, _export), (forget, _forget)):
        _describe_numbers(command, several=command is forget)
        command.set_defaults(run=run)
    export.add_argument("file", type=path_typed, metavar="FILE", help="file to write")
    export.add_argument("--force", action="store_true", help="replace an existing file")
    forget.add_argument("--yes", action="store_true", help="delete; without it, the command only says how much")


def _describe_numbers(command: argparse.ArgumentParser, *, several: bool) -> None:
    if several:
        command.add_argument("numbers", nargs="+", metavar="NUMBER", help="a phone number, or several")
    else:
        command.add_argument("number", metavar="NUMBER", help="the phone number")
    command.add_argument("--default-region", metavar="CC", help="country of numbers without a calling code, such as DE")
    add_ledger(command)


def _describe_import(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("file", type=path_typed, help="CSV, Excel or Parquet")
    add("--column", required=True, metavar="COLUMN", help="column of the numbers")
    add("--source", required=True, metavar="TEXT", help="who the list is from, such as the provider's name")
    add("--opt-ins", action="store_true", help="the list holds opt-ins (default: opt-outs)")
    add("--at", metavar="COLUMN", help="column of the time at which each was said (default for opt-outs: now)")
    add("--zone", metavar="ZONE", help="zone of times that have none, such as Europe/Berlin")
    order = "whether 03/10/2026 is 3 October or, with --no-dayfirst, 10 March (default: as a cell tells)"
    add("--dayfirst", action=argparse.BooleanOptionalAction, default=None, help=order)
    add("--format", metavar="FORMAT", help="format of the times, such as %%y%%m%%d; excel for a spreadsheet's numbers")
    add("--proof", metavar="COLUMN", help="column of what shows it")
    add("--region", metavar="COLUMN", help="column of each number's country")
    add("--default-region", metavar="CC", help="country of the numbers without one, such as DE")
    add_reading(command)
    add("--ignore-unreadable", action="store_true", help="record the others although some rows cannot be read")
    add_ledger(command)
    command.set_defaults(run=_import)


def _register(options: argparse.Namespace) -> People:
    from .._people import People

    return People(options.ledger)


def _say(options: argparse.Namespace) -> int:
    people = _register(options)
    say = people.opt_out if options.opted_out else people.opt_in
    new = say(
        options.numbers,
        source=options.source,
        proof=options.proof,
        at=options.at,
        default_region=options.default_region,
    )
    _tell_recorded(new, len(options.numbers), opted_out=options.opted_out)
    return 0


def _import(options: argparse.Namespace) -> int:
    from ..phones import Reading
    from ..recipients import read_recipients

    let_interrupts_through()
    people = _register(options)
    rows = read_recipients(options.file, **(reading(options) | {"hidden": True}))  # a hidden no is a no
    record = people.import_optins if options.opt_ins else people.import_optouts
    names = (
        *("column", "source", "at", "zone", "dayfirst", "format"),
        *("proof", "region", "default_region"),
    )
    how: dict[str, Any] = {name: getattr(options, name) for name in names}
    how["reading"] = Reading(unreadable="ignore" if options.ignore_unreadable else "refuse")
    try:
        new = record(rows, **how)
    except UsageError as error:
        _refuse_unreadable(error)
        raise
    _tell_recorded(new, new.read, opted_out=not options.opt_ins, known=new.matched, unreadable=new.unreadable)
    if new.first_day and new.last_day:
        from .._dates import spanned

        print(f"The list has entries {spanned((new.first_day, new.last_day))}.", file=sys.stderr)
    return 0


def _refuse_unreadable(error: UsageError) -> None:
    rows = [problem for problem in error.problems if problem.startswith(_ROW)]
    if rows:
        print("\n".join(rows), file=sys.stderr)
        raise UsageError(
            f"{counted(len({row.partition(':')[0] for row in rows}), 'row')} cannot be read, so nothing was recorded; "
            "correct the list, name --default-region or --zone, or record the others with --ignore-unreadable"
        ) from None


def _tell_recorded(new: int, given: int, *, opted_out: bool, known: int = 0, unreadable: int = 0) -> None:
    what = "opt-out" if opted_out else "opt-in"
    before = f"; {counted(known, 'person', 'people')} known before" if known else ""
    unread = f"; {counted(unreadable, 'row')} cannot be read in full" if unreadable else ""
    say(f"{counted(int(new), f'new {what}')} recorded, of {counted(given, 'entry', 'entries')}{before}{unread}.")


def _history(options: argparse.Namespace) -> int:
    people = _register(options)
    rows = people.history(options.number, default_region=options.default_region)
    out = people.is_opted_out(options.number, default_region=options.default_region)
    state = f"{'Opted out' if out else 'Not opted out'}. {counted(len(rows), 'message')} recorded."
    print(Card(f"Person: {mask(options.number)}", state, (_messages(rows),) if len(rows) else ()))
    return 0


def _messages(rows: pd.DataFrame) -> Table:
    named = {
        "campaign": "Campaign",
        "service": "Service",
        "at": "At, UTC",
        "status": "Status",
        "problem": "Held by",
        "not_before": "Until, UTC",
    }
    names = [name for name in named if rows[name].notna().any()]
    shown = rows[names].copy()
    shown["service"] = [service_shown(one) for one in shown["service"]]
    shown["status"] = shown["status"].str.replace("_", " ")
    for name in {"at", "not_before"} & {*names}:
        shown[name] = shown[name].dt.strftime("%Y-%m-%d %H:%M")
    cells = shown.astype(object).where(shown.notna(), "")
    return Table(tuple(named[name] for name in names), tuple(map(tuple, cells.to_numpy().tolist())))


def _export(options: argparse.Namespace) -> int:
    people = _register(options)
    region = options.default_region
    path = people.export(options.number, options.file, default_region=region, overwrite=options.force)
    say(f"What is stored about {mask(options.number)} is written to {path}.")
    return 0


def _forget(options: argparse.Namespace) -> int:
    people, region = _register(options), options.default_region
    if not options.yes:
        rows = sum(len(people.history(number, default_region=region)) for number in options.numbers)
        raise UsageError(
            f"{counted(rows, 'row')} of campaigns, and the opt-outs and opt-ins of "
            f"{counted(len(options.numbers), 'number')} would be deleted for good; with --yes they are"
        )
    gone = people.forget(options.numbers, default_region=region)
    say(f"Forgotten: {counted(gone, 'row')} of campaigns without a name now. They stay opted out.")
    return 0


def describe_campaigns(campaigns: argparse.ArgumentParser) -> None:
    campaigns.add_argument("name", nargs="?", metavar="NAME", help="the campaign to show (default: list them all)")
    campaigns.add_argument(
        "--service",
        metavar="ID",
        help="whose, where several services have one of that name (default: the live one, or the latest rehearsal)",
    )
    add_ledger(campaigns)
    campaigns.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the card of the ledger, or of one campaign."""
    from .._ledger import opened

    with opened(options.ledger) as ledger:
        if options.name is not None:
            print(ledger.record(options.name, service=options.service).card())
            return 0
        card = ledger.card()
        print(dataclasses.replace(card, closing=card.closing and "Next: smsotp-nb campaigns NAME shows one."))
    return 0
