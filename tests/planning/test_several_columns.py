"""Numbers in several columns: the first usable one of each row, and how many are of which."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from support.commands import main

import smsotp_nb as sms
from smsotp_nb import phones
from smsotp_nb.errors import UsageError

BOTH = ["mobile", "phone"]
PEOPLE = pd.DataFrame(
    {
        "id": [1, 2, 3, 4, 5, 6],
        "mobile": ["0151 23456789", "n/a", None, "0151 23456780 STOP", "12", "0151 23456781 ::: 0151 23456782"],
        "phone": ["030 90182000", "030 90182001", None, "030 90182002", "+14155550100", "0151 23456783"],
    },
    index=list("abcdef"),
)
TO = ["+4915123456789", "+493090182001", None, None, "+14155550100", "+4915123456783"]
COLUMN = ["mobile", "phone", None, "mobile", "phone", "phone"]


def texts(column: pd.Series) -> list[str | None]:
    return column.astype(object).where(column.notna(), None).tolist()


def test_a_no_counts_without_a_number_and_at_each_number_of_a_row(tmp_path: Path) -> None:
    """It is said beside a number or instead of one; that somebody has no phone is no such word."""
    rows = pd.DataFrame(
        {
            "mobile": ["deceased", "+12025550100", "no mobile", "+12025550101", "+12025550102", "+12025550104"],
            "phone": [
                "+12025550110",
                "do not call",
                "+12025550111",
                "+12025550112 / +12025550113",
                None,
                "+12025550114",
            ],
        }
    )
    repeated = pd.DataFrame(
        {"mobile": ["+12025550102 STOP", "+12025550105"], "phone": [None, "+12025550102"]}, index=[6, 7]
    )
    listed = pd.concat([rows, repeated], ignore_index=True)
    made = sms.plan(listed, "Hi", campaign="c", to=["mobile", "phone"], exclude=["+12025550113"])
    problem = ["NOTE_SAYS_NO", "NOTE_SAYS_NO", None, "SUPPRESSED", "DUPLICATE_OF", None, "NOTE_SAYS_NO", "DUPLICATE_OF"]
    for word in ("gestorben", "geen sms", "не писать", "退订", "†"):
        assert (
            sms.plan(listed.replace("deceased", word), "Hi", campaign="c", to=BOTH).rows["problem"][0] == "NOTE_SAYS_NO"
        )
    for word in (
        "n/a",
        "kein Handy",
        "没有",
        "unbekannt",
        "no landline",
        "keine Angabe",
        "moved",
        "нет",
    ):  # says nothing of the person
        assert (
            sms.plan(rows.assign(phone=word).iloc[[1]], "Hi", campaign="c", to=["mobile", "phone"])
            .rows["problem"]
            .isna()
            .all()
        )
    assert texts(made.rows["problem"]) == problem
    assert "DUPLICATE_OF:6" in made.rows["note"][4]
    (tmp_path / "list").mkdir()
    listed.to_parquet(tmp_path / "list" / "a.parquet")
    folder = sms.Folder(tmp_path / "list", into=tmp_path / "plan")
    large = sms.plan(folder, "Hi", campaign="c", to=["mobile", "phone"], exclude=["+12025550113"])
    assert texts(large.rows["problem"]) == problem
    assert large.fingerprint == made.fingerprint
    for at, plan in enumerate((made, large)):  # an opt-out of the ledger is one of all numbers of a row
        ledger = sms.Ledger(tmp_path / f"{at}.sqlite", create=True)
        sms.People(ledger).opt_out("+12025550114", source="phone call")
        with sms.Sandbox() as box, box.client() as client:
            assert "OPTED_OUT" in str(sms.preflight(plan, client, ledger=ledger))
            sms.send(plan, client, ledger=ledger)
            assert box.inbox["to"].tolist() == ["+12025550111"]


def test_an_opt_out_at_another_number_counts_while_the_campaign_runs(tmp_path: Path) -> None:
    rows = pd.DataFrame({name: [f"+120255501{tens}{at}" for at in range(10)] for name, tens in (("m", 0), ("p", 1))})
    ledger = sms.Ledger(tmp_path / "l.sqlite", create=True)
    people = sms.People(ledger)
    people.opt_out("+12025550199", source="letter")

    def told(progress: sms.results.Progress) -> None:
        if progress.accepted and not people.is_opted_out("+12025550119"):
            people.opt_out("+12025550119", source="phone call")

    with sms.Sandbox() as box, box.client() as client:
        made = sms.plan(
            rows, "Hi {m}", campaign="c", to=["m", "p"], requests=sms.RequestOptions(chunk_size=1, threads=1)
        )
        found = sms.send(made, client, ledger=ledger, progress=told, limits=sms.Limits(per_second=10))
        assert box.inbox["to"].tolist() == rows["m"].tolist()[:9]
    assert found["problem"][9] == "OPTED_OUT"


def test_who_was_texted_at_another_number_is_not_added_by_a_revision(tmp_path: Path) -> None:
    before = pd.DataFrame({"m": [None, "+12025550101"], "p": ["+12025550110", "+12025550111"]})
    after = before.assign(m=["+12025550100", "+12025550101"])
    how = {"campaign": "c", "to": ["m", "p"]}
    ledger = sms.Ledger(tmp_path / "l.sqlite", create=True)
    with sms.Sandbox() as box, box.client() as client:
        sms.send(sms.plan(before, "Hi", **how), client, ledger=ledger)
        with pytest.raises(UsageError, match=r"1 recipient of this plan has this message already, at another"):
            sms.revise(sms.plan(after, "Hi", **how), client, reason="filled in", ledger=ledger)
        rest = sms.plan(after, "Hi", exclude=sms.record("c", client, ledger=ledger), **how)
        assert rest.left_out["list"].tolist() == ["campaign 'c'"]
        sms.revise(rest, client, reason="filled in", ledger=ledger)
        sms.send(rest, client, ledger=ledger)
        assert box.inbox["to"].tolist() == ["+12025550110", "+12025550101"]


def test_the_first_usable_number_of_each_row_counts() -> None:
    """A cell that says no ends the search; two numbers in a cell are none, and the next column is asked."""
    judged = phones.normalize(PEOPLE[BOTH], default_region="DE")
    assert texts(judged["to"]) == TO
    assert texts(judged["column"]) == COLUMN
    assert judged.index.equals(PEOPLE.index)
    assert texts(judged["problem"])[2:4] == ["MISSING", "NOTE_SAYS_NO"]
    report = phones.report(judged, phones=PEOPLE[BOTH], default_region="DE")
    assert report.columns.values.tolist() == [["phone", 3], ["mobile", 1]]
    assert report.problems.set_index("problem")["examples"]["NOTE_SAYS_NO"] == "0151 23456780 STOP"
    assert "By column" in str(report)
    assert phones.explode(PEOPLE, "mobile")["mobile"].tolist()[-2:] == ["0151 23456781", "0151 23456782"]


@pytest.mark.parametrize("turned", [False, True])
def test_a_no_or_a_stop_list_counts_in_whichever_column_it_meets_a_row(tmp_path: Path, turned: bool) -> None:
    """A fax says nothing of the other number, in memory and in files alike."""
    ours = [f"+1202555010{n}" for n in range(5)]
    other = ["+12025550110 STOP", "+12025550111", "Fax: +12025550112", None, "+12025550114 (old)"]
    frame = pd.DataFrame({"a": ours, "b": other})
    frame = frame[["b", "a"]].set_axis(["a", "b"], axis=1) if turned else frame
    frame.to_parquet(tmp_path / "list.parquet", index=False)
    (tmp_path / "work").mkdir()
    for source in (frame, sms.Folder(tmp_path, into=tmp_path / "work" / "plan")):
        made = sms.plan(source, "Hello", campaign="no", to=["a", "b"], exclude=[ours[1], "+12025550111", ours[3]])
        assert texts(made.rows["problem"]) == ["NOTE_SAYS_NO", "SUPPRESSED", None, "SUPPRESSED", "NOTE_SAYS_NO"]
        assert made.rows["to"].iloc[2] == ours[2]
        assert made.left_out["matched"].tolist() == [2]
        assert "to_0" not in made.rows


def test_each_column_is_read_by_its_own_evidence() -> None:
    """One column with numbers that lost their plus says nothing of another."""
    lost = [f"4479111234{n:02}" for n in range(60)]
    frame = pd.DataFrame({"mobile": lost, "phone": ["030 901820"] * 60})
    judged = phones.normalize(frame, default_region="DE")
    pd.testing.assert_frame_equal(judged.drop(columns="column"), phones.normalize(lost, default_region="DE"))


def test_a_plan_says_how_many_are_of_which_column(tmp_path: Path) -> None:
    """In memory and in files alike."""
    made = sms.plan(PEOPLE, "Hello", campaign="both", to=BOTH, default_region="DE")
    assert texts(made.rows["to"]) == TO
    assert made._columns == {"mobile": 1, "phone": 3}
    assert "1 from 'mobile', 3 from 'phone'" in str(made)
    assert made.reworded("Hi")._columns == made._columns
    PEOPLE.to_parquet(tmp_path / "list.parquet", index=False)
    folder = sms.Folder(tmp_path, into=tmp_path / "work" / "plan")
    (tmp_path / "work").mkdir()
    other = sms.plan(folder, "Hello", campaign="both", to=BOTH, default_region="DE")
    assert texts(other.rows["to"]) == TO
    assert other.fingerprint == made.fingerprint
    assert other._columns == made._columns
    one = sms.plan(PEOPLE, "Hello", campaign="one", to=["phone"], default_region="DE")
    assert one.fingerprint == sms.plan(PEOPLE, "Hello", campaign="one", to="phone", default_region="DE").fingerprint
    assert not one._columns


def test_a_no_in_any_of_the_columns_of_a_list_is_a_no() -> None:
    """Whoever is held back at one number is not texted at another."""
    stops = pd.DataFrame({"mobile": ["0151 23456789"], "phone": ["030 90182001"]})
    made = sms.plan(PEOPLE, "Hello", campaign="no", to=BOTH, default_region="DE", exclude=stops)
    assert made.rows["problem"].tolist()[:2] == ["SUPPRESSED", "SUPPRESSED"]


@pytest.mark.parametrize(
    ("to", "words"),
    [
        ([], "to= names no column"),
        (["mobile", "mobile"], "names the column 'mobile' twice"),
        (["mobile", "fon"], "no column 'fon'"),
        ([PEOPLE["mobile"]], "takes one Series, or a list of names"),
        ([None], "named by its name"),
    ],
)
def test_what_names_no_columns_is_refused(to: list[object], words: str) -> None:
    """The message says which and what there is."""
    with pytest.raises(UsageError, match=words):
        sms.plan(PEOPLE, "Hello", campaign="wrong", to=to, default_region="DE")  # type: ignore[arg-type]


def test_the_command_line_takes_several_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each row says of which column its number is."""
    PEOPLE.to_csv(tmp_path / "list.csv", index=False)
    wanted = ["--phone", "mobile", "--phone", "phone", "--default-region", "DE", "--out", str(tmp_path / "out.csv")]
    assert main(["clean", str(tmp_path / "list.csv"), *wanted]) == 0
    assert "numbers in column 'mobile' or 'phone'" in " ".join(capsys.readouterr().out.split())
    assert texts(sms.read_recipients(tmp_path / "out.csv")["column"]) == COLUMN


