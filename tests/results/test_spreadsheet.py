"""A real spreadsheet opens what we write, with any separator it may choose, and finds no formula."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import openpyxl
import pandas as pd
import pytest

from smsotp_nb import results

CALC = shutil.which("soffice")
pytestmark = pytest.mark.skipif(
    CALC is None and "calc" not in os.environ.get("SMSOTP_REQUIRE", ""), reason="LibreOffice (soffice) is not installed"
)
HOSTILE: list[object] = [
    "=1+1", "a;=1+1;b", "a\r=1+1", "a\r\n=1+1", 'a;"=1+1;b', "a\t=1+1", "a,=1+1", "a; =1+1", ";=1+1", "'=1+1",
    '=HYPERLINK("http://127.0.0.1")', b"=1+1", Path("=2+2"), "@SUM(1)", "-1+2",
    "\0=1+1", "\0\0=1+1", "'\0=1+1", "a;\0=1+1", "a\n\0=1+1", "a\t\0=1+1",
]  # fmt: skip
EVALUATED = ",34,76,1,,0,false,true,false,false,false,-1,true"  # quotes, UTF-8, special numbers and formulas read


def opened(file: Path, separator: str) -> list[object]:
    """Let the spreadsheet open a CSV with a separator; return the cells that it takes for formulas."""
    folder = file.with_name(f"opened-{separator.replace('/', '-')}")
    command = [
        str(CALC),
        f"-env:UserInstallation={(file.parent / 'profile').as_uri()}",
        "--headless",
        f"--infilter=Text - txt - csv (StarCalc):{separator}{EVALUATED}",
        *("--convert-to", "xlsx", "--outdir", str(folder), str(file)),
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    sheet = openpyxl.load_workbook(folder / f"{file.stem}.xlsx").active
    return [cell.value for row in sheet.iter_rows() for cell in row if cell.data_type == "f"]


@pytest.mark.parametrize("separator", ["44", "59", "9"], ids=["comma", "semicolon", "tab"])
def test_no_cell_is_a_formula(tmp_path: Path, separator: str) -> None:
    rows = pd.DataFrame({"x": "t", "v": pd.Series(HOSTILE, dtype=object), "=1+100": "u", "\0=2+100": "u"})
    results.write(rows, tmp_path / "safe.csv")
    rows.to_csv(tmp_path / "plain.csv", index=False, quoting=2)
    assert opened(tmp_path / "plain.csv", separator)  # else nothing would be shown
    assert opened(tmp_path / "safe.csv", separator) == []
