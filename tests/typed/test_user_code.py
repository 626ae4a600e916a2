"""The code that the type checkers read does what its types say."""

from __future__ import annotations

from pathlib import Path

import pytest
from user_code import main

from smsotp_nb.errors import CampaignIncomplete


def test_the_typed_code_of_a_user_runs(tmp_path: Path) -> None:
    """Types are checked by `make check`; that the calls work is seen here."""
    with pytest.warns(CampaignIncomplete, match="the first recipients were texted"):
        results = main(tmp_path)
    assert results["status"].tolist() == ["accepted", "accepted"]
    assert (tmp_path / "report.html").exists()
