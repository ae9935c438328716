"""look-ahead: easy where no room is kept, room where it pays, and that nobody starves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import Job, JobState
from batdispatch.core.jobs.request import Request
from batdispatch.core.line import events as e
from batdispatch.core.line.dispatcher import create
from batdispatch.core.line.hindsight import Hindsight
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.machine.machine import Machine
from batdispatch.dispatchers.backfilling.look_ahead import LookAhead
from simulating import Task, simulate

HOSTS = 4


@st.composite
def streams(draw: st.DrawFn) -> list[Task]:
    """Jobs of one to four hosts that may run for less than their walltimes."""
    tasks = []
    for number in range(draw(st.integers(20, 45))):
        runtime = float(draw(st.integers(1, 40)))
        walltime = runtime * draw(st.sampled_from([1, 2, 5]))
        units = draw(st.sampled_from([1, 1, 2, HOSTS]))
        tasks.append(Task(str(number), float(draw(st.integers(0, 200))), units, runtime, walltime))
    return tasks


OPTIONS = ["", ",backfill=ljf", ",reservation=hosts", ",rjms_delay=5"]


@pytest.mark.parametrize("options", OPTIONS)
@settings(max_examples=10)
@given(streams())
def test_without_room_it_is_easy(options: str, tasks: list[Task]) -> None:
    machine = Machine.flat(HOSTS)
    used = [task._replace(user=str(int(task.id) % 3)) for task in tasks]
    found = simulate(machine, used, f"look-ahead[room=0{options}]").starts()
    assert found == simulate(machine, used, f"easy[ordering=late-first{options}]").starts()


@settings(max_examples=25)
@given(streams())
def test_on_nodes_that_jobs_share_it_is_easy_too_without_room(tasks: list[Task]) -> None:
    machine = Machine.flat(HOSTS, "core=2 memory=8")
    shared = [task._replace(demand={"core": 1, "memory": 1 + int(task.id) % 4}) for task in tasks]
    found = simulate(machine, shared, "look-ahead[room=0]").starts()
    assert found == simulate(machine, shared, "easy[ordering=late-first]").starts()


def busy() -> list[Task]:
    """Short jobs in bursts, and long ones that would take each host that is free when they come."""
    short = [Task(f"s{n}", 20.0 * (n // 2) + n % 2, 1, 10.0, 12.0) for n in range(100)]
    long = [Task(f"l{n}", 45.0 + 130.0 * n, 1, 400.0, 400.0) for n in range(8)]
    return [*short, *long]


def short_waits(dispatcher: str) -> float:
    starts = simulate(Machine.flat(HOSTS), busy(), dispatcher).starts()
    return float(np.mean([starts[task.id] - task.submission for task in busy() if task.id.startswith("s")]))


def test_room_is_kept_where_short_jobs_keep_coming() -> None:
    options = "room=0.5,samples=4,arrivals=20"
    assert short_waits(f"look-ahead[{options}]") < 0.8 * short_waits("easy[ordering=smallest-area]")


def test_the_same_seed_gives_the_same_files_and_the_report_counts_what_was_chosen() -> None:
    first, again = (simulate(Machine.flat(HOSTS), busy(), "look-ahead[room=0.5]") for _ in range(2))
    assert first.files == again.files
    chosen = first.session.dispatcher.report()["rooms_chosen"]
    assert list(chosen) == ["0", "0.166667", "0.5"]
    assert chosen["0.5"] > 0


@st.composite
def crowded(draw: st.DrawFn) -> list[Task]:
    """A long job of the whole machine, in a stream of short ones that never leaves it idle."""
    seconds = draw(st.floats(100.0, 200.0))
    wide = Task("wide", draw(st.sampled_from([0.5, 3.5, 10.5])), draw(st.sampled_from([3, HOSTS])), seconds, seconds)
    lengths = [draw(st.sampled_from([4.0, 7.0, 9.0])) for _ in range(150)]
    stream = [Task(f"s{n}", float(n), draw(st.integers(1, 2)), lengths[n], lengths[n]) for n in range(150)]
    return [wide, *stream]


@settings(max_examples=25)
@given(crowded())
def test_a_late_job_waits_only_for_what_runs_and_for_late_ones_before_it(tasks: list[Task]) -> None:
    # As with easy: late after 50 s at the first event, which comes within 9 s; each job before it runs for 9 s at most.
    wide = tasks[0]
    before = sum(task.submission < wide.submission for task in tasks)
    dispatcher = "look-ahead[ordering=late-first[after=50],room=0.5,samples=2,arrivals=10]"
    start = simulate(Machine.flat(HOSTS), tasks, dispatcher).starts()["wide"]
    assert start - wide.submission <= 50.0 + 9.0 * (before + 2)


def held_back(ordering: str = "late-first") -> tuple[LookAhead, Ledger, Job]:
    """A long job that fits, and that a decision leaves waiting since short ones keep coming."""
    machine = Machine.flat(2)
    ledger = Ledger(e.SimulationBegins(0.0, machine))
    dispatcher = create("look-ahead", {"ordering": ordering, "room": 0.5, "samples": 4, "arrivals": 20})
    assert isinstance(dispatcher, LookAhead)
    dispatcher.begin(ledger)
    ledger.on_start = lambda stay: dispatcher.on_start(ledger, stay)

    def submit(name: str, time: float, units: int, walltime: float) -> Job:
        job = Job(id=f"w0!{name}", request=Request(units=units), submission=time, walltime=walltime)
        ledger.now = time
        ledger.apply_submitted(e.JobSubmitted(time, job))
        dispatcher.on_submit(ledger, job)
        return job

    for number in range(30):
        time = 10.0 * number
        job = submit(f"s{number}", time, 1, 10.0)
        dispatcher.decide(ledger)
        ledger.now = time + 9.0
        stay = ledger.apply_completed(e.JobCompleted(time + 9.0, job.id, JobState.COMPLETED_SUCCESSFULLY))
        dispatcher.on_end(ledger, stay)
    submit("l0", 300.0, 1, 3600.0)
    dispatcher.decide(ledger)
    return dispatcher, ledger, submit("l1", 301.0, 1, 3600.0)


def test_it_says_that_room_was_kept() -> None:
    dispatcher, ledger, job = held_back()
    reason = dispatcher.why_waited(job, Hindsight(ledger, [], None, None))
    assert reason is not None
    assert reason.why == "room was kept for shorter jobs"
    assert reason.how.split()[0] in {"17%", "50%"}
    dispatcher.decide(ledger)
    assert job.id in ledger.queue


def test_a_late_job_need_not_leave_room() -> None:
    dispatcher, ledger, job = held_back("late-first[after=50]")
    dispatcher.decide(ledger)
    assert job.id in ledger.queue
    assert dispatcher._limits(ledger, [job], 0.5).max() < 2.0
    ledger.now = 352.0
    # Whatever share the futures are in favour of.
    assert np.isinf(dispatcher._limits(ledger, [job], 0.5)).all()
    dispatcher.decide(ledger)
    assert job.id in ledger.running


def test_a_hold_counts_the_jobs_that_the_decision_starts() -> None:
    # With both hosts taken by what starts, the job does not fit: room is not what it waits for.
    dispatcher, ledger, job = held_back()
    other = Allocation(0b10)
    assert dispatcher.why_waited(job, Hindsight(ledger, [(ledger.running["w0!l0"].job, other)], None, None)) is None


def test_it_says_nothing_of_a_job_that_does_not_fit() -> None:
    dispatcher, ledger, _ = held_back()
    wide = Job(id="w0!wide", request=Request(units=2), submission=302.0, walltime=3600.0)
    ledger.apply_submitted(e.JobSubmitted(302.0, wide))
    dispatcher.on_submit(ledger, wide)
    assert dispatcher.why_waited(wide, Hindsight(ledger, [], None, None)) is None


@pytest.mark.parametrize("options", [{"room": 1.5}, {"shorter": 0.5}, {"samples": 0}, {"arrivals": 301}])
def test_options_out_of_range_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(Exception, match=next(iter(options))):
        create("look-ahead", options)
