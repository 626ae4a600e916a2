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


def by_segment(sent: pd.DataFrame) -> pd.DataFrame:
    return cost.by(sent, "segment")


COST_CELLS: dict[str, Callable[[pd.DataFrame], object]] = {
    "share of total": lambda t: (t["cost"] / t["cost"].sum()).round(3),
    "share within currency": lambda t: t["cost"] / t.groupby("currency")["cost"].transform("sum"),
    "describe": lambda t: t.describe().loc["mean", "cost"],
    "dearest": lambda t: t.nlargest(3, "cost"),
    "cheapest": lambda t: t.nsmallest(2, "price_per_message"),
    "running total": lambda t: t["cost"].cumsum(),
    "sort": lambda t: t.sort_values("messages", ascending=False),
    "above the mean": lambda t: t[t["cost"] > t["cost"].mean()],
    "query": lambda t: t.query("currency == 'USD' and messages > 1"),
    "pivot": lambda t: t.pivot(index="iso", columns="currency", values="cost"),
    "pivot table": lambda t: t.pivot_table(index="country", columns="currency", values="cost", aggfunc="sum"),
    "merge": lambda t: t.merge(pd.DataFrame({"iso": ["US", "NA"], "continent": ["NAm", "Africa"]}), on="iso"),
    "set_index": lambda t: t.set_index(["currency", "iso"]).loc[("USD", "NA"), "cost"],
    "budget left": lambda t: 10.0 - t["cost"].sum(),
    "convert": lambda t: t["cost"] * t["currency"].map({"USD": 0.92, "CNY": 0.13}),
    "parts a message": lambda t: t["parts"] / t["messages"],
    "melt": lambda t: t.melt(id_vars=["currency", "iso"], value_vars=["cost", "messages"]),
    "corr": lambda t: t[["messages", "cost"]].astype("float64").corr(),
    "quantile": lambda t: t["cost"].quantile([0.5, 0.9]),
    "round": lambda t: t.round(2),
    "rank": lambda t: t["cost"].rank(ascending=False),
    "to_numpy": lambda t: t[["cost", "messages"]].to_numpy(dtype="float64").sum(),
    "concat": lambda t: pd.concat([t, t], keys=["this", "last"]),
    "total row": lambda t: pd.concat([t, t[["messages", "parts", "cost"]].sum().to_frame().T]),
    "to_dict": lambda t: t.to_dict("records"),
    "to_markdown-like text": lambda t: t.to_string(index=False),
    "html": lambda t: t.to_html(),
    "styled": lambda t: t.style.format({"cost": "{:.4f}", "share": "{:.1%}"}).bar(subset=["cost"]).to_html(),
    "bar chart": lambda t: t.plot.bar(x="iso", y="cost"),
    "bar chart of counts": lambda t: t.set_index("country")[["messages", "parts"]].plot.barh(),
    "pie": lambda t: t.set_index("iso")["share"].plot.pie(),
}

OF_COUNTRIES = {"pivot", "merge", "pivot table", "set_index", "bar chart", "melt", "pie", "bar chart of counts"}

RESULT_CELLS: dict[str, Callable[[pd.DataFrame], object]] = {
    "outcomes": lambda t: t["status"].value_counts(normalize=True),
    "problems": lambda t: t["problem"].value_counts(dropna=False),
    "failed rows": lambda t: t[t["status"].isin(["rejected", "in_doubt"])],
    "cost by segment": lambda t: t.groupby("segment")["price"].agg(["count", "sum", "mean", "max"]),
    "apply by group": lambda t: t.groupby("segment").apply(lambda g: g["price"].max(), include_groups=False),
    "accepted share": lambda t: (t["status"] == "accepted").groupby(t["segment"]).mean(),
    "crosstab": lambda t: pd.crosstab(t["iso"], t["status"]),
    "messages a day": lambda t: t.dropna(subset=["at"]).resample("D", on="at")["price"].sum(),
    "by hour": lambda t: t.groupby(t["at"].dt.hour)["parts"].sum(),
    "local time": lambda t: t["at"].dt.tz_localize("UTC").dt.tz_convert("Europe/Berlin").dt.strftime("%H:%M"),
    "cumulative cost": lambda t: t.sort_values("at")["price"].cumsum(),
    "estimate error": lambda t: (t["price"] - t["est_cost"]).abs().describe(),
    "parts differ": lambda t: t[t["parts"] != t["est_parts"]],
    "join own data": lambda t: t.merge(
        pd.DataFrame({"segment": ["a", "b"], "owner": ["x", "y"]}), on="segment", how="left"
    ),
    "dedupe": lambda t: t.drop_duplicates("to"),
    "price by spend": lambda t: t["price"] / t["spend"],
    "age groups": lambda t: t.groupby(pd.cut(t["age"], [0, 25, 99]), observed=True)["price"].sum(),
    "text search": lambda t: t[t["to"].str.startswith("+1202")],
    "describe all": lambda t: t.describe(include="all"),
    "sample": lambda t: t.sample(3, random_state=1),
    "histogram": lambda t: t["price"].plot.hist(bins=4),
    "line over time": lambda t: t.dropna(subset=["at"]).set_index("at")["price"].cumsum().plot(),
    "memory": lambda t: (t.memory_usage(deep=True) > 0).sum(),
}


