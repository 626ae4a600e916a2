"""Ten jobs of the people who use it, in the statements that they write: 25 for all ten."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import smsotp_nb as sms
from smsotp_nb.errors import CampaignIncomplete

SAMPLES = Path(__file__).parents[2] / "sample_data"
MOST = 25

FIRST = """
plan = sms.plan(
    "recipients.csv", "Hi {name|there}, 20% off until Sunday.", campaign="autumn", to="phone", region="country",
    default_region="DE", signature="Acme", exclude="suppression.csv", rates="rates.csv", keep=["segment"],
)
results = sms.send(plan, client)
spent = sms.cost.by_country(results)
"""
LANGUAGES = """
words = {"de": "Bitte zahlen Sie {owed:money} bis {due:day}.", "fr": "Veuillez payer {owed:money} avant {due:day}."}
sms.send(sms.plan(debtors, sms.Message(words, currency="EUR"), by="language", campaign="due", to="phone"), client)
"""
WEEKLY = """
group = sms.split(customers, {"sale": 80, "holdout": 20}, unit="customer", seed="week")
people = customers[group == "sale"]
sms.send(sms.plan(people, "20% off.", campaign="week", to="phone", policy=weekly), client)
"""
TYPO = """
plan = sms.plan(longer, "20% off.", campaign="sale", to="phone")
sms.revise(plan, client, reason="a typo, and people who came late")
sms.send(plan, client)
"""
MONEY = """
client.top_up(100)
sms.record("big").settle(sms.record("big").in_doubt, accepted=False, reason="not on the bill")
results = sms.send(plan, client)
"""
MONTHS = """
spent = sms.cost.by(sms.Ledger(), ["iso", "month"])
"""
ESTIMATED = """
table = sms.cost.compare(sms.record("autumn"))
"""
PASSCODE = """
try:
    session = sms.otp.send(number, client).to_dict()
except sms.errors.InDoubt as lost:
    session = lost.challenge.to_dict()
"""
NEXT_REQUEST = """
valid = sms.otp.verify(code=typed, client=client, **{key: session[key] for key in ("to", "intent", "ttl")})
"""
CLEAN = """
rows = next(sms.phones.clean_chunks([sms.read_recipients("recipients.csv")], phone="phone", region="country")).rows
for name, part in rows.groupby(rows["problem"].isna().map({True: "good", False: "bad"})):
    sms.results.write(part, f"{name}.csv")
"""
WHICH = """
got = sms.record("sale").results.join(sms.record("sale").messages["words"], on="message")
"""
TASKS = (FIRST, LANGUAGES, WEEKLY, TYPO, MONEY, MONTHS, ESTIMATED, PASSCODE, NEXT_REQUEST, CLEAN, WHICH)

pytestmark = pytest.mark.filterwarnings("ignore::smsotp_nb.errors.SmsOtpWarning")


def numbers(many: int) -> list[str]:
    return [f"+1{201 + number // 100}55501{number % 100:02}" for number in range(many)]


@pytest.fixture
def given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """What the statements find: the package, a sandbox as the client, and the sample lists in the folder."""
    for name in ("recipients.csv", "suppression.csv", "rates.csv"):
        (tmp_path / name).write_bytes((SAMPLES / name).read_bytes())
    monkeypatch.chdir(tmp_path)
    with sms.Sandbox() as box:
        yield {"sms": sms, "client": box}


def do(code: str, given: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Run statements with these names; return the names as they stand afterwards."""
    names = {**given, **more}
    exec(code, names)
    return names


def statements(code: str) -> int:
    return sum(isinstance(node, ast.stmt) for node in ast.walk(ast.parse(code)))


def test_all_ten_take_no_more_statements_than_that() -> None:
    assert sum(map(statements, TASKS)) <= MOST


def test_a_first_campaign_and_its_estimate(given: dict[str, Any]) -> None:
    done = do(FIRST, given)
    accepted = done["results"]["status"].eq("accepted").sum()
    assert accepted == len(done["client"].inbox) > 200
    assert done["spent"]["messages"].sum() == accepted
    assert do(MONTHS, done)["spent"]["messages"].sum() == accepted
    table = do(ESTIMATED, done)["table"]
    assert table["messages"].sum() == accepted
    assert table["est_cost"].notna().any()


