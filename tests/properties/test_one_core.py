"""One core for all families: capacity, jobs and parts mean the same wherever they are met.

What is expected is worked out by `support/naive.py`, by hand and by brute force.
"""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import naive
from batdispatch.abilities.stochastic import requests
from batdispatch.abilities.topology.networks import Grid
from batdispatch.batsim import protocol
from batdispatch.batsim.v4 import jobs as jobs4
from batdispatch.core.capacity.filling import first_fit
from batdispatch.core.capacity.granularity import space_of
from batdispatch.core.errors import BatdispatchError, FieldError, InputError
from batdispatch.core.jobs.job import Job, JobState
from batdispatch.core.jobs.request import MAX_AMOUNT
from batdispatch.core.line import decisions as d
from batdispatch.core.line import dispatcher as dispatchers
from batdispatch.core.line import registry
from batdispatch.core.line.messages import Reply
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.inputs.workloads import read_workload
from batdispatch.layers.base import Layer
from batdispatch.parts import ordering, placement, prediction
from simulating import Task, audit, simulate
from strategies import make_job

NAMES = registry.names(dispatchers.GROUP)
quick = settings(max_examples=15, suppress_health_check=list(HealthCheck))

#: These may leave a job that fits for the next batch.
PLANS_IN_BATCHES = {"stochastic-batch", "pinned-io"}
CLASSES = ["core=3 gpu=1", "core=2", "core=4 gpu=2", "core=1 gpu=1"]


@st.composite
def machines(draw: st.DrawFn) -> Machine:
    """Up to four hosts, whole or shared, perhaps with a storage host."""
    count = draw(st.integers(1, 4))
    if draw(st.booleans()):
        hosts = [Host(id=i, name=f"n{i}") for i in range(count)]
    else:
        classes = draw(st.lists(st.sampled_from(CLASSES), min_size=count, max_size=count))
        hosts = [Host(id=i, name=f"n{i}", properties={"capacity": text}) for i, text in enumerate(classes)]
    if draw(st.booleans()):
        hosts.append(Host(id=count, name="io", storage=True))
    return Machine(hosts)


@st.composite
def fields(draw: st.DrawFn, machine: Machine) -> dict[str, Any]:
    """Fields of a job that say what it asks for; they may contradict each other."""
    found: dict[str, Any] = {}
    names = [host.name for host in machine.hosts if not host.storage]
    if not machine.exclusive and draw(st.booleans()):
        has_gpu = "gpu" in machine.resources
        demands = [{"core": 1}, {"core": 2}, {}, {"core": 0}] + ([{"gpu": 1}, {"core": 1, "gpu": 1}] if has_gpu else [])
        found["demand"] = draw(st.sampled_from(demands))
        if has_gpu and draw(st.integers(0, 2)) == 0:
            found["per_node"] = {"gpu": draw(st.integers(1, 2))}
        if draw(st.integers(0, 3)) == 0:
            found["units_per_node"] = draw(st.integers(1, 2))
        if draw(st.integers(0, 4)) == 0:
            found["whole_nodes"] = True
    if draw(st.integers(0, 3)) == 0:
        found["nodes"] = draw(st.sampled_from([1, 2, [1, 2], [2, 3]]))
    if draw(st.integers(0, 3)) == 0:
        found["contiguous"] = True
    if draw(st.integers(0, 3)) == 0:
        found["exclude_nodes"] = draw(st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True))
    if draw(st.integers(0, 3)) == 0:
        found["node_list"] = draw(st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True))
    return found


@st.composite
def situations(draw: st.DrawFn) -> tuple[Machine, list[tuple[int, dict[str, Any]]], tuple[int, dict[str, Any]]]:
    """A machine, jobs that came first as (units, fields), and the job that is asked about."""
    machine = draw(machines())
    first = draw(st.lists(st.tuples(st.integers(1, 3), fields(machine)), max_size=3))
    return machine, first, (draw(st.integers(1, 4)), draw(fields(machine)))


