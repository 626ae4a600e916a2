"""The fixture ``smsotp_sandbox`` in a test suite that knows nothing of this package but the fixture."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

SUITE = """
    import pytest
    import requests

    def send(box, **fields):
        address = f"{box.url}/?action=sms.message.send&accessKeyId=any"
        return requests.post(address, json={"to": "+12025550123", "text": "Welcome"} | fields, timeout=120)

    def test_a_text_arrives(smsotp_sandbox):
        assert send(smsotp_sandbox).json()["code"] == "0"
        smsotp_sandbox.expect(to="+12025550123", text="Welcome", times=1)

    def test_the_next_test_has_one_of_its_own(smsotp_sandbox):
        assert len(smsotp_sandbox.inbox) == 0

    @pytest.mark.smsotp_sandbox(balance=0)
    def test_options_come_from_the_mark(smsotp_sandbox):
        assert send(smsotp_sandbox).json()["code"] == "105400"
        with pytest.raises(AssertionError, match="105400 InsufficientFunds"):
            smsotp_sandbox.expect(text="Welcome")

    def test_a_passcode_is_read(smsotp_sandbox):
        client = smsotp_sandbox.client()
        client.send_otp("+12025550123", intent="login")
        code = smsotp_sandbox.code("+12025550123", wait=1)
        assert client.verify_otp("+12025550123", code, intent="login").valid
"""


def test_a_suite_of_a_user_can_use_the_fixture(tmp_path: Path) -> None:
    (tmp_path / "test_app.py").write_text(textwrap.dedent(SUITE), encoding="utf-8")
    installed = any(point.value == "smsotp_nb.pytest_plugin" for point in entry_points(group="pytest11"))
    plugin = [] if installed else ["-p", "smsotp_nb.pytest_plugin"]
    command = [sys.executable, "-m", "pytest", *plugin, "-p", "no:cacheprovider", "--strict-markers", "-W", "error"]
    env_root = str(Path(__file__).parents[2])
    done = subprocess.run(
        [*command, "--rootdir", str(tmp_path), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=env_root,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 passed" in done.stdout


def test_the_package_offers_its_plugin_to_pytest() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"smsotp_nb": "smsotp_nb.pytest_plugin"}


def test_a_suite_that_never_asks_for_it_loads_next_to_nothing(tmp_path: Path) -> None:
    """Loaded for every suite of an environment, the plugin brings in no library and no room of this package."""
    (tmp_path / "test_app.py").write_text("def test_nothing():\n    pass\n", encoding="utf-8")
    (tmp_path / "conftest.py").write_text(
        "import sys\n\ndef pytest_unconfigure(config):\n"
        '    plugin = config.pluginmanager.has_plugin("smsotp_nb.pytest_plugin")\n'
        '    print("LOADED", plugin, *sorted(sys.modules))\n',
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "pytest", "-s", "-p", "smsotp_nb.pytest_plugin", "-p", "no:cacheprovider"]
    environ = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        [*command, "--rootdir", str(tmp_path), str(tmp_path)],
        capture_output=True, text=True, timeout=300, cwd=Path(__file__).parents[2], env=environ, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    found = next(line for line in done.stdout.splitlines() if line.startswith("LOADED")).split()
    assert found[1] == "True"
    ours = {name for name in found if name.split(".")[0] == "smsotp_nb"}
    assert ours <= {
        f"smsotp_nb{name}" for name in ("", ".errors", "._showing", "._showing.text", "._lazy", ".pytest_plugin")
    }
    others = {"pandas", "numpy", "pyarrow", "requests", "phonenumbers", "ipywidgets", "narwhals", "sqlite3"}
    assert others & set(found) == set()
