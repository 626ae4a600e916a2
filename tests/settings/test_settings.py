"""Settings: from arguments or the environment, never guessed, and the key stays where it is."""

from __future__ import annotations

import copy
import dataclasses
import io
import json
import pickle
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import keyring
import keyring.backend
import keyring.errors
import pandas as pd
import pytest
from support.tracebacks import chain, frames, has_other_styles, in_other_styles, shown

import smsotp_nb as sms
from smsotp_nb import Client, Settings
from smsotp_nb.errors import UsageError
from smsotp_nb.settings import Secret, data_folder, ledger_place

KEY = "canary-key-7f3a91"
HMAC = "canary-secret-c04e5d"
ADDRESS = "https://sms.example"


def settings(**changed: Any) -> Settings:
    return Settings(**{"base_url": ADDRESS, "access_key_id": KEY, **changed})


# -- where they come from ----------------------------------------------------------------------------------------------


def test_every_variable_is_read() -> None:
    """Each ``SMSOTP_*`` variable reaches its field."""
    found = Settings.from_env(
        {
            "SMSOTP_BASE_URL": "https://sms.example/",
            "SMSOTP_ACCESS_KEY_ID": f" {KEY} ",
            "SMSOTP_VARIANT": "cn",
            "SMSOTP_FORM": "earlier",
            "SMSOTP_CA_BUNDLE": __file__,
            "SMSOTP_CONNECT_TIMEOUT": "1.5",
            "SMSOTP_READ_TIMEOUT": "2",
            "SMSOTP_DEADLINE": "3",
        }
    )
    assert (found.base_url, found.variant, found.form, found.ca_bundle) == (ADDRESS, "cn", "earlier", __file__)
    assert (found.connect_timeout, found.read_timeout, found.deadline) == (1.5, 2.0, 3.0)
    assert found._key() == KEY


def test_the_environment_of_the_process_is_read_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """``from_env()`` without arguments reads ``os.environ``."""
    monkeypatch.setenv("SMSOTP_BASE_URL", ADDRESS)
    monkeypatch.setenv("SMSOTP_ACCESS_KEY_ID", KEY)
    assert Settings.from_env().base_url == ADDRESS


def test_an_argument_wins_over_the_environment() -> None:
    """What is typed in the cell counts."""
    environ = {"SMSOTP_BASE_URL": "https://other.example", "SMSOTP_ACCESS_KEY_ID": KEY, "SMSOTP_VARIANT": "cn"}
    assert Settings.from_env(environ, base_url=ADDRESS, variant="intl").base_url == ADDRESS


@pytest.mark.parametrize(
    ("environ", "missing"),
    [
        ({}, "SMSOTP_BASE_URL and SMSOTP_ACCESS_KEY_ID missing"),
        ({"SMSOTP_BASE_URL": ADDRESS}, "SMSOTP_ACCESS_KEY_ID missing"),
        ({"SMSOTP_ACCESS_KEY_ID": KEY, "SMSOTP_BASE_URL": "  "}, "SMSOTP_BASE_URL missing"),
    ],
)
def test_nothing_is_guessed(environ: dict[str, str], missing: str) -> None:
    """Without an address or a key the error says which, how to set it, and how to do without an account."""
    with pytest.raises(UsageError) as caught:
        Settings.from_env(environ)
    text = str(caught.value)
    assert missing in text
    assert "Settings(base_url=" in text
    assert "Sandbox().client()" in text


def test_a_timeout_that_is_no_number_names_its_variable() -> None:
    """The error says which variable and what it holds."""
    with pytest.raises(UsageError, match="SMSOTP_DEADLINE must be a number of seconds, got 'soon'"):
        Settings.from_env({"SMSOTP_DEADLINE": "soon"})


