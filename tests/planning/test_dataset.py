"""A plan larger than memory: the same plan as in memory, sent from its files, and nobody texted twice."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import random
import re
import signal
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support import phone_lists

import smsotp_nb as sms
from smsotp_nb import plan, sandbox
from smsotp_nb._ledger.sending import comparison
from smsotp_nb._planning import UNASKED, joining, rows
from smsotp_nb.errors import OutputExistsError, PlanChanged, SmsOtpWarning, UsageError

RATES = pd.DataFrame({"iso": ["US", "DE", "GB"], "currency": ["USD", "EUR", "USD"], "price": [0.0075, 0.0713, 0.04]})
BY = {"de": "Hallo {name}", "en": "Hi {name} 😀", "fr": "Salut à tous"}
CALL: dict[str, Any] = {
    "message": "Hi {name}",
    "to": "phone",
    "campaign": "demo",
    "default_region": "US",
}


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists of a test fall into several pieces, as longer ones do."""
    monkeypatch.setattr(joining, "BATCH", 700)


def people(size: int, seed: int = 1) -> pd.DataFrame:
    """Messy numbers, a third of them again, with blanks in every column."""
    draw = np.random.default_rng(seed)
    made = phone_lists.messy(size, seed=seed)
    again = np.where(draw.random(size) < 0.3, draw.integers(0, size, size), np.arange(size))
    made[["phone", "country"]] = made[["phone", "country"]].to_numpy(object)[again]
    made["name"] = draw.choice(np.array(["Ann", "Zoë", " Łukasz", "{x}", "", None], object), size)
    made["language"] = draw.choice(np.array(["de", "en", " en ", "fr", "it", None], object), size)
    made["points"] = pd.array(draw.integers(0, 9, size), dtype="Int64")
    return made


def saved(folder: Path, made: pd.DataFrame, files: int = 3) -> tuple[Path, pd.DataFrame]:
    """Save a list in several files; return their folder and the list as it is read from them."""
    place = folder / "list"
    place.mkdir()
    ends = np.linspace(0, len(made), files + 1).astype(int)
    for at, (first, last) in enumerate(itertools.pairwise(ends)):
        made.iloc[first:last].to_parquet(place / f"part-{at}.parquet", row_group_size=500, index=False)
    read = [sms.read_recipients(file) for file in sorted(place.iterdir())]
    return place, pd.concat(read, ignore_index=True)


def in_files(folder: Path, made: pd.DataFrame) -> sms.Plan:
    place, _ = saved(folder, made)
    return sms.plan(sms.Folder(place, into=folder / "plan"), **CALL)


def both(folder: Path, made: pd.DataFrame, **changes: Any) -> tuple[sms.Plan, sms.Plan]:
    call = CALL | changes
    place, whole = saved(folder, made)
    return plan(whole, ledger=UNASKED, **call), sms.plan(sms.Folder(place, into=folder / "plan"), **call)


def cells(frame: pd.DataFrame) -> list[list[Any]]:
    return frame.astype(object).where(frame.notna(), None).to_numpy().tolist()


def test_files_of_which_one_shows_the_day_first_and_another_the_month_are_refused(tmp_path: Path) -> None:
    """As one frame is; each file alone could be read."""
    for name, cells in (("a", ["03/10/2026", "10/25/2026"]), ("b", ["03/10/2026", "25/10/2026"])):
        phones = [f"+120255501{ord(name)}{at}"[:12] for at in range(2)]
        pd.DataFrame({"phone": phones, "due": cells}).to_parquet(tmp_path / f"{name}.parquet")
    (tmp_path / "work").mkdir()
    folder = sms.Folder(tmp_path, into=tmp_path / "work" / "plan")
    with pytest.raises(UsageError, match=r"column 'due' has dates that are written in two ways"):
        sms.plan(folder, "Due {due:date}", to="phone", campaign="c")


