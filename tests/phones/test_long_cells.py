"""A cell takes time in proportion to its length, whatever it holds: nobody's list may stop the kernel."""

from __future__ import annotations

import pandas as pd
import pytest
from support.cpu_time import at_most

from smsotp_nb import phones

LENGTH = 20_000
PADDING = ["0", "\u0660", "\uff10", "00 ", "+ ", "0 +", "(", " (", "(0)", "'", "1 ", "1/", "Ann ", "no ", "\u09be"]


@pytest.mark.parametrize("piece", PADDING)
@pytest.mark.parametrize("rows", [1, 300], ids=["row by row", "by column"])
def test_a_long_cell_is_read_like_another(piece: str, rows: int) -> None:
    others = ["+12025550123"] * rows
    cells = [piece * (LENGTH // len(piece)), "+1" + piece * (LENGTH // len(piece)), piece * 60, *others]
    with at_most(10):
        found = phones.normalize(cells, default_region="FR")
        phones.parse(cells, default_region="FR")
        phones.explode(pd.DataFrame({"phone": cells}), "phone")
    assert found["to"].isna().tolist() == [True] * 3 + [False] * rows
