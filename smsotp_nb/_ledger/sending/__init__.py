"""What a running campaign does, and whom it must not text.

``comparison``: a plan compared with what is recorded: of its campaign, of other unfinished ones, and by the rules.
``holds``: whom a claim must leave out, decided in its transaction.
``rules``: planned rows, and until when each is held back.
``run``: one runner's hold on one campaign, and which live account its name belongs to.
``settling``: what a run hands out and takes back, and how its requests ended.
"""
