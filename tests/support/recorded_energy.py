"""Recorded exchanges with a Batsim 4 that counts energy, taken again by the engine."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from batdispatch.batsim import v4
from batdispatch.engines.choices import CountEnergy
from batdispatch.engines.embedded import EmbeddedEngine
from batdispatch.engines.external import read_external_events
from batdispatch.engines.mail import Delay
from batdispatch.engines.outputs import Outputs
from batdispatch.engines.records import EngineOptions
from batdispatch.engines.simgrid_timer import SimGridTimer
from batdispatch.inputs.platforms import read_platform
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


def play_energy(name: str, out: Path, count: CountEnergy = "batsim", *, simgrid: bool) -> list[dict[str, Any]]:
    """Take the decisions of a recording again; the files are in the folder `out`. Return the frames that were heard."""
    return call_isolated(_with_simgrid, name, str(out)) if simgrid else _play(name, out, count, None)


def _with_simgrid(name: str, out: str, progress: object) -> list[dict[str, Any]]:
    words = _options(name)
    platform = read_platform(ENERGY / words[words.index("-p") + 1])
    platform.powers()
    return _play(name, Path(out), "batsim", SimGridTimer(platform, energy=True))


def _options(name: str) -> list[str]:
    return (ENERGY / "batsim4" / name / "options.txt").read_text().splitlines()[0].split()


def _play(name: str, out: Path, count: CountEnergy, timer: SimGridTimer | None) -> list[dict[str, Any]]:
    words = _options(name)
    lines = [json.loads(line) for line in (ENERGY / "batsim4" / name / "exchange.jsonl").read_text().splitlines()]
    platform = read_platform(ENERGY / words[words.index("-p") + 1])
    platform.powers()
    events = []
    if "--events" in words:
        path = ENERGY / words[words.index("--events") + 1]
        events = read_external_events(path, len(platform.machine.hosts))
    options = EngineOptions(
        energy=count if "-E" in words else None,
        compute_sharing="--enable-compute-sharing" in words,
        forward_unknown_events=False,
    )
    script = InTurn(lines)
    outputs = Outputs(out, len(platform.machine.hosts))
    try:
        EmbeddedEngine(
            platform.machine,
            read_workload(ENERGY / words[words.index("-w") + 1]),
            outputs,
            options=options,
            external_events=events,
            timer=timer,
            delays=on_private_links if timer is None else timer.delay,
        ).run(script)
    finally:
        outputs.discard()
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
