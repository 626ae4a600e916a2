"""Experiments: did a campaign earn its money?

- ``experiment``: an experiment as a person declares and reads it, or as it is recorded
- ``declaring``: what was declared, checked; ``assigning``: arms drawn and recorded, and the arms of a list
- ``joining``: who was sent what, and the outcomes of the people they belong to
- ``statistics``: intervals, and the check of the arms' sizes; ``comparing``: arms, also by the values of a stratum
- ``reading``: all of it as a table, with ``words`` in sentences and ``picture`` as a card and a chart
- ``power``: what can be seen at all, and the method, tried on one's own outcomes
"""
