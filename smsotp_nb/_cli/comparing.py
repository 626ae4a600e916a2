"""``smsotp-nb contract``: whether the live service does what the sandbox does where the interface is silent."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from .._cards import counted
from .._sandbox.command import path_typed
from ..errors import UsageError
from ..settings import Settings
from .saying import say

if TYPE_CHECKING:
    from .._sandbox import contract


def describe(told: argparse.ArgumentParser) -> None:
    """Add every option of the command."""
    told.add_argument("--to", metavar="NUMBER", help="a phone of yours that gets the messages, E.164")
    told.add_argument("--cap", metavar="AMOUNT", help="most that the run may cost, in the account's currency")
    told.add_argument("--part", metavar="AMOUNT", help="most that one part to this phone costs")
    told.add_argument("--signature", default="Acme", help="the sender's name where one is required")
    told.add_argument("--template", metavar="ID:VARIABLE", help="a template of yours with one variable")
    told.add_argument("--record", type=path_typed, metavar="FILE", help="record what the service did")
    told.add_argument("--against", type=path_typed, metavar="FILE", help="check an earlier record; nothing is sent")
    told.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Compare the sandbox with an earlier record, or with the service of the environment; 1 where they differ."""
    from .._sandbox import contract

    if options.against is not None:
        record = contract.Record.load(options.against)
    else:
        record = _recorded(options)
    rows = contract.compare(record)
    print(contract.as_table(rows))
    told = ", ".join(f"{count} {finding}" for finding, count in contract.counts(rows).items())
    run = f"The run cost {record.spent} in {counted(record.requests, 'request')}."
    say(f"\n{counted(len(rows), 'row')}: {told}. {run}")
    return int(any(row.finding == "differs" for row in rows))


def _recorded(options: argparse.Namespace) -> contract.Record:
    from .._sandbox import contract

    missing = [f"--{name}" for name in ("to", "cap", "part") if getattr(options, name) is None]
    if missing:
        raise UsageError(
            f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing: the run sends billed messages to "
            "a phone of yours, up to a cap. "
            "--against FILE checks an earlier record and sends nothing."
        )
    template = options.template.partition(":")[::2] if options.template else None
    record = contract.of_service(
        Settings.from_env(),
        to=options.to,
        cap=options.cap,
        part=options.part,
        signature=options.signature,
        template=template,
        progress=lambda line: print(line, file=sys.stderr),
    )
    if options.record is not None:
        record.save(options.record)
    return record
