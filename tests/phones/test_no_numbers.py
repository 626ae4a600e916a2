"""What looks like a number and is none: dates, times of day, marks of footnotes, items of lists."""

from __future__ import annotations

import pandas as pd
import pytest

from smsotp_nb import phones

REGIONS = ["US", "DE", "GB", "FR", "AT", "IT", "AU", "BR", "IN", "JP", "NL", "FI", "MX", "NZ", "AR", "NC", "HK", None]
MOMENTS = (
    """
%Y-%m-%d %I:%M %p|%d.%m.%y %H:%M Uhr|%d.%m.%y %H:%M|%d.%m.%Y %H:%M|%d/%m/%Y %H:%M:%S
%m/%d/%Y %I:%M:%S %p|%m/%d/%y %I:%M %p|%Y-%m-%dT%H:%M:%SZ|%Y-%m-%dT%H:%M:%S+02:00
%Y-%m-%d %H:%M:%S.123|%Y/%m/%d %H:%M|%Y.%m.%d %H:%M|%d-%m-%Y %H:%M|%d-%m-%y|%d.%m.%y|%d/%m/%y
%d/%m/%Y|%Y-%m-%d|%d.%m.%Y|%H:%M:%S|%H:%M|%Hh%M|le %d/%m/%Y à %Hh%M|%d %b %Y %H:%M
%b %d, %Y %I:%M %p|%a %b %d %H:%M:%S %Y|%d. %B %Y %H:%M Uhr|%A, %d.%m.%Y %H.%M Uhr
am %d.%m.%Y um %H:%M Uhr|%d.%m. %H:%M Uhr|%d.%m.%Y, %H:%M|%d.%m.%Y kl. %H.%M
%d/%m/%Y a las %H:%M|%d/%m/%Y às %Hh%M|%d/%m/%Y alle %H:%M|%d-%m-%Y om %H:%M uur
%d.%m.%Y godz. %H:%M|%d.%m.%Y klo %H.%M|%d.%m.%Y saat %H:%M|%d.%m.%Y в %H:%M|%Y年%m月%d日 %H:%M
%I:%M %p %d/%m/%Y|%H:%M %d.%m.%Y|%Y-%m-%d (%H:%M)|%d.%m.%Y/%H:%M|%Y%m%d %H:%M|%Y-%m-%d %H.%M.%S
%Y-%m-%d_%H-%M-%S|%d.%m.%Y (%a)|[%d.%m.%Y %H:%M]|%d.%m.%Y - %d.%m.%Y|%d.%m.%Y bis %d.%m.%Y
%d/%m/%Y %I.%M.%S p. m.|%d.%m.%Y %H Uhr|%d-%b-%Y|%m/%Y|%y-%m-%d %H:%M|%y/%m/%d
""".strip()
    .replace("\n", "|")
    .split("|")
)
DAYS = [pd.Timestamp("2014-04-12 16:04:05"), pd.Timestamp("1987-12-03 09:30:59"), pd.Timestamp("2001-10-21 21:16:07")]
ARABIC = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")


@pytest.mark.parametrize("form", MOMENTS)
def test_dates_and_times_are_no_numbers(form: str) -> None:
    texts = [day.strftime(form) for day in DAYS]
    cells = pd.DataFrame(
        [(text, region) for written in texts for text in (written, written.translate(ARABIC)) for region in REGIONS],
        columns=["cell", "country"],
    )
    found = pd.concat(
        [
            phones.normalize(cells["cell"], region=cells["country"]),
            phones.normalize(pd.concat([cells["cell"]] * 4), region=pd.concat([cells["country"]] * 4)),
        ]
    )
    assert found["to"].dropna().tolist() == []


@pytest.mark.parametrize(
    "form", ["%Y-%m-%d %I:%M %p", "%d.%m.%y %H:%M Uhr", "%d.%m.%y", "%Y-%m-%d %H:%M:%S", "%d/%m/%Y"]
)
@pytest.mark.parametrize("default_region", ["US", "DE", "IT"])
def test_a_column_of_times_is_no_column_of_phones(form: str, default_region: str) -> None:
    start = pd.Timestamp("2014-04-12 16:04")
    times = [(start + pd.Timedelta(hours=31 * number, minutes=7 * number)).strftime(form) for number in range(60)]
    found = phones.find_columns(pd.DataFrame({"id": range(60), "when": times}), default_region=default_region)
    assert found.phone is None


NUMBER_BESIDE = [
    ("0491 570 156 (after 6:30 pm)", "AU", "+61491570156"),
    ("030 12-12-2012", "DE", "+493012122012"),
    ("+687 25.12.24", None, "+687251224"),
    ("01.99.00.12.34", "FR", "+33199001234"),
]


@pytest.mark.parametrize(("cell", "region", "number"), NUMBER_BESIDE)
def test_a_number_that_resembles_a_date_or_has_a_time_beside_it_is_read(
    cell: str, region: str | None, number: str
) -> None:
    assert phones.normalize([cell], default_region=region)["to"].tolist() == [number]


@pytest.mark.parametrize("mark", [*"²³¹⁰⁴₂₃①②⑨⓪❶㊀½Ⅱ", " ²", "1⁾", " 1)"])
@pytest.mark.parametrize("region", ["DE", "NZ", "AT", "FI", "IT", "US", "ID", "BR"])
def test_the_mark_of_a_footnote_is_no_digit(mark: str, region: str) -> None:
    number = {"DE": "0171 1234567", "NZ": "021 123 456", "AT": "0664 1234567", "FI": "041 2345678"}.get(region)
    number = (
        number or {"IT": "320 1234567", "US": "(202) 555-0123", "ID": "0812 345 678", "BR": "(11) 96123-4567"}[region]
    )
    alone = phones.normalize([number], default_region=region)["to"].iloc[0]
    for cells in ([number + mark], [number + mark] * 300):
        found = phones.normalize(cells, default_region=region)["to"].dropna()
        assert set(found) <= {alone}


ITEMS = [
    ("1) 0171 1234567", "DE", "+491711234567", "LABEL_REMOVED"),
    ("2) +44 7700 900123", None, None, None),
    ("0664 1234567-6#", "AT", "+436641234567", "EXTENSION_DROPPED"),
    ("0664 1234567 ~6", "AT", "+436641234567", "EXTENSION_DROPPED"),
    ("0664 1234567 ～6", "AT", "+436641234567", "DIGITS_TRANSLATED EXTENSION_DROPPED"),
    ("090~1234~5678", "JP", "+819012345678", None),
]


@pytest.mark.parametrize(("cell", "region", "number", "note"), ITEMS)
def test_an_item_of_a_list_and_an_extension_are_taken_off(
    cell: str, region: str | None, number: str | None, note: str | None
) -> None:
    for cells in ([cell], [cell] * 300):
        found = phones.normalize(cells, default_region=region).iloc[0]
        assert (found["to"] if number else None) == number
        assert (found["note"] if note else None) == note
