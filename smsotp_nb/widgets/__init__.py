"""Forms for people in a notebook: each is a class with ``.widget`` around a plain controller that tests can call."""

from .campaign_form import CampaignForm
from .otp_form import OtpForm

__all__ = ["CampaignForm", "OtpForm"]
