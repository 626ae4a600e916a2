"""However a campaign went so far: all that shows a number of those to go shows how many the next send texts."""

from __future__ import annotations

import contextlib
import re
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pandas as pd
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from smsotp_nb import Ledger, Limits, People, Plan, Policy, Sandbox, charts, plan, preflight, record, revise
from smsotp_nb._cli.sending import _ahead
from smsotp_nb._ledger import Prospect
from smsotp_nb._progress import words
from smsotp_nb._widgets.campaign.choices import Choices, Guards
from smsotp_nb._widgets.campaign.steps import CampaignSteps, in_both
from smsotp_nb._widgets.campaigns.steps import CampaignsSteps, Question
from smsotp_nb.errors import SmsOtpError
from smsotp_nb.results import Progress

from .sending import Clock, sent

NUMBERS: Final = [f"+1202555{n:04}" for n in range(100, 118)]
ROWS: Final = [*NUMBERS, NUMBERS[0], "hello"]
# What the sandbox bills, so that a budget ends where the estimate says.
RATES: Final = pd.DataFrame({"iso": ["US"], "currency": ["USD"], "price": ["0.0075"]})
LIMITS: Final = (
    Limits(),
    Limits(first=3),
    Limits(first=9),
    Limits(budget={"USD": "0.0525"}),
    Limits(budget={"USD": 0.001}),
    Limits(budget={"EUR": 5}),
    Limits(quiet_hours=("00:00", "23:59")),
    Limits(quiet_hours=("04:00", "05:00"), first=4),
)
FIELDS: Final[list[dict[str, str | int]]] = [
    {},
    {"canary": 3},
    {"budget": "USD 0.0525"},
    {"quiet_from": "00:00", "quiet_to": "23:59"},
]
some = st.lists(st.sampled_from(NUMBERS), min_size=1, max_size=6, unique=True)
STEPS: Final = st.one_of(
    st.tuples(st.just("send"), st.sampled_from(LIMITS)),
    st.tuples(st.just("opt out"), some),
    st.tuples(st.just("opt in"), some),
    st.tuples(st.just("forget"), some),
    st.tuples(st.just("same text"), some),
    st.tuples(st.just("another text"), some),
    st.tuples(st.just("later"), st.sampled_from([1, 30, 80])),
    st.tuples(st.just("withdraw"), some),
    st.tuples(st.just("lose"), st.just(None)),
    st.tuples(st.just("settle"), st.booleans()),
    st.tuples(st.just("retry"), st.just(None)),
    st.tuples(st.just("leave out"), some),
    st.tuples(st.just("reword"), st.just(None)),
    st.tuples(st.just("shorten"), st.just(None)),
    st.tuples(st.just("revise"), st.just(None)),
)


@dataclass
class Story:
    box: Sandbox
    ledger: Ledger
    clock: Clock
    text: str = "Hello!"
    rows: list[str] = field(default_factory=lambda: [*ROWS])
    left_out: list[str] = field(default_factory=list)

    def plan(self) -> Plan:
        return self._planned("autumn", self.rows, self.text, exclude=self.left_out or None)

    def _planned(self, name: str, rows: list[str], text: str, **more: Any) -> Plan:
        policy = Policy(caps=[(2, "24h")])
        made = plan(
            pd.DataFrame({"phone": rows}), text, to="phone", campaign=name, rates=RATES, policy=policy,
            ledger=self.ledger, **more,
        )  # fmt: skip
        return made.with_requests(threads=1)

    def take(self, step: str, value: Any) -> None:
        with contextlib.suppress(SmsOtpError):  # a step that this history does not allow changes nothing
            getattr(self, step.replace(" ", "_"))(value)

    def send(self, limits: Limits) -> None:
        sent(self.plan(), self.box, self.ledger, limits=limits)

    def opt_out(self, who: list[str]) -> None:
        People(self.ledger, now=self.clock).opt_out(who, source="letter")

    def opt_in(self, who: list[str]) -> None:
        People(self.ledger, now=self.clock).opt_in(who, source="letter")

    def forget(self, who: list[str]) -> None:
        People(self.ledger, now=self.clock).forget(who)

    def same_text(self, who: list[str]) -> None:
        sent(self._planned(f"other {self.clock.at:%H%M}", who, self.text), self.box, self.ledger)

    def another_text(self, who: list[str]) -> None:
        sent(self._planned(f"another {self.clock.at:%H%M}", who, "Other words"), self.box, self.ledger)

    def later(self, hours: int) -> None:
        self.clock.later(hours=hours)

    def withdraw(self, who: list[str]) -> None:
        campaign = record("autumn", self.box, self.ledger)
        campaign.withdraw(campaign.results.loc[lambda rows: rows["to"].isin(who)], reason="moved")

    def lose(self, _: None) -> None:
        self.box.fault("drop_after", next=1)
        sent(self.plan(), self.box, self.ledger, limits=Limits(first=2))

    def settle(self, accepted: bool) -> None:
        campaign = record("autumn", self.box, self.ledger)
        campaign.settle(campaign.in_doubt, accepted=accepted, evidence="asked")

    def retry(self, _: None) -> None:
        record("autumn", self.box, self.ledger).retry()

    def leave_out(self, who: list[str]) -> None:
        self.left_out = who

    def reword(self, _: None) -> None:
        self.text += " Again!"

    def shorten(self, _: None) -> None:
        self.rows = self.rows[1:]

    def revise(self, _: None) -> None:
        revise(self.plan(), self.box, reason="typo", missing="withdraw", ledger=self.ledger)


