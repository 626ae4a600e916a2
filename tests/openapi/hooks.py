"""What schemathesis cannot make up: numbers, templates and patterns that can be used, and waits that end.

For SCHEMATHESIS_HOOKS. Only what fits the file is replaced, so that a request that must be refused stays one.
"""

from __future__ import annotations

import re
from typing import Any

import schemathesis

NUMBER = re.compile(r"\+[1-9][0-9]{1,14}")
REAL = "+12025550123"  # reserved for fiction
TEMPLATE, VARIABLES = "pub_notice_en", {"name": "Ann", "order": 5}
LONGEST_PATTERN = 1_000


@schemathesis.hook
def before_call(_context: Any, case: Any, _sent: Any) -> None:
    if isinstance(case.query, dict) and _is_wait(case.query.get("wait")):
        case.query["wait"] = "0"
    if isinstance(case.body, dict):
        case.body = {name: _usable(name, value) for name, value in case.body.items()}
        if case.body.get("templateId") == TEMPLATE and case.body.get("templateData") in (None, "", [], {}):
            case.body["templateData"] = VARIABLES


def _usable(name: str, value: Any) -> Any:
    if name == "to" and isinstance(value, list):
        return [_usable(name, one) for one in value]
    if name == "to" and isinstance(value, str) and NUMBER.fullmatch(value):
        return REAL
    if name == "templateId" and isinstance(value, str) and value:
        return TEMPLATE
    if name == "templateData" and isinstance(value, dict):
        return VARIABLES
    if name == "kind" and value == "refuse":  # would shut the sandbox
        return "drop_before"
    if name.endswith("~") and isinstance(value, str) and len(value) <= LONGEST_PATTERN:
        return "a"
    return 0 if name in ("within", "settle") and _is_wait(value) else value


def _is_wait(value: Any) -> bool:
    try:
        return not isinstance(value, bool) and 0 <= float(value) <= 60
    except (TypeError, ValueError):
        return False
