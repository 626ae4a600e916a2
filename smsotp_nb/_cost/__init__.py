"""What was sent, in money; the public face is `smsotp_nb.cost`.

- ``sources``: results, ledgers and sums as integers, also day by day; ``sums``, ``views``: by columns, and by name
- ``overview``: the card of a cost; ``bridge``: why a cost changed; ``exchange``: one currency
- ``words``: what the words of a period cost; ``saving``: what plain ones would save on a plan
- ``forecasting``: a month, or a plan, by the methods of ``ahead``
- ``anomalies``: unusual costs, outside of the ``expected_range``
- ``invoice``: a provider's invoice against the ledger, with ``invoice_lines`` (reads it) and ``invoice_card``
"""
