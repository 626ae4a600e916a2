"""Tenants: an account for every access key, so that test jobs that run side by side share one sandbox.

A tenant is known by its id, which is derived from its access key; the key itself is not kept.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final, Self, get_args

from .. import _wire as wire
from .._outputs import write_file
from .._visible import is_whole
from ..errors import UsageError
from . import parameters
from .account import Account
from .choices import Rules
from .faults import Fault, Faults
from .files import own_folder, read_own
from .service import Service, millionths, money
from .state import State
from .tables import BROKEN, unreadable
from .wording import templates

MOST: Final = 200
JOURNAL_SHARE: Final = 1 / 10  # of a journal: with all tenants at most 320 MiB
LONGEST_KEY: Final = 256
LONGEST_OPTIONS: Final = 1 << 26  # bytes; templates of its own may be long
LIMIT_EXCEEDED: Final = "105300"
NO_TENANTS: Final = "this sandbox has no tenants; start it with tenants (--tenants)"
HOW: Final = "add tenant=<access key> to the address; GET /tenants.json lists the tenants"
OPTIONS: Final = ("tenant", "label", "balance", "seed", "variant", "form", "secret", "rules")
_RULES: Final = tuple(one.name for one in fields(Rules) if one.name != "secret")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What an account begins with: those of the sandbox, or of one tenant."""

    variant: wire.Variant = "intl"
    form: wire.Form = "current"
    balance: int = 0
    seed: str | None = None
    rules: Rules = field(default_factory=Rules)
    faults: tuple[Fault, ...] = ()
    label: str = ""
    journal_share: float = 1.0

    def account(self, path: Path | None) -> Account:
        """Open an account, on a file where it has one.

        Raises:
            UsageError: the file or the templates cannot be used.
        """
        state = State(path, variant=self.variant, balance=self.balance, seed=self.seed)
        try:
            service = Service(state, variant=self.variant, form=self.form, rules=self.rules)
            return Account(service, Faults(self.faults), label=self.label, journal_share=self.journal_share)
        except UsageError:
            state.close()
            raise
        except BROKEN as error:  # the journal, the clock and the receipts that the file holds
            state.close()
            raise unreadable(path, error) from None

    def changed(self, given: Mapping[str, Any]) -> Self:
        """Return the options with the changes in a ``POST /tenants.json``.

        Raises:
            UsageError: a field is unknown or has a value that cannot be used.
        """
        unknown = sorted(set(given) - set(OPTIONS))
        if unknown:
            raise UsageError(f"{', '.join(unknown)} is unknown; known are {', '.join(OPTIONS)}")
        return type(self)(
            variant=_one_of("variant", given.get("variant", self.variant), get_args(wire.Variant)),
            form=_one_of("form", given.get("form", self.form), get_args(wire.Form)),
            balance=self.balance if given.get("balance") is None else millionths(given["balance"]),
            seed=self.seed if given.get("seed") is None else _seed(given["seed"]),
            rules=_rules(self.rules, given.get("rules"), given.get("secret")),
            faults=self.faults,
            label=_label(given.get("label")),
            journal_share=self.journal_share,
        )

    def to_json(self) -> str:
        """Return what must be stored, beside the state, to open the account again."""
        rules = {name: getattr(self.rules, name) for name in _RULES if name != "templates"}
        own = self.rules.templates
        if own is None or isinstance(own, Mapping):  # a file is the sandbox's own, which its next start names
            rules["templates"] = own and dict(own)
        kept = {"variant": self.variant, "form": self.form, "label": self.label, "secret": self.rules.revealed()}
        return json.dumps(kept | {"rules": rules})


def _one_of(name: str, value: Any, known: tuple[str, ...]) -> Any:
    if not isinstance(value, str) or value not in known:
        raise UsageError(f"{name} must be one of {', '.join(known)}, got {value!r}")
    return value


def _label(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > LONGEST_KEY or not is_whole(value):
        raise UsageError(f"label must be a text of at most {LONGEST_KEY} characters")
    return value


def _seed(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, str)) or not is_whole(str(value)):
        raise UsageError("seed must be a text or a whole number")
    return str(value)


def _rules(own: Rules, given: Any, secret: Any) -> Rules:
    """Return the rules of a tenant; templates come as an object, so that no address reads a file of this machine."""
    asked = {} if given is None else given
    if not isinstance(asked, Mapping) or not set(asked) <= set(_RULES):
        raise UsageError(f"rules is an object of {', '.join(_RULES)}")
    if not isinstance({} if asked.get("templates") is None else asked["templates"], Mapping):
        raise UsageError('templates is an object such as {"welcome": "Hello {name}"}')
    if not all(isinstance(asked.get(name, True), bool) for name in ("single_use", "replace")):
        raise UsageError("single_use and replace are true or false")
    if secret is not None and not isinstance(secret, str):
        raise UsageError("secret must be a text")
    kept = {name: getattr(own, name) for name in _RULES}
    return Rules(**(kept | dict(asked)), secret=own.secret if secret is None else secret)


