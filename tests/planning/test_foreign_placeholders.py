"""Placeholders as other tools write them: nothing fills them, so they are refused unless they are meant as words."""

from __future__ import annotations

import copy
import dataclasses
import html
import pickle
import re
import urllib.parse
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from support.small_plans import number, people, plan

import smsotp_nb as sms
from smsotp_nb.errors import UsageError

# What it means is the column "first name" of the list, or a person's name in the words of another tool.
FOREIGN = (
    "{{ first_name }}", "{{first name}}", "{{{first name}}}", "{{ contact.firstname }}", "{{.Member.Surname}}",
    "{{ first_name|default:'you' }}", "{{${first name}}}", '{{ "name" }}', "{{#name}}", "{{/name}}", "{{1}}",
    "{{ 12 }}", "{{ lead.First Name:default=you }}", "{{ person|lookup:'First Name' }}",
    '{{ user["first_name"] }}', "{{#if vip}}",
    "{{ customer.loyalty }}", "{{ city }}", "${first name}", "$firstname", "$Last_Name", "$recipient.name", "$!name",
    "$[FNAME]$", "$Surname$", "%FIRSTNAME%", "%first name%", "%%first_name|you%%", "%recipient.email%", "%VORNAME",
    "%(name)s", "%s", "%1$s", "%{first name}", "#firstname#", "##name##", "#{first name}", "【#姓名#】", "*|FNAME|*",
    "*|IF:FNAME|*", "|FNAME|", "[FIRST NAME]", "[first_name,fallback=you]", "[[contact.first_name]]", "[[first name]]",
    '[[data:firstname:"you"]]', "[%first_name%]", "[Your Name]", "((Prénom))", "((nombre??amigo))", "(({first name}))",
    "<<surname>>", "<first name>", "<%= name %>", "<?= $user->name ?>", "«First_Name»", "&lt;name&gt;", "｛｛name｝｝",
    "@firstname", "@first name,", "@FIRSTNAME@", "@{first name}", "~name~", "~Contact.LastName~", ":surname",
    ":name:", "!name!", "-name-", "__name__", "*name*", "`name`", "\\(name)",
)  # fmt: skip
WORDS = (
    "Hi {first name}", "Only $5, US$10 or A$AP", "50% off, 20% more", "20%sale", "5 %sale", "Set {{x}} free",
    "{{20}} %", "Call us (9-17)", "#sale [new]", "#name", "Follow @acme", "Follow @{handle}", "Order #{number}",
    "${owed} is due",
    "{owed}% off", "Write to name@sale.example", "https://acme.example/?name=5&city=2#name", "Open 10:30-12:00: come!",
    "Big *sale* today", "A -sale- now", "name your price!", "well-name-known", "a_name_b", "(name)", '"name"', "x=name",
    "name | city | sale", "<3 {first name} <3", "Salut : name : ici", "«Bonjour {first name}»", "[Acme] Hi",
    "((SALES))", "[{first name}]", "({first name})", "{first name}:{city}", "100%", "Sale: -20%! -30%!", "a < b > c",
    "¡Hola name!",
)  # fmt: skip


def listed(**changes: Any) -> pd.DataFrame:
    more = {"first name": "Ann", "handle": "ann", "number": "7", "owed": "19.99", "city": "Rome", "sale": "x"}
    return people(2, **more | changes)


@pytest.mark.sampled(24)
@pytest.mark.parametrize("shape", FOREIGN)
def test_a_placeholder_of_another_tool_is_refused_wherever_words_come_from(shape: str, tmp_path: Path) -> None:
    text = f"Hi {shape} there"
    frame = listed(words=text)
    made = plan(frame, message="Hi")
    calls: list[dict[str, Any]] = [
        {"message": text},
        {"message": text, "signature": "Acme"},
        {"message": {"Rome": text, "Oslo": "Hi"}, "by": "city"},
        {"message": sms.column("words")},
        {"message": frame["words"]},
        {"message": sms.Template("t", {"x": "words"})},
    ]
    for call in calls:
        with pytest.raises(UsageError, match=r"literal=True"):
            plan(frame, **call)
    with pytest.raises(UsageError, match=r"literal=True"):
        made.reworded(text)
    (tmp_path / "list").mkdir()
    frame.to_parquet(tmp_path / "list" / "people.parquet")
    with pytest.raises(UsageError, match=r"literal=True"):
        sms.plan(
            sms.Folder(tmp_path / "list", into=tmp_path / "plan"), message=sms.column("words"), to="phone", campaign="c"
        )


