"""What the ledger keeps of a campaign's words: the wording and how bodies pack, never what a person was written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from smsotp_nb import Ledger, Message, Plan, Sandbox, Template, plan, send

PEOPLE = pd.DataFrame(
    {
        "phone": ["+12025550123", "+12025550147", "+12025550198", "+12025550111"],
        "name": ["Ann", "Zażółć", "Ben", "Cleo"],
        "city": ["Rome", "Paris", "Łódź", "Oslo"],
        "language": ["en", "en", "en", "de"],
    }
)
WORDS = {"en": "Hi {name}, it’s {{on}} in {city}", "de": "Hallo {name}"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


def planned(**changes: Any) -> Plan:
    return plan(PEOPLE, **{"message": WORDS, "to": "phone", "campaign": "autumn", "by": "language"} | changes)


def sent(path: Path, made: Plan) -> None:
    with Sandbox() as box, Ledger(path, create=True) as ledger:
        send(made, client=box.client(), ledger=ledger, progress=False)


def rows(path: Path, sql: str) -> list[tuple[Any, ...]]:
    with Ledger(path) as ledger, ledger._store.reading() as connection:
        return [tuple(row) for row in connection.execute(sql)]


def remains(path: Path) -> bytes:
    """Return all that stands in the ledger's files."""
    return b"".join(file.read_bytes() for file in sorted(path.parent.glob(path.name + "*")) if file.is_file())


def test_a_wording_is_kept_with_its_placeholders_once_for_all_whom_it_was_filled_for(path: Path) -> None:
    sent(path, planned())
    assert rows(path, "SELECT version, segment, text, variables FROM wording ORDER BY id") == [
        (1, "en", WORDS["en"], '["name", "city"]'),
        (1, "de", WORDS["de"], '["name"]'),
    ]


def test_characters_that_force_ucs2_are_kept_by_the_column_that_they_come_from(path: Path) -> None:
    sent(path, planned())
    found = rows(
        path,
        "SELECT r.position, m.parts, m.plain_parts, m.gsm_parts, m.forcing FROM recipient r "
        "JOIN chunk c USING (campaign, chunk) JOIN measure m ON m.id=c.measure ORDER BY r.position",
    )
    texts = planned()._measure()[["parts", "plain_parts"]].values.tolist()
    assert [[parts, plain] for _, parts, plain, *_ in found] == texts
    assert {gsm for *_, gsm, _ in found} == {1}
    assert [None if one is None else json.loads(one) for *_, one in found] == [
        {"": "’"},
        {"": "’", "name": "óćłż"},
        {"": "’", "city": "óŁź"},
        None,
    ]


def test_what_a_person_was_written_is_not_kept(path: Path) -> None:
    sent(path, planned())
    assert "Zażółć".encode() not in remains(path)
    assert WORDS["de"].encode() in remains(path)


def test_words_that_may_not_be_kept_are_kept_as_their_key_and_their_parts(path: Path) -> None:
    sent(path, planned(message=Message(WORDS, keep_words=False)))
    assert rows(path, "SELECT DISTINCT text, variables FROM wording") == [(None, None)]
    assert rows(path, "SELECT count(DISTINCT key) FROM wording") == [(2,)]
    assert set(rows(path, "SELECT parts, gsm_parts, forcing FROM measure")) == {(1, 1, None)}
    assert b"Hallo" not in remains(path)


def test_a_purge_takes_the_words_with_the_campaign(path: Path) -> None:
    sent(path, planned())
    with Ledger(path) as ledger:
        ledger.record("autumn").purge()
    assert b"Hallo" not in remains(path)
    assert "’".encode() not in remains(path)
    assert rows(path, "SELECT (SELECT count(*) FROM wording) + (SELECT count(*) FROM measure)") == [(0,)]


def test_a_correction_makes_a_version_and_what_it_leaves_keeps_its_first(path: Path) -> None:
    with Ledger(path, create=True) as ledger:
        ledger._begin(planned(), service="sandbox:a").close()
        ledger._revise(planned(message=WORDS | {"de": "Guten Tag {name}"}), service="sandbox:a", reason="typo")
        ledger._revise(
            planned(message={"en": "Hi {name}", "de": "Guten Tag {name}"}), service="sandbox:a", reason="typo"
        )
    found = rows(
        path,
        "SELECT r.position, w.version, w.text FROM recipient r JOIN chunk c USING (campaign, chunk) "
        "JOIN measure m ON m.id=c.measure JOIN wording w ON w.id=m.wording ORDER BY r.position",
    )
    assert found == [(at, 3, "Hi {name}") for at in range(3)] + [(3, 2, "Guten Tag {name}")]
    assert rows(path, "SELECT version FROM wording WHERE text='Hallo {name}'") == [(1,)]


def test_words_that_come_back_keep_the_version_in_which_they_stood_first(path: Path) -> None:
    with Ledger(path, create=True) as ledger:
        ledger._begin(planned(), service="sandbox:a").close()
        for german in ("Guten Tag {name}", WORDS["de"]):
            ledger._revise(planned(message=WORDS | {"de": german}), service="sandbox:a", reason="typo")
    assert rows(path, "SELECT version, text FROM wording WHERE segment='de' ORDER BY id") == [
        (1, "Hallo {name}"),
        (2, "Guten Tag {name}"),
    ]


def test_people_who_are_added_later_have_the_wording_in_its_version(path: Path) -> None:
    with Ledger(path, create=True) as ledger:
        ledger._begin(plan(PEOPLE.iloc[:2], "Hi {name}", to="phone", campaign="autumn"), service="sandbox:a").close()
        ledger._revise(plan(PEOPLE, "Hi {name}", to="phone", campaign="autumn"), service="sandbox:a", reason="typo")
    assert rows(path, "SELECT version, text FROM wording") == [(1, "Hi {name}")]


@pytest.mark.parametrize(
    ("message", "kept"),
    [
        pytest.param({"message": "Hi {name}", "signature": "Acme"}, ("[Acme] Hi {name}", '["name"]'), id="content"),
        pytest.param({"message": PEOPLE["name"].rename("msg")}, ("{msg}", '["msg"]'), id="whole messages"),
        pytest.param(
            {"message": Template("t1", {"n": "name"}, preview="Hi {n}")},
            ("Hi {n}", '["name"]'),
            id="template",
        ),
        pytest.param({"message": Template("t1", ["name"])}, (None, '["name"]'), id="unknown template"),
        pytest.param(
            {"message": Message("It’s {name}", replace={"’": "'"})}, ("It's {name}", '["name"]'), id="replaced"
        ),
    ],
)
def test_every_kind_of_message_is_kept_as_it_reads(path: Path, message: dict[str, Any], kept: tuple[str, str]) -> None:
    made = planned(**{"by": None} | message)
    with Ledger(path, create=True) as ledger:
        ledger._begin(made, service="sandbox:a").close()
    assert rows(path, "SELECT text, variables FROM wording") == [kept]
    assert rows(path, "SELECT count(*) FROM chunk WHERE measure IS NULL") == [(0,)]
