"""Costs in the columns of FOCUS, the FinOps Open Cost and Usage Specification, for tools that read bills."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

import pandas as pd

from .._calling import in_our_words, not_list, not_text, refuse
from .._cards import counted, records
from .._pandas import STR
from .._phones import country_name
from .._warnings import warn_user
from ..errors import UsageError
from .sources import Source
from .sums import by

_GRAIN: Final = ("day", "campaign", "kind", "iso")
_DESCRIPTIONS: Final = {"campaign": "text message", "test": "text message to oneself", "passcode": "passcode"}


@in_our_words
def focus(
    results: Source, *, provider: str, account: str = "", service_name: str = "Text messages", tags: Sequence[str] = ()
) -> pd.DataFrame:
    """Return what was billed in the columns of FOCUS 1.2 (focus.finops.org), a row a day, campaign, kind and country.

    Every amount is what the service billed for accepted messages, so that BilledCost, EffectiveCost, ContractedCost and
    ListCost are one: of discounts and commitments nothing is known. Taxes and fees of an invoice are not in it.

    Args:
        results: as for `by`; of a result table with ``at``.
        provider: whose bill it is, for ProviderName, PublisherName and InvoiceIssuerName.
        account: for BillingAccountId.
        service_name: for ServiceName.
        tags: columns whose values become Tags, such as those that ``plan(keep=...)`` kept.

    Returns:
        ``BilledCost, EffectiveCost, ContractedCost, ListCost`` (float64), ``BillingCurrency, BillingAccountId`` (str),
        ``BillingPeriodStart, BillingPeriodEnd, ChargePeriodStart, ChargePeriodEnd`` (datetime64[us, UTC]; the ends are
        exclusive), ``ChargeCategory`` ("Usage"), ``ChargeClass`` (missing), ``ChargeDescription, ChargeFrequency,
        ProviderName, PublisherName, InvoiceIssuerName, ServiceCategory, ServiceName`` (str), ``PricingQuantity,
        ConsumedQuantity`` (Int64: parts, messages), ``PricingUnit, ConsumedUnit, SkuId`` (str), ``Tags`` (str: JSON
        with campaign, kind, country and those asked for) and ``x_UnpricedMessages`` (Int64).

    Raises:
        UsageError: as `by`.

    Warns:
        SmsOtpWarning: rows have no amount, because no price of theirs could be read; they are left out.

    Example:
        >>> table = pd.DataFrame({"status": ["accepted"] * 2, "parts": [1, 2], "price": [0.0075, 0.015], "iso": "US",
        ...                       "currency": "USD", "campaign": "sale", "at": pd.Timestamp("2026-11-23 10:00Z")})
        >>> focus(table, provider="Example")[["BilledCost", "BillingCurrency", "PricingQuantity"]].values.tolist()
        [[0.0225, 'USD', 3]]
    """
    refuse(
        not_text("provider", provider),
        not_text("account", account),
        not_text("service_name", service_name),
        not_list("tags", tags, of="names of columns"),
    )
    if not provider.strip():
        raise UsageError("provider= is empty; name whose bill it is, as FOCUS needs it: focus(results, provider='...')")
    table = by(results, [*_GRAIN, *(name for name in tags if name not in _GRAIN)])
    bare = table["cost"].isna() | table["currency"].isna()
    if bare.any():
        many = int(table.loc[bare, "messages"].sum())
        warn_user(
            f"{counted(many, 'message has', 'messages have')} no price that can be read and no row in FOCUS, where "
            "every row has a cost; cost.unpriced_rows lists them"
        )
        table = table[~bare].reset_index(drop=True)
    return _bill(table, provider, account, service_name, [*dict.fromkeys([*_GRAIN[1:], *tags])])


def _bill(table: pd.DataFrame, provider: str, account: str, service_name: str, tags: list[str]) -> pd.DataFrame:
    day = table["day"].dt.tz_localize("UTC").dt.as_unit("us")
    month = table["day"].dt.to_period("M")
    kinds = [_DESCRIPTIONS.get(str(kind), "text message") for kind in table["kind"]]
    places = ["an unknown country" if pd.isna(iso) else country_name(iso) for iso in table["iso"]]
    tagged = records(table[tags].astype(object))
    said = [{name: str(value) for name, value in row.items() if not pd.isna(value)} for row in tagged]
    constant = {
        "ChargeCategory": "Usage", "ChargeClass": None, "ChargeFrequency": "Usage-Based", "ProviderName": provider,
        "PublisherName": provider, "InvoiceIssuerName": provider, "ServiceCategory": "Other",
        "ServiceName": service_name, "PricingUnit": "Parts", "ConsumedUnit": "Messages",
    }  # fmt: skip
    made: dict[str, Any] = {
        **dict.fromkeys(("BilledCost", "EffectiveCost", "ContractedCost", "ListCost"), table["cost"]),
        "BillingCurrency": table["currency"],
        "BillingAccountId": account,
        "BillingPeriodStart": month.dt.start_time.dt.tz_localize("UTC").dt.as_unit("us"),
        "BillingPeriodEnd": (month + 1).dt.start_time.dt.tz_localize("UTC").dt.as_unit("us"),
        "ChargePeriodStart": day,
        "ChargePeriodEnd": day + pd.Timedelta(days=1),
        **constant,
        "ChargeDescription": [f"{kind} to {place}" for kind, place in zip(kinds, places, strict=True)],
        "PricingQuantity": table["parts"],
        "ConsumedQuantity": table["messages"],
        "SkuId": "sms-" + table["iso"].str.lower(),
        "Tags": [json.dumps(row, ensure_ascii=False) for row in said],
        "x_UnpricedMessages": table["unpriced"],
    }
    texts = [*constant, "BillingCurrency", "BillingAccountId", "ChargeDescription", "SkuId", "Tags"]
    return pd.DataFrame(made, index=table.index).astype(dict.fromkeys(texts, STR))
