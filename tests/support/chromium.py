"""The browser of the tests."""

from __future__ import annotations

import shutil

# The shell draws no window of its own, which takes a good part of the work from a machine without a graphics card.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