@pytest.mark.parametrize(
    ("pieces", "refused"),
    [
        ([["2026-03-10", "2026-04-10"], ["25/10/2026", "26/10/2026"]], True),
        ([["25/10/2026", "26/10/2026"], ["2026-04-10", "2026-04-11"]], True),
        ([["2026-03-10"], ["10/25/2026"], ["2026-03-13"]], False),
        ([["2026-03-10"], ["25/10/2026"], ["25/10/2026", "03/10/2026"]], False),
        ([["2026-03-10"], ["2026-03-11"]], False),
    ],
)
def test_dates_of_two_kinds_in_two_files_are_refused_as_in_memory(
    tmp_path: Path, pieces: list[list[str]], *, refused: bool
) -> None:
    (tmp_path / "list").mkdir()
    numbers = iter(f"+120255501{at}" for at in range(10, 30))
    frames = [pd.DataFrame({"phone": [next(numbers) for _ in cells], "due": cells}) for cells in pieces]
    for at, frame in enumerate(frames):
        frame.to_parquet(tmp_path / "list" / f"{at}.parquet")
    whole, call = pd.concat(frames, ignore_index=True), {"to": "phone", "campaign": "c"}
    folder = sms.Folder(tmp_path / "list", into=tmp_path / "plan")
    if not refused:
        made = [sms.plan(people, "Due {due:date}", **call) for people in (whole, folder)]
        assert made[0].fingerprint == made[1].fingerprint
        return
    says = []
    for people in (whole, folder):
        with pytest.raises(UsageError, match=r"dates of two kinds: .* in row .* in row") as caught:
            sms.plan(people, "Due {due:date}", **call)
        says.append(str(caught.value))
    assert says[0] == says[1]


def test_an_error_of_a_piece_names_its_file_and_the_row_in_the_whole_list(tmp_path: Path) -> None:
    (tmp_path / "list").mkdir()
    for at, cells in enumerate((["1", "2"], ["3", "0.30000000000000004"])):
        phones = [f"+1202555011{at}", f"+1202555012{at}"]
        pd.DataFrame({"phone": phones, "n": cells}).to_parquet(tmp_path / "list" / f"{at}.parquet")
    with pytest.raises(UsageError, match=r"1\.parquet, whose first row is row 2: column 'n', row 3: '0\.3"):
        sms.plan(sms.Folder(tmp_path / "list", into=tmp_path / "plan"), "{n}", to="phone", campaign="c")


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"message": "The office is closed.", "region": "country", "rates": RATES, "keep": ["points", "name"]},
        {
            "message": sms.Message(BY, priority=["fr"]),
            "by": "language",
            "region": "country",
            "rates": RATES,
            "requests": sms.RequestOptions(chunk_size=7),
        },
        {"message": sms.Message("Hi {name|you}", replace={"ë": "e"}), "signature": "Acme"},
        {"message": sms.Template("t1", ["name", "points"]), "region": "country"},
        {"exclude": "second", "region": "country", "numbers": sms.NumberOptions(repair=["lost_plus"])},
    ],
    ids=["one text", "constant", "segments", "content", "template", "left out"],
)
def test_the_same_plan_as_in_memory(tmp_path: Path, changes: dict[str, Any]) -> None:
    """Rows, problems, notes, bodies, requests, fingerprint and estimate of both are equal."""
    made = people(3_000, seed=len(changes))
    if "exclude" in changes:
        numbers = plan(made, ledger=UNASKED, **CALL | {"region": "country"}).rows["to"].dropna()
        changes = changes | {"exclude": numbers.iloc[150:400]}
    mine, other = both(tmp_path, made, **changes)
    assert other.fingerprint == mine.fingerprint
    rows = mine.rows
    going = rows["status"].eq("planned").to_numpy()
    names = ["to", "region", "type", "note", "body", "chunk", "est_parts", "encoding", "est_cost", "est_currency"]
    found = pd.read_parquet(tmp_path / "plan" / "planned.parquet").set_index("row").sort_index()
    assert found.index.tolist() == rows.index[going].tolist()
    assert cells(found[[*names, *mine._kept]]) == cells(rows[going][[*names, *mine._kept]])
    names = ["to", "region", "type", "problem", "note", *mine._kept]
    left_out = pd.read_parquet(tmp_path / "plan" / "skipped.parquet").set_index("row")
    assert left_out.index.tolist() == rows.index[~going].tolist()
    assert cells(left_out[names]) == cells(rows[~going][names])
    pd.testing.assert_frame_equal(other.estimate, mine.estimate)
    assert dict(zip(other.problems["problem"], other.problems["rows"], strict=True)) == (
        rows["problem"].value_counts().to_dict()
    )
    assert other.notes == mine.notes
    assert other._held.body_keys.tolist() == mine._held.body_keys.tolist()
    bodies = range(min(3, len(mine.bodies)))
    assert [other._message(body) for body in bodies] == [mine._message(body) for body in bodies]
    assert [other.advice, other._kept, other.by] == [mine.advice, mine._kept, mine.by]
    assert str(other).splitlines()[:9] == str(mine).splitlines()[:9]
    shown = other.preview(5)
    texts = mine.texts.take(rows["body"].loc[shown.index].to_numpy("int64"))
    assert cells(shown[["text"]]) == cells(texts.to_frame())


