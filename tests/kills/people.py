"""Plans for people who do not exist: numbers reserved for fiction, as many as a campaign needs."""

from __future__ import annotations

from typing import Any

import pandas as pd

from smsotp_nb import Ledger, People, Plan, Policy, RequestOptions, plan

# Area codes of the United States in which 555-0100 to 555-0199 are valid and nobody's; 907 is special in the sandbox.
AREAS = (
    *(201, 202, 203, 205, 206, 207, 208, 209, 210, 212, 213, 214, 215, 216, 217, 218, 219, 220, 223, 224, 225, 227),
    *(228, 229, 231, 234, 235, 239, 240, 248, 251, 252, 253, 254, 256, 260, 262, 267, 269, 270, 272, 274, 276, 279),
    *(281, 283, 301, 302, 303, 304, 305, 307, 308, 309, 310, 312),
)

ROOMY = Policy(caps=[(100, "24h"), (900, "7d")])  # asked in every claim, and nobody is held back by it


def numbers(count: int) -> list[str]:
    """Return this many different E.164 numbers, at most 5,600."""
    return [f"+1{area}55501{line:02d}" for area in AREAS for line in range(100)][:count]


def plan_of(
    count: int, *, campaign: str = "autumn", chunk_size: int = 10, text: str | None = None, **options: Any
) -> Plan:
    """Return a plan of one text for this many people."""
    people = pd.DataFrame({"phone": numbers(count)})
    # The same words to the same people by another campaign would be held back.
    words = text or ("Hello" if campaign.strip() == "autumn" else f"Hello from {campaign}")
    requests = RequestOptions(chunk_size=chunk_size)
    return plan(people, words, to="phone", campaign=campaign, policy=ROOMY, requests=requests, **options)


def registered(ledger: Ledger) -> Ledger:
    """Let a ledger know of opt-outs, of people whom no campaign has, so that every claim asks its rules."""
    people = People(ledger)
    if people.register.empty:
        people.opt_out([f"+131555501{line:02d}" for line in range(50)], source="phone")
    return ledger
