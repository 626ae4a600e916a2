"""The interface, and nothing else: request bodies, reply envelopes, limits and codes.

The only room that knows a camelCase field, an error number or a length limit. It has no clock, no socket and no pandas.
``interface`` holds names, codes, limits and amounts, ``requests`` what is posted and how a campaign travels,
``replies`` what comes back.
"""

from .._amounts import amount
from .._showing import mask
from .interface import (
    ACCOUNT_CODES,
    CHANNELS,
    CODE,
    DEFAULT_DIGITS,
    DIGITS,
    E164,
    ERROR_NAMES,
    INSUFFICIENT_FUNDS,
    INTENT_LENGTH,
    INTERNAL,
    INVALID_PHONE_NUMBERS,
    MAX_RECIPIENTS,
    MISSING_PARAMS,
    OTP_SEND,
    OTP_VERIFY,
    SEND,
    SIGNATURE_JOIN,
    SIGNATURE_LENGTH,
    SUCCESS,
    SUCCESS_NAME,
    TTL_DEFAULT,
    TTL_MAX,
    Form,
    Numbers,
    Variant,
    micros,
)
from .replies import (
    FEW,
    LONGEST_TEXT,
    Billing,
    Envelope,
    MessageRecord,
    Messages,
    OtpReply,
    SendReply,
    Unreadable,
    VerifyReply,
    read_envelope,
    read_otp_send,
    read_send,
    read_verify,
    request_id,
)
from .requests import (
    Body,
    RequestOptions,
    check_body,
    check_otp_send,
    check_otp_verify,
    check_recipients,
    encode,
    otp_request,
    send_request,
)
