"""Progress: an honest time left on a terminal, lines where there is none."""

import io
import math
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from batdispatch.cli.progress import ProgressDisplay


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def console(*, terminal: bool) -> tuple[Console, io.StringIO]:
    """Return a console of 80 columns and what is written to it."""
    file = io.StringIO()
    return Console(file=file, force_terminal=terminal, width=80, color_system=None), file


def left(following: ProgressDisplay) -> float | None:
    """Return the seconds that the only piece of work is said to take yet."""
    return following._bars.tasks[0].time_remaining


def test_the_time_that_starting_takes_does_not_count() -> None:
    clock = Clock()
    with ProgressDisplay(console=console(terminal=False)[0], clock=clock) as following:
        clock.now += 20
        following.tell("easy", 1, 28_000)
        assert left(following) is None
        for done in range(1000, 10_001, 1000):
            clock.now += 1
            following.tell("easy", done, 28_000)
        # A thousand jobs a second, and 18,000 of them to go.
        assert left(following) == pytest.approx(18, abs=1)


def test_the_last_half_minute_counts() -> None:
    clock = Clock()
    with ProgressDisplay(console=console(terminal=False)[0], clock=clock) as following:
        for step in range(100):
            clock.now += 1
            following.tell("easy", step, 1000)
        for step in range(60):
            clock.now += 1
            following.tell("easy", 100 + 10 * step, 1000)
        assert left(following) == pytest.approx((1000 - 690) / 10, abs=1)


@given(
    steps=st.lists(st.tuples(st.floats(0.2, 20), st.integers(1, 1000)), min_size=2, max_size=60),
    more=st.integers(1, 10**6),
)
def test_the_time_left_is_what_a_naive_look_at_the_last_half_minute_says(
    steps: list[tuple[float, int]], more: int
) -> None:
    clock = Clock()
    told = [(clock.now, 0)]
    total = sum(step for _, step in steps) + more
    with ProgressDisplay(console=console(terminal=False)[0], clock=clock) as following:
        following.tell("easy", 0, total)
        for pause, step in steps:
            clock.now += pause
            told.append((clock.now, told[-1][1] + step))
            following.tell("easy", told[-1][1], total)
            recent = [each for each in told[1:] if each[0] >= clock.now - 30]
            seconds, done = (last - first for first, last in zip(recent[0], recent[-1], strict=True))
            expected = math.ceil((total - told[-1][1]) / (done / seconds)) if seconds else None
            assert left(following) == (expected if expected is None else pytest.approx(expected, abs=1))


def test_without_a_terminal_there_is_a_line_now_and_then() -> None:
    there, file = console(terminal=False)
    written = threading.Event()
    write = file.write
    file.write = lambda text: (write(text), written.set())[0]  # type: ignore[method-assign]
    with ProgressDisplay(console=there, every=0.01) as following:
        following.tell("easy[ordering=sjf]", 3, 12)
        assert written.wait(10)
        following.tell("easy[ordering=sjf]", 12, 12)
    lines = file.getvalue().splitlines()
    assert set(lines) == {"easy[ordering=sjf]: 25 % done"}


def test_short_work_says_nothing_without_a_terminal() -> None:
    there, file = console(terminal=False)
    with ProgressDisplay(console=there) as following:
        following.tell("easy", 3, 12)
        following.tell("easy", 12, 12)
    assert file.getvalue() == ""


def test_what_is_told_before_the_library_is_imported_is_told_later(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = Clock()
    with ProgressDisplay(clock=clock) as following:
        following.tell("easy", 3, 12)
        clock.now += 1
        following.tell("fcfs", 1, 12)
        assert "_bars" not in vars(following)
        clock.now += 5
        following.tell("fcfs", 6, 12)
        assert {task.description: task.completed for task in following._bars.tasks} == {"easy": 3, "fcfs": 6}
    assert capsys.readouterr().err == ""


def test_work_that_says_nothing_for_long_has_its_line_all_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressDisplay(every=0.05) as following:
        following.tell("easy", 3, 12)
        following._left.wait(0.5)
    assert set(capsys.readouterr().err.splitlines()) == {"easy: 25 % done"}


def test_a_terminal_has_a_bar_per_piece_that_goes_when_it_is_done() -> None:
    there, file = console(terminal=True)
    with ProgressDisplay(console=there) as following:
        following.tell("easy", 3, 12)
        following.tell("fcfs", 6, 12)
        following._bars.refresh()
        shown = file.getvalue()
        following.tell("easy", 12, 12)
        at = len(file.getvalue())
        following._bars.refresh()
        later = file.getvalue()[at:]
    assert "easy" in shown
    assert "25%" in shown
    assert "fcfs" in shown
    assert "fcfs" in later
    assert "easy" not in later
