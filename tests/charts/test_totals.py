"""Every figure of every picture and card, added up, is what the rows of the ledger and the sandbox's account say."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import phonenumbers
import pytest
from support.figures import Shown, amounts, figures, micros
from support.ledger_rows import by_row
from support.phone_lists import example
from support.sending import sent
from support.tables import whole

from smsotp_nb import Ledger, RequestOptions, Sandbox, charts, cost, plan

FEW = ["US", "DE", "FR", "IN", "NG"]
MANY = [region for region in sorted(phonenumbers.SUPPORTED_REGIONS) if region not in ("BV", "TF")][::5][:40]
ELSEWHERE, ANOTHER_PART, REFUSED = "+19075550101", "+19075550102", "+19075550116"
BALANCE = 1000
ACCEPTED = 2  # its number in the ledger's file
ROWS = f"""
SELECT c.name, co.iso, k.encoding, r.parts, r.price, a.currency, k.est_parts, k.est_parts * d.rate, d.currency
FROM recipient r JOIN campaign c ON c.id=r.campaign JOIN chunk k ON k.campaign=r.campaign AND k.chunk=r.chunk
JOIN destination d ON d.id=r.destination JOIN attempt a ON a.id=r.attempt LEFT JOIN country co ON co.id=r.country
WHERE r.own_state={ACCEPTED}
"""
NAMES = ["campaign", "iso", "encoding", "parts", "price", "currency", "est_parts", "est_cost", "est_currency"]
Sums = Counter[str]


@dataclass
class Made:
    """Campaigns that were sent: what `send` returned, their ledger, and its rows as SQLite has them."""

    results: pd.DataFrame
    ledger: Ledger
    rows: pd.DataFrame

    @property
    def sources(self) -> list[pd.DataFrame | Ledger]:
        return [self.results, self.ledger, cost.spending(self.ledger)]

    def billed(self, what: str = "price", **where: object) -> Sums:
        """Add up a column of the rows that have a price, by currency."""
        rows = self.rows[self.rows["price"].notna() & self.rows["currency"].notna()]
        for name, value in where.items():
            rows = rows[rows[name] == value]
        return Counter({str(currency): int(part[what].sum()) for currency, part in rows.groupby("currency")})

    def estimated(self) -> Sums:
        rows = self.rows[self.rows["price"].notna() & self.rows["est_cost"].notna()]
        rows = rows[rows["currency"] == rows["est_currency"]]
        return Counter({str(currency): int(part["est_cost"].sum()) for currency, part in rows.groupby("currency")})


def rates(regions: list[str]) -> pd.DataFrame | None:
    """Return rates for some regions: now those of the sandbox, now others."""
    prices = [f"0.0{at % 7 + 1}75" for at in range(len(regions))]
    return pd.DataFrame({"iso": regions, "currency": "USD", "price": prices}) if regions else None


def campaign(box: Sandbox, ledger: Ledger, regions: list[str], known: list[str], *special: str) -> pd.DataFrame:
    """Send one of two texts, the longer one in UCS-2, to a number of each region and to special ones."""
    phones = [example(region) for region in regions] + list(special)
    names = ["Ann" if at % 2 else "Łucja " * 15 for at in range(len(phones))]
    people = pd.DataFrame({"phone": phones, "name": names})
    made = plan(
        people,
        "Hi {name}",
        to="phone",
        campaign=f"after {len(ledger.campaigns())} others",
        signature="Acme",
        rates=rates(known),
        requests=RequestOptions(chunk_size=3),
    )
    with box.client() as client:
        table = sent(made, client, ledger)
        return table.join(ledger.record(made.campaign, client).details.set_axis(table.index))


# -- what was sent -----------------------------------------------------------------------------------------------------


def all_rates(box: Sandbox, ledger: Ledger) -> list[pd.DataFrame]:
    return [campaign(box, ledger, FEW, FEW)]


def some_rates(box: Sandbox, ledger: Ledger) -> list[pd.DataFrame]:
    return [campaign(box, ledger, MANY, [*MANY[::6], "US"], ELSEWHERE), campaign(box, ledger, FEW, FEW[:2])]


def no_rates(box: Sandbox, ledger: Ledger) -> list[pd.DataFrame]:
    return [campaign(box, ledger, FEW, [])]


def one_country(box: Sandbox, ledger: Ledger) -> list[pd.DataFrame]:
    return [campaign(box, ledger, ["FR"], ["FR"])]


def forty_countries(box: Sandbox, ledger: Ledger) -> list[pd.DataFrame]:
    return [campaign(box, ledger, MANY, MANY)]


def two_currencies(box: Sandbox, ledger: Ledger) -> list[pd.DataFrame]:
    """The estimate of what is billed in CNY is in USD: it is none."""
    with Sandbox(variant="cn", balance=BALANCE) as other:
        return [campaign(box, ledger, FEW, FEW), campaign(other, ledger, ["CN", *FEW], FEW)]


def some_in_doubt(box: Sandbox, ledger: Ledger) -> list[pd.DataFrame]:
    box.fault("drop_after", next=1)
    box.fault("fewer", next=1)
    return [campaign(box, ledger, MANY[:20], MANY[:12])]


def some_refused(box: Sandbox, ledger: Ledger) -> list[pd.DataFrame]:
    return [campaign(box, ledger, FEW, FEW[:3], REFUSED, ELSEWHERE, ANOTHER_PART)]


def all_refused(box: Sandbox, ledger: Ledger) -> list[pd.DataFrame]:
    return [campaign(box, ledger, [], ["US"], REFUSED)]


def without_parts(box: Sandbox, ledger: Ledger) -> list[pd.DataFrame]:
    return changed("UPDATE recipient SET parts=NULL", all_rates(box, ledger), ledger)


def some_unpriced(box: Sandbox, ledger: Ledger) -> list[pd.DataFrame]:
    """Prices that could not be read, of some and of all messages of a country."""
    made = [campaign(box, ledger, FEW, FEW[:3], ELSEWHERE, ANOTHER_PART)]
    few = "country IN (SELECT id FROM country WHERE iso='NG') OR number=19075550102"
    return changed(f"UPDATE recipient SET price=NULL WHERE {few}", made, ledger)


def some_of_no_currency(box: Sandbox, ledger: Ledger) -> list[pd.DataFrame]:
    made = [campaign(box, ledger, MANY[:12], MANY[:5])]
    return changed("UPDATE attempt SET currency=NULL WHERE chunk=1", made, ledger)


def changed(sql: str, made: list[pd.DataFrame], ledger: Ledger) -> list[pd.DataFrame]:
    """Change what a single campaign recorded, as no sandbox answers, and read its results again."""
    by_row(ledger.path)
    with ledger._store.writing() as connection:
        connection.execute(sql)
    recorded = whole(ledger.record(str(made[0]["campaign"].iloc[0])))
    return [recorded.reset_index(drop=True)]


STORIES: list[Callable[[Sandbox, Ledger], list[pd.DataFrame]]] = [
    all_rates, some_rates, no_rates, one_country, forty_countries, two_currencies, some_in_doubt, some_refused,
    all_refused, without_parts, some_unpriced, some_of_no_currency,
]  # fmt: skip


@pytest.fixture(scope="module", params=STORIES, ids=lambda story: story.__name__)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    """One story, and its rows read with SQLite alone from a copy of the ledger."""
    folder = tmp_path_factory.mktemp("totals")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_STATE_HOME", str(folder))  # what a ledger notes beside it is not kept for the user
        with Sandbox(balance=BALANCE) as box, Ledger(folder / "ledger.sqlite", create=True) as ledger:
            results = pd.concat(request.param(box, ledger), ignore_index=True)
            rows = raw(ledger.path, folder / "copy.sqlite")
            if request.param not in (some_unpriced, some_of_no_currency):
                accounted(rows, results, box.inbox, BALANCE - box.balance)
            yield Made(results, ledger, rows)


def raw(ledger: Path, copy: Path) -> pd.DataFrame:
    """Return the accepted rows of a ledger, one by one, as SQLite has them."""
    with closing(sqlite3.connect(ledger)) as original, closing(sqlite3.connect(copy)) as target:
        original.backup(target)
    by_row(copy)
    with closing(sqlite3.connect(copy)) as connection:
        return pd.DataFrame(connection.execute(ROWS).fetchall(), columns=NAMES).astype({"currency": "object"})


def accounted(rows: pd.DataFrame, results: pd.DataFrame, inbox: pd.DataFrame, spent: Decimal) -> None:
    """The account paid for what the ledger calls accepted, and for what is in doubt: nothing else."""
    mine = results[results["currency"].eq("USD").fillna(False) & results["status"].eq("accepted")]
    doubtful = inbox[~inbox["id"].isin(mine["id"])]
    assert set(doubtful["to"]) <= set(results.loc[results["status"] == "in_doubt", "to"])
    billed = int(rows.loc[rows["currency"] == "USD", "price"].sum())
    in_doubt = sum(Decimal(str(price)) for price in doubtful["price"])
    assert spent == Decimal(billed) / 1_000_000 + in_doubt


# -- what is shown -----------------------------------------------------------------------------------------------------


def shown(card: Any) -> Shown:
    """Return a card as it is read; its text form shows the same figures."""
    page = Shown(card.html())
    assert figures(card.text()) == figures(page.text)
    return page


def drawn(page: Shown) -> tuple[Sums, Sums]:
    """Add up what a picture's bars and the line below them say was billed, and estimated."""
    found = re.findall(r"([A-Z]{3} [\d,.]+) (billed|estimated)", page.text)
    if found:
        return amounts(one for one, what in found if what == "billed"), amounts(
            one for one, what in found if what == "estimated"
        )
    billed = amounts(re.findall("together (.*)", page.text))
    for head, *rows in page.tables:
        billed[head[1].rpartition(", ")[2]] += sum(micros(row[1]) for row in rows)
    return billed, Counter()


