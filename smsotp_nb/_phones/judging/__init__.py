"""From a column of cells to its verdict and judgement.

``verdicts`` is phonenumbers' own answer, ``answers`` the same in small integers. ``judgement`` judges a column,
``intake`` reads it, ``work`` is one stretch of it. ``readings`` says what a text can mean, ``prospects`` where another
reading could change something, ``evidence`` what the other rows show, ``weighing`` decides. ``fiction`` knows reserved
numbers, ``several`` cells with more numbers and rows with the same, ``explanation`` follows one number in words.
"""
