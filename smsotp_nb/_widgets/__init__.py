"""Forms for people in a notebook; the public face is `smsotp_nb.widgets`."""
