"""The embedded engine with Batsim's clock: the schedules, and the messages, of the real Batsim 4.2.1."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pandas as pd
import pytest

from batdispatch.batsim import v4
from batdispatch.core.line.dispatcher import create, find
from batdispatch.core.line.messages import Message, Reply
from batdispatch.core.line.session import Session
from batdispatch.engines.embedded import EmbeddedEngine
from batdispatch.engines.mail import Delay, Delays
from batdispatch.engines.outputs import Outputs
from batdispatch.inputs.platforms import read_platform
from batdispatch.inputs.workloads import read_workload
from batdispatch.results.frame import read_jobs
from batdispatch.runs.run import execute
from batdispatch.runs.spec import RunSpec
from batdispatch.runs.workers import call_isolated
from recorded import PLAYED, RECORDINGS, four, play, recorded_frames
from with_simgrid import delays_of, frames_with_simgrid, needs_simgrid

#: Seconds within which every start is the recorded one.
TOLERANCE = 1e-4
#: Ours with options, and batsched's.
PAIRS: list[tuple[str, dict[str, str], str]] = [
    ("fcfs", {}, "fcfs_fast"),
    ("filler", {}, "filler"),
    ("easy", {"reservation": "hosts"}, "easy_bf"),
]
if "rjms_delay" in {field.name for field in msgspec.structs.fields(find("conservative").options_type)}:
    # batsched adds 5 s to every walltime in its plan; without that option no schedule of ours is its.
    PAIRS.append(("conservative", {"rjms_delay": "5"}, "conservative_bf"))


def flat16(host: int | None) -> Delay:
    """One link of 10 us and 1.25 GB/s from each host to the master; its messages to itself cross SimGrid's loopback."""
    return Delay(0.0, 1e-10) if host is None else Delay(1e-5, 8e-10)


def flat128(host: int | None) -> Delay:
    """Two links of 50 us and 125 MB/s from each host to n0, even from n0 to itself: a cluster has no loopback."""
    return Delay(1e-4, 8e-9)


class Heard:
    """Passes messages on and keeps them as Batsim would have written them."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.frames: list[dict[str, Any]] = []

    def handle(self, message: Message) -> Reply:
        self.frames.append(json.loads(v4.encode_message(message)))
        return self.session.handle(message)


def simulate(
    out: Path,
    platform: str,
    master: str | None,
    workload: str,
    dispatcher: str,
    options: Mapping[str, str],
    delays: Delays,
) -> list[dict[str, Any]]:
    """Simulate into a folder and return what the dispatcher heard."""
    site = read_platform(RECORDINGS / "platforms" / f"{platform}.xml", master=master)
    jobs = read_workload(RECORDINGS / "workloads" / f"{workload}.json")
    heard = Heard(Session(create(dispatcher, options)))
    EmbeddedEngine(site.machine, jobs, Outputs(out, site.machine.size), delays=delays).run(heard)
    return heard.frames


def assert_recorded(out: Path, recorded: Path) -> None:
    """Check that every job started when and where the recording has it, and ended as there."""
    theirs = read_jobs(recorded / "jobs.csv").set_index("job_id").add_suffix("_recorded")
    frame: pd.DataFrame = read_jobs(out / "jobs.csv").set_index("job_id").join(theirs, validate="1:1")
    assert len(frame) == len(theirs)
    assert (frame["starting_time"] - frame["starting_time_recorded"]).abs().max() < TOLERANCE
    for column in ("final_state", "allocated_resources"):
        assert (frame[column] == frame[f"{column}_recorded"]).all(), column


def story(frames: list[dict[str, Any]]) -> list[Any]:
    """What was told when, in whole microseconds."""
    return [
        (
            micro(frame["now"]),
            [(event["type"], event["data"].get("job_id"), micro(event["timestamp"])) for event in frame["events"]],
        )
        for frame in frames
    ]


def micro(seconds: float) -> int:
    return round(seconds * 1e6)


@pytest.mark.parametrize("workload", ["ties16", "atonce16", "free16"])
@pytest.mark.parametrize(("dispatcher", "options", "reference"), PAIRS)
def test_every_start_and_message_where_moments_coincide(
    tmp_path: Path, workload: str, dispatcher: str, options: dict[str, str], reference: str
) -> None:
    frames = simulate(tmp_path, "flat16", None, workload, dispatcher, options, flat16)
    recorded = RECORDINGS / "ties" / f"{workload}.{reference}"
    assert_recorded(tmp_path, recorded)
    theirs = story(recorded_frames(recorded))
    if workload == "ties16" and dispatcher in ("easy", "conservative"):
        # In one of these some 137 messages two ends are a nanosecond apart, up to the last digit of a double.
        assert len(set(map(str, theirs)) - set(map(str, story(frames)))) <= 2
        return
    assert story(frames) == theirs


@pytest.mark.parametrize("workload", ["steady", "crowded", "burst"])
@pytest.mark.parametrize(("dispatcher", "options", "reference"), PAIRS)
def test_every_start_where_messages_take_long(
    tmp_path: Path, workload: str, dispatcher: str, options: dict[str, str], reference: str
) -> None:
    # Here every start is at least 0.2 ms after the submission: the messages alone make that, one link twice.
    simulate(tmp_path, "flat128", "n0", workload, dispatcher, options, flat128)
    assert_recorded(tmp_path, RECORDINGS / "scheduling" / f"{workload}.{reference}")


@pytest.mark.parametrize(("dispatcher", "options", "reference"), PAIRS)
def test_most_starts_where_batsim_itself_is_arbitrary(
    tmp_path: Path, dispatcher: str, options: dict[str, str], reference: str
) -> None:
    """On whole minutes, rounding noise of SimGrid's clock decides which ends are told together; fcfs does not mind."""
    simulate(tmp_path, "flat128", "n0", "whole_minutes128", dispatcher, options, flat128)
    theirs = read_jobs(RECORDINGS / "whole_minutes128" / f"{dispatcher}.csv.xz").set_index("job_id")["starting_time"]
    ours = read_jobs(tmp_path / "jobs.csv").set_index("job_id")["starting_time"]
    alike = int(((ours - theirs).abs() < 0.05).sum())
    # conformance.md says so.
    assert alike >= {"fcfs": 300, "filler": 256, "easy": 185, "conservative": 221}[dispatcher]


