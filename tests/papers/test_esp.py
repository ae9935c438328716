"""The ESP-2 job mix, against the table of the benchmark."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from batdispatch.cli.generate import command as generate
from batdispatch.core.errors import InputError
from batdispatch.core.machine.machine import Machine
from batdispatch.inputs.workloads import Workload, read_workload
from batdispatch_papers.esp.workload import esp, machine_seconds
from simulating import Task, simulate

CLUSTER = Machine.flat(1024, "core=8 gpu=2")
#: Name, fraction of the machine, number of jobs, seconds: as ESP-2 publishes them.
TABLE = """
    A .03125 75 267 | B .0625 9 322 | C .5 3 534 | D .25 3 616 | E .5 3 315 | F .0625 9 1846 | G .125 6 1334 |
    H .1582 6 1067 | I .03125 24 1432 | J .0625 24 725 | K .0957 15 487 | L .125 36 366 | M .25 15 187 | Z 1 2 100
"""
TYPES = {row.split()[0]: row.split()[1:] for row in TABLE.split("|")}


def make(machine: Machine = CLUSTER, seed: int = 1, **options: object) -> Workload:
    return esp(np.random.default_rng(seed), machine, **options)  # type: ignore[arg-type]


def test_every_type_comes_with_its_count_size_and_run_time_twice() -> None:
    workload = make()
    found = Counter(
        (job.extra["name"], job.units, workload.profiles[job.profile]["delay"], job.walltime) for job in workload.jobs
    )
    expected = {}
    for name, (fraction, count, runtime) in TYPES.items():
        for copy in ("cpu", "gpu"):
            units = round(float(fraction) * 8192)
            expected[f"{name}-{copy}", units, int(runtime), int(runtime) * 1.5] = int(count)
    assert found == expected
    assert len(workload.jobs) == 460


def test_the_work_is_that_of_the_table() -> None:
    """Six hours and seven minutes of the full machine; rounding to whole cores changes next to nothing."""
    exact = 2 * sum(float(fraction) * int(count) * int(runtime) for fraction, count, runtime in TYPES.values())
    assert machine_seconds(make(), CLUSTER) == pytest.approx(exact, abs=0.5)
    assert exact == pytest.approx(22_005.83, abs=0.01)


def test_copies_ask_for_as_many_cores_and_for_all_gpus_of_each_node() -> None:
    for job in make().jobs:
        assert job.request.per_unit == (("core", 1),)
        assert job.request.per_node == ((("gpu", 2),) if job.id.endswith("gpu") else ())
        assert job.request.nodes is None
        assert not job.request.dependencies


def test_jobs_are_submitted_at_an_even_pace_in_an_order_that_is_the_seeds() -> None:
    first, other = make(), make(seed=2)
    assert [job.submission for job in first.jobs] == pytest.approx([i * 10_800 / 460 for i in range(460)], abs=1e-6)
    assert [job.id for job in first.jobs] == [job.id for job in make().jobs]
    assert [job.id[3:] for job in first.jobs] != [job.id[3:] for job in other.jobs]
    # Neither copies nor types stand together.
    halves = Counter(job.id[-3:] for job in first.jobs[:230])
    assert 80 < halves["gpu"] < 150


def test_jobs_that_come_together_keep_their_order() -> None:
    workload = make(spread=0.0)
    before = [job.id for job in workload.jobs]
    workload.sort()
    assert [job.id for job in workload.jobs] == before
    assert {job.submission for job in workload.jobs} == {0.0}
    assert [name[3:] for name in before] == [job.id[3:] for job in make().jobs]


def test_gpu_copies_may_have_a_fixed_number_of_nodes() -> None:
    nodes = {job.extra["name"]: job.request.nodes for job in make(gpu_cores_per_node=4).jobs}
    assert nodes["A-gpu"] == (64, 64)  # 256 cores
    assert nodes["H-gpu"] == (324, 324)  # 1,296 cores
    assert nodes["C-gpu"] == nodes["Z-gpu"] == (1024, 1024)  # No more than there are.
    assert nodes["A-cpu"] is None
    assert {job.extra["name"]: job.request.nodes for job in make(gpu_cores_per_node=3).jobs}["A-gpu"] == (86, 86)


def test_sizes_are_rounded_for_any_machine() -> None:
    units = {job.extra["name"]: job.units for job in make(Machine.flat(10, "core=5 gpu=1")).jobs}
    # 50 cores: 1.5625, 3.125, 7.91, 4.785.
    assert (units["A-cpu"], units["B-cpu"], units["H-gpu"], units["K-gpu"], units["Z-gpu"]) == (2, 3, 8, 5, 50)
    assert {job.units for job in make(Machine.flat(1, "core=1")).jobs} == {1}


@pytest.mark.parametrize("machine", [Machine.flat(64), Machine.flat(64, "core=8"), Machine.flat(64, "core=8 gpu=0")])
def test_without_gpus_each_job_comes_once(machine: Machine) -> None:
    workload = make(machine)
    assert len(workload.jobs) == 230
    assert machine_seconds(workload, machine) == pytest.approx(11_002.9, rel=0.01)
    assert all(not job.request.per_node for job in workload.jobs)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"spread": -1.0}, r"option --spread: -1, expected 0 to 31,536,000 s"),
        ({"walltime_factor": 0.5}, r"option --walltime-factor: 0.5, expected 1 to 1,000"),
        ({"gpu_cores_per_node": -1}, r"option --gpu-cores-per-node: -1, expected at least 0"),
        ({"machine": Machine.flat(32, "slot=4")}, r"option --platform: needs nodes that state .* core"),
        ({"gpu_cores_per_node": 16}, r"option --platform: job .*-gpu asks for .* units .* on \d+ to \d+ nodes"),
    ],
)
def test_what_cannot_be_made_is_refused_in_words(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make(**options)  # type: ignore[arg-type]


def test_a_job_that_wants_the_whole_machine_may_have_its_turn() -> None:
    """ESP's rule: what was submitted after a job of type Z starts when that has ended, and not before."""
    machine = Machine.flat(64, "core=8 gpu=2")
    for rule, overtaken in (("ordinary", True), ("alone", False)):
        workload = make(machine, z_rule=rule, spread=600.0)
        tasks = [
            Task(
                job.id,
                job.submission,
                job.units,
                workload.profiles[job.profile]["delay"],
                job.walltime,
                extra=job.extra,
            )
            for job in workload.jobs
        ]
        rows = simulate(machine, tasks, "filler").rows
        assert len(rows) == 460
        ids = [job.id for job in workload.jobs]
        first = next(name for name in ids if "-Z-" in name)
        later = [rows[name] for name in ids[ids.index(first) + 1 :]]
        assert any(row.start < rows[first].end for row in later) is overtaken


