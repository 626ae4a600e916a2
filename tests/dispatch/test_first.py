"""``Limits(first=n)`` texts the first n rows of the list, whatever the threads do and however rows are packed."""

from __future__ import annotations

import re

import pandas as pd
import pytest

from smsotp_nb import Ledger, Limits, Plan, RequestOptions, Sandbox, plan, preflight, send

ROWS = 120


def bilingual(ledger: Ledger, *, chunk_size: int = 7) -> Plan:
    """A plan whose neighbouring rows never stand in one request, because their texts differ."""
    people = pd.DataFrame(
        {
            "phone": [f"+1303200{number:04d}" for number in range(ROWS)],
            "language": ["en", "fr", "es"] * (ROWS // 3),
        }
    )
    messages = {"en": "Doors open at eight.", "fr": "Ouverture des portes.", "es": "Las puertas se abren."}
    requests = RequestOptions(chunk_size=chunk_size, threads=8)
    return plan(people, messages, campaign="doors", to="phone", by="language", requests=requests, ledger=ledger)


def accepted(results: pd.DataFrame) -> list[int]:
    return [place for place, status in enumerate(results["status"]) if status == "accepted"]


@pytest.mark.filterwarnings("ignore::smsotp_nb.errors.CampaignIncomplete")
@pytest.mark.parametrize("first", [1, 25, 50])
def test_the_first_are_the_first_of_the_list(box: Sandbox, ledger: Ledger, first: int) -> None:
    """Three languages, small requests and eight threads; the card before says the same number."""
    made = bilingual(ledger)
    line = rf" {first}  recipients? to go now"
    assert re.search(line, preflight(made, box, limits=Limits(first=first)).text())
    results = send(made, box, progress=False, limits=Limits(first=first))
    assert accepted(results) == list(range(first))
    assert set(results["problem"].iloc[first:]) == {"CANARY"}
    again = send(made, box, progress=False, limits=Limits(first=first + 10))
    assert accepted(again) == list(range(first + 10))
    rest = send(made, box, progress=False)
    assert accepted(rest) == list(range(ROWS))
    assert box.inbox["to"].is_unique
