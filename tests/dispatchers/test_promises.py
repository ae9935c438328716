"""Lines of dispatchers that no schedule noticed when they were changed; each of these cases does."""

from batdispatch.core.machine.machine import Machine
from simulating import Task, simulate


def test_easy_counts_all_jobs_that_end_at_the_shadow_time() -> None:
    """The head may start when A ends, at 10 s. B ends then too, so that one host is to spare, and X runs on it at once.

    Mu'alem and Feitelson (TPDS 2001, section 2.1): extra nodes are those that are left at the shadow time.
    """
    tasks = [
        Task("A", 0.0, 2, 10.0, 10.0),
        Task("B", 0.0, 1, 10.0, 10.0),
        Task("head", 1.0, 3, 5.0, 5.0),
        Task("X", 2.0, 1, 100.0, 100.0),
    ]
    assert simulate(Machine.flat(4), tasks, "easy").starts() == {"A": 0.0, "B": 0.0, "head": 10.0, "X": 2.0}


def test_conservative_expects_no_job_to_outlive_its_walltime() -> None:
    """R was predicted to end at 8.5 s. At 12 s it is 3.5 s late, but will be stopped at 14.5 s: W is planned for then.

    If R were expected to take 3.5 s more, until 15.5 s, Y would fit before W, from 12 s to 15 s, and delay it.
    """
    tasks = [
        Task("P", 0.0, 1, 4.0, 10.0, user="ann"),
        Task("R", 4.5, 1, 10.0, 10.0, user="ann"),
        Task("W", 5.0, 2, 2.0, 2.0, user="ben"),
        Task("Y", 12.0, 1, 3.0, 3.0, user="cat"),
    ]
    found = simulate(Machine.flat(2), tasks, "conservative", options={"prediction": "last-two"})
    assert found.starts() == {"P": 0.0, "R": 4.5, "W": 14.5, "Y": 16.5}


def test_conservative_starts_no_job_before_its_time_though_its_host_is_free() -> None:
    """Host 0 is free from 1 s on. B has both hosts from 10 to 15 s; C, too long to end by then, has host 0 after that.

    Mu'alem and Feitelson (TPDS 2001, section 2.2): a job goes ahead only if it delays no job that was promised a start.
    """
    tasks = [
        Task("X", 0.0, 1, 1.0, 1.0),
        Task("A", 0.0, 1, 10.0, 10.0),
        Task("B", 0.5, 2, 5.0, 5.0),
        Task("C", 2.0, 1, 20.0, 20.0),
    ]
    assert simulate(Machine.flat(2), tasks, "conservative").starts() == {"X": 0.0, "A": 0.0, "B": 10.0, "C": 15.0}


def test_conservative_compresses_its_plan_at_each_decision_where_the_order_changes_over_time() -> None:
    """At 10 s, 2 has its turn before 1 and finds no room; 1 starts then and leaves 2 room from 29 s on.

    When 4 comes at 12 s, 2 takes that room, and 3 follows it at 38 s. At 28 s, when 1 and 2 have ended early, 4 has its
    turn first and no room before 3, which starts. If 2 and 3 had kept their places at 12 s, 4 would have had room.
    """
    tasks = [
        Task("0", 0.0, 2, 10.0, 15.0),
        Task("1", 5.0, 2, 14.0, 19.0),
        Task("2", 5.0, 2, 4.0, 9.0),
        Task("3", 7.0, 1, 20.0, 20.0),
        Task("4", 12.0, 2, 7.0, 7.0),
    ]
    starts = simulate(Machine.flat(2), tasks, "conservative", options={"ordering": "slowdown"}).starts()
    assert starts == {"0": 0.0, "1": 10.0, "2": 24.0, "3": 28.0, "4": 48.0}


def test_fcfs_looks_again_at_each_decision_where_the_order_changes_over_time() -> None:
    """B, for both hosts, is first in line at 2 s, and C at 10 s, when D comes: its slowdown is 9 then, and B's 1.09."""
    tasks = [
        Task("A", 0.0, 1, 50.0, 50.0),
        Task("B", 1.0, 2, 100.0, 100.0),
        Task("C", 2.0, 1, 1.0, 1.0),
        Task("D", 10.0, 1, 100.0, 100.0),
    ]
    starts = simulate(Machine.flat(2), tasks, "fcfs", options={"ordering": "slowdown"}).starts()
    assert starts == {"A": 0.0, "B": 50.0, "C": 10.0, "D": 150.0}


def test_filler_starts_all_that_fits_at_once_of_jobs_without_a_walltime() -> None:
    tasks = [Task("A", 0.0, 1, 5.0), Task("B", 0.0, 2, 5.0), Task("C", 0.0, 3, 5.0), Task("D", 0.0, 3, 5.0)]
    starts = simulate(Machine.flat(6), tasks, "filler").starts()
    assert starts == {"A": 0.0, "B": 0.0, "C": 0.0, "D": 5.0}
