"""Each method against published figures, a library, or a computation by another way."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy
from support.made_experiments import spent

from smsotp_nb._experiments import comparing, power, statistics
from smsotp_nb._experiments.assigning import drawn, evenly, uniform
from smsotp_nb._experiments.statistics import Amounts, Share
from smsotp_nb.errors import UsageError

# Newcombe 1998, Statistics in Medicine 17:873-890, table II, method 10: both samples, lower and upper limit.
NEWCOMBE = {
    "56/70 - 48/80": (56, 70, 48, 80, 0.0524, 0.3339),
    "9/10 - 3/10": (9, 10, 3, 10, 0.1705, 0.8090),
    "10/10 - 0/20": (10, 10, 0, 20, 0.6791, 1.0000),
    "6/7 - 2/7": (6, 7, 2, 7, 0.0582, 0.8062),
    "5/56 - 0/29": (5, 56, 0, 29, -0.0381, 0.1926),
    "0/10 - 0/20": (0, 10, 0, 20, -0.1611, 0.2775),
    "10/10 - 0/10": (10, 10, 0, 10, 0.6075, 1.0000),
}


@pytest.mark.parametrize(("one", "of", "other", "among", "low", "high"), NEWCOMBE.values(), ids=NEWCOMBE)
def test_newcombe_as_published(
    one: int, of: int, other: int, among: int, low: float, high: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statistics, "FEW", 0)
    found = statistics.compare_shares(Share(one, of), Share(other, among))
    assert (round(found.low, 4), round(found.high, 4)) == (low, high)


def covered(rate: float, held: int, base: float) -> float:
    """Return the exact coverage of the interval of shares with 1,000 people, by every count that can happen."""
    reached = range(held + 1)
    arms = np.arange(1000 - held + 1)
    chance = scipy.stats.binom.pmf(arms, 1000 - held, rate)
    likely = arms[chance > 1e-5]
    return sum(
        chance[one] * scipy.stats.binom.pmf(other, held, base)
        for one in likely.tolist()
        for other in reached
        if (found := statistics.compare_shares(Share(one, 1000 - held), Share(other, held))).low
        <= rate - base
        <= found.high
    )


@pytest.mark.slow
@pytest.mark.parametrize(("held", "base"), [(5, 0.02), (10, 0.01), (10, 0.3), (20, 0.005)])
def test_an_interval_covers_with_ten_of_a_thousand_held_out(held: int, base: float) -> None:
    """Newcombe's alone covers 90.4 to 92 % in these."""
    for times in (0.5, 1.5):
        assert covered(base * times, held, base) >= 0.93


def test_limits_of_equal_amounts_are_those_of_a_poisson_count() -> None:
    """Garwood (Biometrika 1936): of 10 events 4.80 to 18.39; of none 0 to 3.69, by what the other arm spends."""
    many = 10_000_000
    ten = statistics.mean_limits(Amounts(np.full(10, 5.0), many), np.full(10, 5.0), level=0.95)
    none = statistics.mean_limits(Amounts(np.zeros(0), many), np.full(10, 5.0), level=0.95)
    assert [round(limit * many / 5, 2) for limit in (*ten, *none)] == [4.80, 18.39, 0.0, 3.69]


# Held out of how many, the share that buys, how many times as many with the message, and the spread of what they spend.
FEW_HELD_OUT = {
    "2 buyers, harm": (100, 2000, 0.02, 0.5, 0.68),
    "2 buyers": (100, 2000, 0.02, 1.0, 0.68),
    "no buyer as a rule, harm": (10, 1000, 0.05, 0.5, 0.68),
    "3 buyers of ten, harm": (10, 1000, 0.3, 0.5, 0.68),
    "a long tail, harm": (100, 1000, 0.05, 0.5, 1.2),
    "18 buyers, nobody with the message": (3200, 64_000, 0.0057, 0.0, 0.68),
    "everybody buys": (10, 1000, 1.0, 1.0, 0.2),
}


