"""The campaign form reads a comparison: which one, from which orders, and what it came to.

The ledger holds how each comparison was declared and who is in it, so that it is read after a restart, weeks later, as
well as beside the campaign that was just sent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

import pandas as pd

from ..._experiments import recalling
from ..._experiments.declaring import Declared
from ..._experiments.experiment import Experiment
from ..._experiments.reading import Reading
from ..._ledger import Ledger
from ..._moments import Now, utc_now
from ...errors import SmsOtpError
from ..stages import Notice, Sign, Stages, broken, refused
from ..uploads import Uploaded
from .orders import AMOUNT, AT, ON, OrderColumns, Orders, orders

NOT_READ: Final = "Not read."
Early = Literal[False, True, "sequential"]


class ReadingSteps(Stages):
    """The comparisons of a ledger, the orders of one, and its reading.

    ``faults`` says which field is why nothing was read; ``reading`` is the last one, None before it.

    Args:
        ledger: in which the comparisons are recorded.
        service: whose campaigns count.
        orders: a row for each order, given in code; without it a file is uploaded.
        changed: called after every change.
        now: the clock.

    Example:
        >>> import pathlib, tempfile
        >>> with Ledger(pathlib.Path(tempfile.mkdtemp()) / "ledger.sqlite", create=True) as ledger:
        ...     ReadingSteps(ledger, service="sandbox").names()
        []
    """

    def __init__(
        self,
        ledger: Ledger,
        *,
        service: str,
        orders: pd.DataFrame | None = None,
        changed: Callable[[], None] = lambda: None,
        now: Now = utc_now,
    ) -> None:
        super().__init__("choosing", changed=changed)
        self.faults: Mapping[str, str] = {}
        self.orders = orders
        self.reading: Reading | None = None
        self.declared: Declared | None = None  # of the comparison that was looked up
        self._ledger, self._service, self._now = ledger, service, now

    def names(self) -> list[str] | None:
        """Return the names of the comparisons, the latest first; None, and why, where the ledger cannot be read."""
        try:
            return recalling.names(self._ledger)
        except SmsOtpError as error:
            self._refuse(*refused(error, NOT_READ), {})
            return None

    def take(self, read: Uploaded) -> None:
        """Take an uploaded file of orders, or none if it cannot be read; what was read from others is not shown."""
        self.orders, self.reading = read.frame, None
        if self.stage == "choosing":
            self._refuse("", "", {})

    def look_up(self, name: str) -> None:
        """Look up how a comparison was declared; say so where the ledger cannot be read."""
        self.declared, self.reading = None, None
        try:
            self.declared = self._recalled(name).test._declared if name else None
        except SmsOtpError as error:
            self._refuse(*refused(error, NOT_READ), {})
        else:
            self.forget_refusal()

    def has_amounts(self) -> bool:
        """Say whether the comparison counts amounts."""
        return self.declared is not None and "amount" in self.declared.outcomes.values()

    def read(self, name: str, chosen: OrderColumns, early: Early = False) -> None:
        """Read a comparison; before its reading day the counts need no orders."""
        if not self._begin({"choosing"}, "reading", "Reading …"):
            return
        try:
            self._read(name, chosen, early)
        except SmsOtpError as error:
            self._refuse(*refused(error, NOT_READ), {})
        except Exception as error:
            self._refuse(*broken(error), {})
            raise

    def _read(self, name: str, chosen: OrderColumns, early: Early) -> None:
        recalled, rows = self._recalled(name), self.orders
        if rows is None:
            self._count(recalled.test)
            return
        kinds = recalled.test._declared.outcomes
        made = orders(rows, chosen, kinds, integers=recalled.integers)
        if made.faults:
            self._refuse(f"{NOT_READ} {' '.join(made.faults.values())}", "warn", made.faults)
            return
        found = self._reading(recalled.test, made, chosen.currency.strip().upper(), early)
        if self.orders is not rows:
            self._refuse(f"{NOT_READ} Other orders were chosen meanwhile: read again.", "warn", {})
            return
        self._done(found)

    def _count(self, test: Experiment) -> None:
        """Show how many people each text has; from the reading day on that takes orders."""
        found = self._reading(test, Orders(_nothing(), {}), "", early=False)
        if found.state in ("waiting", "uneven"):
            self._done(found)
            return
        words = "The reading day has come: choose the file of the orders first."
        self._refuse(f"{NOT_READ} {words}", "warn", {"orders": words})

    def _reading(self, test: Experiment, made: Orders, currency: str, early: Early) -> Reading:
        amount = {"amount": AMOUNT} if "amount" in test._declared.outcomes.values() else {}
        return test.read(made.frame, on=ON, at=AT, early=early, currency=currency, service=self._service, **amount)

    def _recalled(self, name: str) -> recalling.Recalled:
        return recalling.recall(name, self._ledger, now=self._now)

    def _done(self, reading: Reading) -> None:
        self.reading, self.faults = reading, {}
        self._show("choosing")

    def _refuse(self, words: str, sign: Sign, faults: Mapping[str, str]) -> None:
        self.faults = faults
        self._show("choosing", words, sign)

    def forget_refusal(self) -> None:
        """Take away why nothing was read, for somebody is choosing."""
        self.notice = Notice()
        self._changed()


def _nothing() -> pd.DataFrame:
    """Return no orders, as a reading takes them."""
    none: dict[str, Any] = {ON: [], AT: pd.to_datetime([], utc=True), AMOUNT: pd.Series([], dtype="float64")}
    return pd.DataFrame(none)
