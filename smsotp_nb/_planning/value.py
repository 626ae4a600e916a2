"""The plan itself: a frozen value that holds everything a send needs and hands out copies only."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from .. import _wire as wire
from .. import parts
from .._calling import in_our_words, not_replacement, not_whole, refuse
from .._frames import as_pandas
from .._ledger import Prospect, Wordings
from .._pandas import STR, lent
from .._policy import Policy
from ..errors import UsageError
from . import assembly, bodies, estimating, kept_words, overview, segments
from .bodies import Ints
from .making import MadeOf
from .wording import TemplateData, Wording, Words

_PREVIEWED = 3


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Plan:
    """A campaign as it would be sent: the dry run that `plan` returns and ``send`` takes.

    Attributes:
        campaign: the campaign's name, as given to `plan`.
        variant: as given to `plan`.
        chunk_size: as given to `plan`.
        kept: names of your own columns that are carried into the results, that of the segments included.
        by: name of the kept column with each row's segment; None without segments.
        segments: labels of the segments that have a message, in the order in which they were given.
        signature_join: as given to `plan`.
        fingerprint: hex SHA-256 of ``to``, body and order of the planned rows.
        body_keys: int64 array by body number; equal bodies have equal keys.
        hint: advice about the message, or None.
        policy: as given to `plan`.
        prospect: what a send would meet in the ledger: people held back, and how the plan differs from the recorded
            campaign. None where there is no ledger yet.

    Example:
        >>> import smsotp_nb._planning as planning
        >>> people = pd.DataFrame({"phone": ["+12025550123", "hello"]})
        >>> made = planning.plan(people, to="phone", campaign="demo", text="Hello")
        >>> made.rows["status"].tolist(), made.message(0).text
        (['planned', 'skipped'], 'Hello')
    """

    campaign: str
    variant: wire.Variant
    chunk_size: int
    kept: tuple[str, ...]
    by: str | None
    segments: tuple[str, ...]
    signature_join: str
    fingerprint: str
    body_keys: Ints
    hint: str | None
    _rows: pd.DataFrame = field(repr=False)
    _bodies: pd.DataFrame = field(repr=False)
    _estimate: pd.DataFrame = field(repr=False)
    _wording: Wording = field(repr=False)
    _made_of: MadeOf = field(repr=False)
    _first: npt.NDArray[np.intp] = field(repr=False)  # of each body the first row that has it
    policy: Policy | None = None
    prospect: Prospect | None = field(default=None, repr=False)

    @property
    def rows(self) -> pd.DataFrame:
        """The rows of the list, in its order and on its index, with what planning found.

        Columns: ``to, region, type, status, problem, note`` (str; ``status`` is planned or skipped), ``body, chunk,
        est_parts`` (Int64), ``encoding`` (str), ``est_cost`` (float64), ``est_currency`` (str), then the kept columns.
        """
        return lent(self._rows)

    @property
    def skipped(self) -> pd.DataFrame:
        """The rows that will not be sent; their ``problem`` says why."""
        return self._rows[(self._rows["status"] == "skipped").to_numpy()]

    @property
    def bodies(self) -> pd.DataFrame:
        """The distinct messages; the index is the body number in ``rows``.

        Columns: ``kind, text, content, template_id, template_data, signature`` (str; ``template_data`` is JSON),
        ``recipients`` (Int64), ``encoding`` (str) and ``est_parts`` (Int64; of one message, missing if the text of a
        template is unknown).
        """
        return lent(self._bodies)

    @property
    def estimate(self) -> pd.DataFrame:
        """Messages, parts and cost by country, most expensive first.

        The columns are those of `cost.by_country`, prefixed with ``est_`` where they are estimates: ``currency, region,
        country`` (str; ``region`` is our reading of the number, ``iso`` the service's), ``messages, est_parts``
        (Int64), ``rate, est_cost, est_low, est_high`` (float64; ``rate`` is the price of one part, the average if it
        differs by type of number; the last two differ where the rate is known to vary) and ``confidence`` (str;
        ``known``, ``old`` for a rate older than 180 days, ``none``). Unknown values are missing, never 0.
        """
        return lent(self._estimate)

    @property
    def estimate_by_segment(self) -> pd.DataFrame:
        """Messages, parts and cost by segment and currency, in the order of `segments`; empty without segments.

        Columns: ``currency`` (str), the column that `by` names (str; without segments ``segment``), ``messages`` (that
        is, recipients), ``bodies`` (different messages), ``est_parts`` (Int64), ``rate, est_cost, est_low, est_high,
        confidence`` as in `estimate`, and ``encoding`` (str: gsm7, ucs2 or mixed). A segment without recipients has a
        row with zeros. After the send, ``cost.by(results, plan.by)`` has the billed cost in the same groups.
        """
        planned = self._rows[self._rows["status"].eq("planned").to_numpy() & (self.by is not None)]
        planned = planned.reset_index(drop=True)
        name = self.by or segments.NAME
        values = segments.as_labels(planned[name] if self.by else planned["note"])
        asked = self._made_of.asked
        rates = estimating.rates(planned, asked.rates, today=asked.today)
        return estimating.by_segment(planned, rates, name, values, self.segments)

    @property
    def texts(self) -> pd.Series[str]:
        """The text of every body as its recipients read it, by body number; NaN if a template's text is unknown."""
        return self._wording.reads(self._bodies).rename("text")

    @in_our_words
    def measure(self, *, replace: Mapping[str, str] = parts.PLAIN) -> pd.DataFrame:
        """Measure the text of every body, as it is and with some characters replaced.

        Returns:
            By body number: ``recipients`` (Int64), ``encoding`` (str), ``parts, units, over`` (Int64, of one message;
            ``over`` is the number of units to remove to save a part), ``forcing`` (str: the characters that force
            ucs2), ``plain_encoding`` (str), ``plain_parts`` (Int64). Missing if a template's text is unknown.
        """
        refuse(not_replacement("replace", replace))
        plain = self._wording.reads(bodies.rewritten(self._bodies, replace))
        return bodies.measured(self.texts, plain).assign(recipients=self._bodies["recipients"])

    def wordings(self) -> Wordings:
        """Return what the ledger keeps of the plan's words: each wording with its placeholders, and how bodies pack."""
        of = self._made_of
        return kept_words.wordings(of.asked.words, of.frame, self._bodies, self._first, keep=of.asked.keep_bodies)

    @in_our_words
    def preview(self, n: int | None = None) -> pd.DataFrame:
        """Show n messages as real recipients will read them; by default three, or one for each of more segments.

        The first row of each segment and the most expensive text come first, then further texts in order. The index has
        the row labels. ``to`` is masked; ``text`` is complete, with its signature, and NaN if a template's text is
        unknown.

        Returns:
            ``to, text`` (str), ``est_parts`` (Int64), ``encoding`` (str), ``forcing`` (str: the characters that force
            ucs2), ``body`` (Int64, its number), and the column that `by` names if there are segments.
        """
        refuse(not_whole("n", n, least=0, none=True))
        at = self._preview_rows(max(_PREVIEWED, len(self.segments)) if n is None else n)
        body = self._rows["body"].iloc[at].reset_index(drop=True)
        shown = self._bodies.iloc[body.to_numpy(dtype=np.int64)]
        texts = self._wording.reads(shown)
        forcing = ["" if pd.isna(text) else "".join(parts.count(text).forcing) for text in texts]
        frame = pd.DataFrame(
            {
                "to": pd.Series([wire.mask(to) for to in self._rows["to"].iloc[at]], dtype=STR),
                "text": texts.reset_index(drop=True),
                "est_parts": shown["est_parts"].reset_index(drop=True),
                "encoding": shown["encoding"].reset_index(drop=True),
                "forcing": pd.Series(forcing, dtype=STR),
                "body": body,
            }
        )
        if self.by is not None:
            frame[self.by] = self._rows[self.by].iloc[at].array
        return frame.set_axis(self._rows.index[at])

    @in_our_words
    def message(self, body: int) -> wire.Body:
        """Return the message of a body number, as it goes on the wire.

        Raises:
            UsageError: there is no such body.
        """
        refuse(not_whole("body", body, least=0))
        if not 0 <= body < len(self._bodies):
            raise UsageError(f"no body {body}; this plan has {len(self._bodies)}, numbered from 0")
        asked = self._wording.messages[0].body
        if asked.kind == "template":
            data = json.loads(self._bodies["template_data"].array[body])
            template_id = str(self._bodies["template_id"].array[body])
            return replace(asked, template_id=template_id, template_data=tuple(data.items()))
        text = str(self._bodies[asked.kind].array[body])
        return replace(asked, text=text) if asked.kind == "text" else replace(asked, content=text)

    @in_our_words
    def reworded(
        self,
        *,
        text: Words = None,
        content: Words = None,
        template_id: str | Mapping[Any, str] | None = None,
        template_data: TemplateData = None,
        template_text: str | Mapping[Any, str] | None = None,
        by: str | pd.Series[Any] | None = None,
        priority: Sequence[Any] | None = None,
        signature: str | None = None,
        signature_join: str | None = None,
        fill: Mapping[str, Any] | None = None,
        replace: Mapping[str, str] | None = None,
    ) -> Plan:
        """Return the plan of the same list, campaign and options with other words.

        The numbers are not judged again, and nobody is added or left out except by the words: rows that VALUE_MISSING,
        SEGMENT_MISSING or SEGMENT_UNKNOWN held back are judged anew. Of several rows of one person the one that was
        planned before stays, if the words can be filled for it. Later changes of the frame make no difference.

        Args:
            text: as for `plan`. One of ``text``, ``content`` and ``template_id`` is needed.
            content: as for `plan`.
            template_id: as for `plan`.
            template_data: as for `plan`; by default as before.
            template_text: as for `plan`; by default as before if the template is the same.
            by: as for `plan`; by default as before if the new words are by segment.
            priority: as for `plan`; by default as before.
            signature: as for `plan`; by default as before, but (intl) none beside ``text``, which is the whole message.
            signature_join: as for `plan`; by default as before.
            fill: as for `plan`; by default as before where the new words use the column.
            replace: as for `plan`; by default as before.

        Raises:
            UsageError: something is wrong with the words; the message lists everything.

        Example:
            >>> import smsotp_nb as sms
            >>> people = pd.DataFrame({"phone": ["+12025550123"], "name": ["Ann"]})
            >>> made = sms.plan(people, to="phone", campaign="demo", content="Helo {name}", signature="Acme")
            >>> made.reworded(content="Hello {name}").texts.tolist()
            ['[Acme] Hello Ann']
        """
        changes = {
            "text": as_pandas(text),
            "content": as_pandas(content),
            "template_id": template_id,
            "template_data": template_data,
            "template_text": template_text,
            "by": as_pandas(by),
            "priority": priority,
            "signature": signature,
            "signature_join": signature_join,
            "fill": fill,
            "replace": replace,
        }
        before = self._rows["status"].eq("planned").to_numpy()
        return Plan(**assembly.assemble(self._made_of.reworded(changes), planned_before=before), policy=self.policy)

    def _preview_rows(self, n: int) -> list[int]:
        body = self._rows["body"]
        planned = np.flatnonzero(body.notna().to_numpy())
        first = planned[~body.iloc[planned].duplicated().to_numpy()]
        if not len(first):
            return []
        dearest = self._bodies["est_parts"].fillna(0).to_numpy(dtype=np.int64).argmax()
        leading = first[:1] if self.by is None else self._first_of_segments(planned)
        wanted = [*map(int, leading), int(first[dearest]), *map(int, first[:n]), *map(int, planned[:n])]
        return sorted(list(dict.fromkeys(wanted))[: max(n, 0)])

    def _first_of_segments(self, planned: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
        labels = segments.as_labels(self._rows[self.by].iloc[planned])
        return planned[~labels.duplicated().to_numpy()]

    def __repr__(self) -> str:
        return overview.one_line(self)

    def __str__(self) -> str:
        return str(overview.card(self))

    def _repr_html_(self) -> str:
        return overview.card(self).html()