def test_evidence_of_the_whole_list_counts_in_every_piece(tmp_path: Path) -> None:
    """Numbers without their plus are read as the rest of the list says, wherever the list is cut."""
    british = pd.DataFrame({"phone": [f"4479111{at:05}" for at in range(2_000)], "name": "Ann"})
    mine, other = both(tmp_path, british, default_region="DE")
    assert mine.rows["note"].str.contains("COLUMN_EVIDENCE").all()
    assert other.fingerprint == mine.fingerprint


def test_nobody_to_text(tmp_path: Path) -> None:
    """A list of which no row can be sent is a plan, too; sending it leaves the name free."""
    _, other = both(tmp_path, pd.DataFrame({"phone": ["hello", None], "name": ["Ann", "Ben"]}))
    assert "Next: no row can be sent" in str(other)
    assert other.rows["problem"].tolist() == ["NOT_A_NUMBER", "MISSING"]
    with ledger_of(tmp_path) as ledger, sms.Sandbox() as box:
        assert sms.send(other, client=box.client(), ledger=ledger)["rows"].tolist() == [1, 1]
        assert not ledger._knows("demo", service=box.client().service)


# -- sending -----------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def ledger_of(folder: Path) -> Iterator[sms.Ledger]:
    with sms.Ledger(folder / "ledger.sqlite", create=True) as ledger:
        yield ledger


def sent(made: Any, box: sms.Sandbox, ledger: sms.Ledger, **options: Any) -> pd.DataFrame:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmsOtpWarning)
        return sms.send(made, client=box.client(), ledger=ledger, **({"progress": False} | options))


@pytest.mark.slow
def test_send_texts_everybody_once_with_their_words(tmp_path: Path) -> None:
    """The inbox, the ledger and the costs are those of the plan in memory, whichever of the two is sent again."""
    mine, other = both(
        tmp_path,
        people(3_000),
        region="country",
        rates=RATES,
        keep=["points"],
        requests=sms.RequestOptions(chunk_size=50),
    )
    planned = mine.rows[mine.rows["status"].eq("planned").to_numpy()]
    words = dict(zip(planned["to"], mine.texts.take(planned["body"].to_numpy("int64")), strict=True))
    with ledger_of(tmp_path) as ledger, sms.Sandbox() as box:
        table = sent(other, box, ledger)
        assert table.loc[table["status"].eq("accepted"), "rows"].tolist() == [len(planned)]
        assert dict(zip(box.inbox["to"], box.inbox["text"], strict=True)) == words
        again = sent(mine, box, ledger)
        assert len(box.inbox) == len(planned)
        frame = ledger.record("demo").results
        assert cells(frame[["to", "status", "problem", "points"]]) == cells(
            again[["to", "status", "problem", "points"]]
        )
        estimates = ["est_parts", "est_cost"]
        assert cells(ledger.record("demo").details[estimates]) == cells(mine.rows[estimates])
        assert ledger.record("demo").counts["skipped"] == len(mine.skipped)


