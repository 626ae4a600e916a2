"""The patterns of the metadata as a small graph, the common ground of both kinds of automaton.

phonenumbers describes numbering plans by regular expressions over digits, of a modest kind: classes, groups,
alternatives, ``?`` and counted repeats; no star, no lookaround, no back reference. `Graph.pattern` reads such an
expression into nodes that lead from one digit to the next:

* ``Step`` consumes one digit of a set and goes on to one node,
* ``Fork`` consumes nothing and goes on to several nodes, the preferred one first (as Python's ``re`` tries them),
* ``AtEnd`` goes on only where no digit is left (the ``$`` of the metadata),
* ``Mark`` notes where a group begins or ends,
* ``Accept`` says which pattern has matched; a sticky one stays matched whatever digits follow.

Patterns are read from their end to their start, each part being told the node that follows it, and equal nodes are
one node. That alone makes the tails (``\\d{6}`` here, ``\\d{6}`` there) shared and the automata small.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, TypeAlias

ALL_DIGITS: Final = frozenset(range(10))


class Unsupported(ValueError):
    """A pattern uses something this room cannot read; the reference has to do the work then."""


@dataclass(frozen=True, slots=True)
class Step:
    digits: frozenset[int]
    then: int


@dataclass(frozen=True, slots=True)
class Fork:
    then: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AtEnd:
    then: int


@dataclass(frozen=True, slots=True)
class Mark:
    name: str
    then: int


@dataclass(frozen=True, slots=True)
class Accept:
    tag: int
    sticky: bool = False


Node: TypeAlias = Step | Fork | AtEnd | Mark | Accept


@dataclass(slots=True)
class Graph:
    """All nodes, by number; adding an equal node gives the number of the one that is there."""

    nodes: list[Node] = field(default_factory=list)
    numbers: dict[Node, int] = field(default_factory=dict)

    def add(self, node: Node) -> int:
        number = self.numbers.setdefault(node, len(self.nodes))
        if number == len(self.nodes):
            self.nodes.append(node)
        return number

    def pattern(self, expression: str, accept: Accept, *, mark_group: int | None = None) -> int:
        """Add an expression that leads to ``accept`` and return its first node; one group may be marked.

        Example:
            >>> graph = Graph()
            >>> first = graph.nodes[graph.pattern("[12]\\\\d", Accept(0))]
            >>> sorted(first.digits), graph.nodes[first.then]
            ([1, 2], Step(digits=frozenset({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}), then=0))
        """
        return self._alternatives(_Reader(expression).expression(), self.add(accept), mark_group)

    def _alternatives(self, tree: Alternatives, then: int, mark: int | None) -> int:
        entries = tuple(self._sequence(parts, then, mark) for parts in tree)
        return entries[0] if len(entries) == 1 else self.add(Fork(entries))

    def _sequence(self, parts: Sequence, then: int, mark: int | None) -> int:
        for part in reversed(parts):
            then = self._repeated(part, then, mark)
        return then

    def _repeated(self, part: Part, then: int, mark: int | None) -> int:
        for _ in range(part.most - part.least):  # greedy: one more is preferred to going on
            then = self.add(Fork((self._once(part, then, mark), then)))
        for _ in range(part.least):
            then = self._once(part, then, mark)
        return then

    def _once(self, part: Part, then: int, mark: int | None) -> int:
        if part.digits is not None:
            return self.add(Step(part.digits, then))
        if part.group is None:
            return self.add(AtEnd(then))
        if mark is None or part.number != mark:
            return self._alternatives(part.group, then, mark)
        inside = self._alternatives(part.group, self.add(Mark("close", then)), mark)
        return self.add(Mark("open", inside))


@dataclass(frozen=True, slots=True)
class Part:
    """A digit set, a group or ``$`` (neither), and how often it may stand in a row; capturing groups have numbers."""

    digits: frozenset[int] | None
    group: Alternatives | None
    number: int | None = None
    least: int = 1
    most: int = 1


Sequence: TypeAlias = tuple[Part, ...]
Alternatives: TypeAlias = tuple[Sequence, ...]


class _Reader:
    """Recursive descent over one expression."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.groups = 0

    def expression(self) -> Alternatives:
        tree = self.alternatives()
        if self.at != len(self.text):
            raise Unsupported(f"{self.text!r} at {self.at}")
        return tree

    def alternatives(self) -> Alternatives:
        found = [self.sequence()]
        while self.take("|"):
            found.append(self.sequence())
        return tuple(found)

    def sequence(self) -> Sequence:
        parts = []
        while self.at < len(self.text) and self.text[self.at] not in "|)":
            parts.append(self.repeat(self.part()))
        return tuple(parts)

    def part(self) -> Part:
        if self.take("(?:"):
            return self.group(None)
        if self.take("("):
            self.groups += 1
            return self.group(self.groups)
        if self.take("["):
            return Part(self.members(), None)
        if self.take("$"):
            return Part(None, None)
        return Part(self.one_sign(), None)

    def group(self, number: int | None) -> Part:
        tree = self.alternatives()
        if not self.take(")"):
            raise Unsupported(f"{self.text!r}: a group is not closed")
        return Part(None, tree, number)

    def members(self) -> frozenset[int]:
        found: set[int] = set()
        while not self.take("]"):
            first = self.one_sign()
            if self.take("-"):
                first = frozenset(range(min(first), max(self.one_sign()) + 1))
            found |= first
        return frozenset(found)

    def one_sign(self) -> frozenset[int]:
        if self.take("\\d"):
            return ALL_DIGITS
        sign = self.text[self.at : self.at + 1]
        if not (sign.isascii() and sign.isdigit()):
            raise Unsupported(f"{self.text!r}: {sign!r} at {self.at}")
        self.at += 1
        return frozenset({int(sign)})

    def repeat(self, part: Part) -> Part:
        least, most = 1, 1
        if self.take("?"):
            least, most = 0, 1
        elif self.take("{"):
            least, comma, most = self.whole(), self.take(","), 0
            most = self.whole() if comma else least
            if not self.take("}"):
                raise Unsupported(f"{self.text!r}: a count is not closed")
        if self.text[self.at : self.at + 1] in ("*", "+", "?", "{"):
            raise Unsupported(f"{self.text!r}: repeat at {self.at}")
        return Part(part.digits, part.group, part.number, least, most)

    def whole(self) -> int:
        start = self.at
        while self.text[self.at : self.at + 1].isdigit():
            self.at += 1
        if start == self.at:
            raise Unsupported(f"{self.text!r}: a count is missing at {start}")
        return int(self.text[start : self.at])

    def take(self, sign: str) -> bool:
        if self.text.startswith(sign, self.at):
            self.at += len(sign)
            return True
        return False
