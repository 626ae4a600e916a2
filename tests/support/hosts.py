"""Two machines, as near as one gets: network, processes and host name of their own, and a Jupyter kernel on each.

A host has nothing but its loopback and the lines that a test gives it: a port there that leads to a server outside.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import pytest

REQUIRED = "namespaces" in os.environ.get("SMSOTP_REQUIRE", "").split(",")
SHARES_NOTHING = ["--net", "--pid", "--fork", "--kill-child", "--mount-proc", "--uts"]
CLONE_NEWNET, SIOCSIFFLAGS, IFF_UP = 0x40000000, 0x8914, 1
ROOT = Path(__file__).parents[2]


def need_hosts() -> None:
    """Skip a test where namespaces may not be made, unless this run requires them."""
    asked = subprocess.run(["unshare", *SHARES_NOTHING, "true"], capture_output=True, text=True, check=False)
    if asked.returncode and not REQUIRED:
        pytest.skip(f"no namespaces of its own for a process: {asked.stderr.strip()}")
    assert not asked.returncode, f"SMSOTP_REQUIRE names namespaces: {asked.stderr.strip()}"


class Host:
    """A machine of this name, with a home of its own, until the ``with`` block ends."""

    def __init__(self, name: str, user: str, folder: Path) -> None:
        self._name, self._user, self._folder = name, user, folder / name
        self._folder.mkdir()
        self._open: list[socket.socket] = []
        self._kernels: list[Kernel] = []

    def __enter__(self) -> Self:
        self._holder = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
        self._net, mine = f"/proc/{self._holder.pid}/ns/net", os.readlink("/proc/self/ns/net")
        while os.readlink(self._net) == mine:
            time.sleep(0.01)
        return self

    def __exit__(self, *exc: object) -> None:
        for kernel in self._kernels:
            kernel.end()
        for one in self._open:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        self._holder.kill()
        self._holder.wait()

    def line(self, connect: Callable[[], socket.socket]) -> int:
        """Return a port of this host's loopback that leads to what ``connect`` reaches from outside."""
        made: list[socket.socket] = []
        thread = threading.Thread(target=lambda: made.append(self._listener()))
        thread.start()
        thread.join()
        self._open.append(made[0])
        threading.Thread(target=self._accept, args=(made[0], connect), daemon=True).start()
        return int(made[0].getsockname()[1])

    def kernel(self, folder: Path, **environment: str) -> Kernel:
        """Start a Jupyter kernel on this host, in this folder."""
        from jupyter_client.manager import KernelManager

        specs = self._folder / "kernels" / "there"
        specs.mkdir(parents=True)
        python = f"hostname {self._name}; exec {sys.executable} -m ipykernel_launcher -f {{connection_file}}"
        argv = ["nsenter", f"--net={self._net}", "unshare", *SHARES_NOTHING[1:], "sh", "-c", python]
        (specs / "kernel.json").write_text(json.dumps({"argv": argv, "display_name": "there", "language": "python"}))
        manager = KernelManager(
            kernel_name="there", transport="ipc", ip=str(self._folder / "k"),
            connection_file=str(self._folder / "connection.json"),
        )  # fmt: skip
        manager.kernel_spec_manager.kernel_dirs = [str(self._folder / "kernels")]
        home = {"HOME": str(self._folder), "LOGNAME": self._user, "JUPYTER_RUNTIME_DIR": str(self._folder)}
        manager.start_kernel(env={**os.environ, **home, "PYTHONPATH": str(ROOT), **environment}, cwd=str(folder))
        self._kernels.append(Kernel(manager))
        return self._kernels[-1]

    def _listener(self) -> socket.socket:
        """Listen in the network of this host; the thread that does stays there and ends."""
        with open(self._net, "rb") as net:
            if ctypes.CDLL(None, use_errno=True).setns(net.fileno(), CLONE_NEWNET):
                raise OSError(ctypes.get_errno(), "setns")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
            fcntl.ioctl(asked, SIOCSIFFLAGS, struct.pack("16sH14s", b"lo", IFF_UP, b""))
        return socket.create_server(("127.0.0.1", 0))

    def _accept(self, listener: socket.socket, connect: Callable[[], socket.socket]) -> None:
        with contextlib.suppress(OSError):
            while True:
                here, _ = listener.accept()
                there = connect()
                self._open += [here, there]
                for pair in ((here, there), (there, here)):
                    threading.Thread(target=_pass_on, args=pair, daemon=True).start()


class Kernel:
    """A Jupyter kernel that was started and runs cells."""

    def __init__(self, manager: Any) -> None:
        self._manager, self._client = manager, manager.client()
        self._client.start_channels()
        self._client.wait_for_ready(timeout=300)

    @classmethod
    def here(cls, folder: Path, **environment: str) -> Kernel:
        """Start one on this machine, in this folder."""
        from jupyter_client.manager import KernelManager

        manager = KernelManager(kernel_name="python3", transport="ipc", ip=str(Path(tempfile.mkdtemp()) / "k"))
        manager.start_kernel(env={**os.environ, "PYTHONPATH": str(ROOT), **environment}, cwd=str(folder))
        return cls(manager)

    def end(self) -> None:
        self._client.stop_channels()
        self._manager.shutdown_kernel(now=True)

    def begin(self, cell: str) -> None:
        """Begin a cell and do not wait for it."""
        self._client.execute(cell)

    def run(self, cell: str) -> str:
        """Run a cell and return what it shows: what it prints and its value as text, or its error in one line."""
        shown: list[str] = []

        def show(message: dict[str, Any]) -> None:
            content = message["content"]
            if message["msg_type"] == "stream":
                shown.append(content["text"])
            elif message["msg_type"] == "execute_result":
                shown.append(content["data"]["text/plain"] + "\n")
            elif message["msg_type"] == "error":
                shown.append(f"{content['ename']}: {content['evalue']}\n")

        self._client.execute_interactive(cell, timeout=300, output_hook=show)
        return "".join(shown)

    def kill(self) -> None:
        """Kill it, as when its machine dies."""
        self._manager.provisioner.process.kill()
        self._manager.provisioner.process.wait()


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    for one in (source, target):
        with contextlib.suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)
