"""Answers of the service and ends of requests, as a client hands them to a ledger; no public module has them."""

from __future__ import annotations

from smsotp_nb._ledger import Ending, Wanted
from smsotp_nb._wire import MessageRecord, Messages, OtpReply, SendReply, VerifyReply

__all__ = ["Ending", "MessageRecord", "Messages", "OtpReply", "SendReply", "VerifyReply", "Wanted"]
