"""What every dispatcher and every part must hold, whatever it decides."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from batdispatch.batsim import PROTOCOLS, Wire, features_for, protocol
from batdispatch.core.errors import BatdispatchError, ImpossibleDecision, InputError
from batdispatch.core.line.dispatcher import create
from batdispatch.core.line.messages import Message, Peer, Reply
from batdispatch.core.line.options import parse_named
from batdispatch.core.line.session import Session
from batdispatch.engines.embedded import EmbeddedEngine
from batdispatch.engines.external import read_external_events
from batdispatch.engines.outputs import Outputs
from batdispatch.engines.records import EngineOptions
from batdispatch.inputs.platforms import read_platform
from batdispatch.inputs.workloads import read_workload
from batdispatch.links.platform_peer import informed_by
from batdispatch.links.recorder import Recorder
from batdispatch.links.replay import replay
from batdispatch.runs.audits import auditors
from batdispatch.runs.engines import counted_energy
from batdispatch.runs.run import execute
from batdispatch.runs.spec import RunSpec
from batdispatch.testing.cases import Case

# What fails here says so in a sentence, so pytest is told to show the line of the test, and not these functions.

#: Files of a run that must be the same whenever it is repeated.
_SAME = ("jobs.csv", "units.csv", "lineage.csv", "decisions.jsonl")


def check_dispatcher(
    dispatcher: str, case: Case, folder: Path, *, options: Mapping[str, Any] | None = None, seed: int = 0
) -> None:
    """Run a case and check what holds for every dispatcher.

    - Each decision is possible: nothing is given twice, to a host that is away, or to a job that does not wait.
    - No job is lost, and the audit (`batdispatch check`), which shares no code with the ledger, finds nothing.
    - Each rejection has a reason.
    - The same run gives the same bytes again in the same process: nothing is kept in a class or a module, and nothing
      depends on a clock.
    - What Batsim 4 and Batsim 5 would be told and answer can be written and read, and leads to the same decisions.

    Args:
        dispatcher: as for ``--dispatcher``: a registered name, ``module:Class`` or ``path/to/file.py:Class``, with
            options in brackets.
        case: one of `cases.CASES`, or one of your own.
        folder: for the files of the run; pytest's ``tmp_path``.
        options: further options by name.
        seed: of random choices.

    Raises:
        AssertionError: something does not hold; the message says what and where.
    """
    __tracebackhide__ = True
    about = f"{dispatcher} on the case {case.name} ({case.about})"
    platform, workload, events = case.write(folder / "case")
    name, given = parse_named(dispatcher, "dispatcher")
    texts = given | {key: str(value) for key, value in (options or {}).items()}
    spec = RunSpec(
        platform=str(platform),
        workload=str(workload),
        dispatcher=name,
        options=texts,
        seed=seed,
        external_events=None if events is None else str(events),
        **case.settings,
    )
    first, again = folder / "run", folder / "again"
    if case.queues.get("reservations") and not create(name, texts, seed).heeds_reservations:
        _check_refused(spec, first, about)
        return
    try:
        result = execute(spec, first)
        execute(spec, again)
        findings = [auditor.run(first) for auditor in auditors()]
    except BatdispatchError as problem:
        raise AssertionError(f"{about}: {problem}") from _its_author(problem)
    for each in findings:
        assert not each.total, f"{about}: {'; '.join(map(str, each.kept[:5]))}"
    silent = [rejection["job"] for rejection in result["rejected"] if not rejection["reason"]]
    assert not silent, f"{about}: rejected without a reason: {', '.join(silent)}"
    for file in _SAME:
        one, other = (place / file for place in (first, again))
        assert one.exists() == other.exists(), f"{about}: only one of two equal runs wrote {file}"
        if one.exists():
            assert one.read_bytes() == other.read_bytes(), f"{about}: {file} differs when the run is repeated"
    for version in PROTOCOLS:
        recording = folder / f"batsim{version}.jsonl"
        try:
            _record(spec, recording, version)
            found = replay(recording, _peer(spec, version), protocol(version), times=True).difference
        except BatdispatchError as problem:
            raise AssertionError(f"{about}, spoken to as by Batsim {version}: {problem}") from _its_author(problem)
        assert found is None, f"{about}, spoken to as by Batsim {version}: {found}"


def _its_author(problem: BatdispatchError) -> BatdispatchError | None:
    """Return a problem whose traceback leads to a line of the dispatcher; that of another one shows only our engine."""
    return problem if isinstance(problem, ImpossibleDecision) else None


def _check_refused(spec: RunSpec, folder: Path, about: str) -> None:
    """Check that a run is refused for its reservations."""
    __tracebackhide__ = True
    said = "nothing: it runs"
    try:
        execute(spec, folder)
    except InputError as refusal:
        said = str(refusal)
    if "reservations" not in said:
        raise AssertionError(f"{about}: expected a refusal that speaks of reservations, found {said}")


def check_part(
    kind: str,
    part: str,
    case: Case,
    folder: Path,
    *,
    dispatchers: Sequence[str] = ("fcfs", "filler", "easy", "conservative"),
) -> None:
    """Check an ordering, a placement, a prediction or a request sequence as the option of several dispatchers.

    Args:
        kind: the option: ``ordering``, ``placement``, ``prediction`` or ``requests``.
        part: its value: a registered name, ``module:Class`` or ``path/to/file.py:Class``, with options in brackets.
        case: as for `check_dispatcher`.
        folder: as for `check_dispatcher`.
        dispatchers: that take the part; for ``requests`` name ``stochastic-easy`` and its like.

    Raises:
        AssertionError: something does not hold; the message says what and where.
    """
    __tracebackhide__ = True
    for dispatcher in dispatchers:
        check_dispatcher(dispatcher, case, folder / dispatcher, options={kind: part})


def check_hash_seeds(dispatcher: str, case: Case, folder: Path) -> None:
    """Check that the order of sets and hashes of texts, which change with each process, decide nothing.

    Args:
        dispatcher: as for `check_dispatcher`.
        case: one without events and settings.
        folder: as for `check_dispatcher`.

    Raises:
        AssertionError: two processes decided differently, or failed.
    """
    __tracebackhide__ = True
    platform, workload, _ = case.write(folder / "case")
    found = []
    for seed in ("1", "2"):
        out = folder / f"hashed{seed}"
        program = "from batdispatch.cli.main import main; main()"
        arguments = ["--platform", platform, "--workload", workload, "--dispatcher", dispatcher, "--out", out]
        done = subprocess.run(
            [sys.executable, "-c", program, "run", *map(str, arguments)],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{dispatcher} on the case {case.name}: {done.stderr}"
        found.append((out / "jobs.csv").read_bytes())
    assert found[0] == found[1], f"{dispatcher} on the case {case.name} decides by the order of a set or by a hash"


def _peer(spec: RunSpec, version: str) -> Peer:
    """Return a session that is told the platform file beside the protocol, which says little of power states."""
    session = Session(create(spec.dispatcher, spec.options, spec.seed), decision_time=spec.decision_time)
    return informed_by(Path(spec.platform), session, version=version)


def _record(spec: RunSpec, recording: Path, version: str) -> None:
    """Simulate a run once more and write its exchange as one with a Batsim of that version."""
    platform = read_platform(Path(spec.platform), batsim=5 if version == "5" else 4)
    hosts = len(platform.machine.hosts)
    events = read_external_events(Path(spec.external_events), hosts) if spec.external_events else []
    dispatcher = create(spec.dispatcher, spec.options, spec.seed)
    options = EngineOptions(
        dynamic_jobs=dispatcher.registers_jobs,
        split_simultaneous=spec.clock == "apart",
        energy=counted_energy(spec.energy, needed=dispatcher.needs_energy),
    )
    folder = recording.with_suffix("")
    folder.mkdir(exist_ok=True)
    outputs = Outputs(folder, platform.machine.size)
    wire = protocol(version)
    with Recorder(recording, wire) as recorder:
        hello = wire.opening("")
        if hello is not None:
            answer = wire.answer_opening(hello, features_for(registers_jobs=dispatcher.registers_jobs))
            assert answer is not None
            recorder.message(hello)
            recorder.reply(answer)
        EmbeddedEngine(
            platform.machine, read_workload(Path(spec.workload)), outputs, options=options, external_events=events
        ).run(_Wired(_peer(spec, version), recorder, wire))


class _Wired:
    """A dispatcher that is told, and heard, through the frames of a protocol, as over a socket."""

    def __init__(self, peer: Peer, recorder: Recorder, wire: Wire) -> None:
        self._peer = peer
        self._recorder = recorder
        self._wire = wire

    def handle(self, message: Message) -> Reply:
        """Answer a message, and record the frames."""
        told = self._wire.encode_message(message)
        self._recorder.message(told)
        said = self._wire.encode_reply(self._peer.handle(self._wire.decode_message(told)))
        self._recorder.reply(said)
        return self._wire.decode_reply(said)
