"""The options of a plan as values, and columns given as Series."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from support.small_plans import number, people, plan

import smsotp_nb as sms
from smsotp_nb.errors import UsageError

VALUES: dict[str, tuple[Any, Any]] = {
    "numbers": (sms.NumberOptions(repair=["vanity", "lost_plus"], landlines=False), sms.NumberOptions()),
    "requests": (sms.RequestOptions(chunk_size=5, threads=2), sms.RequestOptions()),
    "limits": (sms.Limits(budget={"USD": 5}, quiet_hours=("21:00", "08:00"), stop_after=None), sms.Limits()),
    "message": (sms.Message({"de": "Hi", "en": sms.column("msg")}, priority=["en"], literal=True), sms.Message("a")),
    "template": (sms.Template("t", {"who": "name"}, preview="Hi {who}", language="de"), sms.Template("t")),
}  # fmt: skip


@pytest.mark.parametrize(("made", "plain"), VALUES.values(), ids=VALUES)
def test_options_are_values_whose_repr_makes_them(made: Any, plain: Any) -> None:
    for one in (made, plain):
        assert eval(repr(one), {name: getattr(sms, name) for name in sms.__all__}) == one
    assert made != plain
    assert made != repr(made)


@pytest.mark.parametrize("name", ["numbers", "requests", "limits"])
def test_options_are_replaced_one_by_one(name: str) -> None:
    made, plain = VALUES[name]
    assert made.replace() == made
    assert hash(made.replace(**{field: getattr(plain, field) for field in made.__dataclass_fields__})) == hash(plain)
    with pytest.raises(UsageError, match="misspelt"):
        made.replace(misspelt=1)


WRONG: dict[str, tuple[Callable[[], object], list[str]]] = {
    "numbers": (
        lambda: sms.NumberOptions(repair=["all"], landlines=None, unreadable="no", evidence="most"),  # type: ignore[arg-type]
        ["repair=", "landlines=", "unreadable=", "evidence="],
    ),
    "requests": (
        lambda: sms.RequestOptions(variant="us", chunk_size=1001, threads=True, isolate_invalid=None),  # type: ignore[arg-type]
        ["variant= must be one of 'intl'", "chunk_size= must be a whole number from 1 to 1000", "threads=", "isola"],
    ),
    "limits": (
        lambda: sms.Limits(budget=5, per_second=0, quiet_hours=(21, 8), first=0, stop_after=0),  # type: ignore[arg-type]
        ["budget=", "per_second=", "quiet_hours=", "first=", "stop_after="],
    ),
    "message": (
        lambda: sms.Message(None, language="xx-", join=5, replace={"ab": "c"}, literal=1, field="body"),  # type: ignore[arg-type]
        ["text", "language", "join=", "replace= must be a dict of one character each", "literal=", "field="],
    ),
    "template": (
        lambda: sms.Template(None, keep_words="no", replace="PLAIN"),  # type: ignore[arg-type]
        ["id must be", "keep_words=", "replace="],
    ),
    "chunk_size, a bool": (lambda: sms.RequestOptions(chunk_size=True), ["chunk_size="]),
    "chunk_size, a float": (lambda: sms.RequestOptions(chunk_size=10.0), ["chunk_size="]),  # type: ignore[arg-type]
    "chunk_size, nothing": (lambda: sms.RequestOptions(chunk_size=0), ["chunk_size="]),
}  # fmt: skip


@pytest.mark.parametrize(("make", "told"), WRONG.values(), ids=WRONG)
def test_wrong_options_are_told_all_at_once(make: Callable[[], object], told: list[str]) -> None:
    with pytest.raises(UsageError) as caught:
        make()
    assert len(caught.value.problems) == len(told)
    assert [word for word in told if word not in str(caught.value)] == []


@pytest.mark.parametrize("kind", [sms.NumberOptions, sms.RequestOptions, sms.Limits, sms.Message, sms.Template])
def test_a_misspelt_option_is_named(kind: Callable[..., object]) -> None:
    words = (
        {}
        if kind in (sms.NumberOptions, sms.RequestOptions, sms.Limits)
        else {"text" if kind is sms.Message else "id": "Hi"}
    )
    with pytest.raises(UsageError, match="no argument misspelt="):
        kind(**words, misspelt=1)


@pytest.mark.parametrize("name", ["numbers", "requests"])
def test_what_is_no_such_value_is_refused(name: str) -> None:
    kind = {"numbers": "NumberOptions", "requests": "RequestOptions"}[name]
    with pytest.raises(UsageError, match=f"{name}= must be a {kind}, such as"):
        plan(**{name: {"chunk_size": 5}})


@pytest.mark.parametrize(
    "options", [{"priority": ["de"]}, {"join": "{content}{signature}"}, {"replace": {}}, {"keep_words": False},
    {"field": "content"}],
)  # fmt: skip
def test_a_segment_has_no_options_of_the_whole_message(options: dict[str, Any]) -> None:
    words = {"de": sms.Message("Hallo", **options), "en": "Hi"}
    with pytest.raises(UsageError, match=r"message\['de'\] may say language=, currency= and literal="):
        plan(people(2, language=["de", "en"]), message=words, by="language")


def test_a_template_is_not_the_message_of_one_segment() -> None:
    with pytest.raises(UsageError, match=r"message\['de'\] is a Template; pass one for all segments"):
        plan(people(2, language=["de", "en"]), message={"de": sms.Template("t"), "en": "Hi"}, by="language")


def test_columns_may_be_series_on_the_index_of_the_people() -> None:
    frame = people(3, country="US", language=["de", "en", "de"]).set_axis([*"xyz"])
    words = {"de": "Hallo {name}", "en": "Hi {name}"}
    named = plan(frame, message=words, by="language", region="country")
    columns = {"to": frame["phone"], "region": frame["country"], "by": frame["language"]}
    given = plan(frame.drop(columns=["phone", "country", "language"]), message=words, **columns)
    assert given.fingerprint == named.fingerprint
    pd.testing.assert_frame_equal(given.rows, named.rows)
    for name, column in columns.items():
        with pytest.raises(UsageError, match=f"{name}= is a Series on another index"):
            plan(frame, message=words, **columns | {name: column.reset_index(drop=True)})


def test_whom_to_leave_out_may_come_in_many_forms_at_once(client: sms.Client, tmp_path: Path) -> None:
    file = tmp_path / "stop.csv"
    file.write_text(f"phone\n{number(1)}\n", encoding="utf-8")
    with sms.Ledger(tmp_path / "l.sqlite", create=True) as ledger:
        recorded = plan(people(6)[3:4], campaign="recorded")
        sms.send(recorded, client, ledger=ledger, progress=False)
        table = sms.send(plan(people(6)[4:5], campaign="table"), client, ledger=ledger, progress=False)
        about_to = plan(people(6)[5:6], campaign="plan")
        refused = plan(people(7, phone=["hello"] * 7), campaign="nobody")
        left_out = [
            number(0), str(file), pd.DataFrame({"phone": [number(2)]}), ledger.record("recorded"), table, about_to,
            refused,
        ]  # fmt: skip
        made = plan(people(8), exclude=left_out, campaign="next")
    assert made.rows["problem"].fillna("").tolist() == ["SUPPRESSED"] * 3 + ["EXCLUDED"] * 3 + [""] * 2


def test_who_said_no_is_suppressed_even_where_a_campaign_has_them() -> None:
    made = plan(people(2), exclude=[plan(people(1)), number(0)], campaign="next")
    assert made.rows["problem"].fillna("").tolist() == ["SUPPRESSED", ""]


def test_the_wire_of_a_plan_may_be_changed_and_its_words_stay() -> None:
    made = plan(requests=sms.RequestOptions(chunk_size=2))
    changed = made.with_requests(threads=8, isolate_invalid=True)
    assert (made._wire, changed._wire) == (
        sms.RequestOptions(chunk_size=2),
        sms.RequestOptions("intl", 2, 8, isolate_invalid=True),
    )
    assert changed.fingerprint == made.fingerprint
    assert changed.reworded("Hello")._wire == changed._wire
