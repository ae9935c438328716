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
