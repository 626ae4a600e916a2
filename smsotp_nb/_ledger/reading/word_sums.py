"""What accepted messages were billed, by what they say and how they pack."""

from __future__ import annotations

import pandas as pd

from ..book import LedgerOrPath
from ..rows.wordings import words_of
from .spending import services_asked, snapshot_of, span_of, summed, table_of


def word_sums(
    ledger: LedgerOrPath, *, campaign: int | None, service: str | None, since: object, until: object, tz: str
) -> pd.DataFrame:
    """Return sums of a ledger's accepted messages by campaign, day, price and words; purged campaigns have none.

    Columns: ``campaign, segment, wording, variables, currency, forcing`` (missing where not known), ``day``
    (datetime64), ``version, said`` (the number of the wording), ``each_parts, plain_parts, gsm_parts`` (of one
    message), and integers ``messages, parts, micros, priced, priced_parts``.
    """
    span = span_of(since, until, tz)
    with snapshot_of(ledger) as store:
        campaigns = services_asked(store, service)
        if campaign is not None:
            campaigns = campaigns[campaigns.index == campaign]
        purged = table_of(store, "SELECT id FROM campaign WHERE purged<>0", ()).index
        known = [number for number in campaigns.index if number not in purged]
        recorded = summed(store, known, span, tz, words=True)
        with store.reading() as connection:
            words = words_of(connection)
    return recorded.join(words, on="measure").join(campaigns, on="number")
