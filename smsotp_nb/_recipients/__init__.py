"""Lists of people from files; the public face is `smsotp_nb.recipients`, and other rooms import from here.

``reading`` holds the calls; ``comma``, ``workbook`` and ``parquet`` read a kind of file each and give it in parts
(``tables``): columns of text and the numbers of their rows. ``records`` says what a row may look like.
"""

from __future__ import annotations

from . import parquet, tables
from .reading import ROW, read_chunks, read_recipients, sheets, workbook_rows
from .workbook import cell_text

__all__ = ["ROW", "cell_text", "parquet", "read_chunks", "read_recipients", "sheets", "tables", "workbook_rows"]
