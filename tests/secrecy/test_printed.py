"""Control characters of a service: whatever is printed, logged or shown has them as numbers; the frames keep them."""

from __future__ import annotations

import copy
import io
import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from faults.acts import body
from faults.server import BreakingServer, Script
from support.dtypes import STR

import smsotp_nb as sms

# What moves a cursor or turns a line: every control character but tab and line end, and the signs of direction.
SPANS = (0x00, 0x08), (0x0B, 0x1F), (0x7F, 0x9F), (0x61C, 0x61C), (0x200E, 0x200F), (0x2028, 0x202E), (0x2066, 0x2069)
CONTROLS = {chr(sign) for first, last in SPANS for sign in range(first, last + 1)}
HOSTILE = "".join(sorted(CONTROLS)) + "\x1b[2J"
NUMBERS = ("+12025550187", "+14155550143")
RECORD = {"id": f"a{HOSTILE}", "iso": f"U{HOSTILE}", "cc": f"1{HOSTILE}", "parts": 1, "price": "0.0075"}
ACCEPTED = {
    "code": "0",
    "message": f"Success{HOSTILE}",
    "data": {"currency": f"USD{HOSTILE}", "messages": [{**RECORD, "to": to, "id": f"{to}{HOSTILE}"} for to in NUMBERS]},
}
REFUSED = {"code": f"1{HOSTILE}", "message": f"no{HOSTILE}"}


def raw(text: str) -> list[str]:
    """Return what a terminal would obey in a text."""
    return [sign for sign in text if sign in CONTROLS]


@pytest.fixture(scope="module", params=[(ACCEPTED, 200), (REFUSED, 400)], ids=["accepted", "refused"])
def sent(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """A campaign of two people, and what was printed and logged of it."""
    reply, status = request.param
    spoken, log = io.StringIO(), io.StringIO()
    handler = logging.StreamHandler(log)
    logging.getLogger("smsotp_nb").addHandler(handler)
    logging.getLogger("smsotp_nb").setLevel(logging.DEBUG)
    frame = pd.DataFrame({"phone": NUMBERS, "team": "red"})
    plan = sms.plan(frame, "Hello", to="phone", campaign="autumn", keep=["team"])
    with (
        BreakingServer(Script((body(json.dumps(reply).encode(), status),))) as server,
        sms.Ledger(tmp_path_factory.mktemp("printed") / "ledger.sqlite", create=True) as ledger,
        sms.Client(sms.Settings(base_url=f"http://127.0.0.1:{server.port}", access_key_id="k")) as client,
    ):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("sys.stderr", spoken)
            results = sms.send(plan, client=client, ledger=ledger, limits=sms.Limits(stop_after=None))
            results = results.join(ledger.record(plan.campaign).details.set_axis(results.index))
        said = [repr(part) for part in (results.attrs,)]
        try:
            reply = client.send_message(NUMBERS[0], text="Hello")
            said += [repr(reply), repr(reply.messages[0]), repr(reply.messages)]
        except sms.errors.ServiceError as error:
            said += [str(error), repr(error)]
        yield {
            "results": results,
            "ledger": ledger,
            "said": [*said, spoken.getvalue(), log.getvalue()],
            "status": status,
        }
    logging.getLogger("smsotp_nb").removeHandler(handler)
    logging.getLogger("smsotp_nb").setLevel(logging.NOTSET)


def test_what_is_said_and_logged_moves_no_cursor(sent: dict[str, Any]) -> None:
    assert [raw(text) for text in sent["said"]] == [[]] * len(sent["said"])
    assert "accepted" in sent["said"][-2]


def tables(sent: dict[str, Any]) -> dict[str, pd.DataFrame | pd.Series]:
    results, ledger = sent["results"], sent["ledger"]
    campaign = ledger.record("autumn")
    made = {
        "results": results,
        "columns of it": results[["id", "iso", "currency", "error_code"]],
        "a column": results["iso"],
        "rows of it": results.head(1),
        "rows chosen": results[results["to"].eq(NUMBERS[0])],
        "sorted": results.sort_values("id"),
        "grouped": results.groupby("iso", dropna=False)["parts"].sum(),
        "as an index": results.set_index("id"),
        "joined": results.merge(results, on="to"),
        "one under the other": pd.concat([results, results]),
        "campaign": campaign.results,
        "requests": campaign.requests,
        "rejected": campaign.rejected,
        "all campaigns": ledger.campaigns(),
        "spending": sms.cost.spending(ledger),
        "outcomes": sms.cost.outcomes(ledger),
    }
    if sent["status"] == 200:
        made |= {
            "by country": sms.cost.by_country(results),
            "by country of the ledger": sms.cost.by_country(ledger),
            "summary": sms.cost.summary(results),
            "rates": sms.cost.rates(results),
            "compared": sms.cost.compare(results),
        }
    return made


def test_no_frame_moves_a_cursor_when_it_is_printed(sent: dict[str, Any]) -> None:
    with pd.option_context("display.max_columns", None, "display.width", 10_000, "display.max_colwidth", None):
        found = {
            name: raw(
                f"{table}{table.to_string()}{table.to_frame() if isinstance(table, pd.Series) else table.to_html()}"
            )
            for name, table in tables(sent).items()
        }
    assert {name: signs for name, signs in found.items() if signs} == {}


def test_frames_keep_what_the_service_said(sent: dict[str, Any], tmp_path: Path) -> None:
    results = sent["results"]
    column = "iso" if sent["status"] == 200 else "error_code"
    said = RECORD["iso"] if sent["status"] == 200 else " ".join(REFUSED["code"].split())  # a code is on one line
    assert results[column].tolist() == [said] * 2
    assert results[column].dtype == STR
    file = sms.results.write(results, tmp_path / "results.parquet")
    back = sms.results.read(file)
    pd.testing.assert_frame_equal(back, results)
    assert not raw(repr(back))


def test_a_frame_is_pickled_as_plain_text(sent: dict[str, Any], tmp_path: Path) -> None:
    """Whoever opens it may have no such package."""
    column = "iso" if sent["status"] == 200 else "error_code"
    frame = sent["results"][[column]]
    frame.to_pickle(tmp_path / "frame.pkl")
    program = (
        "import sys; sys.modules['smsotp_nb'] = None; import pandas as pd; "
        f"print(ascii(pd.read_pickle({str(tmp_path / 'frame.pkl')!r})[{column!r}].tolist()))"
    )
    found = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert found.stdout.strip() == ascii(frame[column].tolist())
    pd.testing.assert_frame_equal(copy.deepcopy(frame), frame)