def refused(machine: Machine, units: int, asked: dict[str, Any]) -> bool:
    """Whether the machine could never run a job, whatever else runs."""
    return not naive.fits(machine, asked, units, naive.offered(machine))


# ---------------------------------------------------------------------- capacity


@settings(quick, max_examples=100)
@given(situations())
def test_the_space_answers_as_the_naive_reading_does(
    situation: tuple[Machine, list[tuple[int, dict[str, Any]]], tuple[int, dict[str, Any]]],
) -> None:
    machine, first, (units, asked) = situation
    space, free, held = space_of(machine), space_of(machine).whole(), []
    for number, (size, said) in enumerate([*first, (units, asked)]):
        job = make_job(f"w0!{number}", size, **said)
        expected = naive.fits(machine, said, size, naive.left(machine, held))
        try:
            found = first_fit(space, free, job)
            assert space.fits(free, job) == (found is not None)
            room = space.room(free, job)
        except InputError:
            # It contradicts itself: no machine could run it.
            assert refused(machine, size, said)
            continue
        assert (found is not None) == expected
        if "units_per_node" not in said and not {"node_list", "exclude_nodes"} & said.keys():
            most = [
                naive.most_units(machine, said, naive.left(machine, held)[host], host, 9)
                for host in range(len(machine.hosts))
            ]
            assert room.clip(max=9).tolist() == most
        if found is not None:
            spread = dict(found.per_host())
            assert naive.allowed(machine, said, spread, size)
            assert space.mismatch(job, found) == ""
            used = naive.use_of(machine, said, spread)
            assert space.use(job, found).tolist() == [
                [used[host].get(name, 0) for name in machine.resources] for host in found.ids
            ]
            held.append((said, spread))
            free = space.take(free, job, found)


@pytest.mark.parametrize("name", NAMES)
@quick
@given(situation=situations())
def test_every_dispatcher_starts_what_fits_and_nothing_else(
    name: str, situation: tuple[Machine, list[tuple[int, dict[str, Any]]], tuple[int, dict[str, Any]]]
) -> None:
    """Jobs come one by one while nothing else waits: each starts at once if it fits, and otherwise does not."""
    machine, first, last = situation
    tasks = [
        Task(f"j{number}", float(number), units, 100.0, 200.0, said.get("demand"), "", _rest(said))
        for number, (units, said) in enumerate([*first, last])
    ]
    # A job that has to wait ends the story: who comes after it may wait for it.
    held: list[tuple[dict[str, Any], dict[int, int]]] = []
    result = simulate(machine, tasks, name, options=_at_any_time(name))
    for task, (units, said) in zip(tasks, [*first, last], strict=True):
        row = result.rows[task.id]
        if refused(machine, units, said):
            assert row.state is JobState.REJECTED
            continue
        fits = naive.fits(machine, said, units, naive.left(machine, held))
        at_once = row.start == round(task.submission * 1e6)
        if not at_once and name in PLANS_IN_BATCHES:
            break
        assert at_once == fits, f"{task} {row} {held}"
        if not fits:
            break
        assert naive.allowed(machine, said, row.units, units)
        held.append((said, row.units))


def _at_any_time(name: str) -> dict[str, Any]:
    """Return the options with which a dispatcher decides whenever something happens."""
    fields = dispatchers.find(name).options_type.__struct_fields__
    return {option: 0 for option in ("period", "tick") if option in fields}


def _rest(said: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in said.items() if name != "demand"}


@pytest.mark.parametrize("name", NAMES)
def test_a_node_that_is_full_takes_nothing_more_not_even_what_needs_nothing(name: str) -> None:
    machine = Machine.flat(1, "core=1")
    tasks = [Task("A", 0.0, 1, 10.0, 10.0, {"core": 1}), Task("B", 1.0, 1, 1.0, 1.0, {"core": 0})]
    assert simulate(machine, tasks, name).starts() == {"A": 0.0, "B": 10.0}


# ---------------------------------------------------------------------- jobs