def going(card: object) -> int:
    found = re.search(r"([\d,]+) +recipients? to go now", str(card))
    assert found is not None
    return int(found[1].replace(",", ""))


def whole(card: object) -> tuple[int, int]:
    """Return the sum of the lines under the headline, and what the card says that it is."""
    lines = str(card).split("Rows that ", 1)
    if len(lines) == 1:
        return len(ROWS), len(ROWS)
    table = lines[1].split("\n\n", 1)[0].splitlines()[1:]
    counts = [int(found[1]) for line in table if (found := re.match(r"\S[^\d]*? {2,}(\d+)(?: |$)", line))]
    return sum(counts[:-1]), counts[-1]


def tell(story: Story, limits: Limits) -> None:
    """Compare all that shows how many go now with how many then went."""
    made, before = story.plan(), len(story.box.inbox)
    ahead = preflight(made, story.box, limits=limits, ledger=story.ledger)
    free = preflight(made, story.box, ledger=story.ledger)
    prospect = story.ledger._prospect(made, service=story.box.service)
    rows = made.rows
    counts = {
        "prospect": prospect.to_go,
        "plan": going(made),
        "preflight": going(free),
        "figures": made._figures["planned"],
        "rows": int((rows["status"].eq("planned") & rows["problem"].isna()).sum()),
        "estimate": int(made.estimate["messages"].sum()),
        "repr": int(re.search(r"([\d,]+) recipients? to go", repr(made))[1]),  # type: ignore[index]
    }
    counts |= dry_run(made, free, prospect) | page(made, story)
    counts["HTML"] = going(re.sub(r"<[^>]+>", " ", made._repr_html_().partition("</style>")[2]))
    assert len(set(counts.values())) == 1, counts
    assert dry_run(made, ahead, prospect)["dry run"] == going(ahead)
    assert int(prospect.lines["rows"].sum()) == len(rows) == made._held.figures["rows"]
    for card in (made, ahead, free):
        assert len(set(whole(card))) == 1
    assert not set(made.preview()["to"]) - {f"{to[:5]}...{to[-4:]}" for to in rows.loc[rows["problem"].isna(), "to"]}
    updates: list[Progress] = []
    try:
        sent(made, story.box, story.ledger, limits=limits, progress=updates.append)
    except SmsOtpError:
        assert len(story.box.inbox) == before
    assert going(ahead) == len(story.box.inbox) - before
    assert made.rows["status"].isin(["accepted", "in_doubt"]).sum() >= going(ahead)
    if updates:
        first, last = updates[0], updates[-1]
        assert first.left == going(ahead), (first, limits)
        assert (last.left, last.total, last.waiting) == (0, first.total, first.waiting)
        assert last.waiting == made.rows["status"].eq("planned").sum()
        campaign, counts = record("autumn", story.box, story.ledger), story.ledger.campaigns().set_index("campaign")
        assert f"{campaign.counts['accepted']} accepted" in words(last)
        assert counts.loc["autumn", "accepted"] == campaign.counts["accepted"] == reported(campaign.results, story)


