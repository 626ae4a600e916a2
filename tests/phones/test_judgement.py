"""What `normalize` makes of a cell: every problem and every note has a named case."""

from __future__ import annotations

import re
from decimal import Decimal

import numpy as np
import pandas as pd
import phonenumbers
import pytest
from support.dtypes import dtype_names

from smsotp_nb import phones
from smsotp_nb.errors import UsageError

US = "+14155550100"
AU = "+61491570156"
SE = "+46701740605"
FR = "+33199001234"


def row(number: object, region: object = None, **options: object) -> pd.Series:
    reading = phones.NumberOptions(**options)  # type: ignore[arg-type]
    frame = phones.normalize(pd.Series([number], dtype=object), region=[region], numbers=reading)
    return frame.fillna("").iloc[0]


def example(region: str, kind: str = "MOBILE") -> phonenumbers.PhoneNumber:
    number = phonenumbers.example_number_for_type(region, getattr(phonenumbers.PhoneNumberType, kind))
    assert number is not None
    return number


def digits(number: phonenumbers.PhoneNumber) -> str:
    return f"{number.country_code}{phonenumbers.national_significant_number(number)}"


REFUSED = [
    ("blank", "  ", None, "MISSING"),
    ("missing word", "N/A", None, "MISSING"),
    ("dash", "-", "US", "MISSING"),
    ("list in a cell", [US], None, "NOT_TEXT"),
    ("truth value", True, None, "NOT_TEXT"),
    ("date in a cell", pd.Timestamp("2026-01-02"), "DE", "NOT_TEXT"),
    ("date as text", "2024-01-15", "DE", "NOT_A_NUMBER"),
    ("German date as text", "15.01.2024", "DE", "NOT_A_NUMBER"),
    ("negative number", -4155550100, "US", "NOT_A_NUMBER"),
    ("fraction", 4155550.01, "US", "NOT_A_NUMBER"),
    ("infinite", float("inf"), "US", "NOT_A_NUMBER"),
    ("spreadsheet cut it", "1.41556E+10", "US", "SCI_NOTATION_LOST_DIGITS"),
    ("German spreadsheet cut it", "1,41556e10", "US", "SCI_NOTATION_LOST_DIGITS"),
    ("float too large", 2.0**60, None, "SCI_NOTATION_LOST_DIGITS"),
    ("two by comma", "0491570156,0491570157", "AU", "MULTIPLE_NUMBERS"),
    ("two by slash", "0491 570 156 / 0491 570 157", "AU", "MULTIPLE_NUMBERS"),
    ("two by word", "0491570156 or 0491570157", "AU", "MULTIPLE_NUMBERS"),
    ("two by blank", "1234567 1234567", "DE", "MULTIPLE_NUMBERS"),
    ("two by line", f"{US}\n{FR}", None, "MULTIPLE_NUMBERS"),
    ("two by plus", f"{US} {FR}", None, "MULTIPLE_NUMBERS"),
    ("two run together", f"{US}{FR}", None, "MULTIPLE_NUMBERS"),
    ("second as extension", "0491570156 x0491570157", "AU", "MULTIPLE_NUMBERS"),
    ("shorthand", "089 1234567/2", "DE", "MULTIPLE_NUMBERS"),
    ("comma shorthand", "0491570156, 57", "AU", "MULTIPLE_NUMBERS"),
    ("note behind", "0491 570 156 (ring twice)", "AU", "TEXT_IN_NUMBER"),
    ("words in front", "customs 0491 570 156", "AU", "TEXT_IN_NUMBER"),
    ("link without a number", "https://example.com/0491570156", "AU", "TEXT_IN_NUMBER"),
    ("name of a messenger", "https://t.me/ada12345678", "AU", "TEXT_IN_NUMBER"),
    ("digits starred out", "+43 655 5645**", None, "DIGITS_HIDDEN"),
    ("digits cut off", "0176 1234567...", "DE", "DIGITS_HIDDEN"),
    ("digits hashed out", "+39 02 1930####4", None, "DIGITS_HIDDEN"),
    ("in thousands", "4.915.121.643.501", "DE", "AMBIGUOUS_READING"),
    ("in thousands, fewer", "4,934,337,796", "DE", "AMBIGUOUS_READING"),
    ("beginning hidden", "...0491 570 156", "AU", "DIGITS_HIDDEN"),
    ("middle hidden", "0491 ... 156", "AU", "DIGITS_HIDDEN"),
    ("series of extensions", "0171 1234567/-1", "DE", "MULTIPLE_NUMBERS"),
    ("two by nothing but a blank", "089 1234 089 1235", "DE", "MULTIPLE_NUMBERS"),
    ("two by slash, the second short", "089 123456/123457", "DE", "MULTIPLE_NUMBERS"),
    ("a date with an hour, which is a number in New York", "2024-01-05 10", "US", "NOT_A_NUMBER"),
    ("hardly a digit, and a word", "07\t(home)", "DE", "NOT_A_NUMBER"),
    ("letter alone", "0491 57o 1 o 56", "AU", "TEXT_IN_NUMBER"),
    ("fax", "Fax: 030 901820", "DE", "NOTE_SAYS_NO"),
    ("doubt", "0491 570 15?6", "AU", "TEXT_IN_NUMBER"),
    ("vanity", "1-800-234-KIDS", "US", "TEXT_IN_NUMBER"),
    ("no digits", "call me", "US", "NOT_A_NUMBER"),
    ("no country", "4155550100", None, "REGION_MISSING"),
    ("unread country", "4155550100", "Atlantis", "REGION_UNKNOWN"),
    ("country without a plan", "4155550100", "AQ", "REGION_UNKNOWN"),
    ("no such calling code", "+999 123 4567", None, "UNKNOWN_CALLING_CODE"),
    ("prefix alone", "011 1", "US", "TOO_SHORT_AFTER_IDD"),
    ("code alone", "+49 1", None, "TOO_SHORT_NSN"),
    ("too long", "+1 415 555 0100 99", None, "TOO_LONG"),
    ("too short", "+1 415", None, "TOO_SHORT"),
    ("between lengths", "+61 491 570 156 11", None, "INVALID_LENGTH"),
    ("no area code", "555 0100", "US", "LOCAL_ONLY"),
    ("range for drama", "+44 7700 900123", "GB", "NOT_IN_USE"),
    ("premium", "+1 900 234 5678", "US", "TYPE_NOT_ALLOWED"),
    ("toll-free", "+1 800 234 5678", "US", "TYPE_NOT_ALLOWED"),
]


