"""Which text each person got: the number in the result table, and the texts that stand under these numbers."""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from support.servers import ledger_of

from smsotp_nb import Ledger, Limits, Message, Plan, RequestOptions, Sandbox, plan, revise, send
from smsotp_nb.errors import CampaignIncomplete

TYPO = {"en": "Hi {name}, 20% of until Sunday", "de": "Hallo {name}, 20 % bis Sonntag"}
WORDS = {"en": "Hi {name}, 20% off until Sunday", "de": TYPO["de"]}
RATES = pd.DataFrame({"iso": ["US"], "currency": ["USD"], "price": [0.0075]})
LAST = {"en": "{name}, the last day", "de": "Letzter Tag, {name} “heute”"}


def people(many: int) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "phone": [f"+1202555{number:04}" for number in range(100, 100 + many)],
            "name": [f"Person {number}" for number in range(many)],
            "language": ["en" if number % 3 else "de" for number in range(many)],
        }
    )


def planned(many: int, words: dict[str, str] | Message, **more: Any) -> Plan:
    chosen: dict[str, Any] = {
        "to": "phone",
        "campaign": "sale",
        "requests": RequestOptions(chunk_size=1),
        "rates": RATES,
        **more,
    }
    return plan(people(many), words, by="language", **chosen)


@pytest.fixture
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ledger]:
    with ledger_of(request, tmp_path) as made:
        yield made


def begin(ledger: Ledger, box: Sandbox, made: Plan, *, first: int) -> None:
    with pytest.warns(CampaignIncomplete):
        send(made, client=box.client(), ledger=ledger, progress=False, limits=Limits(first=first))


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("ledger", ["file", "server"], indirect=True)
@pytest.mark.parametrize("seed", range(3))
def test_a_text_is_that_of_the_inbox_after_typos_corrections_and_extensions(ledger: Ledger, seed: int) -> None:
    chance = random.Random(seed)
    many, words, sent = 12, TYPO, pd.Series(dtype="Int64")
    with Sandbox() as box:
        begin(ledger, box, planned(many, words), first=3)
        campaign = ledger.record("sale")
        for turn in range(5):
            if chance.random() < 0.4:
                many += chance.randint(1, 5)
                revise(planned(many, words), box, reason="more people", ledger=ledger)
            else:
                words = chance.choice([each for each in (TYPO, WORDS, LAST) if each != words])
                revise(planned(many, words), box, reason=f"turn {turn}", ledger=ledger)
            if chance.random() < 0.5:
                budget = {"USD": 0.0075 * chance.randint(4, 5 + 2 * turn)}
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", CampaignIncomplete)
                    send(
                        planned(many, words),
                        client=box.client(),
                        ledger=ledger,
                        progress=False,
                        limits=Limits(budget=budget),
                    )
            rows = campaign.results
            assert rows["message"].notna().all()
            assert rows["message"].value_counts().sort_index().to_dict() == {
                number: had for number, had in campaign.messages["recipients"].items() if had
            }
            assert rows["message"].reindex(sent.index).equals(sent)
            sent = rows.loc[rows["status"].eq("accepted"), "message"]
        results = send(planned(many, words), client=box.client(), ledger=ledger, progress=False)
        inbox = dict(zip(box.inbox["to"], box.inbox["text"], strict=True))
    said = results["message"].map(campaign.messages["words"])
    got = [text.replace("{name}", name) for text, name in zip(said, people(many)["name"], strict=True)]
    assert got == [inbox[to] for to in results["to"]]
    assert results["message"].equals(campaign.results["message"])


def test_each_text_says_whose_it_is_and_why_it_came(ledger: Ledger) -> None:
    with Sandbox() as box:
        begin(ledger, box, planned(6, TYPO), first=3)
        campaign = ledger.record("sale")
        revise(planned(6, WORDS), box, reason="of is off", ledger=ledger)
        results = send(planned(6, WORDS), client=box.client(), ledger=ledger, progress=False)
        typo = results[results["message"].eq(2)]
        assert box.inbox.set_index("to").loc[typo["to"], "text"].str.contains("20% of until").all()
    messages = campaign.messages
    assert 0 < len(typo) < 4
    assert messages.index.name == "message"
    names = ["segment", "version", "words", "encoding", "parts", "recipients"]
    assert messages[names].astype(object).values.tolist() == [
        ["de", 1, TYPO["de"], "gsm7", 2, 2],
        ["en", 1, TYPO["en"], "gsm7", len(typo), len(typo)],
        ["en", 2, WORDS["en"], "gsm7", 4 - len(typo), 4 - len(typo)],
    ]
    assert messages["reason"].isna().tolist() == [True, True, False]
    assert messages["reason"].iat[2] == "of is off"
    assert messages["since"].is_monotonic_increasing


def test_a_row_to_go_has_the_text_that_it_would_get_and_one_that_does_not_go_has_none(ledger: Ledger) -> None:
    made = planned(3, TYPO, exclude=["+12025550101"])
    ledger._begin(made, service="sandbox:a").close()
    campaign = ledger.record("sale")
    assert campaign.results["message"].isna().tolist() == [False, True, False]
    campaign.withdraw()
    assert campaign.results["message"].isna().all()
    assert campaign.messages["recipients"].tolist() == [0, 0]


def test_where_words_are_not_kept_their_number_still_tells_them_apart(ledger: Ledger) -> None:
    ledger._begin(planned(4, Message(TYPO, keep_words=False)), service="sandbox:a").close()
    campaign = ledger.record("sale")
    ledger._revise(planned(4, Message(WORDS, keep_words=False)), service="sandbox:a", reason="typo")
    assert campaign.messages["words"].isna().all()
    assert campaign.messages["recipients"].sum() == 4
    assert campaign.messages["version"].max() == 2
