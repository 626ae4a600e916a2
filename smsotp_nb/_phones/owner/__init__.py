"""What only the owner of a list can answer.

``questions``  the workbook of questions, written and read
``merging``    cells replaced, rows left out, and the answers merged back
"""
