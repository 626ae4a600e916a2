"""``smsotp-nb demo`` and ``smsotp-nb notebooks``: what comes with the package."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from .._cards import counted, terminal_width
from .._outputs import outputs
from ..sandbox.command import path_typed
from ..errors import UsageError
from ..settings import data_folder, ledger_place
from .terminal import say

if TYPE_CHECKING:
    import pandas as pd

    from .._ledger import Ledger

SHIPPED = ("notebooks", "sample_data")


def describe_notebooks(written: argparse.ArgumentParser) -> None:
    written.add_argument("folder", type=path_typed, metavar="DIR", help="gets two folders: notebooks and sample_data")
    written.add_argument("--force", action="store_true", help="replace files that are there already")
    written.set_defaults(run=write_notebooks)


def write_notebooks(options: argparse.Namespace) -> int:
    """Write the notebooks and their data as two folders, so that each finds its data; both whole or not at all."""
    sources = [
        path
        for name in SHIPPED
        for path in sorted(folder_of(name).iterdir())
        if path.suffix in (".ipynb", ".csv", ".py")
    ]
    targets = [options.folder / path.parent.name / path.name for path in sources]
    for folder in {target.parent for target in targets}:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"the folder {folder} cannot be created: {error.strerror}") from None
    with outputs(*targets, inputs=sources, overwrite=options.force) as files:
        for source, file in zip(sources, files, strict=True):
            file.file.write(source.read_bytes())
    for name in SHIPPED:
        print(f"{sum(target.parent.name == name for target in targets)} files written to {options.folder / name}")
    print(f"Open them: jupyter lab {options.folder / 'notebooks' / 'campaign.ipynb'}")
    print('What they need comes with: pip install "smsotp_nb[notebook,excel,statistics]"')
    return 0


def folder_of(name: str) -> Path:
    """Return a folder that an installed package carries in itself, and a checkout beside it."""
    package = Path(__file__).parent.parent
    installed = package / "_data" / name
    return installed if installed.is_dir() else package.parent / name


DEMO_CAMPAIGN = "autumn-sale"
DEMO_MESSAGE = "Hi {name}, 20% off until Sunday."


def describe(demo: argparse.ArgumentParser) -> None:
    demo.add_argument("--ledger", type=path_typed, help="file of the campaign record (default: this user's own)")
    demo.add_argument("--service", metavar="URL", help="a sandbox in another process (default: one of its own)")
    demo.add_argument("--data", type=path_typed, help="folder of the sample data")
    demo.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Plan, send and cost the sample campaign."""
    from .._dispatch import send
    from .._ledger import Ledger
    from .._planning import plan
    from ..sandbox import Sandbox
    from ..recipients import read_recipients

    data = options.data or folder_of("sample_data")
    if not (data / "recipients.csv").is_file():
        raise UsageError(f"no recipients.csv in {data}; name the folder with --data")
    ledger = Ledger(options.ledger or _file(), create=True)
    if options.service:
        box = Sandbox.at(options.service)
    else:
        box = Sandbox(state=ledger.path.with_name(ledger.path.name + "-demo-sandbox"))
    with box, ledger, box.client() as client:
        people = read_recipients(data / "recipients.csv")
        made = plan(
            people,
            DEMO_MESSAGE,
            to="phone",
            region="country",
            default_region="DE",
            campaign=DEMO_CAMPAIGN,
            signature="Acme",
            leave_out=data / "suppression.csv",
            rates=data / "rates.csv",
            keep=[name for name in ("segment",) if name in people.columns],
        )
        size = f"{counted(len(people), 'row')}, {counted(len(people.columns), 'column')}"
        say(f"List    {data / 'recipients.csv'}: {size}", hang=" " * 8)
        say(f"Sandbox {box.url}: nothing leaves this machine", hang=" " * 8)
        say(f"Ledger  {ledger.path}{' (new)' if ledger.created else ''}\n", hang=" " * 8)
        print(made, "\n")
        before = len(box.inbox)
        table = send(made, client, ledger=ledger)
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
        say(f"Rows in doubt are never sent again automatically: record({DEMO_CAMPAIGN!r}).in_doubt shows the evidence.")


def _file() -> Path:
    """Return this user's ledger; where that is a team's, on a server, the file beside it: a demo is nobody else's."""
    place = ledger_place()
    return place if isinstance(place, Path) else data_folder() / "ledger.sqlite"