class Tenants:
    """The accounts of one sandbox: its own alone, or with tenants one more for each access key.

    Args:
        own: the sandbox's own account, also of the requests that name no access key.
        options: what a tenant begins with.
        on: whether there are tenants.

    Raises:
        UsageError: the state of a tenant cannot be used.
    """

    def __init__(self, own: Account, options: Options, *, on: bool) -> None:
        self.own = own
        self.on = own.keeps_tenants = on
        self._options = replace(options, journal_share=JOURNAL_SHARE)
        self._accounts: dict[str, Account] = {}
        self._ended: list[Account] = []
        path = own.state.path
        self._folder = None if path is None or not on else path.with_name(f"{path.name}.tenants")
        if self._folder is not None:
            self._open_again(self._folder)

    def _open_again(self, folder: Path) -> None:
        own_folder(folder)
        try:
            for file in sorted(folder.glob("*/state.sqlite")):
                self._accounts[file.parent.name] = self._kept(file.parent).account(file)
        except UsageError:
            self._close_tenants()
            raise

    def _kept(self, folder: Path) -> Options:
        """Read what a tenant began with."""
        own_folder(folder)
        file = folder / "options.json"
        found = read_own(file, LONGEST_OPTIONS)
        try:
            options = replace(self._options.changed(json.loads(found)), seed=None)
            templates(options.rules.templates)
        except (UsageError, *BROKEN) as error:
            why = str(error) if isinstance(error, UsageError) else type(error).__name__
            step = f"Restore a copy, or remove {folder}: that deletes the tenant"
            raise UsageError(f"the file {file} is damaged or was altered: {why}. {step}") from None
        return options

    def __iter__(self) -> Iterator[Account]:
        return iter((self.own, *self._accounts.values()))

    def id_of(self, key: str) -> str:
        """Return the id of the tenant with this access key."""
        return self.own.state.mark(f"tenant {key}", 0, 8).hex()

    def knows(self, key: Any) -> bool:
        """Return whether there is a tenant with this access key."""
        return isinstance(key, str) and key.isprintable() and self.id_of(key) in self._accounts

    def of(self, key: str) -> Account | None:
        """Return the account that answers a request with this access key; None where there is no room for another."""
        if not self.on or not key:
            return self.own
        known = self._accounts.get(self.id_of(key))
        if known is None and len(self._accounts) < MOST and len(key) <= LONGEST_KEY:
            return self._open(key, self._seeded(key))
        return known

    def asked(self, query: Mapping[str, str], *, or_own: bool = False) -> tuple[Account, dict[str, str]]:
        """Return the account that an address is about, and its other parameters.

        Raises:
            UsageError: it names a tenant but there are none, or it names none although there are tenants.
        """
        rest = {name: value for name, value in parameters.once(query).items() if name not in ("tenant", "token")}
        named = query.get("tenant", "")
        if named and not self.on:
            raise UsageError(NO_TENANTS)
        if not named:
            if self.on and not or_own:
                raise UsageError(f"this sandbox keeps an account for every access key: {HOW}")
            return self.own, rest
        found = self._accounts.get(named) or self.of(named)
        if found is None:
            raise UsageError(_full())
        return found, rest

    def open(self, given: Mapping[str, Any]) -> Account:
        """Open a tenant with options of its own.

        Raises:
            UsageError: there are no tenants, there is no room for another, or an option cannot be used.
        """
        key = given.get("tenant")
        if not self.on:
            raise UsageError(NO_TENANTS)
        if not isinstance(key, str) or not 0 < len(key) <= LONGEST_KEY or not key.isprintable():
            known = ", ".join(OPTIONS[1:])
            raise UsageError(f"tenant must be an access key of 1 to {LONGEST_KEY} characters; options are {known}")
        if len(self._accounts) >= MOST:
            raise UsageError(_full())
        return self._open(key, self._seeded(key).changed(given))

    def _seeded(self, key: str) -> Options:
        """Return the options of a new tenant; tenants of one seed still get different ids."""
        seed = self._options.seed
        return replace(self._options, seed=None if seed is None else f"{seed}/{self.id_of(key)}")

    def _open(self, key: str, options: Options) -> Account:
        name = self.id_of(key)
        if self._folder is None:
            self._accounts[name] = options.account(None)
            return self._accounts[name]
        folder = self._folder / name
        known = folder.exists()
        own_folder(folder)
        try:
            _keep(folder / "options.json", options)
            self._accounts[name] = options.account(folder / "state.sqlite")
        except BaseException:
            if not known:  # else the next start would stumble over it
                shutil.rmtree(folder, ignore_errors=True)
            raise
        return self._accounts[name]

    def end(self, account: Account) -> None:
        """Forget a tenant and everything it has.

        Raises:
            UsageError: there are no tenants.
        """
        if not self.on:
            raise UsageError(NO_TENANTS)
        name = next(name for name, one in self._accounts.items() if one is account)
        del self._accounts[name]
        account.receipts.stop()
        account.bell.close()
        self._close_ended()  # those of earlier calls: a request of this one may be under way
        self._ended.append(account)
        if self._folder is not None:
            shutil.rmtree(self._folder / name)

    def _close_ended(self) -> None:
        while self._ended:
            self._ended.pop().state.close()

    def told(self) -> list[dict[str, Any]]:
        """Return the tenants as ``/tenants.json`` lists them, in the order they were opened."""
        return [
            {
                "id": name,
                "label": account.label,
                "balance": money(account.state.balance),
                "currency": account.service.tariff.currency,
                "messages": account.state.count(),
                "requests": account.journal.last,
            }
            for name, account in self._accounts.items()
        ]

    def begin(self) -> None:
        """Post the receipts left by an earlier run."""
        for account in self:
            account.receipts.begin()

    def ring_last(self) -> None:
        """End all waiting, and stop posting receipts."""
        for account in self:
            account.receipts.stop()
            account.bell.close()

    def close(self) -> None:
        """Write everything to the files, and release them."""
        self._close_tenants()
        self.own.close()

    def _close_tenants(self) -> None:
        self._close_ended()
        for account in self._accounts.values():
            account.close()


def _keep(file: Path, options: Options) -> None:
    written = options.to_json().encode()
    write_file(file, lambda opened: opened.write(written), overwrite=True)


def _full() -> str:
    return f"there are {MOST} tenants already, or the key has more than {LONGEST_KEY} characters; end one first"
