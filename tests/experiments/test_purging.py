"""What is left of an experiment whose people were purged, and how the whole list brings them back."""

from __future__ import annotations

import pandas as pd
import pytest

from smsotp_nb import Ledger, People, Sandbox, send
from smsotp_nb.errors import UsageError

from .people import NUMBERS, arm_plan, arms_of, customers, experiment, send_arms


def people_of(ledger: Ledger) -> list[int]:
    with ledger._store.reading() as connection:
        return [person for (person,) in connection.execute("SELECT person FROM assigned ORDER BY place")]


def test_a_rehearsal_that_is_purged_takes_nothing_from_the_experiment_for_good(ledger: Ledger, box: Sandbox) -> None:
    """Its people come back into their arms with the list, and are read as if nothing had been purged."""
    test, frame = experiment(ledger, strata=["town"]), customers().assign(town=["A", "B"] * 50)
    with Sandbox() as rehearsal:
        send_arms(test, frame, rehearsal, ledger)
    before, arms = people_of(ledger), arms_of(test, frame)
    ledger.record("autumn/plain").purge()
    assert people_of(ledger) == before  # the other arm can still be read
    ledger.record("autumn/emoji").purge()
    assert max(people_of(ledger)) < 0
    send_arms(test, frame, box, ledger)
    found = test.assigned(service=box.client().service)
    assert people_of(ledger) == before
    assert dict(zip(found["unit"], found["arm"], strict=True)) == arms
    assert found["town"].tolist() == frame["town"].tolist()


def test_an_experiment_that_was_purged_is_not_read_and_a_part_of_its_list_brings_nobody_back(
    ledger: Ledger, box: Sandbox
) -> None:
    test, frame = experiment(ledger), customers(60)
    arms = arms_of(test, frame)
    assert test.purge() == 60
    assert arms_of(test, frame.iloc[:30]).items() <= arms.items()
    assert max(people_of(ledger)) < 0
    more = customers(90).iloc[10:]
    with pytest.raises(UsageError, match="was purged, so people can be added only by a list that has everybody"):
        test.assign(more, to="phone")
    assert max(people_of(ledger)) < 0
    assert arms_of(test, customers(90)).items() >= arms.items()
    assert min(people_of(ledger)) > 0
    send_arms(test, customers(90), box, ledger)
    assert set(test.assigned()["unit"]) == set(customers(90)["customer"])


def test_a_purged_experiment_says_how_it_can_be_read(ledger: Ledger, box: Sandbox) -> None:
    test, frame = experiment(ledger), customers(60)
    send_arms(test, frame, box, ledger)
    test.purge()
    orders = pd.DataFrame({"customer": ["c001"], "at": [pd.Timestamp.now("UTC")], "spend": [1.0]})
    with pytest.raises(UsageError, match=r"was purged: .*Call assign\(frame, to=\.\.\.\) with the whole list"):
        test.read(orders, at="at")
    test.assign(frame, to="phone")
    assert test.read(orders, at="at").state == "waiting"


def test_who_asked_to_be_forgotten_does_not_come_back(ledger: Ledger) -> None:
    test, frame = experiment(ledger), customers(60)
    test.assign(frame, to="phone")
    People(ledger).forget(NUMBERS[3])
    test.purge()
    test.assign(frame, to="phone")
    found = people_of(ledger)
    assert [place for place, person in enumerate(found) if person < 0] == [3]


def test_an_experiment_that_nobody_drew_cannot_be_purged(ledger: Ledger) -> None:
    with pytest.raises(UsageError, match="nobody has an arm yet"):
        experiment(ledger).purge()


def test_a_purge_of_another_campaign_leaves_an_experiment_that_is_still_to_be_sent(
    ledger: Ledger, box: Sandbox
) -> None:
    test, frame = experiment(ledger), customers()
    with Sandbox() as rehearsal:
        send_arms(test, frame, rehearsal, ledger)
        for arm in ("plain", "emoji"):
            ledger.record(f"autumn/{arm}").purge()
        test.assign(frame, to="phone")
        send(arm_plan(frame.head(3), "x", "unrelated"), client=rehearsal.client(), ledger=ledger, progress=False)
    ledger.record("unrelated/x").purge()
    ledger.record("autumn/plain").purge()  # again
    assert min(people_of(ledger)) > 0
    send_arms(test, frame, box, ledger)
    assert len(test.assigned(service=box.client().service)) == len(frame)


def test_an_experiment_is_not_over_with_a_campaign_of_its_name_from_before_it_was_drawn(
    ledger: Ledger, box: Sandbox
) -> None:
    send(arm_plan(customers(5), "plain"), client=box.client(), ledger=ledger, progress=False)
    experiment(ledger).assign(customers(), to="phone")
    ledger.record("autumn/plain").purge()
    assert min(people_of(ledger)) > 0


def test_somebody_forgotten_who_opted_in_again_is_brought_back(ledger: Ledger, box: Sandbox) -> None:
    people, test, frame = People(ledger), experiment(ledger), customers(60)
    test.assign(frame, to="phone")
    people.forget(NUMBERS[3:5])
    people.opt_in(NUMBERS[3], source="form")
    test.purge()
    send_arms(test, frame, box, ledger)
    assert [place for place, person in enumerate(people_of(ledger)) if person < 0] == [4]
    assert "c003" in set(test.assigned()["unit"])


def test_what_a_campaign_took_along_is_not_purged_once_more_by_age(ledger: Ledger, box: Sandbox) -> None:
    test = experiment(ledger)
    send_arms(test, customers(), box, ledger)
    for arm in ("plain", "emoji"):
        ledger.record(f"autumn/{arm}").purge()
    assert test.purge() == 0
    assert [what for what in ledger.audit()["reason"].dropna() if what == "experiment autumn"] == []
