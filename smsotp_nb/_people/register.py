"""The register: who opted out or in, when and by what source; who was contacted; who is to be forgotten."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .. import _cards as cards
from .. import phones
from .._calling import given, in_our_words, not_text, refuse
from .._dates import Written, spanned
from .._frames import AnyFrame, as_pandas
from .._ledger import Ledger, LedgerOrPath, Said, Store, opened, purging, read_from
from .._ledger import consents as recorded
from .._moments import Now, microseconds, moment, utc_now
from .._outputs import write_file
from .._warnings import warn_user
from .._wire import Numbers, mask
from ..errors import UsageError
from ..phones import NumberOptions
from . import lists

_SHOWN = 5


class Imported(int):
    """How many entries of a list are new, shown with how many were read, and the days they were read to be from.

    Attributes:
        read: entries that were read, those that were recorded before among them.
        matched: people of these entries whom the register knew, by any opt-out or opt-in before the import. Whether a
            campaign texts somebody on the list is not asked: `plan` says that of a list in ``exclude``.
        unreadable: rows that could not be read.
        first_day: of what was said, as the list has it; None for a list without times.
        last_day: of what was said.

    Example:
        >>> Imported(2, read=3, matched=1, unreadable=1, span=(date(2026, 10, 3), date(2026, 10, 25)))
        2 new of 3 read, 1 person known before, 1 unreadable, said from 3 October 2026 to 25 October 2026
    """

    read: int
    matched: int
    unreadable: int
    first_day: date | None
    last_day: date | None

    def __new__(
        cls, new: int, *, read: int, matched: int = 0, unreadable: int = 0, span: tuple[date, date] | None = None
    ) -> Imported:
        """Count new entries, said in the days of a span."""
        made = super().__new__(cls, new)
        made.read, made.matched, made.unreadable = read, matched, unreadable
        made.first_day, made.last_day = span or (None, None)
        return made

    def __repr__(self) -> str:
        known = f", {cards.counted(self.matched, 'person', 'people')} known before" if self.matched else ""
        unread = f", {self.unreadable:,} unreadable" if self.unreadable else ""
        said = f", said {spanned((self.first_day, self.last_day))}" if self.first_day and self.last_day else ""
        return f"{int(self):,} new of {self.read:,} read{known}{unread}{said}"

    def __reduce__(self) -> Any:
        return int, (int(self),)


class People:
    """Who may be texted, as people themselves said: opt-outs and opt-ins with time, source and proof.

    The register is part of the ledger. Every ``send`` by that ledger asks it in the moment that a request leaves,
    whatever the plan says, so an opt-out that is recorded while a campaign runs counts for all that has not left. What
    was said later counts; an opt-out wins over an opt-in of the same moment. `Record.purge` does not touch it.

    What is unclear is read against texting. Of a day without an hour (midnight counts as none), an opt-out counts until
    its end and an opt-in from its beginning; of an hour that autumn repeats, an opt-out is the second and an opt-in the
    first. An opt-out that is said now is later than every opt-in recorded before it, whatever the clocks were. In a
    ledger on a server its clock counts for all.

    Args:
        ledger: the Ledger or its path. By default this user's one ledger.
        now: the clock, a function that returns an aware datetime.

    Example:
        >>> import tempfile, pathlib, smsotp_nb as sms
        >>> ledger = sms.Ledger(pathlib.Path(tempfile.mkdtemp()) / "ledger.sqlite", create=True)
        >>> people = People(ledger)
        >>> people.opt_out("+49 151 23456789", source="phone call")
        1
        >>> people.is_opted_out("+4915123456789")
        True
    """

    @in_our_words
    def __init__(self, ledger: LedgerOrPath | None = None, *, now: Now = utc_now) -> None:
        with opened(ledger) as book:
            self._ledger: LedgerOrPath = book if book is ledger else book.path
        self._now = now

    @in_our_words
    def opt_out(
        self,
        numbers: str | Iterable[str],
        *,
        source: str,
        proof: str | None = None,
        at: Any = None,
        default_region: str | None = None,
    ) -> int:
        """Record that people do not want to be texted any more; return how many entries are new.

        When it returns, every request whose intent is recorded later leaves these people out, retries included, and so
        does one that was recorded earlier and waits: last before its bytes it asks again. Only a request that was
        recorded within the last 0.2 seconds may still leave, and one that has left ends by ``Settings.deadline``, 60
        seconds by default; what the service has accepted by then, networks may deliver later.

        Args:
            numbers: a phone number, or several.
            source: how it came, such as ``"phone call"``.
            proof: what shows it, such as the number of a letter.
            at: when it was said: an aware datetime or text such as ``"2026-11-12 09:30+01:00"``; now by default.
            default_region: two-letter country code for numbers without a calling code.

        Raises:
            UsageError: a number cannot be read; the time has no zone, can be read in two ways, or is in the future (of
                an opt-out by more than an hour: a clock may be fast). Nothing was recorded.
        """
        return self._say(_several(numbers), True, source=source, proof=proof, at=at, default_region=default_region)

    @in_our_words
    def opt_in(
        self,
        numbers: str | Iterable[str],
        *,
        source: str,
        proof: str | None = None,
        at: Any = None,
        default_region: str | None = None,
    ) -> int:
        """Record that people agreed to be texted; return how many entries are new. The arguments are `opt_out`'s.

        An opt-in ends an opt-out that was said before it. It is not required: whoever said nothing may be texted.

        Warns:
            SmsOtpWarning: it is said now, and people stay opted out: a later opt-out of theirs is recorded, such as one
                of today without an hour, which counts until the end of the day.
        """
        return self._say(_several(numbers), False, source=source, proof=proof, at=at, default_region=default_region)

    @in_our_words
    def import_optouts(
        self,
        list: AnyFrame | str | Path,
        *,
        column: str,
        source: str,
        at: str | None = None,
        zone: str | None = None,
        dayfirst: bool | None = None,
        format: str | None = None,
        proof: str | None = None,
        region: str | None = None,
        default_region: str | None = None,
        numbers: NumberOptions = NumberOptions(),
    ) -> Imported:
        """Record the opt-outs of a list; return how many entries are new, so that the same list may come again.

        How many entries were read is beside it.

        Args:
            list: a frame, or the path of a CSV, Excel or Parquet file.
            column: the column of phone numbers. Of opt-outs all other columns that read as numbers count, too.
            source: who the list is from, such as the provider's name.
            at: the column of the time at which each was said: ISO 8601, real times, names of months (in seven
                languages), or numbers in the order that ``dayfirst`` says. By default it counts as said now.
            zone: zone of times that have none, such as ``"Europe/Berlin"``.
            dayfirst: whether 03/10/2026 is 3 October (True) or 10 March (False). Needed only if no cell tells.
            format: the times' format where it is another one, such as ``"%y%m%d"``; ``"excel"`` for the numbers by
                which a spreadsheet counts days.
            proof: the column of what shows it.
            region: the column of each number's country.
            default_region: two-letter country code for numbers without a country.
            numbers: how the numbers are read, see `NumberOptions`. With ``unreadable="ignore"`` the others are recorded
                although some rows cannot be read; a warning names those. An opt-out whose number can be read and whose
                time cannot counts as said now.

        Raises:
            UsageError: a column is missing, its dates can be read in two ways, another column says of people that they
                agree (of opt-ins: that they do not), or rows cannot be read: their number, or a time without a zone or
                in the future. It lists them in ``problems``. Nothing was recorded.

        Example:
            >>> import tempfile, pathlib, smsotp_nb as sms
            >>> people = People(sms.Ledger(pathlib.Path(tempfile.mkdtemp()) / "ledger.sqlite", create=True))
            >>> stops = pd.DataFrame({"phone": ["0151 23456789"], "received": ["2026-11-12 09:30"]})
            >>> people.import_optouts(
            ...     stops, column="phone", default_region="DE", source="provider", at="received", zone="Europe/Berlin"
            ... )
            1 new of 1 read, said of 12 November 2026
        """
        how = lists.How(column, at, zone, proof, region, default_region, Written(dayfirst, format), numbers)
        return self._import(list, how, source, opted_out=True)

    @in_our_words
    def import_optins(
        self,
        list: AnyFrame | str | Path,
        *,
        column: str,
        source: str,
        at: str | None = None,
        zone: str | None = None,
        dayfirst: bool | None = None,
        format: str | None = None,
        proof: str | None = None,
        region: str | None = None,
        default_region: str | None = None,
        numbers: NumberOptions = NumberOptions(),
    ) -> Imported:
        """Record the opt-ins of a list; arguments, result and errors are those of `import_optouts`, but for ``at``.

        ``at`` is needed: an opt-in that would count as said now would end every opt-out before it.
        """
        if at is None:
            raise UsageError(
                "an opt-in counts from when it was given, so name the column of that time, such as at='signed_up'; "
                "without one it would end every opt-out of these people. Who agrees right now is recorded by "
                "opt_in(numbers, source=...)"
            )
        how = lists.How(column, at, zone, proof, region, default_region, Written(dayfirst, format), numbers)
        return self._import(list, how, source, opted_out=False)

    @in_our_words
    def is_opted_out(self, number: str, *, default_region: str | None = None) -> bool:
        """Say whether a person is opted out now, forgotten people included."""
        with opened(self._ledger) as book, book._store.snapshot() as connection:
            return recorded.opted_out(connection, *_one(number, default_region))

    @property
    @in_our_words
    def register(self) -> pd.DataFrame:
        """All that was said, in the order of time, one row each.

        Columns: ``to`` (str; missing where the person asked to be forgotten), ``said`` (str: opted out, opted in),
        ``at`` (UTC), ``zone`` (Int64: minutes east of UTC where it was said), ``whole_day`` (bool: a day without an
        hour was said, and ``at`` is its end for an opt-out, its beginning for an opt-in), ``source, proof`` (str),
        ``recorded_at`` (UTC).
        """
        with read_from(self._ledger) as book:
            return recorded.register(book._store)

    @in_our_words
    def history(self, number: str, *, default_region: str | None = None) -> pd.DataFrame:
        """Return the rows of all campaigns that are one person's, in the order of time.

        Columns: ``campaign, service, kind`` (str: campaign or test), ``at`` (UTC: of the latest request, or of the
        recording), ``status`` and ``problem`` (str: what held it back), ``not_before`` (UTC).
        """
        with read_from(self._ledger) as book:
            return recorded.history(book._store, *_one(number, default_region))

    @in_our_words
    def export(
        self, number: str, path: str | Path, *, default_region: str | None = None, overwrite: bool = False
    ) -> Path:
        """Write what is stored about a person to a JSON file, for a person who asks; return its path.

        It holds what they said (``said``); all of their rows, those of tests and those that were held back included
        (``history``); the same rows as the result table has them, with ids, prices and the kept columns
        (``messages``); when purged campaigns contacted them, which the
        ledger still knows by a hash of the number (``contacts``); and where texts quote the number, without the text,
        which may be about somebody else (``mentions``). Filled texts are not stored: the ledger keeps what a campaign
        says with its placeholders. Passcodes are not stored either, only when they were sent, and what they cost.
        """
        with read_from(self._ledger) as book:
            found = _stored(book, *_one(number, default_region))
            return write_file(path, lambda file: file.write(found), overwrite=overwrite, inputs=book._files)

    @in_our_words
    def forget(self, numbers: str | Iterable[str], *, default_region: str | None = None) -> int:
        """Delete what is stored about people, also from the file; return how many rows of campaigns that were.

        Their numbers, kept columns and what they said are gone; so is the number in reasons, sources, proofs, names,
        words and segments of campaigns, kept columns of others, and in ids and errors of the
        service, however it is written. What
        became of their messages stays, under a hash of the number that is keyed with a secret in the ledger; by it they
        also stay opted out, until a later opt-in. A warning says what could not be reached, as in `Record.purge`.

        Raises:
            UsageError: a number cannot be read. Nothing was changed.
        """
        with read_from(self._ledger) as book:
            found = _read(_several(numbers), default_region)
            with book._store.deciding() as connection:
                now = self._present(book._store, connection)
                gone = recorded.forget(connection, found, now=now)
                purging.leave_remains(connection)
            purging.overwrite(book._store)
            purging.warn_of_unreached(book._store)
            return gone

    @in_our_words
    def card(self) -> cards.Card:
        """Return the register as a card: how many people are opted out, and what was recorded last."""
        frame = self.register
        latest = frame.drop_duplicates("to", keep="last")
        out = int(latest["said"].eq("opted out").sum())
        lines = [
            cards.Note("i", f"{row.said} {_when(row)}: {mask(str(row.to))} ({row.source})")
            for row in frame[frame["to"].notna().to_numpy()].tail(_SHOWN).iloc[::-1].itertuples()
        ]
        figures = cards.Figures(
            (("opted out", cards.number(out)), ("entry" if len(frame) == 1 else "entries", cards.number(len(frame))))
        )
        return cards.Card("People", "Who may be texted, as they said.", (figures, *lines))

    def __repr__(self) -> str:
        return f"People({self._ledger!r})"

    def _repr_html_(self) -> str:
        return self.card().html()

    def _say(
        self, numbers: Numbers, opted_out: bool, *, source: str, proof: str | None, at: Any, default_region: str | None
    ) -> int:
        _check_source(source, proof=proof)
        with opened(self._ledger) as book:
            when = lists.moment_given("at", at, opted_out=opted_out, now=self._clock(book._store))
            said = [Said(one, opted_out, *when, proof) for one in _read(numbers, default_region)]
            return self._record(book._store, said, source)[0]

    def _import(self, source_list: Any, how: lists.How, source: str, *, opted_out: bool) -> Imported:
        _check_source(source)
        how.check()
        with opened(self._ledger) as book:
            found = lists.read(source_list, how, opted_out=opted_out, now=self._clock(book._store))
            if found.problems and how.reading.unreadable == "refuse":
                lacks = {"default_region=": "REGION_MISSING", "zone=": "a time without a zone"}
                named = [name for name, why in lacks.items() if any(why in problem for problem in found.problems)]
                name = f" name {' or '.join(named)}," if named else ""
                raise UsageError(
                    f"{found.told('so nothing was recorded')}. Correct them,{name} or pass "
                    "numbers=NumberOptions(unreadable='ignore') to record the others",
                    problems=tuple(found.problems),
                )
            new, matched = self._record(book._store, found.said, source)
        if found.problems:
            became = "and are not recorded"
            if opted_out:
                became += ", except that an opt-out whose time alone is unclear counts as said now"
            warn_user(found.told(became))
        elif not found.said:
            warn_user("the list has no number, so nothing was recorded")
        return Imported(new, read=len(found.said), matched=matched, unreadable=found.unread, span=found.span)

    def _record(self, store: Store, said: Sequence[Said], source: str) -> tuple[int, int]:
        """Record entries; return how many are new, and how many of the people had said something before."""
        with store.deciding() as connection:
            now = self._present(store, connection)
            matched = recorded.known(connection, said)
            new = recorded.record(connection, said, source=source.strip(), now=now)
            out = recorded.still_out(connection, said)
        if out:
            warn_user(
                f"{cards.counted(out, 'person', 'people')} stay opted out: of them an opt-out is recorded that counts "
                "for longer than now, such as one of today without an hour. See People.register; opt them in when its "
                "time is over"
            )
        return new, matched

    def _clock(self, store: Store) -> datetime:
        """Return the time by which it is told what is in the future."""
        with store.reading() as connection:
            return moment(self._present(store, connection))

    def _present(self, store: Store, connection: Any) -> int:
        return store.now(connection, microseconds(self._now()))


def _when(row: Any) -> str:
    """Return when an entry of the register was said, in words."""
    if not row.whole_day:
        return f"on {row.at:%Y-%m-%d %H:%M} UTC"
    day = row.at + timedelta(minutes=int(row.zone))
    return (
        f"on {day:%Y-%m-%d}, counted {'until the end' if row.said == 'opted out' else 'from the beginning'} of the day"
    )


def _check_source(source: Any, *, proof: Any = None) -> None:
    wrong = not_text("source", source, hint="; it says how it came, such as 'phone call'")
    blank = "source= must say how it came, such as 'phone call'" if not wrong and not source.strip() else None
    refuse(wrong, blank, None if proof is None else not_text("proof", proof))


def _several(numbers: Any) -> Numbers:
    numbers = as_pandas(numbers)
    if isinstance(numbers, str):
        return Numbers([numbers])
    if isinstance(numbers, Mapping | bytes | pd.DataFrame) or not isinstance(numbers, Iterable):
        raise UsageError(f"numbers= must be a phone number or several, got {given(numbers)}")
    return Numbers(numbers)


def _one(number: Any, default_region: str | None) -> Numbers:
    refuse(not_text("number", number))
    return _read(Numbers([number]), default_region)


def _read(numbers: Numbers, default_region: str | None) -> Numbers:
    """Return E.164 numbers without their plus, as integers."""
    found = phones.normalize(pd.Series(list(numbers), dtype=object), default_region=default_region)
    unread = found["to"].isna().to_numpy()
    if unread.any():
        problems = [
            f"number {place + 1}: {lists.explained(problem)}"
            for place, problem in zip(np.flatnonzero(unread).tolist(), found["problem"][unread], strict=True)
        ]
        raise UsageError(
            f"{len(problems):,} of {cards.counted(len(numbers), 'number')} cannot be read: {lists.some(problems)}. "
            "Nothing was changed; correct them, or name default_region= for numbers without a calling code",
            problems=tuple(problems),
        )
    return Numbers(map(int, found["to"]))


def _stored(ledger: Ledger, number: int) -> bytes:
    """Return what is stored about a person at one moment, as JSON."""
    store = ledger._store
    ledger._end_dead_ones(0)
    with store.snapshot():
        found = {
            "number": f"+{number}",
            "said": recorded.records(recorded.register(store, number)),
            "history": recorded.records(recorded.history(store, number)),
            "messages": recorded.messages(store, number),
            "contacts": recorded.contacted(store, number),
            "mentions": recorded.mentioned(store, number),
        }
    return (json.dumps(found, ensure_ascii=False, indent=1) + "\n").encode()
