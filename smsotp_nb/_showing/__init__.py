"""What is shown of values from outside: their text, fit to be printed (``text``), and frames of it (``frames``)."""

from .text import NoText, cited, is_whole, label, mask, masked, said, spelled, text_of, visible

__all__ = [
    "NoText",
    "cited",
    "is_whole",
    "label",
    "mask",
    "masked",
    "said",
    "spelled",
    "text_of",
    "visible",
]
