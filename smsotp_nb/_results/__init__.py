"""The result table and its files; the public face is `smsotp_nb.results`.

- ``contract``: its columns, dtypes and states
- ``files``: CSV, Excel and Parquet; ``cells``: how CSV tells text from numbers; ``workbook``: how a sheet is written
- ``questions``: a workbook that somebody else fills in
"""