@pytest.mark.parametrize(("number", "region", "problem"), [case[1:] for case in REFUSED], ids=[c[0] for c in REFUSED])
def test_refused_with_its_reason(number: object, region: object, problem: str) -> None:
    """A row that is not texted says why in one code and has no ``to``."""
    result = row(number, region)
    assert (result["problem"], result["to"]) == (problem, "")


ACCEPTED = [
    ("plain", "(415) 555-0100", "US", US, "TEST_NUMBER"),
    ("blanks around", f"  {US} ", None, US, "TRIMMED TEST_NUMBER"),
    ("stray comma", f"{US},", None, US, "TRIMMED TEST_NUMBER"),
    ("unusual blanks", "+1\u00a0415\u2009555 0100", None, US, "INVISIBLE_REMOVED TEST_NUMBER"),
    ("direction marks", f"\u202a{US}\u202c", None, US, "INVISIBLE_REMOVED TEST_NUMBER"),
    ("Arabic digits", "٠٤٩١ ٥٧٠ ١٥٦", "AU", AU, "DIGITS_TRANSLATED TEST_NUMBER"),
    ("full width", "＋１４１５５５５０１００", None, US, "DIGITS_TRANSLATED TEST_NUMBER"),
    ("long dashes", "415–555—0100", "US", US, "TEST_NUMBER"),
    ("apostrophe", f"'{US}", None, US, "QUOTE_REMOVED TEST_NUMBER"),
    ("formula", f'="{US}"', None, US, "QUOTE_REMOVED TEST_NUMBER"),
    ("tel", "tel:+1-415-555-0100", None, US, "LABEL_REMOVED TEST_NUMBER"),
    ("label", "Mobile no.: 0491 570 156", "AU", AU, "LABEL_REMOVED TEST_NUMBER"),
    ("label like a link, area code and slash", "Tel:04/91570156", "AU", AU, "LABEL_REMOVED TEST_NUMBER"),
    ("thousands", "61’491’570’156", "AU", AU, "TEST_NUMBER"),
    ("bullet", "• 0491 570 156", "AU", AU, "TRIMMED TEST_NUMBER"),
    *(
        (
            f"{sign} as its page or file writes it",
            f"+61{sign}491{sign}570156",
            None,
            AU,
            "INVISIBLE_REMOVED TEST_NUMBER",
        )
        for sign in ("&nbsp;", "%20", "_x000D_", "\\n")
    ),
    ("plus as a page writes it", "&#43;61491570156", None, AU, "INVISIBLE_REMOVED TEST_NUMBER"),
    ("plus as a link writes it", "%2B61491570156", None, AU, "INVISIBLE_REMOVED TEST_NUMBER"),
    ("zeros and the plus", "00+61 491570156", None, AU, "TRIMMED TEST_NUMBER"),
    ("two pluses", "+ +61 491570156", None, AU, "TRIMMED TEST_NUMBER"),
    ("mark of a mobile in front", "(M) 0491 570 156", "AU", AU, "LABEL_REMOVED TEST_NUMBER"),
    ("telephone sign in front", "\u260e\ufe0f 0491 570 156", "AU", AU, "LABEL_REMOVED TEST_NUMBER"),
    ("receiver in front", "\U0001f4de: 0491 570 156", "AU", AU, "LABEL_REMOVED TEST_NUMBER"),
    ("letters for digits", "O49l 57O 156", "AU", AU, "LETTERS_READ TEST_NUMBER"),
    ("one number twice", "0491 570 156 / +61 491 570 156", "AU", AU, "SAME_NUMBER_TWICE TEST_NUMBER"),
    (
        "one number twice, with labels",
        "Tel 0491570156 Mob +61491570156",
        "AU",
        AU,
        "LABEL_REMOVED SAME_NUMBER_TWICE TEST_NUMBER",
    ),
    ("one number twice, or said in Russian", "0491570156 или +61491570156", "AU", AU, "SAME_NUMBER_TWICE TEST_NUMBER"),
    ("underscores", "0491_570_156", "AU", AU, "TEST_NUMBER"),
    ("katakana bars", "0491\u30fc570\u30fc156", "AU", AU, "TEST_NUMBER"),
    ("hours behind", "0491 570 156 after 6pm", "AU", AU, "TRAILING_NOTE_DROPPED TEST_NUMBER"),
    ("second label", "Phone 2: 0491 570 156", "AU", AU, "LABEL_REMOVED TEST_NUMBER"),
    ("Chinese label", "\u624b\u673a\uff1a0491 570 156", "AU", AU, "DIGITS_TRANSLATED LABEL_REMOVED TEST_NUMBER"),
    ("e-mail", "ada@example.com, 0491 570 156", "AU", AU, "LABEL_REMOVED TEST_NUMBER"),
    ("stars on both sides", "**0491 570 156**", "AU", AU, "TRIMMED TEST_NUMBER"),
    ("count behind, where no digit is free", "(415) 555-0100 (2)", "US", US, "EXTENSION_DROPPED TEST_NUMBER"),
    ("last digits in brackets", "+1 415 555 (0100)", None, US, "TEST_NUMBER"),
    ("plus at the end", "46701740605+", "US", SE, "PLUS_MOVED REGION_MISMATCH TEST_NUMBER"),
    ("stray plus at the end", "0491 570 156+", "AU", AU, "TRIMMED TEST_NUMBER"),
    ("calling code twice", "+46 46 70 174 06 05", None, SE, "CODE_SAID_TWICE TEST_NUMBER"),
    ("calling code twice, once with 00", "+46 0046 70 174 06 05", None, SE, "CODE_SAID_TWICE TEST_NUMBER"),
    ("extension without a blank", f"{US}ext12", None, US, "EXTENSION_DROPPED TEST_NUMBER"),
    ("float text in groups", "+1 415 555 0100.0", None, US, "FLOAT_ENDING TEST_NUMBER"),
    ("float text", "14155550100.0", "US", US, "FLOAT_ENDING TEST_NUMBER"),
    ("float cell", 14155550100.0, "US", US, "FLOAT_ENDING TEST_NUMBER"),
    ("decimal cell", Decimal("14155550100"), "US", US, "FLOAT_ENDING TEST_NUMBER"),
    ("whole cell", np.int64(14155550100), "US", US, "TEST_NUMBER"),
    ("scientific, whole", "3.3199001234E+10", "FR", FR, "SCI_NOTATION TEST_NUMBER FIXED_LINE"),
    ("extension", "0491 570 156 ext. 12", "AU", AU, "EXTENSION_DROPPED TEST_NUMBER"),
    ("pause", f"{US},,12#", None, US, "EXTENSION_DROPPED TEST_NUMBER"),
    ("trunk zero", "+46 (0)70 174 06 05", None, SE, "TRUNK_ZERO_DROPPED TEST_NUMBER"),
    ("00 without a country", "0046 70 174 06 05", None, SE, "IDD_00_READ TEST_NUMBER"),
    ("00 is the prefix at home", "0046 70 174 06 05", "SE", SE, "TEST_NUMBER"),
    ("lower case", "4155550100", "us", US, "REGION_CASE TEST_NUMBER"),
    ("three letters", "4155550100", "USA", US, "REGION_ALPHA3 TEST_NUMBER"),
    ("name", "4155550100", "United States", US, "REGION_NAME TEST_NUMBER"),
    ("with points", "4155550100", "U.S.", US, "REGION_ALIAS TEST_NUMBER"),
    ("three letters with points", "4155550100", "U.S.A.", US, "REGION_ALPHA3 TEST_NUMBER"),
    ("on cars", "0171 3920123", "D", "+491713920123", "REGION_ALIAS TEST_NUMBER"),
    ("calling code as country", "0171 3920123", "+49", "+491713920123", "REGION_CALLING_CODE TEST_NUMBER"),
    ("calling code without plus", "0171 3920123", "49", "+491713920123", "REGION_CALLING_CODE TEST_NUMBER"),
    ("calling code as decimal", "0171 3920123", 49.0, "+491713920123", "REGION_CALLING_CODE TEST_NUMBER"),
    ("missing word as country", US, "nan", US, "TEST_NUMBER"),
    ("unread country, own code", US, "Atlantis", US, "REGION_UNKNOWN TEST_NUMBER"),
    ("other country", FR, "DE", FR, "REGION_MISMATCH TEST_NUMBER FIXED_LINE"),
]


