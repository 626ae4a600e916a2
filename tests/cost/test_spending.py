"""Costs of a whole ledger: one pass in SQL and integers, equal to the result tables row by row."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from support.ledger_rows import by_row
from support.phone_lists import example
from support.tables import whole

import smsotp_nb as sms
from smsotp_nb import Client, Ledger, RequestOptions, Sandbox, cost
from smsotp_nb.errors import UsageError

REGIONS = ("US", "DE", "IN", "NA", "CN", "FR", "GB", "BR")
KEPT = ("segment", "tier", "vip")
RATES = pd.DataFrame({"iso": ["US", "DE", "IN"], "currency": "USD", "price": ["0.0075", "0.08", "0.03"]})


def people() -> pd.DataFrame:
    """The library's own example numbers of some countries, and one nobody can text."""
    numbers = [example(region, kind) for region in REGIONS for kind in ("MOBILE", "FIXED_LINE")]
    frame = pd.DataFrame({"phone": [*filter(None, numbers), "nobody"]})
    place = pd.Series(range(len(frame)))
    return frame.assign(segment=place.map(lambda row: ["a", 'b"\x1f,', None][row % 3]), tier=place % 2, vip=place > 7)


def send(client: Client, ledger: Ledger, campaign: str, **wording: str) -> pd.DataFrame:
    plan = sms.plan(
        people(),
        to="phone",
        campaign=campaign,
        rates=RATES,
        keep=list(KEPT),
        requests=RequestOptions(chunk_size=5),
        **wording,
    )
    return sms.send(plan, client=client, ledger=ledger, progress=False).join(ledger.record(campaign).details)


@pytest.fixture
def tables(client: Client, ledger: Ledger) -> pd.DataFrame:
    """Two campaigns on a sandbox, one of them in UCS-2 and two parts, as their result tables below each other."""
    first = send(client, ledger, "autumn", message="20 % off until Sunday")
    second = send(client, ledger, "winter", message="20 % off – until Sunday " * 4)
    return pd.concat([first, second])


OWN = (["segment"], ["tier", "segment", "iso"], ["vip", "encoding", "month"])


@pytest.mark.parametrize(
    "columns",
    [[], "iso", "campaign", "encoding", "type", ["region", "iso"], ["service", "campaign", "encoding", "iso"], *OWN],
    ids=str,
)
def test_the_ledger_sums_up_to_its_result_tables(tables: pd.DataFrame, ledger: Ledger, columns: list[str]) -> None:
    """Whatever the columns, a ledger and the frames that send returned cost the same to the last digit."""
    tables = tables.assign(month=tables["at"].dt.strftime("%Y-%m"))
    pd.testing.assert_frame_equal(cost.by(ledger, columns), cost.by(tables, columns), check_dtype=False)


def test_named_views_and_the_card_take_a_ledger(tables: pd.DataFrame, ledger: Ledger) -> None:
    """Month, country, comparison and card, from the ledger as from the frames."""
    for view in (cost.by_country, cost.by_month, cost.summary):
        pd.testing.assert_frame_equal(view(ledger), view(tables))
    pd.testing.assert_frame_equal(cost.compare(ledger), cost.compare(tables))
    assert cost.card(ledger).state == cost.card(tables).state
    assert cost.card(ledger).title == "Cost of 2 campaigns"
    passcodes = cost.spending(ledger).head(1).assign(kind="passcode", campaign="2026-11")
    assert cost.card(pd.concat([cost.spending(ledger), passcodes])).title == "Cost of 2 campaigns and passcodes"


def test_sums_can_be_summed_up_further(tables: pd.DataFrame, ledger: Ledger) -> None:
    """One pass over the ledger serves every table."""
    spent = cost.spending(ledger)
    pd.testing.assert_frame_equal(cost.by_country(spent), cost.by_country(tables))
    pd.testing.assert_frame_equal(cost.by(cost.by(spent, ["iso", "campaign"]), "iso"), cost.by(tables, "iso"))


def test_rehearsals_are_kept_apart(client: Client, ledger: Ledger, box: object) -> None:
    """What a sandbox billed is no part of what was spent, unless nothing else is there or it is asked for."""
    send(client, ledger, "autumn", message="Hello")
    assert cost.spending(ledger)["messages"].sum() > 0
    assert len(cost.spending(ledger, service="live")) == 0
    assert cost.spending(ledger, service="sandbox")["service"].unique().tolist() == [client.service]
    with ledger._store.writing() as connection:
        connection.execute("UPDATE campaign SET service='live.example'")
    send(client, ledger, "winter", message="Hello")
    assert cost.spending(ledger)["service"].unique().tolist() == ["live.example"]
    assert cost.spending(ledger, service=client.service)["campaign"].unique().tolist() == ["winter"]


def test_a_span_of_time_is_cut_out(tables: pd.DataFrame, ledger: Ledger) -> None:
    """since= is part of the span, until= is not."""
    day = tables["at"].max().tz_localize(None).normalize()
    assert cost.spending(ledger, since=day + pd.Timedelta(days=1))["messages"].sum() == 0
    assert cost.spending(ledger, until=str(day.date()))["messages"].sum() == 0
    assert cost.spending(ledger, since=day, until=day + pd.Timedelta(days=1))["messages"].sum() > 0


