"""Whatever comes in, the outcome is a result or a refusal in words: never another exception, never endless memory.

Each target changes real inputs (recordings of Batsim, workloads, platforms) by `mutating` and hands them in where they
would come in. By default each target takes a fixed number of examples. ``BATDISPATCH_FUZZ_SECONDS=600`` lets each go on
for that long, ``BATDISPATCH_FUZZ_SEED=7`` takes other examples. A failure names the seed and the example.
"""

import contextlib
import json
import os
import random
import re
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from lxml import etree

from batdispatch.batsim import Features, Wire, protocol
from batdispatch.core.errors import BatdispatchError, ImpossibleDecision, InputError, SimulationError
from batdispatch.core.line.dispatcher import create
from batdispatch.core.line.messages import Message, Reply
from batdispatch.core.line.session import Session
from batdispatch.core.machine.machine import Machine
from batdispatch.engines.embedded import EmbeddedEngine
from batdispatch.engines.external import read_external_events
from batdispatch.engines.outputs import Outputs
from batdispatch.engines.records import EngineOptions
from batdispatch.inputs.log_options import LogOptions
from batdispatch.inputs.platforms import read_platform
from batdispatch.inputs.workloads import read_workload, write_workload
from batdispatch.inputs.workloads.importers import read_log
from batdispatch.links.replay import check_wire, read_recording, replay
from batdispatch.links.retrace import RetracePeer, retrace
from batdispatch.report.workload.tables import as_dict
from batdispatch.report.workload.traits import Traits
from batdispatch.runs.inputs import platform_for
from mutating import changed_value, damaged, dumped

RECORDINGS = Path(__file__).parents[1] / "conformance" / "recordings"
SECONDS = float(os.environ.get("BATDISPATCH_FUZZ_SECONDS", "0"))
SEED = os.environ.get("BATDISPATCH_FUZZ_SEED", "1")
#: Bytes by which the peak of the process may grow while a target is fuzzed.
GROWTH = 1 << 30
#: Most messages of a simulation; who asks to be called again and again would have endless ones.
ENOUGH = 400


def frames_of(path: Path, wire: Wire) -> list[tuple[bytes, bytes]]:
    return [(exchange.message, exchange.reply or b"") for exchange in read_recording(path, wire)]


def changed_frame(rng: random.Random, frame: bytes) -> bytes:
    """Change a frame of either protocol, a handshake too."""
    try:
        value = json.loads(frame.rstrip(b"\0"))
    except (ValueError, RecursionError):
        return damaged(rng, frame)
    return dumped(rng, changed_value(rng, value, rng.choice([1, 1, 1, 2, 4])))


def own_fault(problem: BaseException) -> bool:
    """Return whether an error says that something here failed, and not what came in."""
    # A dispatcher's exception is wrapped: whatever is fed to it, none of ours may raise one.
    return isinstance(problem, SimulationError) and problem.__cause__ is not None


def check_refusal(problem: BatdispatchError) -> None:
    assert not own_fault(problem), problem
    assert len(str(problem)) > 15
    assert "Traceback" not in str(problem)


class Exchanged(NamedTuple):
    """The two sides of a simulation that our engine and one of our dispatchers had."""

    dispatcher: str
    version: str
    frames: list[bytes]


class Listening:
    """A peer that keeps what was said, as frames, and may change replies."""

    def __init__(self, session: Session, wire: Wire, change: Callable[[bytes], bytes] = lambda frame: frame) -> None:
        self.session, self.wire, self.change = session, wire, change
        self.frames: list[bytes] = []

    def handle(self, message: Message) -> Reply:
        if len(self.frames) > ENOUGH:
            raise SimulationError("enough messages were exchanged")
        frame = self.wire.encode_message(message)
        self.frames.append(frame)
        # A session that was told of decisions which it never took would rightly complain.
        reply = self.session.handle(message)
        return self.wire.decode_reply(self.change(self.wire.encode_reply(reply)))


