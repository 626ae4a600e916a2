"""Experiments: did a campaign earn its money?

``joining`` brings outcomes to the people they belong to, ``shares`` and ``amounts`` compare two arms, ``prices`` says
what an extra outcome cost, ``ratio`` checks the sizes of the arms, ``reading`` puts all of it into a table, ``words``
into sentences and ``picture`` into a card; ``exploring`` looks at segments, ``power`` is asked before, and
``calibrating`` tries the method on one's own outcomes. ``experiment`` is all of it as a person declares it:
``declaring`` checks that, ``drawing`` draws, ``assigning`` records, ``split`` shows the arms, and ``contacting`` brings
back who was sent what. The libraries of statistics are the extra ``smsotp_nb[statistics]``, loaded by ``library`` when
first needed.
"""