@pytest.mark.parametrize("text", WORDS)
def test_marks_around_other_words_are_words(text: str) -> None:
    assert len(plan(listed(), message=text).texts) > 0
    if "{" not in text:
        assert plan(listed(words=text), message=sms.column("words")).texts.tolist() == [text]


@pytest.mark.parametrize("form", ["%d.%m.%Y", "%d/%m", "%Y-%m-%d %H:%M", "%d.%m.|soon", "%m%d"])
def test_our_own_format_of_a_time_is_no_placeholder(form: str) -> None:
    frame = listed(due="2026-12-06 18:30")
    text = f"Due {{due:{form}}}"
    written = [pd.Timestamp("2026-12-06 18:30").strftime(f"Due {form.partition('|')[0]}")]
    assert plan(frame, message=text).texts.tolist() == written
    assert plan(frame, message={"Rome": text}, by="city").texts.tolist() == written
    with pytest.raises(UsageError, match="'%NAME%', a placeholder as another tool writes it"):
        plan(frame, message="Due {due:%d.%m.%Y|%NAME%}")


def test_the_error_names_the_placeholder_the_column_and_the_way_out() -> None:
    with pytest.raises(UsageError) as caught:
        plan(listed(), message="Hi %FIRST_NAME%, you owe ((amount due)) or {{amount}}")
    assert caught.value.problems == (
        "message holds '%FIRST_NAME%', a placeholder as another tool writes it, which would be sent "
        "literally. "
        "Write '{first name}', or pass sms.Message(..., literal=True) if it is meant literally",
        "message holds '{{amount}}', a placeholder as another tool writes it, which would be sent literally. "
        "Write '{column}' with one pair of braces and the name of a column (columns: 'phone', 'name', 'first name', "
        "'handle', 'number', 'owed', 'city', 'sale'), or pass sms.Message(..., literal=True) if it is meant "
        "literally",
    )


@pytest.mark.parametrize(
    ("owed", "refused"),
    [(20.5, False), (20, False), ("20,50", False), ("-7", False), ("twenty", True), ("Ann", True)],
)
def test_a_dollar_before_a_number_is_a_dollar(owed: Any, *, refused: bool) -> None:
    frame = people(2, owed=owed)
    if refused:
        with pytest.raises(UsageError, match=r"'\$\{owed\}'"):
            plan(frame, message="You owe ${owed}")
    else:
        assert plan(frame, message="You owe ${owed}").texts[0].startswith("You owe $")


def test_rows_of_whole_messages_are_named_and_only_those_that_get_them() -> None:
    frame = people(3, words=["Hi %NAME%", "Hi", "Hi {name}"], language=["en", "de", "en"])
    with pytest.raises(UsageError, match=r"column 'words' holds '%NAME%' in row 0,"):
        plan(frame, message=sms.column("words"))
    with pytest.raises(UsageError, match=r"column 'words' holds '\{name\}' in row 2,"):
        plan(frame.iloc[1:], message=sms.column("words"))
    both = {"de": sms.column("words"), "en": "Hello"}
    assert sorted(plan(frame, message=both, by="language").texts) == ["Hello", "Hi"]


@pytest.mark.slow
def test_one_row_of_a_list_larger_than_a_sample_is_found(tmp_path: Path) -> None:
    size = 120_000
    words = pd.Series([f"Hi, number {n}" for n in range(size)])
    words.iloc[-2] = "Hi [First Name]"
    (tmp_path / "list").mkdir()
    frame = pd.DataFrame({"phone": [f"+1202555{n % 10_000:04d}" for n in range(size)], "words": words})
    frame.to_parquet(tmp_path / "list" / "people.parquet")
    lists, call = sms.Folder(tmp_path / "list", into=tmp_path / "plan"), {"to": "phone", "campaign": "c"}
    with pytest.raises(UsageError, match=r"'\[First Name\]' in row 119998,"):
        sms.plan(lists, message=sms.column("words"), **call)
    literal = sms.Message(sms.column("words"), literal=True)
    made = sms.plan(lists, message=literal, **call)
    assert made.estimate["messages"].sum() > 0


# -- words as they stand --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "shape"),
    [
        ("*|FNAME|*", r"\*\|FNAME\|\*"),
        ("{{contact.firstname}}", "{{contact.firstname}}"),
    ],
)
def test_a_value_with_what_another_format_writes_is_refused(value: str, shape: str) -> None:
    people = pd.DataFrame({"phone": ["+12025550123", "+12025550124"], "first": ["Bo", value]})
    with pytest.raises(UsageError, match=f"column 'first' holds '{shape}' in row 1.*sent literally"):
        sms.plan(people, "Hi {first}", to="phone", campaign="c")
    made = sms.plan(people, sms.Message("Hi {first}", literal=True), to="phone", campaign="c")
    assert len(made.texts) == 2


