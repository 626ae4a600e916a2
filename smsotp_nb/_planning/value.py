"""The plan itself: a frozen value that holds everything a send needs and hands out copies only."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import pandas as pd

from .. import _cards as cards
from .. import parts, phones
from .._calling import in_our_words, not_a, not_whole, refuse
from .._ledger import Ledger, LedgerOrPath, Prospect, opened, own_place, unasked
from .._moments import microseconds, utc_now
from .._pandas import STR, lent
from .._policy import Policy
from .._results.contract import without_zone
from .._showing import capital, visible
from .._wire import Body, RequestOptions, mask
from ..errors import LedgerError, SmsOtpError, UsageError
from . import assembly, bodies, overview, segments
from .arguments import Asked, MadeOf
from .rows import InFiles, InMemory, fingerprint
from .wording import Words

HELD: Final = ("status", "problem", "not_before")
_PREVIEWED: Final = 3
_SHOWN: Final = 12  # messages on the card
_LOOK: Final = 1_000_000  # microseconds
_IN_ENGLISH: Final = (
    "Numbers and times in the messages are written in English; Message(words, language='de') says otherwise."
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Plan(cards.WithCard):
    """A campaign as it would be sent: the dry run that `plan` returns and ``send`` takes.

    The plan of a `Folder` has its rows in files of its own: ``planned.parquet`` in the order of the requests,
    ``skipped.parquet`` and ``bodies.parquet``, which name people. ``rows``, ``skipped`` and ``bodies`` read all of them
    into memory; nothing else does. Files that were changed since are refused when the plan is sent.

    The ledger is asked whenever a plan is looked at, so that what it says is what the next send does. What is looked at
    within a second is of one look, unless the ledger's file changed.

    Attributes:
        by: name of the kept column with each row's segment; None without segments.
        fingerprint: hex SHA-256 of ``to``, body and order of the planned rows.
        advice: a text that looks like a passcode, a default country that is probably wrong, and what each repair of
            numbers would bring, in words; empty if there is nothing to say.
        source: what `read_recipients` decided of the list's file, as in ``frame.attrs``; empty of a list that was not
            read so, or whose frame lost it.

    Example:
        >>> import smsotp_nb as sms
        >>> people = pd.DataFrame({"phone": ["+12025550123", "hello"]})
        >>> made = sms.plan(people, "Hello", to="phone", campaign="demo")
        >>> made.rows["status"].tolist(), made.texts.tolist()
        (['planned', 'skipped'], ['Hello'])
    """

    _kept: tuple[str, ...]
    by: str | None
    fingerprint: str
    advice: tuple[str, ...]
    source: Mapping[str, Any] = field(repr=False)
    _columns: Mapping[str, int]
    _left_out: pd.DataFrame = field(repr=False)
    _asked: Asked = field(repr=False)
    _held: InMemory | InFiles = field(repr=False)
    _estimate: pd.DataFrame = field(repr=False)
    _made_of: MadeOf | None = field(default=None, repr=False)
    _ledger: LedgerOrPath | None = field(default=None, repr=False)
    _prospect: Prospect | None = field(default=None, repr=False)  # when the ledger was asked last
    _now: InMemory | InFiles | None = field(default=None, repr=False)  # the rows as they stood then
    _asks: bool = field(default=False, repr=False)  # whether the ledger is asked again
    _last: list[tuple[Any, int, Plan]] = field(default_factory=list, init=False, repr=False)  # look

    @property
    def campaign(self) -> str:
        """The campaign's name, as given to `plan`."""
        return self._asked.campaign

    @property
    def _wire(self) -> RequestOptions:
        """As given to `plan`."""
        return self._asked.wire

    @property
    def _policy(self) -> Policy | None:
        return self._asked.policy

    @property
    def _segments(self) -> tuple[str, ...]:
        """Labels of the segments that have a message, in the order in which they were given."""
        return self._asked.wording.segments

    @property
    def _prospect_now(self) -> Prospect | None:
        """What the next send does with each row if nothing fails, and how the plan differs from the recorded campaign;
        None where there is no ledger yet."""
        return self._seen()._prospect

    @property
    def recipients(self) -> int:
        """How many rows are planned, those that a ledger knows to be texted or held back among them."""
        return self._held.figures["planned"]

    @property
    def _figures(self) -> Mapping[str, int]:
        """How many ``rows`` the list has, how many of them go now (``planned``), in how many ``bodies, requests`` and
        ``parts``, and for how many recipients the parts are ``unknown`` and the message is ``unpriced``. Of the plan of
        a Folder ``planned`` alone is without whom the ledger holds back."""
        seen = self._seen()
        figures = dict(seen._view.figures)
        if self._held.folder is not None and seen._prospect is not None:
            figures["planned"] = seen._prospect.to_go
        return figures

    @property
    def problems(self) -> pd.DataFrame:
        """How many rows do not go now, and why: ``problem`` (str), ``rows`` (Int64), ``first_rows`` (str: the labels of
        the first three)."""
        return lent(self._seen()._view.problems)

    @property
    def notes(self) -> Mapping[str, int]:
        """How many of the rows that go have a note that deserves a look, by code."""
        return dict(self._seen()._view.notes)

    @property
    def rows(self) -> pd.DataFrame:
        """The rows of the list, in its order and on its index, with what planning found and what the ledger knows.

        Columns: ``to, region, type, status, problem`` (str), ``not_before`` (UTC), ``note`` (str), ``body, chunk,
        est_parts`` (Int64), ``encoding`` (str), ``est_cost`` (float64), ``est_currency`` (str), ``row``
        (Int64: the number that a spreadsheet shows, or your index where it is of whole numbers), then the kept columns.
        ``status, problem`` and ``not_before`` are those of the result table if nothing were sent: rows that are planned
        without a problem go now. Of the plan of a Folder they are those of planning, but for whom a rule holds back.
        """
        seen = self._seen()
        rows, prospect = lent(seen._view.rows), seen._prospect
        moments = pd.Series(pd.NaT, index=rows.index, dtype="datetime64[us]")
        if prospect is not None and self._held.folder is None:
            moments = without_zone(prospect.rows["not_before"])
        rows.insert([*rows.columns].index("problem") + 1, "not_before", moments.array)
        if prospect is not None and self._held.folder is not None:
            held = prospect.rows.assign(not_before=without_zone(prospect.rows["not_before"]))
            rows.loc[held.index, [*HELD]] = held[[*HELD]]
        return self._held.with_index_names(rows) if isinstance(self._held, InMemory) else rows

    @property
    def _as_planned(self) -> pd.DataFrame:
        """The rows as `plan` made them, whatever is recorded of them; ``status`` is planned or skipped."""
        return lent(self._held.rows)

    @property
    def left_out(self) -> pd.DataFrame:
        """The lists of ``exclude``, a row each: ``list`` (str: its file or campaign), ``problem`` (str: SUPPRESSED,
        EXCLUDED), ``read, matched, unreadable`` (Int64: entries that are numbers, rows of this list on it, entries that
        are none)."""
        return lent(self._left_out)

    @property
    def skipped(self) -> pd.DataFrame:
        """The rows that are never sent; their ``problem`` says why."""
        return self.rows.loc[lambda rows: rows["status"].eq("skipped").to_numpy()]

    @property
    def bodies(self) -> pd.DataFrame:
        """The distinct messages; the index is the body number in ``rows``.

        Columns: ``kind, text, content, template_id, template_data, signature`` (str; ``template_data`` is JSON),
        ``recipients`` (Int64), ``encoding`` (str) and ``est_parts`` (Int64; of one message, missing if the text of a
        template is unknown).
        """
        return lent(self._held.bodies)

    @property
    def estimate(self) -> pd.DataFrame:
        """Messages, parts and cost by country, most expensive first.

        The columns are those of `cost.by_country`, prefixed with ``est_`` where they are estimates: ``currency, region,
        country`` (str; ``region`` is our reading of the number, ``iso`` the service's), ``messages, est_parts``
        (Int64), ``rate, est_cost, est_low, est_high`` (float64; ``rate`` is the price of one part, the average if it
        differs by type of number; the last two differ where the rate is known to vary) and ``confidence`` (str;
        ``known``, ``old`` for a rate older than 180 days, ``none``). Unknown values are missing, never 0.
        """
        rows = self._seen()._rows_to_go
        if rows is None:
            return lent(self._estimate)
        return assembly.by_country(rows, assembly.rates(rows, self._asked.rates, today=self._asked.today))

    @property
    def estimate_by_segment(self) -> pd.DataFrame:
        """Messages, parts and cost by segment and currency, in the order of `segments`; empty without segments.

        Columns: ``currency`` (str), the column that `by` names (str; without segments ``segment``), ``messages`` (that
        is, recipients), ``bodies`` (different messages), ``est_parts`` (Int64), ``rate, est_cost, est_low, est_high,
        confidence`` as in `estimate`, and ``encoding`` (str: gsm7, ucs2 or mixed). A segment without recipients has a
        row with zeros. After the send, ``cost.by(results, plan.by)`` has the billed cost in the same groups.
        """
        asked, view = self._asked, self._seen()._view
        rows = view.to_go if isinstance(view, InMemory) else view.rows
        planned = rows[rows["status"].eq("planned").to_numpy() & (self.by is not None)].reset_index(drop=True)
        name = self.by or segments.NAME
        values = segments.as_labels(planned[name] if self.by else planned["note"])
        rates = assembly.rates(planned, asked.rates, today=asked.today)
        return assembly.by_segment(planned, rates, name, values, self._segments)

    @property
    def texts(self) -> pd.Series[str]:
        """The text of every body as its recipients read it, by body number; NaN if a template's text is unknown."""
        return self._asked.wording.reads(self._held.bodies).rename("text")

    def _measure(self, *, replace: Mapping[str, str] = parts.PLAIN) -> pd.DataFrame:
        """Measure the text of every body, as it is and with some characters replaced.

        Returns:
            By body number: ``recipients`` (Int64), ``encoding`` (str), ``parts, units, over`` (Int64, of one message;
            ``over`` is the number of units to remove to save a part), ``forcing`` (str: the characters that force
            ucs2), ``plain_encoding`` (str), ``plain_parts`` (Int64). Missing if a template's text is unknown.
        """
        found = self._held.bodies
        plain = self._asked.wording.reads(bodies.rewritten(found, replace))
        return bodies.measured(self.texts, plain).assign(recipients=found["recipients"])

    @in_our_words
    def preview(self, n: int | None = None) -> pd.DataFrame:
        """Show n messages as those who go now will read them; by default three, or one for each of more segments.

        The first row of each segment and the most expensive text come first, then further texts in order. The index has
        the row labels. ``to`` is masked; ``text`` is complete, with its signature, and NaN if a template's text is
        unknown.

        Returns:
            ``to, text`` (str), ``est_parts`` (Int64), ``encoding`` (str), ``forcing`` (str: the characters that force
            ucs2), ``body`` (Int64, its number), and the column that `by` names if there are segments.
        """
        refuse(not_whole("n", n, least=0, none=True))
        people, shown = self._seen()._view.examples(max(_PREVIEWED, len(self._segments)) if n is None else n, self.by)
        texts = self._asked.wording.reads(shown)
        forcing = ["" if pd.isna(text) else "".join(parts.count(text).forcing) for text in texts]
        frame = pd.DataFrame(
            {
                "to": pd.Series([mask(to) for to in people["to"]], dtype=STR).array,
                "text": texts.array,
                "est_parts": shown["est_parts"].array,
                "encoding": shown["encoding"].array,
                "forcing": pd.Series(forcing, dtype=STR).array,
                "body": people["body"].array,
            },
            index=people.index,
        )
        if isinstance(self._held, InMemory):
            frame = self._held.with_index_names(frame)
        if self.by is None or self.by not in people:
            return frame
        return frame.assign(**{self.by: people[self.by].array})

    def _message(self, body: int) -> Body:
        """Return the message of a body number, as it goes on the wire."""
        asked, words = self._asked.wording.messages[0].body, self._held.body(body).iloc[0]
        if asked.kind == "template":
            data = json.loads(words["template_data"])
            return replace(asked, template_id=str(words["template_id"]), template_data=tuple(data.items()))
        text = str(words[asked.kind])
        return replace(asked, text=text) if asked.kind == "text" else replace(asked, content=text)

    @in_our_words
    def reworded(self, message: Words, *, by: str | pd.Series[Any] | None = None, signature: str | None = None) -> Plan:
        """Return the plan of the same list, campaign and options with other words.

        The numbers are not judged again, and nobody is added or left out except by the words: rows that VALUE_MISSING,
        VALUE_ODD, SEGMENT_MISSING or SEGMENT_UNKNOWN held back are judged anew. Of several rows of one person the one
        that was planned before stays, if the words can be filled for it. Later changes of the frame make no difference.

        Args:
            message: as for `plan`. What a `Message` or `Template` does not say is as before where it still applies.
            by: as for `plan`; by default as before if the new words are by segment.
            signature: as for `plan`; by default as before, but none beside ``Message(..., field="text")``.

        Raises:
            UsageError: something is wrong with the words; the message lists everything.

        Example:
            >>> import smsotp_nb as sms
            >>> people = pd.DataFrame({"phone": ["+12025550123"], "name": ["Ann"]})
            >>> made = sms.plan(people, "Helo {name}", to="phone", campaign="demo", signature="Acme")
            >>> made.reworded("Hello {name}").texts.tolist()
            ['[Acme] Hello Ann']
        """
        if self._made_of is None:
            raise UsageError("the plan of a Folder is planned again for other words: plan(Folder(...), ...)")
        before = self._held.rows["status"].eq("planned").to_numpy()
        made_of = self._made_of.reworded(message, by=by, signature=signature)
        return Plan(**assembly.assemble(made_of, planned_before=before), _ledger=self._ledger, _asks=self._asks)

    @in_our_words
    def with_requests(self, *, threads: int | None = None, isolate_invalid: bool | None = None) -> Plan:
        """Return the same plan, sent by so many threads, or with invalid numbers isolated or not; see `RequestOptions`.

        Example:
            >>> import smsotp_nb as sms
            >>> made = sms.plan(pd.DataFrame({"phone": ["+12025550123"]}), "Hello", to="phone", campaign="demo")
            >>> made.with_requests(threads=8).recipients
            1
        """
        changes = {"threads": threads, "isolate_invalid": isolate_invalid}
        changed = self._wire.replace(**{name: value for name, value in changes.items() if value is not None})
        asked = replace(self._asked, wire=changed)
        return replace(self, _asked=asked, _made_of=self._made_of and replace(self._made_of, asked=asked))

    @property
    def _view(self) -> InMemory | InFiles:
        return self._now or self._held

    @property
    def _rows_to_go(self) -> pd.DataFrame | None:
        """The rows that go now, where they are fewer than planned; None of a Folder."""
        view = self._view
        if view is self._held or not isinstance(view, InMemory):
            return None
        return view.to_go.reset_index(drop=True)

    def _seen(self) -> Plan:
        """Return the plan as it stands to its ledger at this moment."""
        if not self._asks:
            return self
        now = self._ledger._clock() if isinstance(self._ledger, Ledger) else microseconds(utc_now())
        written = _written(self._ledger)
        for of, at, looked in self._last:
            if written and of == written and 0 <= now - at < _LOOK:
                return looked
        try:
            found = prospect_of(self, self._ledger)
        except LedgerError as error:  # it was there when the plan was made
            found = replace(self._prospect or unasked(self), trouble=str(error))
        looked = replace(self, _prospect=None, _now=None, _asks=False) if found is None else seen(self, found)
        self._last[:] = [(_written(self._ledger), now, looked)]
        return looked

    def card(self) -> cards.Card:
        """Return the card: who goes now, at what cost, what becomes of the other rows, messages, what to do next."""
        made, asked = self._seen(), self._asked
        prospect = made._prospect or unasked(self)
        figures, estimate = made._figures, made.estimate
        by = self.by if self._held.folder is None else None  # what is known of segments is read from the rows
        whole = made._rows_to_go is not None or prospect.to_go == self.recipients
        blocks: list[Any] = overview.standing(self._held.figures["rows"], prospect)
        if whole and figures["planned"]:
            blocks[0] = overview.figures_of(figures, estimate)
        if figures["planned"]:
            blocks.append(overview.countries(estimate, "" if whole else f"All {self.recipients:,} that are planned"))
        if figures["planned"] and by is not None:
            blocks.append(overview.segments_of(made.estimate_by_segment, by))
        shown = made.preview(max(_PREVIEWED, min(len(self._segments), _SHOWN)))
        for label, row in zip(shown.index.tolist(), shown.to_dict("records"), strict=True):
            blocks.append(overview.message(label, row, self.by, self._message(row["body"])))
        blocks += prospect.notes()
        blocks += [cards.Note("!", capital(line)) for line in self.advice]
        if by is not None:
            blocks += overview.segment_notes(self._held.rows, by, self._segments)
        joined = self.recipients and asked.wording.kind == "content" and asked.wording.signature
        join = asked.wording.join_text if joined else None
        blocks += overview.source(self.source)
        blocks += overview.left_out(self._left_out)
        blocks += overview.of_columns(self._columns, asked.numbers.to)
        blocks += overview.warnings(made.notes) + overview.old_rates(estimate)
        blocks += [cards.Note("i", _IN_ENGLISH)] if asked.wording.assumed_language else []
        blocks += overview.assumed(figures, estimate, join)
        check = "plan.rows" if self._held.folder is None else "plan.problems and the files"
        if self._held.folder is not None:
            blocks.append(cards.Note("i", f"The rows of this plan are files in {self._held.folder}; they name people."))
        closing = f"Next: check {check}, then send(plan, client)."
        if not figures["planned"]:
            closing = f"Next: nobody goes now; {check} say{'s' * (self._held.folder is None)} why, row by row."
        if not self.recipients:
            closing = f"Next: no row can be sent; {check} say{'s' * (self._held.folder is None)} why. Correct the list."
        urgent = [block for block in blocks if isinstance(block, cards.Note) and block.sign == "!"]
        others = [block for block in blocks[1:] if block not in urgent]
        return cards.Card(f"Plan: {self.campaign}", prospect.state(), (blocks[0], *urgent, *others), closing)

    def __repr__(self) -> str:
        made = self._seen()
        return f"<Plan {visible(self.campaign)}: {overview.summary(made._figures, made.estimate)}>"


