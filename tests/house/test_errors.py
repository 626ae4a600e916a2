"""The error tree: who can act on each, what it carries, and that it survives the trip between processes."""

from __future__ import annotations

import copy
import inspect
import pickle
import re

import pytest

import smsotp_nb as sms
from smsotp_nb import errors

EVERY = [
    errors.UsageError("two things are wrong", problems=("no column 'fone'", "text= is empty")),
    errors.UsageError("region= has no column 'land'", field="region", hint="columns are 'phone', 'country'"),
    errors.OutputExistsError("spent.html is there already", path="spent.html"),
    errors.ServiceError(
        "refused", error_code="107145", name="RestrictedSmsTemplate", http_status=400, request_id="r-1"
    ),
    errors.InsufficientFunds("refused", error_code="105400", name="FundsInsufficient", http_status=400),
    errors.InvalidPhoneNumbers("refused", error_code="107111", name="InvalidPhoneNumbers", http_status=400),
    errors.MissingParams("refused", error_code="104001", name="MissingParams", http_status=400),
    errors.NotSent("no connection", phase="connect", seconds=0.25, attempts=6),
    errors.Throttled("slow down", retry_after=2.0, attempts=3, request_id="r-2"),
    errors.InDoubt("no answer", phase="headers", http_status=200, seconds=30.0, request_id="r-3"),
    errors.LedgerError("a newer version wrote this file"),
    errors.CampaignLockedError("held", pid=4711, host="desk"),
    errors.PlanChanged("changed", added=1, removed=2, changed=3),
    errors.ReplacedLedgerError("replaced"),
    errors.StaleLedgerError("older", recipients=15),
    errors.ExpectationError("found none", found=2, latest=("message 1: text is 'Hi'",)),
]


def drawn() -> dict[str, str]:
    """Return child -> parent as the docstring of the module draws it."""
    parents: dict[str, str] = {}
    path: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        found = re.match(r"^ {4}(?P<bars>(?: *\|[- ] ?| {5})*)(?P<name>[A-Z]\w+)", line)
        if found:
            depth = len(found["bars"]) // 5 + bool(found["bars"])
            path = [*path[:depth], found["name"]]
            if depth:
                parents[found["name"]] = path[depth - 1]
    return parents


def defined() -> list[type]:
    return [
        thing
        for _, thing in inspect.getmembers(errors, inspect.isclass)
        if thing.__module__ == errors.__name__ and issubclass(thing, BaseException)
    ]


def test_the_tree_in_the_docstring_is_the_tree_of_the_classes() -> None:
    """What a reader sees drawn is what ``except`` catches: no class missing, none under another parent."""
    real = {kind.__name__: kind.__bases__[0].__name__ for kind in defined() if kind.__bases__[0] in defined()}
    assert drawn() == real


def test_a_usage_error_is_a_value_error_and_a_warning_a_user_warning() -> None:
    """Code that expects Python's own kinds goes on working."""
    assert issubclass(errors.UsageError, ValueError)
    assert issubclass(errors.SmsOtpWarning, UserWarning)


def test_only_not_sent_and_throttled_may_be_sent_again() -> None:
    """InDoubt is a sibling of what is retried, never a kind of it: no ``except`` for those catches it."""
    assert not issubclass(errors.InDoubt, (errors.NotSent, errors.Throttled))
    assert not issubclass(errors.NotSent, errors.InDoubt)
    assert not issubclass(errors.Throttled, errors.InDoubt)


@pytest.mark.parametrize("error", EVERY, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("copied", [lambda error: pickle.loads(pickle.dumps(error)), copy.copy, copy.deepcopy])
def test_an_error_keeps_its_facts_when_it_is_pickled_or_copied(error: Exception, copied: object) -> None:
    """A worker process hands its errors over whole: class, text and every attribute."""
    again = copied(error)  # type: ignore[operator]
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)


def test_every_kind_of_error_is_in_the_table_above() -> None:
    """A new error without a pickling test fails here."""
    bases = {errors.SmsOtpError, errors.TransportError}
    assert {type(error) for error in EVERY} | bases == {kind for kind in defined() if not issubclass(kind, Warning)}


def test_a_usage_error_without_a_list_names_its_message_as_the_one_problem() -> None:
    """``problems`` is never empty, so it can be shown as a list always."""
    assert errors.UsageError("no address").problems == ("no address",)


def test_a_usage_error_says_which_argument_it_is_about_and_keeps_its_hint_apart() -> None:
    """A form shows it at the field with the field's label, the command line names its option."""
    with pytest.raises(errors.UsageError) as caught:
        sms.Limits(first=0)
    assert caught.value.field == "first"
    assert caught.value._with_label("“Send first”").startswith("“Send first” must be a whole number")
    hint = "pass region='country'"
    error = errors.UsageError("no column 'land'", field="region", hint=hint)
    assert (str(error), error._with_label("--region")) == (f"no column 'land'; {hint}", "no column 'land'")
    assert error.hint == hint


def test_a_usage_error_of_several_arguments_has_a_cause_for_each() -> None:
    with pytest.raises(errors.UsageError) as caught:
        sms.Limits(first=0, per_second=-1)
    assert caught.value.field is None
    assert [cause.field for cause in caught.value.causes] == ["first", "per_second"]
    assert tuple(map(str, caught.value.causes)) == caught.value.problems
    rows = errors.UsageError("2 rows cannot be read", problems=("row 1: no number", "row 2: no number"))
    assert rows.causes == (rows,), "one error, however many rows it is about"
    assert errors.UsageError("no address").causes[0].problems == ("no address",)
