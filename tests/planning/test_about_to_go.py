"""What a send would cost now: without rows that are recorded as done, and without whom a rule holds back."""

from __future__ import annotations

import pandas as pd

from smsotp_nb import Ledger, People, Plan, plan
from smsotp_nb._ledger import Prospect
from smsotp_nb._planning.overview import about, rows_to_go

PEOPLE = pd.DataFrame({"phone": ["+12025550123", "+12025550124", "+12025550125"]})
RATES = pd.DataFrame({"iso": ["US"], "currency": "USD", "price": ["0.01"]})


def about_to_go(made: Plan, recorded: pd.DataFrame | None, prospect: Prospect | None) -> str:
    return about(rows_to_go(made.rows, recorded, prospect))


def test_only_what_a_send_would_post_now_is_counted(ledger: Ledger) -> None:
    made = plan(PEOPLE, "Hello", to="phone", campaign="sale", rates=RATES)
    assert about_to_go(made, None, None) == "USD 0.03"
    People(ledger).opt_out("+12025550123", source="phone call")
    prospect = ledger.prospect(made, service="sandbox:a")
    assert about_to_go(made, None, prospect) == "USD 0.02"
    recorded = pd.DataFrame({"to": PEOPLE["phone"], "status": ["planned", "accepted", "planned"]})
    assert about_to_go(made, recorded, None) == "USD 0.02"
    assert about_to_go(made, recorded, prospect) == "USD 0.01"
