"""What the calls of ``wrong_calls.txt`` are made with: people, a plan that was sent, a ledger, sandboxes, files."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

import smsotp_nb as sms

TEXT = "Hi {name}"


def people() -> pd.DataFrame:
    """Return three recipients, with columns that are easily taken for something else."""
    return pd.DataFrame(
        {
            "phone": ["+12025550123", "+12025550147", "(415) 555-0100"],
            "country": ["US", "US", "US"],
            "name": ["Ann", "Ben", "Cy"],
            "msg": ["Hi Ann", "Hello Ben", "Dear Cy"],
            "coupon": ["A1", "B2", "C3"],
            "greeting": [TEXT, TEXT, TEXT],
        }
    )


@contextmanager
def world(tmp: Path) -> Iterator[dict[str, Any]]:
    """Yield the names that the calls use."""
    with sms.Sandbox() as box, sms.Ledger(tmp / "l.sqlite", create=True) as ledger:
        frame = people()
        plan = sms.plan(frame, TEXT, to="phone", region="country", campaign="hello")
        other_plan = sms.plan(frame.iloc[:2], "Hey {name}", to="phone", campaign="other")
        client = box.client()
        results, other = (sms.send(one, client=client, ledger=ledger, progress=False) for one in (plan, other_plan))
        closed_box = sms.Sandbox()
        closed_client = closed_box.client()
        closed_box.close()
        yield {
            "sms": sms,
            "pd": pd,
            "np": np,
            "dt": dt,
            "tmp": tmp,
            "box": box,
            "client": client,
            "ledger": ledger,
            "people": frame,
            "plan": plan,
            "results": results,
            "other": other,
            "closed_box": closed_box,
            "closed_client": closed_client,
            "campaign": ledger.record("hello"),
            **_tables(frame, results),
            "challenge": sms.otp.send("+12025550123", client=client),
            **_files(tmp, results),
        }


def _tables(frame: pd.DataFrame, results: pd.DataFrame) -> dict[str, Any]:
    multi = frame.copy()
    multi.columns = pd.MultiIndex.from_product([["a"], frame.columns])
    return {
        "judged": sms.phones.normalize(frame["phone"], region=frame["country"]),
        "costs": sms.cost.by_country(results),
        "rates": pd.DataFrame({"iso": ["US"], "currency": ["USD"], "price": ["0.0075"]}),
        "empty": frame.iloc[:0],
        "twice": pd.concat([frame, frame[["phone", "name"]]], axis=1),
        "multi": multi,
        "batch": pa.table({"phone": ["+12025550123"]}),
    }


def _files(tmp: Path, results: pd.DataFrame) -> dict[str, Any]:
    (tmp / "notes.txt").write_text("hello", encoding="utf-8")
    (tmp / "empty.csv").write_text("", encoding="utf-8")
    (tmp / "image.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0")
    (tmp / "folder").mkdir()
    (tmp / "numbers.csv").write_text("phone\n+12025550123\n", encoding="utf-8")
    return {"results_file": sms.results.write(results, tmp / "r.csv")}