@pytest.mark.slow
def test_a_killed_send_is_resumed_by_the_same_call(tmp_path: Path) -> None:
    """A process killed by SIGKILL while it sends texts nobody twice; a new plan of the same files goes on."""
    place, whole = saved(tmp_path, people(1_500))
    call = CALL | {"requests": sms.RequestOptions(chunk_size=5)}
    with sms.Sandbox() as box:
        child = _child(tmp_path, box.url)
        try:
            _until(lambda: len(box.inbox) > 20, child)
        finally:
            child.send_signal(signal.SIGKILL)
            child.communicate()
        before = len(box.inbox)
        made = sms.plan(sms.Folder(place, into=tmp_path / "plan"), ledger=tmp_path / "ledger.sqlite", **call)
        assert "texted already, or may have been" in str(made)
        with ledger_of(tmp_path) as ledger:
            table = sent(made, box, ledger)
            counts = ledger.record("demo").counts
        texted = Counter(box.inbox["to"])
    planned = plan(whole, ledger=UNASKED, **call).rows["to"][lambda to: to.notna()].drop_duplicates()
    assert before < made.recipients
    assert set(texted.values()) == {1}
    assert set(texted) <= set(planned)
    assert counts["accepted"] + counts["in_doubt"] == made.recipients
    assert len(texted) >= counts["accepted"]
    assert int(table.loc[table["status"].eq("in_doubt"), "rows"].sum()) == counts["in_doubt"]


CHILD = """
import sys
from pathlib import Path
import smsotp_nb as sms
folder = Path(sys.argv[1])
made = sms.plan(sms.Folder(folder / "list", into=folder / "plan"), to="phone", campaign="demo", default_region="US",
    message="Hi {name}", requests=sms.RequestOptions(chunk_size=5))
with sms.Ledger(folder / "ledger.sqlite", create=True) as ledger:
    sms.send(made, client=sms.Sandbox.at(sys.argv[2]).client(), ledger=ledger, progress=False,
        limits=sms.Limits(per_second=50))
"""


