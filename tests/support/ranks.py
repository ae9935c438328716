"""Ranks of a usage trace on one host of four cores, with and without SimGrid."""

from pathlib import Path

from batdispatch.abilities.simgrid.timer import SimGridTimer
from batdispatch.core.line.session import Session
from batdispatch.dispatchers.backfilling.fcfs import Fcfs
from batdispatch.engines.embedded import EmbeddedEngine
from batdispatch.engines.outputs import Outputs
from batdispatch.engines.records import EngineOptions
from batdispatch.inputs.platforms import read_platform
from batdispatch.inputs.workloads import read_workload
from recorded_energy import rows
from sites import HEAD
from workloads_of_cases import write_workload


def run_ranks(out: str, ranks: list[tuple[float, float]], simgrid: bool, progress: object) -> dict[str, str]:
    """Return the row of a job whose ranks compute on one host."""
    folder = Path(out)
    for number, (usage, flops) in enumerate(ranks):
        (folder / f"{number}.txt").write_text(f"{number} m_usage {usage} {flops}\n")
    (folder / "t.txt").write_text("".join(f"{number}.txt\n" for number in range(len(ranks))))
    jobs = [{"id": "a", "subtime": 0, "res": 1, "profile": "p"}]
    write_workload(folder / "w.json", jobs, {"p": {"type": "usage_trace", "trace": "t.txt"}})
    (folder / "p.xml").write_text(
        HEAD + '<platform version="4.1"><zone id="z" routing="Full"><host id="h" speed="50Mf" core="4">'
        '<prop id="wattage_per_state" value="90:100:200"/></host></zone></platform>'
    )
    platform = read_platform(folder / "p.xml")
    timer = SimGridTimer(platform, energy=True) if simgrid else None
    options = EngineOptions(energy="batsim")
    EmbeddedEngine(
        platform.machine, read_workload(folder / "w.json"), Outputs(folder, 1), options=options, timer=timer
    ).run(Session(Fcfs()))
    return rows(folder / "jobs.csv")[0]
