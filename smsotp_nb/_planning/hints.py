"""Advice before sending: a passcode is better sent by ``otp.send`` (rule 1 of the interface)."""

from __future__ import annotations

import re
from collections.abc import Iterable

PASSCODE = (
    "This looks like a verification code. Passcodes belong to otp.send: the service makes, sends and checks the code, "
    "and nobody stores it."
)

# "code" in the languages where verification texts are most often seen, and what is asked for by a code that sells.
_WORDS = re.compile(
    r"\b(?:code|codes|passcode|otp|pin|one-time|verification|verify|2fa"
    r"|kode|kod|kód|koodi|código|codigo|codice|cod|mã|sandi|passwort|einmalpasswort|bestätigungscode"
    r"|sicherheitscode|verificatiecode|doğrulama|verifica|verificación|verificação|vérification|weryfikacyjny|tasdiqlash)\b"
    r"|код|кода|κωδικός|רקוד|קוד|رمز|كود|कोड|ওটিপি|कूट|รหัส|验证码|驗證碼|校验码|動態碼|認証|コード|인증|코드",
    re.IGNORECASE,
)
_SELLS = re.compile(
    r"%|\b(?:promo|discount|coupon|voucher|rabatt|gutschein|descuento|cupón|réduction|sconto|zip|postal|dress|qr)\b"
    r"|优惠|優惠|クーポン|쿠폰|скидк|промокод",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"(?<![A-Za-z0-9_.,/-])[0-9]{4,8}(?![A-Za-z0-9_/-]|[.,][0-9])")
_YEAR = re.compile(r"(?:19|20)\d\d")


def passcode(texts: Iterable[str]) -> str | None:
    """Return advice when one of these texts, as people will read it, looks like a verification code.

    Example:
        >>> passcode(["Your code is 493021."]) is PASSCODE, passcode(["20% off with code 2026"]) is None
        (True, True)
    """
    return PASSCODE if any(map(_looks_like_code, texts)) else None


def _looks_like_code(text: str) -> bool:
    numbers = [found for found in _DIGITS.findall(text) if not _YEAR.fullmatch(found)]
    return bool(numbers) and bool(_WORDS.search(text)) and not _SELLS.search(text)
