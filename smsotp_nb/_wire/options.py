"""How a campaign travels: an option of plans that the ledger does not know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, get_args

from .._calling import Options, made_in_our_words, not_choice, not_flag, not_whole, refuse
from .interface import MAX_RECIPIENTS, Variant

MOST_THREADS: Final = 256


@made_in_our_words
@dataclass(frozen=True, slots=True, repr=False)
class Wire(Options):
    """How a campaign travels to the service.

    Args:
        variant: ``"intl"`` or ``"cn"``, as the client has it.
        chunk_size: recipients per request, at most 1,000.
        threads: requests under way at once, 1 to 256. At most ``threads`` x ``chunk_size`` rows can be in doubt.
        isolate_invalid: when a list is refused with 107111, send its halves again until the invalid numbers stand
            alone. This assumes that nothing of a refused list was sent.

    Raises:
        UsageError: an option that is none; lists all of them.

    Example:
        >>> Wire(chunk_size=500).replace(threads=8)
        Wire(chunk_size=500, threads=8)
    """

    variant: Variant = "intl"
    chunk_size: int = 100
    threads: int = 4
    isolate_invalid: bool = False

    def __post_init__(self) -> None:
        refuse(
            f"variant= must be 'intl' or 'cn', got {self.variant!r}"
            if not_choice("variant", self.variant, get_args(Variant))
            else None,
            not_whole("chunk_size", self.chunk_size, most=MAX_RECIPIENTS),
            not_whole("threads", self.threads, most=MOST_THREADS),
            not_flag("isolate_invalid", self.isolate_invalid),
        )
        object.__setattr__(self, "chunk_size", int(self.chunk_size))
