"""Forms for use in a notebook. Each is a class with a ``.widget``, around a plain controller that tests can call."""

from ._widgets.campaign.form import CampaignForm
from ._widgets.campaigns.page import CampaignsPage
from ._widgets.cleaner.form import PhoneCleaner
from ._widgets.inbox import InboxView
from ._widgets.otp.form import OtpForm
from ._widgets.otp.presenter import OtpPresenter

__all__ = ["CampaignForm", "CampaignsPage", "InboxView", "OtpForm", "OtpPresenter", "PhoneCleaner"]


def __dir__() -> list[str]:
    return list(__all__)