@pytest.mark.parametrize(("held", "people", "share", "times", "spread"), FEW_HELD_OUT.values(), ids=FEW_HELD_OUT)
def test_the_interval_of_money_covers_with_few_held_out(
    held: int, people: int, share: float, times: float, spread: float
) -> None:
    """Drawn arms alone cover 33 to 83 % of the settings with harm, meaning 95 %."""
    random, mean = np.random.default_rng(13), float(np.exp(spread**2 / 2))

    def drawn(count: int, rate: float) -> Amounts:
        return Amounts(random.lognormal(0, spread, random.binomial(count, rate)), count)

    inside = []
    for _ in range(400):
        one = statistics.compare_with(np.zeros(0), drawn(people - held, share * times), drawn(held, share), level=0.95)
        inside.append(math.isnan(one.low) or one.low <= share * (times - 1) * mean <= one.high)
    assert np.mean(inside) >= 0.93


def test_refunds_are_taken_off() -> None:
    """Amounts on both sides of nothing: the interval is Welch's where there are many of them."""
    random = np.random.default_rng(14)
    one, other = random.normal(1, 10, 4000), random.normal(0, 10, 4000)
    found = statistics.compare_amounts(Amounts(one, 4000), Amounts(other, 4000), draws=200)
    welch = scipy.stats.ttest_ind(one, other, equal_var=False).confidence_interval()
    assert (found.low, found.high) == pytest.approx((welch.low, welch.high), abs=0.05)


def test_a_small_cell_is_tested_exactly() -> None:
    """Fisher's test below 20, the pooled z test from 20 on; each as scipy has it."""
    small = statistics.compare_shares(Share(12, 900), Share(3, 100))
    assert small.p == pytest.approx(scipy.stats.fisher_exact([[12, 888], [3, 97]]).pvalue)
    large = statistics.compare_shares(Share(300, 45_000), Share(60, 10_000))
    table = [[300, 44_700], [60, 9_940]]
    assert large.p == pytest.approx(scipy.stats.chi2_contingency(table, correction=False).pvalue)
    assert small.method.endswith("Fisher")
    assert large.method.endswith("pooled z")


def test_a_claim_about_money_needs_its_interval_and_its_p_value() -> None:
    """They come from two methods; where one of them leaves room for no effect, nothing is claimed."""
    random = np.random.default_rng(5)
    apart = 0
    for seed in range(120):
        arm = Amounts(spent(random.binomial(4000, 0.03), random), 4000)
        base = Amounts(spent(random.binomial(1000, 0.02), random), 1000)
        found = statistics.compare_amounts(arm, base, draws=400, seed=seed)
        settled = comparing.is_settled(found, found.p, 0.95)
        assert settled == ((found.low > 0 or found.high < 0) and found.p < 0.05)
        apart += settled
    assert 5 < apart < 115


def test_redrawn_arms_are_those_of_people_drawn_one_by_one() -> None:
    """The zeros as a number, and many small amounts by their sums, have the distribution of every person drawn."""
    random = np.random.default_rng(6)
    people, share, bought = 4000, 0.1, spent(300, random)
    everybody = np.concatenate([bought, np.zeros(people - len(bought))])
    base = random.random((4000, people)) < share
    arm = statistics.Sums((~base) @ everybody, (~base) @ everybody**2, (~base).sum(axis=1))
    slow = statistics.t_value(arm, statistics.Sums(base @ everybody, base @ everybody**2, base.sum(axis=1)))
    quick = statistics.redrawn(bought, people, share, 4000, 1)
    assert scipy.stats.ks_2samp(slow, quick).pvalue > 0.01


def test_small_amounts_drawn_by_their_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(7)
    bought = spent(3000, random)
    each = statistics.redrawn(bought, 100_000, 0.1, 4000, 1)
    monkeypatch.setattr(statistics, "MOST", 500)
    together = statistics.redrawn(bought, 100_000, 0.1, 4000, 2)
    assert scipy.stats.ks_2samp(each, together).pvalue > 0.01


def test_money_near_a_normal_curve_is_as_welch_has_it() -> None:
    """With many people and no tail the interval is Welch's."""
    random = np.random.default_rng(8)
    one, other = random.normal(50, 10, 2000), random.normal(48, 12, 1500)
    found = statistics.compare_amounts(Amounts(one, 2000), Amounts(other, 1500), draws=20_000)
    welch = scipy.stats.ttest_ind(one, other, equal_var=False).confidence_interval()
    assert found.low == pytest.approx(welch.low, abs=0.05)
    assert found.high == pytest.approx(welch.high, abs=0.05)


