"""Pictures of costs; the public face is `smsotp_nb.charts`.

``drawing`` makes the cards of bars, ``reporting`` the report in one file, and ``sections`` its tables, each also a
sheet of Excel.
"""
