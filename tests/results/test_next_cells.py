"""What an analyst types next: everyday pandas works on result and cost tables as it stands, without a warning."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from support.dtypes import STR
from support.tables import table

from smsotp_nb import cost, results

mpl.use("Agg")


@pytest.fixture
def sent() -> pd.DataFrame:
    """A campaign of two currencies over two days, every state, the caller's own columns, labels that repeat."""
    rows = 12
    frame = table(
        rows,
        iso=["US", "NA", "CN", "DE"] * 3,
        status=["accepted"] * 9 + ["rejected", "in_doubt", "skipped"],
        price=[0.0075, 0.0395, 0.0511, 0.0771] * 2 + [0.015, None, None, None],
        parts=[1] * 8 + [2, None, None, None],
        est_cost=[0.0075, 0.0395, None, 0.07] * 3,
        currency=(["USD", "USD", "CNY", "USD"] * 3)[:9] + [None] * 3,
        at=pd.date_range("2026-11-12 22:00", periods=rows, freq="30min", tz="UTC").where(np.arange(rows) < 10),
    )
    own = {"segment": list("abc") * 4, "spend": np.linspace(1, 12, rows), "age": range(20, 20 + rows)}
    return frame.assign(**own).set_axis([0, 1, 2, 3] * 3)


@pytest.fixture
def billed(sent: pd.DataFrame) -> pd.DataFrame:
    """Its cost by country."""
    return cost.by_country(sent)


Cells = dict[str, tuple[Callable[[pd.DataFrame], object], object]]

# Each with what `figure` says of it: of sums, shapes and drawn bars.
COST_CELLS: Cells = {
    "share of total": (lambda t: (t["cost"] / t["cost"].sum()).round(3), (4, 1.0)),
    "share within currency": (lambda t: t["cost"] / t.groupby("currency")["cost"].transform("sum"), (4, 2.0)),
    "describe": (lambda t: t.describe().loc["mean", "cost"], 0.0914),
    "dearest": (lambda t: t.nlargest(3, "cost"), (3, 10, 14.5568)),
    "running total": (lambda t: t["cost"].cumsum(), (4, 1.0594)),
    "query": (lambda t: t.query("currency == 'USD' and messages > 1"), (3, 10, 16.5139)),
    "pivot table": (
        lambda t: t.pivot_table(index="country", columns="currency", values="cost", aggfunc="sum"),
        (4, 2, 0.3654),
    ),
    "merge": (
        lambda t: t.merge(pd.DataFrame({"iso": ["US", "NA"], "continent": ["NAm", "Africa"]}), on="iso"),
        (2, 11, 11.6196),
    ),
    "convert": (lambda t: t["cost"] * t["currency"].map({"USD": 0.92, "CNY": 0.13}), (4, 0.2554)),
    "corr": (lambda t: t[["messages", "cost"]].astype("float64").corr(), (2, 2, 0.4144)),
    "quantile": (lambda t: t["cost"].quantile([0.5, 0.9]), (2, 0.2292)),
    "round": (lambda t: t.round(2), (4, 10, 21.72)),
    "to_numpy": (lambda t: t[["cost", "messages"]].to_numpy(dtype="float64").sum(), 9.3654),
    "concat": (lambda t: pd.concat([t, t], keys=["this", "last"]), (8, 10, 43.4366)),
    "total row": (lambda t: pd.concat([t, t[["messages", "parts", "cost"]].sum().to_frame().T]), (5, 10, 41.0837)),
    "html": (lambda t: t.to_html(), (1, 1)),
    "bar chart": (lambda t: t.plot.bar(x="iso", y="cost"), (4, 2.3654)),
    "pie": (lambda t: t.set_index("iso")["share"].plot.pie(), (4, 0.0)),
}

RESULT_CELLS: Cells = {
    "outcomes": (lambda t: t["status"].value_counts(normalize=True), (4, 1.0)),
    "cost by segment": (lambda t: t.groupby("segment")["price"].agg(["count", "sum", "mean", "max"]), (3, 4, 9.6925)),
    "apply by group": (
        lambda t: t.groupby("segment").apply(lambda g: g["price"].max(), include_groups=False),
        (3, 0.2053),
    ),
    "crosstab": (lambda t: pd.crosstab(t["iso"], t["status"]), (4, 4, 12.0)),
    "messages a day": (lambda t: t.dropna(subset=["at"]).resample("D", on="at")["price"].sum(), (2, 0.3654)),
    "by hour": (lambda t: t.groupby(t["at"].dt.hour)["parts"].sum(), (5, 10.0)),
    "local time": (
        lambda t: t["at"].dt.tz_localize("UTC").dt.tz_convert("Europe/Berlin").dt.strftime("%H:%M"),
        (12, "23:00"),
    ),
    "estimate error": (lambda t: (t["price"] - t["est_cost"]).abs().describe(), (8, 7.0216)),
    "parts differ": (lambda t: t[t["parts"] != t["est_parts"]], (1, 29, 250.0225)),
    "join own data": (
        lambda t: t.merge(pd.DataFrame({"segment": ["a", "b"], "owner": ["x", "y"]}), on="segment", how="left"),
        (12, 30, 2896.7164),
    ),
    "dedupe": (lambda t: t.drop_duplicates("to"), (12, 29, 2896.7164)),
    "age groups": (lambda t: t.groupby(pd.cut(t["age"], [0, 25, 99]), observed=True)["price"].sum(), (2, 0.3654)),
    "text search": (lambda t: t[t["to"].str.startswith("+1202")], (12, 29, 2896.7164)),
    "describe all": (lambda t: t.describe(include="all"), (11, 29, 1572.7792)),
    "histogram": (lambda t: t["price"].plot.hist(bins=4), (4, 9.0696)),
    "line over time": (lambda t: t.dropna(subset=["at"]).set_index("at")["price"].cumsum().plot(), (0, 1.7218)),
}


