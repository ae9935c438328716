"""Small schedules worked out by hand, each named after what it shows."""

import pytest

from batdispatch.abilities.topology.networks import Grid
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import JobState
from batdispatch.core.line import events as e
from batdispatch.core.machine.machine import Machine
from batdispatch.engines.records import EngineOptions
from simulating import Task, audit, exact, simulate

ALL = ["fcfs", "filler", "easy", "conservative"]


def starts(machine: Machine, tasks: list[Task], dispatcher: str, **options: str) -> dict[str, float]:
    result = simulate(machine, tasks, dispatcher, options=options)
    audit(machine, tasks, result)
    return result.starts()


#: Four hosts. A holds two until 10; B wants three then; C wants all when B is done; D is narrow and long.
MUALEM_FEITELSON = [exact("A", 0, 2, 10), exact("B", 1, 3, 5), exact("C", 2, 4, 5), exact("D", 3, 1, 20)]


@pytest.mark.parametrize(
    ("dispatcher", "expected"),
    [
        # Strictly in order.
        ("fcfs", {"A": 0, "B": 10, "C": 15, "D": 20}),
        # D starts in the host that B leaves spare. EASY promises nothing to C, which D holds up.
        ("easy", {"A": 0, "B": 10, "C": 23, "D": 3}),
        # C has a place at 15, which D must not touch.
        ("conservative", {"A": 0, "B": 10, "C": 15, "D": 20}),
        ("filler", {"A": 0, "B": 10, "C": 23, "D": 3}),
    ],
)
def test_mualem_feitelson_2001_easy_and_conservative_differ_on_the_second_in_line(
    dispatcher: str, expected: dict[str, float]
) -> None:
    assert starts(Machine.flat(4), MUALEM_FEITELSON, dispatcher) == expected


@pytest.mark.parametrize(("long", "expected"), [(7.0, 3.0), (7.5, 15.0)])
def test_mualem_feitelson_2001_a_backfilled_job_ends_by_the_shadow_time_or_uses_spare_nodes(
    long: float, expected: float
) -> None:
    # B needs every host at 10: only what ends by then may run ahead.
    tasks = [exact("A", 0, 2, 10), exact("B", 1, 4, 5), exact("C", 3, 2, long)]
    assert starts(Machine.flat(4), tasks, "easy") == {"A": 0, "B": 10, "C": expected}


@pytest.mark.parametrize(
    ("reservation", "expected", "hosts"),
    [
        ("count", {"0": 0, "A": 0, "B": 10, "D": 3}, {"B": "1-3", "D": "0"}),
        # B reserves the lowest hosts that are free at 10, 0 to 2. Hosts 0 and 1 are the only ones free at 3.
        ("hosts", {"0": 0, "A": 0, "B": 10, "D": 10}, {"B": "0-2", "D": "3"}),
    ],
)
def test_reserving_hosts_and_reserving_a_number_of_hosts_differ(
    reservation: str, expected: dict[str, float], hosts: dict[str, str]
) -> None:
    tasks = [exact("0", 0, 2, 2), exact("A", 0, 2, 10), exact("B", 1, 3, 5), exact("D", 3, 1, 20)]
    result = simulate(Machine.flat(4), tasks, "easy", options={"reservation": reservation})
    assert result.starts() == expected
    assert {name: result.rows[name].hosts for name in hosts} == hosts


#: Two nodes of four cores and a GPU. G1 has a GPU until 10; G2 wants both GPUs; C1 and C3 want only cores.
GPUS = [
    exact("G1", 0, 1, 10, {"core": 1, "gpu": 1}),
    exact("G2", 1, 2, 5, {"core": 1, "gpu": 1}),
    exact("C1", 2, 4, 20, {"core": 1}),
    exact("C3", 3, 3, 20, {"core": 1}),
]


@pytest.mark.parametrize(
    ("dispatcher", "expected"),
    [
        # C1 leaves G2 a core beside each GPU. C3 would take the last core beside the second one.
        ("easy", {"G1": 0, "G2": 10, "C1": 2, "C3": 15}),
        ("conservative", {"G1": 0, "G2": 10, "C1": 2, "C3": 15}),
        ("filler", {"G1": 0, "G2": 22, "C1": 2, "C3": 3}),
        ("fcfs", {"G1": 0, "G2": 10, "C1": 10, "C3": 15}),
    ],
)
def test_cores_beside_a_gpu_are_reserved_with_it(dispatcher: str, expected: dict[str, float]) -> None:
    assert starts(Machine.flat(2, "core=4 gpu=1"), GPUS, dispatcher) == expected


