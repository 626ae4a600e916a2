"""What the campaign form shows of a plan, of a send under way and of its results, with what can be settled there."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets

from .. import skin
from ..doubts import Doubts
from ..field_faults import FieldFaults
from ..results_table import ResultsTable
from ..stages import Sign
from . import cards
from .compare_pane import comparison_html
from .refusals import groups, refusals_html
from .steps import CampaignSteps


class ResultPane:
    """The outcome, the card, the rows that are not sent, doubt, and opt-outs."""

    def __init__(self, settled: Callable[[str, Sign], None]) -> None:
        """``settled`` is told in words what was decided about rows in doubt."""
        self.faults = FieldFaults()
        self.stop_number = skin.text("Number of the person", placeholder="+1 202 555 0123")
        self.stop_source = skin.text("How it came", placeholder="phone call")
        self.opt_out_button = skin.button("Record the opt-out")
        self.doubts, self.table = Doubts(settled=settled), ResultsTable()
        self._drawn: object = None
        self.widget = self._lay_out()

    def draw(self, steps: CampaignSteps) -> None:
        """Show the plan, the progress or the results."""
        sending = steps.stage == "sending"
        self.outcome.value = skin.notice(steps.notice.text, steps.notice.sign)
        self._draw_card(steps)
        for part in (self.outcome, self.card, self.refused, self._people):
            skin.show(part, not sending)
        skin.show(self.progress, sending)
        self.progress.value = cards.progress_html(steps.running) if sending else ""
        self.faults.show(steps.faults)
        skin.show(self._found, not sending)

    def _draw_card(self, steps: CampaignSteps) -> None:
        """Make the card when there is a new one to show, not with every key: it looks at the whole list."""
        done = steps.stage == "done"
        shown = steps.results if done else steps.plan
        if shown is None or shown is self._drawn or steps.plan is None or steps.stage == "sending":
            return
        self._drawn = shown
        numbers = steps.numbers()
        compared = comparison_html(steps.comparison) if steps.comparison else ""
        if done:
            self.card.value = compared + cards.results_html(steps.results, steps.counts, compared=bool(compared))
            rows, title = steps.results, "Not sent"
        else:
            self.card.value = compared or cards.plan_html(steps.plan)
            rows, title = steps.plan.rows, "Rows that are left out"
        self.refused.value = "" if rows is None else refusals_html(groups(rows, numbers), title)
        skin.show(self._rows, done)
        self.table.show(steps.results if done else None, steps.plan.campaign)
        self.doubts.show_all(steps.doubtful())

    def _lay_out(self) -> ipywidgets.VBox:
        self.outcome, self.card, self.progress = skin.block(""), skin.block(""), skin.block("")
        self.refused = skin.block("")
        rows = skin.folded("All rows: filter, sort, download", "Hide the rows", self.table.widget)
        self._rows = skin.box(*rows, classes=("smsotp-main",))
        self._found = skin.box(self.doubts.widget, self._rows, classes=("smsotp-main",))
        around = self.faults.around
        number, source = around("stop_number", self.stop_number), around("stop_source", self.stop_source)
        self._people = skin.box(
            *skin.folded(
                "Opt-outs: somebody does not want to be texted",
                "Hide the opt-outs",
                skin.box(number, source, classes=("smsotp-pair",)),
                self.opt_out_button,
            ),
            classes=("smsotp-main",),
        )
        parts = (self.outcome, self.card, self.progress, self._found, self.refused, self._people)
        return skin.box(*parts, classes=("smsotp-main",))
