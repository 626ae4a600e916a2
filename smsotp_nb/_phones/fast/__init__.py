"""phonenumbers' verdict for whole columns: the same answers, some forty times faster.

The idea
========

phonenumbers reads one number at a time: it normalizes the text, strips prefixes by regular expressions, then tries the
patterns of a country one after the other. Done for a million rows that is twenty-five million calls of small Python
functions. Here each step is done once for a chunk of rows, as arithmetic on columns, and every question a regular
expression answers there is answered by looking digits up in a table.

1. ``digits``: bytes to digits. One table says what kind each byte is; one running sum over the chunk then tells for
   every row how many digits, pluses and foreign signs stand in any stretch of it. That decides nine rows of ten.
   ``closer`` rewrites most of the others (other scripts, extensions, letters behind) into such plain rows, or sees that
   they are no numbers, because a sign stands in them that no pattern knows (``signs`` reads that from the patterns).
2. ``prefixes``: digits to calling code and national number. The calling code comes from a table of the first three
   digits; international and national prefixes from an automaton that ends where Python's ``re`` would end.
3. ``assembly``: national number to region, kind and reason. All patterns of all plans are one automaton: a row starts
   at the state of its calling code, every digit leads to the next state, and the last state says which patterns match
   the whole number. Region, kind and possibility follow from that and the length, by table.
4. ``engine`` runs these chunk by chunk and asks phonenumbers itself about what none of them may decide: some rows in
   ten thousand of an ordinary list. ``repeats`` spares repeated rows where a sample says that there are many.

``patterns`` reads the metadata's regular expressions into a graph, ``automata`` makes the two kinds of automata of it,
``tables`` holds everything built from the metadata of one version of phonenumbers.

A row on its way (``phones.explain`` tells this for any number)::

    "0491 570 156", AU   text and region
    0491570156           ten digits, no plus                     digits
    0 | 491570156        AU's national prefix                    prefixes
    AU, MOBILE           the state after nine digits, length 9   assembly
    +61491570156         written out                             assembly

Why it is exact
===============

Every step follows phonenumbers' own order of questions, kept beside it in words. What is undecided is never guessed.
The tables are built from the metadata that is installed, the shipped ones are used only for their version, and tests
put made-up lists, fuzz and properties to both sides.

Why it is built so (one process, two cores, a million rows; microseconds a row)
================================================================================

* The automaton costs 0.05 where one pass of a regular expression library per pattern costs ten times that.
* States are stored multiplied by 16, so a step is one addition and one look-up; a sign for "no more digits" leads from
  each state to itself, so rows of different lengths need no mask.
* Chunks of 32 thousand rows keep the working arrays near and the memory small.
* Columns of few values (region, kind, reason) stay small numbers until the last chunk is done, and are then spelled out
  into the memory that was scratch. Long texts go into memory of their own at once. (``memory`` says why.)
"""
