"""What ``preflight`` and a plan's card say of a send is what the send then does, whichever rule holds people back."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from smsotp_nb import Folder, Ledger, Limits, People, Policy, Sandbox, plan, preflight

from .sending import NUMBERS, Clock, plan_of, sent

RATES = pd.DataFrame({"iso": ["US"], "currency": ["USD"], "price": ["0.01"]})
POLICY = Policy(caps=[(1, "24h")])
HELD = NUMBERS[:8]
Before = Callable[[Sandbox, Ledger], object]


def said(card: object) -> tuple[int, str]:
    """Return how many a card says would be texted now, and at what cost."""
    words = " ".join(str(card).split())
    many, cost = re.search(r"(\d+) recipients? to go now (.+?) cost, estimated", words).groups()  # type: ignore[union-attr]
    return int(many), cost


def withdraw(box: Sandbox, ledger: Ledger) -> None:
    sent(plan_of("autumn", rates=RATES, policy=POLICY), box, ledger, limits=Limits(first=5))
    campaign = ledger.record("autumn")
    campaign.withdraw(campaign.results.loc[20:24], reason="moved away")


RULES: dict[str, Before] = {
    "opted out": lambda _, ledger: People(ledger).opt_out(HELD, source="letter"),
    "forgotten": lambda _, ledger: People(ledger).forget(HELD),
    "capped": lambda box, ledger: sent(plan_of("other", HELD, text="Another"), box, ledger),
    "same text": lambda box, ledger: sent(plan_of("other", HELD), box, ledger),
    "begun": lambda box, ledger: sent(
        plan_of("autumn", rates=RATES, policy=POLICY), box, ledger, limits=Limits(first=5)
    ),
    "begun, then opted out": lambda box, ledger: (
        sent(plan_of("autumn", rates=RATES, policy=POLICY), box, ledger, limits=Limits(first=5)),
        People(ledger).opt_out(NUMBERS[3:9], source="letter"),
    ),
    "withdrawn": withdraw,
    "approval": lambda _, ledger: ledger.require_approval(),
}


def test_what_is_shown_together_is_of_one_look(ledger: Ledger, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """A notebook asks for a plan's text and its HTML; a change of the ledger, or a second later, is another look."""
    made, looks, ask = plan_of("autumn", policy=POLICY, ledger=ledger), list[str](), Ledger._prospect
    monkeypatch.setattr(Ledger, "_prospect", lambda *of, **more: (looks.append(of[1].campaign), ask(*of, **more))[1])
    for change in (lambda: None, lambda: People(ledger).opt_out(HELD, source="letter"), lambda: clock.later(seconds=1)):
        change()
        looks.clear()
        shown = repr(made), made._repr_html_(), str(made), made.rows, made._figures, made.problems, made.estimate
        assert len(looks) == 1
        going = int((shown[3]["status"].eq("planned") & shown[3]["problem"].isna()).sum())
        assert going == shown[4]["planned"] == len(NUMBERS) - shown[5]["rows"].sum() == shown[6]["messages"].sum()
    assert going == len(NUMBERS) - len(HELD)
    assert len({id(made.with_requests(threads=2)._seen()), id(made._seen())}) == 2


@pytest.mark.parametrize("rule", RULES)
def test_a_preflight_counts_whom_the_send_then_texts(rule: str, box: Sandbox, ledger: Ledger, clock: Clock) -> None:
    RULES[rule](box, ledger)
    clock.later(minutes=1)
    made = plan_of("autumn", rates=RATES, policy=POLICY, ledger=ledger)
    before = len(box.inbox)
    many, cost = said(preflight(made, client=box.client(), ledger=ledger, now=clock))
    assert said(made) == (many, cost)
    sent(made, box, ledger)
    assert many == len(box.inbox) - before < len(NUMBERS)
    assert cost == (f"USD {many / 100:.2f}" if many else "–")


@pytest.mark.parametrize("rule", ["opted out", "same text", "capped"])
def test_a_plan_larger_than_memory_says_the_same(rule: str, box: Sandbox, ledger: Ledger, tmp_path: Path) -> None:
    RULES[rule](box, ledger)
    (tmp_path / "list").mkdir()
    pd.DataFrame({"phone": NUMBERS}).to_parquet(tmp_path / "list" / "people.parquet")
    made = plan(
        Folder(tmp_path / "list", into=tmp_path / "plan"),
        "Hello!",
        to="phone",
        campaign="autumn",
        rates=RATES,
        policy=POLICY,
        ledger=ledger,
    )
    card = preflight(made, client=box.client(), ledger=ledger)
    assert said(card) == said(made) == (22, "USD 0.22")


def test_guards_look_at_those_who_would_be_texted(box: Sandbox, ledger: Ledger, clock: Clock) -> None:
    """Eight of thirty are opted out: a budget for twenty-two is enough, and at night it is quiet for twenty-two."""
    People(ledger, now=clock).opt_out(HELD, source="letter")
    made, night = plan_of("autumn", rates=RATES), ("21:00", "20:59")
    card = preflight(
        made,
        client=box.client(),
        ledger=ledger,
        now=clock,
        limits=Limits(budget={"USD": "0.22"}, quiet_hours=night),
    )
    assert said(card) == (0, "–")
    assert re.search(r"QUIET_HOURS +22 ", str(card))
    card = preflight(made, box.client(), ledger=ledger, now=clock, limits=Limits(budget={"USD": "0.22"}, per_second=1))
    assert said(card) == (22, "USD 0.22")
    assert "about 22 s" in str(card)


def test_a_plan_that_nothing_holds_back_has_no_table_of_its_rows(ledger: Ledger) -> None:
    assert "Rows that" not in str(plan_of("autumn", rates=RATES, ledger=ledger))