def test_nobody_bought_anything() -> None:
    """Without any amount there is neither interval nor p-value, and no error."""
    found = statistics.compare_amounts(Amounts(np.zeros(0), 100), Amounts(np.zeros(0), 100))
    assert np.isnan([found.low, found.high, found.p]).all()
    assert found.method == "nobody of either has any"


def test_where_everybody_has_the_same_nobody_is_not_said_of_them() -> None:
    found = statistics.compare_amounts(Amounts(np.full(50, 10.0), 50), Amounts(np.full(50, 10.0), 50))
    assert np.isnan([found.low, found.high, found.p]).all()
    assert found.method.startswith("everybody of an arm has the same")


def test_one_person_held_out_makes_no_error() -> None:
    found = statistics.compare_amounts(Amounts(np.array([3.0, 8.0]), 99), Amounts(np.array([5.0]), 1))
    assert found.low < found.difference < found.high


def test_sequential_interval_as_published() -> None:
    """A vector from the tests of GrowthBook's engine (gbstats, test_sequential_test_runs): a relative difference."""
    counts, sums, squares = np.array([3000, 3461]), np.array([1396.87, 2422.7]), np.array([52377.9767, 134698.29])
    (base, arm), variance = sums / counts, (squares - sums**2 / counts) / (counts - 1) / counts
    relative, error = (arm - base) / base, np.sqrt(variance[1] / base**2 + variance[0] * arm**2 / base**4)
    half = statistics.always(error, int(counts.sum()), tuned_for=1000)
    assert [round(relative - half, 5), round(relative + half, 5)] == [-0.55844, 1.56516]


def mixture(half: float, error: float, people: float, spread: float) -> float:
    """Return how far a mean that is ``half`` off is from what chance allows: the mixture over effects, integrated.

    Bets on every standardised effect, weighted by a normal curve of the standard deviation ``spread``; by Ville's
    inequality no more than one experiment in 1 / x ever reaches x.
    """
    drift = math.sqrt(people) * half / error
    peak, width = drift / (people + spread**-2), 1 / math.sqrt(people + spread**-2)

    def bet(effect: float) -> float:
        return math.exp(effect * drift - effect**2 * people / 2) * float(scipy.stats.norm.pdf(effect, scale=spread))

    return float(scipy.integrate.quad(bet, peak - 12 * width, peak + 12 * width, epsrel=1e-10)[0])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
@pytest.mark.parametrize("elapsed", [0.05, 0.5, 1.0])
def test_sequential_interval_is_where_the_mixture_reaches_its_limit(elapsed: float, level: float) -> None:
    """Integrated over all effects and solved by bisection, without the closed form."""
    error, tuned_for = 0.02, 4000.0
    people, spread = elapsed * tuned_for, statistics.rho(level, tuned_for)

    def beyond(half: float) -> float:
        return mixture(half, error, people, spread) * (1 - level) - 1

    found = statistics.always(error, people, tuned_for=tuned_for, level=level)
    assert found == pytest.approx(scipy.optimize.bisect(beyond, error, 6 * error), rel=1e-6)


@pytest.mark.slow
def test_sequential_interval_is_tightest_on_the_reading_day() -> None:
    """No other weight of the effects makes it noticeably narrower there, as it is tuned for."""

    def half(log_spread: float) -> float:
        spread = math.exp(log_spread)
        return float(scipy.optimize.bisect(lambda half: mixture(half, 1.0, 900, spread) * 0.05 - 1, 1.0, 8.0))

    least = scipy.optimize.minimize_scalar(half, bounds=(-6, 0), method="bounded").fun
    assert least <= statistics.always(1.0, 900, tuned_for=900) * (1 + 1e-9) <= least * 1.001