def test_a_span_without_a_zone_is_by_the_clock_of_tz(tables: pd.DataFrame, ledger: Ledger) -> None:
    """A time just after the last message somewhere is before it elsewhere, unless it names its zone itself."""
    after = tables["at"].max() + pd.Timedelta(minutes=1)
    here = after.tz_localize("UTC").tz_convert("Asia/Tokyo").tz_localize(None)
    assert cost.spending(ledger, since=here, tz="Asia/Tokyo")["messages"].sum() == 0
    assert cost.spending(ledger, until=here, tz="Asia/Tokyo")["messages"].sum() > 0
    assert cost.spending(ledger, since=here - pd.Timedelta(hours=9), tz="Asia/Tokyo")["messages"].sum() > 0
    assert cost.spending(ledger, since=after.tz_localize("UTC"), tz="Asia/Tokyo")["messages"].sum() == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"service": "nowhere"}, "no service 'nowhere'; it has none yet"),
        ({"since": "soon"}, "since= must be a day"),
        ({"tz": "Mars/Base"}, "tz= must be a time zone"),
    ],
    ids=["service", "time", "zone"],
)
def test_a_wrong_call_is_refused(ledger: Ledger, arguments: dict[str, str], said: str) -> None:
    """The ledger says what it has."""
    with pytest.raises(UsageError, match=said):
        cost.spending(ledger, **arguments)


def test_an_empty_ledger_costs_nothing(ledger: Ledger) -> None:
    """No campaign yet: empty tables with their dtypes."""
    assert len(cost.by_country(ledger)) == 0
    assert cost.by_month(ledger)["cost"].dtype == "float64"
    assert "nothing was billed" in cost.card(ledger).text()


def test_rows_without_price_or_currency_count_as_unpriced(tables: pd.DataFrame, ledger: Ledger, tmp_path: Path) -> None:
    """A price that was not readable, and all of a request without a currency, are counted and not added."""
    by_row(ledger.path)
    with ledger._store.writing() as connection:
        connection.execute("UPDATE recipient SET price=NULL WHERE campaign=1 AND chunk=0 AND position=0")
        connection.execute("UPDATE attempt SET currency=NULL WHERE campaign=2 AND chunk=0")
    frames = pd.concat([whole(ledger.record(name)) for name in ("autumn", "winter")])
    found = cost.by(ledger, "iso")
    assert found["unpriced"].sum() == 6
    pd.testing.assert_frame_equal(found, cost.by(frames, "iso"))
    known = frames[frames["price"].notna() & frames["currency"].notna()].groupby(["currency", "iso"])
    each = (known["price"].sum() / known["parts"].sum().astype("float64")).round(6)
    assert found.set_index(["currency", "iso"])["price_per_part"].dropna().to_dict() == pytest.approx(each.to_dict())
    assert cost.change(ledger, frames)[["by_messages", "by_parts", "by_price"]].fillna(0).eq(0).all(axis=None)


def test_what_a_purged_campaign_cost_stays_known(tables: pd.DataFrame, ledger: Ledger) -> None:
    """A purge takes the numbers and keeps the sums; purging again changes nothing."""
    before = [view(ledger) for view in (cost.by_country, cost.by_month, cost.summary, cost.compare)]
    for _ in range(2):
        ledger.record("autumn").purge()
        after = [view(ledger) for view in (cost.by_country, cost.by_month, cost.summary, cost.compare)]
        for then, now in zip(before, after, strict=True):
            pd.testing.assert_frame_equal(now, then)
    day = tables["at"].max().tz_localize(None).normalize()
    assert cost.spending(ledger, since=day + pd.Timedelta(days=1))["messages"].sum() == 0
    assert cost.spending(ledger, since=day)["campaign"].nunique() == 2


def test_own_columns_are_read_row_by_row_as_well(tables: pd.DataFrame, ledger: Ledger) -> None:
    """Chunks whose rows have states of their own are summed up to the same."""
    before = cost.by(ledger, ["segment", "vip"])
    by_row(ledger.path)
    pd.testing.assert_frame_equal(cost.by(ledger, ["segment", "vip"]), before)
    assert len(tables)


def test_a_campaign_that_kept_other_columns_counts_as_missing(client: Client, ledger: Ledger) -> None:
    send(client, ledger, "autumn", message="Hello")
    other = sms.plan(people(), "Hello again", to="phone", campaign="winter", rates=RATES, keep=["vip"])
    sms.send(other, client=client, ledger=ledger, progress=False)
    found = cost.by(ledger, ["campaign", "tier"])
    assert found[found["campaign"] == "winter"]["tier"].isna().all()
    assert found[found["campaign"] == "autumn"]["tier"].notna().all()
    assert found["messages"].sum() == cost.by(ledger, [])["messages"].sum()


def test_a_column_that_nobody_kept_is_refused_with_the_nearest(tables: pd.DataFrame, ledger: Ledger) -> None:
    assert len(tables)
    with pytest.raises(UsageError, match="did you mean 'segment'"):
        cost.by(ledger, "segments")
    with pytest.raises(UsageError, match="is a column of every sum"):
        cost.spending(ledger, columns="iso")


@pytest.mark.filterwarnings("ignore::smsotp_nb.errors.SmsOtpWarning")
def test_rows_in_doubt_are_told_beside_a_cost_of_nothing(box: Sandbox, ledger: Ledger) -> None:
    box.fault("drop_after", next=1)
    people = pd.DataFrame({"phone": ["+12025550100", "+12025550101"]})
    made = sms.plan(people, "Hello", to="phone", campaign="doubtful")
    with box.client() as client:
        table = sms.send(made, client, ledger=ledger, progress=False)
    for source in (ledger, table, ledger.record("doubtful")):
        card = cost.card(source)
        assert card.state == "No message is known to be accepted; 2 messages in doubt may have been billed"
        assert "2 rows in doubt; possibly sent and billed" in card.text()
