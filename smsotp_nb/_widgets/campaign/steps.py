"""What the campaign form does, without a widget: write, plan, compare, send, stop, change what has not left, settle."""

from __future__ import annotations

from .comparing import Comparing


class CampaignSteps(Comparing):
    """The campaign form's state and moves; `CampaignState` says what it knows.

    Example:
        >>> import pathlib, tempfile, pandas as pd
        >>> from smsotp_nb import Ledger, Sandbox
        >>> from smsotp_nb._widgets.campaign_choices import Choices, Guards
        >>> people = pd.DataFrame({"phone": ["+1 202 555 0123"], "name": ["Ann"]})
        >>> with Sandbox() as box, Ledger(pathlib.Path(tempfile.mkdtemp()) / "ledger.sqlite", create=True) as ledger:
        ...     steps = CampaignSteps(people, client=box.client(), ledger=ledger)
        ...     _ = steps.check(Choices(campaign="hello", to="phone", words="Hi {name}", kind="text"))
        ...     steps.send(Guards())
        >>> steps.stage, steps.counts["accepted"]
        ('done', 1)
    """