LINKS = (
    *("https://wa.me/61491570156", "wa.me/+61491570156?text=Hi%20%201", "https://wa.me/61491570156/?text=a"),
    *("https://api.whatsapp.com/send?phone=61491570156&text=Hi", "whatsapp://send?text=a&phone=%2B61491570156"),
    *("61491570156@c.us", "viber://chat?number=%2B61491570156", "https://signal.me/#p/+61491570156"),
    *(
        "tel:491-570-156;phone-context=+61",
        "tel:+61-491-570-156;ext=4",
        "sms:+61491570156?body=Hi%2020",
        "smsto:+61491570156",
    ),
    *(
        "TEL;TYPE=CELL,VOICE;PREF=1:+61 491 570 156",
        "item1.TEL;type=pref:+61491570156",
        "TEL;VALUE=uri:tel:+61491570156",
    ),
    *('<a href="tel:+61491570156">+61 491 570 156</a>', "[0491 570 156](tel:+61491570156)", "<tel:+61491570156>"),
    *("sip:+61491570156@sip.example.com;user=phone", "tel:%2B61%20491%20570%20156"),
)


@pytest.mark.parametrize("link", LINKS)
def test_the_number_of_a_link_is_read(link: str) -> None:
    """With the plus that messengers leave out, whatever the default."""
    assert [row(link, region)["to"] for region in ("AU", "US")] == [AU, AU]


