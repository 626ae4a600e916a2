"""Record and check: one contract suite for the sandbox and, with a key and a spending cap, for the live service.

For each row of `choices.CHOICES` it records what either of them does, and compares the two.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from decimal import Decimal
from pathlib import Path
from typing import Final, Literal, get_args

from .. import _wire as wire
from .._foreign.gate import file_at
from .._outputs import write_file
from .._visible import visible
from ..errors import UsageError
from ..settings import Secret, Settings
from .asking import Asker, NotAsked, check
from .choices import CHOICES, Rules
from .probes import PROBES, UNSEEN
from .server import Server
from .service import millionths

SANDBOX_NUMBER: Final = "+12025550123"  # reserved for fiction
SANDBOX_SECRET: Final = "a-secret-of-the-contract-suite"
TEMPLATE: Final = ("pub_passcode_en", "code")
VERSION: Final = 1
LONGEST: Final = 300  # characters of an observation

Finding = Literal["agrees", "differs", "not asked", "cannot be seen"]
Progress = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class Observation:
    """What a service did about one row of the table, in words; if ``said`` is empty, why it was not asked.

    The words hold codes as the service wrote them, so they are made fit to be printed here, of a record too.
    """

    key: str
    said: str = ""
    why: str = ""

    def __post_init__(self) -> None:
        for name in ("said", "why"):
            object.__setattr__(self, name, _shortened(visible(getattr(self, name))))


def _shortened(words: str) -> str:
    return words if len(words) <= LONGEST else f"{words[: LONGEST - 1]}…"


@dataclass(frozen=True, slots=True)
class Record:
    """One run of the suite against one service.

    ``variant``, ``form`` and ``signed`` say how requests were made, ``spent`` what they cost. It contains no address,
    key or number.
    """

    variant: wire.Variant
    form: wire.Form
    signed: bool
    observations: tuple[Observation, ...]
    spent: str = "0.000000"
    requests: int = 0

    def of(self, key: str) -> Observation:
        return next((one for one in self.observations if one.key == key), Observation(key, why="it was not recorded"))

    def save(self, path: str | Path) -> None:
        """Write it to a file of JSON, to be checked against later."""
        written = json.dumps({"version": VERSION} | asdict(self), indent=1) + "\n"
        write_file(path, lambda file: file.write(written.encode()), overwrite=True)

    @classmethod
    def load(cls, path: str | Path) -> Record:
        """Read it from a file.

        Raises:
            UsageError: the file is not a record of this suite.
        """
        file = file_at(path, kind="a record of the contract suite")
        try:
            found = json.loads(file.read_text(encoding="utf-8"))
            if found.pop("version") != VERSION:
                raise ValueError("another version")
            observations = tuple(Observation(**one) for one in found.pop("observations"))
            return _checked(cls(observations=observations, **found))
        except OSError as error:
            raise UsageError(f"the record {path} cannot be read: {error.strerror}") from None
        except (ValueError, RecursionError, TypeError, KeyError, AttributeError) as error:
            raise UsageError(f"{path} is not a record of the contract suite: {error}") from None


def _checked(record: Record) -> Record:
    """Return a record from a file; what is no key, variant, form, cost or number of requests is a ValueError."""
    known = {choice.key for choice in CHOICES}
    if not all(one.key in known for one in record.observations):
        raise ValueError("it names a row that the table does not have")
    if record.variant not in get_args(wire.Variant) or record.form not in get_args(wire.Form):
        raise ValueError("its variant or form is unknown")
    if not isinstance(record.signed, bool) or type(record.requests) is not int or wire.micros(record.spent) is None:
        raise ValueError("what it says of the run cannot be")
    return record


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table of choices, what the sandbox and the service do about it, and whether they agree."""

    key: str
    topic: str
    sandbox: str
    service: str
    finding: Finding
    why: str = ""


def observe(asker: Asker, *, progress: Progress = lambda _: None) -> Record:
    """Ask a service every row of the table, in its order, and return what it did.

    A row whose messages might bring the cost past the cap is left out before its first request.
    """
    observations = []
    for choice in CHOICES:
        if choice.key in PROBES:
            observations.append(_observe(choice.key, asker))
            progress(f"{choice.topic}: {observations[-1].said or observations[-1].why}")
    settings = asker.settings
    signed, spent = settings.access_key_secret is not None, f"{wire.amount(asker.spent):.6f}"
    return Record(settings.variant, settings.form, signed, tuple(observations), spent, asker.requests)


