"""How long clients of tests keep trying: an argument of `Client` whose class no public module has."""

from __future__ import annotations

from smsotp_nb._client import RetryPolicy

__all__ = ["RetryPolicy"]
