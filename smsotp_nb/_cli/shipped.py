"""What comes with the package: the example notebooks and the sample data, which ``smsotp-nb notebooks`` writes."""

from __future__ import annotations

import argparse
from pathlib import Path

from .._outputs import outputs
from .._sandbox.command import path_typed
from ..errors import FileExists, UsageError

SHIPPED = ("notebooks", "sample_data")


def describe(written: argparse.ArgumentParser) -> None:
    """Add every option of the command."""
    written.add_argument("folder", type=path_typed, metavar="DIR", help="gets two folders: notebooks and sample_data")
    written.add_argument("--force", action="store_true", help="replace files that are there already")
    written.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the notebooks and their data as two folders, so that each finds its data; both whole or not at all."""
    sources = [
        path
        for name in SHIPPED
        for path in sorted(folder_of(name).iterdir())
        if path.suffix in (".ipynb", ".csv", ".py")
    ]
    targets = [options.folder / path.parent.name / path.name for path in sources]
    for folder in {target.parent for target in targets}:
        _make_folder(folder)
    try:
        with outputs(*targets, inputs=sources, overwrite=options.force) as files:
            for source, file in zip(sources, files, strict=True):
                file.file.write(source.read_bytes())
    except FileExists as error:
        raise UsageError(f"{error.path} exists; --force replaces it") from None
    for name in SHIPPED:
        print(f"{sum(target.parent.name == name for target in targets)} files written to {options.folder / name}")
    print(f"Open them: jupyter lab {options.folder / 'notebooks' / 'campaign.ipynb'}")
    print('What they need comes with: pip install "smsotp_nb[notebook,excel,statistics]"')
    return 0


def folder_of(name: str) -> Path:
    """Return a folder that an installed package carries in itself, and a checkout beside it."""
    package = Path(__file__).parent.parent
    installed = package / "_data" / name
    return installed if installed.is_dir() else package.parent / name


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"the folder {folder} cannot be created: {error.strerror}") from None
