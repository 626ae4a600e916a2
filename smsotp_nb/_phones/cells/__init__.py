"""What surrounds a number in its cell.

``text`` turns cells of any kind into text, ``regions`` reads the country beside a number, ``repairs`` mends the text of
one cell, ``notes`` says what words behind a number mean, ``scrub`` repairs a column, ``characters`` its scripts.
"""
