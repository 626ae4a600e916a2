"""What surrounds a number in its cell.

``text``     cells of any kind as text
``regions``  the country beside a number
``country_names``  countries by their names in any language, flags, locales
``repairs``  the text of one cell, mended
``scrub``    the same for a column
``notes``    what words beside a number mean
"""
