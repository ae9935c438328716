"""When slurmctld hears of what has happened, and whom its main loop lets pass: by hand, on two hosts."""

from batdispatch.core.machine.machine import Machine
from batdispatch.testing.simulation import Task, simulate


def starts(*tasks: Task, **options: str) -> dict[str, float]:
    """Return when jobs start, in seconds, where the main loop may run at each tick and there is one pass, at 0."""
    chosen = {"batch_delay": "0", "interval": "1000", **options}
    return simulate(Machine.flat(2), list(tasks), "slurm-backfill", options=chosen).starts()


FIRST, SECOND = Task("a", 0.0, 2, 10.0, 60.0), Task("b", 0.0, 1, 10.0, 60.0)


def test_what_happens_at_a_tick_is_heard_of_at_once_without_notice() -> None:
    assert starts(FIRST, SECOND) == {"a": 0.0, "b": 10.0}


def test_with_notice_ends_and_submissions_are_heard_of_at_the_next_tick() -> None:
    assert starts(FIRST, SECOND, notice="0.15", phase="500") == {"a": 1.0, "b": 12.0}


def test_a_loop_that_runs_as_a_job_ends_does_not_see_its_nodes() -> None:
    """Job c comes at 10.5, so that the loop runs at 11, when a has ended: it hears of that end at 11.15."""
    late = Task("c", 10.5, 1, 1.0, 60.0)
    assert starts(FIRST, late, notice="0.15", phase="500") == {"a": 1.0, "c": 12.0}


LONG, WIDE, SMALL = Task("a", 0.0, 1, 100.0, 100.0), Task("b", 5.0, 2, 10.0, 60.0), Task("c", 6.0, 1, 10.0, 60.0)


def test_a_job_that_is_too_young_holds_up_nobody() -> None:
    assert starts(LONG, WIDE, SMALL) == {"a": 0.0, "b": 100.0, "c": 110.0}
    assert starts(LONG, WIDE, SMALL, min_age="50") == {"a": 0.0, "b": 100.0, "c": 6.0}


def test_a_run_of_the_loop_starts_so_many_jobs() -> None:
    """The next run is that for the whole queue, once a minute."""
    one, other = Task("a", 0.0, 1, 100.0, 200.0), Task("b", 0.0, 1, 10.0, 60.0)
    assert starts(one, other, phase="500", loop_starts="1") == {"a": 0.0, "b": 60.0}


def test_a_run_of_the_loop_tries_so_many_jobs_of_a_partition() -> None:
    small = Task("c", 0.0, 1, 10.0, 60.0)
    assert starts(Task("a", 0.0, 1, 10.0, 60.0), small, phase="500", loop_part_jobs="1") == {"a": 0.0, "c": 10.0}