def figure(found: object) -> object:
    """Boil the outcome of a cell down to what an analyst would read off: how much of it there is, and its sum."""
    if isinstance(found, mpl.axes.Axes):
        drawn = [(bar.get_width(), bar.get_height()) for bar in found.patches if hasattr(bar, "get_height")]
        heights = [float(y) for line in found.lines for y in line.get_ydata() if y == y]
        return len(found.patches), round(float(sum(map(sum, drawn))) + sum(heights), 4)
    if isinstance(found, pd.DataFrame):
        return (*found.shape, round(float(found.select_dtypes("number").astype("float64").sum().sum()), 4))
    if isinstance(found, pd.Series):
        numbers = pd.api.types.is_numeric_dtype(found.dtype)
        return len(found), round(float(found.astype("float64").sum()), 4) if numbers else str(found.iloc[0])
    if isinstance(found, str):
        return found.count("Namibia"), found.count("0.2632") + found.count("0.0790")
    return round(float(found), 4)  # type: ignore[arg-type]


@pytest.mark.parametrize("cell", COST_CELLS)
def test_a_next_cell_on_a_cost_table(billed: pd.DataFrame, cell: str) -> None:
    """Each runs, gives what it should, and leaves the table alone."""
    before = billed.copy(deep=True)
    act, expected = COST_CELLS[cell]
    assert figure(act(billed)) == expected
    pd.testing.assert_frame_equal(billed, before)
    plt.close("all")


@pytest.mark.parametrize("cell", RESULT_CELLS)
def test_a_next_cell_on_a_result_table(sent: pd.DataFrame, cell: str) -> None:
    """Each runs on labels that repeat, gives what it should, and leaves the table alone."""
    before = sent.copy(deep=True)
    act, expected = RESULT_CELLS[cell]
    assert figure(act(sent)) == expected
    pd.testing.assert_frame_equal(sent, before)
    plt.close("all")


def test_totals_of_the_cells_are_right(sent: pd.DataFrame, billed: pd.DataFrame) -> None:
    """The figures that an analyst would check by hand."""
    usd = billed[billed["currency"] == "USD"]
    assert usd["cost"].sum().round(6) == 0.2632
    assert billed.groupby("currency")["share"].sum().round(9).tolist() == [1.0, 1.0]
    assert sent.groupby("iso")["price"].sum().round(6).to_dict() == {
        "CN": 0.1022,
        "DE": 0.1542,
        "NA": 0.079,
        "US": 0.03,
    }


def test_a_cost_table_to_csv_and_back(billed: pd.DataFrame) -> None:
    """Plain pandas keeps a cost table, as long as Namibia is not read as missing."""
    back = pd.read_csv(io.StringIO(billed.to_csv(index=False)), keep_default_na=False)
    assert back["iso"].tolist() == billed["iso"].tolist()
    assert back["cost"].tolist() == billed["cost"].tolist()


def test_a_cost_table_to_excel_and_back(billed: pd.DataFrame, tmp_path: Path) -> None:
    """Numbers arrive in Excel as numbers."""
    results.write(billed, tmp_path / "cost.xlsx")
    back = pd.read_excel(tmp_path / "cost.xlsx", engine="openpyxl", keep_default_na=False)
    assert back["cost"].tolist() == billed["cost"].tolist()
    assert back["iso"].tolist() == billed["iso"].tolist()


def test_plain_excel_and_parquet_of_a_result_table(sent: pd.DataFrame, tmp_path: Path) -> None:
    """Parquet takes the table as it is; Excel once the time zone is off, which is Excel's own limit."""
    sent.to_parquet(tmp_path / "r.parquet")
    same_dtypes = STR == "str"  # pandas 2 reads text as text, of another dtype
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "r.parquet"), sent, check_dtype=same_dtypes)
    sent.assign(at=sent["at"].dt.tz_localize(None)).to_excel(tmp_path / "r.xlsx")


def test_a_saved_table_gives_the_same_cost(sent: pd.DataFrame, tmp_path: Path) -> None:
    """The cost next week, from the file, is the cost of today."""
    for ending in (".csv", ".xlsx", ".parquet"):
        back = results.read(results.write(sent, tmp_path / f"r{ending}"))
        pd.testing.assert_frame_equal(cost.by_country(back), cost.by_country(sent))
