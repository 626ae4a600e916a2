"""Tables of the reference, read from the code: a page asks for one with ``<!-- table: NAME -->``."""

from __future__ import annotations

import argparse
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping

import griffe

from smsotp_nb import _cli as cli
from smsotp_nb import errors, problems, rates, settings
from smsotp_nb._guards import GUARDS
from smsotp_nb._ledger.reading import parquet
from smsotp_nb._phones.vocabulary import NOTES, REPAIRS
from smsotp_nb._results.contract import COLUMNS, MEANINGS, STATE_MEANINGS

ASKED = re.compile(r"^<!-- table: ([a-z-]+) -->$", flags=re.MULTILINE)


def filled(markdown: str) -> str:
    """Return a page with every table it asks for; an unknown name is a KeyError."""
    return ASKED.sub(lambda asked: TABLES[asked[1]](), markdown)


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a Markdown table."""
    names = list(header)
    return "\n".join(_line(cells) for cells in (names, ["---"] * len(names), *rows))


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def code(text: object) -> str:
    return f"`{text}`"


def result_columns() -> str:
    rows = ((code(name), code(dtype), MEANINGS[name]) for name, dtype in COLUMNS.items())
    return table(("column", "dtype", "meaning"), rows)


def parquet_columns() -> str:
    kinds = {"month": "string, in the path"} | {field.name: str(field.type) for field in parquet.SCHEMA}
    rows = ((code(name), code(kinds[name]), meaning) for name, meaning in parquet.MEANINGS.items())
    return table(("column", "type", "meaning"), rows)


def states() -> str:
    return table(("status", "meaning"), ((code(state), meaning) for state, meaning in STATE_MEANINGS.items()))


def words(meanings: Mapping[str, str]) -> str:
    return table(("code", "meaning"), ((code(name), meaning) for name, meaning in meanings.items()))


def problems_of(stage: str) -> str:
    rows = (
        (code(one.code), one.status, one.meaning, one.who, one.next_step)
        for one in problems.PROBLEMS.values()
        if one.stage == stage
    )
    return table(("code", "status", "meaning", "who can act", "next step"), rows)


def guards() -> str:
    rows = [(code("per_second=20"), "caps recipients a second, over all threads", "")]
    rows += [(code(guard.example), guard.effect, code(guard.code)) for guard in GUARDS]
    return table(("option of `Limits`", "effect", "`problem` of rows held back"), rows)


def repairs() -> str:
    rows = ((code(name), code(note), NOTES[note].rpartition(": ")[2]) for name, note in REPAIRS.items())
    return table(("repair", "note", "what it does"), rows)


def error_tree() -> str:
    return table(("error", "is also", "when"), map(_error, _kinds()))


def _error(kind: type) -> tuple[str, str, str]:
    place = f"errors.md#{kind.__module__}.{kind.__qualname__}"
    parents = ", ".join(code(base.__name__) for base in kind.__bases__)
    return f"[`{kind.__name__}`]({place})", parents, _first_line(kind)


def _kinds() -> Iterator[type]:
    for kind in vars(errors).values():
        if inspect.isclass(kind) and issubclass(kind, (Exception, Warning)):
            yield kind


def _first_line(thing: object) -> str:
    return (inspect.getdoc(thing) or "").split("\n\n")[0]


def arguments(thing: object) -> dict[str, str]:
    """Return what a docstring says of each argument."""
    sections = griffe.parse_google(griffe.Docstring(inspect.getdoc(thing) or ""), warn_missing_types=False)
    found: dict[str, str] = {}
    for section in sections:
        if section.kind is griffe.DocstringSectionKind.parameters:
            found |= {name: item.description for item in section.value for name in item.name.split(", ")}
    return found


def settings_arguments() -> str:
    said = arguments(settings.Settings)
    rows = []
    for name, parameter in inspect.signature(settings.Settings).parameters.items():
        variable = code(f"SMSOTP_{name.upper()}") if name in settings.READ_FROM_ENVIRONMENT else ""
        rows.append((code(name), variable, code(repr(parameter.default)), said[name]))
    return table(("argument", "variable", "default", "meaning"), rows)


def rate_columns() -> str:
    rows = ((code(name), "yes" if name in rates.NEEDED else "no", rates.MEANINGS[name]) for name in rates.MEANINGS)
    return table(("column", "required", "meaning"), rows)


def command_line() -> str:
    return "\n\n".join(_command(name, command, said) for name, command, said in _commands(cli.parser()))


def _commands(parser: argparse.ArgumentParser, before: str = "") -> Iterator[tuple[str, argparse.ArgumentParser, str]]:
    """Yield each command with what its help says; of one that has commands of its own, those."""
    for commands in (action for action in parser._actions if isinstance(action, argparse._SubParsersAction)):
        helps = {choice.dest: choice.help or "" for choice in commands._choices_actions}
        for name, command in commands.choices.items():
            within = [*_commands(command, f"{before}{name} ")]
            yield from within or [(f"{before}{name}", command, helps[name])]


def _command(name: str, command: argparse.ArgumentParser, said: str) -> str:
    rows = []
    for action in command._actions:
        if action.help != argparse.SUPPRESS and action.dest != "help":
            value = _value(action)
            names = ", ".join(action.option_strings) or str(action.dest)
            shown = f"{names} {value}".strip() if action.option_strings else str(action.metavar or names)
            rows.append((code(shown), (action.help or "").replace("%%", "%")))
    return f"## smsotp-nb {name}\n\n{said[:1].upper()}{said[1:]}.\n\n{table(('option', 'meaning'), rows)}"


def _value(action: argparse.Action) -> str:
    """Return what stands behind an option, as argparse's own help shows it."""
    if action.choices is not None:
        return "{" + ",".join(map(str, action.choices)) + "}"
    if isinstance(action.metavar, tuple):
        return " ".join(action.metavar)
    return action.metavar or ("" if action.nargs == 0 else action.dest.upper())


TABLES: dict[str, Callable[[], str]] = {
    "result-columns": result_columns,
    "parquet-columns": parquet_columns,
    "states": states,
    "problems-of-numbers": lambda: problems_of("number"),
    "problems-of-a-plan": lambda: problems_of("plan"),
    "problems-of-a-send": lambda: problems_of("send"),
    "notes": lambda: words(NOTES),
    "guards": guards,
    "repairs": repairs,
    "errors": error_tree,
    "settings": settings_arguments,
    "rates": rate_columns,
    "command-line": command_line,
}