numbers = st.one_of(
    st.integers(-2, 5), st.sampled_from([10**16, MAX_AMOUNT, MAX_AMOUNT + 1, 2**31, 2**31 - 1]), st.just(1.5), st.none()
)
texts = st.sampled_from(["n0", "", "a b", "x" * 70, "core"])
sizes = st.sampled_from(["least", "most", "factor", "preferred"])
said = st.fixed_dictionaries(
    {},
    optional={
        "demand": st.one_of(numbers, st.dictionaries(texts, numbers, max_size=2)),
        "per_node": st.one_of(numbers, st.dictionaries(texts, numbers, max_size=2)),
        "nodes": st.one_of(numbers, st.lists(numbers, max_size=3)),
        "units_per_node": numbers,
        "whole_nodes": st.one_of(st.booleans(), numbers),
        "node_list": st.one_of(numbers, st.lists(texts, max_size=3)),
        "exclude_nodes": st.one_of(numbers, st.lists(texts, max_size=3)),
        "contiguous": st.one_of(st.booleans(), numbers),
        "licences": st.one_of(numbers, st.dictionaries(texts, numbers, max_size=2)),
        "io_node": st.one_of(numbers, texts, st.lists(texts, max_size=3)),
        "sizes": st.one_of(
            numbers,
            st.dictionaries(st.sampled_from(["least", "most", "factor", "preferred", "steps", "period"]), numbers),
            st.fixed_dictionaries(
                {"least": st.just(1), "most": st.sampled_from([4, 2**31 - 1])},
                optional={
                    "kind": st.sampled_from(["moldable", "malleable", "evolving", "rigid"]),
                    "steps": numbers,
                    "scalability": st.sampled_from(["linear", "power:0.7", "table:1=9,4=3", "power:x"]),
                    "asks": st.lists(st.fixed_dictionaries({"step": numbers, "least": numbers}), max_size=2),
                },
            ),
        ),
        "dependencies": st.one_of(numbers, st.lists(texts, max_size=3)),
        "user": st.one_of(numbers, texts),
        "parent": st.one_of(numbers, texts),
    },
)


@settings(quick, max_examples=100)
@given(units=numbers, extra=said)
def test_workloads_wires_and_recordings_accept_the_same_jobs(tmp_path: Path, units: Any, extra: dict[str, Any]) -> None:
    fields = {"id": "j", "subtime": 0, "res": units, "profile": "p", **extra}
    path = tmp_path / "w.json"
    profiles = {"p": {"type": "delay", "delay": 1}}
    # A workload must hold the jobs that others name.
    others = [{"id": name, "subtime": 0, "res": 1, "profile": "p"} for name in ("n0", "a b", "x" * 70, "core")]
    path.write_text(json.dumps({"nb_res": 1, "jobs": [fields, *others], "profiles": profiles}))

    def from_workload() -> Job:
        return next(job for job in read_workload(path).jobs if job.id == "j")

    def from_wire4() -> Job:
        return jobs4.read_job({**fields, "id": "w0!j"}, "w0!j")

    def from_wire5() -> Job:
        made = Job(id="w0!j", request=make_job().request, profile="p", extra=extra)
        data = protocol("5").encode_reply(Reply(0.0, [d.RegisterJob(0.0, made)]))
        frame = json.loads(data.rstrip(b"\0"))
        event = frame["events"][0]["event"]
        event["job"]["resource_request"] = units
        event["job"]["extra_data"] = json.dumps(extra)
        decision = protocol("5").decode_reply(json.dumps(frame).encode()).decisions[0]
        assert isinstance(decision, d.RegisterJob)
        return decision.job

    found: list[Job | None] = []
    for read in (from_workload, from_wire4, from_wire5):
        try:
            found.append(read())
        except (BatdispatchError, FieldError):
            found.append(None)
    assert len({job is None for job in found}) == 1, found
    one, four, five = found
    if one is None or four is None or five is None:
        return
    assert one.request == four.request == five.request
    assert (one.user, one.parent) == (four.user, four.parent) == (five.user, five.parent)
    # What was accepted survives being written and read again, by both wires: a recording can be replayed.
    for version in ("4", "5"):
        wire = protocol(version)
        registered = msgspec.structs.replace(four, id="w0!j")
        again = wire.decode_reply(wire.encode_reply(Reply(0.0, [d.RegisterJob(0.0, registered)]))).decisions[0]
        assert isinstance(again, d.RegisterJob)
        assert again.job.request == four.request