@pytest.mark.parametrize(
    "cell",
    [
        '{"value": "+61491570156"}',
        "['0491 570 156']",
        "Phone 1 - Value:0491 570 156",
        "Work (+61) 491 570 156",
        "iPhone +(61) 491570156",
        "+61 (0)491570156 ::: +61 491 570 156",
        "+61 0491570156 / +61491570156",
        "手提: 0491 570 156",
        "т. +61 491 570 156",
    ],
)
def test_notations_of_exports(cell: str) -> None:
    """A plus in brackets behind a word belongs to the number, whatever the default country."""
    assert row(cell, "AU")["to"] == AU
    assert row(cell, "VN")["to"] in (AU, "")


def test_an_id_is_no_number() -> None:
    assert row("#43123456", "AT")["problem"] == "NOT_A_NUMBER"
    assert row("+61 491570156 / +43 491570156", "AU")["problem"] == "MULTIPLE_NUMBERS"


HERE: dict[str, tuple[str, ...]] = {
    "MX": ("01{}", "044 {}", "(045) {}", "+52 1 {}", "521{}", "+52 (1) {}", "0052 044 {}"),
    "ES": ("0034 (0) {}",),
    "BR": ("(0xx{0:.2}) {0:.20}",),
}


@pytest.mark.parametrize(("region", "text"), [(region, text) for region, texts in HERE.items() for text in texts])
def test_prefixes_that_are_not_dialled_are_dropped(region: str, text: str) -> None:
    """Where the text as written is no number."""
    number = example(region)
    national = str(number.national_number)
    written = f"(0xx{national[:2]}) {national[2:]}" if region == "BR" else text.format(national)
    assert row(written, region)["to"] == f"+{digits(number)}"


