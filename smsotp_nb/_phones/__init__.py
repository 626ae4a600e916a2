"""Phone numbers to E.164; the public face is `smsotp_nb.phones`.

``judgement`` judges a column, ``readings`` and ``weighing`` find out what a text can mean, ``repairs`` and ``cells``
clean what surrounds a number, ``regions`` reads the country beside it. ``verdicts`` is phonenumbers' own answer,
``fast`` the same for whole columns, ``reference`` alone asks phonenumbers itself. ``vocabulary`` holds the codes.
``edits`` replaces cells; ``owner`` writes the workbook of questions, ``replies`` reads it, ``merging`` merges it back.
"""
