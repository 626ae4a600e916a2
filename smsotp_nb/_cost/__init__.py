"""What was sent, in money; the public face is `smsotp_nb.cost`.

- ``sources``: results, ledgers and sums as integers, also day by day
- ``sums``: by any column; ``views``: by name, as a card, and rates learned from results
- ``bridge``: why a cost changed; ``exchange``: costs in one currency
- ``words``: what the words of a period cost; ``saving``: what plain ones would save on a plan
- ``forecasting``: a month, or a plan, by the methods of ``ahead``
- ``anomalies``: unusual costs, by the ``changes`` of a series
- ``invoice``: a provider's invoice against the ledger, by its ``invoice_lines``
"""