@pytest.mark.parametrize("region", ["RE", "GP", "GF", "MQ"])
def test_overseas_numbers_as_in_france(region: str) -> None:
    """They are called from France without their calling code."""
    number = example(region)
    judged = row(f"0{number.national_number}", "FR")
    assert judged[["to", "note"]].tolist() == [f"+{digits(number)}", "OVERSEAS_READ REGION_MISMATCH"]
    assert row(number.national_number, "FR")["to"] == f"+{digits(number)}"  # the zero lost in a spreadsheet
    assert row("05.96.36.89.28", "FR")["problem"] == row("+33 2 69 62 87 46", "FR")["problem"] == "AMBIGUOUS_READING"


@pytest.mark.parametrize(
    ("number", "region", "to", "note"), [case[1:] for case in ACCEPTED], ids=[case[0] for case in ACCEPTED]
)
def test_accepted_with_its_notes(number: object, region: object, to: str, note: str) -> None:
    """A row that is texted says what was done to it, in the order of the table."""
    result = row(number, region)
    assert (result["to"], result["note"], result["problem"]) == (to, note, "")


def test_customary_code_and_voip_have_notes() -> None:
    """UK is GB; internet telephony passes with a note."""
    mobile = example("GB")
    assert row(f"0{mobile.national_number}", "UK")["note"] == "REGION_ALIAS"
    assert row("+" + digits(example("FR", "VOIP")))["note"] == "VOIP"


def test_lost_leading_zero_comes_back_only_where_it_is_part_of_the_number() -> None:
    """Italy and Congo keep the zero; in France it is only dialled, and a short number stays short."""
    congo = example("CG")
    without = str(congo.national_number)
    assert row(without, "CG")[["to", "note"]].tolist() == ["+" + digits(congo), "LEADING_ZERO_RESTORED"]
    assert row("19900123", "FR")["problem"] == "TOO_SHORT"


OPTIONAL = [
    ("lost_plus", "33199001234", "US", FR, "PLUS_RESTORED REGION_MISMATCH TEST_NUMBER FIXED_LINE"),
    ("trailing_note", "0491 570 156 (ring twice)", "AU", AU, "TRAILING_NOTE_DROPPED TEST_NUMBER"),
    ("vanity", "415-555-01AA", "US", "", ""),
    ("vanity", "202-KLJ-0123", "US", "+12025550123", "VANITY_LETTERS TEST_NUMBER"),
]


REPAIRS = sorted({case[0] for case in OPTIONAL})


@pytest.mark.parametrize(("name", "number", "region", "to", "note"), OPTIONAL, ids=[c[0] + c[1] for c in OPTIONAL])
def test_some_repairs_are_made_only_when_asked(name: str, number: str, region: str, to: str, note: str) -> None:
    """Without the repair the row is refused; with it, it carries the repair's note."""
    assert row(number, region)["to"] == ""
    assert row(number, region, repair={name})[["to", "note"]].tolist() == [to, note]
    others = set(REPAIRS) - {name}
    assert row(number, region, repair=others)["to"] == ""


