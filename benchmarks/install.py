"""What the package costs to have and to load: size on the disk, time and memory of imports, and of its pytest plugin.

    python benchmarks/install.py [--runs K]

Size: the files of every distribution that a plain ``pip install smsotp_nb`` brings, extras left out, as they lie in
this environment. Imports: CPU time and highest resident size of a process beyond one that imports nothing; beside it a
process that imports pandas alone. The plugin: a suite of one empty test with and without it, in turn, and its import by
itself, for on a busy machine the start of pytest varies by more than that. Medians, with the lowest and the highest.
"""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

PROGRAMS = {
    "import pandas": "import pandas",
    "import smsotp_nb": "import smsotp_nb",
    "smsotp_nb.parts": "from smsotp_nb import parts; parts.count",
    "smsotp_nb.phones.normalize": "from smsotp_nb.phones import normalize",
    "smsotp_nb.plan": "from smsotp_nb import plan",
    "smsotp_nb.send": "from smsotp_nb import send",
    "smsotp_nb.Sandbox": "from smsotp_nb import Sandbox",
    "smsotp_nb.widgets.CampaignForm": "from smsotp_nb.widgets import CampaignForm",
}
PLUGIN = ["-p", "smsotp_nb.pytest_plugin"]
SUITE = ["-m", "pytest", "-q", "-p", "no:cacheprovider"]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--runs", type=int, default=7)
    runs = arguments.parse_args().runs
    sizes = {name: _size(name) for name in sorted(_needed("smsotp_nb"))}
    print(f"{sum(sizes.values()) / 1e6:.0f} MB in {len(sizes)} distributions; the largest:")
    for name, size in sorted(sizes.items(), key=lambda pair: -pair[1])[:8]:
        print(f"  {size / 1e6:6.1f} MB  {name}")
    nothing = _measured(["-c", ""], runs)
    for said, program in PROGRAMS.items():
        print(f"{said:32} {_beyond(_measured(['-c', program], runs), nothing)}")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "test_empty.py").write_text("def test_nothing():\n    pass\n", encoding="utf-8")
        pairs = [(_once([*SUITE, folder], folder), _once([*SUITE, *PLUGIN, folder], folder)) for _ in range(runs + 1)]
        without, loaded = (list(runs) for runs in zip(*pairs[1:], strict=True))
        print(f"{'a suite with the pytest plugin':32} {_beyond(loaded, without)}")
    taken = sorted(_import_of_plugin() for _ in range(runs))
    print(f"{'its import alone':32} {statistics.median(taken):7.1f} ms CPU ({taken[0]:.1f} to {taken[-1]:.1f})")


def _needed(name: str, known: frozenset[str] = frozenset()) -> frozenset[str]:
    """Return a distribution and all that it needs here, extras left out; what is not installed is for other systems."""
    try:
        wanted = distribution(name).requires or []
    except PackageNotFoundError:
        return known
    known |= {name}
    for line in wanted:
        needed = re.match(r"[\w.-]+", line)
        if needed and "extra ==" not in line and re.sub(r"[-_.]+", "-", needed[0]).lower() not in known:
            known |= _needed(re.sub(r"[-_.]+", "-", needed[0]).lower(), known)
    return known


def _size(name: str) -> int:
    found = (Path(str(file.locate())) for file in distribution(name).files or [])
    return sum(path.stat().st_size for path in found if path.is_file())


def _measured(arguments: Sequence[str], runs: int, folder: str | None = None) -> list[tuple[float, float]]:
    """Return CPU seconds and megabytes of each run; the first, which may have to compile, is left out."""
    return [_once(arguments, folder) for _ in range(runs + 1)][1:]


def _once(arguments: Sequence[str], folder: str | None) -> tuple[float, float]:
    code = "import os, resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL);"
    code += "used = resource.getrusage(resource.RUSAGE_CHILDREN); print(used.ru_utime + used.ru_stime, used.ru_maxrss)"
    done = subprocess.run(
        [sys.executable, "-c", code, sys.executable, *arguments],
        capture_output=True, text=True, check=True, cwd=folder, env={"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )  # fmt: skip
    seconds, kilobytes = done.stdout.split()
    return float(seconds), int(kilobytes) / (1e6 if sys.platform == "darwin" else 1e3)


def _import_of_plugin() -> float:
    """Return the CPU milliseconds that pytest spends on importing the plugin."""
    code = "import time, pytest; begun = time.process_time(); import smsotp_nb.pytest_plugin;"
    code += "print(1000 * (time.process_time() - begun))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout)


def _beyond(runs: list[tuple[float, float]], base: list[tuple[float, float]]) -> str:
    ground, floor = (statistics.median(values) for values in zip(*base, strict=True))
    times, sizes = zip(*runs, strict=True)
    low, middle, high = (1000 * (value - ground) for value in (min(times), statistics.median(times), max(times)))
    return f"{middle:7.0f} ms CPU ({low:.0f} to {high:.0f}), {statistics.median(sizes) - floor:6.1f} MB"


if __name__ == "__main__":
    main()
