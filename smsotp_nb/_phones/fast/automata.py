"""Patterns over digits as a graph, and two automata made of it and run for a whole column at once.

phonenumbers describes numbering plans by regular expressions of a modest kind: classes, groups, alternatives, ``?`` and
counted repeats; no star, no lookaround, no back reference. `Graph` reads them from end to start, each part being told
the node that follows it. Equal nodes are one node, so equal tails (``\\d{6}`` here and there) are shared.

**Which patterns match the whole number?** (`Recognizer`) The state is the *set* of places in all patterns where one
may stand after the digits read so far; its label is the set of patterns that end there. Equal states have one number.

**Where does a prefix end?** (`Prefix`) Python's ``re`` prefers the first alternative that matches, not the longest
one. So the state is an *ordered* list of places; a place after one that has matched is given up, just as ``re`` would
never try it. A place also carries where its group began and ended, because a state knows how many digits were read.

Running is the same for both: one table look-up per digit for all rows at once, ``state = table[state + sign]``, where
states are stored multiplied by 16. Sign 10 stands for "no more digits" and changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

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
        """Add an expression that leads to ``accept`` and return its first node; one group may be marked."""
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


END: Final = 10
STRIDE: Final = 16

Label = frozenset[int]
Thread = tuple[int, int, int]  # node, group begin, group end (-1: not set)
Outcome = tuple[int, int] | None  # span of the group of a match, (-1, -1) without; None: no match
Ints = npt.NDArray[np.int32]
Signs = npt.NDArray[np.uint8]


@dataclass(slots=True)
class Recognizer:
    """States by number: a label (set of tags) and the next state for each of the ten digits."""

    graph: Graph
    labels: list[Label] = field(default_factory=list)
    following: list[tuple[int, ...]] = field(default_factory=list)
    _by_places: dict[frozenset[int], int] = field(default_factory=dict)
    _by_meaning: dict[tuple[Label, tuple[int, ...]], int] = field(default_factory=dict)
    _reach: dict[int, frozenset[int]] = field(default_factory=dict)

    def start(self, entries: list[int]) -> int:
        """Add the automaton that begins at all these nodes and return its first state."""
        return self._state(frozenset().union(*(self._reachable(entry) for entry in entries)))

    def _reachable(self, number: int) -> frozenset[int]:
        """Return the steps and ends that can be reached from a node without a digit."""
        known = self._reach.get(number)
        if known is None:
            node = self.graph.nodes[number]
            if isinstance(node, Fork):
                known = frozenset().union(*(self._reachable(then) for then in node.then))
            elif isinstance(node, AtEnd | Mark):
                known = self._reachable(node.then)  # a number is matched to its end anyway
            else:
                known = frozenset({number})
            self._reach[number] = known
        return known

    def _state(self, places: frozenset[int]) -> int:
        known = self._by_places.get(places)
        if known is None:
            known = self._new_state(places)
            self._by_places[places] = known
        return known

    def _new_state(self, places: frozenset[int]) -> int:
        nodes = {place: self.graph.nodes[place] for place in places}
        label = frozenset(node.tag for node in nodes.values() if isinstance(node, Accept))
        steps = [node for node in nodes.values() if isinstance(node, Step)]
        sticky = frozenset(place for place, node in nodes.items() if isinstance(node, Accept) and node.sticky)
        if sticky == places:  # nothing can change any more
            return self._merged(label, ())
        after = [
            frozenset().union(sticky, *(self._reachable(step.then) for step in steps if digit in step.digits))
            for digit in range(10)
        ]
        return self._merged(label, tuple(self._state(reached) for reached in after))

    def _merged(self, label: Label, following: tuple[int, ...]) -> int:
        """Return the state of this meaning; one that nothing follows leads to itself."""
        number = self._by_meaning.setdefault((label, following), len(self.labels))
        if number == len(self.labels):
            self.labels.append(label)
            self.following.append(following or (number,) * 10)
        return number


@dataclass(slots=True)
class Prefix:
    """States by number: what matches here, what matches if no digit follows, and the next states."""

    graph: Graph
    here: list[Outcome] = field(default_factory=list)
    at_end: list[Outcome] = field(default_factory=list)
    following: list[tuple[int, ...]] = field(default_factory=list)
    _by_threads: dict[tuple[int, tuple[Thread, ...]], int] = field(default_factory=dict)

    def start(self, entry: int) -> int:
        """Add the automaton that begins at a node and return its first state."""
        self.start_nowhere()
        return self._state(0, self._spread([(entry, -1, -1)], 0))

    def start_nowhere(self) -> int:
        """Return the state from which nothing matches: 0."""
        return self._state(0, ())

    def _state(self, depth: int, threads: tuple[Thread, ...]) -> int:
        key = (depth if threads else 0, threads)
        known = self._by_threads.get(key)
        if known is not None:
            return known
        number = len(self.following)
        self._by_threads[key] = number
        self.here.append(self._match(threads, ended=False))
        self.at_end.append(self._match(threads, ended=True))
        self.following.append(())
        self.following[number] = tuple(self._state(depth + 1, self._after(threads, d, depth + 1)) for d in range(10))
        return number

    def _spread(self, threads: list[Thread], depth: int) -> tuple[Thread, ...]:
        """Follow forks and marks in order of preference; a node is visited once, what comes after a match never."""
        found: dict[int, Thread] = {}
        waiting = threads[::-1]
        while waiting:
            number, begin, end = waiting.pop()
            node = self.graph.nodes[number]
            if isinstance(node, Fork):
                waiting.extend((then, begin, end) for then in reversed(node.then))
            elif isinstance(node, AtEnd) and not isinstance(self.graph.nodes[node.then], Accept):
                raise Unsupported("a $ that is not at the end of its pattern")
            elif isinstance(node, Mark):
                waiting.append((node.then, depth, -1) if node.name == "open" else (node.then, begin, depth))
            elif number not in found:
                found[number] = (number, begin, end)
                if isinstance(node, Accept):
                    break
        return tuple(found.values())

    def _after(self, threads: tuple[Thread, ...], digit: int, depth: int) -> tuple[Thread, ...]:
        moved = []
        for number, begin, end in threads:
            node = self.graph.nodes[number]
            if isinstance(node, Step) and digit in node.digits:
                moved.append((node.then, begin, end))
        return self._spread(moved, depth)

    def _match(self, threads: tuple[Thread, ...], *, ended: bool) -> Outcome:
        for number, begin, end in threads:
            node = self.graph.nodes[number]
            if isinstance(node, Accept) or (ended and isinstance(node, AtEnd)):
                return (begin, end) if end >= 0 else (-1, -1)
        return None


def flat(following: npt.NDArray[np.integer]) -> Ints:
    """Lay a table of next states out for running: states times 16, sign 10 stays where it is."""
    table = np.zeros((len(following), STRIDE), np.int32)
    table[:, :10] = following
    table[:, END] = np.arange(len(following))
    return (table * STRIDE).ravel()


def run(table: Ints, state: Ints, signs: Signs, at: Ints, end: Ints, steps: int) -> Ints:
    """Run rows through a `Recognizer`: from ``signs[at]`` to ``signs[end]`` (an END sign), at most ``steps`` digits.

    ``state`` (times 16) and ``at`` are used up. Returns the last states, times 16.
    """
    for _ in range(steps):
        state += signs.take(at)
        table.take(state, out=state, mode="clip")
        at += 1
        np.minimum(at, end, out=at)
    return state