def said(card: Any) -> tuple[Sums, int]:
    """Return the amounts and messages of a picture's line of state."""
    return amounts([card.state]), sum(int(count.replace(",", "")) for count in re.findall(r"([\d,]+) mess", card.state))


@pytest.mark.sampled(2)
def test_every_picture_of_amounts_adds_up(made: Made) -> None:
    """Bars, their rest, and the line above them: all that was billed, and every estimate it is compared with."""
    compared = made.estimated()
    for source in made.sources:
        for top in (3, 100):
            pictures = {
                "country": charts.by_country(source, top=top),
                "month": charts.by_month(source, top=top),
                "campaign": charts.bars(cost.by(source, "campaign"), top=top),
                "total": charts.bars(cost.summary(source)),
                "compared": charts.bars(cost.compare(source, ["campaign", "iso"]), top=top),
                "compared total": charts.bars(cost.compare(source, [])),
            }
            for name, card in pictures.items():
                billed, estimated = drawn(shown(card))
                assert +billed == +made.billed(), name
                assert said(card) == (+made.billed(), len(made.rows)), name
                pair = name.startswith("compared") or (name == "country" and compared)
                assert +estimated == (+compared if pair else Counter()), name


@pytest.mark.sampled(2)
def test_every_country_is_drawn_with_what_it_was_billed(made: Made) -> None:
    """No billed country is unknown, whether or not there was a rate for it."""
    for source in made.sources:
        for table in (cost.compare(source), cost.by_country(source)):
            page = shown(charts.bars(table, top=100))
            for _, *rows in page.tables:
                for country, bar in rows:
                    iso = country.rpartition(" ")[2]
                    billed = made.billed(iso=iso)
                    assert ("unknown" in bar) == (not any(billed.values()) or country == "unknown") or len(billed) > 1
    isos = {
        row[0].rpartition(" ")[2]
        for _, *rows in shown(charts.bars(cost.compare(made.results), top=100)).tables
        for row in rows
    }
    assert isos == set(made.rows["iso"])


