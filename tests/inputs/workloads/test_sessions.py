"""Generated jobs of users on nodes with several resources."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from batdispatch.cli.main import cli
from batdispatch.core.capacity.granularity import space_of
from batdispatch.core.errors import InputError
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.inputs.workloads import Workload, read_workload
from batdispatch.inputs.workloads.sessions import sessions

GPU, MIC = "core=16 gpu=2 memory=32", "core=16 mic=2 memory=32"
MACHINE = Machine(
    [Host(id=i, name=f"n{i}", properties={"capacity": GPU if i < 8 else MIC}) for i in range(16)],
)
SPACE = space_of(MACHINE)


def make(seed: int = 0, **options: float) -> Workload:
    return sessions(np.random.default_rng(seed), MACHINE, **{"jobs": 400, **options})  # type: ignore[arg-type]


@pytest.mark.parametrize("short", [0.0, 0.5, 0.93, 1.0])
def test_share_of_short_jobs_is_kept_to_the_job(short: float) -> None:
    workload = make(short=short)
    runtimes = [workload.profiles[job.profile]["delay"] for job in workload.jobs]
    assert sum(runtime < 3600 for runtime in runtimes) == round(short * 400)
    assert max(runtimes) <= 86_400
    assert min(runtimes) >= 1


@pytest.mark.parametrize("seed", range(5))
def test_every_job_fits_a_class_and_outlives_no_walltime(seed: int) -> None:
    workload = make(seed)
    for job in workload.jobs:
        assert SPACE.room(SPACE.whole(), job).sum() >= job.units
        assert job.walltime > workload.profiles[job.profile]["delay"]
        assert not {"gpu", "mic"} <= set(job.request.demand or {}), "no node has both"
    assert len({job.user for job in workload.jobs}) > 5
    assert any(job.units > 1 for job in workload.jobs)


def test_jobs_of_a_session_are_alike() -> None:
    workload = make()
    last: dict[str, tuple[float, int]] = {}
    alike = []
    for job in workload.jobs:
        runtime = workload.profiles[job.profile]["delay"]
        program = str(job.extra["executable"]).rpartition("_")[0]
        if program in last:
            known, units = last[program]
            assert units == job.units
            alike.append(abs(np.log(runtime / known)))
        last[program] = runtime, job.units
    assert np.median(alike) < 0.4


@pytest.mark.parametrize("load", [0.3, 2.0])
def test_load_is_that_of_the_scarcest_resource(load: float) -> None:
    workload = make(load=load)
    held = sum(
        job.units * np.array(SPACE.need(job).amounts) * workload.profiles[job.profile]["delay"] for job in workload.jobs
    )
    # Sessions begin over a time; the jobs of the last ones come a little later.
    span = workload.jobs[-1].submission
    assert (held / MACHINE.total()).max() / span == pytest.approx(load, rel=0.15)


def test_command_writes_what_a_simulation_reads_the_same_twice(tmp_path: Path) -> None:
    runner = CliRunner()
    platform = str(tmp_path / "eurora.xml")
    assert runner.invoke(cli, ["platform", "generate", "eurora", "-o", platform]).exit_code == 0
    for name in ("a", "b"):
        words = ["generate", "sessions", "-o", str(tmp_path / f"{name}.json"), "--seed", "3", "--platform", platform]
        result = runner.invoke(cli, [*words, "--jobs", "50"])
        assert result.exit_code == 0, result.output
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    workload = read_workload(tmp_path / "a.json")
    assert len(workload.jobs) == 50
    assert all(job.user and job.request.demand and job.request.demand["core"] for job in workload.jobs)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"jobs": 0}, "1 to 1,000,000 jobs"),
        ({"short": 1.1}, "share from 0 to 1"),
        ({"load": 0}, "load from"),
        ({"users": 0}, "users"),
    ],
)
def test_options_out_of_range(options: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make(**options)


def test_exclusive_hosts_are_refused() -> None:
    with pytest.raises(InputError, match="resource core"):
        sessions(np.random.default_rng(0), Machine.flat(4), jobs=10)