# ---------------------------------------------------------------------- parts


PARTS = {
    "ordering": registry.names(ordering.GROUP),
    "placement": registry.names(placement.GROUP),
    "prediction": registry.names(prediction.GROUP),
    "requests": registry.names(requests.GROUP),
}
TASKS = [
    Task("1", 0.0, 2, 30.0, 40.0, {"core": 1}, "ann"),
    Task("2", 1.0, 3, 20.0, 25.0, {"core": 2}, "ben"),
    Task("3", 2.0, 1, 10.0, 30.0, {"core": 1, "gpu": 1}, "ann"),
    Task("4", 3.0, 1, 5.0, 5.0, None, "cat"),
    Task("5", 4.0, 4, 8.0, 12.0, {"core": 1}, "ben"),
]


def _uses() -> list[tuple[str, str, str, bool]]:
    """Return (dispatcher, kind, part, whether nodes are shared) so that each stands in some: with both machines."""
    uses = []
    for kind, parts in PARTS.items():
        users = [name for name in NAMES if kind in dispatchers.find(name).options_type.__struct_fields__]
        for turn in range(max(len(users), len(parts))):
            name, part = users[turn % len(users)], parts[turn % len(parts)]
            uses += [(name, kind, part, False), (name, kind, part, True)]
    return uses


def _all_uses() -> list[tuple[str, str, str, bool]]:
    """Return every (dispatcher, kind, part, whether nodes are shared)."""
    return [
        (name, kind, part, shared)
        for kind, parts in PARTS.items()
        for name in NAMES
        if kind in dispatchers.find(name).options_type.__struct_fields__
        for part in parts
        for shared in (False, True)
    ]


@pytest.mark.parametrize(("name", "kind", "part", "shared"), _uses())
def test_every_part_and_every_dispatcher_that_has_a_use_for_parts_work_together(
    name: str, kind: str, part: str, shared: bool
) -> None:
    check_use(name, kind, part, shared)


@pytest.mark.slow
def test_every_part_works_with_every_dispatcher_that_has_a_use_for_it() -> None:
    for use in _all_uses():
        check_use(*use)


def check_use(name: str, kind: str, part: str, shared: bool) -> None:
    """Run five jobs of three users, and audit the run."""
    # Placements by shape need a network.
    machine = Machine(Machine.flat(4, "core=2 gpu=1" if shared else None).hosts, Grid(range(4), [2, 2]))
    tasks = TASKS if shared else [task._replace(demand=None) for task in TASKS]
    if kind == "requests":
        # A sequence may try a job again that its walltime ends.
        tasks = [task._replace(walltime=max(task.walltime, task.runtime + 1)) for task in tasks]
    # A list has no default. With one that is long enough no attempt fails: each job is one row.
    result = simulate(machine, tasks, name, options={kind: "list[1000h]" if part == "list" else part})
    audit(machine, tasks, result)
    assert not result.session.ledger.rejections


def test_every_dispatcher_that_places_takes_a_placement_and_who_orders_an_ordering() -> None:
    without = {name for name in NAMES if "placement" not in dispatchers.find(name).options_type.__struct_fields__}
    # Layers hand on to what they wrap. The others say on their cards what chooses the hosts in place of a placement.
    layers = {name for name in NAMES if issubclass(dispatchers.find(name), Layer)}
    for name in sorted(without - layers):
        card = " ".join((dispatchers.find(name).__doc__ or "").split())
        assert "There is no `placement`: " in card, f"{name} takes no placement, and does not say why"
    orders = {"ordering", "priorities"}
    without = {name for name in NAMES if not orders & set(dispatchers.find(name).options_type.__struct_fields__)}
    assert without <= layers