@pytest.mark.sampled(2)
def test_every_picture_of_counts_adds_up(made: Made) -> None:
    """Messages and parts, with the rest; no parts at all are said, and drawn as none."""
    for source in made.sources:
        for value, total in (("messages", len(made.rows)), ("parts", int(made.rows["parts"].sum()))):
            for table in (cost.by(source, "encoding"), cost.by_country(source)):
                card = charts.bars(table, value=value, top=4)  # type: ignore[arg-type]
                page = shown(card)
                cells = [row[1].partition(", ")[0] for _, *rows in page.tables for row in rows]
                assert sum(map(micros, [*cells, *re.findall("together (.*)", page.text)])) == total
                assert ("No parts yet" in page.text) == (value == "parts" and not total and len(made.rows) > 0)


@pytest.mark.sampled(2)
def test_the_card_adds_up(made: Made) -> None:
    """Its figures, its line, the countries with their rest, and the row of totals."""
    for source in made.sources:
        card = cost.card(source)
        page = shown(card)
        assert amounts([card.state]) == +made.billed()
        assert amounts(cell for cell in page.text.splitlines() if cell.endswith(tuple("0123456789"))) >= made.billed()
        sums = Counter[str]()
        for head, *rows in page.tables:
            currency = head[3].partition(", ")[2]
            body, total = (rows[:-1], rows[-1]) if len(rows) > 1 else (rows, rows[0])
            for at in (1, 2, 3):
                assert sum(micros(row[at]) for row in body) == micros(total[at])
            sums[currency] += micros(total[3])
            sums["messages"] += micros(total[1])
            sums["parts"] += micros(total[2])
        counts = Counter(messages=len(made.rows), parts=int(made.rows["parts"].sum()))
        assert +sums == +(made.billed() + counts)