# -- what they refuse --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"base_url": "http://sms.example"}, "http only on loopback"),
        ({"base_url": "http://127.0.0.1.sms.example"}, "http only on loopback"),
        ({"base_url": "http://localhost.example"}, "http only on loopback"),
        ({"base_url": "http://0.0.0.0:80"}, "http only on loopback"),
        ({"base_url": "sms.example"}, "must begin with https://"),
        ({"base_url": "ftp://sms.example"}, "must begin with https://"),
        ({"base_url": "https://"}, "must begin with https://"),
        ({"base_url": "https://[::1"}, "not an address"),
        ({"base_url": "https://sms.example:port"}, "not an address"),
        ({"base_url": None}, "must begin with https://"),
        ({"base_url": "https://sms.example/?action=x"}, "no user, query or fragment"),
        ({"base_url": "https://ann:secret@sms.example"}, "no user, query or fragment"),
        ({"base_url": "https://sms.example/#top"}, "no user, query or fragment"),
        ({"access_key_id": " "}, "access_key_id is empty"),
        ({"access_key_id": "with blank"}, "not plain ASCII"),
        ({"access_key_id": "line\nbreak"}, "not plain ASCII"),
        ({"access_key_id": "schlüssel"}, "not plain ASCII"),
        ({"access_key_id": None}, "access_key_id is empty"),
        ({"variant": "us"}, "variant must be 'intl' or 'cn', got 'us'"),
        ({"form": "old"}, "form must be 'current' or 'earlier', got 'old'"),
        ({"connect_timeout": 0}, "connect_timeout must be seconds"),
        ({"read_timeout": float("nan")}, "read_timeout must be seconds"),
        ({"deadline": "60"}, "deadline must be seconds"),
        ({"deadline": 3601}, "deadline must be seconds"),
        ({"ca_bundle": "/nowhere/ca.pem"}, "ca_bundle: file not found"),
        ({"ca_bundle": False}, "ca_bundle= must be the path of a file such as 'authority.pem', got False"),
        ({"ca_bundle": 0}, "ca_bundle= must be the path of a file"),
        ({"ca_bundle": ""}, "ca_bundle= must be the path of a file"),
    ],
)
def test_a_wrong_value_is_refused_with_what_was_expected(changed: dict[str, Any], said: str) -> None:
    """Each field has its own sentence, and the way out stands at the end."""
    with pytest.raises(UsageError, match="SMSOTP_BASE_URL") as caught:
        settings(**changed)
    assert said in str(caught.value)