def test_price_is_fiellers_set() -> None:
    """Every price is kept that a normal test of ``cost = price x extra`` does not refuse, and no other."""
    z = scipy.stats.norm.ppf(0.975)
    for extra, error in ((60.0, 20.0), (60.0, 40.0), (-10.0, 20.0)):
        found = comparing.per_extra(300.0, extra - z * error, extra + z * error)
        tried = np.linspace(0.01, 500, 200_000)
        kept = tried[np.abs(300.0 - tried * extra) <= z * tried * error]
        assert found[0] == pytest.approx(kept.min(), abs=0.01)
        assert min(found[1], 500.0) == pytest.approx(kept.max(), abs=0.01)


@pytest.mark.parametrize(
    ("low", "high", "price"),
    [(20, 100, (3, 15)), (0, 100, (3, np.inf)), (-50, 100, (3, np.inf)), (-50, 0, (np.nan, np.nan))],
    ids=["more", "from nothing on", "perhaps nothing", "at most nothing"],
)
def test_no_price_is_negative(low: float, high: float, price: tuple[float, float]) -> None:
    assert np.array_equal(comparing.per_extra(300.0, low, high), price, equal_nan=True)


def test_ratio_is_the_chi_squared_test() -> None:
    found = statistics.check({"plain": 450, "emoji": 470, "holdout": 80}, {"plain": 45, "emoji": 45, "holdout": 10})
    assert found.p == pytest.approx(scipy.stats.chisquare([450, 470, 80], [450, 450, 100]).pvalue)


def test_ratio_of_nobody_is_not_checked() -> None:
    found = statistics.check({"plain": 0, "holdout": 0}, {"plain": 50, "holdout": 50})
    assert (found.is_red, found.sentence()) == (False, "Nobody has an arm, so there are no sizes to check.")


def test_holm_step_by_step() -> None:
    """By hand: 3 x 0.01, then 2 x 0.03, then the same again, because it must not sink."""
    assert comparing.holm([0.04, 0.01, 0.03]) == [0.06, 0.03, 0.06]
    assert comparing.holm([0.04]) == [0.04]


@pytest.mark.parametrize(("held", "people"), [(10, 417_000), (50, 150_000)], ids=["10 % held out", "half and half"])
def test_people_needed_as_known(held: int, people: int) -> None:
    """20 % more on 0.57 %, seen 8 times out of 10."""
    found = power.power(base={"bought": 0.0057}, weights={"plain": 100 - held, "holdout": held}, effect=0.2)
    assert found.frame.loc[0, "people"] == pytest.approx(people, rel=0.002)
    assert f"need about {people:,} people" in found.sentence()


def normal_power() -> Any:
    """It takes a second to import, and each process of a run imports this file."""
    from statsmodels.stats.power import NormalIndPower

    return NormalIndPower()


def effect_size(one: float, other: float) -> float:
    from statsmodels.stats.proportion import proportion_effectsize

    return float(proportion_effectsize(one, other))


def test_power_is_that_of_statsmodels() -> None:
    """Both ways: the effect of a size, and the size of an effect, for shares and for amounts."""
    weights = {"plain": 60, "holdout": 40}
    for base, size in ((0.3, 400), ((10.0, 8.0), 900)):
        effect = power.power(base={"x": base}, weights=weights, size=size).frame.loc[0, "effect"]
        share = isinstance(base, float)
        standard = effect_size(base * (1 + effect), base) if share else base[0] * effect / base[1]
        chance = normal_power().power(standard, size * 0.4, 0.05, ratio=1.5)
        assert chance == pytest.approx(0.8, abs=0.002)
        again = power.power(base={"x": base}, weights=weights, effect=effect).frame.loc[0, "people"]
        assert again == pytest.approx(size, abs=1)


def test_power_names_arms_that_stand_alike_once() -> None:
    found = power.power(base={"spend": (0.65, 12.0)}, weights={"plain": 45, "emoji": 45, "holdout": 10}, size=100_000)
    assert found.sentence().startswith('With 100,000 people, plain or emoji against the holdout shows 63% more "spend"')
    assert "0.65 per person" in found.card().text(200)


def test_power_counts_holm_in() -> None:
    """Three arms against the holdout: an effect is asked for that is seen at a third of the error."""
    weights = {"a": 20, "b": 20, "c": 20, "holdout": 40}
    found = power.power(base={"x": 0.3}, weights=weights, size=1200)
    effect = found.frame.loc[0, "effect"]
    chance = normal_power().power(effect_size(0.3 * (1 + effect), 0.3), 480, 0.05 / 3, ratio=0.5)
    assert chance == pytest.approx(0.8, abs=0.002)
    assert "3 comparisons share the error" in found.sentence()
    alone = power.power(base={"x": 0.3}, weights={"a": 20, "holdout": 40}, size=720)
    assert "share the error" not in alone.sentence()


