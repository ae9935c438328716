"""What computes without SimGrid ends when SimGrid says so, and burns what SimGrid's plug-in counts."""

import csv
from functools import partial
from pathlib import Path

import pytest

from batdispatch.core.errors import InputError
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.line import decisions as d
from batdispatch.core.line import events as e
from batdispatch.core.line.messages import Message, Reply
from batdispatch.engines.embedded import EmbeddedEngine
from batdispatch.engines.outputs import Outputs
from batdispatch.engines.records import EngineOptions
from batdispatch.inputs.platforms import read_platform
from batdispatch.inputs.workloads import read_workload
from batdispatch.runs.workers import call_isolated
from random_power import HETERO, case, simulate
from ranks import run_ranks
from recorded_energy import rows
from with_simgrid import needs_simgrid
from workloads_of_cases import write_workload


@needs_simgrid
@pytest.mark.parametrize(
    "seed", [2, 5, pytest.param(3, marks=pytest.mark.slow), pytest.param(4, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("share", [False, True])
def test_shared_hosts_and_changing_speeds_as_in_simgrid(tmp_path: Path, seed: int, share: bool) -> None:
    # Where hosts that jobs share change their speed, SimGrid parts from its own rule. Where several jobs of a host
    # begin and end at one moment, their order says which load is charged.
    alike = 1e-3 if share else 1e-6
    write_workload(tmp_path / "w.json", *case(seed))
    simulate(seed, str(tmp_path), "batsim", False, share, None)
    call_isolated(simulate, seed, str(tmp_path), "batsim", True, share)
    ours, theirs = ({row["job_id"]: row for row in rows(tmp_path / side / "jobs.csv")} for side in ("ours", "theirs"))
    assert ours.keys() == theirs.keys()
    for name, row in ours.items():
        # SimGrid's solver stops at a hundred-thousandth of a host's speed.
        assert float(row["finish_time"]) == pytest.approx(float(theirs[name]["finish_time"]), abs=1e-4)
        assert float(row["consumed_energy"]) == pytest.approx(float(theirs[name]["consumed_energy"]), rel=alike)
    last = [rows(tmp_path / side / "consumed_energy.csv")[-1]["energy"] for side in ("ours", "theirs")]
    assert float(last[0]) == pytest.approx(float(last[1]), rel=alike)


def test_joules_of_whole_tasks_follow_from_their_flops(tmp_path: Path) -> None:
    """Exactly: idle while nothing runs, else epsilon and (all cores - epsilon) for each share of the speed in use."""
    flops, size = 6e9, 2
    profiles = {"p": {"type": "parallel_homogeneous", "cpu": flops, "com": 0}, "wait": {"type": "delay", "delay": 100}}
    profiles["both"] = {"type": "composed", "seq": ["wait", "p"]}
    write_workload(tmp_path / "w.json", [{"id": "a", "subtime": 10, "res": size, "profile": "both"}], profiles)

    class First:
        def handle(self, message: Message) -> Reply:
            jobs = [event.job for event in message.events if isinstance(event, e.JobSubmitted)]
            return Reply(message.now, [d.Execute(message.now, job.id, Allocation.of([8, 9])) for job in jobs])

    platform = read_platform(HETERO)
    for count, joules in (("exact", 2 * (100 * 80 + 200 * (100 + 120 / 4))), ("batsim", 8000 + 200 * 130 + 300 * 130)):
        out = tmp_path / count
        EmbeddedEngine(
            platform.machine, read_workload(tmp_path / "w.json"), Outputs(out, 12), options=EngineOptions(energy=count)
        ).run(First())
        with (out / "jobs.csv").open(newline="") as file:
            (row,) = csv.DictReader(file)
        # 30 Mflop/s of one of four cores: 6 Gflop take 200 s. Batsim looks at the first host when the delay ends.
        assert float(row["finish_time"]) == 310.0
        assert float(row["consumed_energy"]) == pytest.approx(joules), count


#: Ranks of a trace that share four cores of 50 Mflop/s: (share of the cores, flop of each core) of each; seconds, J.
SHARED_CORES = [
    # Six executors share four cores evenly: 15 s for the four of the second rank, by when the first one did half.
    ([(0.5, 1e9), (1, 5e8)], 25.0, 15 * 200 + 10 * 150),
    # Five executors: what each of them has to do takes as long.
    ([(0.5, 1e9), (0.75, 1e9)], 25.0, 25 * 200),
]


@pytest.mark.parametrize(("ranks", "seconds", "joules"), SHARED_CORES)
@pytest.mark.parametrize("simgrid", [False, pytest.param(True, marks=needs_simgrid)])
def test_executors_of_ranks_that_share_a_host_get_its_cores_evenly(
    tmp_path: Path, ranks: list[tuple[float, float]], seconds: float, joules: float, simgrid: bool
) -> None:
    run = partial(call_isolated, run_ranks) if simgrid else partial(run_ranks, progress=None)
    row = run(str(tmp_path), ranks, simgrid)
    assert float(row["finish_time"]) == pytest.approx(seconds, abs=1e-4)
    assert float(row["consumed_energy"]) == pytest.approx(joules, rel=1e-4)


def test_what_communicates_needs_simgrid(tmp_path: Path) -> None:
    profiles = {"p": {"type": "parallel_homogeneous", "cpu": 1, "com": 1}}
    write_workload(tmp_path / "w.json", [{"id": "a", "subtime": 0, "res": 1, "profile": "p"}], profiles)
    machine = read_platform(HETERO).machine
    with pytest.raises(InputError, match=r"its run time depends on the platform's links, which only SimGrid simulates"):
        EmbeddedEngine(
            machine,
            read_workload(tmp_path / "w.json"),
            Outputs(tmp_path / "out", 12),
            options=EngineOptions(energy="exact"),
        )
