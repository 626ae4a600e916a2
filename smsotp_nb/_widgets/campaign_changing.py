"""What has not left may change, and what is in doubt is settled: the campaign form's moves on the record."""

from __future__ import annotations

from .._cards import counted
from .._people import People
from .._wire import mask
from ..errors import SmsOtpError
from .campaign_state import CampaignState
from .stages import Sign, refused


class Changing(CampaignState):
    """Opt-outs, withdrawal and doubt."""

    def opt_out(self, number: str, source: str, default_region: str = "") -> bool:
        """Record that a person does not want to be texted; the next request already obeys. Say whether it was done."""
        if self.stage not in ("planned", "done"):
            return False
        if not number.strip() or not source.strip():
            need = "the number" if source.strip() else "how it came, such as: phone call"
            field = "stop_source" if number.strip() else "stop_number"
            self._refuse(self.stage, f"Nothing was recorded. Enter {need}.", "warn", {field: f"Enter {need}."})
            return False
        try:
            People(self.ledger).opt_out(number.strip(), source=source, default_region=default_region or None)
            self._look_again()
        except SmsOtpError as error:
            words, sign = refused(error, "Nothing was recorded.")
            self._refuse(self.stage, words, sign, {"stop_number": words})
            return False
        said = f"{mask(number.strip())} opted out, and no campaign of this ledger texts this number."
        self._show(self.stage, f"{said} {self._standing()[0]}", "ok")
        return True

    def withdraw(self, reason: str = "") -> None:
        """Take all rows not yet sent out of the campaign for good."""
        campaign = self.recorded()
        if self.stage not in ("planned", "done") or campaign is None or not self.waiting:
            return
        try:
            gone = campaign.withdraw(reason=reason.strip() or "withdrawn in the form")
        except SmsOtpError as error:
            self._refuse(self.stage, *refused(error, "Nothing was changed."))
            return
        self._read_results()
        self._show("done", f"{counted(gone, 'row')} withdrawn: this campaign never texts them.", "ok")

    def settled(self, words: str, sign: Sign = "ok") -> None:
        """Take in what was decided about rows in doubt."""
        self._look_again()
        self._show(self.stage, words, sign)