def _observe(key: str, asker: Asker) -> Observation:
    probe = PROBES[key]
    try:
        asker.set_aside(probe.parts)
        return Observation(key, said=probe.ask(asker))
    except NotAsked as why:
        return Observation(key, why=str(why))


def of_sandbox(
    variant: wire.Variant = "intl", form: wire.Form = "current", *, signed: bool = False, rules: Rules | None = None
) -> Record:
    """Run the suite against a sandbox of its own.

    Example:
        >>> of_sandbox().of("single_use").said
        'true, then false'
    """
    chosen = rules or Rules(secret=SANDBOX_SECRET if signed else None)
    server = Server(variant=variant, form=form, rules=chosen)
    server.start()
    with closing(server):
        settings = Settings(server.url, Secret("contract"), variant, form, access_key_secret=chosen.secret)
        return observe(Asker(settings, SANDBOX_NUMBER, template=TEMPLATE))


def of_service(
    settings: Settings,
    *,
    to: str,
    cap: str | float | Decimal,
    part: str | float | Decimal,
    signature: str = "Acme",
    template: tuple[str, str] | None = None,
    progress: Progress = lambda _: None,
) -> Record:
    """Run the suite against a live service: real messages to a phone of yours, billed up to a cap.

    Args:
        settings: address, key, variant and form of the service.
        to: the phone, E.164.
        cap: most that the run may cost, in the currency of the account.
        part: most that one part to this phone costs; so much is set aside before each request, and the cap holds
            as long as it is right.
        signature: the sender's name, registered where the service asks for that.
        template: id of a template of yours with one variable, and the variable's name.
        progress: hears a line for every row.

    Raises:
        UsageError: the number is not E.164, or a part costs nothing.
    """
    check(to)
    asker = Asker(settings, to, signature, cap=millionths(cap), part=millionths(part), template=template)
    if asker.part == 0:
        raise UsageError("part must be more than 0: the most that one part to this phone costs")
    return observe(asker, progress=progress)


def compare(service: Record, sandbox: Record | None = None) -> list[Row]:
    """Return every row of the table of choices, and whether the service agrees with the sandbox of the same form.

    Example:
        >>> rows = compare(of_sandbox(rules=Rules(single_use=False)))
        >>> [(row.key, row.service) for row in rows if row.finding == "differs"]
        [('single_use', 'true, then true')]
    """
    ours = sandbox or of_sandbox(service.variant, service.form, signed=service.signed)
    return [_row(choice.key, choice.topic, ours, service) for choice in CHOICES]


def _row(key: str, topic: str, ours: Record, theirs: Record) -> Row:
    if key in UNSEEN:
        return Row(key, topic, "", "", "cannot be seen", UNSEEN[key])
    one, other = ours.of(key), theirs.of(key)
    if not (one.said and other.said):
        return Row(key, topic, one.said, other.said, "not asked", other.why or one.why)
    return Row(key, topic, one.said, other.said, "agrees" if one.said == other.said else "differs")


def as_table(rows: Sequence[Row]) -> str:
    """Return the rows as a Markdown table."""
    lines = ["| where the interface is silent | the sandbox | the service | |", "|---|---|---|---|"]
    cells = ((row.topic, row.sandbox, row.service, _ending(row)) for row in rows)
    lines += [f"| {' | '.join(map(_cell, row))} |" for row in cells]
    return "\n".join(lines)


def _cell(words: str) -> str:
    return words.replace("|", "\\u007c")  # as a number, like all that would break a line


def _ending(row: Row) -> str:
    return f"{row.finding}: {row.why}" if row.why else row.finding


def counts(rows: Iterable[Row]) -> Mapping[Finding, int]:
    """Return how many rows have each finding."""
    found: dict[Finding, int] = {}
    for row in rows:
        found[row.finding] = found.get(row.finding, 0) + 1
    return found