# Signs of another format: wherever they stand, and those of a value alone.
SIGNS = (
    "Ren&eacute;", "5 &euro;",
    "O&rsquo;Neil", "&AMP;", "Ren&#233;", "Ren&#xe9;", "Tom &amp Co", "Ann<br>", "<b>Ann</b>",
    "</p>", '<a href="x">y</a>', "<!-- x -->",
    "_x00E9_", "Jos\\u00e9", "Hi\\r\\nAnn", 'say \\"hi\\"', "https:\\/\\/x.y",
    "Ann%20Lee", "Jos%C3%A9", "Jos=C3=A9", "=?utf-8?Q?Jos=C3=A9?=", "JosÃ©", "MÃ¼ller", "donâ€™t", "RENÃ‰", "MALMÃ–",
    "Ã\u00a0 bientÃ´t", "5 â‚¬", "Â£5", "Ð\x90Ð½Ð½Ð°", "РђРЅРЅР°", "Jos√©", "Jos├®", "JosĂ©", "Å\x81ukasz", "Ã\x81gnes",
    "Jos\ufffd",
)  # fmt: skip
SIGNS_OF_VALUES = (
    "['Ann']", '["Ann"]', "{'a': 1}", '{"a": null}', "('Ann', 1)", "b'Ann'", "Timestamp('2026-01-02 00:00:00')",
    "Decimal('1.5')", "datetime.date(2026, 1, 2)", "np.float64(1.5)", "<object object at 0x7f2a>", "<class 'str'>",
    "<Color.RED: 1>", "(0, 1]", "[0.5, 1.0)", "(2026-01-01 00:00:00, 2026-01-02 00:00:00]", "1 days 06:00:00",
    "1 day, 6:00:00", "PT30H", "nan nan", "Ann nan", "nan Ann", "None None", "Ann, None", "Ann undefined", "null Lee",
    "Ann #REF!", "#REF! Lee", "Ann #ERRO!", "Summe: #WERT!", "=VLOOKUP(A2,B:C,2)", '=A2&" "&B2', "=Sheet2!A1", "=5+3",
    "+SUM(A1)",
)  # fmt: skip
PLAIN = (
    "Tom & Co", "AT&T", "R&D;",
    "<3", "5 < 6", "a < b > c", "Ann <ann@x.example>", "[VIP]", "#1", "#SALE!", "100%", "Nan",
    "José", "São", "naïve", "C:\\users", "C:\\new\\udder", "\\o/", "https://x.example/a%20b", "x.example/a%20b",
    "%20 indirim", "100%20", "20%sale", "50% de", "None of these", "nan bread", "Nancy", "CAFÉ…", "«CAFÉ»", "NESTLÉ®",
    "«le café…»", "AMANHÃ… JÁ É", "l’ÉTÉ", "“État”", "Рівне", "Вітаємо", "С…", "3×½", "Łukasz", "Żółć", "MAMĂ…", "=)",
    "=D", "Smith(Jr)", "Bob (Rob)", "(5)", "x=name",
    '=HYPERLINK("https://x.example")', '<img src="x">', "+49 30 1234",
    "-5", "1 day left", "a_x_b", "100°", "Robert (Bob)",
)  # fmt: skip


@pytest.mark.parametrize("text", [*SIGNS, *SIGNS_OF_VALUES])
def test_a_sign_of_another_format_holds_its_row_and_tells_the_way_out(text: str) -> None:
    """A column most of whose values have one is refused; of broken letters, most of those beyond ASCII."""
    frame = people(3, who=["Zoë", text, "René"])
    called = r"column 'who' holds .* in row 1[ ,].*sent literally\. .*, or pass sms\.Message\(\.\.\., literal=True\)"
    for message in ("Hi {who|there}", sms.Template("t", ["who"])):
        made = plan(frame, message=message)
        assert made.rows["problem"].tolist()[1:2] == ["VALUE_ODD"] == made.skipped["problem"].tolist()
        assert made.rows["note"].iloc[1].endswith("VALUE_ODD:who")
        assert re.match(f"Rows are held back: {called}", made.advice[0])
        with pytest.raises(UsageError, match=called):
            plan(frame.assign(who=["Bo", text, text]), message=message)
    assert plan(frame, message=sms.Message("Hi {who}", literal=True)).rows["status"].iloc[0] == "planned"


def test_a_column_that_was_read_in_a_wrong_encoding_is_refused_where_no_letter_of_it_is_sound() -> None:
    with pytest.raises(UsageError, match="read in a wrong encoding"):
        plan(people(4, who=["Bo", "JosÃ©", "Al", "Mia"]), message="Hi {who|there}")


