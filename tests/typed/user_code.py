"""Code as users write it, with types: both type checkers read it (`make check`) and a test runs it.

A public name that becomes untyped, a result that becomes ``Any`` or a renamed argument shows here first.
"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import assert_type

import pandas as pd
import polars as pl

import smsotp_nb as sms
from smsotp_nb.errors import InDoubt, ServiceError, SmsOtpError, UsageError


def planned(people: pd.DataFrame, *, rates: pd.DataFrame) -> sms.Plan:
    """Plan a campaign from a frame, with everything a plan is usually given."""
    plan = sms.plan(
        people,
        sms.Message("Hi {name|there}, 20 % off until Sunday.", replace=sms.parts.PLAIN),
        to="phone",
        campaign="autumn-sale",
        region="country",
        default_region="DE",
        signature="Acme",
        rates=rates,
        keep=["segment"],
        exclude=["+1 202 555 0199"],
    )
    assert_type(plan, sms.Plan)
    assert_type(plan.rows, pd.DataFrame)
    assert_type(plan.estimate, pd.DataFrame)
    return plan


def sent(plan: sms.Plan, client: sms.Client, path: Path) -> pd.DataFrame:
    """Look, try a few, then send the rest."""
    with sms.Ledger(path, create=True) as ledger:
        print(sms.preflight(plan, client=client, ledger=ledger, limits=sms.Limits(budget={"USD": 50}, first=1)))
        sms.send(plan, client=client, ledger=ledger, progress=False, limits=sms.Limits(first=1))
        results = sms.send(
            plan.with_requests(threads=2),
            client=client,
            ledger=ledger,
            progress=False,
            limits=sms.Limits(budget={"USD": Decimal(50)}, per_second=100, stop_after=5),
        )
        assert_type(results, pd.DataFrame)
        campaign = ledger.record(plan.campaign)
        assert_type(campaign.settle(campaign.in_doubt, accepted=False), int)
        assert_type(campaign.counts, dict[str, int])
    return results


def spent(results: pd.DataFrame, folder: Path) -> pd.DataFrame:
    """Sum up, compare, and keep the table."""
    by_country = sms.cost.by_country(results)
    assert_type(by_country, pd.DataFrame)
    sms.cost.compare(folder / "ledger.sqlite")
    sms.charts.report(results, folder / "report.html")
    file = sms.results.write(results, folder / "results.csv")
    assert_type(file, Path)
    assert_type(sms.results.read(file), pd.DataFrame)
    return by_country


def cleaned(people: pd.DataFrame) -> pd.Series[str]:
    """Numbers to E.164, and what is wrong with the rest."""
    numbers = sms.phones.normalize(people["phone"], region=people["country"], default_region="DE")
    assert_type(numbers, pd.DataFrame)
    return numbers["problem"].astype("str")


def logged_in(to: str, typed: str, client: sms.Client) -> bool:
    """Send a passcode and check what was typed, with every way in which that can end."""
    try:
        challenge = sms.otp.send(to, client=client, intent="login", ttl=120)
        assert_type(challenge, sms.Challenge)
        return challenge.verify(typed)
    except InDoubt as error:
        print("no answer", error.phase, error.http_status)
    except ServiceError as error:
        print("refused", error.error_code, error.name)
    except UsageError as error:
        print("wrong call", *error.problems)
    except SmsOtpError as error:
        print(error)
    return False


def frames_of_others(rows: list[dict[str, str]], rates: pd.DataFrame) -> sms.Plan:
    """Frames of other libraries, rows as dicts and paths are taken; both checkers flag what cannot be a list."""
    sms.plan(5, "Hi", to="phone", campaign="x")  # type: ignore[arg-type]
    sms.rates.check(0.0075)  # type: ignore[arg-type]
    sms.cost.by_country(5)  # type: ignore[arg-type]
    sms.phones.find_columns(None)  # type: ignore[arg-type]
    words = sms.Template("T1", {"name": "first"}, preview="Dear {name}")
    reading, requests = (
        sms.NumberOptions(repair=["lost_plus"], test_numbers="refuse"),
        sms.RequestOptions(chunk_size=500, threads=8),
    )
    made = sms.plan("people.csv", words, to="phone", campaign="x", numbers=reading, requests=requests)
    assert_type(made.recipients, int)
    assert_type(made.reworded({"de": "Hallo", "en": sms.Message("Hi")}, by="language"), sms.Plan)
    sms.plan(rows, "Hi", to="phone", campaign="x", rates=rates)
    sms.plan(pl.DataFrame(rows), "Hi", to="phone", campaign="x")
    return sms.plan(pl.LazyFrame(rows), "Hi", to="phone", campaign="x", rates=rows)


def main(folder: Path) -> pd.DataFrame:
    """Run all of it on a sandbox."""
    people = pd.DataFrame(
        {"name": ["Ann", None], "phone": ["+1 202 555 0123", "+1 202 555 0147"], "country": "US", "segment": "new"}
    )
    rates = sms.rates.check(pd.DataFrame({"iso": ["US"], "currency": ["USD"], "price": [0.0075]}))
    assert_type(sms.parts.count("Hello").parts, int)
    with sms.Sandbox(balance=10) as box, box.client() as client:
        assert_type(client, sms.Client)
        results = sent(planned(people, rates=rates), client, folder / "ledger.sqlite")
        cleaned(people)
        spent(results, folder)
        logged_in("+12025550123", "000000", client)
        assert_type(box.inbox, pd.DataFrame)
        assert_type(box.code("+12025550123"), str | None)
    return results