def test_a_no_at_one_number_holds_for_the_other_rows_of_its_person(tmp_path: Path) -> None:
    """In a cell of two numbers it is not said which of them says no; a stop list has one of the two of a row; and a no
    beside digits that cannot be read holds whoever has them, but a fax nobody.
    """
    one, other = "+12025550101", "+12025550102"
    told = pd.DataFrame({"phone": [f"{one} / {other} STOP", one, other, "+12025550103"]})
    pairs = pd.DataFrame({"mobile": [one, one, "+12025550103"], "phone": [other, None, None]})
    unread = pd.DataFrame({"phone": ["(202) 5550101 STOP", one, other, "STOP 447911123456", "+44 7911 123456"]})
    faxes = pd.DataFrame({"mobile": ["Fax: 2025550101", None], "phone": [other, one]})
    cases: list[tuple[pd.DataFrame, list[str], dict[str, Any], list[str | None]]] = [
        (told, ["phone"], {}, ["NOTE_SAYS_NO", "DUPLICATE_OF", "DUPLICATE_OF", None]),
        (pairs, BOTH, {"exclude": [other]}, ["SUPPRESSED", "DUPLICATE_OF", None]),
        (unread, ["phone"], {}, ["NOTE_SAYS_NO", "DUPLICATE_OF", None, "NOTE_SAYS_NO", "DUPLICATE_OF"]),
        (faxes, BOTH, {}, [None, None]),
    ]
    for number, (listed, to, how, wanted) in enumerate(cases):
        made = sms.plan(listed, "Hi", campaign="c", to=to, **how)
        assert texts(made.rows["problem"]) == wanted
        (folder := tmp_path / str(number)).mkdir()
        listed.to_parquet(folder / "0.parquet")
        lists = sms.Folder(folder, into=tmp_path / f"plan {number}")
        assert sms.plan(lists, "Hi", campaign="c", to=to, **how).fingerprint == made.fingerprint


def test_a_country_column_that_is_not_named_holds_what_it_reads_otherwise() -> None:
    """By the default country and by the column it is a valid number each time, and not the same."""
    listed = pd.DataFrame({"phone": ["512 345 6789", "+49 512 3456780", "202 555 0123"], "country": ["DE", "DE", "US"]})
    made = sms.plan(listed, "Hi", campaign="c", to="phone", default_region="US")
    assert texts(made.rows["problem"]) == ["AMBIGUOUS_READING", None, None]
    assert made.advice == (
        "1 number is held back, which is another by the countries in column 'country': pass region='country', or leave "
        "that column out of the list",
    )
    cures: list[tuple[pd.DataFrame, dict[str, Any]]] = [
        (listed, {"region": "country"}),
        (listed.drop(columns="country"), {}),
    ]
    for frame, how in cures:
        again = sms.plan(frame, "Hi", campaign="c", to="phone", default_region="US", **how)
        assert again.rows["problem"].isna().all()
        assert not again.advice