def test_a_sign_holds_its_row_in_files_too(tmp_path: Path) -> None:
    """Also where the format could not write the value, and of the messages by segment that alone which names it."""
    frame = people(5, owed=["1.5", "2.5 &euro; #REF!", "&euro;", "3", "4"], by=["a", "a", "b", "a", "a"])
    (tmp_path / "list").mkdir()
    frame.to_parquet(tmp_path / "list" / "people.parquet")
    words = {"a": sms.Message("{owed:money}", currency="EUR"), "b": "Hi"}
    call: dict[str, Any] = {"message": words, "to": "phone", "campaign": "c", "by": "by"}
    for source in (frame, sms.Folder(tmp_path / "list", into=tmp_path / "plan")):
        made = sms.plan(source, **call)
        assert made.rows["problem"].dropna().to_dict() == {1: "VALUE_ODD"}
        assert made.rows["note"].iloc[1].count("VALUE_ODD:owed") == 1
        assert "column 'owed' holds '&euro;' in row 1 (" in made.advice[0]
    literal = {"a": sms.Message("{owed}", literal=True), "b": "Hi"}
    assert sms.plan(frame, **call).reworded(literal).rows["problem"].isna().all()


@pytest.mark.parametrize("text", SIGNS)
def test_a_sign_of_another_format_holds_whole_messages_and_is_refused_in_the_message(text: str) -> None:
    made = plan(people(3, words=["Hé", text, "Hó"]), message=sms.column("words"))
    assert made.rows["problem"].tolist()[1] == "VALUE_ODD"
    assert re.search(r"column 'words' holds .* in row 1[ ,].*literal=True", made.advice[0])
    with pytest.raises(UsageError, match=r"message holds .*, or pass sms\.Message"):
        plan(people(2), message=f"Hi {text} {{name}}")
    with pytest.raises(UsageError, match=r"signature"):
        plan(people(2), message="Hi", signature=text)


@pytest.mark.parametrize("text", ["Tom &amp; Jos&eacute;", "<b>Tom</b> &amp; José", "Tom%20%26%20Jos%C3%A9"])
def test_the_way_out_of_a_sign_leads_there_beside_blank_cells(text: str) -> None:
    frame = people(3, who=["Bo < Al", text, None])
    how = re.search(r"for instance with (.*?\))(?:, or pass|, of a mail)", plan(frame, message="Hi {who}").advice[0])
    assert how is not None
    frame["who"] = eval(how[1], {"frame": frame, "html": html, "urllib": urllib})
    assert plan(frame, message="Hi {who}").texts.tolist() == ["Hi Bo < Al", "Hi Tom & José"]


@pytest.mark.parametrize("text", PLAIN)
def test_what_merely_looks_like_a_sign_is_sent(text: str) -> None:
    frame = people(3, who=["Bo", text, "Al"])
    assert plan(frame, message="Hi {who}.").texts.tolist()[1] == f"Hi {text}."
    assert plan(frame, message=sms.column("who")).texts.tolist()[1] == text
    assert plan(frame, message=f"Hi {text}").texts.tolist() == [f"Hi {text}"]


def test_a_value_within_a_link_may_be_written_as_links_are() -> None:
    frame = people(2, who=["Ann%20Lee", "Bo"], name=["Ann", "Bo"])
    assert "x.example/r/Ann%20Lee?n=Ann" in plan(frame, message="https://x.example/r/{who}?n={name} now").texts[0]
    assert "'%20' in row 0" in plan(frame, message="https://x.example/ {who}").advice[0]


def test_a_column_with_a_broken_name_is_refused() -> None:
    with pytest.raises(UsageError, match=r"message holds 'Ã©'.*Write the letter itself"):
        plan(people(2, **{"PrÃ©nom": "Ann"}), message="Hi {PrÃ©nom}")


@pytest.mark.parametrize(
    "text",
    ["%FIRSTNAME%", "[First Name]", "${name}", "<<name>>", "#name#", "{name}", "<%= name %>", "[%name%]", "*|NAME|*",
     "{{name}}", "«Name»", "｛｛name｝｝", "%name%", "[[first name]]", "__name__", "$name", "@firstname",
     " {first name} "],
)  # fmt: skip
def test_a_value_that_is_a_placeholder_alone_is_no_name(text: str) -> None:
    frame = people(3, who=["Bo", text, "Al"])
    with pytest.raises(UsageError, match=r"column 'who' holds .* in row 1, as other tools or we write a placeholder"):
        plan(frame, message="Hi {who}")


