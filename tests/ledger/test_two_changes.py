"""A plan with other words and new people: what PlanChanged names works, in either order."""

from __future__ import annotations

from pathlib import Path

import pytest
from kills.people import plan_of
from kills.service import Service

from smsotp_nb import Ledger, send
from smsotp_nb.errors import CampaignIncomplete, PlanChanged


@pytest.mark.parametrize("order", [("correct", "extend"), ("extend", "correct")], ids=" ".join)
def test_each_call_does_its_part_and_then_the_plan_is_sent(tmp_path: Path, order: tuple[str, str]) -> None:
    with Service() as service, service.client() as client, Ledger(tmp_path / "l.sqlite", create=True) as ledger:
        with pytest.warns(CampaignIncomplete):
            send(plan_of(4, chunk_size=1), client=client, ledger=ledger, canary=2, progress=False)
        later, campaign = plan_of(6, chunk_size=1, text="Doors open at nine."), ledger.record("autumn")
        with pytest.raises(PlanChanged, match=r"correct\(plan.*extend\(plan"):
            send(later, client=client, ledger=ledger, progress=False)
        assert [getattr(campaign, call)(later) for call in order] == [2, 2]
        assert [getattr(campaign, call)(later) for call in order] == [0, 0]
        assert send(later, client=client, ledger=ledger, progress=False)["status"].eq("accepted").all()
        assert set(service.accepted.values()) == {1}


def test_after_one_of_the_two_the_plan_is_not_sent_yet(tmp_path: Path) -> None:
    with Service() as service, service.client() as client, Ledger(tmp_path / "l.sqlite", create=True) as ledger:
        ledger.begin(plan_of(4), service="scripted").close()
        later = plan_of(6, text="Doors open at nine.")
        ledger.record("autumn").correct(later)
        with pytest.raises(PlanChanged, match=r"extend\(plan"):
            send(later, client=client, ledger=ledger, progress=False)
        assert not service.accepted
