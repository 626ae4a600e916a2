"""What was sent, in money; the public face is `smsotp_nb.cost`."""
