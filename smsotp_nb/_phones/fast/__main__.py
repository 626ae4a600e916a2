"""Build the shipped tables for the installed phonenumbers and check that they read back as they were built."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from . import tables

built = tables.build()
tables.write(built, tables.shipped_file())
again = tables.read(tables.shipped_file())
differing = [
    field.name for field in fields(built) if not np.array_equal(getattr(built, field.name), getattr(again, field.name))
]
if differing:
    raise SystemExit(f"{tables.shipped_file()} does not read back as it was built: {', '.join(differing)}")