# What `figure` says of each cell: of sums, shapes and drawn bars.
OF_COSTS: dict[str, object] = {
    "share of total": (4, 1.0),
    "share within currency": (4, 2.0),
    "describe": 0.0914,
    "dearest": (3, 10, 14.5568),
    "cheapest": (2, 10, 11.6196),
    "running total": (4, 1.0594),
    "sort": (4, 10, 21.7183),
    "above the mean": (2, 10, 10.0987),
    "query": (3, 10, 16.5139),
    "pivot": (4, 2, 0.3654),
    "pivot table": (4, 2, 0.3654),
    "merge": (2, 11, 11.6196),
    "set_index": 0.079,
    "budget left": 9.6346,
    "convert": (4, 0.2554),
    "parts a message": (4, 4.3333),
    "melt": (8, 4, 9.3654),
    "corr": (2, 2, 0.4144),
    "quantile": (2, 0.2292),
    "round": (4, 10, 21.72),
    "rank": (4, 10.0),
    "to_numpy": 9.3654,
    "concat": (8, 10, 43.4366),
    "total row": (5, 10, 41.0837),
    "to_dict": (4, ["cost", "country"]),
    "to_markdown-like text": (1, 1),
    "html": (1, 1),
    "styled": (1, 1),
    "bar chart": (4, 2.3654),
    "bar chart of counts": (8, 21.0),
    "pie": (4, 0.0),
}
OF_SEGMENTS: dict[str, object] = {
    "share of total": (5, 1.001),
    "share within currency": (5, 2.0),
    "describe": 0.0731,
    "dearest": (3, 9, 16.476),
    "cheapest": (2, 9, 11.9853),
    "running total": (5, 1.0559),
    "sort": (5, 9, 21.7826),
    "above the mean": (2, 9, 11.169),
    "query": (3, 9, 16.476),
    "budget left": 9.6346,
    "convert": (5, 0.2554),
    "parts a message": (5, 5.5),
    "corr": (2, 2, 3.7845),
    "quantile": (2, 0.1628),
    "round": (5, 9, 21.76),
    "rank": (5, 15.0),
    "to_numpy": 9.3654,
    "concat": (10, 9, 43.5651),
    "total row": (6, 9, 41.148),
    "to_dict": (5, ["cost", "currency"]),
    "to_markdown-like text": (0, 0),
    "html": (0, 0),
    "styled": (0, 0),
}
OF_RESULTS: dict[str, object] = {
    "outcomes": (4, 1.0),
    "problems": (1, 12.0),
    "failed rows": (2, 29, 505.0395),
    "cost by segment": (3, 4, 9.6925),
    "apply by group": (3, 0.2053),
    "accepted share": (3, 2.25),
    "crosstab": (4, 4, 12.0),
    "messages a day": (2, 0.3654),
    "by hour": (5, 10.0),
    "local time": (12, "23:00"),
    "cumulative cost": (12, 1.7218),
    "estimate error": (8, 7.0216),
    "parts differ": (1, 29, 250.0225),
    "join own data": (12, 30, 2896.7164),
    "dedupe": (12, 29, 2896.7164),
    "price by spend": (12, 0.0902),
    "age groups": (2, 0.3654),
    "text search": (12, 29, 2896.7164),
    "describe all": (11, 29, 1572.7792),
    "sample": (3, 29, 702.2132),
    "histogram": (4, 9.0696),
    "memory": 30.0,
    "line over time": (0, 1.7218),
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
    if isinstance(found, list):
        return len(found), sorted(found[0])[:2]
    return round(float(found), 4)  # type: ignore[arg-type]


@pytest.mark.parametrize("cell", COST_CELLS)
def test_a_next_cell_on_a_cost_table(billed: pd.DataFrame, cell: str) -> None:
    """Each runs, gives what it should, and leaves the table alone."""
    before = billed.copy(deep=True)
    assert figure(COST_CELLS[cell](billed)) == OF_COSTS[cell]
    pd.testing.assert_frame_equal(billed, before)
    plt.close("all")


@pytest.mark.parametrize("cell", [cell for cell in COST_CELLS if cell not in OF_COUNTRIES])
def test_a_next_cell_on_another_grouping(sent: pd.DataFrame, cell: str) -> None:
    """The cost of the caller's own column serves the same cells, where they do not speak of countries."""
    assert figure(COST_CELLS[cell](by_segment(sent).rename(columns={"segment": "iso"}))) == OF_SEGMENTS[cell]


@pytest.mark.parametrize("cell", RESULT_CELLS)
def test_a_next_cell_on_a_result_table(sent: pd.DataFrame, cell: str) -> None:
    """Each runs on labels that repeat, gives what it should, and leaves the table alone."""
    before = sent.copy(deep=True)
    assert figure(RESULT_CELLS[cell](sent)) == OF_RESULTS[cell]
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
