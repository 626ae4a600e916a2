"""The ledger as frames, sums, lists, cards and Parquet files.

``billed``: what one campaign was billed, and its prices beside its estimates.
``cards``: the card of a ledger and of a campaign.
``frames``: the rows, requests and changes of a campaign.
``listing``: campaigns a page at a time.
``parquet``: the ledger as a folder of Parquet files.
``reconciling``: the totals that replies state, beside the rows recorded from them.
``refusals``: how many rows the service refused.
``spending``: what all campaigns cost.
``word_sums``: what messages were billed by what they say.
"""
