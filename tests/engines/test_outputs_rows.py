"""The rows of a simulation's files beside Python's formats, and the columns of a run beside what its file says."""

import math
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import FINAL_STATES, JobState
from batdispatch.core.jobs.job_table import COLUMNS
from batdispatch.engines import job_rows
from batdispatch.engines import outputs as outputs_module
from batdispatch.engines.job_rows import HEADER as JOBS_HEADER
from batdispatch.engines.job_rows import INSTANT, NO_TIME, quote
from batdispatch.engines.outputs import STATES_HEADER, Outputs
from batdispatch.results.jobs_file import read_columns
from batdispatch.results.schedule import read_schedule


class Over(NamedTuple):
    """A job that is over."""

    name: str
    profile: str
    submission: float
    units: int
    walltime: float
    state: JobState
    wait: float
    run: float
    hosts: frozenset[int]
    metadata: str

    def tell(self, outputs: Outputs) -> None:
        known = {
            "job_id": f"w0!{self.name}",
            "profile": self.profile,
            "submission": self.submission,
            "units": self.units,
            "walltime": self.walltime,
            "metadata": self.metadata,
        }
        if self.state is JobState.REJECTED:
            outputs.rejected(**known)
            return
        start = self.submission + self.wait
        allocation = Allocation.of(sorted(self.hosts))
        outputs.ended(**known, state=self.state, start=start, end=start + self.run, allocation=allocation)

    def times(self) -> tuple[float, float, float, float]:
        """End, wait, turnaround and stretch as they are written."""
        start = self.submission + self.wait
        end = start + self.run
        instant = 0.0
        if end - start < 1e-9:
            killed = self.state is JobState.COMPLETED_KILLED
            end, instant = (start, INSTANT) if killed else (start + NO_TIME, 0.0)
        turnaround = end - self.submission
        return end, start - self.submission, turnaround, (turnaround + instant) / (end - start + instant)

    def row(self) -> str:
        asked = self.walltime if self.walltime < math.inf else -1.0
        front = f"{quote(self.name)},w0,{quote(self.profile)},{self.submission:.6f},{self.units},{asked:.6f}"
        if self.state is JobState.REJECTED:
            return f'{front},0,{self.state.value},,,,,,,,,"{self.metadata}"\n'
        start = self.submission + self.wait
        end, wait, turnaround, stretch = self.times()
        success = self.state is JobState.COMPLETED_SUCCESSFULLY
        return (
            f"{front},{success:d},{self.state.value},{start:.6f},{end - start:.6f},{end:.6f},{wait:.6f},"
            f'{turnaround:.6f},{stretch:.6f},{Allocation.of(sorted(self.hosts))},-1.000000,"{self.metadata}"\n'
        )


seconds = st.one_of(
    st.integers(0, 10**8).map(float),
    st.integers(0, 10**12).map(lambda micros: micros / 10**6),
    st.integers(0, 10**9).map(lambda parts: parts / 128),
    st.floats(0, 1e9),
)
texts = st.text('abc019_-é,"', min_size=1, max_size=5)
jobs = st.builds(
    Over,
    name=texts,
    profile=texts,
    submission=seconds,
    units=st.integers(1, 100_000),
    walltime=st.one_of(st.sampled_from([math.inf, 1e19, 1.7e308]), seconds.filter(bool)),
    state=st.sampled_from(FINAL_STATES),
    wait=seconds,
    run=st.one_of(seconds, st.just(0.0)),
    hosts=st.frozensets(st.integers(0, 93_312), min_size=1, max_size=8),
    metadata=st.sampled_from(["", "said é, b"]),
)


@given(
    st.lists(jobs, min_size=1, max_size=12, unique_by=lambda job: job.name),
    st.lists(st.tuples(seconds, st.integers(0, 10**6), st.integers(0, 10**6)), max_size=12),
    st.sampled_from([1, 2, 5, 2048]),
    st.booleans(),
)
def test_files_are_those_of_a_format_per_row(
    listed: list[Over], changes: list[tuple[float, int, int]], block: int, in_c: bool
) -> None:
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as name:
        if not in_c:
            for module in (job_rows, outputs_module):
                patch.setattr(module, "load", lambda: None)
        patch.setattr(outputs_module, "BLOCK", block)
        folder = Path(name)
        outputs = Outputs(folder, 4)
        for job in listed:
            job.tell(outputs)
        for change in changes:
            outputs.states(*change)
        outputs.finish(version="v", scheduling_seconds=0.0, simulation_seconds=0.0, times=(0.0, 0.0, 0.0))
        assert (folder / "jobs.csv").read_bytes().decode() == JOBS_HEADER + "".join(job.row() for job in listed)
        states = "".join(f"{time:.9g},0,0,0,{idle},{computing}\n" for time, idle, computing in changes)
        assert (folder / "machine_states.csv").read_text() == STATES_HEADER + states
        ran = [job.times() for job in listed if job.state is not JobState.REJECTED]
        sums = read_schedule(folder / "schedule.csv")
        for place, what in ((1, "waiting_time"), (2, "turnaround_time"), (3, "slowdown")):
            total = 0.0
            for times in ran:
                total += times[place]
            assert f"{total / len(listed):.6f}" == f"{sums[f'mean_{what}']:.6f}"
            assert f"{max([0.0, *(times[place] for times in ran)]):.6f}" == f"{sums[f'max_{what}']:.6f}"
        assert f"{max([0.0, *(times[0] for times in ran)]):.6f}" == f"{sums['makespan']:.6f}"
        assert sums["nb_jobs_success"] == sum(job.state is JobState.COMPLETED_SUCCESSFULLY for job in listed)
        rows = outputs.rows()
        assert rows is not None
        read = read_columns(folder / "jobs.csv")
        for column in COLUMNS:
            one, other = getattr(rows, column), getattr(read, column)
            assert one.dtype == other.dtype
            assert np.array_equal(one, other, equal_nan=one.dtype == np.float64), column
        for part in ("first", "last", "row", "rows"):
            assert np.array_equal(getattr(rows.hosts, part), getattr(read.hosts, part))
        assert rows.held.tolist() == read.held.tolist()
        assert rows.pieces.tolist() == read.pieces.tolist()


def test_a_simulation_without_jobs_has_no_rows(tmp_path: Path) -> None:
    outputs = Outputs(tmp_path, 4)
    outputs.finish(version="v", scheduling_seconds=0.0, simulation_seconds=0.0, times=(0.0, 0.0, 0.0))
    assert outputs.rows() is None
    assert (tmp_path / "jobs.csv").read_text() == JOBS_HEADER


def test_times_before_the_submission_are_written_with_their_sign(tmp_path: Path) -> None:
    outputs = Outputs(tmp_path, 1)
    late = Over("a", "p", 5.0, 1, math.inf, JobState.COMPLETED_SUCCESSFULLY, -2.0, 1.0, frozenset({0}), "")
    late.tell(outputs)
    outputs.finish(version="v", scheduling_seconds=0.0, simulation_seconds=0.0, times=(0.0, 0.0, 0.0))
    assert (tmp_path / "jobs.csv").read_text() == JOBS_HEADER + late.row()
