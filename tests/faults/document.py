"""The kinds as a table for ``docs/faults.md``: ``python -m faults.document`` from the folder of the tests prints it."""

from __future__ import annotations

from .campaign import cases
from .kinds import TABLE


def table() -> str:
    """Return every kind with its outcome, where it strikes, and how many cases it makes."""
    counts: dict[str, int] = {}
    for case in cases():
        counts[case.kind.name] = counts.get(case.kind.name, 0) + 1
    lines = []
    for title, kinds in TABLE.items():
        lines += ["", f"### {title}", "", "| what the service does | outcome | places | cases |", "|---|---|---|---|"]
        for kind in kinds:
            places = len(kind.places) if len(kind.places) > 1 else ""
            lines.append(f"| {kind.name} | {kind.outcome} | {places} | {counts[kind.name]} |")
    return "\n".join(lines).strip() + "\n"


if __name__ == "__main__":
    print(table(), end="")
