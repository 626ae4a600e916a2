"""Countries as people write them, each read as the one that it is, or not at all."""

from __future__ import annotations

import pandas as pd
import pytest

from smsotp_nb import phones, rates

READ = {
    "DE": "de|DEU|Germany|Deutschland|Allemagne|Alemania|Германия|ドイツ|독일|德国|ألمانيا|Tyskland|"
    "Niemcy|Saksa|\U0001f1e9\U0001f1ea|"
    "\U0001f1e9\U0001f1ea Germany|DE - Germany|Germany, DE|Germany (DE)|German|de-DE|D",
    "US": "USA|U.S.A.|United States (US)|en-US|États-Unis|Vereinigte Staaten|EE. UU.|American|United States of America",
    "GB": "UK|U.K.|UK (+44)|+44 UK|Great Britain|Vereinigtes Königreich|Scotland|Northern Ireland|British",
    "CN": "中国|zh-Hans-CN|zh_CN|Китай|China",
    "JP": "日本|Japon|Япония",
    "CI": "Côte d’Ivoire|Cote d'Ivoire|Ivory Coast",
    "TR": "Türkiye|Turkey|Türkei|Turquie",
    "KR": "Republic of Korea|Korea (South)|대한민국|South Korea",
    "CA": "Canada (+1)|fr-CA|Kanada",
    "CH": "Schweiz|Suisse|Svizzera|Swiss",
    "NE": "Niger",
    "NG": "Nigeria",
    "CD": "DR Congo|Congo - Kinshasa",
    "NA": "NA|Namibia",
    "IN": "भारत|Indien|Inde",
    "AT": "Österreich|Autriche|de_AT|Austria",
}
NOT_READ = (
    "Congo",
    "US-CA",
    "GB-ENG",
    "Germany / France",
    "Ireland (Northern)",
    "Canada (+44)",
    "Atlantis",
    "Ann",
    "Korean",
)


@pytest.mark.parametrize("iso", READ)
def test_a_country_is_read_however_it_is_written(iso: str) -> None:
    """Each spelling lets a national number of that country be read, or is said to be unknown."""
    spellings = READ[iso].split("|")
    judged = phones.normalize(["0123456789"] * len(spellings), region=pd.Series(spellings))
    unread = [word for word, problem in zip(spellings, judged["problem"], strict=True) if problem == "REGION_UNKNOWN"]
    assert not unread
    table = pd.DataFrame({"iso": spellings, "currency": "USD", "price": "0.01", "type": ""})
    assert [rates.check(table.iloc[[row]])["iso"].item() for row in range(len(table))] == [iso] * len(table)


@pytest.mark.parametrize("word", NOT_READ)
def test_what_may_be_two_countries_is_none(word: str) -> None:
    judged = phones.normalize(["0123456789"], region=pd.Series([word]))
    assert judged["problem"].tolist() == ["REGION_UNKNOWN"]


NUMBERS = [f"+1202555{n:04d}" for n in range(100, 160)]


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        (("Phone", "Mobile"), "Mobile"),
        (("Telefon", "Handy"), "Handy"),
        (("Emergency mobile", "Phone"), "Phone"),
        (("Manager cell", "Cell"), "Cell"),
        (("Notfall Telefon", "Telefon"), "Telefon"),
        (("Teléfono fijo", "Teléfono móvil"), "Teléfono móvil"),
        (("Assistant phone", "Home phone"), "Home phone"),
    ],
)
def test_the_mobile_number_of_the_person_is_found_before_others(names: tuple[str, str], chosen: str) -> None:
    for order in (names, names[::-1]):
        frame = pd.DataFrame(dict.fromkeys(order, NUMBERS))
        assert phones.find_columns(frame).phone == chosen


def test_a_national_list_without_a_country_has_a_column_of_numbers() -> None:
    """Its rows say that the country is missing; without the column nobody could say so."""
    frame = pd.DataFrame({"name": ["Ann"] * 50, "phone": [f"0151 234567{n:02d}" for n in range(50)]})
    assert phones.find_columns(frame).phone == "phone"
    assert set(phones.normalize(frame["phone"])["problem"]) == {"REGION_MISSING"}
