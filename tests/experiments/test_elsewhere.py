"""People of an experiment who are texted by other campaigns: said by the plan, at the send, and in the reading."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from smsotp_nb import Experiment, Folder, Ledger, Plan, Policy, RequestOptions, Sandbox, plan, preflight, send
from smsotp_nb.errors import SmsOtpWarning

from .people import arms_of, customers, experiment, send_arms

BEGUN = datetime.fromisoformat("2026-11-12T10:00+00:00")
HOW: dict[str, Any] = {"outcomes": {"bought": "binary"}}


class Time:
    def __init__(self) -> None:
        self.now = BEGUN

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Time:
    return Time()


@pytest.fixture
def ledger(tmp_path: Path, clock: Time) -> Iterator[Ledger]:
    with Ledger(tmp_path / "l.sqlite", create=True, now=clock) as made:
        yield made


def drawn(ledger: Ledger, **more: Any) -> Experiment:
    """Return the experiment, drawn on its first day."""
    test = experiment(ledger, now=lambda: BEGUN, **HOW | more)
    test.assign(customers(), to="phone")
    return test


def sizes(test: Experiment) -> dict[str, int]:
    return {arm: int(many) for arm, many in test.assign(customers(), to="phone").frame["arm"].value_counts().items()}


def newsletter(ledger: Ledger, campaign: str, **more: Any) -> Plan:
    return plan(customers(), f"News of {campaign}", to="phone", campaign=campaign, ledger=ledger, **more)


def send_quietly(made: Plan, box: Sandbox, ledger: Ledger) -> pd.DataFrame:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmsOtpWarning)
        return send(made, client=box.client(), ledger=ledger, progress=False)


def read_later(ledger: Ledger, days: int = 20, **more: Any) -> Any:
    orders = pd.DataFrame({"customer": ["c001", "c002"], "at": pd.Timestamp(BEGUN) + pd.Timedelta(days=1)})
    test = experiment(ledger, now=lambda: BEGUN + timedelta(days=days), **HOW | more)
    return test.read(orders, at="at")


def meant_by(made: Plan) -> str:
    """Return which campaign of an experiment a plan is said to mean."""
    said = re.search(r"Call the campaign '(.*?)'", " ".join(str(made).split()))
    return said[1] if said else ""


# -- before it is sent -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("campaign", "meant"),
    [
        ("autumn-2", "autumn/2"), ("Autumn_week 2", "autumn/week 2"), ("AUTUMN.b", "autumn/b"),
        ("autumn:b", "autumn/b"),
        ("autumn b/c", "autumn/b/c"), ("autumn2", "autumn/2"), ("autumn\u2013b", "autumn/b"), ("au-tumn", "autumn"),
        ("autunm/plain", "autumn/plain"), ("autum plain", "autumn/plain"), ("auttumn", "autumn"),
        ("autumn--b", "autumn/b"), ("spring", ""), ("late autumn", ""), ("au", ""),
    ],
)  # fmt: skip
def test_a_name_that_begins_like_an_experiment_s_is_taken_for_one_of_its_campaigns(
    ledger: Ledger, campaign: str, meant: str
) -> None:
    drawn(ledger)
    assert meant_by(newsletter(ledger, campaign)) == meant


@pytest.mark.parametrize(
    ("campaign", "name", "meant"),
    [
        ("winter-2", "winter-1", ""), ("winter 1 b", "winter-1", "winter-1/b"), ("winter-12", "winter-1", ""),
        ("vips-b", "vip", ""), ("vip-b", "vip", "vip/b"), ("sales 3", "sale", "sale/3"),
    ],
)  # fmt: skip
def test_another_number_and_a_short_word_are_other_names(ledger: Ledger, campaign: str, name: str, meant: str) -> None:
    experiment(ledger, name, now=lambda: BEGUN, **HOW).assign(customers(), to="phone")
    assert meant_by(newsletter(ledger, campaign)) == meant


def test_a_plan_that_texts_the_holdout_by_a_near_name_says_so_everywhere(ledger: Ledger, box: Sandbox) -> None:
    """On the card, before the send, and by a warning with which nothing was sent yet."""
    many = sizes(drawn(ledger))
    held, others = many["holdout"], many["emoji"]
    made = newsletter(ledger, "Autumn-plain")
    said = f"{held} recipients are held out by the experiment 'autumn' and will be texted."
    asked = "'Autumn-plain' is none of its campaigns. Is it meant to be one? Call the campaign 'autumn/plain'"
    for card in (made, preflight(made, client=box.client(), ledger=ledger)):
        text = " ".join(str(card).split())
        assert said in text
        assert f"{others} recipients are in another arm of the experiment 'autumn' and will be texted." in text
        assert asked in text
        assert "pass exclude=" in text
    with pytest.raises(SmsOtpWarning, match=re.escape(said)):
        send(made, client=box.client(), ledger=ledger, progress=False)
    assert len(box.inbox) == 0
    with pytest.warns(SmsOtpWarning, match=re.escape(asked)) as caught:
        send(made, client=box.client(), ledger=ledger, progress=False)
    assert caught[0].filename == __file__
    assert send(made, client=box.client(), ledger=ledger, progress=False)["status"].eq("accepted").all()


def test_the_way_that_is_named_leaves_them_out(ledger: Ledger, box: Sandbox) -> None:
    """By the name, and by exclude= with the rows of the holdout."""
    frame = drawn(ledger).assign(customers(), to="phone").frame
    held = frame[frame["arm"].eq("holdout").to_numpy(bool)]
    for made in (newsletter(ledger, "autumn/b"), newsletter(ledger, "spring", exclude=held)):
        assert "will be texted" not in str(made)
        send(made, client=box.client(), ledger=ledger, progress=False)
    assert not set(box.inbox["to"]) & set(held["phone"])


def test_a_campaign_of_quite_another_name_is_not_renamed(ledger: Ledger) -> None:
    drawn(ledger)
    text = " ".join(str(newsletter(ledger, "spring")).split())
    assert "held out by the experiment 'autumn' and will be texted. To leave them out, pass exclude=" in text
    assert "another arm" not in text


@pytest.mark.parametrize("days", [13, 15])
def test_an_experiment_that_was_read_holds_out_nobody(ledger: Ledger, box: Sandbox, clock: Time, days: int) -> None:
    """From the last send on an outcome counts for 14 days; of one that was never sent, from the draw on."""
    send_arms(drawn(ledger), customers(), box, ledger)
    clock.now += timedelta(days=10)
    send_quietly(newsletter(ledger, "autumn/reminder"), box, ledger)
    clock.now += timedelta(days=days)
    assert ("held out by" in str(newsletter(ledger, "spring"))) == (days < 14)


def test_a_holdout_of_every_campaign_is_said_of_transactional_ones_only(
    ledger: Ledger, box: Sandbox, clock: Time
) -> None:
    drawn(ledger, holdout_until=BEGUN + timedelta(days=30))
    assert "will be texted" not in str(newsletter(ledger, "spring"))
    orders = newsletter(ledger, "your order", policy=Policy(kind="transactional"))
    assert "A transactional campaign heeds no holdout." in " ".join(str(orders).split())
    assert send(orders, client=box.client(), ledger=ledger, progress=False)["status"].eq("accepted").all()
    clock.now += timedelta(days=31)
    assert "held out by" not in str(newsletter(ledger, "later", policy=Policy(kind="transactional")))


def test_a_plan_larger_than_memory_says_so_too(ledger: Ledger, tmp_path: Path) -> None:
    held = sizes(drawn(ledger))["holdout"]
    (tmp_path / "people").mkdir()
    customers().to_parquet(tmp_path / "people" / "all.parquet", index=False)
    lists = Folder(tmp_path / "people", into=tmp_path / "plan")
    made = plan(lists, "News", to="phone", campaign="autumn-b", ledger=ledger)
    assert f"{held} recipients are held out by the experiment 'autumn'" in " ".join(str(made).split())


# -- in the reading ----------------------------------------------------------------------------------------------------


def test_the_reading_counts_everybody_of_the_holdout_who_was_texted_and_says_so_first(
    ledger: Ledger, box: Sandbox
) -> None:
    send_arms(drawn(ledger), customers(), box, ledger)
    send_quietly(newsletter(ledger, "autumn-2"), box, ledger)
    reading = read_later(ledger)
    row = reading.frame.set_index("arm").loc["holdout"]
    assert row["contacted"] == row["people"]
    all_of_them = f"{row['people']} of the {row['people']} people held out were texted all the same"
    assert reading.sentence().startswith(f'{all_of_them}, or may have been, by "autumn-2"')
    text = " ".join(reading.card().text().split())
    assert text.index("people held out were texted") < text.index("as assigned" if "as assigned" in text else "arms")
    assert 'by "autumn-2":' in reading.sentence()
    people = reading.frame.set_index("arm")["people"]
    assert f"{people['plain']} of the {people['plain']} assigned to plain" in reading.sentence()
    assert read_later(ledger, days=3).sentence().startswith(f"{row['people']} of the")


@pytest.mark.parametrize(("days", "counts"), [(-1, False), (1, True), (13, True), (15, False)])
def test_what_was_sent_before_the_draw_or_after_the_reading_day_does_not_count(
    ledger: Ledger, box: Sandbox, clock: Time, days: int, counts: bool
) -> None:
    clock.now = BEGUN + min(timedelta(days=days), timedelta(0))
    if days < 0:
        send_quietly(newsletter(ledger, "spring"), box, ledger)
    clock.now = BEGUN
    send_arms(drawn(ledger), customers(), box, ledger)
    clock.now += timedelta(days=max(days, 0))
    if days > 0:
        send_quietly(newsletter(ledger, "spring"), box, ledger)
    assert ("texted all the same" in read_later(ledger).sentence()) == counts


def test_a_rehearsal_counts_among_its_own_only(ledger: Ledger, box: Sandbox) -> None:
    send_arms(drawn(ledger), customers(), box, ledger)
    with Sandbox() as other:
        send_quietly(newsletter(ledger, "spring"), other, ledger)
    assert "texted all the same" not in read_later(ledger).sentence()


def test_messages_in_doubt_count_as_texted(ledger: Ledger, box: Sandbox) -> None:
    test = drawn(ledger)
    held = sizes(test)["holdout"]
    send_arms(test, customers(), box, ledger)
    box.fault("drop_after")
    assert send_quietly(newsletter(ledger, "spring"), box, ledger)["status"].eq("in_doubt").any()
    assert f"{held} of the {held} people held out were texted" in read_later(ledger).sentence()


def test_a_campaign_that_was_purged_still_counts(ledger: Ledger, box: Sandbox) -> None:
    send_arms(drawn(ledger), customers(), box, ledger)
    send_quietly(newsletter(ledger, "spring"), box, ledger)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmsOtpWarning)
        ledger.record("spring").purge()
    assert 'by "spring"' in read_later(ledger).sentence()


def test_a_customer_with_two_numbers_is_texted_if_either_was(ledger: Ledger, box: Sandbox) -> None:
    """A number that is new is drawn with its unit; the campaign of an earlier number counts for it, too."""
    old, new = customers(40), customers(80).iloc[40:].assign(customer=[f"c{n:03}" for n in range(40)])
    test = experiment(ledger, now=lambda: BEGUN, **HOW)
    send_arms(test, old, box, ledger)
    arms = arms_of(test, pd.concat([old, new]))
    held = new[new["customer"].map(arms).eq("holdout").to_numpy(bool)]
    made = plan(held, "News", to="phone", campaign="spring", ledger=ledger)
    assert f"{len(held)} recipients are held out" in " ".join(str(made).split())
    send_quietly(made, box, ledger)
    found = test.assigned().set_index("unit")
    assert found.loc[held["customer"], "contacted"].all()
    assert found["elsewhere"].notna().sum() == len(held)


# -- what is not billed yet --------------------------------------------------------------------------------------------


def orders_of(test: Experiment, share: dict[str, int]) -> pd.DataFrame:
    """Return an order of every so many people of an arm."""
    found = test.assigned()
    bought = pd.concat([found.loc[found["arm"].eq(arm), "unit"].iloc[::every] for arm, every in share.items()])
    return pd.DataFrame({"customer": bought, "at": pd.Timestamp(BEGUN) + pd.Timedelta(days=1)})


@pytest.mark.parametrize("fault", [{}, {"next": 1}, {"next": 3}])
def test_what_an_extra_outcome_cost_is_a_range_while_messages_may_have_been_billed(
    ledger: Ledger, box: Sandbox, fault: dict[str, int]
) -> None:
    """From what is known to what it is if all of them were billed; of no known cost nothing is said."""
    test = drawn(ledger, arms={"plain": 80})
    part = dict(test.assign(customers(), to="phone").texted())["plain"]
    made = plan(
        part, "Hello", to="phone", campaign="autumn/plain", ledger=ledger, requests=RequestOptions(chunk_size=20)
    )
    box.fault("drop_after", **fault)
    doubt = int(send_quietly(made, box, ledger)["status"].eq("in_doubt").sum())
    later = experiment(ledger, now=lambda: BEGUN + timedelta(days=20), arms={"plain": 80}, **HOW)
    reading = later.read(orders_of(test, {"plain": 2, "holdout": 9}), at="at")
    row = reading.frame.set_index("arm").loc["plain"]
    if row["cost"] > 0:
        billed = len(box.inbox) * 0.0075
        assert row["cost"] < billed == pytest.approx(row["cost_high"])
        said = f"USD {row['cost']:.4f}".rstrip("0"), f"USD {row['cost_high']:.4f}".rstrip("0")
        assert f"It cost between {said[0]} and {said[1]}" in reading.sentence()
        assert f"as {doubt} messages in doubt may have been billed as well, each counts for up to 0.0075" in (
            reading.sentence()
        )
        extra = row["extra_low"], row["extra_high"]
        assert (row["price_low"], row["price_high"]) == pytest.approx((row["cost"] / extra[1], billed / extra[0]))
        assert f"between {said[0]} and {said[1]}" in str(reading.card())
    else:
        assert f"What it cost is not known: {doubt} messages in doubt" in reading.sentence()
    assert "None" not in reading.sentence()
