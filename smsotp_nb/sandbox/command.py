"""``smsotp-nb sandbox``: its options, and what it prints at startup."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from .._calling import refuse
from ..errors import UsageError
from ..settings import sandbox_token
from .access import HOST, not_token
from .choices import Rules

if TYPE_CHECKING:
    from .server import Server


def describe(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--port", type=int, metavar="N", default=0, help="port to listen on (default: a free one)")
    add("--state", type=path_typed, metavar="FILE", help="file that keeps inbox, balance and passcodes")
    add("--variant", choices=("intl", "cn"), default="intl", help="international, or mainland China (default: intl)")
    add("--form", choices=("current", "earlier"), default="current", help="form of the interface (default: current)")
    add("--balance", metavar="AMOUNT", help="what a new state begins with (default: 1000)")
    add("--seed", help="make the ids and passcodes of a new state repeatable")
    fault_help = "a fault that is on from the start"
    add("--fault", action="append", default=[], metavar="'KIND KEY=VALUE ...'", help=fault_help)
    add = parser.add_argument_group("who reaches it").add_argument
    host_help = "address to listen on; beyond loopback a token is made, printed and required"
    add("--host", default=HOST, help=host_help)
    allow_help = "a name by which others call it, such as a container's; may be repeated"
    add("--allow-host", action="append", default=[], metavar="NAME", help=allow_help)
    token_help = "file with the token, in place of one made at the start (or set SMSOTP_SANDBOX_TOKEN)"
    add("--token-file", type=path_typed, metavar="FILE", help=token_help)
    add = parser.add_argument_group("where the interface is silent (docs/sandbox.md)").add_argument
    add("--templates", type=path_typed, metavar="FILE", help="templates of your own beside the built-in ones")
    attempts_help = "wrong codes before a passcode is void (default: 5)"
    add("--attempts", type=int, metavar="N", default=Rules().attempts, help=attempts_help)
    add("--sends", type=int, metavar="N", help="passcodes to one number in 10 minutes (default: as many as wanted)")


def run(options: argparse.Namespace) -> int:
    from .server import Server

    token = sandbox_token()
    name = "SMSOTP_SANDBOX_TOKEN"
    if options.token_file is not None:
        token, name = _read_token(options.token_file), "the token in --token-file"
    refuse(None if token is None else not_token(name, token))
    server = Server(
        port=options.port,
        state=options.state,
        variant=options.variant,
        form=options.form,
        balance=options.balance,
        seed=options.seed,
        rules=Rules(options.attempts, options.sends, options.templates),
        faults=options.fault,
        host=options.host,
        allow_hosts=options.allow_host,
        token=token,
    )
    server.run(lambda: _announce(server))
    return 0


def path_typed(typed: str) -> Path:
    """Return the typed path; refuse a blank one, which is mostly an unset variable."""
    if not typed.strip():
        raise argparse.ArgumentTypeError("the path is empty")
    return Path(typed)


def _read_token(path: Path) -> str:
    try:
        token = path.read_text(encoding="utf-8-sig").strip()  # a pipe works too, and keeps the token off the disk
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no text in UTF-8"
        raise UsageError(f"{path} cannot be read: {reason}") from None
    if not token:
        raise UsageError(f"{path} is empty; write the token into it")
    return token


def _announce(server: Server) -> None:
    print(f"smsotp-nb sandbox listening on {server.url}")
    if server.token is not None:
        print(f"Its inbox: {server.url}/#{server.token}")
        print("Everything but the three operations asks for the token: Authorization: Bearer TOKEN.")
    print("Nothing is texted. The address shows the inbox; Ctrl-C stops it.", flush=True)
