"""``smsotp-nb`` on a terminal: demo, notebooks, sandbox, clean. Every line that a person reads is printed here."""

from __future__ import annotations

import argparse
import io
import itertools
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from . import __version__
from ._cards import counted, fitted, terminal_width
from ._outputs import outputs
from ._sandbox import command
from ._sandbox.command import path_typed
from .errors import FileExists, LedgerOlder, SmsOtpError, UsageError
from .settings import Settings, ledger_path

if TYPE_CHECKING:
    import pandas as pd

    from . import phones
    from ._ledger import Ledger
    from ._sandbox import contract

# What a command needs is imported by it: the sandbox starts without pandas, also where that is not installed.

SHIPPED = ("notebooks", "sample_data")
DEMO_CAMPAIGN = "autumn-sale"
DEMO_CONTENT = "Hi {name}, 20 % off until Sunday."
USUAL = 2


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 done, 2 for a call or a file that cannot be used.

    Example:
        >>> main(["clean", "no-such-file.csv"])
        2
    """
    options = parser().parse_args(argv)
    _write_any_sign()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = _show_warning
            code: int = options.run(options)
    except SmsOtpError as error:
        _say(f"smsotp-nb: {_with_options(str(error), options)}", hang="  ", error=True)
        return USUAL
    except KeyboardInterrupt as interrupt:
        print(f"smsotp-nb: {interrupt or 'interrupted'}", file=sys.stderr)
        return 130
    return code


def parser() -> argparse.ArgumentParser:
    """Return the command line as argparse has it."""
    made = argparse.ArgumentParser(
        prog="smsotp-nb",
        description="SMS campaigns and one-time passcodes from a table; nobody is texted twice. "
        "Begin with: smsotp-nb demo",
    )
    made.add_argument("--version", action="version", version=f"smsotp-nb {__version__}")
    commands = made.add_subparsers(required=True, metavar="COMMAND")
    _describe_demo(
        commands.add_parser(
            "demo", help="run a campaign from sample data against a sandbox; nothing leaves this machine"
        )
    )
    sandbox = commands.add_parser("sandbox", help="run a local service that answers the interface, until Ctrl-C")
    command.describe(sandbox)
    sandbox.set_defaults(run=command.run)
    _describe_contract(
        commands.add_parser(
            "contract", help="say for each choice of the sandbox whether the live service agrees; sends billed messages"
        )
    )
    _describe_notebooks(
        commands.add_parser("notebooks", help="write the example notebooks and their sample data to a folder")
    )
    _describe_clean(commands.add_parser("clean", help="normalize the phone numbers of a list to E.164"))
    return made


def _describe_demo(demo: argparse.ArgumentParser) -> None:
    demo.add_argument("--ledger", type=path_typed, help="file of the campaign record (default: this user's ledger)")
    demo.add_argument(
        "--accept-older", action="store_true", help="use the ledger although more was seen in it, or it was deleted"
    )
    demo.add_argument("--service", metavar="URL", help="a sandbox in another process (default: one of its own)")
    demo.add_argument("--data", type=path_typed, help="folder of the sample data")
    demo.set_defaults(run=_demo)


def _describe_contract(told: argparse.ArgumentParser) -> None:
    told.add_argument("--to", metavar="NUMBER", help="a phone of yours that gets the messages, E.164")
    told.add_argument("--cap", metavar="AMOUNT", help="most that the run may cost, in the account's currency")
    told.add_argument("--part", metavar="AMOUNT", help="most that one part to this phone costs")
    told.add_argument("--signature", default="Acme", help="the sender's name where one is required")
    told.add_argument("--template", metavar="ID:VARIABLE", help="a template of yours with one variable")
    told.add_argument("--record", type=path_typed, metavar="FILE", help="record what the service did")
    told.add_argument("--against", type=path_typed, metavar="FILE", help="check an earlier record; nothing is sent")
    told.set_defaults(run=_contract)


def _describe_notebooks(written: argparse.ArgumentParser) -> None:
    written.add_argument("folder", type=path_typed, metavar="DIR", help="gets two folders: notebooks and sample_data")
    written.add_argument("--force", action="store_true", help="replace files that are there already")
    written.set_defaults(run=_notebooks)


def _describe_clean(clean: argparse.ArgumentParser) -> None:
    clean.add_argument("file", type=path_typed, help="CSV, Excel or Parquet")
    clean.add_argument("--phone", metavar="COLUMN", help="column of the numbers (default: found by content)")
    clean.add_argument("--region", metavar="COLUMN", help="column of each number's country")
    clean.add_argument("--default-region", metavar="CC", help="country of the numbers without one, such as DE")
    clean.add_argument(
        "--repair",
        action="append",
        default=[],
        metavar="NAME",
        help="a repair made only when asked for: lost_plus, ...",
    )
    clean.add_argument("--sheet", metavar="NAME", help="sheet of an Excel file (default: the first)")
    clean.add_argument("--encoding", metavar="NAME", help="encoding of a CSV (default: UTF-8, else found by content)")
    clean.add_argument(
        "--out", type=path_typed, metavar="FILE", help="write the list with the new columns: .csv, .tsv, .xlsx"
    )
    clean.add_argument(
        "--unusable",
        type=path_typed,
        metavar="FILE",
        help="write the rows without a usable number, with their row in the list and the reason",
    )
    clean.add_argument("--force", action="store_true", help="replace existing files, but never the list")
    clean.set_defaults(run=_clean)


def _demo(options: argparse.Namespace) -> int:
    from ._dispatch import send
    from ._ledger import Ledger
    from ._planning import plan
    from ._sandbox import Sandbox
    from .recipients import read_recipients

    data = _sample_data(options.data)
    try:
        ledger = Ledger(options.ledger or ledger_path(), create=True, accept_older=options.accept_older)
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
        _say(f"List    {data / 'recipients.csv'}: {size}", hang=" " * 8)
        _say(f"Sandbox {box.url}: nothing leaves this machine", hang=" " * 8)
        _say(f"Ledger  {ledger.path}{' (new)' if ledger.created else ''}\n", hang=" " * 8)
        print(made, "\n")
        before = len(box.inbox)
        table = send(made, client=client, ledger=ledger)
        new = len(box.inbox) - before
        _print_results(table, new, ledger)
    return 0


def _print_results(table: pd.DataFrame, new: int, ledger: Ledger) -> None:
    import pandas as pd

    from . import cost
    from ._ledger import state_line

    counts = {str(state): int(rows) for state, rows in table["status"].value_counts().items()}
    _say(f"\nResults: {state_line(counts)}, {counts.get('skipped', 0):,} left out")
    _say(f"Accepted by this run: {new:,}\n")
    shown = table.loc[table["status"].eq("accepted"), ["to", "status", "id", "iso", "cc", "parts", "price", "currency"]]
    with pd.option_context("display.width", terminal_width(), "display.max_columns", 0):
        print(shown.head(5), "\n")
    print(cost.card(table))
    _say(f"\nRun it again: the record in {ledger.path} ensures that nobody is texted twice.")
    if counts.get("in_doubt"):
        _say(
            "Rows in doubt are never sent again automatically: "
            f"Ledger().campaign({DEMO_CAMPAIGN!r}).in_doubt shows the evidence."
        )


def _contract(options: argparse.Namespace) -> int:
    """Compare the sandbox with an earlier record, or with the service of the environment; 1 where they differ."""
    from ._sandbox import contract

    if options.against is not None:
        record = contract.Record.load(options.against)
    else:
        record = _recorded(options)
    rows = contract.compare(record)
    print(contract.as_table(rows))
    told = ", ".join(f"{count} {finding}" for finding, count in contract.counts(rows).items())
    run = f"The run cost {record.spent} in {counted(record.requests, 'request')}."
    _say(f"\n{counted(len(rows), 'row')}: {told}. {run}")
    return int(any(row.finding == "differs" for row in rows))


def _recorded(options: argparse.Namespace) -> contract.Record:
    from ._sandbox import contract

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


def _clean(options: argparse.Namespace) -> int:
    """Stream the list into its files, so that its size does not matter; they appear when all of it is judged."""
    from . import phones
    from ._results import streaming

    paths = [path for path in (options.out, options.unusable) if path is not None]
    tally = phones.Tally()
    try:
        with streaming.growing(*paths, inputs=[options.file], overwrite=options.force) as tables:
            written = dict(zip(paths, tables, strict=True))
            for cleaned in _cleaned(options, tally):
                for path, rows in ((options.out, cleaned.rows), (options.unusable, cleaned.unusable)):
                    if path is not None:
                        written[path].add(rows)
    except FileExists as error:
        raise UsageError(f"{error.path} already exists; --force replaces it") from None
    print(tally.report())
    for table in tables:
        _say(f"{counted(table.rows, 'row')} written to {table.path}")
    return 0


def _cleaned(options: argparse.Namespace, tally: phones.Tally) -> Iterator[phones.Cleaned]:
    """Judge the list chunk by chunk; its columns are found in the first one."""
    from . import phones
    from .recipients import read_chunks

    chunks = read_chunks(options.file, sheet=options.sheet, encoding=options.encoding, numbered=True)
    first = next(chunks)
    phone, region = options.phone, options.region
    if phone is None:
        found = phones.find_columns(first, default_region=options.default_region)
        phone, region = found.phone, region or found.region
        if phone is None:
            raise UsageError(
                f"no column of {options.file} reads like phone numbers; name it with --phone, and the country of "
                "numbers without a calling code with --default-region"
            )
    cleaned = phones.clean_chunks(
        itertools.chain([first], chunks),
        phone=phone,
        region=region,
        default_region=options.default_region,
        repair=options.repair,
        tally=tally,
    )
    begun = next(cleaned)  # columns and repairs are known to be right
    where = f"{options.file}{_sheet_read(options)}"
    _say(f"{where}: numbers in column {phone!r}, countries in {f'column {region!r}' if region else 'none'}\n")
    yield begun
    yield from cleaned


def _sheet_read(options: argparse.Namespace) -> str:
    """Say which sheet of several is read: the others may hold people too."""
    from .recipients import sheets

    names = sheets(options.file)
    if len(names) < 2:
        return ""
    return f", sheet {options.sheet or names[0]!r} of {len(names)} (--sheet names another)"


def _sample_data(given: Path | None) -> Path:
    place = given or _shipped("sample_data")
    if not (place / "recipients.csv").is_file():
        raise UsageError(f"no recipients.csv in {place}; name the folder with --data")
    return place


def _shipped(name: str) -> Path:
    """Return a folder that an installed package carries in itself, and a checkout beside it."""
    package = Path(__file__).parent
    installed = package / "_data" / name
    return installed if installed.is_dir() else package.parent / name


def _notebooks(options: argparse.Namespace) -> int:
    """Write the notebooks and their data as two folders, so that each finds its data; both whole or not at all."""
    sources = [
        path for name in SHIPPED for path in sorted(_shipped(name).iterdir()) if path.suffix in (".ipynb", ".csv")
    ]
    targets = [options.folder / path.parent.name / path.name for path in sources]
    for folder in {target.parent for target in targets}:
        _make_folder(folder)
    try:
        with outputs(*targets, inputs=sources, overwrite=options.force) as files:
            for source, file in zip(sources, files, strict=True):
                file.file.write(source.read_bytes())
    except FileExists as error:
        raise UsageError(f"{error.path} exists; --force replaces it") from None
    for name in SHIPPED:
        print(f"{sum(target.parent.name == name for target in targets)} files written to {options.folder / name}")
    print(f"Open them: jupyter lab {options.folder / 'notebooks' / 'campaign.ipynb'}")
    print('JupyterLab comes with: pip install "smsotp_nb[notebook]"')
    return 0


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"the folder {folder} cannot be created: {error.strerror}") from None


def _with_options(said: str, options: argparse.Namespace) -> str:
    """Name the options of the command where a message names the arguments of a function.

    Example:
        >>> _with_options("default_region='X' is not a country", argparse.Namespace(default_region="X"))
        "--default-region 'X' is not a country"
    """
    for name in vars(options):
        option = f"--{name.replace('_', '-')}"
        said = re.sub(rf"(?<![\w.(]){name}=(?=['\"\[])", f"{option} ", said)
        said = re.sub(rf"(?<![\w.(]){name}=", option, said)
    return said


def _write_any_sign() -> None:
    """Let a name that the terminal's encoding lacks, such as a file's on Windows, show as ? instead of ending it."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


def _show_warning(message: Warning | str, *_where: object, **_options: object) -> None:
    _say(f"! {message}", hang="  ", error=True)


def _say(words: str, *, hang: str = "", error: bool = False) -> None:
    """Print words as wide as the terminal is; an error stays one line for whoever reads a log by lines."""
    stream = sys.stderr if error else sys.stdout
    most = None if error and not stream.isatty() else terminal_width()
    print(fitted(words, most, hang=hang), file=stream)
