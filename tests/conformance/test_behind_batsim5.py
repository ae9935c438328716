"""Our own dispatchers behind the real Batsim 5.0.0-rc2: names with "!" abort it, and its clock has nanoseconds."""

from __future__ import annotations

import csv
import lzma
from pathlib import Path

import pytest

from batdispatch.batsim import protocol
from batdispatch.core.dispatcher import create
from batdispatch.core.errors import InputError
from batdispatch.core.session import Session
from batdispatch.links.replay import check_wire, replay
from batdispatch.runs.run import RunSpec, execute

RECORDINGS = Path(__file__).parent / "recordings" / "behind_batsim5"


@pytest.fixture
def dmr_exchange(tmp_path: Path) -> Path:
    path = tmp_path / "exchange.jsonl"
    path.write_bytes(lzma.decompress((RECORDINGS / "resizing_dmr" / "exchange.jsonl.xz").read_bytes()))
    return path


def test_dmr_decides_as_recorded_behind_batsim_5(dmr_exchange: Path) -> None:
    replayed = replay(dmr_exchange, Session(create("dmr")), protocol("5"), times=True)
    assert replayed.difference is None
    assert replayed.decisions == 2291
    assert check_wire(dmr_exchange, protocol("5")).messages == 2016


def test_dmr_starts_the_same_jobs_in_the_engine_as_behind_batsim_5(tmp_path: Path) -> None:
    folder = RECORDINGS / "resizing_dmr"
    spec = RunSpec(platform=str(folder / "platform.xml"), workload=str(folder / "workload.json"), dispatcher="dmr")
    execute(spec, tmp_path)
    ours, theirs = (starts(path / "jobs.csv") for path in (tmp_path, folder))
    assert ours.keys() == theirs.keys()
    assert len(ours) == 124
    for job, start in theirs.items():
        assert ours[job] == pytest.approx(start, abs=0.01), job


def starts(path: Path) -> dict[str, float]:
    with path.open(newline="") as lines:
        return {row["job_id"]: float(row["starting_time"]) for row in csv.DictReader(lines)}


def test_a_call_some_nanoseconds_early_is_the_moment_asked_for() -> None:
    """It asks for 1089096.988 s, and is called at 1089096.987999999197 s."""
    path = RECORDINGS / "stochastic_batch" / "exchange.jsonl"
    replayed = replay(path, Session(create("stochastic-batch")), protocol("5"), times=True)
    assert replayed.difference is None
    assert replayed.messages == 109


def test_a_job_with_a_profile_of_no_workload_is_refused_as_batsim_5_refuses_it() -> None:
    path = RECORDINGS / "resizing_refused" / "exchange.jsonl"
    with pytest.raises(InputError, match=r"line 48: .*profile_id: found 'rest of w0!6', expected workload!name"):
        check_wire(path, protocol("5"), partial=True)
