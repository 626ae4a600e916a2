"""How a text is cut into billed parts; the public face is `smsotp_nb.parts`.

``packing`` counts one text, ``many`` a column of them, ``explaining`` says which characters force the dearer encoding.
"""