def test_whole_numbers_that_a_program_made_fractions_need_a_format() -> None:
    frame = people(3, no=["1001.0", None, "1003.0"], grade=["5.0", "4.5", "4.0"])
    with pytest.raises(UsageError, match=r"column 'no', row 0: '1001.0' ends in .0, .*write \{no:.0f\} or \{no:<=20\}"):
        plan(frame, message="Order {no}")
    assert plan(frame, message="Order {no:.0f}").texts.tolist() == ["Order 1001", "Order 1003"]
    assert plan(frame, message="Order {no:<=20}").texts.tolist() == ["Order 1001.0", "Order 1003.0"]
    assert plan(frame, message="{grade}").texts.tolist() == ["5.0", "4.5", "4.0"]


def test_literal_words_are_sent_as_they_stand() -> None:
    text = "Hi {first name}, write [name] and %NAME%"
    frame = listed(words="Hi {name} and *|FNAME|*")
    said = ["Hi Ann, write [name] and %NAME%"]
    literal = sms.Message(text, literal=True)
    assert plan(frame, message=literal).texts.tolist() == said
    assert plan(frame, message="Hi").reworded(literal).texts.tolist() == said
    assert plan(frame, message={"Rome": literal, "Oslo": "Hi"}, by="city").texts.tolist() == said
    assert plan(frame, message=sms.Message({"Rome": text}, literal=True), by="city").texts.tolist() == said
    assert plan(frame, message=literal, signature="Acme").texts.tolist() == [f"[Acme] {said[0]}"]
    whole = ["Hi {name} and *|FNAME|*"]
    assert plan(frame, message=sms.Message(sms.column("words"), literal=True)).texts.tolist() == whole
    assert plan(frame, message=sms.Message(frame["words"], literal=True)).texts.tolist() == whole
    template = sms.Template("t", {"x": "words"}, preview="{x}", literal=True)
    assert plan(frame, message=template).texts.tolist() == whole
    assert plan(frame, message=sms.Message("sale", literal=True)).texts.tolist() == ["sale"]


def test_only_the_segment_that_is_literal_is() -> None:
    words = {"Rome": sms.Message("Hi %NAME%", literal=True), "Oslo": "Hei %NAME%"}
    with pytest.raises(UsageError, match=r"segment 'Oslo': message holds '%NAME%'") as caught:
        plan(listed(), message=words, by="city")
    assert "Rome" not in str(caught.value)


def test_a_later_change_of_words_in_a_message_makes_no_difference() -> None:
    words = {"Rome": "Hi"}
    made = plan(listed(), message=sms.Message(words), by="city")
    words["Rome"] = "Ho"
    assert made.reworded(sms.Message({"Rome": "Hi again"})).texts.tolist() == ["Hi again"]


def test_a_test_message_of_literal_words(tmp_path: Path) -> None:
    (tmp_path / "list").mkdir()
    people(2).to_parquet(tmp_path / "list" / "people.parquet")
    literal = sms.Message("Hi %NAME%", literal=True)
    call: dict[str, Any] = {"message": literal, "to": "phone", "campaign": "c"}
    with sms.Sandbox() as box, sms.Ledger(tmp_path / "l.sqlite", create=True) as ledger:
        for made in (
            sms.plan(sms.Folder(tmp_path / "list", into=tmp_path / "plan"), **call),
            sms.plan(people(2), **call),
        ):
            sms.send_test(made, to=number(50), client=box.client(), ledger=ledger)
        assert box.inbox["text"].tolist() == ["Hi %NAME%", "Hi %NAME%"]


def test_a_message_is_a_value() -> None:
    words = sms.Message({"de": sms.column("m"), "en": sms.Message("[name]", literal=True)})
    assert repr(words) == "Message({'de': column('m'), 'en': Message('[name]', literal=True)})"
    assert eval(repr(words), {"Message": sms.Message, "column": sms.column}) == words
    assert sms.Message("a") != sms.Message("a", literal=True)
    assert sms.Message(pd.Series(["a"])) == sms.Message(pd.Series(["a"])) != sms.Message("a")
    assert pickle.loads(pickle.dumps(words)) == copy.deepcopy(words) == words
    with pytest.raises(dataclasses.FrozenInstanceError):
        words.literal = True  # type: ignore[misc]


@pytest.mark.parametrize(
    ("words", "literal", "says"),
    [
        (None, False, "text must be a text"),
        (sms.Message("a"), False, "text must be a text"),
        ("a", "no", "literal= must be True or False"),
    ],
)
def test_no_message(words: Any, literal: Any, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        sms.Message(words, literal=literal)
