"""An experiment as a person declares it: who is texted what, who is not, and on which day it is read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

import pandas as pd

from .. import _cards as cards
from .._calling import in_our_words, not_callable, not_frame, refuse
from .._frames import AnyFrame, as_pandas
from .._ledger import Ledger, LedgerOrPath, experiments, opened, purging, read_from
from .._moments import Now, microseconds, utc_now
from .._phones import NumberOptions
from .._policy import Policy, Window, written
from ..columns import require
from ..errors import UsageError
from . import assigning, joining, power, reading
from .assigning import Split
from .declaring import declare, not_a_stratum
from .power import TIMES, Calibration, Power
from .reading import Reading
from .statistics import distributions


class Experiment(cards.WithCard):
    """Two texts or more, and people who get none: what did the campaign bring, and what did it cost?

    Declare it before anybody is texted. `assign` draws the arms and records them in the ledger; each arm is then
    planned and sent as a campaign of its own, called ``experiment/arm``. No campaign whose name begins so texts the
    holdout, whatever cell or process sends it: those rows are ``skipped`` with the problem HELD_OUT. Nor does the
    campaign of one arm text the people of another: these are ``skipped`` with OTHER_ARM. `read` compares the arms on
    the reading day.

    Args:
        name: of the experiment, without a slash.
        arms: the share of each arm in per cent, such as ``{"plain": 45, "emoji": 45}``.
        holdout: the share in per cent that is not texted; with the arms it makes 100.
        unit: the column by which outcomes are counted, such as a customer's id. All numbers of a unit are in one arm.
        outcomes: what is measured: ``"binary"`` (whether it happened) or ``"amount"`` (how much) for each outcome.
        read_after: how long after its message an outcome counts, such as ``"14d"``. The reading day is when that is
            over for everybody.
        strata: columns whose values are divided evenly over the arms.
        seed: another draw of the same experiment's name. The arms depend on name, seed and units only, so another
            machine draws the same.
        holdout_until: a moment until which the holdout is texted by no campaign at all, whatever it is called, but for
            transactional ones.
        ledger: the Ledger or its path. By default this user's one ledger.
        now: the clock, a function that returns an aware datetime.

    Raises:
        UsageError: shares that do not add up to 100, a name with a slash, or something else; lists all of it.

    Example:
        >>> import tempfile, pathlib, smsotp_nb as sms
        >>> ledger = sms.Ledger(pathlib.Path(tempfile.mkdtemp()) / "ledger.sqlite", create=True)
        >>> test = Experiment("autumn", arms={"plain": 45, "emoji": 45}, holdout=10, unit="customer", read_after="14d",
        ...                   outcomes={"bought": "binary"}, ledger=ledger)
        >>> people = pd.DataFrame({"customer": range(90), "phone": [f"+1 202 555 01{n:02}" for n in range(90)]})
        >>> [arm for arm, part in test.assign(people, to="phone").texted()]
        ['plain', 'emoji']
    """

    @in_our_words
    def __init__(
        self,
        name: str,
        *,
        arms: Mapping[str, float],
        holdout: float = 0,
        unit: str,
        outcomes: Mapping[str, Literal["binary", "amount"]],
        read_after: Window,
        strata: str | Sequence[str] = (),
        seed: str = "",
        holdout_until: datetime | None = None,
        ledger: LedgerOrPath | None = None,
        now: Now = utc_now,
    ) -> None:
        refuse(not_callable("now", now, example="lambda: datetime.now(UTC)", none=False))
        self._declared = declare(
            name,
            arms=arms,
            holdout=holdout,
            unit=unit,
            outcomes=outcomes,
            read_after=read_after,
            strata=strata,
            seed=seed,
            holdout_until=holdout_until,
        )
        self._ledger, self._now = ledger, now

    @property
    def name(self) -> str:
        """The experiment's name."""
        return self._declared.name

    @in_our_words
    def power(
        self,
        *,
        base: Mapping[str, Any],
        size: int | None = None,
        effect: float | None = None,
        chance: float = 0.8,
        level: float = 0.95,
    ) -> Power:
        """Say what the experiment can show: the effect seen with these people, or the people that an effect needs.

        Args:
            base: what happens without a message: a share for a binary outcome, such as 0.0057; the mean and the
                standard deviation per person for an amount, such as (0.7, 12.4). Without a holdout, what happens with
                the weaker arm.
            size: how many people there are.
            effect: how much more is looked for, relative to the base: 0.2 is 20% more.
            chance: of seeing the effect if it is there.
            level: of the interval that is to leave out nothing.

        Raises:
            UsageError: neither or both of ``size`` and ``effect``; there is one arm and no holdout; or a base is not
                one.
        """
        shares = self._declared.weights
        return power.power(base=base, weights=shares, size=size, effect=effect, chance=chance, level=level)

    @in_our_words
    def calibrate(
        self,
        outcomes: AnyFrame,
        *,
        people: int,
        on: str | None = None,
        amount: str | None = None,
        splits: int = TIMES,
        level: float = 0.95,
        seed: int = 0,
    ) -> Calibration:
        """Try the method on outcomes of an earlier time without an experiment: how often does it find an effect?

        Args:
            outcomes: a row for each outcome of that time.
            people: how many units there were, with those who have no outcome.
            on: the column with the unit; by default it is called as in the list.
            amount: the column with the amount.
            splits: how often they are split at random.
            level: of the intervals.
            seed: of the splits.

        Raises:
            UsageError: there are fewer people than units with an outcome, or a column is missing.
        """
        asked = self._declared
        return power.calibrate(
            outcomes,
            on=asked.unit if on is None else on,
            people=people,
            kinds=asked.outcomes,
            weights=asked.weights,
            amount=amount,
            splits=splits,
            level=level,
            seed=seed,
        )

    @in_our_words
    def assign(
        self,
        frame: AnyFrame,
        *,
        to: str | list[str],
        region: str | None = None,
        default_region: str | None = None,
        policy: Policy | None = None,
        exclude: Any = None,
        numbers: NumberOptions = NumberOptions(),
    ) -> Split:
        """Draw the arms of a list and record them. The same list again, in any order, has the same arms.

        Only people who could be texted are drawn: rows with an unusable number, duplicates, people who opted out, are
        left out, capped or held out by another experiment have no arm. Who has one keeps it, whatever
        becomes of them later; more people may be added.

        Args:
            frame: one row per person. It is not changed.
            to: name of the column with the phone numbers, or of several: as for `plan`.
            region: the column of each number's country.
            default_region: two-letter country code for rows without a country.
            policy: as for `plan`: who is capped now is not drawn.
            exclude: as for `plan`.
            numbers: as for `plan`.

        Returns:
            The Split: the frame with its arms, their sizes, the sample-ratio check, and other experiments on the same
            people.

        Raises:
            UsageError: the experiment is recorded with other rules (a changed seed, say), a unit is missing or would be
                in two arms, or a column is not there. Nothing was recorded.
        """
        distributions()  # before anything is recorded
        people = as_pandas(frame)
        refuse(not_frame("frame", people))
        asked = self._declared
        for column in (*(to if isinstance(to, list) else [to]), asked.unit, *asked.strata):
            require(column, people.columns)
        if "arm" in people.columns:
            raise UsageError("the frame has a column 'arm' already; drop it, or rename it: the arms are put there")
        how = {
            "region": region,
            "default_region": default_region,
            "policy": policy,
            "exclude": exclude,
            "numbers": numbers,
        }
        now = microseconds(self._now())
        with opened(self._ledger) as book:
            rows = assigning.read(people, asked, book, to, how)
            integers = pd.api.types.infer_dtype(people[asked.unit], skipna=True) in ("integer", "floating")
            arm, everybody = assigning.draw(rows, asked, book, integers=integers, now=now)
            with book._store.snapshot() as connection:
                others = assigning.overlaps(connection, asked, everybody, now=now)
        return assigning.split(people, rows, arm, everybody, asked, others)

    @in_our_words
    def read(
        self,
        outcomes: AnyFrame,
        *,
        at: str,
        on: str | None = None,
        amount: str | None = None,
        early: Literal[False, True, "sequential"] = False,
        currency: str = "",
        explore: str | None = None,
        service: str | None = None,
    ) -> Reading:
        """Read the experiment: outcomes by the arm each unit was assigned to, whatever became of its message.

        Until the reading day only the counts and the check of the sizes are shown.

        Args:
            outcomes: a row for each outcome, such as an order.
            at: its column with the time, with a zone.
            on: its column with the unit; by default it is called as in the list.
            amount: its column with the amount, for an outcome that has no column of its name.
            early: True reads before the reading day and says so; ``"sequential"`` gives wider intervals, which hold
                however often one looks.
            currency: of the amounts.
            explore: one of the strata, whose values are compared, too: for ideas, nothing is claimed of them.
            service: whose campaigns count, if several services have some of this experiment.

        Returns:
            The Reading: its table, chart, card and a paragraph that may be quoted.

        Raises:
            UsageError: nobody was drawn or sent to yet, or a column is missing or holds something else.
        """
        asked = self._declared
        refuse(None if explore is None else not_a_stratum("explore", explore, asked))
        with read_from(self._ledger) as book:
            assigned, forgotten = joining.assigned(asked, book, service=service)
            to_go = experiments.to_go(book._store, asked.name, service=service)
        return reading.read(
            asked,
            assigned,
            outcomes,
            on=on,
            at=at,
            amount=amount,
            early=early,
            currency=currency,
            explore=explore,
            to_go=to_go,
            forgotten=forgotten,
            now=self._now,
        )

    @in_our_words
    def assigned(self, *, service: str | None = None) -> pd.DataFrame:
        """Return who is in which arm, one row a unit: ``unit, arm`` (str), ``at`` (UTC), ``contacted`` (bool), ``cost``
        (float64), ``currency`` (str), ``in_doubt, unpriced`` (int64), ``elsewhere`` (str), and a column for each of the
        strata (str).

        ``at`` is the first message; of who got none, the time of the nearest person before them in the list. The
        messages in doubt may have been billed, those unpriced were accepted without a readable price: neither is in
        ``cost``. ``elsewhere`` is a campaign that is not the experiment's and texted the unit, or may have, from the
        draw to the reading day; missing where there was none. Who is held out and was texted all the same, by any
        campaign, counts as ``contacted``. Whoever was forgotten is not in it.
        """
        with read_from(self._ledger) as book:
            return joining.assigned(self._declared, book, service=service)[0]

    @in_our_words
    def purge(self) -> int:
        """Delete who is in which arm, with units and strata, also from the file; return how many people those were.

        A keyed hash of each person stays with the arm, so that the holdout and the arms still hold for campaigns of
        this name. Nothing can be read by it; `assign` with the whole list again brings the people back into their arms.
        A warning says what could not be reached, as in `Record.purge`, which does the same with the last campaign of
        an experiment; `Ledger.retain` does it by age.

        Raises:
            UsageError: the ledger has no such experiment.
        """
        now = microseconds(self._now())
        with opened(self._ledger) as book:
            found = joining.recorded(self._declared, book)
            gone = purging.purge_experiment(book._store, found.number, found.name, now=now)
            purging.warn_of_unreached(book._store)
        return gone

    def card(self) -> cards.Card:
        """Return the experiment as it is declared, as a card."""
        asked = self._declared
        rows = tuple((arm, f"{share:g}%") for arm, share in asked.weights.items())
        measured = ", ".join(f"{outcome} ({_KINDS[kind]})" for outcome, kind in asked.outcomes.items())
        notes = [
            cards.Note("i", f"An outcome counts for {written(asked.window)} after its message: {measured}."),
            cards.Note("i", f"People are told apart by the column {asked.unit}."),
        ]
        if asked.holdout:
            by = f"any campaign that is called {self.name}, or {self.name} with a slash and more"
            if asked.until is not None:
                by = f"any campaign, but for transactional ones, until {asked.until:%Y-%m-%d %H:%M %Z}"
            notes.append(cards.Note("i", f"The holdout is not texted by {by}."))
        table = cards.Table(("Arm", "Share"), rows, ("left", "right"))
        return cards.Card(f"Experiment: {asked.name}", "As it is declared.", (table, *notes))

    def __repr__(self) -> str:
        return f"Experiment({self.name!r})"


_KINDS = {"binary": "whether it happened", "amount": "how much"}


def recorded_names(ledger: Ledger) -> list[str]:
    """Return the names of all recorded experiments, the latest first."""
    with ledger._store.snapshot() as connection:
        return [found.name for found in reversed(experiments.everyone(connection))]


def recall(name: str, ledger: Ledger, *, now: Now = utc_now) -> tuple[Experiment, bool]:
    """Return an experiment as it was declared when its arms were drawn, and whether its units are whole numbers.

    Raises:
        UsageError: the ledger has none of this name.
    """
    with ledger._store.snapshot() as connection:
        found = experiments.find(connection, name)
    if found is None:
        raise UsageError(f"experiment {name!r} is not in the ledger {ledger.path}: nobody has an arm yet")
    declared = json.loads(found.declared)
    integers, window, until = (declared.pop(name) for name in ("integers", "window", "until"))
    end = None if until is None else datetime.fromisoformat(until)
    test = Experiment(found.name, **declared, read_after=window, holdout_until=end, ledger=ledger, now=now)
    return test, integers
