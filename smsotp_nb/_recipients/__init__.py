"""Lists of people from files; the public face is `smsotp_nb.recipients`, and other rooms import from here.

``reading`` holds the calls, and reads JSON; ``kinds`` tells what a file is. ``comma``, ``workbook`` and ``parquet``
read a kind each and give it in parts (``tables``): columns of text and the numbers of their rows. ``heading`` finds the
header, ``records`` says what a row may look like and keeps what was decided, ``encodings`` how a text is written. What
the reader of workbooks does not tell is in ``unseen``.
"""

from __future__ import annotations

from . import parquet, tables
from .heading import row_typed
from .reading import ROW, read_chunks, read_recipients, workbook_rows
from .records import KEY, add_columns, called, in_words, source_of, without_value
from .workbook import cell_text
