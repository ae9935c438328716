"""best-list, HCP'19, PCP'19 and PCP'20 as dispatchers: valid, repeatable, and as described."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import BEYOND, beyond_machine

import naive
from batdispatch.abilities.solvers.constraint.hcp19 import Hcp19, Hcp19Options
from batdispatch.abilities.solvers.constraint.instance import Instance
from batdispatch.abilities.solvers.constraint.lists import Plan
from batdispatch.abilities.solvers.constraint.pcp20 import Pcp20, Pcp20Options
from batdispatch.abilities.solvers.solving import SolverResult
from batdispatch.core.errors import InputError
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import JobState
from batdispatch.core.line import events as e
from batdispatch.core.line.dispatcher import create
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.engines.records import EngineOptions
from batdispatch.parts.ordering.window import Window
from simulating import Result, Task, audit, simulate
from strategies import machines, workloads

SOLVERS = ["hcp19", "pcp19", "pcp20"]
NAMES = ["best-list", *SOLVERS]


def notes(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.session.dispatcher.notes()]


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=15)
@given(data=st.data())
def test_valid_complete_and_repeatable(name: str, data: st.DataObject) -> None:
    machine = data.draw(machines())
    tasks = data.draw(workloads(machine))
    options: dict[str, Any] = {
        "prediction": data.draw(st.sampled_from(["requested", "oracle", "last-two"])),
        "window": data.draw(st.sampled_from(["100", "2"])),
        "ahead": data.draw(st.sampled_from(["0", "3"])),
        "reserve": data.draw(st.sampled_from(["0", "0.25", "1"])),
        "ordering": data.draw(st.sampled_from(["pcp20-priority", "fcfs", "sjf"])),
        "placement": data.draw(st.sampled_from(["scarce", "best-fit", "last-fit", "first-fit", "contiguous"])),
    }
    if name == "best-list":
        options["tries"] = data.draw(st.sampled_from(["0", "2"]))
        options["capacity"] = data.draw(st.sampled_from(["nodes", "pooled"]))
    else:
        options["work"] = data.draw(st.sampled_from(["0.0001", "0.01"]))
    if name == "pcp20":
        options["units"] = data.draw(st.sampled_from(["increasing", "different"]))
        options["backtracking"] = data.draw(st.sampled_from(["all", "starts"]))
    if name == "hcp19":
        options["repair"] = data.draw(st.sampled_from(["0", "2"]))
    kind = data.draw(st.sampled_from(["plain", "split", "slow", "absent"]))
    arguments: dict[str, Any] = {
        "plain": {},
        "split": {"engine": EngineOptions(split_simultaneous=True)},
        "slow": {"decision_time": 0.3},
        "absent": {
            "events": [
                e.MachinesUnavailable(2.0, Allocation(data.draw(st.integers(1, 2 ** len(machine.hosts) - 1)))),
                e.MachinesAvailable(9.0, Allocation((1 << len(machine.hosts)) - 1)),
            ]
        },
    }[kind]
    result = simulate(machine, tasks, name, options=options, **arguments)
    audit(machine, tasks, result)
    result.ledger.check()
    again = simulate(machine, tasks, name, options=options, **arguments)
    assert again.files == result.files
    assert [reply for _, reply in again.exchanges] == [reply for _, reply in result.exchanges]


# Short wide jobs beside long narrow ones, on nodes of two kinds.
MIXED = Machine(
    [Host(id=n, name=f"g{n}", properties={"capacity": "core=4 gpu=1"}) for n in range(2)]
    + [Host(id=n, name=f"m{n}", properties={"capacity": "core=4 mic=1"}) for n in range(2, 4)]
)
TASKS = [
    Task(
        str(n),
        n // 4 * 3.0,
        1 + n % 3,
        2.0 + (n * 7) % 23,
        60.0,
        [{"core": 2}, {"core": 1, "gpu": 1}, {"core": 3}, {"core": 1, "mic": 1}][n % 4],
        user="ab"[n % 2],
    )
    for n in range(40)
    if n % 4 != 1 or n % 3 != 2
    if n % 4 != 3 or n % 3 != 2
]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("best-list", {}),
        ("best-list", {"capacity": "pooled"}),
        ("pcp20", {"work": "0.02"}),
        ("pcp20", {"backtracking": "starts", "work": "0.02"}),
        ("pcp19", {"work": "0.02"}),
        ("hcp19", {"work": "0.02"}),
    ],
)
def test_the_same_seed_decides_the_same_byte_for_byte(name: str, options: dict[str, str]) -> None:
    runs = [simulate(MIXED, TASKS, name, options={**options, "prediction": "oracle"}) for _ in range(2)]
    audit(MIXED, TASKS, runs[0])
    assert runs[0].files == runs[1].files
    kept = [
        [{key: value for key, value in line.items() if not key.endswith("seconds")} for line in notes(run)]
        for run in runs
    ]
    assert kept[0] == kept[1]
    assert runs[0].session.dispatcher.report()["fallbacks"] == 0


@pytest.mark.parametrize("name", NAMES)
def test_every_decision_is_accounted_for(name: str) -> None:
    options = {"prediction": "oracle"} if name == "best-list" else {"prediction": "oracle", "work": "0.02"}
    result = simulate(MIXED, TASKS, name, options=options)
    lines = notes(result)
    assert sum(line["started"] for line in lines) == len(TASKS)
    for line in lines:
        assert line["bound"] <= line["cost"] + 1e-9
        assert 0 <= line["gap"] <= 1
        # A published search is told of no plan, and may find a worse one than the search rule of PCP'20.
        assert 0 <= line["improvement"] <= 1 or name in ("pcp19", "hcp19")
        assert line["status"] in (("BOUND", "GREEDY") if name == "best-list" else ("OPTIMAL", "FEASIBLE"))
        assert (line["variables"] > 0) == (name != "best-list")
        assert line["build_seconds"] >= 0
        assert line["solve_seconds"] >= 0
        assert line["now"] >= 0
    report = result.session.dispatcher.report()
    assert sum(report["statuses"].values()) == report["planned"] == len(lines)
    assert report["prediction"]["jobs"] == len(TASKS)


@pytest.mark.parametrize("name", SOLVERS)
def test_the_search_betters_the_greedy_plan_somewhere_and_proves_some(name: str) -> None:
    result = simulate(MIXED, TASKS, name, options={"prediction": "oracle", "work": "0.03"})
    assert any(line["improvement"] > 0 for line in notes(result))
    assert any(line["status"] == "OPTIMAL" and line["cost"] > 0 for line in notes(result))


def test_a_short_wide_job_planned_ahead_is_not_starved() -> None:
    """Two nodes, always one of them busy: without planning ahead, the job that needs both waits for the stream."""
    machine = Machine.flat(2, "core=2")
    stream = [Task(f"s{n:02d}", 3.0 * n, 1, 10.0, 10.0, {"core": 2}) for n in range(20)]
    tasks = [*stream, Task("wide", 1.0, 2, 1.0, 1.0, {"core": 2})]
    published = simulate(machine, tasks, "best-list").starts()["wide"]
    ahead = simulate(machine, tasks, "best-list", options={"ahead": "10"}).starts()["wide"]
    assert ahead < published


def test_pcp19_refuses_a_machine_that_is_too_large_with_the_size_of_the_model() -> None:
    machine = Machine.flat(1173, "core=20")
    message = r"pcp19 cannot run.*100 x \(1 \+ 1,173\) = 117,400 variables, more than most_variables=50,000"
    with pytest.raises(InputError, match=message):
        simulate(machine, [Task("1", 0, 1, 1, 1, {"core": 1})], "pcp19")
    simulate(machine, [Task("1", 0, 1, 1, 1, {"core": 1})], "pcp20")


def test_pcp19_halves_the_window_when_a_model_is_too_large() -> None:
    machine = Machine.flat(3, "core=4")
    tasks = [Task(str(n), 0.0, 4, 3.0 + n, 50.0, {"core": 1}) for n in range(9)]
    result = simulate(machine, tasks, "pcp19", options={"most_variables": "40", "window": "8"})
    audit(machine, tasks, result)
    report = result.session.dispatcher.report()
    assert report["statuses"]["UNKNOWN"] == report["fallbacks"] == report["window_halved"] > 0


def test_hcp19_plans_anew_when_a_job_comes_that_does_not_fit() -> None:
    """L fits beside S, but waits for T, which needs all hosts. While S runs, T does not fit, and no new plan has it."""
    tasks = [
        Task("S", 0.0, 2, 1.0, 1.0),
        Task("T", 0.0, 3, 2.0, 2.0),
        Task("L", 0.0, 1, 1000.0, 1000.0),
        Task("late", 0.5, 3, 2.0, 2.0),
        # That no more jobs come is news of its own.
        Task("last", 5000.0, 1, 1.0, 1.0),
    ]
    starts = {name: simulate(Machine.flat(3), tasks, name).starts()["L"] for name in ("hcp19", "best-list")}
    assert starts == {"hcp19": 0.5, "best-list": 5.0}


def test_hcp19_puts_back_what_finds_no_nodes_and_repairs() -> None:
    """Nodes of 4 cores: pooled, 3 + 3 + 2 cores fit into 8; on the nodes they do not."""
    machine = Machine.flat(2, "core=4")
    tasks = [Task(n, 0.0, 1, 10.0, 10.0, {"core": c}) for n, c in (("a", 3), ("b", 3), ("c", 2))]
    tasks.append(Task("d", 0.0, 1, 20.0, 20.0, {"core": 1}))
    published = simulate(machine, tasks, "hcp19", options={"work": "0.05"})
    repaired = simulate(machine, tasks, "hcp19", options={"work": "0.05", "repair": "5"})
    assert published.session.dispatcher.report()["put_back"] >= 1
    assert published.session.dispatcher.report()["repairs"] == 0
    assert repaired.session.dispatcher.report()["repairs"] >= 1
    assert published.starts()["d"] > repaired.starts()["d"] == 0.0


def test_a_repair_starts_what_found_no_nodes_when_the_first_job_ends() -> None:
    """Nodes of 5 cores. A job of one core has 5 s left when others come: pooled, 3 + 3 + 3 cores fit into the other 9.

    On the nodes they do not, and until the first job ends there are no more cores than now.
    """
    after: list[float] = []

    class Recording(Hcp19):
        def first(self, instance: Instance, earliest: Sequence[float] | None = None) -> Plan:
            after.extend(earliest or ())
            return super().first(instance, earliest)

    tasks = [Task("r", 0.0, 1, 6.0, 6.0, {"core": 1})]
    tasks += [Task(n, 1.0, 1, 10.0, 10.0, {"core": 3}) for n in "abc"]
    simulate(Machine.flat(2, "core=5"), tasks, Recording(Hcp19Options(repair=1, work=0.05)))
    assert sorted(after[:3]) == [-1.0, -1.0, 5.0]


def test_the_window_is_halved_after_failures_and_whole_after_a_success() -> None:
    window = Window(100)
    sizes = []
    for jobs in (100, 50, 3, 1, 1):
        window.failed(jobs)
        sizes.append(window.size)
    assert sizes == [50, 25, 1, 1, 1]
    window.succeeded()
    assert window.size == 100
    assert window.halved == 5


def test_nothing_is_planned_when_nothing_that_matters_changed() -> None:
    """Jobs that cannot fit come while the machine is full: no instance is made of them."""
    machine = Machine.flat(1, "core=4")
    tasks = [Task("first", 0.0, 1, 100.0, 100.0, {"core": 4})]
    tasks += [Task(f"t{n:02d}", 1.0 + n, 1, 1.0, 1.0, {"core": 1}) for n in range(20)]
    report = simulate(machine, tasks, "best-list").session.dispatcher.report()
    assert report["skipped"] >= 20
    assert report["planned"] < 15


@pytest.mark.parametrize("name", SOLVERS)
def test_a_search_that_finds_nothing_is_a_fallback_without_a_cost_and_halves_the_window(name: str) -> None:
    """A millionth of a second is over at the first check. The jobs start as in the plan of the search rule."""
    result = simulate(MIXED, TASKS, name, options={"work": "1e-6", "prediction": "oracle"})
    audit(MIXED, TASKS, result)
    lines = notes(result)
    report = result.session.dispatcher.report()
    unknown = [line for line in lines if line["status"] == "UNKNOWN"]
    assert report["fallbacks"] == report["statuses"]["UNKNOWN"] == report["window_halved"] == len(unknown) > 0
    assert all(line["cost"] is line["gap"] is line["improvement"] is None for line in unknown)
    found = [line["gap"] for line in lines if line["status"] != "UNKNOWN"]
    assert report["means"].get("gap", 0.0) == pytest.approx(sum(found) / max(len(found), 1))


@pytest.mark.parametrize("repair", [0, 5])
def test_a_failed_first_stage_of_hcp19_is_counted_also_when_lists_repair_the_plan(repair: int) -> None:
    class Failing(Hcp19):
        def search(self, formulation: str, instance: Instance, **options: Any) -> SolverResult[Plan]:
            found = super().search(formulation, instance, **options)
            found.status, found.limited = "UNKNOWN", True
            return found

    machine = Machine.flat(2, "core=4")
    tasks = [Task(n, 0.0, 1, 10.0, 10.0, {"core": c}) for n, c in (("a", 3), ("b", 3), ("c", 2))]
    dispatcher = Failing(Hcp19Options(repair=repair, work=0.05))
    result = simulate(machine, tasks, dispatcher)
    report = dispatcher.report()
    assert (report["repairs"] > 0) == (repair > 0)
    assert report["statuses"] == {"UNKNOWN": report["planned"]}
    assert report["fallbacks"] == report["window_halved"] == report["planned"] > 0
    assert {line["status"] for line in notes(result)} == {"UNKNOWN"}


def test_a_repaired_plan_keeps_the_size_and_the_work_of_the_model() -> None:
    machine = Machine.flat(2, "core=4")
    tasks = [Task(n, 0.0, 1, 10.0, 10.0, {"core": c}) for n, c in (("a", 3), ("b", 3), ("c", 2))]
    # Pooled, "d" and "e" do not fit beside these, so that the solver is asked.
    tasks += [Task("d", 0.0, 2, 2.0, 20.0, {"core": 4}), Task("e", 0.0, 1, 3.0, 20.0, {"core": 1})]
    result = simulate(machine, tasks, "hcp19", options={"work": "0.05", "repair": "5"})
    repaired = [line for line in notes(result) if line["repairs"]]
    assert any(line["variables"] > 0 and line["work"] > 0 and line["status"] == "GREEDY" for line in repaired)


def test_jobs_beyond_a_halved_window_are_planned_for_at_the_next_event() -> None:
    """The window is halved at 0 s, so that of three jobs that come at 1 s one is decided about."""

    class FailingOnce(Pcp20):
        failed = False

        def plan(self, instance: Instance, counters: dict[str, int]) -> SolverResult[Plan]:
            found = super().plan(instance, counters)
            if not self.failed:
                self.failed, found.status = True, "UNKNOWN"
            return found

    machine = Machine.flat(1, "core=8")
    tasks = [Task("first", 0.0, 1, 100.0, 100.0, {"core": 1})]
    tasks += [Task(f"t{n}", 1.0, 1, 50.0, 50.0, {"core": 1}) for n in range(3)]
    # This one fits nowhere now: it brings no capacity and is no reason to plan anew.
    tasks += [Task(f"wide{n}", 2.0 + n, 1, 5.0, 5.0, {"core": 8}) for n in range(2)]
    starts = simulate(machine, tasks, FailingOnce(Pcp20Options(window=8))).starts()
    assert sorted(starts[f"t{n}"] for n in range(3)) == [1.0, 2.0, 2.0]


def test_whole_nodes_are_planned_around_in_the_model_of_positions() -> None:
    machine = Machine.flat(2, "core=4")
    tasks = [Task(str(n), 0.0, 2, 5.0, 5.0) for n in range(3)]
    tasks += [Task(f"c{n}", 0.0, 1, 2.0 + n, 2.0 + n, {"core": 3}) for n in range(4)]
    audit(machine, tasks, simulate(machine, tasks, "pcp20", options={"work": "0.05"}))


@pytest.mark.parametrize("name", [*NAMES, "easy"])
def test_a_node_that_is_full_takes_no_unit_that_needs_nothing(name: str) -> None:
    """One node of one core, held from 0 to 10 s: a job of no core submitted at 1 s waits for it, as under EASY."""
    machine = Machine.flat(1, "core=1")
    tasks = [Task("a", 0.0, 1, 10.0, 10.0, {"core": 1}), Task("b", 1.0, 1, 5.0, 5.0, {"core": 0})]
    assert simulate(machine, tasks, name).starts() == {"a": 0.0, "b": 10.0}


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=20)
@given(data=st.data())
def test_requests_of_all_kinds_are_served_as_asked(name: str, data: st.DataObject) -> None:
    machine = beyond_machine()
    tasks = []
    for number in range(data.draw(st.integers(1, 10))):
        fields = dict(data.draw(st.sampled_from([*BEYOND, {"demand": {"core": 1}}, {"demand": {"core": 2, "gpu": 1}}])))
        units = data.draw(st.sampled_from([2, 4] if "nodes" in fields or "units_per_node" in fields else [1, 2, 4]))
        demand = fields.pop("demand", None)
        lasts = float(data.draw(st.integers(1, 9)))
        tasks.append(Task(str(number), float(data.draw(st.integers(0, 5))), units, lasts, lasts, demand, "", fields))
    options = {} if name == "best-list" else {"work": "0.005"}
    result = simulate(machine, tasks, name, options=options)
    by_id = {task.id: task for task in tasks}
    ran = [row for row in result.rows.values() if row.state is not JobState.REJECTED]
    for row in result.rows.values():
        task = by_id[row.id]
        possible = naive.fits(machine, task.fields(), task.units, naive.offered(machine))
        assert possible == (row in ran)
        if row in ran:
            assert naive.allowed(machine, task.fields(), row.units, task.units)
    for moment in {row.start for row in ran}:
        there = [row for row in ran if row.start <= moment < row.end]
        left = naive.left(machine, [(by_id[row.id].fields(), row.units) for row in there])
        assert all(amount >= 0 for host in left for amount in host.values())
        assert sum(by_id[row.id].extra.get("licences", {}).get("solver", 0) for row in there) <= 3


@pytest.mark.parametrize("name", NAMES)
def test_whole_hosts_that_are_all_alike_may_have_licences_beside_them(name: str) -> None:
    """They are taken for one node as long as no job asks for a licence."""
    machine = Machine([Host(id=i, name=f"h{i}", properties={"licences": "solver=1"}) for i in range(4)])
    tasks = [Task("1", 0.0, 3, 10.0, 10.0), Task("2", 1.0, 2, 10.0, 10.0), Task("3", 2.0, 2, 20.0, 20.0)]
    assert simulate(machine, tasks, name).starts() == {"1": 0.0, "2": 10.0, "3": 10.0}
    tasks = [task._replace(extra={"licences": {"solver": 1}}) if task.id != "1" else task for task in tasks]
    assert simulate(machine, tasks, name).starts() == {"1": 0.0, "2": 10.0, "3": 20.0}


def test_defaults_are_the_published_methods() -> None:
    """A name is a promise."""
    shown = {name: create(name).options for name in SOLVERS}
    for name, options in shown.items():
        ties = "[ties=smaller]" if name == "hcp19" else ""
        assert options.ordering == f"pcp20-priority{ties}"
        assert (options.window, options.ahead, options.reserve) == (100, 0, 0.0)
        assert options.work == 1.0, "the authors' limit of 1 s"
    assert (shown["pcp20"].backtracking, shown["pcp20"].placement) == ("all", "last-fit")
    assert (shown["hcp19"].placement, shown["hcp19"].repair) == ("best-fit[sums=amounts]", 0)
    assert create("best-list").options.placement == "scarce"
    assert create("best-list", {"capacity": "pooled"}).options.placement == "first-fit"


@pytest.mark.parametrize(
    "option", [{"units": "fast"}, {"window": "0"}, {"nodes": "best"}, {"wall": "0"}, {"work": "0"}]
)
def test_wrong_options_are_refused(option: dict[str, str]) -> None:
    with pytest.raises(InputError, match=next(iter(option))):
        create("pcp20", option)


@pytest.mark.parametrize("name", NAMES)
def test_the_time_for_deciding_counts_in_simulated_time(name: str) -> None:
    """Two jobs at once and one node: each starts one decision's time after what it waited for."""
    machine = Machine.flat(1, "core=4")
    tasks = [Task("a", 50.0, 1, 10.0, 10.0, {"core": 4}), Task("b", 50.0, 1, 20.0, 20.0, {"core": 4})]
    result = simulate(machine, tasks, name, decision_time=2.5)
    audit(machine, tasks, result)
    assert result.starts() == {"a": 52.5, "b": 65.0}


