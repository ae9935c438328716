"""Every dispatcher through every door gives the same schedule: start times, ends, states and hosts.

The doors: in process, our engine over ZeroMQ in Batsim 4's and Batsim 5's place, pybatsim's launcher, a replay of what
was recorded, and a real Batsim of either version where one is on PATH. See tests/support/doors.py.
"""

import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from batdispatch.abilities.solvers.auction.base import AuctionDispatcher
from batdispatch.abilities.tasks.task_dispatcher import TaskDispatcher
from batdispatch.abilities.verify.audit.run import Auditor
from batdispatch.core.line import registry
from batdispatch.core.line.dispatcher import GROUP, find
from batdispatch.inputs.platforms import read_platform
from batdispatch.inputs.workloads.writer import write_workload
from batdispatch_papers.dada.machine import hybrid
from batdispatch_papers.dada.workload import tiles
from batdispatch_papers.esp.machine import esp as esp_platform
from batdispatch_papers.esp.workload import esp
from doors import DOORS, SPECIAL, Schedule, Site, Special, in_process, make_sites, replayed
from with_simgrid import needs_simgrid

NAMES = registry.names(GROUP)
#: Those made for nodes with several resources, which few jobs fill: Slurm's, and those that solve programs over nodes.
MULTI_RESOURCE = ["slurm-backfill", *(name for name in NAMES if issubclass(find(name), AuctionDispatcher))]
#: Those that choose between classes of hosts for tasks, and register jobs that fit.
TASKS = [name for name in NAMES if issubclass(find(name), TaskDispatcher)]
SITES = ("hosts", "nodes")
#: The door that needs pybatsim, where it is installed.
WITH_PYBATSIM = ["pybatsim"] if find_spec("batsim") else []
#: Seconds by which a real Batsim's start times may differ: each message costs its clock about a microsecond.
SLACK = 0.05

CASES = [
    pytest.param(name, site, id=f"{name}-{site}")
    for name in NAMES
    for site in SITES
    if not SPECIAL.get(name, Special()).sites or site in SPECIAL[name].sites
]


class Reference:
    """Schedules in process, simulated once each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.sites = make_sites(folder / "sites")
        self._known: dict[tuple[str, str], Schedule] = {}

    def run(self, name: str, site: str) -> Path:
        """Return the folder of the run in process."""
        path = self.folder / f"{name}-{site}"
        if (name, site) not in self._known:
            self._known[name, site] = in_process(name, self.site(site), path)
        return path

    def schedule(self, name: str, site: str) -> Schedule:
        self.run(name, site)
        return self._known[name, site]

    def site(self, site: str) -> Site:
        return self.sites[site]


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Reference:
    return Reference(tmp_path_factory.mktemp("doors"))


#: The doors beside the replay, each on one of the sites.
OPEN = {"hosts": ["zeromq4", *WITH_PYBATSIM], "nodes": ["zeromq5"]}


@pytest.mark.parametrize(("name", "site"), CASES)
def test_same_schedule_and_something_to_decide(name: str, site: str, reference: Reference, tmp_path: Path) -> None:
    check_doors(name, site, OPEN[site], reference, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "site"), CASES)
def test_same_schedule_through_every_door_on_every_site(
    name: str, site: str, reference: Reference, tmp_path: Path
) -> None:
    check_doors(name, site, [*OPEN["hosts"], *OPEN["nodes"]], reference, tmp_path)


def check_doors(name: str, site: str, doors: list[str], reference: Reference, tmp_path: Path) -> None:
    expected = reference.schedule(name, site)
    states = [state for _, _, state, _ in expected.rows.values()]
    assert len(states) >= 32
    assert expected.rows["w0!large"][2] == "REJECTED"
    assert {"COMPLETED_SUCCESSFULLY", "COMPLETED_WALLTIME_REACHED"} <= set(states)
    assert len({start for start, *_ in expected.rows.values()}) > 10
    assert replayed(name, reference.run(name, site) / "decisions.jsonl", reference.site(site)) is None
    for door in [door for door in doors if door not in SPECIAL.get(name, Special()).closed]:
        assert (door, DOORS[door](name, reference.site(site), tmp_path / door)) == (door, expected)
        if door.startswith("zeromq"):
            assert replayed(name, tmp_path / door / "decisions.jsonl", reference.site(site)) is None


@needs_simgrid
@pytest.mark.parametrize(("name", "site"), CASES)
@pytest.mark.parametrize("door", ["batsim4", "batsim5"])
def test_same_schedule_in_a_real_batsim(door: str, name: str, site: str, reference: Reference, tmp_path: Path) -> None:
    closed = SPECIAL.get(name, Special()).closed
    if door in closed:
        pytest.skip(closed[door])
    found = DOORS[door](name, reference.site(site), tmp_path / "run").rows
    # Which events are told together decides who starts first, and Batsim's messages decide that.
    expected = in_process(name, reference.site(site), tmp_path / "expected", clock="batsim").rows
    assert {job: row[2:] for job, row in found.items()} == {job: row[2:] for job, row in expected.items()}
    for job, (start, end, *_) in expected.items():
        assert found[job][:2] == pytest.approx((start, end), abs=SLACK), job


@needs_simgrid
@pytest.mark.parametrize("site", SITES)
def test_the_clock_of_batsim_is_what_a_real_batsim_is_compared_with(
    site: str, reference: Reference, tmp_path: Path
) -> None:
    """Its messages take time, but less than the starts of a real Batsim may differ by."""
    told = in_process("easy", reference.site(site), tmp_path / "batsim", clock="batsim").rows
    exact = reference.schedule("easy", site).rows
    assert told.keys() == exact.keys()
    assert max(abs(told[job][0] - exact[job][0]) for job in exact) < SLACK
    assert json.loads((tmp_path / "batsim" / "result.json").read_text())["clock"] == "batsim"


@pytest.fixture(scope="module")
def cpu_gpu_site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Eight nodes of 8 cores and 2 GPUs, and 60 jobs of the ESP mix in ten minutes, half of them with GPUs."""
    folder = tmp_path_factory.mktemp("esp")
    site = Site(folder / "platform.xml", folder / "workload.json")
    site.platform.write_bytes(esp_platform(nodes=8))
    workload = esp(np.random.default_rng(1), read_platform(site.platform).machine, spread=4600.0)
    del workload.jobs[60:]
    write_workload(workload, site.workload)
    return site


