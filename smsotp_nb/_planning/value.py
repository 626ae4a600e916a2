"""The plan itself: a frozen value that holds everything a send needs and hands out copies only."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from .. import _wire as wire
from .. import parts
from .._arguments import not_replacement, not_whole, refuse
from .._calls import in_our_words
from .._pandas import STR, lent
from ..errors import UsageError
from . import bodies, overview
from .bodies import Ints
from .wording import Wording


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Plan:
    """A campaign as it would be sent: the dry run that `plan` returns and ``send`` takes.

    Attributes:
        campaign: the campaign's name, as given to `plan`.
        variant: as given to `plan`.
        chunk_size: as given to `plan`.
        kept: names of your own columns that are carried into the results.
        signature_join: as given to `plan`.
        fingerprint: hex SHA-256 of ``to``, body and order of the planned rows.
        body_keys: int64 array by body number; equal bodies have equal keys.
        hint: advice about the message, or None.

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
    signature_join: str
    fingerprint: str
    body_keys: Ints
    hint: str | None
    _rows: pd.DataFrame = field(repr=False)
    _bodies: pd.DataFrame = field(repr=False)
    _estimate: pd.DataFrame = field(repr=False)
    _wording: Wording = field(repr=False)

    @property
    def rows(self) -> pd.DataFrame:
        """The rows of the list, in its order and on its index, with what planning found.

        Columns: ``to, region, type`` (str), ``status`` (planned or skipped), ``problem, note`` (str), ``body, chunk,
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

        Columns: ``kind, text, content, template_id, template_data`` (JSON text), ``signature`` (str), ``recipients``
        (Int64), ``encoding`` (str) and ``est_parts`` (Int64, of one message; missing if a template's text is unknown).
        """
        return lent(self._bodies)

    @property
    def estimate(self) -> pd.DataFrame:
        """Messages, parts and cost by country, most expensive first.

        The columns are those of `cost.by_country`, prefixed with ``est_`` where they are estimates: ``currency, region,
        country`` (str; ``region`` is our reading of the number, ``iso`` the service's), ``messages, est_parts``
        (Int64), ``rate`` (price of one part; the average if it differs by type of number), ``est_cost``, ``est_low,
        est_high`` (float64; where the rate is known to vary) and ``confidence`` (str: ``known``, ``old`` for a rate
        older than 180 days, ``none``). Unknown values are missing, never 0.
        """
        return lent(self._estimate)

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

    @in_our_words
    def preview(self, n: int = 3) -> pd.DataFrame:
        """Show n messages as real recipients will read them.

        The first planned row and the most expensive text come first, then further texts in order. The index has the row
        labels. ``to`` is masked; ``text`` is complete, with its signature, and NaN if a template's text is unknown.

        Returns:
            ``to, text`` (str), ``est_parts`` (Int64), ``encoding`` (str), ``forcing`` (str: the characters that force
            ucs2), ``body`` (Int64, its number).
        """
        refuse(not_whole("n", n, least=0))
        at = self._preview_rows(n)
        body = self._rows["body"].iloc[at].reset_index(drop=True)
        shown = self._bodies.iloc[body.to_numpy(dtype=np.int64)]
        texts = self._wording.reads(shown)
        forcing = ["" if pd.isna(text) else "".join(parts.count(text).forcing) for text in texts]
        return pd.DataFrame(
            {
                "to": pd.Series([wire.mask(to) for to in self._rows["to"].iloc[at]], dtype=STR),
                "text": texts.reset_index(drop=True),
                "est_parts": shown["est_parts"].reset_index(drop=True),
                "encoding": shown["encoding"].reset_index(drop=True),
                "forcing": pd.Series(forcing, dtype=STR),
                "body": body,
            }
        ).set_axis(self._rows.index[at])

    @in_our_words
    def message(self, body: int) -> wire.Body:
        """Return the message of a body number, as it goes on the wire.

        Raises:
            UsageError: there is no such body.
        """
        refuse(not_whole("body", body, least=0))
        if not 0 <= body < len(self._bodies):
            raise UsageError(f"no body {body}; this plan has {len(self._bodies)}, numbered from 0")
        asked = self._wording.body
        if asked.kind == "template":
            data = json.loads(self._bodies["template_data"].array[body])
            return replace(asked, template_data=tuple(data.items()))
        text = str(self._bodies[asked.kind].array[body])
        return replace(asked, text=text) if asked.kind == "text" else replace(asked, content=text)

    def _preview_rows(self, n: int) -> list[int]:
        body = self._rows["body"]
        planned = np.flatnonzero(body.notna().to_numpy())
        first = planned[~body.iloc[planned].duplicated().to_numpy()]
        if not len(first):
            return []
        dearest = self._bodies["est_parts"].fillna(0).to_numpy(dtype=np.int64).argmax()
        wanted = [int(first[0]), int(first[dearest]), *map(int, first[:n]), *map(int, planned[:n])]
        return sorted(list(dict.fromkeys(wanted))[: max(n, 0)])

    def __repr__(self) -> str:
        return overview.one_line(self)

    def __str__(self) -> str:
        return overview.card(self).text()

    def _repr_html_(self) -> str:
        return overview.card(self).html()