def test_two_languages_with_amounts_and_dates(given: dict[str, Any]) -> None:
    due = pd.Timestamp("2026-12-01")
    people = pd.DataFrame({"phone": numbers(2), "language": ["de", "fr"], "owed": [1234.5, 0.3], "due": [due, due]})
    texts = do(LANGUAGES, given, debtors=people)["client"].inbox["text"].tolist()
    assert sorted(texts) == [
        "Bitte zahlen Sie 1.234,50 € bis 1. Dezember.",
        "Veuillez payer 0,30 € avant 1 décembre.",
    ]


def test_a_week_with_a_cap_and_a_holdout(given: dict[str, Any]) -> None:
    people = pd.DataFrame({"phone": numbers(200), "customer": range(200)})
    weekly = sms.Policy(caps=[(1, "7d")])
    done = do(WEEKLY, given, customers=people, weekly=weekly)
    assert len(done["client"].inbox) == len(done["people"])
    assert 100 < len(done["people"]) < 200, "the others are held out"
    again = sms.plan(people, "Last day.", campaign="again", to="phone", policy=weekly)
    later = sms.send(again, done["client"], progress=False)
    texted = later["to"].isin(done["people"]["phone"])
    assert later.loc[texted, "problem"].eq("CAPPED").all()


def test_a_typo_and_a_late_list_and_who_got_which_text(given: dict[str, Any]) -> None:
    begun = sms.plan(pd.DataFrame({"phone": numbers(20)}), "2% off.", campaign="sale", to="phone")
    with pytest.warns(CampaignIncomplete):
        sms.send(begun, given["client"], limits=sms.Limits(first=5), progress=False)
    done = do(TYPO, given, longer=pd.DataFrame({"phone": numbers(30)}))
    has = done["client"].inbox.set_index("to")["text"]
    got = do(WHICH, done)["got"].set_index("to")["words"]
    assert has.value_counts().to_dict() == {"20% off.": 25, "2% off.": 5}
    pd.testing.assert_series_equal(got.sort_index(), has.sort_index(), check_names=False, check_dtype=False)


def test_the_money_runs_out_and_a_request_is_lost(given: dict[str, Any]) -> None:
    with sms.Sandbox(balance="0.08") as box:
        plan = sms.plan(
            pd.DataFrame({"phone": numbers(40)}),
            "Hi",
            campaign="big",
            to="phone",
            requests=sms.RequestOptions(chunk_size=4, threads=1),
        )
        box.fault("drop_before", next=1)
        first = sms.send(plan, box, progress=False)
        assert set(first["status"]) == {"accepted", "in_doubt", "planned"}
        results = do(MONEY, given, client=box, plan=plan)["results"]
        assert results["status"].eq("accepted").all()
        assert sorted(box.inbox["to"]) == sorted(numbers(40)), "everybody has it once"


def test_a_passcode_over_two_requests_with_a_lost_reply(given: dict[str, Any]) -> None:
    given["client"].fault("drop_after", next=1)
    done = do(PASSCODE, given, number="+12025550123")
    typed = done["client"].code("+12025550123")
    kept = {"sms": sms, "client": done["client"], "session": dict(done["session"])}
    assert do(NEXT_REQUEST, kept, typed="0" * len(typed))["valid"] is False
    assert do(NEXT_REQUEST, kept, typed=typed)["valid"] is True


def test_a_list_to_a_good_and_a_bad_file(given: dict[str, Any]) -> None:
    do(CLEAN, given)
    parts = {name: sms.read_recipients(f"{name}.csv") for name in ("good", "bad")}
    assert len(parts["good"]) + len(parts["bad"]) == len(sms.read_recipients("recipients.csv"))
    assert parts["good"]["to"].notna().all()
    assert parts["bad"]["problem"].notna().all()
    assert len(parts["good"]) > 150