def test_units_of_a_job_share_nodes() -> None:
    result = simulate(Machine.flat(2, "core=4 gpu=1"), GPUS, "easy")
    assert result.rows["C1"].units == {0: 3, 1: 1}
    assert result.rows["C3"].units == {0: 1, 1: 2}
    assert result.rows["G2"].units == {0: 1, 1: 1}


def test_compression_moves_jobs_up_in_order_when_one_ends_early() -> None:
    # A asks for 100 s and takes 10. B and D had places at 100; C fills the gap from 1 on.
    tasks = [Task("A", 0, 3, 10, 100), exact("B", 1, 4, 5), exact("C", 2, 1, 50), exact("D", 3, 2, 5)]
    assert starts(Machine.flat(4), tasks, "conservative") == {"A": 0, "B": 52, "C": 2, "D": 10}


def test_a_job_killed_at_its_walltime_frees_its_hosts_then() -> None:
    tasks = [Task("A", 0, 2, 50, 10), exact("B", 1, 2, 5)]
    for dispatcher in ALL:
        result = simulate(Machine.flat(2), tasks, dispatcher)
        assert result.rows["A"].state is JobState.COMPLETED_WALLTIME_REACHED
        assert result.starts() == {"A": 0, "B": 10}


@pytest.mark.parametrize("dispatcher", ALL)
def test_ends_and_arrivals_at_one_moment(dispatcher: str) -> None:
    # A ends when B arrives, and B when C does: nobody waits.
    tasks = [exact("A", 0, 2, 5), exact("B", 5, 2, 5), exact("C", 10, 2, 5)]
    assert starts(Machine.flat(2), tasks, dispatcher) == {"A": 0, "B": 5, "C": 10}
    split = simulate(Machine.flat(2), tasks, dispatcher, engine=EngineOptions(split_simultaneous=True))
    assert split.starts() == {"A": 0, "B": 5, "C": 10}


@pytest.mark.parametrize("dispatcher", ALL)
def test_simultaneous_arrivals_are_served_in_the_chosen_order(dispatcher: str) -> None:
    # While host 0 is taken, three jobs arrive at once for the other: the shortest goes first, not the first to arrive.
    tasks = [exact("0", 0, 1, 100), exact("1", 5, 1, 9), exact("2", 5, 1, 3), exact("3", 5, 1, 6)]
    expected = {"0": 0, "2": 5, "3": 8, "1": 14}
    assert starts(Machine.flat(2), tasks, dispatcher, ordering="sjf") == expected


def test_a_job_that_becomes_head_and_starts_does_not_leave_the_old_reservation_behind() -> None:
    # B is head and waits for all six hosts, until 4. C has a smaller area, so it goes before B and starts at once; only
    # then is it decided whether D may run ahead of B: it ends at 6, by B's new shadow time 7 but not by the old one.
    tasks = [exact("A", 0, 3, 4), exact("B", 1, 6, 1), exact("F", 1, 6, 9), exact("C", 2, 1, 5), exact("D", 2, 2, 4)]
    for reservation in ("count", "hosts"):
        result = starts(Machine.flat(6), tasks, "easy", ordering="smallest-area", reservation=reservation)
        assert result == {"A": 0, "B": 7, "C": 2, "D": 2, "F": 8}


def test_easy_backfills_beside_an_unknown_run_time_only_what_ends_or_is_spare() -> None:
    # Without a walltime or a default A might run for ever: B's shadow time is unknown, and nothing is held for it.
    tasks = [Task("A", 0, 2, 10), exact("B", 1, 4, 5), exact("C", 2, 2, 50)]
    assert starts(Machine.flat(4), tasks, "easy") == {"A": 0, "B": 52, "C": 2}
    # With a default of 20 s B is expected to start at 20, and C would outlive that.
    assert starts(Machine.flat(4), tasks, "easy", default_walltime="20") == {"A": 0, "B": 10, "C": 15}


def test_conservative_waits_without_a_plan_for_a_job_that_might_run_for_ever() -> None:
    tasks = [Task("A", 0, 2, 10), exact("B", 1, 4, 5), exact("C", 2, 2, 3)]
    assert starts(Machine.flat(4), tasks, "conservative") == {"A": 0, "B": 10, "C": 2}


