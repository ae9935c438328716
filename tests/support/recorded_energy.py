"""Recorded exchanges with a Batsim 4 that counts energy, taken again by the engine."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from batdispatch.abilities.power.machine.facet import HostPowers
from batdispatch.abilities.simgrid.timer import SimGridTimer
from batdispatch.batsim import Features, v4
from batdispatch.batsim.v5.exchange import Batsim5
from batdispatch.core.line.messages import Message, Reply
from batdispatch.engines.choices import CountEnergy
from batdispatch.engines.embedded import EmbeddedEngine
from batdispatch.engines.external import read_external_events
from batdispatch.engines.mail import Delay
from batdispatch.engines.outputs import Outputs
from batdispatch.engines.records import EngineOptions
from batdispatch.inputs.platforms import Platform, read_platform
from batdispatch.inputs.workloads import read_workload
from batdispatch.runs.workers import call_isolated
from recorded import RECORDINGS, InTurn

ENERGY = RECORDINGS / "energy"
#: Largest relative difference of joules.
TOLERANCE = 1e-6
#: Columns that say how long the recording machine took, or which program wrote the file.
_OWN = ("batsim_version", "scheduling_time", "simulation_time", "epower")
#: Digits of a time in these files.
_DIGITS = {"machine_states.csv": 6, "pstate_changes.csv": 6}


def on_private_links(host: int | None) -> Delay:
    """Delays of messages where each host has a link of 50 us, and a route is the links of its ends."""
    return Delay(0.0, 1 / 498e6) if host is None else Delay(1e-4, 8e-9)


def play_energy(
    name: str, out: Path, count: CountEnergy = "batsim", *, simgrid: bool, batsim: Literal[4, 5] = 4
) -> list[dict[str, Any]]:
    """Take the decisions of a recording again; the files are in the folder `out`. Return the frames that were heard."""
    if simgrid:
        return call_isolated(_with_simgrid, name, str(out), batsim)
    return _play(name, out, count, None, batsim)


def _with_simgrid(name: str, out: str, batsim: Literal[4, 5], progress: object) -> list[dict[str, Any]]:
    platform = _platform(name, batsim)
    return _play(name, Path(out), "batsim", SimGridTimer(platform, energy=True), batsim)


def options_of(name: str, batsim: Literal[4, 5]) -> list[str]:
    """Return the options that Batsim was started with."""
    text = (ENERGY / f"batsim{batsim}" / name / "options.txt").read_text()
    return text.splitlines()[0].partition("|")[0].split()


def _platform(name: str, batsim: Literal[4, 5]) -> Platform:
    words = options_of(name, batsim)
    roles = dict(words[index + 1].split(":") for index, word in enumerate(words) if word == "-r")
    platform = read_platform(ENERGY / words[words.index("-p") + 1], roles=roles, batsim=batsim)
    platform.facet(HostPowers)
    return platform


def recorded_messages(name: str, batsim: Literal[4, 5]) -> list[dict[str, Any]]:
    """Return the frames that a recorded Batsim sent, without a handshake."""
    lines = _lines(name, batsim)
    said = [line["raw"] for line in lines if line["dir"].startswith("batsim->")]
    return [json.loads(raw) for raw in said if isinstance(raw, str)]


def _lines(name: str, batsim: Literal[4, 5]) -> list[dict[str, Any]]:
    path = ENERGY / f"batsim{batsim}" / name / "exchange.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()]


class Recorded5(InTurn):
    """Answers each message with the recorded answer to the one of the same number, in Batsim 5's protocol."""

    def __init__(self, lines: list[dict[str, Any]]) -> None:
        #: One side reads the recording, the other one writes what the engine says.
        self._theirs, self._ours = Batsim5(), Batsim5()
        self._theirs.answer_opening(self._theirs.unrecord(lines[0]["raw"]), Features())
        answer = self._theirs.unrecord(lines[1]["raw"])
        self._theirs.read_answer(answer)
        self.compute_sharing = self._theirs.compute_sharing
        self._ours.read_answer(answer)
        self._lines = lines[2:]
        self.heard: list[Message] = []
        self.frames: list[dict[str, Any]] = []

    def handle(self, message: Message) -> Reply:
        self.frames.append(json.loads(self._ours.encode_message(message).rstrip(b"\0")))
        asked, answered = self._lines[:2]
        self._lines = self._lines[2:]
        self._theirs.decode_message(asked["raw"].encode())
        return self._theirs.decode_reply(answered["raw"].encode())


def _play(
    name: str, out: Path, count: CountEnergy, timer: SimGridTimer | None, batsim: Literal[4, 5]
) -> list[dict[str, Any]]:
    words, lines = options_of(name, batsim), _lines(name, batsim)
    platform = _platform(name, batsim)
    workload = read_workload(ENERGY / words[words.index("-w") + 1])
    events = []
    for option in ("--events", "--ee"):
        if option in words:
            path = ENERGY / words[words.index(option) + 1]
            events = read_external_events(path, len(platform.machine.hosts), batsim=batsim)
    script = InTurn(lines) if batsim == 4 else Recorded5(lines)
    options = EngineOptions(
        energy=count if {"-E", "--energy-host"} & {*words} else None,
        compute_sharing="--enable-compute-sharing" in words
        if not isinstance(script, Recorded5)
        else script.compute_sharing,
        forward_unknown_events=batsim == 5,
        turns_hosts=batsim == 5,
    )
    outputs = Outputs(out, len(platform.machine.hosts))
    try:
        EmbeddedEngine(
            platform.machine,
            workload,
            outputs,
            options=options,
            external_events=events,
            timer=timer,
            delays=on_private_links if timer is None else timer.delay,
        ).run(script)
    finally:
        outputs.discard()
    if isinstance(script, Recorded5):
        return script.frames
    return [json.loads(v4.encode_message(message)) for message in script.heard]


def rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of a table."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def differences(ours: Path, theirs: Path) -> Iterator[str]:
    """Yield what differs between two tables, each row with the one of the same number."""
    mine, recorded = rows(ours), rows(theirs)
    if len(mine) != len(recorded):
        yield f"{ours.name}: {len(mine)} rows, expected {len(recorded)}"
    for number, (row, expected) in enumerate(zip(mine, recorded, strict=False)):
        for column, text in expected.items():
            if column not in _OWN and not same(row[column], text, _DIGITS.get(ours.name)):
                yield f"{ours.name}, row {number}: {column} is {row[column]}, expected {text}"


def same(mine: str, theirs: str, digits: int | None = None) -> bool:
    """Return whether two fields say the same: numbers to `TOLERANCE`, or to as many digits as were printed."""
    try:
        value, expected = float(mine), float(theirs)
    except ValueError:
        return mine == theirs
    if digits is not None:
        return abs(value - expected) <= 10.0 ** (1 - digits) * max(abs(expected), 1.0)
    return abs(value - expected) <= TOLERANCE * max(abs(expected), 10.0)
