"""A machine that forgets its files: the first live campaign waits until somebody says where the record is kept."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from kills.service import Service

from smsotp_nb import Client, Ledger, Settings, plan, preflight, send, send_test
from smsotp_nb.errors import LedgerError
from smsotp_nb.settings import lent_by

ROOT = Path(__file__).parents[2]
DISK = "/dev/vda / ext4 rw 0 0\n"
CELL = """
import sys, pandas as pd, smsotp_nb as sms
people = pd.DataFrame({"phone": ["+12025550123", "+12025550124"]})
plan = sms.plan(people, "Hello!", to="phone", campaign="autumn")
with sms.Sandbox() as box:
    assert sms.send(plan, client=box.client(), progress=False)["status"].eq("accepted").all()
client = sms.Client(sms.Settings(base_url=sys.argv[1], access_key_id="key"))
try:
    print(sms.send(plan, client=client, progress=False, **eval(sys.argv[2]))["status"].tolist())
except sms.errors.LedgerError as error:
    print(error)
"""


@pytest.fixture
def service() -> Iterator[Service]:
    with Service() as made:
        yield made


@pytest.fixture
def memory() -> Iterator[Path]:
    """A folder on a disk in memory, which is where a lent machine may have its home."""
    if not os.access("/dev/shm", os.W_OK):
        pytest.skip("this system has no /dev/shm")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        yield Path(folder)


def cell(home: Path, url: str, arguments: str = "{}", **environ: str) -> str:
    """Run the same cell in a new kernel, on a machine whose home is this folder."""
    its_own = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "HOME": str(home), **environ}
    command = [sys.executable, "-W", "error", "-c", CELL, url, arguments]
    done = subprocess.run(command, env=its_own, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("variable", "host"),
    [
        ("COLAB_RELEASE_TAG", "Google Colab"), ("KAGGLE_KERNEL_RUN_TYPE", "Kaggle"),
        ("CODESPACES", "GitHub Codespaces"),
        ("DATABRICKS_RUNTIME_VERSION", "Databricks"), ("BINDER_SERVICE_HOST", "Binder"), ("HEX_PROJECT_ID", "Hex"),
        ("PAPERSPACE_NOTEBOOK_ID", "Paperspace"), ("DEEPNOTE_PROJECT_ID", "Deepnote"), ("SATURN_TOKEN", "Saturn Cloud"),
        ("SAGEMAKER_INTERNAL_IMAGE_URI", "Amazon SageMaker"), ("VERTEX_PRODUCT", "Google Vertex AI"),
        ("AZUREML_RUN_ID", "Azure Machine Learning"), ("GITHUB_ACTIONS", "GitHub Actions"),
    ],
)  # fmt: skip
def test_a_host_is_known_by_its_variable_which_is_named(variable: str, host: str) -> None:
    assert lent_by({variable: "1"}) == f"{host} ({variable} is set)"
    assert lent_by({variable: " "}) == ""


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "host",
    [{}, {"COLAB_RELEASE_TAG": "1"}, {"KAGGLE_URL_BASE": "https://k.example"}],
    ids=["no name", "colab", "kaggle"],
)
def test_the_same_cell_twice_on_a_machine_that_forgets_texts_nobody(
    memory: Path, service: Service, host: dict[str, str]
) -> None:
    """Its home is new each time; the rehearsal on the sandbox works all the same."""
    sign = f"{next(iter(host))} is set" if host else "in memory (tmpfs)"
    for run in ("first", "second"):
        (memory / run).mkdir()
        said = cell(memory / run, service.url, **host)
        for words in (sign, "Nothing was sent", "SMSOTP_LEDGER", "ledger=", "docs/guides/hosted.md", "'temporary'"):
            assert words in said
    assert not service.accepted


@pytest.mark.sampled(2)
@pytest.mark.parametrize("how", ["a path", "a variable", "temporary", "temporary by a variable"])
def test_the_cell_runs_where_it_is_said_where_the_record_is_kept(
    memory: Path, tmp_path: Path, service: Service, how: str
) -> None:
    """With a record that lasts the second machine knows whom the first one texted; with ``temporary`` the same does."""
    lasting = tmp_path / "ledger.sqlite"
    Ledger(lasting, create=True).close()
    environ = {"a variable": str(lasting), "temporary by a variable": "temporary"}.get(how)
    given = {"a path": {"ledger": str(lasting)}, "temporary": {"ledger": "temporary"}}.get(how, {})
    for run in (1, 2):
        home = memory / ("same" if "temporary" in how else str(run))
        home.mkdir(exist_ok=True)
        host = {"COLAB_GPU": "1", **({"SMSOTP_LEDGER": environ} if environ else {})}
        assert cell(home, service.url, repr(given), **host) == "['accepted', 'accepted']\n"
    assert len(service.accepted) == 2


def test_a_test_message_and_a_preflight_say_so_too_and_a_record_that_is_there_goes_on(
    tmp_path: Path, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SMSOTP_LEDGER")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for name in os.environ:
        if lent_by({name: "1"}):
            monkeypatch.delenv(name)
    monkeypatch.setattr("smsotp_nb._ledger.file.disk._mounts", lambda: DISK)
    made = plan(pd.DataFrame({"phone": ["+12025550123"]}), "Hi", to="phone", campaign="a")
    client = Client(Settings(base_url=service.url, access_key_id="key"))
    with monkeypatch.context() as host:
        host.setenv("BINDER_SERVICE_HOST", "1")
        for call in (
            lambda: preflight(made, client=client),
            lambda: send_test(made, to="+14155550100", client=client),
            lambda: send(made, client=client, progress=False),
        ):
            with pytest.raises(LedgerError, match=r"Binder \(BINDER_SERVICE_HOST is set\)"):
                call()
        assert not service.accepted
    assert send(made, client=client, progress=False)["status"].tolist() == ["accepted"]
    monkeypatch.setenv("BINDER_SERVICE_HOST", "1")
    assert send(made, client=client, progress=False)["status"].tolist() == ["accepted"]
    assert len(service.accepted) == 1