def _written(ledger: LedgerOrPath | None) -> list[tuple[int, ...]]:
    """Return what changes when the file of a ledger is written; nothing where that cannot be told, as on a server."""
    with contextlib.suppress(SmsOtpError, OSError):  # the look itself says what is wrong
        path = ledger.path if isinstance(ledger, Ledger) else ledger or own_place()
        files = [Path(str(path)), Path(f"{path}-wal")]
        stats = [file.stat() for file in files if file.exists()] if files[0].is_file() else []
        return [(stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns) for stat in stats]
    return []


def prospect_of(made: Plan, ledger: LedgerOrPath | None) -> Prospect | None:
    """Return what a send of a plan would do; None where no ledger is given and this user has none."""
    if ledger is not None:
        with opened(ledger, begin=True) as book:
            return book._prospect(made)
    own = own_place()
    if isinstance(own, Path) and not own.is_file():
        return None
    try:
        with opened(own) as book:
            return book._prospect(made)
    except LedgerError as error:  # the plan is whole without it, and send meets the same trouble
        return unasked(made, path=own, trouble=str(error))


def seen(plan: Plan, prospect: Prospect) -> Plan:
    """Return a plan as it stands to a ledger by this prospect; it asks none again."""
    held, now = plan._held, None
    if isinstance(held, InMemory) and len(prospect.rows) == len(held.rows):
        columns = {name: prospect.rows[name].array for name in HELD[:2]}
        if not all(held.rows[name].array.equals(column) for name, column in columns.items()):
            now = replace(held, rows=held.rows.assign(**columns))
    return replace(plan, _prospect=prospect, _now=now, _asks=False)


def to_oneself(plan: Plan, to: str, *, row: int | None = None) -> Plan:
    """Return a plan of one row: the message of the planned row of this number or the first one, to ``to``.

    Raises:
        UsageError: ``to`` is no number we would text, or the plan has no such recipient.
    """
    made = not_a("plan", plan, Plan, wanted="what plan(people, message, ...) returned")
    refuse(made, not_whole("row", row, least=0, none=True), said="nothing was sent: ")
    number = phones.normalize(pd.Series([to], dtype=object)).iloc[0]
    if pd.isna(number["to"]):
        raise UsageError(
            f"to= is not a number to text ({number['problem']}); pass it as E.164, such as +1 and ten digits"
        )
    held = plan._held.one(row)
    one = held.rows
    one["to"], one["region"], one["type"] = number["to"], number["region"], number["type"]
    one["chunk"] = pd.array([0], dtype="Int64")
    one["est_cost"], one["est_currency"] = float("nan"), pd.array([None], dtype=STR)  # another country, perhaps
    keys = held.body_keys[one["body"].to_numpy("int64")]
    made = fingerprint([one["to"].tolist()], [keys])
    return replace(plan, fingerprint=made, _kept=(), _held=held, _prospect=None, _now=None, _asks=False)