@pytest.mark.sampled(2)
def test_the_report_adds_up(made: Made, tmp_path: Path) -> None:
    """Each table of the page and of the workbook: its lines make its total, and that is everything billed."""
    for source in made.sources:
        page = Shown(charts.report(source, tmp_path / "spent.html", overwrite=True).read_text(encoding="utf-8"))
        adds_up(page.tables, made)
        file = charts.report(source, tmp_path / "spent.xlsx", overwrite=True)
        sheets = pd.read_excel(file, sheet_name=None, engine="openpyxl", keep_default_na=False)
        assert ("Totals" in sheets) == (len(made.rows) > 0)
        for name, sheet in sheets.items():
            for currency, part in sheet.groupby("Currency") if name not in ("Report", "Totals") else ():
                head = [column if column != "Billed" else f"Billed, {currency}" for column in part.columns[1:]]
                cells = [["" if cell == "" else written(cell) for cell in row[1:]] for row in part.to_numpy().tolist()]
                adds_up([[head, *cells]], made)


def written(cell: object) -> str:
    return f"{cell:.6f}" if isinstance(cell, float) else str(cell)


def adds_up(tables: list[list[list[str]]], made: Made) -> None:
    everything = made.billed()
    for head, *rows in tables:
        body, total = rows[:-1], dict(zip(head, rows[-1], strict=True))
        assert total.pop(head[0]) == "Total"
        for at, name in enumerate(head):
            if name in ("Messages", "Parts", "Estimated") or name.startswith("Billed"):
                assert sum(micros(row[at]) for row in body) == micros(total[name]), name
        currency = next(name for name in head if name.startswith("Billed")).partition(", ")[2]
        assert micros(next(said for name, said in total.items() if name.startswith("Billed"))) == everything[currency]
        mine = made.rows[made.rows["currency"].eq(currency).fillna(False)]
        assert micros(total["Messages"]) == (len(mine) or len(made.rows) - made.rows["currency"].notna().sum())
        if "Estimated" in total:
            assert micros(total["Estimated"]) == made.estimated()[currency]
