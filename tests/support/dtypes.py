"""Names of dtypes that read alike on every pandas: our columns of text are ``str`` on pandas 3, and its like before."""

from __future__ import annotations

from typing import Any

import pandas as pd

from smsotp_nb import phones

STR: Any = phones.normalize(pd.Series([], dtype=object))["to"].dtype


def dtype_names(frame: pd.DataFrame) -> dict[str, str]:
    return {str(name): "str" if dtype == STR else str(dtype) for name, dtype in frame.dtypes.items()}
