"""Lists of people from files; the public face is `smsotp_nb.recipients`.

``reading`` holds the calls; ``comma``, ``workbook`` and ``parquet`` read a kind of file each and give it in parts
(``tables``): columns of text and the numbers of their rows. ``records`` says what a row may look like.
"""
