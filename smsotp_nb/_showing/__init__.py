"""What is shown of values from outside: their text, fit to be printed (``text``), and frames of it (``frames``)."""

from .text import NoText, capital, cited, few, is_whole, label, mask, masked, said, spelled, text_of, visible
