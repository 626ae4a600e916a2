"""The bar: few drawings, always the last one, silent where nobody looks."""

from __future__ import annotations

import io
import sys

import pytest

from smsotp_nb._cards import Card, Meter
from smsotp_nb._progress import Bar, ended_card, in_notebook, running_card, words
from smsotp_nb.results import Progress


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


class Clock:
    """Time that passes when told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_ten_thousand_updates_are_few_drawings() -> None:
    """At most 8 drawings a second, whatever comes in; the last state is drawn all the same."""
    out, clock = Terminal(), Clock()
    with Bar("autumn-sale", stream=out, clock=clock) as bar:
        for done in range(10_000):
            clock.now = done / 5_000
            bar(Progress(done=done, total=10_000, accepted=done))
    assert out.getvalue().count("accepted") <= 2 * 8 + 3
    assert "9999/10000" in out.getvalue()
    assert "9,999 accepted" in out.getvalue()


def test_the_last_update_is_drawn_at_once() -> None:
    """The end of a campaign does not wait for its eighth of a second."""
    out = Terminal()
    bar = Bar(stream=out, clock=lambda: 0.0)
    bar(Progress(done=0, total=2))
    bar(Progress(done=2, total=2, accepted=2))
    assert "2 accepted" in out.getvalue()
    bar.close()


def test_rows_of_earlier_calls_are_where_the_bar_begins() -> None:
    """A resumed campaign does not count what was done before into its speed."""
    out = Terminal()
    with Bar(stream=out, clock=lambda: 0.0) as bar:
        bar(Progress(done=90, total=100, accepted=90))
    assert "90/100" in out.getvalue()
    assert "?row/s" in out.getvalue()


def test_without_a_terminal_one_line_is_printed_at_the_end() -> None:
    """A log gets the outcome, not a thousand bars."""
    out, clock = io.StringIO(), Clock()
    with Bar("autumn-sale", stream=out, clock=clock) as bar:
        for done in range(5):
            bar(Progress(done=done, total=4, accepted=done, cost_micros=7500 * done, currency="USD"))
            assert out.getvalue() == ""
        clock.now = 12.4
    assert out.getvalue() == "autumn-sale: 4 of 4, 4 accepted, USD 0.03 in 12 s\n"


def test_nothing_happened_prints_nothing() -> None:
    """A call that was refused before it began leaves no line."""
    out = io.StringIO()
    Bar("x", stream=out).close()
    assert out.getvalue() == ""


def test_closing_twice_prints_once() -> None:
    """An interrupt closes the bar on its way out."""
    out = io.StringIO()
    bar = Bar(stream=out, clock=lambda: 0.0)
    bar(Progress(done=1, total=2, rejected=1))
    bar.close()
    bar.close()
    assert out.getvalue() == "1 of 2, 0 accepted, 1 rejected in 0 s\n"


def test_an_error_on_the_way_still_shows_the_last_state() -> None:
    """The bar says how far a stopped campaign came."""
    out = io.StringIO()

    def stopped() -> None:
        with Bar(stream=out, clock=lambda: 0.0) as bar:
            bar(Progress(done=1, total=2, accepted=1))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert "1 of 2" in out.getvalue()


def test_only_outcomes_that_occurred_are_said() -> None:
    """No zeros, and no amount without a currency."""
    assert words(Progress(done=3, total=9, accepted=2, in_doubt=1)) == "3 of 9, 2 accepted, 1 in doubt"


def test_a_kernel_is_told_from_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only IPython with a kernel is a notebook."""

    class Shell:
        kernel: object = None

    class Module:
        shell = Shell()

        def get_ipython(self) -> Shell:
            return self.shell

    module = Module()
    monkeypatch.setitem(sys.modules, "IPython", module)  # type: ignore[arg-type]
    assert not in_notebook()
    module.shell.kernel = object()
    assert in_notebook()


def test_the_error_stream_is_the_default(capsys: pytest.CaptureFixture[str]) -> None:
    """Output that is piped stays clean."""
    with Bar(clock=lambda: 0.0) as bar:
        bar(Progress(done=1, total=1, accepted=1))
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "1 of 1, 1 accepted in 0 s\n"


def test_a_note_is_said_once() -> None:
    """Where a campaign is recorded: a line before the bar in a terminal, the end of the line elsewhere."""
    for out, said in ((Terminal(), "recorded in x\n"), (io.StringIO(), "in 0 s; recorded in x\n")):
        with Bar("autumn-sale", note="recorded in x", stream=out, clock=lambda: 0.0) as bar:
            bar(Progress(done=1, total=2, accepted=1))
            bar(Progress(done=2, total=2, accepted=2))
        assert out.getvalue().count("recorded in x") == 1
        assert said in out.getvalue()


def test_the_bar_says_its_role_and_its_value() -> None:
    """A screen reader is told what is under way, and how far it is."""
    html = running_card("a <b>", "", Progress(done=87, total=233, accepted=87), 10.0).html()
    assert 'role="progressbar" aria-label="a &lt;b&gt;"' in html
    assert 'aria-valuemin="0" aria-valuemax="233" aria-valuenow="87"' in html
    assert "width:37.3%" in html
    assert "width:100.0%" in Card("", "", (Meter(0, 0, "nobody"),)).html()


def test_time_left_is_told_by_the_pace_of_this_call() -> None:
    """Rows of earlier calls took no time of this one."""
    update = Progress(done=120, total=160, accepted=120)
    assert "about 20 s left" in running_card("x", "", update, 10.0, before=100).state
    assert running_card("x", "", update, 10.0, before=120).state == "120 of 160, 10 s"


@pytest.mark.parametrize(
    ("update", "says"),
    [
        (Progress(done=2, total=2, in_doubt=1), ("1 row is in doubt", "x: complete but for rows in doubt")),
        (Progress(done=1, total=2, accepted=1), ("1 row was not sent", "not complete")),
        (Progress(done=1, total=3, accepted=1), ("2 rows were not sent",)),
        (Progress(done=2, total=3, accepted=2, waiting=80), ("2 of 3", "80  held back", "81 rows were not sent")),
    ],
)
def test_what_to_do_next_is_said(update: Progress, says: tuple[str, ...]) -> None:
    text = ended_card("x", "", update, 1.0).text()
    assert [words for words in says if words not in text] == []


def test_nothing_to_do_asks_for_nothing() -> None:
    assert "again" not in ended_card("x", "", Progress(done=2, total=2, accepted=2), 1.0).text()
