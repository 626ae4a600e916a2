"""Forms for people in a notebook: each is a class with ``.widget`` around a plain controller that tests can call."""

from .campaign_form import CampaignForm
from .inbox_view import InboxView
from .otp_form import OtpForm
from .phone_cleaner import PhoneCleaner

__all__ = ["CampaignForm", "InboxView", "OtpForm", "PhoneCleaner"]
