"""What a running campaign does, and whom it must not text.

``claims``: what a run hands out and takes back.
``comparison``: a plan compared with what is recorded of it, and whom the rules hold back now.
``holds``: whom a claim must leave out, decided in its transaction.
``ownership``: which live account the name of a campaign belongs to.
``recovering``: what a runner that died left under way.
``rules``: planned rows, and until when each is held back.
``run``: one runner's hold on one campaign.
``settling``: how requests ended.
``unfinished``: other unfinished campaigns that have people of a plan.
``unheeded``: experiments whose holdout a campaign texts.
"""
