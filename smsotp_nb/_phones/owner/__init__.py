"""What only the owner of a list can answer.

``questions``  the workbook of questions, written and read
``merging``    the answers, merged back
``edits``      cells replaced, rows left out
"""
