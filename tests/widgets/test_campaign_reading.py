"""The campaign form reads a comparison from a file of orders, without a browser."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import ipywidgets
import pandas as pd
import pytest
from secrecy.test_labels import numbers_in, unread
from secrecy.test_labels import people as labelled  # noqa: F401

from smsotp_nb import Client, Experiment, Ledger, Sandbox, plan, send
from smsotp_nb._widgets.campaign.cards import _messages as previewed
from smsotp_nb._widgets.campaign.choices import Choices, Compared, Guards
from smsotp_nb._widgets.campaign.reading import AMOUNT, AT, ON, OrderColumns, ReadingSteps, orders
from smsotp_nb._widgets.inbox import inbox_html
from smsotp_nb._widgets.lists import read_upload
from smsotp_nb.errors import LedgerError, UsageError
from smsotp_nb.widgets import CampaignForm

pytestmark = pytest.mark.filterwarnings("ignore::smsotp_nb.errors.SmsOtpWarning")
PEOPLE = pd.DataFrame(
    {"phone": [f"+1202555{n:04}" for n in range(100, 200)], "customer": [f"c{n}" for n in range(100)]}
)
AUTUMN = Choices(
    campaign="autumn",
    to="phone",
    kind="text",
    words="Hi!",
    compared=Compared(other="Only today!", held=20, unit="customer"),
)
LATER = timedelta(days=15)
CHOSEN = OrderColumns(on="customer", at="day", zone="UTC")
BINARY, MONEY = {"bought": "binary"}, {"spent": "amount"}


def sent(client: Client, ledger: Ledger) -> CampaignForm:
    form = CampaignForm(PEOPLE, client=client, ledger=ledger)
    form.steps.check(AUTUMN)
    form.steps.send(Guards())
    assert form.steps.stage == "done", form.steps.refusal
    return form


def later() -> datetime:
    return datetime.now(UTC) + LATER


def bought(many: int = 30) -> pd.DataFrame:
    """Orders of the first customers, tomorrow."""
    day = (datetime.now(UTC) + timedelta(days=1)).strftime("%Y-%m-%d %H:%M")
    return pd.DataFrame({"customer": [f"c{n}" for n in range(many)], "day": day, "paid": "12.50"})


def uploaded(frame: pd.DataFrame, name: str = "orders.csv") -> Any:
    return read_upload(name, frame.to_csv(index=False).encode())


# -- the columns of a file


@pytest.mark.parametrize(
    ("cells", "zone", "read"),
    [
        (["2026-11-03 14:05"], "Europe/Berlin", ["2026-11-03 13:05:00+00:00"]),
        (["2026-07-03T14:05:30"], "Europe/Berlin", ["2026-07-03 12:05:30+00:00"]),
        (["2026-11-03"], "UTC", ["2026-11-03 00:00:00+00:00"]),
        (["2026-11-03T14:05+01:00", "2026-11-03 14:05Z"], "",
         ["2026-11-03 13:05:00+00:00", "2026-11-03 14:05:00+00:00"]),
        (["2026-11-03T14:05-0500", "2026-11-03 14:05"], "Asia/Kolkata",
         ["2026-11-03 19:05:00+00:00", "2026-11-03 08:35:00+00:00"]),
        (["2026-11-03 14:05:00+00", "2026-11-03T14+01:00"], "UTC",
         ["2026-11-03 14:05:00+00:00", "2026-11-03 13:00:00+00:00"]),
        (pd.to_datetime(["2026-11-03 14:05"]), "Europe/Berlin", ["2026-11-03 13:05:00+00:00"]),
        (pd.to_datetime(["2026-11-03 14:05"]).tz_localize("Europe/Berlin"), "", ["2026-11-03 13:05:00+00:00"]),
    ],
    ids=["winter", "summer", "a day", "offsets", "both", "hours alone", "a frame's times", "with their zone"],
)  # fmt: skip
def test_times_are_moments(cells: Any, zone: str, read: list[str]) -> None:
    frame = pd.DataFrame({"customer": "c1", "day": cells})
    found = orders(frame, OrderColumns("customer", "day", zone=zone), BINARY, integers=False)
    assert found.faults == {}
    assert found.frame[AT].astype(str).tolist() == read


WRONG = {
    "no time": ({"day": ["2026-11-03", "soon", None]}, CHOSEN, BINARY, "at", "In rows 1, 2 day is no time. Write"),
    "a day of two readings": ({"day": ["03/11/2026"] * 3}, CHOSEN, BINARY, "at", "can be read in two ways"),
    "a year": ({"day": ["2026"] * 3}, CHOSEN, BINARY, "at", "day is no time."),
    "no zone": ({}, OrderColumns("customer", "day"), BINARY, "zone", "The times have no zone. Enter the one"),
    "zone": ({}, OrderColumns("customer", "day", zone="Berlin"), BINARY, "zone", "“Berlin” is no time zone."),
    "the hour twice": (
        {"day": ["2026-10-25 02:30"] * 3}, OrderColumns("customer", "day", zone="Europe/Berlin"), BINARY, "at",
        "In rows 0, 1, 2 day is a time at which the clocks were changed. Write these with their offset",
    ),
    "nothing chosen": ({}, OrderColumns(), BINARY, "on", "Choose the column with the customer of each order."),
    "no amount chosen": ({}, CHOSEN, MONEY, "amount", "Choose the column with the amount of each order."),
    "no currency": (
        {}, OrderColumns("customer", "day", "paid", "UTC", "dollars"), MONEY, "currency", "in three letters",
    ),
    "amounts": (
        {"paid": ["12,50", "USD 3", None]}, OrderColumns("customer", "day", "paid", "UTC", "usd"), MONEY, "amount",
        "In rows 0, 1, 2 paid is no amount. Write amounts such as 12.50",
    ),
    "no end of an amount": (
        {"paid": [1.0, float("inf"), 2.0]}, OrderColumns("customer", "day", "paid", "UTC", "usd"), MONEY, "amount",
        "In row 1 paid is no amount.",
    ),
    "what is bought": (
        {"bought": ["shoes", "true", "no"]}, CHOSEN, BINARY, "",
        "In row 0 bought is neither true nor false.",
    ),
    "customers": ({"customer": [1.5, 2.0, 3.0]}, CHOSEN, BINARY, "on", "must hold text or whole numbers"),
}  # fmt: skip


@pytest.mark.parametrize(("change", "chosen", "kinds", "field", "words"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_read_is_said_at_its_field(
    change: dict[str, Any], chosen: OrderColumns, kinds: dict[str, str], field: str, words: str
) -> None:
    usual = {"customer": ["c1", "c2", "c3"], "day": ["2026-11-03"] * 3, "paid": ["1", "2.50", "-3"]}
    found = orders(pd.DataFrame(usual | change), chosen, kinds, integers=False)
    assert words in found.faults[field]
    assert found.frame.empty


def test_the_chosen_amount_counts_and_no_column_of_the_outcomes_name() -> None:
    frame = pd.DataFrame({"customer": ["c1"], "day": ["2026-11-03"], "total": [10], "spent": [999]})
    chosen = OrderColumns("customer", "day", "total", "UTC", "usd")
    found = orders(frame, chosen, MONEY, integers=False).frame
    assert found[AMOUNT].tolist() == [10]
    assert "spent" not in found.columns


def test_units_are_those_that_were_recorded() -> None:
    """Whole numbers out of text, exact as no float is; 007 and a guest are nobody who has such a number."""
    texts = ["9007199254740993", "9223372036854775807", "9223372036854775808", "007", "guest", None]
    frame = pd.DataFrame({"customer": texts, "day": "2026-11-03"})
    as_numbers = orders(frame, CHOSEN, BINARY, integers=True).frame[ON]
    assert as_numbers.tolist()[:2] == [9007199254740993, 9223372036854775807]
    assert as_numbers.isna().tolist() == [False] * 2 + [True] * 4
    as_text = orders(frame.assign(customer=range(6)), CHOSEN, BINARY, integers=False).frame[ON]
    assert as_text.tolist() == ["0", "1", "2", "3", "4", "5"]


def test_amounts_and_outcomes_of_their_own_column() -> None:
    frame = pd.DataFrame(
        {"customer": ["c1", "c2"], "day": "2026-11-03", "paid": ["12.50", " -3"], "clicked": ["Yes", "0"]}
    )
    chosen = OrderColumns("customer", "day", "paid", "UTC", "EUR")
    found = orders(frame, chosen, {"spent": "amount", "clicked": "binary"}, integers=False)
    assert found.faults == {}
    assert found.frame[AMOUNT].tolist() == [12.5, -3.0]
    assert found.frame["clicked"].tolist() == [True, False]


# -- a reading


def test_until_the_reading_day_there_are_counts_then_orders_are_asked_for(client: Client, ledger: Ledger) -> None:
    form = sent(client, ledger)
    steps = form.reading.steps
    steps.read("autumn", OrderColumns())
    assert steps.reading is not None
    assert steps.reading.state == "waiting"
    sizes = {name: len(arm.frame) for name, arm in form.steps.comparison.arms.items()}  # type: ignore[union-attr]
    counted = steps.reading.frame.set_index("arm")
    assert counted["people"].drop("holdout").to_dict() == counted["contacted"].drop("holdout").to_dict() == sizes
    assert "The arms have the sizes they were given" in steps.reading.card().text(200)
    steps._now, steps.reading = later, None
    steps.read("autumn", OrderColumns())
    assert steps.reading is None
    assert steps.faults == {"orders": "The reading day has come: choose the file of the orders first."}


@pytest.mark.parametrize("kind", ["csv", "xlsx", "parquet"])
def test_after_a_restart_it_is_read_as_code_reads_it(client: Client, ledger: Ledger, tmp_path: Path, kind: str) -> None:
    """Another form, weeks later, without the list: the ledger knows the comparison, the file brings the orders."""
    sent(client, ledger)
    file, rows = tmp_path / f"orders.{kind}", bought()
    {"csv": rows.to_csv, "xlsx": rows.to_excel, "parquet": rows.to_parquet}[kind](file, index=False)  # type: ignore[operator]
    form = CampaignForm(client=client, ledger=ledger)
    pane, steps = form.reading, form.reading.steps
    assert (pane.widget.layout.display, pane.comparison.value) == (None, "autumn")
    pane.file.show(read_upload(file.name, file.read_bytes()))
    assert pane.on.value == "customer"
    pane.at.value, pane.zone.value, steps._now = "day", "UTC", later
    steps.read("autumn", pane.chosen())
    assert steps.reading is not None, steps.notice
    test = Experiment("autumn", ledger=ledger, now=later, **AUTUMN.compared.declared())
    in_code = test.read(rows.assign(day=pd.to_datetime(rows["day"]).dt.tz_localize("UTC")), at="day")
    assert in_code.state == "read"
    pd.testing.assert_frame_equal(steps.reading.frame, in_code.frame)
    assert steps.reading.sentence() == in_code.sentence()
    assert pane.card.value == in_code.card().html()


def test_orders_given_in_code_and_an_early_look(client: Client, ledger: Ledger) -> None:
    sent(client, ledger)
    form = CampaignForm(client=client, ledger=ledger, orders=bought())
    form.reading.steps.read("autumn", CHOSEN, early="sequential")
    assert form.reading.steps.reading is not None
    assert form.reading.steps.reading.state == "sequential"
    assert form.reading.upload.layout.display == "none"
    with pytest.raises(UsageError, match="orders must be a DataFrame"):
        CampaignForm(client=client, ledger=ledger, orders="orders.csv")  # type: ignore[arg-type]


def test_amounts_of_an_experiment_declared_in_code(client: Client, ledger: Ledger) -> None:
    """Units that are whole numbers, and money with its currency."""
    people = PEOPLE.assign(customer=range(100))
    test = Experiment(
        "sale", arms={"plain": 50}, holdout=50, unit="customer", outcomes=MONEY, read_after="14d", ledger=ledger
    )
    ((arm, part),) = test.assign(people, to="phone").texted()
    send(plan(part, "Hi!", to="phone", campaign=f"sale/{arm}"), client=client, ledger=ledger, progress=False)
    form = CampaignForm(client=client, ledger=ledger)
    form.reading.file.show(uploaded(bought().assign(customer=range(30))))
    assert form.reading._money.layout.display is None
    form.reading.steps._now = later
    form.reading.steps.read("sale", OrderColumns("customer", "day", "paid", "UTC", "eur"))
    reading = form.reading.steps.reading
    assert reading is not None
    assert reading.frame["total"].sum() == pytest.approx(30 * 12.5)
    assert "EUR" in reading.sentence()


def test_the_saved_notebook_holds_the_texts_side_by_side_and_the_reading(client: Client, ledger: Ledger) -> None:
    form = sent(client, ledger)
    kept = form._saved().text(200)
    assert "Comparison: autumn" in kept
    for name, arm in form.steps.comparison.arms.items():  # type: ignore[union-attr]
        assert f"{name} " in kept
        assert f"{len(arm.frame)}" in kept
    before = form._moment()
    form.reading.file.show(uploaded(bought()))
    form.reading.steps._now = later
    form.reading.steps.read("autumn", CHOSEN)
    assert form._moment() != before
    reading = form.reading.steps.reading
    assert reading is not None
    assert reading.sentence() in form._saved().text(100_000)
    state = json.dumps({key: str(value) for key, value in form.reading.upload.get_state().items()})
    assert "12.50" not in state
    html = form._saved().html()
    assert not any(number in html for number in PEOPLE["phone"])


def test_another_comparison_or_another_file_takes_the_reading_away(client: Client, ledger: Ledger) -> None:
    form = sent(client, ledger)
    form.reading.file.show(uploaded(bought()))
    form.reading.steps._now = later
    form.reading.steps.read("autumn", CHOSEN)
    assert form.reading.card.value
    form.reading.file.show(uploaded(bought(5)))
    assert (form.reading.card.value, form.reading.steps.reading) == ("", None)
    form.reading.file.show(read_upload("orders.csv", b""))
    assert "orders.csv" in form.reading._said.value
    assert form.reading.steps.orders is None  # those of another file would be read below this line


def test_a_ledger_that_cannot_be_read_is_said_and_read_again_later(
    client: Client, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object, **__: object) -> None:
        raise LedgerError("the ledger cannot be used")

    form = sent(client, ledger)
    steps = form.reading.steps
    with monkeypatch.context() as patch:
        patch.setattr("smsotp_nb._widgets.campaign.reading.recall", away)
        patch.setattr("smsotp_nb._widgets.campaign.reading.recorded_names", away)
        form.reading.file.show(uploaded(bought()))
        form.reading.steps.look_up(form.reading.comparison.value)
        assert steps.names() is None
        steps.read("autumn", CHOSEN)
        assert (steps.stage, form.reading.button.disabled) == ("choosing", False)
        assert "cannot be used" in form.reading._notice.value
    form.reading.steps.look_up(form.reading.comparison.value)
    steps._now = later
    steps.read("autumn", CHOSEN)
    assert steps.reading is not None


def test_orders_that_are_chosen_while_others_are_read_are_not_shown_as_read(
    client: Client, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    form = sent(client, ledger)
    form.reading.file.show(uploaded(bought()))
    steps, read = form.reading.steps, ReadingSteps._reading

    def slowly(self: ReadingSteps, *arguments: Any, **options: Any) -> Any:
        form.reading.file.show(uploaded(bought(5), "others.csv"))
        assert self.stage == "reading"
        assert form.reading.upload.disabled
        return read(self, *arguments, **options)

    monkeypatch.setattr(ReadingSteps, "_reading", slowly)
    steps._now = later
    steps.read("autumn", CHOSEN)
    assert steps.reading is None
    assert "Other orders were chosen meanwhile" in steps.notice.text


def test_who_is_still_to_be_texted_is_said(client: Client, ledger: Ledger) -> None:
    form = CampaignForm(PEOPLE, client=client, ledger=ledger)
    form.steps.check(AUTUMN)
    form.steps.send(Guards({"canary": 10}))
    steps = ReadingSteps(ledger, service=client.service, orders=bought(), now=later)
    steps.read("autumn", CHOSEN)
    assert steps.reading is not None, steps.notice
    to_go = sum(ledger.record(f"autumn/{arm}").counts["planned"] for arm in ("A", "B"))
    assert f"{to_go} people have not been texted yet" in steps.reading.sentence()


def test_nothing_to_read_is_not_offered(box: Sandbox, ledger: Ledger) -> None:
    form = CampaignForm(PEOPLE, client=box, ledger=ledger)
    assert form.reading.widget.layout.display == "none"
    assert ReadingSteps(ledger, service="sandbox").names() == []


def test_the_other_service_has_sent_nothing(client: Client, ledger: Ledger) -> None:
    sent(client, ledger)
    steps = ReadingSteps(ledger, service="another")
    steps.read("autumn", OrderColumns())
    assert steps.notice.text.startswith("Not read. Nothing was sent in experiment 'autumn' yet")


# -- rows are named by masked labels ---------------------------------------------------------------------


@pytest.mark.parametrize("column", ["when", "price"])
def test_orders_that_cannot_be_read_are_named_by_masked_labels(labelled: pd.DataFrame, column: str) -> None:  # noqa: F811
    asked = OrderColumns("name", "when", "price", "UTC", "usd")
    found = orders(labelled.fillna("Cy").assign(**{"when": "2026-11-03", "price": "1", column: "x"}), asked,
                   {"spent": "amount"}, integers=False)  # fmt: skip
    words = " ".join(found.faults.values())
    assert "In rows" in words
    assert numbers_in(words) == []


@pytest.fixture
def no_widgets() -> Iterator[None]:
    ipywidgets.Widget.close_all()
    yield
    ipywidgets.Widget.close_all()


def state_of_widgets() -> str:
    """Return all that a notebook would keep of the widgets that there are, and what their threads left."""
    return json.dumps(ipywidgets.Widget.get_manager_state(drop_defaults=False), ensure_ascii=False)


@pytest.mark.sampled(4)
@pytest.mark.usefixtures("no_widgets")
@pytest.mark.filterwarnings("ignore::smsotp_nb.errors.SmsOtpWarning")
def test_forms_name_rows_by_masked_labels(labelled: pd.DataFrame, client: Client, ledger: Ledger) -> None:  # noqa: F811
    """Every step of a campaign: a faulty list of people to leave out, no customer, sending, what was not sent."""
    listed = labelled[["phone", "name"]].assign(other=[*labelled["phone"].iloc[:8], "nobody", None])
    form = CampaignForm(listed, client=client, ledger=ledger)
    choices = Choices(campaign="autumn", to="other", kind="text", words="Hi!")
    form.steps.check(Choices(campaign="autumn", to="phone", kind="text", words="Hi!", exclude=unread(labelled)))
    assert "cannot be read" in form.steps.refusal.text
    assert numbers_in(state_of_widgets()) == []
    form.steps.check(
        Choices(campaign="autumn", to="phone", kind="text", words="Hi!",
                compared=Compared(other="Ho!", held=20, unit="name"))
    )  # fmt: skip
    assert "row" in form.steps.refusal.text
    form.steps.check(choices)
    form.steps.send(form.sending.guards())
    assert form.steps.stage == "done", form.steps.refusal
    state = state_of_widgets()
    assert numbers_in(state) == []
    assert numbers_in(form._saved().text()) == []


def test_a_number_that_a_text_quotes_is_masked_in_an_inbox_and_a_draft(tmp_path: Path) -> None:
    frame = pd.DataFrame({"phone": [f"+120255501{n}" for n in range(10, 20)]})
    made = plan(frame, dict.fromkeys(frame["phone"], "Your number is {phone}."), to="phone", campaign="a", by="phone")
    with Sandbox() as box, Ledger(tmp_path / "l.sqlite", create=True) as ledger:
        send(made, client=box.client(), ledger=ledger, progress=False)
        coded = box.inbox.assign(code="0110", text="Code 0110 for +12025550110 is 0110")
        shown = [inbox_html(box.inbox, open_ids=[]), inbox_html(coded, open_ids=[]), previewed(made)]
    assert [numbers_in(text) for text in shown] == [[]] * 3
