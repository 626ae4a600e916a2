"""What is published of a campaign is joined back by an adversary who has the list and knows each person's figures."""

from __future__ import annotations

import hashlib
from hashlib import blake2b

import numpy as np
import pandas as pd
import pytest
from support.tables import whole

from smsotp_nb import Client, Ledger, plan, results, send
from smsotp_nb.errors import UsageError

MANY = 2_000
TOLD = ["iso", "type", "messages", "parts", "cost", "currency"]


def table_of(many: int = MANY, seed: int = 1) -> pd.DataFrame:
    """A result table of people in a few countries, some of them alone with what they were sent."""
    random = np.random.default_rng(seed)
    iso = random.choice(["US", "FR", "DE", "NA"], many, p=[0.95, 0.045, 0.004, 0.001])
    kind = random.choice(["MOBILE", "FIXED_LINE", "VOIP"], many, p=[0.9, 0.095, 0.005])
    parts = np.minimum(random.geometric(0.7, many), 9)
    numbers = [f"+1{202 + n // 10_000}555{n % 10_000:04}" for n in random.permutation(many)]
    table = pd.DataFrame({"to": numbers, "status": "accepted", "region": iso, "type": kind, "iso": iso, "parts": parts})
    return table.assign(price=table["parts"] * 0.0075, currency="USD")


def known_of(table: pd.DataFrame) -> pd.DataFrame:
    """What the adversary knows of each number: country, kind, and every figure."""
    sums = {"iso": ("iso", "first"), "type": ("type", "first"), "messages": ("parts", "size")}
    sums |= {"parts": ("parts", "sum"), "cost": ("price", "sum")}
    found = table.groupby(["to", "currency"], as_index=False).agg(**sums)
    return found.assign(cost=found["cost"].round(6))


def could_be(published: pd.DataFrame, known: pd.DataFrame) -> list[int]:
    """Return of each distinct kind of published row how many numbers it could belong to."""
    found = []
    for row in published[TOLD].drop_duplicates().to_dict("records"):
        fits = np.ones(len(known), bool)
        for name, value in row.items():
            if not pd.isna(value) and value != "other":
                fits &= known[name].eq(value).to_numpy()
        found.append(int(fits.sum()))
    return found


@pytest.mark.parametrize("k", [2, 5, 40])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_whoever_has_the_list_cannot_say_whose_a_row_is(k: int, seed: int) -> None:
    table = pd.concat([table_of(seed=seed), table_of(seed=seed).iloc[:300]], ignore_index=True)  # some get two messages
    published = results.publishable(table, k=k)
    alike = published.groupby(TOLD, dropna=False)["person"].transform("size")
    assert alike.min() >= k
    assert min(could_be(published, known_of(table))) >= k
    assert published["person"].is_unique
    assert len(published) > 0.9 * MANY


def test_a_mask_is_joined_at_once() -> None:
    """The reason why masks are for the eye and this form is for publishing."""
    table = pd.DataFrame({"to": [f"+1{202 + n // 10_000}555{n % 10_000:04}" for n in range(0, 80_000, 8)]})
    masks = table.smsotp.masked()["to"]
    assert masks.ne(table["to"]).all()
    assert masks.value_counts().eq(1).mean() > 0.9


def test_a_pseudonym_is_no_hash_of_the_number_and_lasts_for_one_call(client: Client, ledger: Ledger) -> None:
    people = pd.DataFrame({"phone": [f"+1202555{n:04}" for n in range(100, 130)]})
    made = plan(people, "Hello!", to="phone", campaign="autumn")
    table = send(made, client=client, ledger=ledger, progress=False).join(ledger.record("autumn").details)
    first, second = results.publishable(table), results.publishable(whole(ledger.record("autumn")))
    assert len(first) == len(second) == 30
    assert not set(first["person"]) & set(second["person"])
    with ledger._store.reading() as connection:
        secret = connection.execute("SELECT secret FROM ledger").fetchone()[0]
    tried = set()
    for number in table["to"]:
        for text in (number, number[1:], f"{number}/USD"):
            tried |= {hashlib.sha256(text.encode()).hexdigest()[:16], blake2b(text.encode(), digest_size=8).hexdigest()}
            tried |= {blake2b(text.encode(), key=key, digest_size=8).hexdigest() for key in (b"", secret)}
    assert not tried & set(first["person"])
    assert first["person"].is_monotonic_increasing  # by the pseudonym, so in no order of the list
    assert first.index.tolist() == list(range(30))