@pytest.fixture(scope="module")
def workload(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve jobs in a queue: failures, walltimes, sequences, resources, dependencies."""
    profiles = {f"d{i}": {"type": "delay", "delay": 3.5 * i + 1, **({"ret": 1} if i == 2 else {})} for i in range(4)}
    profiles["twice"] = {"type": "composed", "seq": ["d0", "d1"], "repeat": 2}
    jobs: list[dict[str, Any]] = [
        {
            "id": f"{i}",
            "subtime": i // 2,
            "res": 1 + i % 3,
            "profile": [*profiles][i % 5],
            "walltime": 4 + i,
            "user": "u",
        }
        for i in range(12)
    ]
    jobs[5]["dependencies"] = ["1"]
    del jobs[7]["walltime"]
    path = tmp_path_factory.mktemp("fuzz") / "w.json"
    path.write_text(json.dumps({"nb_res": 4, "jobs": jobs, "profiles": profiles}))
    return path


def simulate(peer: Any, path: Path, folder: Path, hosts: int = 4) -> None:
    folder.mkdir(exist_ok=True)
    outputs = Outputs(folder, hosts)
    EmbeddedEngine(Machine.flat(hosts), read_workload(path), outputs, options=EngineOptions(dynamic_jobs=True)).run(
        peer
    )


DISPATCHERS = ("easy", "conservative", "stochastic-easy")


@pytest.fixture(scope="module")
def exchanges(workload: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Exchanged]:
    """Whole simulations as frames, which a fresh session answers to the end."""
    found = []
    for version in ("4", "5"):
        for name in DISPATCHERS:
            listening = Listening(Session(create(name, {}, 0)), opened_wire(version))
            simulate(listening, workload, tmp_path_factory.mktemp("run"))
            found.append(Exchanged(name, version, listening.frames))
    return found


def opened_wire(version: str) -> Wire:
    """Return a wire whose handshake has happened."""
    wire = protocol(version)
    opening = wire.opening("")
    if opening is not None:
        asked = Features(dynamic_registration=True, profile_reuse=True, forward_profiles_on_simulation_begins=True)
        wire.answer_opening(opening, asked)
    return wire


Target = Callable[[random.Random], None]


def run(name: str, target: Target, examples: int, folder: Path) -> None:
    """Try a target with examples until their number, or the time asked for, is reached."""
    began, number = time.monotonic(), 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    refused, slowest = 0, 0.0
    while time.monotonic() < began + SECONDS if SECONDS else number < examples:
        number += 1
        rng = random.Random(f"{SEED}/{name}/{number}")
        at = time.monotonic()
        try:
            target(rng)
        except BatdispatchError as problem:
            refused += 1
            try:
                check_refusal(problem)
            except AssertionError as wrong:
                raise AssertionError(f"{name}, seed {SEED}, example {number}: {wrong}") from problem
        except Exception as problem:
            raise AssertionError(f"{name}, seed {SEED}, example {number}: {problem!r:.2000}") from problem
        slowest = max(slowest, time.monotonic() - at)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak) << 10
    assert grown < GROWTH, f"{name}, seed {SEED}: the memory grew by {grown:,} bytes"
    # Of what is hardly changed some is refused and some is not.
    assert 0 < refused < number
    print(f"{name}: {number} examples, {refused} refused, slowest {slowest:.2f} s, grown {grown >> 20} MiB")


@pytest.mark.parametrize("version", ["4", "5"])
def test_messages(version: str, exchanges: list[Exchanged], tmp_path: Path) -> None:
    """A simulation in which some frames are others: each is answered or refused, and the ledger stays sound."""
    among = [exchanged for exchanged in exchanges if exchanged.version == version]

    def target(rng: random.Random) -> None:
        exchanged = rng.choice(among)
        wire, session = opened_wire(version), Session(create(exchanged.dispatcher, {}, 0))
        frames = list(exchanged.frames)
        for _ in range(rng.choice([1, 1, 3])):
            index = rng.randrange(len(frames))
            what = rng.random()
            if what < 0.75:
                frames[index] = changed_frame(rng, frames[index])
            elif what < 0.85:
                frames.insert(index, rng.choice(frames))
            elif len(frames) > 1:
                del frames[index]
        for frame in frames:
            try:
                wire.encode_reply(session.handle(wire.decode_message(frame)))
            finally:
                if session.ledger is not None:
                    session.ledger.check()

    run(f"messages of Batsim {version}", target, 200, tmp_path)


@pytest.mark.parametrize("version", ["4", "5"])
def test_frames(version: str, tmp_path: Path) -> None:
    """Every kind of frame that was recorded, changed: both directions are read, or refused."""
    paths = sorted((RECORDINGS / f"batsim{version}").glob("*/exchange.jsonl"))
    pairs = {path: frames_of(path, protocol(version)) for path in paths}

    def target(rng: random.Random) -> None:
        wire = opened_wire(version)
        asked, answered = rng.choice(pairs[rng.choice(paths)])
        if rng.random() < 0.5:
            message = wire.decode_message(changed_frame(rng, asked))
            assert wire.decode_message(wire.encode_message(message)).now == pytest.approx(message.now, abs=1e-6)
        else:
            with contextlib.suppress(ImpossibleDecision):
                wire.encode_reply(wire.decode_reply(changed_frame(rng, answered)))

    run(f"frames of Batsim {version}", target, 3000, tmp_path)


@pytest.mark.parametrize("version", ["4", "5"])
def test_replies(version: str, workload: Path, tmp_path: Path) -> None:
    """A simulation of ours whose scheduler answers strangely goes on to its end, or is refused."""

    def target(rng: random.Random) -> None:
        left = [rng.randrange(25) for _ in range(rng.choice([1, 1, 3]))]

        def change(frame: bytes) -> bytes:
            left[:] = [one - 1 for one in left]
            return changed_frame(rng, frame) if -1 in left else frame

        session = Session(create(rng.choice(DISPATCHERS), {}, 0))
        simulate(Listening(session, opened_wire(version), change), workload, tmp_path / "run")

    run(f"replies to Batsim {version}", target, 120, tmp_path)


def test_workloads(tmp_path: Path) -> None:
    """A workload that is read can be simulated."""
    path = tmp_path / "w.json"
    values = []
    for file in sorted((RECORDINGS / "workloads").glob("*.json")):
        value = json.loads(file.read_text())
        value["jobs"] = value["jobs"][:8]
        used = {job["profile"] for job in value["jobs"]}
        if len(value["profiles"]) > 30:
            value["profiles"] = {name: profile for name, profile in value["profiles"].items() if name in used}
        values.append(value)

    def target(rng: random.Random) -> None:
        path.write_bytes(dumped(rng, changed_value(rng, rng.choice(values), rng.choice([1, 1, 2, 4]))))
        found = read_workload(path)
        hosts = min(found.nb_res or 4, 64)
        listening = Listening(Session(create("easy", {}, 0)), opened_wire("4"))
        simulate(listening, path, tmp_path / "run", hosts)

    run("workloads", target, 300, tmp_path)


#: Values for attributes of platforms.
ATTRIBUTES = [
    "",
    "0",
    "-1",
    "1Gf",
    "1e400Gf",
    "9" * 309,
    "nan",
    "inf",
    "0-3",
    "0-99999999",
    "2,2,2",
    "1,1;1,1",
    "1Gf,2Gf",
]
ATTRIBUTES += [
    "Full",
    "Floyd",
    "core=4",
    "core=4,core=5",
    "storage",
    "é",
    "a b",
    "x" * 400,
    "50us",
    "1ZBps",
    "TORUS",
    "FAT_TREE",
]
ATTRIBUTES += ["2;4,4;1,2;1,2", "3,4;3,2;3,1;2", "0-999999", "1e-400s", "SPLITDUPLEX", "true", "10" * 20]


def test_platforms(tmp_path: Path) -> None:
    path = tmp_path / "p.xml"
    files = [*sorted((RECORDINGS / "platforms").glob("*.xml")), *sorted(Path("platforms").resolve().glob("*.xml"))]
    texts = [file.read_bytes() for file in files if file.stat().st_size < 20_000]

    def target(rng: random.Random) -> None:
        root = etree.fromstring(rng.choice(texts))
        for _ in range(rng.choice([1, 1, 2, 5])):
            elements = [element for element in root.iter() if isinstance(element.tag, str)]
            one, other = rng.choice(elements), rng.choice(elements)
            what = rng.random()
            if what < 0.6 and one.attrib:
                name = rng.choice(sorted(one.attrib))
                value = rng.choice(ATTRIBUTES if rng.random() < 0.7 else sorted(other.attrib.values()) or ATTRIBUTES)
                one.set(name, value)
            elif what < 0.7 and one.attrib:
                del one.attrib[rng.choice(sorted(one.attrib))]
            elif what < 0.8 and one is not root:
                one.getparent().remove(one)
            elif what < 0.9 and one is not root:
                one.addnext(etree.fromstring(etree.tostring(one, with_tail=False)))
            elif one is not root and other not in one.iter():
                other.append(one)
        data = b'<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "x">\n' + etree.tostring(root)
        path.write_bytes(damaged(rng, data) if rng.random() < 0.2 else data)
        read_platform(path, batsim=rng.choice([4, 5]), master=rng.choice([None, "n0", "x"]))

    run("platforms", target, 250, tmp_path)


def test_external_events(tmp_path: Path) -> None:
    path = tmp_path / "events.txt"
    lines = (RECORDINGS / "workloads" / "external_events.txt").read_text().splitlines()
    values = [json.loads(line) for line in lines if line.strip()]

    def target(rng: random.Random) -> None:
        said = changed_value(rng, values, rng.choice([1, 2, 4]))
        path.write_bytes(b"\n".join(dumped(rng, one) for one in (said if isinstance(said, list) else [said])))
        read_external_events(path, 4)

    run("external events", target, 1000, tmp_path)


@pytest.mark.parametrize("version", ["4", "5"])
def test_recordings(version: str, tmp_path: Path) -> None:
    """A recording whose lines are others, moved or cut off is read, or refused with the line."""
    path = tmp_path / "x.jsonl"
    files = sorted((RECORDINGS / f"batsim{version}").glob("*/exchange.jsonl"))
    texts = [file.read_bytes().splitlines() for file in files if not file.parent.name.startswith("err_")]

    def target(rng: random.Random) -> None:
        lines = list(rng.choice(texts))
        for _ in range(rng.choice([1, 1, 3])):
            index = rng.randrange(len(lines))
            what = rng.random()
            value: Any = {}
            with contextlib.suppress(ValueError, RecursionError):
                value = json.loads(lines[index])
            if what < 0.5 and isinstance(value, dict) and isinstance(value.get("raw"), str):
                value["raw"] = changed_frame(rng, value["raw"].encode()).decode("utf-8", "replace")
                lines[index] = json.dumps(value).encode()
            elif what < 0.7:
                lines[index] = dumped(rng, changed_value(rng, value, 1))
            elif what < 0.8:
                del lines[index:]
            else:
                lines[index], lines[-1] = lines[-1], lines[index]
            lines = lines or [b"{}"]
        path.write_bytes(b"\n".join(lines) + b"\n")
        try:
            partial = rng.random() < 0.5
            rng.choice(
                [
                    lambda: check_wire(path, protocol(version), partial=partial),
                    lambda: retrace(path, RetracePeer(), partial=partial),
                    lambda: replay(path, Session(create("easy", {}, 0)), protocol(version), partial=partial),
                ]
            )()
        except InputError as problem:
            if not re.search(r"line \d+|is empty|event at|SIMULATION|\d s", str(problem)):
                raise ValueError(f"a refusal does not say where: {problem}") from problem
            raise

    run(f"recordings of Batsim {version}", target, 150, tmp_path)


#: Fields of a log that is wrong or means harm.
FIELDS = ["", "-1", "0", "9" * 15, "9" * 400, "1e308", "-1e-308", "nan", "inf", "1_0", "\0", "٣", "é", " ", "a" * 5000]
FIELDS += [
    "Unknown",
    "None",
    "2026-11-22T13:59:04",
    "9999-12-31T23:59:60",
    "0001-01-01",
    "2026-02-30",
    "99-99:99:99",
    "%s",
]
FIELDS += [
    "n[1-999999999999999]",
    "n[" + "1-9," * 900 + "]",
    "[[[[",
    "]" * 50,
    "n[3-1]",
    "cpu=" + "9" * 15,
    "mem=9E",
    "cpu=1,,",
]
FIELDS += [
    "gres/gpu=3,node=2",
    "1_[" + "1," * 900 + "]",
    "7+9",
    "7_7",
    "7.batch",
    "REQUEUED",
    "CANCELLED by 1",
    "|",
    "||",
    '"',
]
FIELDS += [
    "sbatch -d afterok:" + ":".join(["7"] * 900),
    "sbatch -d afterok:7 --exclusive",
    "1e",
    "0x10",
    "4Gc",
    "0n",
    "+5",
]
MAPPING = (
    "id=job,submit=when,runtime=took:min,walltime=limit,cores=cpus,nodes=n,gpus=gpu:/node,memory=mem:GiB/core,user=who"
)
MAPPING += ",dependencies=after"
TABLE = b"job,when,took,limit,cpus,n,gpu,mem,who,after\n" + b"".join(
    b"%d,2026-01-0%dT10:00:00,%d,02:00:00,%d,2,1,4G,u%d,%s\n" % (i, i, 5 * i, 2 * i, i % 3, b"1 2" if i > 3 else b"")
    for i in range(1, 8)
)
SWF = b"; MaxProcs: 64\n; MaxNodes: 8\n" + b"".join(
    b"%d %d 3 %d 4 -1 -1 4 %d 1024 1 %d 1 1 1 1 -1 -1\n" % (i, 9 * i, 7 * i, 90 - i, i % 3) for i in range(1, 9)
)
KIT = b"".join(b"%d;4;4;100;%d;1;%d;%d;%d\n" % (i, i, 9 * i, 9 * i + 1, 10 * i) for i in range(1, 9))
EURORA = b"".join(
    b"%d;x;u%d;q;2014-03-31 11:0%d:04" % (i, i, i)
    + b"__1;4;1;0;1024#2;4;1;0;1024#__"
    + b"2014-03-31 12:00:00;2014-03-31 13:00:00;2;8;0;02:00;NA;NA;0;b\n"
    for i in range(1, 9)
)


def test_logs(tmp_path: Path) -> None:
    """A log of any format is made a workload that can be read and shown, or refused; its account adds up."""
    sacct = RECORDINGS.parent / "sacct"
    logs = [("sacct", (sacct / f"{name}.txt").read_bytes()) for name in ("jobs", "all", "parsable")]
    logs += [("table", TABLE), ("swf", SWF), ("kit", KIT), ("eurora", EURORA)]
    delimiters = {"sacct": b"|", "table": b",", "swf": b" ", "kit": b";", "eurora": b";"}
    out = tmp_path / "w.json"

    def target(rng: random.Random) -> None:
        kind, content = rng.choice(logs)
        lines, delimiter = content.split(b"\n"), delimiters[kind]
        for _ in range(rng.choice([1, 1, 2, 5])):
            # The header decides what is read at all.
            index = rng.randrange(len(lines)) if rng.random() < 0.9 else 0
            fields = lines[index].split(delimiter)
            what = rng.random()
            if what < 0.7:
                fields[rng.randrange(len(fields))] = rng.choice(FIELDS).encode()
            elif what < 0.8:
                del fields[rng.randrange(len(fields))]
            elif what < 0.9:
                rng.shuffle(fields)
            else:
                fields.insert(0, rng.choice(lines))
            lines[index] = delimiter.join(fields)
        content = b"\n".join(lines)
        path = tmp_path / f"log.{kind}"
        path.write_bytes(damaged(rng, content) if rng.random() < 0.1 else content)
        options = LogOptions(
            units=rng.choice([None, "hosts", "cores"]),
            size=rng.choice(["requested", "allocated"]),
            columns=MAPPING if kind == "table" else "",
            time_zone=rng.choice(["", "Europe/Berlin"]) if kind in ("sacct", "table") else "",
            submission=rng.choice(["submit", "eligible"]),
        )
        read = read_log(path, kind=kind, options=options)
        assert read.report.records == read.report.kept + sum(tally.count for tally in read.report.dropped.values())
        write_workload(read.workload, out)
        assert len(read_workload(out).jobs) == read.report.kept
        traits = as_dict(Traits(read.workload, starts=read.info.starts))
        assert sum(traits["by_hour"]) == pytest.approx(1)
        assert platform_for(read.workload, kind, read.info).content

    run("logs", target, 1500, tmp_path)
