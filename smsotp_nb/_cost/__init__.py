"""What was sent, in money; the public face is `smsotp_nb.cost`.

- ``sources``: results, ledgers and sums as integers, also day by day
- ``sums``: by any column; ``views``: by name, as a card, and rates learned from results
- ``bridge``: why a cost changed, and what moved it from month to month; ``exchange``: costs in one currency
- ``words``: what the words of a period cost; ``saving``: what plain ones would save on a plan
- ``forecasting``: a month, by the methods of ``months``, or a plan, by those of ``ahead``; ``budget`` of a month
- ``anomalies``: unusual costs, by the ``changes`` of a series
- ``invoice``: a provider's invoice against the ledger, by its ``invoice_lines``
"""