def test_conservative_keeps_order_where_sums_of_tenths_are_inexact() -> None:
    # 0.1 + 0.7 < 0.8: B, planned when A should end, must not be found a sliver too late for its place before C.
    tasks = [exact("A", 0.1, 1, 0.7), exact("B", 0.2, 1, 0.1), exact("C", 0.3, 1, 0.1)]
    assert starts(Machine.flat(1), tasks, "conservative") == {"A": 0.1, "B": 0.8, "C": 0.9}


def test_conservative_keeps_order_when_every_job_is_late() -> None:
    # Deciding takes half a second (the first time before any job is known), so each job ends later than planned; B must
    # not lose its place to C for that.
    tasks = [exact("A", 0, 1, 5), exact("B", 1, 1, 5), exact("C", 2, 1, 5)]
    result = simulate(Machine.flat(1), tasks, "conservative", decision_time=0.5)
    audit(Machine.flat(1), tasks, result)
    assert result.starts() == {"A": 1, "B": 6.5, "C": 12}


def test_conservative_does_not_wait_for_a_late_job_while_another_host_is_free() -> None:
    # A was expected to end at 5, then at 10, 20 and 40, and runs until 60. C was planned on its host; B's is free at 21
    tasks = [Task("A", 0, 1, 60), exact("B", 0, 1, 21), exact("C", 1, 1, 3)]
    assert starts(Machine.flat(2), tasks, "conservative", default_walltime="5") == {"A": 0, "B": 0, "C": 21}


@pytest.mark.parametrize("dispatcher", ALL)
def test_what_can_never_form_a_shape_is_rejected_with_the_reason(dispatcher: str) -> None:
    # Five of six routers in a ring are not strictly convex: the two ends send to each other through the sixth.
    machine = Machine(Machine.flat(6).hosts, Grid(range(6), [6]))
    tasks = [exact("wide", 0, 5, 5), exact("narrow", 1, 3, 5)]
    result = simulate(machine, tasks, dispatcher, options={"placement": "convex[rule=routers]"})
    assert result.rows["wide"].state is JobState.REJECTED
    assert result.starts() == {"narrow": 1}
    assert result.ledger.rejections == [
        ("w0!wide", "placement convex[rule=routers] finds no place for it even on the idle machine")
    ]
    assert simulate(machine, tasks, dispatcher).rows["wide"].hosts == "0-4"


@pytest.mark.parametrize("dispatcher", ALL)
def test_a_host_that_goes_while_its_job_runs_is_not_used_before_it_is_back(dispatcher: str) -> None:
    # A runs on host 0, which goes away at 2; A goes on until 5. B runs on host 1 until 20. C waits for either.
    tasks = [Task("A", 0, 1, 5, 10), exact("B", 0, 1, 20), exact("C", 3, 1, 4)]
    away, back = e.MachinesUnavailable(2.0, Allocation.parse("0")), e.MachinesAvailable(12.0, Allocation.parse("0"))
    result = simulate(Machine.flat(2), tasks, dispatcher, events=[away, back])
    assert result.starts() == {"A": 0, "B": 0, "C": 12}
    assert result.rows["C"].hosts == "0"
    # Had it not come back before B's end, C would have had B's host.
    late = e.MachinesAvailable(30.0, Allocation.parse("0"))
    result = simulate(Machine.flat(2), tasks, dispatcher, events=[away, late])
    assert result.starts() == {"A": 0, "B": 0, "C": 20}
    assert result.rows["C"].hosts == "1"


@pytest.mark.parametrize("dispatcher", ALL)
def test_shared_nodes_that_go_while_a_job_runs(dispatcher: str) -> None:
    machine = Machine.flat(2, "core=4")
    tasks = [exact("A", 0, 2, 5, {"core": 1}), exact("B", 3, 6, 4, {"core": 1}), exact("C", 4, 1, 2, {"core": 1})]
    events = [e.MachinesUnavailable(2.0, Allocation.parse("0")), e.MachinesAvailable(12.0, Allocation.parse("0"))]
    result = simulate(machine, tasks, dispatcher, events=events)
    audit(machine, tasks, result)
    ahead = 12.0 if dispatcher == "fcfs" else 4.0
    assert result.starts() == {"A": 0, "B": 12, "C": ahead}
