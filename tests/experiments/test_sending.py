"""From the draw to the reading: what each arm was sent, when and at what cost; nobody held out is ever texted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from smsotp_nb import Ledger, Limits, People, Sandbox, plan, revise, send
from smsotp_nb.errors import UsageError

from .people import NUMBERS, arm_plan, arms_of, customers, experiment, send_arms

BOUGHT = {"bought": "binary"}
SECOND = "Hello from emoji/second!"


def orders_of(customers: list[str], at: pd.Timestamp, spend: float = 20.0) -> pd.DataFrame:
    return pd.DataFrame({"customer": customers, "at": at, "spend": spend})


def test_nothing_drawn_and_nothing_sent_cannot_be_read(ledger: Ledger) -> None:
    test, orders = experiment(ledger), orders_of(["c000"], pd.Timestamp("2026-11-12", tz="UTC"))
    with pytest.raises(UsageError, match=r"nobody has an arm yet\. Call assign"):
        test.read(orders, at="at", amount="spend")
    arms_of(test, customers(10))
    with pytest.raises(
        UsageError, match="nothing was sent in experiment 'autumn' yet: its campaigns are called autumn/ARM"
    ):
        test.read(orders, at="at", amount="spend")


def test_cost_and_contact_are_those_of_the_ledger(ledger: Ledger, box: Sandbox) -> None:
    test, frame = experiment(ledger), customers()
    arms = arms_of(test, frame)
    send_arms(test, frame, box, ledger)
    found = test.assigned()
    assert dict(zip(found["unit"], found["arm"], strict=True)) == arms
    assert found["contacted"].to_numpy().tolist() == found["arm"].ne("holdout").tolist()
    billed = sum(ledger.record(f"autumn/{arm}").results["price"].sum() for arm in ("plain", "emoji"))
    assert found["cost"].sum() == pytest.approx(billed)
    assert found["cost"][found["arm"].eq("holdout")].eq(0).all()
    assert set(found["currency"].dropna()) == {"USD"}


def test_the_holdout_has_the_send_times_of_its_neighbours(box: Sandbox, tmp_path: Path) -> None:
    """So outcomes are counted over the same days in every arm, though one arm was sent a day later."""
    clock = [pd.Timestamp("2026-11-12 10:00", tz="UTC").to_pydatetime()]
    with Ledger(tmp_path / "l.sqlite", create=True, now=lambda: clock[0]) as ledger:
        test, frame = experiment(ledger), customers()
        for arm, part in test.assign(frame, to="phone").texted():
            send(arm_plan(part, arm), client=box.client(), ledger=ledger, progress=False)
            clock[0] += pd.Timedelta(days=1)
        found = test.assigned()
    before = pd.NaT
    first = found.loc[found["contacted"], "at"].iloc[0]
    for contacted, at in found[["contacted", "at"]].itertuples(index=False):
        before = at if contacted else before
        assert at == (first if before is pd.NaT else before)
    assert found.loc[~found["contacted"], "at"].nunique() == 2


def test_rows_that_were_never_sent_stay_in_their_arm(ledger: Ledger, box: Sandbox) -> None:
    test, frame = experiment(ledger), customers()
    arms = arms_of(test, frame)
    gone = [number for number, arm in zip(NUMBERS, arms.values(), strict=True) if arm == "plain"][:5]
    People(ledger).opt_out(gone, source="reply STOP")
    send_arms(test, frame, box, ledger)
    found = test.assigned().set_index("unit")
    assert found["arm"].to_dict() == arms
    assert (found["arm"].eq("plain") & ~found["contacted"]).sum() == 5
    assert found["at"].notna().all()


def test_until_the_reading_day_only_counts_are_shown(ledger: Ledger, box: Sandbox) -> None:
    test, frame = experiment(ledger), customers()
    send_arms(test, frame, box, ledger)
    orders = orders_of(["c000", "c001"], pd.Timestamp.now("UTC"))
    waiting = test.read(orders, at="at", amount="spend", currency="USD")
    assert waiting.state == "waiting"
    assert list(waiting.frame.columns) == ["arm", "people", "contacted"]
    later = pd.Timestamp.now("UTC") + pd.Timedelta(days=15)
    read = experiment(ledger, now=lambda: later.to_pydatetime()).read(orders, at="at", amount="spend", currency="USD")
    assert read.state == "read"
    assert read.frame["people"].sum() == 200  # two outcomes


def test_people_who_were_forgotten_are_in_no_figure_and_are_told(ledger: Ledger, box: Sandbox) -> None:
    """What they bought is not known: as people who bought nothing they would count falsely."""
    test, frame = experiment(ledger), customers()
    send_arms(test, frame, box, ledger)
    before = test.assigned().set_index("unit")["arm"]
    later = experiment(ledger, now=lambda: (pd.Timestamp.now("UTC") + pd.Timedelta(days=20)).to_pydatetime())
    bought = orders_of(frame["customer"].tolist()[:10], pd.Timestamp.now("UTC") + pd.Timedelta(days=1))
    People(ledger).forget(NUMBERS[:3])
    found = test.assigned().set_index("unit")["arm"]
    assert found.equals(before.drop(["c000", "c001", "c002"]))
    reading = later.read(bought, at="at", amount="spend", currency="USD")
    assert set(reading.left_out["customer"]) == {"c000", "c001", "c002"}
    counts = found.value_counts()
    assert reading.frame.groupby("arm")["people"].first().to_dict() == counts.to_dict()
    said = "3 numbers were forgotten ("
    assert said in reading.sentence()
    assert said in " ".join(reading.card().text().split())
    assert reading.ratio is not None
    assert sum(reading.ratio.sizes.values()) == len(before)
    People(ledger).forget(NUMBERS[:100])
    with pytest.raises(UsageError, match=r"everybody of experiment .* was forgotten"):
        later.read(bought, at="at", amount="spend", currency="USD")


def test_a_customer_with_two_numbers_is_one_unit_with_the_cost_of_both(ledger: Ledger, box: Sandbox) -> None:
    frame = customers(60).assign(customer=np.arange(60) // 2)
    test = experiment(ledger)
    send_arms(test, frame, box, ledger)
    found = test.assigned()
    assert found["unit"].tolist() == list(range(30))
    assert found.loc[found["contacted"], "cost"].eq(2 * 0.0075).all()


def test_strata_are_columns_and_are_explored_in_the_order_in_which_arms_were_declared(
    ledger: Ledger, box: Sandbox
) -> None:
    """A missing value has no stratum; the list begins with another arm, and its first person was forgotten."""
    declared = {"strata": ["region", "vip"], "arms": {"emoji": 40, "plain": 40}}
    test, frame = experiment(ledger, **declared), customers()
    frame = frame.assign(region=[*"NS"] * 50, vip=[True, True, False, None] * 25)
    send_arms(test, frame, box, ledger)
    People(ledger).forget(NUMBERS[:1])
    found = test.assigned().set_index("unit")
    want = frame.set_index("customer").loc["c001":]
    assert found.loc[want.index, "region"].tolist() == want["region"].tolist()
    assert found.loc[want.index, "vip"].astype(object).where(lambda cells: cells.notna(), None).tolist() == [
        None if cell is None else str(cell) for cell in want["vip"]
    ]
    assert len(found) == len(want)
    later = experiment(ledger, now=lambda: pd.Timestamp.now("UTC") + pd.Timedelta(days=20), **declared)
    orders = orders_of(["c001", "c002"], pd.Timestamp.now("UTC"))
    reading = later.read(orders, at="at", amount="spend", explore="region")
    assert reading.frame["arm"].unique().tolist() == ["emoji", "plain", "holdout"]
    assert reading.exploration["segment"].unique().tolist() == ["N", "S"]
    with pytest.raises(UsageError, match=r"explore= must be one of 'region', 'vip', got 'regin'; did you mean"):
        later.read(orders, at="at", amount="spend", explore="regin")


def test_what_was_never_a_stratum_cannot_be_explored(ledger: Ledger) -> None:
    with pytest.raises(UsageError, match="this experiment was declared without any; leave it out"):
        experiment(ledger).read(orders_of([], pd.Timestamp.now("UTC")), at="at", explore="region")


def test_a_holdout_of_every_campaign_is_read_by_what_all_of_them_sent_until_its_end(
    box: Sandbox, tmp_path: Path
) -> None:
    """Whatever they are called; not what was sent before the draw or after the end. Outcomes count from the draw on."""
    clock = [pd.Timestamp("2026-11-12 10:00", tz="UTC").to_pydatetime()]
    until, frame = clock[0] + pd.Timedelta(days=30), customers()
    with Ledger(tmp_path / "l.sqlite", create=True, now=lambda: clock[0]) as ledger:
        quarter = {"arms": {"texted": 80}, "holdout_until": until, "now": lambda: clock[0], "outcomes": BOUGHT}
        test = experiment(ledger, **quarter)

        def sold(campaign: str) -> pd.DataFrame:
            made = plan(frame, f"Now: {campaign}", to="phone", campaign=campaign, ledger=ledger)
            return send(made, client=box.client(), ledger=ledger, progress=False)

        sold("before")
        clock[0] += pd.Timedelta(days=1)
        drawn, arms = clock[0], arms_of(test, frame)
        held = [arm == "holdout" for arm in arms.values()]
        for campaign in ("spring", "summer"):
            clock[0] += pd.Timedelta(days=1)
            assert sold(campaign)["problem"].eq("HELD_OUT").fillna(False).tolist() == held
        clock[0] = until + pd.Timedelta(days=1)
        assert sold("after")["status"].eq("accepted").all()
        found = test.assigned()
        assert found["contacted"].tolist() == [not one for one in held]
        assert found["cost"].tolist() == pytest.approx([0 if one else 2 * 0.0075 for one in held])
        assert found["at"].eq(drawn).all()
        early = pd.DataFrame({"customer": ["c000", "c001"], "at": [drawn, drawn - pd.Timedelta(seconds=1)]})
        reading = test.read(early, at="at")
    assert (reading.state, reading.frame["total"].sum(), len(reading.left_out)) == ("read", 1, 1)


def test_two_services_and_a_purged_campaign_are_said(ledger: Ledger, box: Sandbox) -> None:
    test, frame = experiment(ledger), customers()
    send_arms(test, frame, box, ledger)
    with Sandbox() as other:
        send_arms(test, frame, other, ledger)
        with pytest.raises(UsageError, match="several services sent campaigns of this experiment; pass service="):
            test.assigned()
        assert test.assigned(service=other.client().service)["contacted"].sum() > 0
    ledger.record("autumn/plain", service=box.client().service).purge()
    with pytest.raises(UsageError, match="campaign 'autumn/plain' was purged"):
        test.assigned(service=box.client().service)


@pytest.mark.filterwarnings("ignore::smsotp_nb.errors.CampaignIncomplete")
def test_no_order_of_cells_texts_the_holdout_or_another_arm(ledger: Ledger, box: Sandbox) -> None:
    """Rerun, resumed, extended, corrected, another plan under the experiment's name, everybody in one arm's plan."""
    test, frame = experiment(ledger), customers()
    arm_of = dict(zip(NUMBERS, arms_of(test, frame).values(), strict=True))
    held = {number for number, arm in arm_of.items() if arm == "holdout"}
    everybody = arm_plan(frame, "plain")
    how = {"client": box.client(), "ledger": ledger, "progress": False}
    send(arm_plan(frame.iloc[:50], "plain"), limits=Limits(first=5), **how)
    revise(everybody, box, reason="the whole list", ledger=ledger)
    send(everybody, **how)
    send(everybody, **how)
    send(arm_plan(frame, "emoji").reworded("Helo!"), limits=Limits(first=5), **how)
    revise(arm_plan(frame, "emoji"), box, reason="typo", ledger=ledger)
    table = send(arm_plan(frame, "emoji"), **how)
    assert table["problem"].eq("OTHER_ARM").sum() == sum(arm == "plain" for arm in arm_of.values())
    send(arm_plan(frame, "emoji/second"), **how)
    told = box.inbox
    arms = told["to"].map(arm_of)
    wrong = told["text"].ne("Hello from " + arms + "!") & told["text"].ne("Helo!") & told["text"].ne(SECOND)
    assert not wrong.any()
    assert set(arms[told["text"].isin(["Helo!", SECOND])]) == {"emoji"}
    assert set(told["to"]) == set(NUMBERS) - held
    send(arm_plan(frame, "reminder/2"), **how)
    assert len(held) > 10
    assert not held & set(box.inbox["to"])
    assert box.inbox["text"].eq("Hello from reminder/2!").sum() == len(set(NUMBERS) - held)