@pytest.fixture(scope="module")
def tasks_site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Two cores and two GPUs, and the QR factorisation of 4 x 4 tiles, in which every kind of edge and datum occurs."""
    folder = tmp_path_factory.mktemp("tasks")
    site = Site(folder / "platform.xml", folder / "workload.json")
    site.platform.write_bytes(hybrid(gpus=2, cores=2))
    write_workload(tiles("qr", size=1024, tile=256), site.workload)
    return site


@pytest.mark.parametrize("name", TASKS)
def test_same_schedule_of_a_graph_of_tasks(name: str, tasks_site: Site, tmp_path: Path) -> None:
    expected = in_process(name, tasks_site, tmp_path / "here")
    assert Auditor().run(tmp_path / "here").total == 0
    assert [state for _, _, state, _ in expected.rows.values()].count("COMPLETED_SUCCESSFULLY") == 30
    assert {hosts for *_, hosts in expected.rows.values()} >= {"2", "3"}
    for door in ("zeromq4", "zeromq5", *WITH_PYBATSIM):
        assert DOORS[door](name, tasks_site, tmp_path / door) == expected
    for folder in ("here", "zeromq4", "zeromq5"):
        assert replayed(name, tmp_path / folder / "decisions.jsonl") is None


@pytest.mark.parametrize("name", MULTI_RESOURCE)
def test_same_schedule_where_jobs_share_cpu_gpu_nodes(name: str, cpu_gpu_site: Site, tmp_path: Path) -> None:
    expected = in_process(name, cpu_gpu_site, tmp_path / "here")
    assert Auditor().run(tmp_path / "here").total == 0
    assert [state for _, _, state, _ in expected.rows.values()] == ["COMPLETED_SUCCESSFULLY"] * 60
    for door in ("zeromq4", "zeromq5"):
        assert DOORS[door](name, cpu_gpu_site, tmp_path / door) == expected


def test_a_dispatcher_that_decides_otherwise_is_noticed(reference: Reference) -> None:
    assert reference.schedule("fcfs", "hosts") != reference.schedule("easy", "hosts")
    difference = replayed("fcfs", reference.run("easy", "hosts") / "decisions.jsonl")
    assert difference is not None
    assert "expected" in str(difference)
