"""From a column of cells to phonenumbers' verdict and our judgement on top of it.

``answers``      phonenumbers' own answer, as a frame and in small integers
``work``         a list read for the judgement, and one stretch of it
``judgement``    a column, from its cells to its frame
``rows``         the same for a short list, row by row
``readings``     what a text can mean
``evidence``     what the other rows of the column show
``weighing``     which reading is used
``policy``       which valid numbers are texted
``several``      cells with several numbers, and rows with the same one
``explanation``  one number, step by step in words
"""
