"""``smsotp-nb demo``: a campaign of sample data, planned, sent to a sandbox and costed."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from .._cards import counted, terminal_width
from .._sandbox.command import path_typed
from ..errors import LedgerOlder, UsageError
from ..settings import data_folder, ledger_place
from .saying import say
from .shipped import folder_of

if TYPE_CHECKING:
    import pandas as pd

    from .._ledger import Ledger

DEMO_CAMPAIGN = "autumn-sale"
DEMO_CONTENT = "Hi {name}, 20% off until Sunday."


def describe(demo: argparse.ArgumentParser) -> None:
    """Add every option of the command."""
    demo.add_argument("--ledger", type=path_typed, help="file of the campaign record (default: this user's own)")
    demo.add_argument(
        "--accept-older", action="store_true", help="use the ledger although more was seen in it, or it was deleted"
    )
    demo.add_argument("--service", metavar="URL", help="a sandbox in another process (default: one of its own)")
    demo.add_argument("--data", type=path_typed, help="folder of the sample data")
    demo.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Plan, send and cost the sample campaign."""
    from .._dispatch import send
    from .._ledger import Ledger
    from .._planning import plan
    from .._sandbox import Sandbox
    from ..recipients import read_recipients

    data = _sample_data(options.data)
    try:
        ledger = Ledger(options.ledger or _file(), create=True, accept_older=options.accept_older)
    except LedgerOlder as older:
        step = "Where only this demo was recorded, which texts nobody, run it with --accept-older"
        raise LedgerOlder(f"{older}. {step}", recipients=older.recipients) from None
    if options.service:
        box = Sandbox.at(options.service)
    else:
        box = Sandbox(state=ledger.path.with_name(ledger.path.name + "-demo-sandbox"))
    with box, ledger, box.client() as client:
        people = read_recipients(data / "recipients.csv")
        made = plan(
            people,
            to="phone",
            region="country",
            default_region="DE",
            campaign=DEMO_CAMPAIGN,
            content=DEMO_CONTENT,
            signature="Acme",
            suppress=data / "suppression.csv",
            rates=data / "rates.csv",
            keep=[name for name in ("segment",) if name in people.columns],
        )
        size = f"{counted(len(people), 'row')}, {counted(len(people.columns), 'column')}"
        say(f"List    {data / 'recipients.csv'}: {size}", hang=" " * 8)
        say(f"Sandbox {box.url}: nothing leaves this machine", hang=" " * 8)
        say(f"Ledger  {ledger.path}{' (new)' if ledger.created else ''}\n", hang=" " * 8)
        print(made, "\n")
        before = len(box.inbox)
        table = send(made, client=client, ledger=ledger)
        new = len(box.inbox) - before
        _print_results(table, new, ledger)
    return 0


def _print_results(table: pd.DataFrame, new: int, ledger: Ledger) -> None:
    import pandas as pd

    from .. import cost
    from .._ledger import state_line

    counts = {str(state): int(rows) for state, rows in table["status"].value_counts().items()}
    say(f"\nResults: {state_line(counts)}, {counts.get('skipped', 0):,} left out")
    say(f"Accepted by this run: {new:,}\n")
    shown = table.loc[table["status"].eq("accepted"), ["to", "status", "id", "iso", "cc", "parts", "price", "currency"]]
    with pd.option_context("display.width", terminal_width(), "display.max_columns", 0):
        print(shown.head(5), "\n")
    print(cost.card(table))
    say(f"\nRun it again: the record in {ledger.path} ensures that nobody is texted twice.")
    if counts.get("in_doubt"):
        say(
            "Rows in doubt are never sent again automatically: "
            f"Ledger().campaign({DEMO_CAMPAIGN!r}).in_doubt shows the evidence."
        )


def _file() -> Path:
    """Return this user's ledger; where that is a team's, on a server, the file beside it: a demo is nobody else's."""
    place = ledger_place()
    return place if isinstance(place, Path) else data_folder() / "ledger.sqlite"


def _sample_data(given: Path | None) -> Path:
    place = given or folder_of("sample_data")
    if not (place / "recipients.csv").is_file():
        raise UsageError(f"no recipients.csv in {place}; name the folder with --data")
    return place
