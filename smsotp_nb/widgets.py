"""Forms for use in a notebook. Each is a class with a ``.widget``, around a plain controller that tests can call."""

from ._widgets.campaign_form import CampaignForm
from ._widgets.campaigns_page import CampaignsPage
from ._widgets.inbox_view import InboxView
from ._widgets.otp_form import OtpForm
from ._widgets.otp_presenter import OtpPresenter
from ._widgets.phone_cleaner import PhoneCleaner

__all__ = ["CampaignForm", "CampaignsPage", "InboxView", "OtpForm", "OtpPresenter", "PhoneCleaner"]


def __dir__() -> list[str]:
    return list(__all__)
