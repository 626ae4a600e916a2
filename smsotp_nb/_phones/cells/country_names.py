"""Names of countries in the official languages of the world (CLDR, from Babel), and other ways to write a country."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from functools import cache
from typing import Final

from babel import localedata
from babel.languages import get_official_languages

from ..countries import countries

# Of peoples with one country of their own; Korean, Congolese, Guinean, Dominican and Irish (also of GB) are not.
PEOPLES: Final = {
    "AF": "Afghan", "AL": "Albanian", "DZ": "Algerian", "US": "American", "AR": "Argentine Argentinian",
    "AM": "Armenian", "AU": "Australian", "AT": "Austrian", "AZ": "Azerbaijani", "BD": "Bangladeshi",
    "BY": "Belarusian", "BE": "Belgian", "BO": "Bolivian", "BR": "Brazilian", "GB": "British", "BG": "Bulgarian",
    "KH": "Cambodian", "CM": "Cameroonian", "CA": "Canadian", "CL": "Chilean", "CN": "Chinese", "CO": "Colombian",
    "HR": "Croatian", "CU": "Cuban", "CY": "Cypriot", "CZ": "Czech", "DK": "Danish", "NL": "Dutch", "EC": "Ecuadorian",
    "EG": "Egyptian", "EE": "Estonian", "ET": "Ethiopian", "FI": "Finnish", "FR": "French", "GE": "Georgian",
    "DE": "German", "GH": "Ghanaian", "GR": "Greek", "HU": "Hungarian", "IS": "Icelandic", "IN": "Indian",
    "ID": "Indonesian", "IR": "Iranian", "IQ": "Iraqi", "IL": "Israeli", "IT": "Italian", "JM": "Jamaican",
    "JP": "Japanese", "JO": "Jordanian", "KE": "Kenyan", "KW": "Kuwaiti", "LV": "Latvian", "LB": "Lebanese",
    "LT": "Lithuanian", "LU": "Luxembourgish", "MY": "Malaysian", "MT": "Maltese", "MX": "Mexican", "MA": "Moroccan",
    "NP": "Nepali Nepalese", "NG": "Nigerian", "NO": "Norwegian", "PK": "Pakistani", "PE": "Peruvian",
    "PH": "Filipino Philippine", "PL": "Polish", "PT": "Portuguese", "QA": "Qatari", "RO": "Romanian", "RU": "Russian",
    "SA": "Saudi", "SN": "Senegalese", "RS": "Serbian", "SG": "Singaporean", "SK": "Slovak", "SI": "Slovenian",
    "ZA": "South-African", "ES": "Spanish", "SE": "Swedish", "CH": "Swiss", "SY": "Syrian", "TW": "Taiwanese",
    "TH": "Thai", "TN": "Tunisian", "TR": "Turkish", "UG": "Ugandan", "UA": "Ukrainian", "UY": "Uruguayan",
    "VE": "Venezuelan", "VN": "Vietnamese",
}  # fmt: skip
FLAG: Final = re.compile("[\U0001f1e6-\U0001f1ff]{2}")
LOCALE: Final = re.compile(r"([a-z]{2,3})[-_](?:[A-Z][a-z]{3}[-_])?([A-Z]{2})")
IN_BRACKETS: Final = re.compile(r"\A([^()\[\]]++)[(\[]([^()\[\]]++)[)\]]")
BETWEEN: Final = re.compile(r"(?<!\s)\s+[-–—]\s|[/|,;:–—]")
FORMAL: Final = r"(?:(?:federal|arab|islamic|united) )?(?:republic|kingdom|commonwealth) of(?: the)?"
IN_FORM: Final = re.compile(rf"\A(?:{FORMAL} (.+)|(.+?)(?:, ?{FORMAL}| \((?:{FORMAL}|the)\)))", re.IGNORECASE)
CODE: Final = re.compile(r"\s(?=\+[0-9]{1,3}$)|(?<=^\+[0-9])\s|(?<=^\+[0-9]{2})\s|(?<=^\+[0-9]{3})\s")


@cache
def by_name() -> dict[str, str]:
    """Return the country of each name, folded; a name of two countries is none of either."""
    own = {folded(name): code for code, it in countries().items() for name in (it.name, *it.aliases)}
    own |= {folded(name): code for code, names in PEOPLES.items() for name in names.split()}
    found: dict[str, set[str]] = defaultdict(set)
    for language in sorted(_official()):
        for code, name in localedata.load(language).get("territories", {}).items():
            if code in countries():
                found[folded(name)].add(code)
    kinshasa = tuple(name for name, codes in found.items() if "CD" in codes)
    for name in [name for name, codes in found.items() if codes == {"CG"}]:
        if any(other.startswith(name) for other in kinshasa):
            del found[name]  # "Congo" is either of two
    names = {name: codes.pop() for name, codes in found.items() if len(codes) == 1 and len(name) > 1}
    return names | own


def _official() -> set[str]:
    spoken = {language for code in countries() for language in get_official_languages(code, de_facto=True)}
    return {language for it in spoken if localedata.exists(language := it.partition("_")[0])}


def folded(name: str) -> str:
    """Return letters only, in lower case, without accents: "St. Lucia" and "saint lucia" both become saintlucia.

    Example:
        >>> folded("The Bahamas"), folded("Österreich"), folded("日本")
        ('bahamas', 'osterreich', '日本')
    """
    text = unicodedata.normalize("NFKD", name).casefold().replace("&", " and ")
    words = re.findall(r"[^\W\d_]+", "".join(sign for sign in text if not unicodedata.combining(sign)))
    words = ["saint" if word == "st" else word for word in words]
    return "".join(words[1:] if words[:1] == ["the"] else words)


def named(word: str) -> str | None:
    """Return the country of a name, also of a formal one: ``Republic of India``, ``Ireland (Republic of)``.

    Example:
        >>> named("Republic of India"), named("Moldova, Republic of"), named("Kingdom of Congo")
        ('IN', 'MD', None)
    """
    formal = IN_FORM.fullmatch(word)
    return by_name().get(folded(word)) or (by_name().get(folded(formal[1] or formal[2])) if formal else None)


def flag(word: str) -> str | None:
    """Return the code that a flag spells."""
    if not FLAG.fullmatch(word):
        return None
    letters = "".join(chr(ord(sign) - 0x1F1E6 + ord("A")) for sign in word)
    return letters if letters in countries() else None


def region_of_locale(word: str) -> str | None:
    """Return the country of a locale that CLDR knows: ``en-US``, and not ``US-CA``, which is California.

    Example:
        >>> region_of_locale("en-US"), region_of_locale("de_AT"), region_of_locale("US-CA")
        ('US', 'AT', None)
    """
    found = LOCALE.fullmatch(word)
    if found is None or found[2] not in countries():
        return None
    spoken = (f"{found[1]}{script}_{found[2]}" for script in ("", "_Hans", "_Hant", "_Latn", "_Cyrl"))
    return found[2] if any(map(localedata.exists, spoken)) else None


def pieces(word: str) -> list[str]:
    """Return the ways in which a cell names one country twice: ``UK (+44)``, ``DE - Germany``; none if there is one.

    Example:
        >>> pieces("UK (+44)"), pieces("DE - Germany"), pieces("Guinea-Bissau")
        (['UK', '+44'], ['DE', 'Germany'], [])
    """
    if (at := FLAG.match(word)) and word[at.end() :].strip():
        return [at[0], word[at.end() :].strip()]
    if found := IN_BRACKETS.fullmatch(word):
        return [found[1].strip(), found[2].strip()]
    for between in (BETWEEN, CODE):
        parts = [part for piece in between.split(word) if (part := piece.strip())]
        if len(parts) == 2:
            return parts
    return []
