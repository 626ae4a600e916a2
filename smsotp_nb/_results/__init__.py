"""The result table and its files; the public face is `smsotp_nb.results`."""