def dry_run(made: Plan, ready: Any, prospect: Prospect) -> dict[str, int]:
    """Return whom the card of ``smsotp-nb send`` counts, and its table of countries, which is without limits."""
    card = _ahead(made, ready)
    table = next((block for block in card.blocks if getattr(block, "columns", ("",))[0] == "Country"), None)
    if table is None:
        return {"dry run": going(card), "countries": prospect.to_go}
    found = re.search(r"[\d,]+", table.title)
    assert found is None or int(found[0]) == prospect.to_go
    return {"dry run": going(card), "countries": sum(row[1] for row in table.rows)}


def page(made: Plan, story: Story) -> dict[str, int]:
    """Return how many the campaigns page would send to, on its button and of the rows of its card."""
    steps = CampaignsSteps([story.ledger], client=story.box.client(), plans=[made])
    steps.take(steps.read(Question()))
    entry = next((one for one in steps.answer.listing.entries if one.name == "autumn"), None)
    if entry is None:
        return {}
    steps.open(entry)
    assert steps.opened is not None
    if not steps.opened.waiting or steps.needed():
        return {"page": steps.opened.to_go}
    return {"button": int(re.search(r"(\d+) message", steps.send_label())[1])}  # type: ignore[index]


def reported(results: pd.DataFrame, story: Story) -> int:
    """Return how many messages the report of a campaign counts."""
    path = charts.report(results, Path(story.ledger.path).with_suffix(".html"), overwrite=True)
    found = re.search(r"([\d,]+) messages? costs? ", path.read_text(encoding="utf-8"))
    return int(found[1]) if found else 0


@contextlib.contextmanager
def told(history: list[tuple[str, Any]]) -> Iterator[Story]:
    """Let a history happen, and go on from there."""
    clock = Clock()
    with (
        tempfile.TemporaryDirectory() as folder,
        Sandbox() as box,
        Ledger(Path(folder) / "ledger.sqlite", create=True, now=clock) as ledger,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        story = Story(box, ledger, clock)
        for step, value in history:
            story.take(step, value)
            clock.later(minutes=1)
        box.clear_faults()
        yield story


# The plan is not the recorded one, and somebody in it was forgotten.
FORGOTTEN = [("send", Limits(budget={"EUR": 5})), ("leave out", [ROWS[13]]), ("forget", [ROWS[12]]),
             ("withdraw", [ROWS[13]])]  # fmt: skip


@pytest.mark.slow
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(history=st.lists(STEPS, max_size=7), limits=st.sampled_from(LIMITS))
@example(history=FORGOTTEN, limits=Limits())
@example(history=[("lose", None), ("forget", [ROWS[0]])], limits=Limits())
def test_what_is_said_to_go_is_what_goes(history: list[tuple[str, Any]], limits: Limits) -> None:
    with told(history) as story:
        tell(story, limits)


@pytest.mark.slow
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(history=st.lists(STEPS, max_size=6), fields=st.sampled_from(FIELDS))
def test_the_button_of_the_form_says_what_goes(history: list[tuple[str, Any]], fields: dict[str, str | int]) -> None:
    """So do the sentence above it and the number to be typed; where the text changed, the form revises first."""
    with told(history) as story:
        people, text = pd.DataFrame({"phone": story.rows}), story.text
        steps = CampaignSteps(
            people, client=story.box.client(), ledger=story.ledger, policy=Policy(caps=[(2, "24h")]), type_above=0
        )
        wanted = Choices(
            campaign="autumn", to="phone", kind="text", words=text, rates=RATES, exclude=story.left_out or None
        )
        if not steps.check(wanted):
            steps.check(wanted, both=in_both(steps.met))
        if steps.stage != "planned":
            return  # such as: nobody on the list can be texted
        guards, before = Guards(fields), len(story.box.inbox)
        going = steps.going(guards)
        sentence = steps.summary(guards)
        assert sentence.startswith(f"{going} p")
        numbers = [
            int(found) for found in re.findall(r"(\d+)(?: people| person| texted| held back| left out)", sentence)
        ]
        assert sum(numbers) == len(story.rows)
        assert f"{going} " in steps.send_label(guards)
        steps.send(guards, steps.to_type(guards))
        assert len(story.box.inbox) - before == going, (sentence, steps.refusal, steps.notice)
