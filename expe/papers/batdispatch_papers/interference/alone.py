"""How long the jobs of a run would have taken alone, each on the hosts that it was given.

The jobs are simulated a second time, one after another on the empty machine. What a job took in the run, over what it
takes alone, is how much other jobs slowed it down: they can do so only on links and storage hosts that they share.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.errors import InputError
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.line.dispatcher import Dispatcher
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.session import Session
from batdispatch.engines.embedded import EmbeddedEngine
from batdispatch.engines.outputs import Outputs
from batdispatch.engines.simulation import Setting
from batdispatch.inputs.platforms import read_platform
from batdispatch.inputs.workloads import read_workload
from batdispatch.results.jobs_file import read_columns
from batdispatch.runs.engines import timing_engine
from batdispatch.runs.workers import call_isolated


def runtimes_alone(platform: Path, workload: Path, jobs_file: Path) -> NDArray[np.float64]:
    """Return the run time of each job, alone on its hosts, float64 [row of the jobs file], in seconds.

    Executors stand on the hosts in ascending order, and storage hosts are those that the labels of profiles name. A
    dispatcher that maps executors or labels otherwise ran other jobs than these.

    Args:
        platform: as the run had it.
        workload: as the run had it.
        jobs_file: of the run; all its jobs are the workload's, and all of them started.

    Raises:
        InputError: a file is wrong, a job never started, or SimGrid is needed and not installed.
        SimulationError: SimGrid gave up.
    """
    columns = read_columns(jobs_file)
    if not np.isfinite(columns.starting_time).all():
        row = int(np.flatnonzero(~np.isfinite(columns.starting_time))[0])
        raise InputError(f"job {columns.job_id[row]} never started", source=str(jobs_file))
    hosts = dict(zip(columns.job_id.tolist(), columns.allocated_resources.tolist(), strict=True))
    needs = timing_engine(_setting(platform, workload)) is not None
    runtimes = (
        call_isolated(simulate_alone, platform, workload, hosts) if needs else simulate_alone(platform, workload, hosts)
    )
    return np.array([runtimes[job] for job in hosts])


def simulate_alone(
    platform: Path, workload: Path, hosts: Mapping[str, str], progress: object = None
) -> dict[str, float]:
    """Return job -> run time alone, in seconds, simulated in this process.

    Args:
        platform: path of the platform file.
        workload: path of the workload.
        hosts: job -> its hosts, in Batsim's notation.
        progress: not used.
    """
    setting = _setting(platform, workload)
    site, jobs, engine = setting.platform, setting.workload, timing_engine(setting)
    timer = None if engine is None else engine.timer(setting)
    with tempfile.TemporaryDirectory(prefix="batdispatch-") as name:
        outputs = Outputs(Path(name), site.machine.size)
        EmbeddedEngine(site.machine, jobs, outputs, timer=timer).run(Session(_OneByOne(hosts)))
        columns = read_columns(Path(name) / "jobs.csv")
    return dict(zip(columns.job_id.tolist(), columns.execution_time.tolist(), strict=True))


def _setting(platform: Path, workload: Path) -> Setting:
    return Setting(read_platform(platform), read_workload(workload), "together", "auto")


class _OneByOne(Dispatcher):
    """Starts a job, on hosts that are given, when no other one runs."""

    def __init__(self, hosts: Mapping[str, str]) -> None:
        super().__init__()
        self._hosts = hosts

    def decide(self, ledger: Ledger) -> None:
        if not ledger.running:
            for job in ledger.queue.values():
                ledger.start(job, Allocation.parse(self._hosts[job.id.partition("!")[2]]))
                return
