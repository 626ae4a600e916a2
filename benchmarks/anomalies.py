"""Plant what goes wrong in made histories: when `cost.anomalies` finds it, and how many false alarms it has.

    python benchmarks/anomalies.py [histories]

Each history has a seed of its own. A planted change is found if a finding of its kind and country that no campaign
explains begins at most a week of sending days before it or at any time since. Its delay is the number of sending days
after the first one of the change, until the history that ends there shows it. Of histories without a change, the share
that shows any finding is printed beside ``chance``, which says how large it may be. Exits with 1 if a kind of history
without a change has more false alarms than chance explains, or a planted change is found in less than nine of ten.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from smsotp_nb.cost import anomalies

sys.path.insert(0, str(Path(__file__).parents[1] / "sample_data"))
from made_year import Planted, made_year

CHANCE = 0.05
RATES = {"US": 0.0075, "DE": 0.0713, "IN": 0.0031}
DELAYS = (0, 1, 2, 3, 4, 5, 6, 8, 10, 14, 20, 30, 45, 60)
Random = np.random.Generator


class Case(NamedTuple):
    """A history, the day on which something changes, and what a finding of it says."""

    sums: pd.DataFrame
    since: pd.Timestamp
    what: str
    iso: str | None


def sums(
    days: pd.DatetimeIndex, messages: Any, *, parts: Any = 1.0, price: Any = 0.0075, refused: Any = 0.0, **more: Any
) -> pd.DataFrame:
    """Return sums of days: how many messages were asked for, parts a message, price of a part, share refused."""
    asked = np.broadcast_to(np.asarray(messages, float), len(days)).round()
    lost = np.minimum((asked * refused).round(), asked)
    billed = ((asked - lost) * parts).round()
    table = {
        "day": days, "currency": "USD", "iso": "US", "campaign": "news", "messages": asked - lost, "parts": billed,
        "cost": (billed * price).round(6), "unpriced": 0, "refused": lost,
    }  # fmt: skip
    made = pd.DataFrame(table | more)
    return made[(made["messages"] + made["refused"] > 0).to_numpy()]


def daily(random: Random, many: int = 240, usual: float = 400.0) -> tuple[pd.DatetimeIndex, Any]:
    days = pd.date_range("2026-01-01", periods=many)
    weekend = np.where(days.day_of_week >= 5, 0.4, 1.0)
    return days, random.poisson(usual * weekend * np.exp(random.normal(0, 0.15, many)))


def countries(random: Random, many: int = 240, **of_germany: Any) -> pd.DataFrame:
    """Return three countries of a daily sender, of which one has something of its own."""
    return pd.concat(
        sums(*daily(random, many), iso=iso, **({"price": price} | (of_germany if iso == "DE" else {})))
        for iso, price in RATES.items()
    )


def from_place(many: int, place: int, usual: float, then: Any) -> Any:
    return np.where(np.arange(many) >= place, then, usual)


def sparse(random: Random, many: int, of: tuple[int, int] = (120, 180)) -> tuple[int, pd.DatetimeIndex]:
    place = int(random.integers(*of)) if many > 100 else int(random.integers(many // 2, many * 3 // 4))
    return place, pd.date_range("2026-01-01", periods=many)


def senders(freq: str, what: str, many: int = 48) -> Callable[[Random], Case]:
    """Return a case of a weekly or monthly sender, with campaigns of ten thousand."""

    def made(random: Random) -> Case:
        days = pd.date_range("2024-01-02", periods=many, freq=freq)
        place = int(random.integers(many // 2, many - 10))
        size = random.poisson(10_000 * np.exp(random.normal(0, 0.1, many)))
        usual: dict[str, Any] = {
            "price": 0.0075 * np.exp(random.normal(0, 0.003, many)), "parts": 1 + random.beta(2, 40, many),
            "refused": random.beta(2, 200, many),
        }  # fmt: skip
        later = np.arange(many) >= place
        if what == "price":
            usual["price"] = usual["price"] * np.where(later, 2, 1)
        elif what == "parts":
            usual["parts"] = usual["parts"] + np.where(later, 2, 0)
        else:
            usual["refused"] = usual["refused"] + np.where(later, 0.33, 0)
        return Case(sums(days, size, **usual), days[place], what, "US")

    return made


def price_of_germany(factor: Callable[[Any], Any], noise: float = 0.004) -> Callable[[Random], Case]:
    """Return a case of a daily sender whose price of a part changes by a factor of the days since."""

    def made(random: Random) -> Case:
        place, days = sparse(random, 240)
        since = np.maximum(np.arange(240) - place, -1)
        price = 0.0713 * np.exp(random.normal(0, noise, 240)) * np.where(since >= 0, factor(np.maximum(since, 0)), 1)
        return Case(countries(random, price=price), days[place], "price", "DE")

    return made


def one_day(random: Random) -> Case:
    place, days = sparse(random, 240)
    price = 0.0713 * np.exp(random.normal(0, 0.004, 240)) * np.where(np.arange(240) == place, 2, 1)
    return Case(countries(random, price=price), days[place], "price", "DE")


def few_messages(random: Random) -> Case:
    place, days = sparse(random, 240)
    price = 0.0713 * np.where(np.arange(240) >= place, 1.5, 1)
    return Case(sums(days, random.poisson(12, 240), price=price, iso="DE"), days[place], "price", "DE")


def parts_of_germany(more: Callable[[Any], Any]) -> Callable[[Random], Case]:
    def made(random: Random) -> Case:
        place, days = sparse(random, 240)
        since = np.arange(240) - place
        parts = 1.05 + random.gamma(4, 0.01, 240) + np.where(since >= 0, more(np.maximum(since, 0)), 0)
        return Case(countries(random, parts=parts), days[place], "parts", "DE")

    return made


def refusals_of_germany(share: float) -> Callable[[Random], Case]:
    def made(random: Random) -> Case:
        place, days = sparse(random, 240)
        refused = random.beta(2, 150, 240) + np.where(np.arange(240) >= place, share, 0)
        return Case(countries(random, refused=refused), days[place], "refusals", "DE")

    return made


def above_the_estimate(random: Random) -> Case:
    place, days = sparse(random, 240)
    table = sums(*daily(random), parts=1 + random.gamma(4, 0.02, 240))
    later = (table["day"] >= days[place]).to_numpy()
    estimated = table["parts"].where(~later, (table["parts"] / 1.15).round())
    more = {"compared": table["messages"], "compared_parts": table["parts"], "est_parts": estimated,
            "compared_cost": table["cost"], "est_cost": table["cost"]}  # fmt: skip
    return Case(table.assign(**more), days[place], "estimate", "US")


def pumped(then: Callable[[Any], Any], *, unseen: bool = False) -> Callable[[Random], Case]:
    """Return passcodes to a small country, or to one never seen, whose number rises; others go on as before."""

    def made(random: Random) -> Case:
        place, days = sparse(random, 240)
        since = np.arange(240) - place
        usual = 0.0 if unseen else 100.0
        many = random.poisson(np.where(since >= 0, then(np.maximum(since, 0)), usual))
        passcodes = {"kind": "passcode", "campaign": "passcodes"}
        tables: list[pd.DataFrame] = [
            sums(days, many, price=0.075, iso="KZ", **passcodes), sums(*daily(random), **passcodes),
            countries(random).assign(kind="campaign"),
        ]  # fmt: skip
        table = pd.concat(tables)
        return Case(table, days[place], "spend", "KZ")

    return made


def twice_as_many(random: Random) -> Case:
    place, days = sparse(random, 240)
    table = countries(random)
    later = ((table["day"] >= days[place]) & (table["iso"] == "US")).to_numpy()
    for name in ("messages", "parts", "cost"):
        table[name] = table[name].where(~later, (table[name] * 2.5).round())
    return Case(table, days[place], "spend", "US")


def of_year(what: Any, size: float, iso: str | None) -> Callable[[Random], Case]:
    def made(random: Random) -> Case:
        since = pd.Timestamp("2026-06-01") + pd.Timedelta(days=int(random.integers(0, 90)))
        wrong = Planted(what, f"{since:%Y-%m-%d}", size, iso)
        return Case(made_year(int(random.integers(10**6)), planted=[wrong], days=330).spending, since, what, iso)

    return made


PLANTED: dict[str, Callable[[Random], Case]] = {
    "weekly sender, the price doubles": senders("7D", "price"),
    "weekly sender, two parts more": senders("7D", "parts"),
    "weekly sender, a third more is refused": senders("7D", "refusals"),
    "monthly sender, the price doubles": senders("MS", "price", 36),
    "daily sender, a price rises by 5%": price_of_germany(lambda _: 1.05),
    "a price falls by 20%": price_of_germany(lambda _: 0.8),
    "a price creeps up by 1% a week": price_of_germany(lambda since: 1.01 ** (since / 7)),
    "a price doubles for one day": one_day,
    "12 messages a day, the price rises by half": few_messages,
    "parts billed are 15% above the estimate": above_the_estimate,
    "half of the messages take a part more": parts_of_germany(lambda _: 0.5),
    "parts creep up by 2% a week": parts_of_germany(lambda since: 1.02 ** (since / 7) - 1),
    "refusals in one country, 1.3% to 6%": refusals_of_germany(0.047),
    "passcodes pumped, USD 7.50 a day to 1,507": pumped(lambda _: 20_000),
    "passcodes pumped, 8% more each day": pumped(lambda since: 100 * np.minimum(1.08**since, 200)),
    "passcodes to a country never seen": pumped(lambda _: 2_000, unseen=True),
    "messages of one country become 2.5 times as many": twice_as_many,
    "made year, price in Germany +20%": of_year("price", 1.2, "DE"),
    "made year, all reminders take a part more": of_year("parts", 1.0, None),
    "made year, 5% more of India are refused": of_year("refusals", 0.05, "IN"),
}


# -- nothing planted


def skewed_messages(random: Random) -> pd.DataFrame:
    """Few messages a day; of a hundred three take ten parts."""
    days, many = daily(random, usual=15)
    parts = [float(1 + 9 * random.binomial(max(int(n), 1), 0.03) / max(int(n), 1)) for n in many]
    return sums(days, many, parts=np.array(parts))


def skewed_days(random: Random) -> pd.DataFrame:
    days, many = daily(random)
    return sums(days, many, parts=random.geometric(0.9, len(days)).astype(float))


def skewed_weeks(random: Random) -> pd.DataFrame:
    days = pd.date_range("2024-01-02", periods=100, freq="7D")
    return sums(days, random.lognormal(8, 1, 100), parts=1 + random.gamma(0.2, 1.0, 100))


def skewed_spend(random: Random) -> pd.DataFrame:
    days = pd.date_range("2026-01-01", periods=240)
    return sums(days, random.lognormal(5, 1.2, 240))


def pareto_spend(random: Random) -> pd.DataFrame:
    days = pd.date_range("2026-01-01", periods=240)
    return sums(days, 50 * (1 + random.pareto(2.0, 240)))


def landlines(random: Random) -> pd.DataFrame:
    """Three of a hundred numbers cost 40 % more; 5 to 500 messages a day."""
    days = pd.date_range("2026-01-01", periods=240)
    many = random.integers(5, 500, 240)
    return sums(days, many, price=0.0713 * (1 + 0.4 * random.binomial(many, 0.03) / many))


def skewed_refusals(random: Random) -> pd.DataFrame:
    days, many = daily(random, usual=100)
    return sums(days, many, refused=random.beta(0.3, 20, len(days)))


def growing(random: Random) -> pd.DataFrame:
    days, many = daily(random)
    return sums(days, many * 1.05 ** (np.arange(len(days)) / 30))


def twice_a_month(random: Random) -> pd.DataFrame:
    """Newsletters on the 1st and 15th beside a few messages a day."""
    days, many = daily(random, usual=60)
    return sums(days, many + np.where(np.isin(days.day, (1, 15)), random.poisson(5_000, len(days)), 0))


def fewer_messages(random: Random) -> pd.DataFrame:
    """A thousand messages a day become five, of which each has its own parts and refusals."""
    days = pd.date_range("2026-01-01", periods=240)
    many = np.maximum(random.poisson(np.where(np.arange(240) < 150, 1000, 5)), 1)
    parts = np.array([float(random.geometric(0.8, n).mean()) for n in many])
    return sums(days, many, parts=parts, refused=random.binomial(many, 0.02) / many)


def many_countries(random: Random) -> pd.DataFrame:
    days = pd.date_range("2026-01-01", periods=240)
    names = ("NA", "FJ", "IS", "MT", "CY", "LU", "EE", "LV", "UY", "PY")
    small = [sums(days, random.poisson(random.exponential(1.0), 240), iso=iso) for iso in names]
    return pd.concat([countries(random), *small])


QUIET: dict[str, Callable[[Random], pd.DataFrame]] = {
    "made year": lambda random: made_year(int(random.integers(10**6))).spending,
    "three countries, as they are": countries,
    "3% of few messages take ten parts": skewed_messages,
    "one day of ten has longer texts": skewed_days,
    "weekly, sizes and parts skewed": skewed_weeks,
    "spend log-normal, deviation 1.2": skewed_spend,
    "spend of Pareto's tail, 2.0": pareto_spend,
    "landlines among 5 to 500 messages": landlines,
    "refusals skewed": skewed_refusals,
    "5% more each month": growing,
    "newsletters on the 1st and 15th": twice_a_month,
    "a thousand messages a day become five": fewer_messages,
    "ten more countries of few messages": many_countries,
}


def found(case: Case, until: pd.Timestamp) -> bool:
    table = anomalies(case.sums[(case.sums["day"] <= until).to_numpy()], chance=CHANCE).found
    days = case.sums.loc[case.sums["day"] < case.since, "day"].drop_duplicates().nlargest(7)
    mine = table[((table["what"] == case.what) & ~table["explained"] & (table["since"] >= days.min())).to_numpy()]
    return bool(len(mine)) and (case.iso is None or bool((mine["iso"] == case.iso).any()))


def delay(case: Case) -> int | None:
    """Return after how many more sending days the change is found, at most; None if it is not found."""
    days = case.sums.loc[case.sums["day"] >= case.since, "day"].drop_duplicates().sort_values().to_list()
    for at in DELAYS:
        if found(case, days[min(at, len(days) - 1)]):
            return at
        if at >= len(days) - 1:
            break
    return None


def alarms_of(many: int) -> bool:
    wrong = False
    print(f"{'nothing planted':50} {'alarms':>6}  of {many} histories; chance {CHANCE:.0%}")
    for number, (name, quiet) in enumerate(QUIET.items()):
        made = [
            anomalies(quiet(np.random.default_rng((100 + number, seed))), chance=CHANCE).found for seed in range(many)
        ]
        open_ = [table[~table["explained"]] for table in made]
        alarms = sum(len(table) > 0 for table in open_)
        of = pd.concat(open_)["what"].value_counts().to_dict()
        limit = CHANCE * many
        wrong |= alarms > limit + 3 * np.sqrt(limit)
        print(f"{name:50} {alarms / (many):6.1%}  {of or ''}", flush=True)
    return wrong


def main() -> None:
    many = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    wrong = alarms_of(2 * many)
    print(f"{'planted':50} {'found':>6} {'delay':>6} {'9 of 10':>8}  sending days")
    for number, (name, make) in enumerate(PLANTED.items()):
        delays = [delay(make(np.random.default_rng((number, seed)))) for seed in range(many)]
        known = sorted(late for late in delays if late is not None)
        rate = len(known) / many
        wrong |= rate < 0.9
        told = (
            (str(known[len(known) // 2]), str(known[min(len(known) * 9 // 10, len(known) - 1)]))
            if known
            else ("-", "-")
        )
        print(f"{name:50} {rate:6.0%} {told[0]:>6} {told[1]:>8}", flush=True)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