def command(out: Path, *options: str) -> str:
    return CliRunner().invoke(generate, ["esp", "-o", str(out), *options], catch_exceptions=False).output


def test_the_command_writes_the_same_bytes_for_the_same_machine_and_seed(tmp_path: Path) -> None:
    for name, seed in (("1", "3"), ("2", "3"), ("3", "4")):
        command(tmp_path / f"{name}.json", "--seed", seed)
    same, again, other = ((tmp_path / f"{i}.json").read_bytes() for i in (1, 2, 3))
    assert same == again
    assert same != other
    workload = read_workload(tmp_path / "1.json")
    assert (len(workload.jobs), workload.nb_res) == (460, 1024)
    origin = workload.about["origin"]
    assert (origin["model"], origin["spread"], origin["z_rule"], origin["gpus"]) == ("esp", 10800.0, "ordinary", 2)


def test_the_command_takes_the_machine_from_a_platform_or_from_numbers(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    platform = ["--platform", str(root / "platforms" / "esp.xml")]
    facts = json.loads(command(tmp_path / "p.json", "--seed", "1", "--json", *platform))
    command(tmp_path / "n.json", "--seed", "1")
    jobs = [[(job.id, job.request) for job in read_workload(tmp_path / name).jobs] for name in ("p.json", "n.json")]
    assert jobs[0] == jobs[1]
    assert facts["machine_seconds"] == pytest.approx(22_005.9, abs=0.1)
    assert "give one of the two" in command(tmp_path / "x.json", "--seed", "1", "--hosts", "4", *platform)
    assert not (tmp_path / "x.json").exists()