SAYING_NO = re.split(
    r";\s",
    """do not text; Don’t call; opted out; Wrong Number; RIP; DECEASED; ex-wife; no texts, please; DNC; nicht anrufen!;
Verstorben; keine SMS; alte Nummer; gesperrt; Telefax; Faxnummer; †; ❌; n'appelez plus; DÉCÉDÉE; faux numéro;
no llamar; número equivocado; numero sbagliato; non chiamare; não ligar; falecido; niet bellen; overleden;
nie dzwonić; Zmarła; ring inte; død; feil nummer; älä soita; kuollut; aramayın; vefat etti; не звонить; Умер;
请勿联系; 已故; 電話しないで; لا تتصل; home †; Ann (deceased); Desuscrito; Rejeté; Nope; Umgezogen;
Ausgetreten; Kündigung; Sperrvermerk; Robinsonliste; Untersagt; Hausverbot; Minderjährig; Disdetta; Vietato; Blocklist;
nur Anruf; calls only; phone only; nur Telefon; только звонить; Ceased; Leiratkozott; إلغاء الاشتراك; voice only;
 WhatsApp only; solo WhatsApp; nur per Mail; appels uniquement; only emergency;
Emergencies only; nur Notfall; sólo urgencias; S T O P; R.I.P.;
הסר; מבקש להסיר; پیامک نفرستید; انصراف; أوقف; मना किया; งดส่ง; 문자사절""",
)
SAYING_NOTHING = re.split(
    r";\s",
    """home; mobil; Ann; Ann Smith; J. Smith; Ann van Dyck; J. R. R. Tolkien; emergency; WhatsApp; SMS only; nur mobil;
mobile phone only; evenings only; call or text; work phone; Büro; maison; casa; M; дом; Анна; 自宅; mum;
bevorzugt; mājas; mobitel; محمد""",
)


@pytest.mark.parametrize("repair", [(), ("trailing_note",), tuple(REPAIRS)], ids=["none", "trailing note", "all"])
@pytest.mark.parametrize("note", SAYING_NO)
@pytest.mark.sampled(48)
def test_a_note_that_says_no_keeps_its_number_from_being_texted(note: str, repair: tuple[str, ...]) -> None:
    """Behind the number or in front of it, whatever repair is asked for."""
    for text in ("0491 570 156 ({})", "0491 570 156 - {}", "0491 570 156, {}", "{} 0491 570 156", "{}: 0491 570 156"):
        judged = row(text.format(note), "AU", repair=repair)
        assert (judged["to"], judged["problem"]) == ("", "NOTE_SAYS_NO"), text


@pytest.mark.parametrize("note", SAYING_NOTHING)
def test_a_harmless_note_or_a_name_is_dropped(note: str) -> None:
    """Behind the number and in front of it."""
    for text in ("0491 570 156 ({})", "0491 570 156 - {}", "0491 570 156 {}", "{}: 0491 570 156", "({}) 0491 570 156"):
        assert row(text.format(note), "AU")["to"] == AU, text


@pytest.mark.parametrize(
    "note", ["ring twice", "mobile?", "verstehen Sie", "\u5c71\u9593", "TBC", "Ann Bob Cid Dee", "አትደውሉ", "ខុសលេខ"]
)
def test_a_note_that_is_not_understood_is_not_dropped(note: str) -> None:
    """Unless asked for, only known words and names are: any other may say no in a language that we do not know."""
    assert row(f"0491 570 156 ({note})", "AU")["problem"] == "TEXT_IN_NUMBER"
    assert row(f"{note}: 0491 570 156", "AU", repair=REPAIRS)["problem"] == "TEXT_IN_NUMBER"
    assert row(f"0491 570 156 ({note})", "AU", repair={"trailing_note"})["to"] == AU


def test_no_may_be_the_word_number() -> None:
    """With its point it is a label, without one it may say no."""
    assert row("No. 0491 570 156", "AU")["to"] == AU
    assert row("No 0491 570 156", "AU")["problem"] == "NOTE_SAYS_NO"


def test_a_no_to_two_numbers_is_not_lost_when_they_get_a_row_each() -> None:
    """The cell stays whole; that one of two is a fax number says nothing of the other."""
    frame = pd.DataFrame({"phone": [f"do not text: {US} / {FR}", f"Fax {FR} / {US}"]})
    split = phones.explode(frame, "phone")
    judged = phones.normalize(split["phone"])
    assert judged["to"].dropna().tolist() == [US]


