"""An experiment that makes no sense is refused before anybody is drawn, with everything that is wrong."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from smsotp_nb import Ledger
from smsotp_nb.errors import UsageError

from .people import experiment

WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "too little": ({"holdout": 10}, "must add up to 100 per cent: plain 40 .* is 90"),
    "too much": ({"arms": {"a": 99}, "holdout": 2}, "is 101"),
    "shares of one": ({"arms": {"a": 0.5}, "holdout": 0.5}, "is 1"),
    "no arm": ({"arms": {}}, "must name an arm"),
    "nothing to compare": ({"arms": {"a": 100}, "holdout": 0}, "nothing to be compared with"),
    "nobody": ({"arms": {"a": 0, "b": 80}}, r"arms\['a'\]= must be per cent, above 0"),
    "the holdout's name": ({"arms": {"Holdout": 80}}, "cannot be called 'holdout'"),
    "the same name": ({"arms": {"A": 40, "a ": 40}}, "the same name but for case"),
    "a slash": ({"arms": {"a/b": 80}}, "without a slash"),
    "no outcome": ({"outcomes": {}}, "must name an outcome"),
    "a kind": ({"outcomes": {"bought": "binery"}}, "did you mean 'binary'"),
    "a window": ({"read_after": 14}, "needs a number and a unit"),
    "an end without zone": ({"holdout_until": datetime.fromisoformat("2027-01-01")}, "with its zone"),
    "an end of nothing": (
        {"arms": {"a": 50, "b": 50}, "holdout": 0, "holdout_until": datetime(2027, 1, 1, tzinfo=UTC)},
        "needs a holdout=",
    ),
    "strata": ({"strata": [1]}, "list of column names"),
    "a stratum like a reading's": ({"strata": ["cost"]}, "cannot name a column 'cost': assigned"),
}


@pytest.mark.parametrize(("given", "said"), WRONG.values(), ids=WRONG)
def test_it_is_refused(ledger: Ledger, given: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        experiment(ledger, **given)


def test_all_that_is_wrong_is_said_at_once(ledger: Ledger) -> None:
    with pytest.raises(UsageError) as refused:
        experiment(ledger, "a/b", holdout=10, outcomes={}, unit=5)
    assert len(refused.value.problems) == 4


def test_the_card_says_what_is_declared(ledger: Ledger) -> None:
    told = experiment(ledger).card().text()
    assert "not texted by any campaign that is called autumn, or autumn with a slash" in " ".join(told.split())
    until = datetime(2027, 1, 1, tzinfo=UTC)
    told = experiment(ledger, holdout_until=until).card().text()
    assert "but for transactional ones, until 2027-01-01 00:00 UTC" in " ".join(told.split())
