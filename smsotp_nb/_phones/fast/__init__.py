"""phonenumbers' verdict for whole columns: the same answers, some forty times faster.

phonenumbers reads one number at a time: it normalizes the text, strips prefixes by regular expressions, then tries the
patterns of a country one after the other. Here each step is done once for a chunk of rows, as arithmetic on columns,
and every question a regular expression answers there is answered by looking digits up in a table.

``digits``    bytes to digits; decides nine rows of ten
``signs``     rows with other scripts, extensions and letters, rewritten into plain ones or refused
``prefixes``  digits to calling code and national number
``assembly``  national number to region, kind and reason, and these to columns
``engine``    the steps chunk by chunk; what none of them may decide is put to phonenumbers itself
``automata``  the metadata's regular expressions as a graph, and the automata made of it
``tables``    everything built from the metadata of one version of phonenumbers
``memory``    columns of text in Arrow's memory

A row on its way (``phones.explain`` tells this for any number)::

    "0491 570 156", AU   text and region
    0491570156           ten digits, no plus                     digits
    0 | 491570156        AU's national prefix                    prefixes
    AU, MOBILE           the state after nine digits, length 9   assembly
    +61491570156         written out                             assembly

It is exact because every step follows phonenumbers' own order of questions, kept beside it in words, and because what
is undecided is never guessed. Shipped tables are used only for their version, and tests put made-up lists, fuzz and
properties to both sides. It is fast because states are stored multiplied by 16, so that a step of the automaton is one
addition and one look-up for all rows; and because chunks of 32 thousand rows keep the working arrays near.
"""
