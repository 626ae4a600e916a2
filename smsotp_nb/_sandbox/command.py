"""``smsotp-nb sandbox``: its options, and what it prints at startup."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from .._calling import refuse
from .._lazy import needed_for
from ..errors import UsageError
from ..settings import sandbox_secrets
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
    host_help = "address to listen on; beyond loopback a token is made, printed and asked for"
    add("--host", default=HOST, help=host_help)
    allow_help = "a name by which others call it, such as a container's; may be repeated"
    add("--allow-host", action="append", default=[], metavar="NAME", help=allow_help)
    token_help = "file with the token, in place of one made at the start (or set SMSOTP_SANDBOX_TOKEN)"
    add("--token-file", type=path_typed, metavar="FILE", help=token_help)
    add = parser.add_argument_group("where the interface is silent (docs/sandbox.md)").add_argument
    add("--templates", type=path_typed, metavar="FILE", help="templates of your own beside the built-in ones")
    secret_help = "ask for signed requests, with the secret in this file (or set SMSOTP_SANDBOX_SECRET)"
    add("--hmac-secret-file", type=path_typed, metavar="FILE", help=secret_help)
    attempts_help = "wrong codes before a passcode is void (default: 5)"
    add("--attempts", type=int, metavar="N", default=Rules().attempts, help=attempts_help)
    add("--sends", type=int, metavar="N", help="passcodes to one number in 10 minutes (default: as many as wanted)")


def run(options: argparse.Namespace) -> int:
    with needed_for("the sandbox"):
        from .server import Server
    secret, token = sandbox_secrets()
    name = "the token in --token-file" if options.token_file else "SMSOTP_SANDBOX_TOKEN"
    token = _content(options.token_file) or token
    refuse(None if token is None else not_token(name, token))
    sealed = _content(options.hmac_secret_file) or secret
    rules = Rules(options.attempts, options.sends, options.templates, sealed)
    given = {name: getattr(options, name) for name in ("port", "state", "variant", "form", "balance", "seed", "host")}
    given |= {"faults": options.fault, "allow_hosts": options.allow_host, "token": token}
    running = Server(rules=rules, **given)
    running.run(lambda _url: _announce(running))
    return 0


def path_typed(typed: str) -> Path:
    """Return the typed path; refuse a blank one, which is mostly an unset variable."""
    if not typed.strip():
        raise argparse.ArgumentTypeError("the path is empty")
    return Path(typed)


def _content(path: Path | None) -> str | None:
    if path is None:
        return None
    try:
        found = path.read_text(encoding="utf-8-sig").strip()  # a pipe is fine: <(pass show token) keeps it off the disk
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no text in UTF-8"
        raise UsageError(f"{path} cannot be read: {reason}") from None
    if not found:
        raise UsageError(f"{path} is empty; write the secret into it")
    return found


def _announce(running: Server) -> None:
    said = [f"smsotp-nb sandbox listening on {running.url}"]
    if running.token is not None:
        said += [f"Its inbox: {running.url}/?token={quote(running.token, safe='')}"]
        said += ["Everything but the three operations asks for the token: Authorization: Bearer TOKEN."]
    said += ["Nothing is texted. The address shows the inbox; Ctrl-C stops it."]
    print("\n".join(said), flush=True)
