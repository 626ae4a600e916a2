"""Arms are drawn once, after every rule, and are the same in every run, order, frame and machine."""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from smsotp_nb import Ledger, People, Policy, Sandbox, send
from smsotp_nb.errors import UsageError

from .people import NUMBERS, arm_plan, arms_of, customers, experiment, send_arms


def test_the_same_list_in_any_order_has_the_same_arms(ledger: Ledger, tmp_path: Path) -> None:
    test, frame = experiment(ledger), customers()
    found = arms_of(test, frame)
    assert Counter(found.values()).keys() == {"plain", "emoji", "holdout"}
    assert arms_of(test, frame.sample(frac=1, random_state=5)) == found
    assert arms_of(test, frame.iloc[:10]).items() <= found.items()
    with Ledger(tmp_path / "another.sqlite", create=True) as another:
        assert arms_of(experiment(another), frame.iloc[::-1]) == found
    assert arms_of(experiment(ledger, "winter"), frame) != found


def test_two_rows_of_a_person_have_one_arm_in_any_order(ledger: Ledger) -> None:
    test, frame = experiment(ledger), customers(10)
    frame["phone"] = NUMBERS[:9] + NUMBERS[:1]
    found = arms_of(test, frame)
    assert found["c009"] is None
    assert arms_of(test, frame.iloc[::-1]) == found


def test_a_customer_with_two_numbers_is_in_one_arm(ledger: Ledger) -> None:
    frame = customers(60).assign(customer=[f"c{n // 3}" for n in range(60)])
    found = experiment(ledger).assign(frame, to="phone").frame
    assert found.groupby("customer")["arm"].nunique().eq(1).all()


def test_who_could_not_be_texted_is_not_drawn(ledger: Ledger, box: Sandbox) -> None:
    """Each rule comes before the draw, so none empties one arm more than another."""
    frame = customers(20)
    frame.loc[0, "phone"], frame.loc[1, "phone"] = "hello", NUMBERS[2]
    People(ledger).opt_out(NUMBERS[3], source="phone call")
    send(arm_plan(frame.iloc[[4]], "a", "earlier"), client=box.client(), ledger=ledger, progress=False)
    policy = Policy(caps=[(1, "24h")])
    split = experiment(ledger).assign(frame, to="phone", policy=policy, exclude=[NUMBERS[5]])
    assert dict(zip(split.left_out.index, split.left_out["problem"], strict=True)) == {
        0: "NOT_A_NUMBER", 2: "DUPLICATE_OF", 3: "OPTED_OUT", 4: "CAPPED", 5: "SUPPRESSED",
    }  # fmt: skip
    assert split.frame["arm"].isna().sum() == 5
    assert "1 row without an arm: on the suppression list" in " ".join(str(split).split())


def test_who_has_an_arm_keeps_it(ledger: Ledger, box: Sandbox) -> None:
    """After the send everybody texted is capped, and some opted out: they stay in the experiment as assigned."""
    test, frame = experiment(ledger), customers()
    found = arms_of(test, frame)
    send_arms(test, frame, box, ledger)
    People(ledger).opt_out(NUMBERS[:10], source="reply STOP")
    assert arms_of(test, frame, policy=Policy(caps=[(1, "24h")])) == found


def test_more_people_may_be_added(ledger: Ledger) -> None:
    test = experiment(ledger)
    first = arms_of(test, customers(40))
    split = test.assign(customers(), to="phone")
    assert split.sizes["people"].sum() == 100
    assert first.items() <= arms_of(test, customers()).items()


def test_the_frame_is_the_caller_s_and_is_not_changed(ledger: Ledger) -> None:
    frame = customers(10).set_index(pd.Index([5] * 10))
    split = experiment(ledger).assign(frame, to="phone")
    assert list(frame.columns) == ["customer", "phone"]
    assert split.frame.drop(columns="arm").equals(frame)
    parts = dict(split.texted())
    assert sum(map(len, parts.values())) + split.frame["arm"].eq("holdout").sum() == 10


CHANGES = {
    "seed": ({"seed": "again"}, 'its seed \\(none recorded, "again" now\\)'),
    "shares": ({"arms": {"plain": 50, "emoji": 30}}, "its arms"),
    "holdout": (
        {"arms": {"plain": 45, "emoji": 45}, "holdout": 10},
        r"its arms .*; its holdout \(20.0 recorded, 10.0 now\)",
    ),
    "window": ({"read_after": "7d"}, "its reading day"),
}


@pytest.mark.parametrize(("change", "said"), CHANGES.values(), ids=CHANGES)
def test_an_experiment_that_is_declared_otherwise_is_refused(ledger: Ledger, change: dict[str, Any], said: str) -> None:
    arms_of(experiment(ledger), customers(10))
    with pytest.raises(UsageError, match=f"'autumn' is recorded differently: {said}"):
        arms_of(experiment(ledger, **change), customers(10))


def test_a_unit_in_two_arms_is_refused(ledger: Ledger) -> None:
    test, frame = experiment(ledger), customers(10)
    arms_of(test, frame)
    frame.loc[[3, 7], "customer"] = ["other", "others"]
    with pytest.raises(UsageError, match="the numbers of rows 3, 7 are recorded in this experiment with another unit"):
        arms_of(test, frame)


def test_a_missing_unit_and_a_unit_in_two_strata_are_refused(ledger: Ledger) -> None:
    frame = customers(4).assign(region=["a", "b", "a", "b"])
    with pytest.raises(
        UsageError,
        match=r"'customer' must name the unit of everybody .* it is blank in row 2. Fill it in, or leave this row out",
    ):
        arms_of(experiment(ledger), frame.assign(customer=["a", "b", None, "d"]))
    with pytest.raises(UsageError, match=r"it is blank in rows 1, 2"):
        arms_of(experiment(ledger), frame.assign(customer=["a", "-", "n/a", "d"]))
    with pytest.raises(UsageError, match="a unit is in one stratum, and rows 0, 1 have units that are in two"):
        arms_of(experiment(ledger, strata="region"), frame.assign(customer=["a", "a", "c", "d"]))
    with pytest.raises(UsageError, match="has a column 'arm' already"):
        arms_of(experiment(ledger), frame.assign(arm=1))
    with pytest.raises(UsageError, match="no column 'regin'; did you mean 'region'"):
        arms_of(experiment(ledger, strata="regin"), frame)
    assert experiment(ledger, "new").assign(customers(4), to="phone").sizes["people"].sum() == 4


def test_a_second_experiment_on_the_same_people_is_said_and_spread_evenly(ledger: Ledger) -> None:
    arms_of(experiment(ledger), customers(60))
    split = experiment(ledger, "winter").assign(customers(), to="phone")
    assert [(one.name, one.people) for one in split.overlaps] == [("autumn", 60)]
    assert split.overlaps[0].p > 0.001
    assert "60 people are in the experiment 'autumn' too; its arms are spread evenly" in " ".join(str(split).split())


def test_processes_that_draw_at_once_draw_the_same(ledger: Ledger) -> None:
    found: list[dict[str, object]] = []
    threads = [
        threading.Thread(target=lambda: found.append(arms_of(experiment(ledger), customers()))) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found[0] == found[1] == found[2]
    with ledger._store.reading() as connection:
        assert connection.execute("SELECT count(*) FROM assigned").fetchone() == (100,)
