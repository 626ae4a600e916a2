"""``smsotp-nb campaigns``: what is recorded, and of one campaign its counts and what holds rows back, until when."""

from __future__ import annotations

import argparse
import dataclasses

from .typed import add_ledger


def describe(campaigns: argparse.ArgumentParser) -> None:
    """Add every option of the command."""
    campaigns.add_argument("name", nargs="?", metavar="NAME", help="the campaign to show (default: list them all)")
    campaigns.add_argument("--service", metavar="ID", help="whose, where several services have one of that name")
    add_ledger(campaigns)
    campaigns.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the card of the ledger, or of one campaign."""
    from .._ledger import opened

    with opened(options.ledger) as ledger:
        if options.name is not None:
            print(ledger.campaign(options.name, service=options.service).card())
            return 0
        card = ledger.card()
        print(dataclasses.replace(card, closing=card.closing and "Next: smsotp-nb campaigns NAME shows one."))
    return 0
