"""What only the owner of a list can answer.

``questions`` writes the workbook, ``replies`` reads it, ``merging`` merges it back, ``edits`` replaces cells.
"""
