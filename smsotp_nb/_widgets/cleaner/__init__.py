"""The phone cleaner.

- `form`: the parts laid out, and what each click does
- `panes`: the rows, the row that is edited, the files, the owner of the list
- `judging`: what was changed in the list, with undo; a column judged, shown, written, and asked about
"""