@pytest.mark.parametrize("value", [False, True, 0, 1])
def test_a_truth_value_is_no_bundle_even_where_a_file_is_called_so(
    value: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without verification whoever is in the line reads the access key and every number."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / str(value)).touch()
    with pytest.raises(UsageError, match="ca_bundle= must be the path of a file"):
        settings(ca_bundle=value)


def test_everything_wrong_is_said_at_once() -> None:
    """One error lists all of it, so that a cell is corrected once."""
    with pytest.raises(UsageError) as caught:
        settings(base_url="http://sms.example", access_key_id="", variant="x", form="y", deadline=-1)
    assert len(caught.value.problems) == 5


@pytest.mark.parametrize("host", ["127.0.0.1:8025", "localhost:8025", "[::1]:8025"])
def test_http_is_allowed_on_this_machine(host: str) -> None:
    """The sandbox speaks plain HTTP; its bytes never leave the machine."""
    assert settings(base_url=f"http://{host}").base_url == f"http://{host}"


# -- the account's name ------------------------------------------------------------------------------------------------


def test_the_service_id_tells_accounts_apart_without_showing_the_key() -> None:
    """Another address, variant or key is another service; the id holds no part of the key."""
    one = settings()._service_id
    others = [settings(base_url="https://b.example"), settings(variant="cn"), settings(access_key_id="other")]
    assert len({one, *(other._service_id for other in others)}) == 4
    assert one == settings(deadline=5.0, base_url=ADDRESS + "/")._service_id
    assert KEY not in one


def test_a_given_service_id_is_kept() -> None:
    """The sandbox names itself, so that a new port is not a new service."""
    assert settings(service="sandbox-1").service == "sandbox-1"


# -- the key -----------------------------------------------------------------------------------------------------------


def refused(action: Callable[[], object]) -> str:
    """Run an action that must be refused and return every form in which a notebook would show that."""
    with pytest.raises(TypeError) as caught:
        action()
    return shown(caught.value)


@pytest.mark.parametrize(
    "show",
    [
        repr,
        str,
        "{}".format,
        lambda value: f"{value!r:>80} {value!s}",
        lambda value: json.dumps(value, default=str),
        lambda value: repr([getattr(value, name) for name in dir(value) if not name.startswith("__")]),
        lambda value: repr(dir(value)),
    ],
)
@pytest.mark.parametrize("holder", [settings(), Secret(KEY), Client(settings())], ids=["settings", "secret", "client"])
def test_the_key_is_in_no_text_form(holder: object, show: Any) -> None:
    """Printing, formatting, completing and dumping show no key."""
    assert KEY not in show(holder)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("holder", [settings(), Secret(KEY), Client(settings())], ids=["settings", "secret", "client"])
def test_what_holds_the_key_is_not_pickled(holder: object, protocol: int) -> None:
    """A pickle would put the key into a file; the refusal does not show it either."""
    assert KEY not in refused(lambda: pickle.dumps(holder, protocol))
    assert KEY not in refused(lambda: copy.deepcopy(holder))


def test_the_attributes_of_settings_and_client_hold_no_bare_key() -> None:
    """``vars`` of the client, the fields of the settings, and everything one step below show no key."""
    client = Client(settings())
    shown = repr(vars(client)) + repr([getattr(client.settings, field.name) for field in dataclasses.fields(Settings)])
    shown += repr({name: vars(value) for name, value in vars(client).items() if hasattr(value, "__dict__")})
    assert KEY not in shown


def test_replacing_one_field_keeps_the_key() -> None:
    """``dataclasses.replace`` works, with the key still hidden."""
    changed = dataclasses.replace(settings(), deadline=5.0)
    assert (changed._key(), changed.deadline) == (KEY, 5.0)
    assert KEY not in repr(changed)


def test_an_error_about_settings_does_not_show_the_key() -> None:
    """Neither its text, nor its traceback, plain or verbose, nor its problems."""
    with pytest.raises(UsageError) as caught:
        settings(access_key_id=KEY + "\n", variant="us")
    assert KEY not in shown(caught.value) + repr(caught.value.problems)


WRONG_CALLS: dict[str, Callable[[], object]] = {
    "address": lambda: Settings(access_key_id=KEY, access_key_secret=HMAC, base_url="wrong"),
    "positions": lambda: Settings("wrong", KEY),
    "address pasted whole": lambda: Settings(f"{ADDRESS}/?accessKeyId={KEY}", "other"),
    "address with a password": lambda: settings(base_url=f"https://{KEY}:{HMAC}@sms.example"),
    "bytes": lambda: settings(access_key_id=KEY.encode(), access_key_secret=[HMAC]),
    "line break": lambda: settings(access_key_id=KEY + "\n", access_key_secret=HMAC + "\n"),
    "argument of from_env": lambda: Settings.from_env({}, access_key_id=KEY, access_key_secret=HMAC),
    "argument, address pasted": lambda: Settings.from_env(
        {"SMSOTP_ACCESS_KEY_ID": "other"}, base_url=f"{ADDRESS}/?accessKeyId={KEY}"
    ),
    "unknown argument": lambda: Settings.from_env({}, access_key_id=KEY, base_url=ADDRESS, key=5),
    "environment": lambda: Settings.from_env({"SMSOTP_ACCESS_KEY_ID": KEY, "SMSOTP_ACCESS_KEY_SECRET": HMAC}),
    "environment, address": lambda: Settings.from_env({"SMSOTP_ACCESS_KEY_ID": KEY, "SMSOTP_BASE_URL": "wrong"}),
    "environment, address pasted": lambda: Settings.from_env(
        {"SMSOTP_ACCESS_KEY_ID": "other", "SMSOTP_BASE_URL": f"{ADDRESS}/?accessKeyId={KEY}"}
    ),
    "environment, address pasted, no key": lambda: Settings.from_env(
        {"SMSOTP_BASE_URL": f"{ADDRESS}/?accessKeyId={KEY}"}
    ),
    "environment, timeout": lambda: Settings.from_env({"SMSOTP_ACCESS_KEY_ID": KEY, "SMSOTP_DEADLINE": "soon"}),
    "environment, not text": lambda: Settings.from_env({"SMSOTP_ACCESS_KEY_ID": KEY, "SMSOTP_BASE_URL": 5}),  # type: ignore[dict-item]
    "environment and keyring": lambda: Settings.from_env(
        {"SMSOTP_ACCESS_KEY_ID": KEY, "SMSOTP_KEYRING": "smsotp_nb"}, base_url=ADDRESS
    ),
    "replace": lambda: dataclasses.replace(settings(access_key_secret=HMAC), base_url="wrong"),
    "ledger path": lambda: ledger_place({"SMSOTP_ACCESS_KEY_ID": KEY, "SMSOTP_LEDGER": "~nobody-7f3a/l.sqlite"}),
}


@pytest.mark.parametrize("call", WRONG_CALLS.values(), ids=WRONG_CALLS)
def test_a_refused_call_shows_no_key_in_any_frame_of_the_package(call: Callable[[], object]) -> None:
    """In a verbose traceback the caller's cell shows what was typed there; our frames show no key."""
    with pytest.raises((UsageError, TypeError)) as caught:
        call()
    assert frames(caught.value)
    text = shown(caught.value) + in_other_styles(caught.value)
    assert KEY not in text
    assert HMAC not in text


def test_a_machine_without_a_home_shows_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder is looked up with the environment in hand."""

    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    with pytest.raises(RuntimeError) as caught:
        ledger_place({"SMSOTP_ACCESS_KEY_ID": KEY})
    ours = [frame for frame in frames(caught.value) if frame.f_code.co_name == "data_folder"]
    assert ours
    assert KEY not in repr([frame.f_locals for frame in ours])


def test_a_frame_that_holds_a_key_would_be_seen() -> None:
    """Every style shows the variables of a frame of the package, so that their silence above means something."""
    namespace: dict[str, Any] = {"__name__": "smsotp_nb.planted", "UsageError": UsageError}
    exec("def planted(key):\n    raise UsageError('wrong')", namespace)
    with pytest.raises(UsageError) as caught:
        namespace["planted"](KEY)
    assert KEY in shown(caught.value)
    assert not has_other_styles() or KEY in in_other_styles(caught.value)


# -- the keyring -------------------------------------------------------------------------------------------------------


class Held(keyring.backend.KeyringBackend):
    """A keyring in memory; ``fault`` is raised when it is asked."""

    priority = 1  # type: ignore[assignment]

    def __init__(self, entries: dict[tuple[str, str], str], fault: BaseException | None = None) -> None:
        super().__init__()
        self.entries, self.fault = entries, fault
        self.asked: list[tuple[str, str]] = []

    def get_password(self, service: str, username: str) -> str | None:
        self.asked.append((service, username))
        if self.fault:
            raise self.fault
        return self.entries.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.entries[service, username] = password


@pytest.fixture
def hold(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Held]]:
    """Put a keyring in place of the machine's own."""
    before = keyring.get_keyring()

    def place(entries: dict[str, str], service: str = "smsotp_nb", fault: BaseException | None = None) -> Held:
        made = Held({(service, name): value for name, value in entries.items()}, fault)
        keyring.set_keyring(made)
        return made

    yield place
    keyring.set_keyring(before)


def test_the_key_comes_from_the_keyring(hold: Callable[..., Held]) -> None:
    """By the variable or by the argument; the address and the rest come from where they always do."""
    hold({"access_key_id": KEY + "\n"})
    by_variable = Settings.from_env({"SMSOTP_KEYRING": "smsotp_nb", "SMSOTP_BASE_URL": ADDRESS, "SMSOTP_VARIANT": "cn"})
    by_argument = Settings.from_env({}, keyring="smsotp_nb", base_url=ADDRESS, variant="cn")
    assert by_variable == by_argument == settings(variant="cn")
    assert by_variable._secret() is None


def test_the_secret_of_signed_requests_comes_from_the_keyring_too(hold: Callable[..., Held]) -> None:
    """Two entries of one service name, and a service name of one's own for a second account."""
    held = hold({"access_key_id": KEY, "access_key_secret": HMAC}, service="staging")
    found = Settings.from_env({}, keyring="staging", base_url=ADDRESS)
    assert (found._key(), found._secret()) == (KEY, HMAC)
    assert set(held.asked) == {("staging", "access_key_id"), ("staging", "access_key_secret")}


def test_the_documented_command_puts_the_key_where_it_is_read(
    hold: Callable[..., Held], monkeypatch: pytest.MonkeyPatch
) -> None:
    """``keyring set smsotp_nb access_key_id``, as the README and the error say."""
    from keyring.cli import main

    hold({})
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{KEY}\n"))
    main(["set", "smsotp_nb", "access_key_id"])
    assert Settings.from_env({}, keyring="smsotp_nb", base_url=ADDRESS)._key() == KEY


def test_an_argument_wins_over_the_variable(hold: Callable[..., Held]) -> None:
    """A key that is passed is used and the keyring not asked; a keyring that is passed is used and no key read."""
    held = hold({"access_key_id": "other"})
    environ = {"SMSOTP_BASE_URL": ADDRESS, "SMSOTP_KEYRING": "smsotp_nb"}
    assert Settings.from_env(environ, access_key_id=KEY)._key() == KEY
    assert held.asked == []
    environ = {"SMSOTP_BASE_URL": ADDRESS, "SMSOTP_ACCESS_KEY_ID": KEY, "SMSOTP_ACCESS_KEY_SECRET": HMAC}
    found = Settings.from_env(environ, keyring="smsotp_nb")
    assert (found._key(), found._secret()) == ("other", None)


@pytest.mark.parametrize(
    ("environ", "given", "said"),
    [
        ({"SMSOTP_ACCESS_KEY_ID": KEY, "SMSOTP_KEYRING": "smsotp_nb"}, {}, "SMSOTP_KEYRING and SMSOTP_ACCESS_KEY_ID"),
        (
            {"SMSOTP_ACCESS_KEY_SECRET": HMAC, "SMSOTP_KEYRING": "smsotp_nb"},
            {},
            "SMSOTP_KEYRING and SMSOTP_ACCESS_KEY_SECRET are both set",
        ),
        ({}, {"keyring": "smsotp_nb", "access_key_id": KEY}, "keyring= and access_key_id= are both given"),
        ({}, {"keyring": "smsotp_nb", "access_key_secret": HMAC}, "keyring= and access_key_secret= are both given"),
        ({}, {"keyring": True}, "keyring must be the service name"),
        ({}, {"keyring": " "}, "keyring must be the service name"),
    ],
)
def test_two_places_for_one_key_are_refused(
    hold: Callable[..., Held], environ: dict[str, str], given: dict[str, Any], said: str
) -> None:
    """Nothing is guessed: neither place is meant more than the other."""
    held = hold({"access_key_id": "other"})
    with pytest.raises(UsageError, match=said) as caught:
        Settings.from_env(environ, base_url=ADDRESS, **given)
    assert held.asked == []
    assert KEY not in shown(caught.value) + in_other_styles(caught.value)


class Bus(Exception):
    """What the system under a backend raises."""


@pytest.mark.parametrize(
    ("entries", "fault", "said"),
    [
        ({}, None, "it holds none; put it there with `keyring set smsotp_nb access_key_id`"),
        ({"access_key_id": "  "}, None, "it holds none; put it there"),
        ({"access_key_secret": HMAC}, None, "it holds none; put it there"),
        ({"access_key_id": KEY}, keyring.errors.NoKeyringError(f"no backend {KEY}"), "this machine has none"),
        ({"access_key_id": KEY}, keyring.errors.KeyringLocked(f"locked {KEY}"), "it is locked; unlock it"),
        ({"access_key_id": KEY}, keyring.errors.InitError(f"no session {KEY}"), r"cannot be read \(InitError\)"),
        ({"access_key_id": KEY}, Bus(f"no bus {KEY}"), r"cannot be read \(Bus\)"),
        ({"access_key_id": KEY}, ModuleNotFoundError("no gi", name="gi"), r"cannot be read \(ModuleNotFoundError\)"),
    ],
)
def test_a_keyring_that_gives_no_key_says_the_next_step(
    hold: Callable[..., Held], entries: dict[str, str], fault: BaseException | None, said: str
) -> None:
    """One sentence for what is wrong, one for what to do, one for doing without; nothing of what the backend said."""
    hold(entries, fault=fault)
    with pytest.raises(UsageError, match=said) as caught:
        Settings.from_env({"SMSOTP_KEYRING": "smsotp_nb"}, base_url=ADDRESS)
    assert str(caught.value).endswith("Without a keyring: set SMSOTP_ACCESS_KEY_ID.")
    assert "SMSOTP_ACCESS_KEY_ID missing" not in str(caught.value)
    assert chain(caught.value) == []
    text = shown(caught.value) + in_other_styles(caught.value)
    assert KEY not in text
    assert HMAC not in text


def test_a_stop_while_the_keyring_asks_shows_no_key(hold: Callable[..., Held]) -> None:
    """A keyring may ask for its password; whoever stops there has the environment in our frames."""
    hold({}, fault=KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt) as caught:
        Settings.from_env({"SMSOTP_ACCESS_KEY_ID": KEY, "SMSOTP_ACCESS_KEY_SECRET": HMAC}, keyring="smsotp_nb")
    assert "_read_keyring" in [frame.f_code.co_name for frame in frames(caught.value)]
    text = shown(caught.value) + in_other_styles(caught.value)
    assert KEY not in text
    assert HMAC not in text


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package is optional; whoever names a keyring is told how to get it."""
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(UsageError, match=r"pip install 'smsotp_nb\[keyring\]'") as caught:
        Settings.from_env({"SMSOTP_KEYRING": "smsotp_nb"}, base_url=ADDRESS)
    assert chain(caught.value) == []


def test_the_package_of_keyrings_is_not_imported_unless_one_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Importing it looks for backends, which takes time."""
    monkeypatch.setitem(sys.modules, "keyring", None)
    assert Settings.from_env({"SMSOTP_BASE_URL": ADDRESS, "SMSOTP_ACCESS_KEY_ID": KEY})._key() == KEY


def test_everything_wrong_is_said_beside_the_keyring(hold: Callable[..., Held]) -> None:
    """The address and the entry are missing: one error says both."""
    hold({})
    with pytest.raises(UsageError, match="it holds none") as caught:
        Settings.from_env({"SMSOTP_KEYRING": "smsotp_nb"})
    assert "SMSOTP_BASE_URL missing" in str(caught.value)


def test_a_key_from_the_keyring_is_as_hidden_as_any(hold: Callable[..., Held]) -> None:
    """Repr, fields, pickle and the frames of a later error."""
    hold({"access_key_id": KEY, "access_key_secret": HMAC})
    found = Settings.from_env({}, keyring="smsotp_nb", base_url=ADDRESS)
    fields = [getattr(found, field.name) for field in dataclasses.fields(Settings)]
    text = f"{found} {found!r} {fields} {vars(Client(found))}" + refused(lambda: pickle.dumps(found))
    with pytest.raises(UsageError) as caught:
        Settings.from_env({}, keyring="smsotp_nb", base_url="wrong")
    text += shown(caught.value) + in_other_styles(caught.value)
    assert KEY not in text
    assert HMAC not in text


def test_secrets_are_compared_by_value() -> None:
    """Equal settings are equal; a secret is never equal to a bare text."""
    assert settings() == settings()
    assert Secret(KEY) == Secret(KEY)
    assert hash(Secret(KEY)) == hash(Secret(KEY))
    assert Secret(KEY) != KEY


# -- places ------------------------------------------------------------------------------------------------------------


def test_the_ledger_is_never_relative_to_where_the_kernel_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """``~`` is the home, and without SMSOTP_LEDGER the data folder is used."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert ledger_place({"SMSOTP_LEDGER": "~/a.sqlite"}) == tmp_path / "a.sqlite"
    assert ledger_place({"XDG_DATA_HOME": "/data"}) == Path("/data/smsotp_nb/ledger.sqlite")
    assert ledger_place({"HOME": "/home/ann"}).is_absolute()


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("SMSOTP_LEDGER", "records/sends.sqlite"),
        ("SMSOTP_LEDGER", "ledger.sqlite"),
        ("XDG_DATA_HOME", "data"),
        ("XDG_STATE_HOME", "state"),
        ("HOME", "."),
    ],
)
def test_a_relative_place_is_refused_before_anybody_is_texted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, variable: str, value: str
) -> None:
    """Two folders would have two records, and each would text everybody."""
    monkeypatch.chdir(tmp_path)
    for name in ("SMSOTP_LEDGER", "XDG_DATA_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, value)
    people = pd.DataFrame({"phone": ["+12025550100"]})
    with pytest.raises(UsageError, match=f"{variable} must be an absolute path") as caught, sms.Sandbox() as box:
        sms.send(sms.plan(people, "Hi", campaign="c", to="phone"), box, progress=False)
    assert f"{variable}={tmp_path}" in str(caught.value)


@pytest.mark.parametrize(
    ("platform", "environ", "folder"),
    [
        ("linux", {"HOME": "/home/ann"}, "/home/ann/.local/share/smsotp_nb"),
        ("darwin", {"HOME": "/Users/ann"}, "/Users/ann/Library/Application Support/smsotp_nb"),
    ],
)
def test_the_data_folder_follows_the_platform(
    monkeypatch: pytest.MonkeyPatch, platform: str, environ: dict[str, str], folder: str
) -> None:
    """Each platform's own custom."""
    monkeypatch.setattr("sys.platform", platform)
    assert data_folder(environ) == Path(folder)


@pytest.mark.parametrize(
    "spelled", ["https://SMS.example", "https://sms.example/", "https://sms.example:443", "HTTPS://sms.example"]
)
def test_one_service_however_its_address_is_spelled(spelled: str) -> None:
    """Two spellings must not be two campaigns, or people would be texted by each."""
    known = Settings(base_url="https://sms.example", access_key_id="key")._service_id
    assert Settings(base_url=spelled, access_key_id="key")._service_id == known
    assert Settings(base_url="https://sms.example:8443", access_key_id="key")._service_id != known
