"""What stands in a ledger, read and written over one connection: tables, answers and sums.

``tables``: what is stored of a row, and where; which columns may name people, and how.
``statements``: what connections and a draft have in common; results that are guessed; numbers of new rows.
``answers``: how replies to whole requests are packed.
``columns``: rows of a campaign as columns, and the caller's own columns as sums are grouped by them.
``persons``: who is one person: a number, or the hash of somebody who was forgotten.
``contacts``: whom a campaign may have reached, when, and with which body.
``wordings``: what is kept of the words of a campaign.
``sums``: what accepted rows were billed, added up from the rows or packed beside a campaign that is not running.
``damage``: what a ledger holds that cannot be.
``runners``: which machine and process runs a campaign, and until when a claim counts; who decided what.
"""
