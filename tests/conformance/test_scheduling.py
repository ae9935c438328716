"""Our baselines on the embedded engine against Batsim 4.2.1 driven by its C++ reference schedulers."""

from pathlib import Path

import pandas as pd
import pytest

from batdispatch.results.frame import read_jobs
from batdispatch.runs.run import execute
from batdispatch.runs.spec import RunSpec

RECORDINGS = Path(__file__).parent / "recordings"
#: Batsim's messages cost microseconds of simulated time, which add up to less than this.
TOLERANCE = 0.05
#: Where a recording is, its platform and master host, if not where most are.
RECORDED = {"free16": ("ties", "flat16", "master_host")}


def run_and_compare(
    out: Path, workload: str, dispatcher: str, reference: str, **options: str
) -> tuple[pd.DataFrame, int]:
    """Return our frame joined with the recorded one, and the number of equal start times."""
    folder, platform, master_host = RECORDED.get(workload, ("scheduling", "flat128", "n0"))
    spec = RunSpec(
        platform=str(RECORDINGS / "platforms" / f"{platform}.xml"),
        workload=str(RECORDINGS / "workloads" / f"{workload}.json"),
        dispatcher=dispatcher,
        options=options,
        master_host=master_host,
        record=False,
    )
    execute(spec, out)
    ours = read_jobs(out / "jobs.csv").set_index("job_id")
    theirs = read_jobs(RECORDINGS / folder / f"{workload}.{reference}" / "jobs.csv").set_index("job_id")
    assert list(ours.columns) == list(theirs.columns)
    joined = ours.join(theirs.add_suffix("_recorded"), validate="1:1")
    assert len(joined) == len(theirs)
    same = (joined["starting_time"] - joined["starting_time_recorded"]).abs() < TOLERANCE
    return joined, int(same.sum())


@pytest.mark.parametrize("workload", ["steady", "crowded", "burst"])
@pytest.mark.parametrize(
    ("dispatcher", "reference", "options"),
    [
        ("fcfs", "fcfs_fast", {}),
        ("filler", "filler", {}),
        ("easy", "easy_bf", {"reservation": "hosts"}),
        ("conservative", "conservative_bf", {"rjms_delay": "5"}),
    ],
)
def test_every_start_time_and_host_as_recorded(
    tmp_path: Path, workload: str, dispatcher: str, reference: str, options: dict[str, str]
) -> None:
    joined, same = run_and_compare(tmp_path, workload, dispatcher, reference, **options)
    assert same == len(joined)
    assert (joined["final_state"] == joined["final_state_recorded"]).all()
    assert (joined["allocated_resources"] == joined["allocated_resources_recorded"]).all()


def test_conservative_without_ties_on_other_hosts(tmp_path: Path) -> None:
    joined, same = run_and_compare(tmp_path, "free16", "conservative", "conservative_bf", rjms_delay="5")
    assert same == len(joined) == 200
    assert (joined["allocated_resources"] == joined["allocated_resources_recorded"]).all()


@pytest.mark.parametrize(("workload", "alike"), [("steady", 600), ("crowded", 511), ("burst", 197)])
def test_conservative_without_the_delay_plans_otherwise(tmp_path: Path, workload: str, alike: int) -> None:
    # The recorded scheduler adds 5 s to every walltime; without them it gives our schedule.
    joined, same = run_and_compare(tmp_path, workload, "conservative", "conservative_bf")
    assert same == alike
    assert (joined["final_state"] == joined["final_state_recorded"]).all()


@pytest.mark.parametrize(("workload", "alike"), [("steady", 527), ("crowded", 406), ("burst", 79)])
def test_counting_reservations_start_other_jobs_than_reserved_hosts(tmp_path: Path, workload: str, alike: int) -> None:
    # The literature's EASY is another algorithm than Batsim's easy_bf: the recordings say by how much.
    _, same = run_and_compare(tmp_path, workload, "easy", "easy_bf", reservation="count")
    assert same == alike