def test_every_optional_repair_has_a_case() -> None:
    """The table of repairs and the cases above name the same ones."""
    with pytest.raises(UsageError, match=f"pass a set of {', '.join(REPAIRS)}"):
        phones.NumberOptions(repair=["none"])


class TestStrangers:
    """Readings that are valid numbers, and somebody else's."""

    def test_float_text_gains_a_digit(self) -> None:
        """Read as it stands, the .0 of a New Zealand number becomes a digit of another valid number."""
        number = digits(example("NZ"))
        shorter = next(number[:end] for end in (10, 11, 9) if phones.parse(["+" + number[:end] + "0"])["valid"][0])
        text = f"{shorter}.0"
        assert phones.parse([text], default_region="NZ")["e164"][0] == f"+{shorter}0"
        assert row(text, "NZ")["to"] in ("", f"+{shorter}")

    def test_calling_code_or_area_code(self) -> None:
        """Both readings valid: flagged, although phonenumbers has an answer."""
        text = digits(example("DE"))
        assert phones.parse([text], default_region="DE")["valid"][0]
        assert row(text, "DE")["problem"] == "AMBIGUOUS_READING"

    def test_second_number_as_extension(self) -> None:
        """phonenumbers reads the first of two numbers and calls the second an extension."""
        text = f"{example('ES').national_number},{example('ES').national_number + 1}"
        assert phones.parse([text], default_region="ES")["valid"][0]
        assert row(text, "ES")["problem"] == "MULTIPLE_NUMBERS"

    def test_note_becomes_digits(self) -> None:
        """phonenumbers reads the letters of a note as digits."""
        number = example("AT")
        text = f"0{number.national_number} (home)"
        assert phones.parse([text], default_region="AT")["e164"][0] == f"+{digits(number)}4663"
        assert row(text, "AT")["to"] == f"+{digits(number)}"

    def test_two_decimals_or_two_digits(self) -> None:
        """``.00`` may be a money format or the last pair of digits; where both are valid nobody is texted."""
        short = f"0{example('AT').national_number}"
        long = f"{short}00"
        assert phones.parse([short, long], default_region="AT")["valid"].all()
        assert row(f"{short}.00", "AT")["problem"] == "AMBIGUOUS_READING"

    def test_zero_that_belongs_to_the_number(self) -> None:
        """Italy keeps the (0) of a landline and drops that of a mobile; phonenumbers keeps it always."""
        mobile = str(example("IT").national_number)
        assert row(f"+39 (0){mobile}")["to"] in ("", f"+39{mobile}")
        assert row("+39 (0)6 1234 5678")["to"] == "+390612345678"

    def test_count_or_digits_behind(self) -> None:
        """``(2)`` may be the second of two or the last digit; a plan of free length takes both."""
        assert phones.parse(["0171 1234567 (2)"], default_region="DE")["valid"][0]
        assert row("0171 1234567 (2)", "DE")["problem"] == "AMBIGUOUS_READING"

    def test_float_ending_in_groups(self) -> None:
        """The .0 of a number in groups is no digit either."""
        assert phones.parse(["+49 171 1234567.0"])["e164"][0] == "+4917112345670"
        assert row("+49 171 1234567.0")["to"] == "+491711234567"

    def test_keypad_slip(self) -> None:
        """phonenumbers drops a lone letter; here O is a zero if the number without it is none."""
        text = f"0{example('AT').national_number}O7"
        assert phones.parse([text], default_region="AT")["valid"][0]
        assert row(text, "AT")["to"] == ""


def test_policies() -> None:
    """Landlines, other countries and fiction can be refused by the caller."""
    assert row(FR, landlines=False)["problem"] == "TYPE_NOT_ALLOWED"
    assert row(FR, "DE", region_mismatch="refuse")["problem"] == "REGION_MISMATCH"
    assert row(US, test_numbers="refuse")["problem"] == "TEST_NUMBER"


def test_the_default_is_no_country_to_differ_from() -> None:
    """REGION_MISMATCH compares with what stands beside a number, not with the default."""
    frame = phones.normalize([FR, FR], region=["DE", None], default_region="DE")
    assert frame["note"].str.contains("REGION_MISMATCH").tolist() == [True, False]


