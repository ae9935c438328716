"""Recorded exchanges with Batsim 4, taken again by the engine."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from batdispatch.batsim import v4
from batdispatch.core.line.decisions import Decision
from batdispatch.core.line.messages import Message, Reply
from batdispatch.engines.embedded import EmbeddedEngine
from batdispatch.engines.external import read_external_events
from batdispatch.engines.mail import Delay, Delays
from batdispatch.engines.outputs import Outputs
from batdispatch.engines.records import EngineOptions
from batdispatch.engines.timing import PlatformTimer
from batdispatch.inputs.platforms import Platform, read_platform
from batdispatch.inputs.workloads import read_workload

RECORDINGS = Path(__file__).parents[1] / "conformance" / "recordings"
#: Seconds by which the costs of Batsim's messages move its clock.
SLACK = 0.02
#: Exchanges of delays whose jobs file is Batsim's own, and that a script can take again decision by decision.
PLAYED = (
    "delay",
    "delay_mini_meta",
    "dyn_ack",
    "dyn_batsched_noack",
    "dyn_batsched_submitter",
    "events",
    "msg",
    "reject",
    "reject_batsched_conservative",
)


def four(host: int | None) -> Delay:
    """Delays on four.xml: the links of alder, birch, cedar and dogwood to the master, and its loopback."""
    return Delay(1e-6, 1e-9) if host is None else Delay(1.1e-4, 2.5e-8) if host < 2 else Delay(2.5e-4, 1e-7)


class Script:
    """Answers with recorded decisions, each as soon as the clock has reached the message it was the answer to."""

    def __init__(self, lines: list[dict[str, str]]) -> None:
        frames = [line["raw"].encode() for line in lines]
        self.replies: list[tuple[float, Reply]] = []
        for asked, answered in zip(frames[::2], frames[1::2], strict=False):
            message = v4.decode_message(asked)
            self.replies.append((message.now, v4.decode_reply(answered)))
        self.heard: list[Message] = []

    def handle(self, message: Message) -> Reply:
        self.heard.append(message)
        now, decisions = message.now, list[Decision]()
        until = now
        while self.replies and self.replies[0][0] <= now + SLACK:
            asked, reply = self.replies.pop(0)
            decisions += reply.decisions
            if reply.now > asked + SLACK:
                until = reply.now
        return Reply(until, decisions)

    def events(self, kind: str) -> list[dict[str, Any]]:
        """Return the data of every event of a type that was heard, as Batsim would send it."""
        frames = [json.loads(v4.encode_message(message)) for message in self.heard]
        return [event["data"] for frame in frames for event in frame["events"] if event["type"] == kind]


class InTurn(Script):
    """Answers each message with the recorded answer to the recorded message of the same number."""

    def handle(self, message: Message) -> Reply:
        self.heard.append(message)
        _, reply = self.replies.pop(0)
        return reply


def recorded_events(name: str, kind: str) -> list[dict[str, Any]]:
    """Return the data of every event of a type that Batsim sent in a recording."""
    frames = recorded_frames(RECORDINGS / "batsim4" / name)
    return [event["data"] for frame in frames for event in frame["events"] if event["type"] == kind]


def recorded_frames(folder: Path) -> list[dict[str, Any]]:
    """Return every frame that Batsim sent in the recording in a folder."""
    lines = (folder / "exchange.jsonl").read_text().splitlines()
    return [json.loads(line["raw"]) for line in map(json.loads, lines) if line["dir"] == "batsim->sched"]


def play(
    name: str,
    out: Path,
    workload: str | None = None,
    *,
    timer: Callable[[Platform], PlatformTimer] | None = None,
    delays: Delays | None = None,
) -> Script:
    """Take the decisions of a recording again; the output files are in the folder `out`.

    With delays, every message has to come as it was recorded, so that the answers fit.
    """
    folder = RECORDINGS / "batsim4" / name
    words = (folder / "options.txt").read_text().split()
    lines = [json.loads(line) for line in (folder / "exchange.jsonl").read_text().splitlines()]
    roles = dict(words[index + 1].split(":") for index, word in enumerate(words) if word == "-r")
    platform = read_platform(RECORDINGS / words[words.index("-p") + 1], roles=roles)
    jobs = read_workload(Path(workload) if workload else RECORDINGS / words[words.index("-w") + 1])
    events = []
    if "--events" in words:
        path = RECORDINGS / words[words.index("--events") + 1]
        events = read_external_events(path, len(platform.machine.hosts))
    options = EngineOptions(
        dynamic_jobs="--enable-dynamic-jobs" in words,
        acknowledge_dynamic_jobs="--acknowledge-dynamic-jobs" in words,
        forward_profiles="--forward-profiles-on-submission" in words,
        forward_unknown_events="--forward-unknown-events" in words,
    )
    script = Script(lines) if delays is None else InTurn(lines)
    outputs = Outputs(out, len(platform.machine.hosts))
    EmbeddedEngine(
        platform.machine,
        jobs,
        outputs,
        options=options,
        external_events=events,
        timer=None if timer is None else timer(platform),
        delays=delays,
    ).run(script)
    return script
