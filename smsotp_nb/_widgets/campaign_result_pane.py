"""What the campaign form shows of a plan, of a send under way and of its results, with what can be settled there."""

from __future__ import annotations

import ipywidgets

from .._cards import counted
from . import campaign_html, skin
from .campaign_refusals import groups, refusals_html
from .campaign_steps import CampaignSteps
from .field_faults import FieldFaults


class ResultPane:
    """The outcome, the card, the rows that are not sent, doubt, and opt-outs."""

    def __init__(self) -> None:
        self.faults = FieldFaults()
        self.stop_number = skin.text("Number of the person", placeholder="+1 202 555 0123")
        self.stop_source = skin.text("How it came", placeholder="phone call")
        self.opt_out_button = skin.button("Record the opt-out")
        self.accepted_button = skin.button("They were accepted")
        self.again_button = skin.button("Not accepted: retry with the next send")
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
        self.progress.value = campaign_html.progress_html(steps.running) if sending else ""
        self.faults.show(steps.faults)
        self._draw_doubt(steps)

    def _draw_card(self, steps: CampaignSteps) -> None:
        """Make the card when there is a new one to show, not with every key: it looks at the whole list."""
        done = steps.stage == "done"
        shown = steps.results if done else steps.plan
        if shown is None or shown is self._drawn or steps.plan is None or steps.stage == "sending":
            return
        self._drawn = shown
        numbers = steps.numbers()
        if done:
            self.card.value = campaign_html.results_html(steps.results, steps.counts)
            rows, title = steps.results, "Not sent"
        else:
            self.card.value = campaign_html.plan_html(steps.plan)
            rows, title = steps.plan.rows, "Rows that are left out"
        self.refused.value = "" if rows is None else refusals_html(groups(rows, numbers), title)

    def _draw_doubt(self, steps: CampaignSteps) -> None:
        doubt = steps.counts.get("in_doubt", 0) if steps.stage == "done" else 0
        skin.show(self._doubt, doubt > 0)
        rows = counted(doubt, "row is", "rows are")
        words = f"{rows} in doubt: no answer came, so they may have been accepted. Check the service's own records"
        self._doubt_line.value = skin.line(f"{words} or ask somebody on the list, then say which:", "warn")

    def _lay_out(self) -> ipywidgets.VBox:
        self.outcome, self.card, self.progress = skin.block(""), skin.block(""), skin.block("")
        self.refused, self._doubt_line = skin.block(""), skin.block("")
        self._doubt = skin.box(
            self._doubt_line,
            skin.box(self.accepted_button, self.again_button, classes=("smsotp-pair",)),
            classes=("smsotp-main", "smsotp-doubt"),
        )
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
        parts = (self.outcome, self.card, self.progress, self._doubt, self.refused, self._people)
        return skin.box(*parts, classes=("smsotp-main",))
