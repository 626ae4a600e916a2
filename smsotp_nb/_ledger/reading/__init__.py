"""The ledger as frames, sums, lists, cards and Parquet files.

``cards``: the card of a ledger and of a campaign.
``frames``: the rows, requests and changes of a campaign, and what it was billed.
``parquet``: the ledger as a folder of Parquet files.
``spending``: what all campaigns cost, also by what their messages say, and how many rows were refused.
"""
