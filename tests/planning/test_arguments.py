"""The call of a plan: mistakes that are named, the card and the hint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.small_plans import RATES, number, people, plan

from smsotp_nb import Message, RequestOptions, Template, phones, results
from smsotp_nb.errors import UsageError

# -- the call -------------------------------------------------------------------------------------------------------


MISTAKES = [
    pytest.param({"to": "fone"}, r"no column 'fone'; did you mean 'phone'\?", id="to"),
    pytest.param({"region": "DE"}, "pass default_region='DE'", id="a region code"),
    pytest.param({"region": pd.Series(["US"] * 4, index=[9, 8, 7, 6])}, "another index", id="region of another frame"),
    pytest.param({"region": ["US"]}, "a column's name or a Series", id="region list"),
    pytest.param({"default_region": "Atlantis"}, "default_region", id="default_region"),
    pytest.param({"campaign": " "}, "campaign= must be a name", id="campaign blank"),
    pytest.param({"campaign": None}, "campaign= must be a name", id="campaign missing"),
    pytest.param({"keep": ["nmae"]}, r"did you mean 'name'\?", id="keep unknown"),
    pytest.param({"keep": ["name", "name"]}, "twice", id="keep twice"),
    pytest.param(
        {"requests": RequestOptions(variant="cn")},
        "signature= is required in the cn variant",
        id="cn without signature",
    ),
    pytest.param({"signature": "x"}, "2 to 16 characters", id="signature short"),
    pytest.param({"message": " "}, "message= is empty", id="blank text"),
    pytest.param({"message": 5}, "message= must be text, got 5", id="text no text"),
    pytest.param({"message": None}, "message is needed, such as", id="no message"),
    pytest.param({"message": "Hi {nmae}"}, r"placeholder \{nmae\}; did you mean 'name'\?", id="placeholder"),
    pytest.param({"message": "Hi {"}, "single '{'", id="brace"),
    pytest.param({"message": "{name:upper}"}, "the format 'upper', which is none; numbers: .2f", id="format"),
    pytest.param({"message": "{name:money}"}, "currency= is needed to write", id="money"),
    pytest.param({"message": "{name:.2f}"}, "'N0' is not a number", id="value of a format"),
    pytest.param({"message": Message("Hi", join="{content}")}, "join= must hold", id="join without signature"),
    pytest.param({"rates": RATES.assign(price="x")}, "row 0: price", id="rates"),
    pytest.param({"rates": "none.csv"}, "file not found", id="rates file"),
]


@pytest.mark.parametrize(("changes", "says"), MISTAKES)
def test_a_mistaken_call_says_what_to_change(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        plan(people(), **({"message": "Hi {name}"} | changes))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        pytest.param({"message": Template("t", "name")}, "list of columns or a dict", id="data text"),
        pytest.param({"message": Template("t", ["nmae"])}, r"did you mean 'name'\?", id="data unknown"),
        pytest.param({"message": Template("t", {"who": 5})}, "must hold names of columns as text", id="data no text"),
        pytest.param({"message": Template("t", ["name"], preview="{who}")}, "uses 'who'", id="text of other variables"),
        pytest.param({"message": Template(17)}, "id= must be text, got 17", id="id no text"),
    ],
)
def test_a_mistaken_template_says_what_to_change(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        plan(people(), **changes)


@pytest.mark.parametrize("name", [*results.COLUMNS, "body", "note"])
def test_a_kept_column_must_not_hide_one_of_the_results(name: str) -> None:
    with pytest.raises(UsageError, match="rename yours first"):
        plan(people(4, **{name: 1}), keep=[name])


def test_a_kept_column_has_a_name_and_numbers_that_a_file_can_hold() -> None:
    table = people(2, ratio=[1.5, float("inf")])
    with pytest.raises(UsageError, match="column 'ratio' has an infinite number in row 1"):
        plan(table, keep=["ratio"])
    grouped = people(2).assign(x=1).rename(columns={"x": ("points", "sum")})
    with pytest.raises(UsageError, match=r"has a name that no file of a ledger holds \(tuple\)"):
        plan(grouped, keep=[("points", "sum")])


def test_everything_wrong_is_listed_at_once() -> None:
    with pytest.raises(UsageError) as caught:
        plan(
            message=Message("a {", field="text"),
            to="fone",
            signature="x",
            keep=["zz"],
            rates=RATES.assign(iso="?"),
            campaign="",
        )
    assert len(caught.value.problems) >= 6


def test_people_may_be_the_path_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    people(2).to_csv(path, index=False)
    for given in (path, str(path)):
        assert plan(given).texts.tolist() == ["Hi N0", "Hi N1"]  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="file not found"):
        plan("none.csv")  # type: ignore[arg-type]


def test_one_kept_column_may_be_named_alone() -> None:
    assert plan(keep="name")._kept == ("name",)


# -- the card -------------------------------------------------------------------------------------------------------


def test_the_card_says_what_it_is_and_that_nothing_was_sent() -> None:
    frame = people(5, phone=[*(number(n) for n in range(4)), "hello"])
    frame["name"] = ["<b>Ana</b>", "Zoë", "N" * 200, None, "x"]
    made = plan(frame, message=Message("Hi {name}", literal=True), rates=RATES)
    for shown in (str(made), made._repr_html_()):
        assert "Nothing has been sent." in shown
        assert "send(plan, client)" in shown
        assert "USD 0.03" in shown
        assert "$" not in shown
        assert number(0) not in shown
        assert "+1202...0100" in shown
        assert "VALUE_MISSING" in shown.replace("_<wbr/>", "_")
    assert "<b>Ana</b>" not in made._repr_html_()
    assert "&lt;b&gt;Ana&lt;/b&gt;" in made._repr_html_()
    assert (
        repr(made)
        == "<Plan demo: 3 recipients to go now in 3 requests, 4 parts, estimated cost USD 0.03; 2 other rows>"
    )


def test_numbers_used_as_row_labels_are_masked_on_the_card() -> None:
    frame = people(3, phone=[number(0), number(1), number(1)]).set_index("phone", drop=False)
    assert number(0) not in str(plan(frame))
    assert number(1) not in str(plan(frame))


def test_the_preview_has_the_first_row_and_the_dearest_text() -> None:
    frame = people(20, name=["a"] * 15 + ["日" * 80] + ["b"] * 4)
    made = plan(frame)
    shown = made.preview(3)
    assert shown.index.tolist() == [0, 15, 16]
    assert shown["est_parts"].tolist() == [1, 2, 1]
    assert shown["forcing"].tolist() == ["", "日", ""]
    assert shown["to"].tolist() == ["+1202...0100", "+1202...0115", "+1202...0116"]
    assert len(made.preview(100)) == 20
    assert made.preview(0).empty


@pytest.mark.parametrize(
    ("text", "hinted"),
    [
        pytest.param("Your code is {code}", True, id="placeholder"),
        pytest.param("Your verification code: 493021", True, id="number"),
        pytest.param("Tu código es {code}", True, id="Spanish"),
        pytest.param("Ihr Bestätigungscode lautet {code}.", True, id="German"),
        pytest.param("您的验证码是{code}，请勿泄露", True, id="Chinese"),
        pytest.param("認証コード: {code}", True, id="Japanese"),
        pytest.param("Ваш код: {code}", True, id="Russian"),
        pytest.param("رمز التحقق {code}", True, id="Arabic"),
        pytest.param("Votre code de vérification : {code}", True, id="French"),
        pytest.param("{code} is your one-time passcode", True, id="number first"),
        pytest.param("20 % off with code 55555", False, id="a code that sells"),
        pytest.param("Your order {code} has shipped", False, id="an order number"),
        pytest.param("The entry code changes in 2026", False, id="a year"),
        pytest.param("New dress code, see page 30255", False, id="a code to wear"),
        pytest.param("Hi {name}", False, id="no number"),
    ],
)
def test_a_text_that_looks_like_a_passcode_gets_a_hint(text: str, hinted: bool) -> None:
    made = plan(people(2, code=["493021", "118822"]), message=text)
    assert bool(made.advice) is hinted
    assert ("otp.send" in str(made)) is hinted


GERMAN = [f"0171 3920{number:03}" for number in range(187)]


@pytest.mark.parametrize(
    ("numbers", "default_region", "said"),
    [
        pytest.param(
            GERMAN,
            "AT",
            "of 150 numbers without a calling code 150 are landlines and 0 mobiles in AT, 150 in ",
            id="wrong default",
        ),
        pytest.param(GERMAN, "DE", "", id="right default"),
        pytest.param(
            [f"{number} (ring twice)" for number in GERMAN[:6]],
            "DE",
            "6 rows with unknown words behind the number: NumberOptions(repair=['trailing_note'])",
            id="repair",
        ),
    ],
)
def test_a_plan_says_what_would_help_the_list(numbers: list[str], default_region: str, said: str) -> None:
    """A plan says what the report of its list says, on its card, too, before anybody is texted."""
    frame = pd.DataFrame({"phone": numbers, "name": "Ann"})
    made = plan(frame, message="Hi {name}", default_region=default_region)
    judged = phones.normalize(numbers, default_region=default_region)
    assert made.advice == phones.report(judged, phones=numbers, default_region=default_region).advice
    assert made.reworded("Hello {name}").advice == made.advice
    assert [line[: len(said)] for line in made.advice] == [said] * bool(said)
    card = " ".join(str(made).split())
    assert all(line[1:] in card for line in made.advice)


def test_template_data_that_looks_like_a_passcode_gets_a_hint() -> None:
    frame = people(2, code=[np.float64(493021), np.float64(1188)])
    assert plan(frame, message=Template("t", ["code"])).advice
    assert plan(frame, message=Template("t", {"order": "code"})).advice == ()