@pytest.mark.parametrize("name", PLAYED)
def test_every_message_of_an_exchange_at_its_microsecond(tmp_path: Path, name: str) -> None:
    script = play(name, tmp_path, delays=four)
    heard = [json.loads(v4.encode_message(message)) for message in script.heard]
    assert story(heard) == story(recorded_frames(RECORDINGS / "batsim4" / name))


@needs_simgrid
@pytest.mark.parametrize("name", ["kill", "walltime", "parallel", "composed", "pfs", "io_job", "mapping"])
def test_every_message_where_jobs_compute_communicate_and_are_killed(tmp_path: Path, name: str) -> None:
    assert story(frames_with_simgrid(name, tmp_path)) == story(recorded_frames(RECORDINGS / "batsim4" / name))


@needs_simgrid
@pytest.mark.parametrize(("dispatcher", "options", "reference"), PAIRS)
def test_the_command_takes_the_delays_from_the_platform(
    tmp_path: Path, dispatcher: str, options: dict[str, str], reference: str
) -> None:
    spec = RunSpec(
        platform=str(RECORDINGS / "platforms" / "flat16.xml"),
        workload=str(RECORDINGS / "workloads" / "ties16.json"),
        dispatcher=dispatcher,
        options=options,
        clock="batsim",
    )
    result = execute(spec, tmp_path)
    assert (result["clock"], "--clock batsim" in result["command"]) == ("batsim", True)
    recorded = RECORDINGS / "ties" / f"ties16.{reference}" / "jobs.csv"
    # Not a digit differs.
    assert sorted((tmp_path / "jobs.csv").read_text().splitlines()) == sorted(recorded.read_text().splitlines())


@needs_simgrid
@pytest.mark.parametrize(
    ("platform", "master", "expected"), [("flat16", None, flat16), ("flat128", "n0", flat128), ("four", None, four)]
)
def test_routes_give_the_delays(platform: str, master: str | None, expected: Delays) -> None:
    delays = call_isolated(delays_of, str(RECORDINGS / "platforms" / f"{platform}.xml"), master)
    for host, delay in enumerate(delays, -1):
        for ours, theirs in zip(delay, expected(None if host < 0 else host), strict=True):
            assert math.isclose(ours, theirs, rel_tol=1e-9)
