"""``smsotp-nb`` on a terminal: one module a command. Every line that a person reads is printed here."""

from __future__ import annotations

import argparse
import io
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

from .. import __version__
from .._sandbox import command
from ..errors import OutputExistsError, SmsOtpError
from . import cleaning, demo, recorded, sending
from .terminal import in_options, say, warning_in_options

# What a command needs is imported by it: the sandbox starts without pandas, also where that is not installed.

USUAL = 2
BROKEN_PIPE = 141  # as a shell says it of a program that SIGPIPE ended


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 done, 2 for a call or a file that cannot be used."""
    _open_closed_streams()
    options = parser().parse_args(argv)
    # A name that the terminal's encoding lacks, such as a file's on Windows, shows as ? instead of ending it.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = _show_warning
            code: int = options.run(options)
            sys.stdout.flush()
    except BrokenPipeError:  # whoever read it has seen enough
        _say_no_more()
        return BROKEN_PIPE
    except OutputExistsError as error:
        say(f"smsotp-nb: {error.path} already exists; --force replaces it", hang="  ", error=True)
        return USUAL
    except SmsOtpError as error:
        say(f"smsotp-nb: {in_options(error, options)}", hang="  ", error=True)
        return USUAL
    except OSError as error:
        if error.filename is not None:
            raise
        _say_no_more()
        say(f"smsotp-nb: what it says cannot be written: {error.strerror}", hang="  ", error=True)
        return USUAL
    except KeyboardInterrupt as interrupt:
        print(f"smsotp-nb: {interrupt or 'interrupted'}", file=sys.stderr)
        return 130
    return code


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    say(f"! {warning_in_options(message)}", hang="  ", error=True)


def _say_no_more() -> None:
    """Let what is still to be printed go nowhere, so that the end of the process does not try once more."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _open_closed_streams() -> None:
    """Open what a scheduler closed, as ``2>&-`` does, on the null device.

    Without it nothing could be printed, and the next file that is opened, such as a ledger, would be the standard
    error of every library.
    """
    for name, descriptor, mode in (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w")):
        if getattr(sys, name) is not None:
            continue
        nowhere = os.open(os.devnull, os.O_RDWR)
        if nowhere != descriptor:
            os.dup2(nowhere, descriptor)
            os.close(nowhere)
        setattr(sys, name, open(descriptor, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 - until the end


class _Once(argparse._StoreAction):
    """An option that takes one value: given twice, one of the two would be lost."""

    given = False

    def __call__(self, parser: Any, namespace: Any, values: Any, option: str | None = None) -> None:
        if option is not None and self.given:
            parser.error(f"{option} was given twice and takes one value")
        self.given = True
        super().__call__(parser, namespace, values, option)


class _Parser(argparse.ArgumentParser):
    def __init__(self, *args: Any, **how: Any) -> None:
        super().__init__(*args, **how)
        self.register("action", None, _Once)


def parser() -> argparse.ArgumentParser:
    made = _Parser(
        prog="smsotp-nb",
        description="SMS campaigns and one-time passcodes from a table; nobody is texted twice. "
        "Begin with: smsotp-nb demo",
    )
    made.add_argument("--version", action="version", version=f"smsotp-nb {__version__}")
    commands = made.add_subparsers(required=True, metavar="COMMAND")
    for name, describe, said in COMMANDS:
        describe(commands.add_parser(name, help=said))
    return made


def _describe_sandbox(sandbox: argparse.ArgumentParser) -> None:
    command.describe(sandbox)
    sandbox.set_defaults(run=command.run)


COMMANDS = (
    ("demo", demo.describe, "run a campaign from sample data against a sandbox; nothing leaves this machine"),
    ("sandbox", _describe_sandbox, "run a local service that answers the interface, until Ctrl-C"),
    ("notebooks", demo.describe_notebooks, "write the example notebooks and their sample data to a folder"),
    ("send", sending.describe, "send a campaign from a file; for schedulers, with an exit code that says what is left"),
    ("clean", cleaning.describe, "normalize the phone numbers of a list to E.164"),
    (
        "people",
        recorded.describe_people,
        "record opt-outs and opt-ins; say, write or delete what is stored about a person",
    ),
    (
        "campaigns",
        recorded.describe_campaigns,
        "list the recorded campaigns, or show one: its counts, and what holds rows back",
    ),
)
