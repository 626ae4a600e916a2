"""The phone cleaner.

- `form`: the parts laid out, and what each click does
- `panes`: the rows, the row that is edited, the files, the owner of the list
- `judging`: a column judged, shown, written, and asked about
- `edits`: what was changed in the list, with undo
"""
