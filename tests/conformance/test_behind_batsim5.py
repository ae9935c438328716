"""Our own dispatchers behind the real Batsim 5.0.0-rc2: names with "!" abort it, and its clock has nanoseconds."""

import csv
import lzma
from pathlib import Path

import pytest
from msgspec import structs

from batdispatch.batsim import protocol
from batdispatch.core.errors import InputError
from batdispatch.core.line.dispatcher import create
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.messages import Message
from batdispatch.core.line.session import Session
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.links.replay import check_wire, replay
from batdispatch.links.retrace import RetracePeer, retrace
from batdispatch.runs.run import execute
from batdispatch.runs.spec import RunSpec
from simulating import Task, simulate

RECORDINGS = Path(__file__).parent / "recordings" / "behind_batsim5"


@pytest.fixture
def dmr_exchange(tmp_path: Path) -> Path:
    path = tmp_path / "exchange.jsonl"
    path.write_bytes(lzma.decompress((RECORDINGS / "resizing_dmr" / "exchange.jsonl.xz").read_bytes()))
    return path


class Watching(RetracePeer):
    """Keeps the cluster."""

    def begin(self, ledger: Ledger) -> None:
        self.ledger = ledger


def test_what_dmr_decided_behind_batsim_5_is_read_and_valid(dmr_exchange: Path) -> None:
    """The former dmr decided that: a call at each point of a job, and passes of slurm-backfill 30 s after the last."""
    watching = Watching()
    retrace(dmr_exchange, watching)
    watching.ledger.check()
    assert (len(watching.ledger.queue), len(watching.ledger.running)) == (0, 0)
    assert check_wire(dmr_exchange, protocol("5")).messages == 2016


def test_dmr_starts_the_same_jobs_in_the_engine_as_behind_batsim_5(tmp_path: Path) -> None:
    """Up to the first pass that starts a job: the clock of passes is Slurm's by now, and the recorded one was not.

    Among them are jobs that start on the nodes which others give up, at the moment at which these have left them.
    """
    folder = RECORDINGS / "resizing_dmr"
    spec = RunSpec(
        platform=str(folder / "platform.xml"),
        workload=str(folder / "workload.json"),
        dispatcher="dmr",
        # The main loop ran at each event.
        options={"tick": "0"},
    )
    execute(spec, tmp_path)
    ours, theirs = starts(tmp_path / "jobs.csv", before=115), starts(folder / "jobs.csv", before=115)
    assert ours.keys() == theirs.keys()
    assert len(ours) == 12
    for job, start in theirs.items():
        assert ours[job] == pytest.approx(start, abs=0.01), job


def starts(path: Path, *, before: float) -> dict[str, float]:
    """Return when jobs started that did so before a moment, in seconds."""
    with path.open(newline="") as lines:
        found = {row["job_id"]: float(row["starting_time"]) for row in csv.DictReader(lines)}
    return {job: start for job, start in found.items() if start < before}


def test_a_call_some_nanoseconds_early_is_the_moment_asked_for() -> None:
    """It asks for 1089096.988 s, and is called at 1089096.987999999197 s."""
    path = RECORDINGS / "stochastic_batch" / "exchange.jsonl"
    replayed = replay(path, Session(create("stochastic-batch")), protocol("5"), times=True)
    assert replayed.difference is None
    assert replayed.messages == 109


@pytest.mark.parametrize("noise", [1e-9, -1e-9])
def test_pinned_io_decides_some_nanoseconds_beside_a_moment_as_at_that_moment(noise: float) -> None:
    """At 111.849999999 s it would start another job than at 111.85 s."""
    tasks = [
        Task("5", 40.05, 2, 25.4, 25.4),
        Task("7", 45.75, 2, 37.2, 55.8, extra={"io_node": "n5"}),
        Task("10", 62.85, 3, 59.85, 89.775, extra={"io_node": "n2"}),
        Task("17", 48.6, 3, 48.45, 48.45, extra={"io_node": "n2"}),
        Task("25", 42.9, 2, 31.75, 31.75, extra={"io_node": "n5"}),
    ]
    machine = Machine([Host(id=i, name=f"n{i}", storage=i in (2, 5)) for i in range(10)])
    exchanges = simulate(machine, tasks, "pinned-io").exchanges
    assert 111.85 in [message.now for message, _ in exchanges]
    session, wire = Session(create("pinned-io")), protocol("5")
    for message, reply in exchanges:
        events = [structs.replace(event, time=max(event.time + noise, 0.0)) for event in message.events]
        frame = wire.encode_message(Message(max(message.now + noise, 0.0), events))
        assert session.handle(wire.decode_message(frame)).decisions == reply.decisions


def test_a_job_with_a_profile_of_no_workload_is_refused_as_batsim_5_refuses_it() -> None:
    path = RECORDINGS / "resizing_refused" / "exchange.jsonl"
    with pytest.raises(InputError, match=r"line 48: .*profile_id: found 'rest of w0!6', expected workload!name"):
        check_wire(path, protocol("5"), partial=True)