def test_power_of_two_texts_without_a_holdout() -> None:
    found = power.power(base={"x": 0.3}, weights={"plain": 50, "emoji": 50}, effect=0.1)
    wanted = normal_power().solve_power(effect_size(0.33, 0.3), alpha=0.05, power=0.8)
    assert found.frame[["arm", "against", "held_out"]].values.tolist() == [["plain", "emoji", 0]]
    assert found.frame.loc[0, "people"] == pytest.approx(2 * wanted, abs=2)
    assert "plain against emoji needs about" in found.sentence()
    assert "the holdout" not in found.sentence()
    assert found.by_holdout.empty
    three = power.power(base={"x": 0.3}, weights={"a": 1, "b": 1, "c": 1}, effect=0.1)
    assert len(three.frame) == 3
    assert three.frame.loc[0, "people"] > 1.5 * found.frame.loc[0, "people"]


WRONG_POWER = {
    "neither": ({}, "one of size="),
    "both": ({"size": 100, "effect": 0.2}, "one of size="),
    "nothing to compare with": ({"size": 100, "weights": {"plain": 100}}, "one arm has nothing to be compared with"),
    "too few": ({"size": 5}, "too few to see any effect"),
    "too much": ({"effect": 400.0}, "more than everybody"),
    "no base": ({"effect": 0.2, "base": {"bought": 57}}, "base['bought'] must be a share between 0 and 1"),
    "certain": ({"effect": 0.2, "chance": 1.0}, "chance= must lie between 0 and 1"),
}


@pytest.mark.parametrize(("change", "words"), WRONG_POWER.values(), ids=WRONG_POWER)
def test_wrong_power_says_what_to_do(change: dict[str, Any], words: str) -> None:
    usual: dict[str, Any] = {"base": {"bought": 0.0057}, "weights": {"plain": 90, "holdout": 10}}
    with pytest.raises(UsageError, match=re.escape(words)):
        power.power(**usual | change)


def test_calibration_tells_a_good_method_from_a_bad_one() -> None:
    """On skewed money with a small holdout, redrawn arms keep their 5 % and Welch's t test does not."""
    random = np.random.default_rng(9)
    bought = pd.DataFrame({"customer": range(365), "spend": spent(365, random)})
    arguments = {"on": "customer", "people": 64_000, "weights": {"plain": 95, "holdout": 5}, "amount": "spend"}
    found = power.calibrate(bought, kinds={"bought": "binary", "spend": "amount"}, **arguments)
    rates = found.frame.set_index("outcome")
    assert rates["false_positives"].between(0.02, 0.07).all()
    assert rates["coverage"].between(0.93, 0.995).all()
    assert rates.loc["spend", "welch"] > 0.07
    assert "Split at random 1,000 times with 5% held out" in found.sentence()
    held = rates["low"].le(0.05) & rates["high"].ge(0.05)
    assert held.any()
    assert found.sentence().count(": as it should be.") == held.sum()


def test_calibration_needs_everybody() -> None:
    bought = pd.DataFrame({"customer": range(365)})
    with pytest.raises(UsageError, match="must count everybody: 365 units"):
        power.calibrate(bought, on="customer", people=300, kinds={"bought": "binary"}, weights={"a": 1, "b": 1})


def test_newcombes_interval_covers_where_buyers_are_rare() -> None:
    """A small version of benchmarks/experiments.py: 57 buyers in 10,000, one person in twenty held out."""
    random = np.random.default_rng(10)
    held = random.binomial(64_000, 0.05, 2000)
    texted, truth = 64_000 - held, 0.0057 * 0.2
    counts = zip(random.binomial(texted, 0.0057 * 1.2), texted, random.binomial(held, 0.0057), held, strict=True)
    found = [statistics.compare_shares(Share(one, of), Share(other, among)) for one, of, other, among in counts]
    assert 0.935 <= np.mean([one.low <= truth <= one.high for one in found]) <= 0.97