@pytest.mark.parametrize("name", NAMES)
def test_measured_decision_time_delays_what_it_decides(name: str) -> None:
    options = {} if name == "best-list" else {"work": "0.02"}
    result = simulate(MIXED, TASKS, name, options=options, decision_time=None)
    audit(MIXED, TASKS, result)
    starts = result.starts()
    assert all(starts[task.id] > task.submission for task in TASKS)


@pytest.mark.parametrize("name", ["pcp20", "pcp20[backtracking=starts]", "pcp19", "hcp19", "best-list"])
def test_a_placement_that_may_refuse_holds_for_what_the_solver_planned(name: str) -> None:
    """J would fit at once on nodes 0, 1 and 3, which is what a model plans; under `contiguous` it waits for R."""
    machine = Machine.flat(5, "core=1")
    tasks = [
        Task("R", 0.0, 1, 50.0, 50.0, {"core": 1}, "", {"node_list": ["n2"]}),
        Task("J", 1.0, 3, 2.0, 2.0, {"core": 1}),
        Task("K", 1.0, 2, 3.0, 3.0, {"core": 1}),
    ]
    result = simulate(machine, tasks, name, options={"placement": "contiguous"})
    audit(machine, tasks, result)
    assert result.starts()["J"] == 50.0
    for row in result.rows.values():
        assert max(row.units) - min(row.units) == len(row.units) - 1, row
    assert simulate(machine, tasks, name).starts()["J"] < 50.0