def _child(folder: Path, url: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", CHILD, str(folder), url])


def _until(done: Callable[[], bool], child: subprocess.Popen[bytes]) -> None:
    while not done():
        with contextlib.suppress(subprocess.TimeoutExpired):
            raise AssertionError(f"the child ended: {child.wait(timeout=0.05)}")


def test_opt_outs_and_the_policy_hold_back(tmp_path: Path) -> None:
    """The plan's card says whom opt-outs and an earlier campaign hold back, and the send skips them."""
    place, _ = saved(tmp_path, pd.DataFrame({"phone": [f"+1202555{100 + at:04}" for at in range(60)], "name": "Ann"}))
    early = plan(pd.DataFrame({"phone": ["+12025550103"], "name": ["Ann"]}), ledger=UNASKED, **CALL | {"campaign": "x"})
    with ledger_of(tmp_path) as ledger, sms.Sandbox() as box:
        sms.People(ledger).opt_out(["+12025550101", "+12025550102"], source="page")
        sent(early, box, ledger)
        made = sms.plan(sms.Folder(place, into=tmp_path / "plan"), ledger=ledger, **CALL)
        assert made._prospect_now is not None
        assert made._prospect_now.rows["problem"].tolist() == ["OPTED_OUT", "OPTED_OUT", "SAME_TEXT"]
        assert re.search(r"OPTED_OUT +2 ", str(made))
        table = sent(made, box, ledger)
    assert cells(table) == [["planned", "SAME_TEXT", 1], ["accepted", None, 57], ["skipped", "OPTED_OUT", 2]]


def test_the_rows_named_are_the_first_of_the_whole_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are asked for by request, in pieces, and named as those of the same plan in memory."""
    monkeypatch.setattr(comparison, "_ASKED", 7)
    monkeypatch.setattr(rows, "_PIECE", 7)
    made = pd.DataFrame({"phone": [f"+1202555{100 + at:04}" for at in range(60)], "name": ["Zoë", "Ann", "Bob"] * 20})
    place, whole = saved(tmp_path, pd.concat([made, made.tail(4)]))
    with ledger_of(tmp_path) as ledger, sms.Sandbox() as box:
        sms.People(ledger).opt_out(made["phone"].iloc[[58, 31, 30, 11, 7, 2]].tolist(), source="page")
        kept = plan(whole, ledger=ledger, **CALL)
        large = sms.plan(sms.Folder(place, into=tmp_path / "plan"), ledger=ledger, **CALL)
        named = [dict(one._prospect_now.lines[["problem", "first_rows"]].dropna().to_numpy()) for one in (kept, large)]
        assert named[0] == named[1] == {"OPTED_OUT": "2, 7, 11", "DUPLICATE_OF": "60, 61, 62"}
        sent(large, box, ledger)
        assert "60, 61, 62 ..." in str(large)


@pytest.mark.parametrize(
    "changes",
    [
        {"message": BY, "by": "language", "region": "country", "rates": RATES, "keep": ["points"]},
        {"message": sms.Template("t1", ["name", "points"])},
        {"message": "{x|a}", "default_region": None, "to": "name"},
    ],
    ids=["segments", "template", "nobody"],
)
def test_a_plan_of_a_folder_has_what_a_plan_in_memory_has(tmp_path: Path, changes: dict[str, Any]) -> None:
    """Its frames are read from its files; only kept columns are text, and other words need the list again."""
    made = people(900).assign(x=None) if changes["message"] == "{x|a}" else people(900)
    mine, other = both(tmp_path, made, **changes)
    for name in ("rows", "skipped", "bodies", "estimate", "estimate_by_segment", "problems"):
        pd.testing.assert_frame_equal(getattr(other, name), getattr(mine, name))
    pd.testing.assert_series_equal(other.texts, mine.texts)
    pd.testing.assert_frame_equal(other._measure(), mine._measure())
    assert [dict(other._figures), dict(other.notes)] == [dict(mine._figures), dict(mine.notes)]
    assert repr(other) == repr(mine)
    assert {name for name in dir(mine) if not name.startswith("_")} == {n for n in dir(other) if not n.startswith("_")}
    with pytest.raises(UsageError, match="planned again for other words"):
        other.reworded("Bye")


def test_frames_of_files_print_no_control_character(tmp_path: Path) -> None:
    place, _ = saved(tmp_path, pd.DataFrame({"phone": ["+12025550123", "no"], "name": ["\x1b[2J", "\x1b[2J"]}), files=1)
    made = sms.plan(sms.Folder(place, into=tmp_path / "plan"), keep=["name"], **CALL)
    for frame in (made.rows, made.skipped, made.bodies, made.texts):
        assert "\x1b" not in repr(frame)
    assert made.rows["name"].tolist() == ["\x1b[2J"] * 2


def test_a_folder_is_a_value() -> None:
    lists = sms.Folder("lists/", into=Path("work"), memory="1500 MB")
    assert eval(repr(lists), {"Folder": sms.Folder}) == lists
    assert {lists, dataclasses.replace(lists)} == {lists}
    assert dataclasses.replace(lists, memory="2 GB") == sms.Folder("lists/", into="work") != lists
    with pytest.raises(dataclasses.FrozenInstanceError):
        lists.into = "elsewhere"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"memory": "lots"}, "memory= must be an amount such as '2 GB'"),
        ({"memory": "200 MB"}, "at least '1 GB'"),
        ({"memory": 2}, "memory= must be an amount"),
        ({"into": None}, "into= must be the path"),
        ({"folder": 5}, "folder= must be the path"),
        ({"inot": "x"}, "did you mean into=?"),
    ],
)
def test_what_is_no_folder_is_refused(arguments: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=re.escape(told)):
        sms.Folder(**{"folder": "lists/", "into": "work/"} | arguments)


def test_another_plan_of_the_campaign_is_refused(tmp_path: Path) -> None:
    """Other words under the same name are not sent, and the card says so beforehand."""
    made = in_files(tmp_path, people(300))
    with ledger_of(tmp_path) as ledger, sms.Sandbox() as box:
        sent(made, box, ledger)
        texted = len(box.inbox)
        other = sms.plan(
            sms.Folder(tmp_path / "list", into=tmp_path / "other"), ledger=ledger, **CALL | {"message": "Bye {name}"}
        )
        assert "recorded with a different plan" in str(other)
        with pytest.raises(PlanChanged, match="Plan the same files"):
            sent(other, box, ledger)
        with pytest.raises(UsageError, match="a Folder revises no campaign"):
            sms.revise(other, box, reason="typo", ledger=ledger)
        assert len(box.inbox) == texted


@pytest.mark.parametrize("file", ["planned", "bodies"])
def test_files_that_were_changed_are_refused(tmp_path: Path, file: str) -> None:
    """A plan whose files say something else than was planned texts nobody."""
    made = in_files(tmp_path, people(300))
    path = tmp_path / "plan" / f"{file}.parquet"
    frame = pd.read_parquet(path)
    frame["text" if file == "bodies" else "to"] = "Give me your money" if file == "bodies" else "+12025550199"
    frame.to_parquet(path, index=False)
    with ledger_of(tmp_path) as ledger, sms.Sandbox() as box:
        with pytest.raises(UsageError, match="not those of this plan"):
            sent(made, box, ledger)
        assert box.inbox.empty
        assert ledger.campaigns().empty


def test_a_missing_file_of_the_plan_is_named(tmp_path: Path) -> None:
    made = in_files(tmp_path, people(300))
    (tmp_path / "plan" / "planned.parquet").unlink()
    with ledger_of(tmp_path) as ledger, sms.Sandbox() as box, pytest.raises(UsageError, match="make the plan again"):
        sent(made, box, ledger)


# -- refusals ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"to": "fone"}, "did you mean 'phone'?"),
        ({"message": "Hi {nam}"}, "did you mean 'name'?"),
        ({"message": pd.Series(["a"])}, "message= must name a column of the files"),
        ({"by": pd.Series(["a"])}, "by= must name a column of the files"),
        ({"region": pd.Series(["a"])}, "region= must name a column of the files"),
        ({"message": {"xx": "Hi"}, "by": "language"}, "no row of 'language' is in a segment"),
        ({"policy": 3}, "policy= must be"),
    ],
)
def test_wrong_arguments(tmp_path: Path, changes: dict[str, Any], told: str) -> None:
    place, _ = saved(tmp_path, people(50))
    with pytest.raises(UsageError) as raised:
        sms.plan(sms.Folder(place, into=tmp_path / "plan"), **CALL | changes)
    assert told in str(raised.value)
    assert not (tmp_path / "plan").exists()


def test_wrong_folders(tmp_path: Path) -> None:
    """Each refusal names the folder or file and says what to do; nothing is written."""
    place, _ = saved(tmp_path, people(50))
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "mine.txt").write_text("keep me")
    (tmp_path / "a file").write_text("")
    with pytest.raises(OutputExistsError, match=r"other files \(mine.txt\)"):
        sms.plan(sms.Folder(place, into=tmp_path / "notes"), **CALL)
    for into, told in (
        (place, "is the folder of the list itself"),
        (tmp_path / "a file", "is a file; name a folder"),
        (tmp_path / "no" / "plan", "create it first"),
    ):
        with pytest.raises(UsageError, match=told):
            sms.plan(sms.Folder(place, into=into), **CALL)
    for folder, told in ((tmp_path / "nowhere", "is not a folder"), (tmp_path / "notes", "no file that ends in")):
        with pytest.raises(UsageError, match=told):
            sms.plan(sms.Folder(folder, into=tmp_path / "plan"), **CALL)


def test_bad_files(tmp_path: Path) -> None:
    """A damaged file and one with other columns are named; what was planned before stays as it was."""
    in_files(tmp_path, people(50))
    place = tmp_path / "list"
    kept = (tmp_path / "plan" / "skipped.parquet").read_bytes()
    (place / "z.parquet").write_bytes(b"PAR1 nothing PAR1")
    with pytest.raises(UsageError, match=r"z\.parquet cannot be read as Parquet"):
        sms.plan(sms.Folder(place, into=tmp_path / "plan"), **CALL)
    pd.DataFrame({"phone": ["1"], "other": ["2"]}).to_parquet(place / "z.parquet")
    with pytest.raises(UsageError, match=r"z\.parquet and part-0\.parquet do not have the same columns"):
        sms.plan(sms.Folder(place, into=tmp_path / "plan"), **CALL)
    damaged = bytearray((place / "part-1.parquet").read_bytes())
    damaged[50:150] = random.Random(1).randbytes(100)
    (place / "z.parquet").write_bytes(damaged)
    with pytest.raises(UsageError, match=r"z\.parquet cannot be read as Parquet"):
        sms.plan(sms.Folder(place, into=tmp_path / "plan"), **CALL)
    assert (tmp_path / "plan" / "skipped.parquet").read_bytes() == kept
    assert sorted(path.name for path in tmp_path.iterdir()) == ["list", "plan"]


def test_the_files_are_their_owners_alone(tmp_path: Path) -> None:
    in_files(tmp_path, people(50))
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "plan").iterdir()} == {0o600}
    assert (tmp_path / "plan").stat().st_mode & 0o777 == 0o700


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "changes",
    [
        {"message": "Hi {name} {{20%}}"},
        {"message": BY, "by": "language", "region": "country", "rates": RATES},
        {"message": "Hi {name}", "signature": "Acme"},
        {"message": sms.Template("code", {"text": "points", "to": "name"})},
    ],
    ids=["text", "segments", "content", "template"],
)
def test_a_test_message_and_a_preflight_are_those_of_the_plan_in_memory(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    mine, other = both(tmp_path, people(900), **changes)
    rules = sandbox.Rules(templates={"code": "{to} has {text} points"})
    with ledger_of(tmp_path) as ledger, sms.Sandbox(rules=rules) as box:
        client, last = box.client(), other._figures["planned"] - 1
        for row in (0, 1, last // 2, last):
            for made in (mine, other):
                sms.send_test(made, to="+14155550100", client=client, ledger=ledger, row=row)
        texts = box.inbox["text"].tolist()
        assert texts[::2] == texts[1::2]
        assert len(set(texts)) > 1
        with pytest.raises(UsageError, match=f"row={last + 1}: the plan has {last + 1} recipients"):
            sms.send_test(other, to="+14155550100", client=client, ledger=ledger, row=last + 1)
        ahead = {"client": client, "ledger": ledger, "limits": sms.Limits(first=5, per_second=10)}
        assert str(sms.preflight(other, **ahead)) == str(sms.preflight(mine, **ahead))
        ahead["limits"] = sms.Limits(quiet_hours=("00:00", "23:59"))
        assert str(sms.preflight(other, **ahead)) == str(sms.preflight(mine, **ahead))