def test_small_groups_are_folded_then_left_out() -> None:
    table = table_of(60).assign(iso="US", region="US", type="MOBILE", parts=1, price=0.0075)
    table.loc[:5, "type"] = ["VOIP", "PAGER", "UAN", "VOIP", "PAGER", "UAN"]
    assert results.publishable(table)["type"].value_counts().to_dict() == {"MOBILE": 54, "other": 6}
    assert results.publishable(table, k=7)["type"].value_counts().to_dict() == {"MOBILE": 54}
    assert results.publishable(table, k=61).empty


def test_rows_that_cost_nothing_and_own_columns_are_not_published() -> None:
    table = table_of(50).assign(name="Zebedee", status="accepted", iso="US", type="MOBILE", parts=1, price=0.0075)
    table.loc[:9, "status"] = "in_doubt"
    table.loc[10:14, "to"] = None
    published = results.publishable(table)
    assert len(published) == 35
    assert list(published) == ["person", *TOLD]


@pytest.mark.parametrize("k", [0, 1, -3, 2.5, "5", None, True])
def test_a_wrong_k_is_refused(k: object) -> None:
    with pytest.raises(UsageError, match="k="):
        results.publishable(table_of(10), k=k)  # type: ignore[arg-type]


ONE = {"status": "accepted", "region": "US", "type": "MOBILE", "iso": "US", "currency": "USD", "parts": 1, "price": 0.5}


def of(*numbers: str, **columns: object) -> pd.DataFrame:
    return pd.DataFrame([{**ONE, "to": number} for number in numbers]).assign(**columns)


@pytest.mark.parametrize("levels", [1, 2])
def test_a_table_that_is_indexed_by_its_numbers_is_taken(levels: int) -> None:
    table = of("+12025550100", "+12025550101")
    table.index = pd.MultiIndex.from_arrays([table["to"]] * 2) if levels == 2 else pd.Index(table["to"])
    table.index.names = ["to"] * levels
    assert results.publishable(table, k=2)["cost"].tolist() == [0.5, 0.5]


def test_what_is_not_known_of_every_message_is_missing() -> None:
    """Nought would say that it was free."""
    numbers = ["+12025550100", "+12025550101"] * 2
    found = results.publishable(of(*numbers, price=[0.5, 0.5, None, None], parts=[1, 1, None, None]), k=2)
    assert found["messages"].tolist() == [2, 2]
    assert found[["parts", "cost"]].isna().all(axis=None)


def test_parts_beyond_what_can_be_added_up_are_refused() -> None:
    with pytest.raises(UsageError, match="column 'parts': these parts are too many to be added up"):
        results.publishable(of(*["+12025550100"] * 4, parts=2**62), k=2)


def test_two_spellings_of_one_phone_are_one_person() -> None:
    assert results.publishable(of("+5491123456789", "+541123456789"), k=2).empty


def test_an_error_names_the_row_by_the_label_of_the_table_that_was_passed() -> None:
    one = {"status": "accepted", "region": "US", "type": "MOBILE", "iso": "US", "parts": 1, "currency": "USD"}
    rows = [{**one, "to": "+12025550101", "price": 0.01}, {**one, "to": "+12025550102", "price": float("inf")}]
    with pytest.raises(UsageError, match="row 7 has inf"):
        results.publishable(pd.DataFrame(rows, index=[9, 7]))


def test_a_person_is_another_pseudonym_in_each_currency() -> None:
    """One pseudonym would join what two groups tell, of people whom nobody else is like in both."""
    table = pd.concat([table_of(200), table_of(200).assign(currency="EUR")], ignore_index=True)
    published = results.publishable(table)
    assert set(published["currency"]) == {"USD", "EUR"}
    assert published["person"].is_unique


def test_figures_that_few_share_are_left_out_and_the_people_stay() -> None:
    table = table_of(10).assign(iso="US", region="US", type="MOBILE", parts=range(1, 11))
    published = results.publishable(table.assign(price=table["parts"] * 0.01))
    assert len(published) == 10
    assert published[["messages", "parts", "cost"]].isna().all(axis=None)


@pytest.mark.parametrize("other", ["+1 (202) 555-0100", "12025550100", "0012025550100", "00 1 202 555 0100"])
def test_a_number_that_is_written_otherwise_is_the_same_person(other: str) -> None:
    assert results.publishable(of("+12025550100", other), k=2).empty
