"""Fixtures of tests that look at the files and pages of runs."""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import command_line
from batdispatch.report import page

HEADER = (
    "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,final_state,"
    "starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources,consumed_energy,"
    "metadata"
)


@pytest.fixture(scope="session")
def recordings() -> Path:
    return Path(__file__).parent.parent / "conformance" / "recordings"


@pytest.fixture(scope="session")
def shared() -> Path:
    here = Path(__file__).parents[2]
    folder = Path(os.environ.get("BATDISPATCH_SHARED", here.parent / "shared"))
    if not (folder / "data").is_dir():
        pytest.skip("the real logs are not here")
    return folder / "data"


def row(job: str, **fields: Any) -> str:
    """A line of a jobs file: a job of 1 unit on host 0 from 0 to 10, unless said otherwise."""
    given: dict[str, Any] = {"submission": 0.0, "start": 0.0, "finish": 10.0, "hosts": "0", "units": 1, "walltime": -1}
    given |= {"state": "COMPLETED_SUCCESSFULLY", "profile": "p", "workload": "w0", "metadata": '""'} | fields
    head = (
        f"{job},{given['workload']},{given['profile']},{given['submission']:.6f},{given['units']},{given['walltime']}"
    )
    if given["state"] == "REJECTED":
        return f"{head},0,REJECTED,,,,,,,,,{given['metadata']}"
    start, finish, submission = given["start"], given["finish"], given["submission"]
    success = int(given["state"] == "COMPLETED_SUCCESSFULLY")
    stretch = (finish - submission) / (finish - start) if finish > start else float("inf")
    return (
        f"{head},{success},{given['state']},{start:.6f},{finish - start:.6f},{finish:.6f},{start - submission:.6f},"
        f"{finish - submission:.6f},{stretch:.6f},{given['hosts']},-1.000000,{given['metadata']}"
    )


@pytest.fixture(scope="module")
def unillustrated() -> Iterator[None]:
    """Render pages without the pictures that Matplotlib draws: most of the work, and not what these tests look at."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page, "compared_curves", lambda *_: [])
        yield


@pytest.fixture
def write_jobs(tmp_path: Path) -> Callable[..., Path]:
    """Write a jobs file into a folder of its own and return the folder."""

    def write(jobs: Mapping[str, Mapping[str, Any]], folder: str = "run") -> Path:
        path = tmp_path / folder
        path.mkdir(parents=True, exist_ok=True)
        lines = [HEADER, *(row(job, **fields) for job, fields in jobs.items())]
        (path / "jobs.csv").write_text("\n".join(lines) + "\n")
        return path

    return write


@pytest.fixture
def call() -> Callable[..., tuple[int, str, str]]:
    """Return what runs the command line and gives (exit status, stdout, stderr)."""
    return command_line.call
