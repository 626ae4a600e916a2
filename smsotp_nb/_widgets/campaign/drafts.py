"""Drafts that outlive a kernel: what was typed into a campaign form, for this user only.

They are beside the ledger's file; where a server keeps the ledger, in this user's own folder. A draft holds texts and
choices. It holds nothing that was given in code, no key, and of the list only the name of an uploaded file.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..._ledger import Address
from ..._outputs import outputs
from ..._own_files import FOLDER, READ_WRITE, OwnFiles, is_of_another
from ...errors import UsageError
from ...settings import state_folder

MOST = 20  # drafts that are kept
LONGEST = 1 << 24  # bytes of one
UPLOADED = "uploaded"  # of a draft: the name of the file that was chosen in the form
Values = Mapping[str, str | int]


@dataclass(frozen=True, slots=True)
class Kept:
    """A draft on the disk: its file, what was typed, and when it was kept last (UTC)."""

    file: Path
    values: Values = field(repr=False)
    at: datetime

    def words(self, *, uploads: bool = False) -> str:
        """Say which draft it is, by the clock of this machine, and in a form that ``uploads`` which list it was for."""
        when = self.at.astimezone()
        day = "" if when.date() == datetime.now().astimezone().date() else f"{when:%Y-%m-%d} "
        name = str(self.values.get("campaign", "")).strip()
        file = self.values.get(UPLOADED, "") if uploads else ""
        again = f" Its list is not kept: choose {file} again." if file else ""
        return f"Your draft of {day}{when:%H:%M} is here{f': campaign {name}' if name else ''}.{again}"


class Drafts:
    """The drafts for a ledger. A form keeps one, in a file of its own."""

    def __init__(self, ledger: Path | Address) -> None:
        # Several users may use a ledger that belongs to another one; beside one of our own everything is ours.
        of_others = isinstance(ledger, Path) and is_of_another(ledger)
        self._own = OwnFiles(UsageError, "; the draft was not kept", of_others=of_others)
        place = ledger.resolve() if isinstance(ledger, Path) else state_folder() / ledger.key
        self._folder = place.with_name(place.name + "-drafts")
        self._file = self._folder / f"{secrets.token_hex(8)}.json"
        self._kept: Values = {}

    def keep(self, values: Values) -> None:
        """Keep these values in place of those before; the same again write nothing, none discard the draft.

        Raises:
            UsageError: the system refuses to write the file.
        """
        if values == self._kept:
            return
        if not values:
            self.discard()
            return
        content = json.dumps({"at": datetime.now(UTC).isoformat(), "values": dict(values)}).encode()
        try:
            self._folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._own.make_folder(self._folder)
            os.close(self._own.open(self._file, os.O_CREAT | READ_WRITE))
        except OSError as error:
            raise UsageError(f"the draft cannot be kept in {self._folder}: {error.strerror}") from None
        with outputs(self._file, overwrite=True) as (draft,):
            draft.write(lambda file: file.write(content))
        self._kept = dict(values)
        for older in self._all()[MOST:]:
            older.file.unlink(missing_ok=True)

    def latest(self) -> Kept | None:
        found = self._all()
        return found[0] if found else None

    def take(self, draft: Kept) -> None:
        """Go on with a draft: what is kept from now on takes its place."""
        self._file, self._kept = draft.file, dict(draft.values)

    def discard(self, draft: Kept | None = None) -> None:
        file = draft.file if draft else self._file
        file.unlink(missing_ok=True)
        if file == self._file:
            self._kept = {}

    def _all(self) -> list[Kept]:
        try:
            self._own.look(self._folder, wanted=FOLDER)
        except UsageError:  # whoever keeps a draft hears of it
            return []
        found = [_read(file, self._own) for file in self._folder.glob("*.json")]
        return sorted((one for one in found if one is not None), key=lambda one: one.at, reverse=True)


def _read(file: Path, own: OwnFiles) -> Kept | None:
    """Return a draft; None for a file that is no draft, or that was deleted meanwhile."""
    try:
        found: Any = json.loads(own.read(file, LONGEST))
        at = datetime.fromisoformat(found["at"])
        values = {str(name): value for name, value in found["values"].items() if isinstance(value, str | int)}
    except (UsageError, OSError, ValueError, RecursionError, TypeError, KeyError, AttributeError):
        return None
    return Kept(file, values, at) if at.tzinfo and values else None
