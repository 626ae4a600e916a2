"""What was sent, in money; the public face is `smsotp_nb.cost`.

- ``sources``: results, ledgers and sums as integers, also day by day
- ``sums``: by any column; ``views``: by name, as a card, and rates learned from results
- ``focus``: costs in the columns of FOCUS; ``conversions``: what an order cost by the message before it
- ``bridge``: why a cost changed, and what moved it from month to month; ``exchange``: costs in one currency
- ``words``: what the words of a period cost; ``saving``: what plain ones would save on a plan
- ``forecasting``: a month, by the methods of ``months``, or a plan, by those of ``ahead``; ``budget`` of a month
- ``anomalies``: unusual costs, by the ``changes`` of a series
- ``invoice``: a provider's invoice against the ledger, line by line, or by ``invoice_totals``; ``invoice_columns``,
  ``invoice_lines``, ``invoice_periods`` and ``invoice_special`` (totals, taxes, fees) read it, and ``invoice_card``
  shows what came of it
"""