def test_columns_of_decimal_numbers() -> None:
    """Whole ones are read without their .0; fractions, negative and too large ones are not phone numbers."""
    numbers = pd.Series([14155550100.0, 4155550.01, -4155550100.0, 2.0**60, float("inf"), None])
    frame = phones.normalize(numbers, default_region="US").fillna("")
    assert frame["to"].tolist() == [US, "", "", "", "", ""]
    wrong = ["", "NOT_A_NUMBER", "NOT_A_NUMBER", "SCI_NOTATION_LOST_DIGITS", "NOT_A_NUMBER", "MISSING"]
    assert frame["problem"].tolist() == wrong
    assert phones.normalize(numbers.astype("Float64"), default_region="US").fillna("").equals(frame)


def test_default_region_serves_only_blanks() -> None:
    """A country that cannot be read is not replaced by the default."""
    numbers = ["0491 570 156"] * 3
    frame = phones.normalize(numbers, region=["AU", None, "Atlantis"], default_region="au")
    assert frame["to"].fillna("").tolist() == [AU, AU, ""]


@pytest.mark.parametrize(
    "options",
    [
        {"default_region": "Atlantis"},
        {"numbers": "lost_plus"},
        {"region": "US"},
        {"region": ["US"]},
        {"region": pd.Series(["US", "US"], index=[5, 6])},
    ],
    ids=str,
)
def test_wrong_calls_are_explained(options: dict[str, object]) -> None:
    """Trouble with the call is an error that says what was expected."""
    with pytest.raises(UsageError, match=r"must be a NumberOptions|is not a country|default_region=|same frame"):
        phones.normalize([US, US], **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "options",
    [
        {"repair": "lost_plus"},
        {"repair": {"everything"}},
        {"landlines": "no"},
        {"region_mismatch": "raise"},
        {"test_numbers": None},
        {"unreadable": "skip"},
        {"evidence": "much"},
    ],
    ids=str,
)
def test_a_reading_that_makes_no_sense_is_refused(options: dict[str, object]) -> None:
    with pytest.raises(UsageError, match=rf"{next(iter(options))}=.*(pass|say|True or False)"):
        phones.NumberOptions(**options)  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", ["object", "str", "string[pyarrow]", "category"])
def test_any_text_dtype_and_index(dtype: str) -> None:
    """Order, index (labels may repeat) and the caller's column stay; every column out is str."""
    numbers = pd.Series([US, None, "0491 570 156", US], index=["b", "a", "a", "c"], dtype=dtype)
    before = numbers.copy()
    frame = phones.normalize(numbers, region=pd.Series(["US", None, "AU", None], index=numbers.index, dtype=dtype))
    assert frame["to"].fillna("").tolist() == [US, "", AU, US]
    assert frame.index.equals(numbers.index)
    assert set(dtype_names(frame).values()) == {"str"}
    pd.testing.assert_series_equal(numbers, before)


@pytest.mark.parametrize("numbers", [[], [None], pd.Series([], dtype="float64"), pd.Series([None, None])], ids=repr)
def test_nothing_to_read(numbers: object) -> None:
    """Empty and all-missing columns have the same columns out."""
    frame = phones.normalize(numbers)
    assert frame.columns.tolist() == ["to", "region", "cc", "type", "problem", "note"]
    assert (frame["problem"] == "MISSING").all()
    assert len(frame) == len(numbers)  # type: ignore[arg-type]


def test_every_code_has_a_case() -> None:
    """Each problem and note occurs in this file's tables, or is set elsewhere by design."""
    elsewhere = {"DUPLICATE_OF", "REGION_MISMATCH", "TEST_NUMBER", "AMBIGUOUS_READING"}
    cases = {case[3] for case in REFUSED} | elsewhere
    notes = " ".join([case[4] for case in ACCEPTED] + [case[4] for case in OPTIONAL]).split()
    elsewhere = {"VOIP", "LEADING_ZERO_RESTORED", "OLD_PREFIX_DROPPED", "OVERSEAS_READ", "COLUMN_EVIDENCE"}
    known = re.findall(r"^([A-Z0-9_]+) {2,}.+$", phones.__doc__ or "", re.MULTILINE)
    assert cases | set(notes) | elsewhere == set(known)