def test_a_look_stretches_the_usual_interval() -> None:
    """Each side of money by itself; a share by Newcombe at the level whose normal interval is as wide."""
    random = np.random.default_rng(11)
    arm, base = Amounts(spent(300, random), 40_000), Amounts(spent(20, random), 4_000)
    usual, look = (comparing.compare(arm, base, level=0.95, elapsed=elapsed) for elapsed in (None, 0.25))
    times = statistics.stretch(0.25)
    assert look.difference - look.low == pytest.approx(times * (usual.difference - usual.low))
    assert look.high - look.difference == pytest.approx(times * (usual.high - usual.difference))
    shares, level = (Share(300, 40_000), Share(20, 4_000)), 2 * scipy.stats.norm.cdf(1.959964 * times) - 1
    found = comparing.compare(*shares, level=0.95, elapsed=0.25)
    assert (found.low, found.high) == pytest.approx(statistics.compare_shares(*shares, level=level)[1:3], rel=1e-5)
    assert np.isnan(found.p)


@pytest.mark.parametrize("elapsed", [0.0, 1e-4, 0.01, 0.02])
def test_a_look_in_the_first_hours_says_next_to_nothing(elapsed: float) -> None:
    """However wide it has to be, it is an interval that holds the difference."""
    found = comparing.compare(Share(30, 400), Share(5, 100), level=0.95, elapsed=elapsed)
    assert -1 <= found.low < 0 < found.difference < found.high <= 1
    assert not comparing.is_settled(found, math.nan, 0.95)


def test_intervals_of_arms_against_each_other_share_the_error() -> None:
    """Three arms are three pairs: each interval is Newcombe's at 98.33 %, each p-value Holm's."""
    measured = {arm: Share(count, 10_000) for arm, count in {"a": 60, "b": 75, "c": 100}.items()}
    found = comparing.pairs("x", measured, level=0.95, elapsed=None)
    assert [(row["arm"], row["against"]) for row in found] == [("a", "b"), ("a", "c"), ("b", "c")]
    alone = statistics.compare_shares(measured["a"], measured["b"], level=1 - 0.05 / 3)
    assert (found[0]["low"], found[0]["high"]) == (alone.low, alone.high)
    assert [row["p_holm"] for row in found] == comparing.holm([row["p"] for row in found])


# -- the draw ----------------------------------------------------------------------------------------------


MANY = [f"customer {n}" for n in range(20_000)]


def test_the_draw_is_that_of_every_machine() -> None:
    """Fixed values: another machine, or a later version, that draws otherwise would mix the arms."""
    place = uniform(["ann", "ben", "7"], b"autumn\0")
    assert place.round(9).tolist() == [0.731897494, 0.549848308, 0.156192364]


def test_shares_are_those_declared_and_experiments_know_nothing_of_each_other() -> None:
    weights = {"plain": 45, "emoji": 45, "holdout": 10}
    one, other = (drawn(uniform(MANY, key), weights) for key in (b"one", b"other"))
    assert np.abs(np.bincount(one) / len(MANY) - [0.45, 0.45, 0.1]).max() < 0.01
    assert abs(np.corrcoef(one == 2, other == 2)[0, 1]) < 0.025


def test_the_order_in_which_arms_are_declared_changes_nothing() -> None:
    place = uniform(MANY[:100], b"key")
    there, back = {"a": 20, "b": 30, "holdout": 50}, {"holdout": 50, "b": 30, "a": 20}
    assert [[*there][code] for code in drawn(place, there)] == [[*back][code] for code in drawn(place, back)]


def test_strata_are_divided_evenly_and_every_unit_keeps_its_chance() -> None:
    strata = [f"s{n % 7}" for n in range(700)]
    weights = {"a": 50, "holdout": 50}
    sizes = pd.crosstab(strata, drawn(evenly(uniform(MANY[:700], b"k"), strata, b"k"), weights))
    assert (sizes.to_numpy() == 50).all()
    lone = [
        drawn(evenly(uniform(["ann"], key), ["s"], key), weights)[0] for key in map(str.encode, map(str, range(400)))
    ]
    assert 160 < sum(lone) < 240
