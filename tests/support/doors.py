"""Every way by which a dispatcher can be asked, as functions from a dispatcher and a site to a schedule.

A dispatcher is found by its entry point, so that one added later comes through every door without a word. If it needs
options, another site, or cannot go through a door, it says so in `SPECIAL`.
"""

import csv
import json
import socket
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from batdispatch.batsim import features_for, protocol
from batdispatch.core.errors import InputError
from batdispatch.core.line.dispatcher import create
from batdispatch.core.line.messages import Peer
from batdispatch.core.line.session import Session
from batdispatch.engines.embedded import EmbeddedEngine
from batdispatch.engines.outputs import Outputs
from batdispatch.engines.records import EngineOptions
from batdispatch.inputs.platforms import read_platform
from batdispatch.inputs.workloads import read_workload
from batdispatch.links.batdispatcher_path import batdispatcher_path
from batdispatch.links.batsim_program import find_batsim
from batdispatch.links.platform_peer import informed_by
from batdispatch.links.recorder import Recorder
from batdispatch.links.remote_peer import RemotePeer
from batdispatch.links.replay import replay, told_by
from batdispatch.links.serve import serve
from batdispatch.runs.engines import counted_energy
from batdispatch.runs.run import execute
from batdispatch.runs.spec import RunSpec
from batdispatch.testing.cases import POWER, SPEEDS
from sites import platform_of


class Special(NamedTuple):
    """What a dispatcher needs that others do not."""

    #: As for ``--set``.
    options: dict[str, str] = {}
    #: Names of the sites it is made for; empty: all.
    sites: tuple[str, ...] = ()
    #: Door -> why it does not go through it.
    closed: dict[str, str] = {}
    #: Whether it needs what only the platform file says.
    informed: bool = False


#: Dispatcher -> what it needs. A door asks for the same search, however short.
SPECIAL: dict[str, Special] = {
    "pcp20": Special({"work": "0.01"}),
    # No protocol says how long hosts switch.
    **{f"energy-bf{kind}": Special(informed=True) for kind in ("", "-dicho", "-idle-sleeper", "-subpart-sleeper")},
}


class Site(NamedTuple):
    """A platform and a workload, as files; host names are such that Batsim 4 and 5 number them alike."""

    platform: Path
    workload: Path


def make_sites(folder: Path) -> dict[str, Site]:
    """Write the sites: whole hosts, and nodes that jobs share. All stand on a 2 x 2 x 2 grid."""
    jobs, profiles = _workload(shared=False)
    shared_jobs, shared_profiles = _workload(shared=True)
    return {
        "hosts": _site(folder / "hosts", "", jobs, profiles),
        "nodes": _site(folder / "nodes", "core=4 gpu=1 memory=64", shared_jobs, shared_profiles),
    }


def _site(folder: Path, capacity: str, jobs: list[dict[str, Any]], profiles: dict[str, Any]) -> Site:
    folder.mkdir(parents=True)
    offered = f'<prop id="capacity" value="{capacity}"/>' if capacity else ""
    hosts = "".join(
        f'<host id="{name}" speed="{SPEEDS}">{offered}{POWER}'
        f'<prop id="coordinates" value="{i % 2},{i // 2 % 2},{i // 4}"/></host>'
        for i, name in enumerate("abcdefgh")
    )
    site = Site(folder / "platform.xml", folder / "workload.json")
    site.platform.write_text(platform_of(f'<host id="master_host" speed="1Gf"/>{hosts}'))
    site.workload.write_text(json.dumps({"nb_res": 8, "jobs": jobs, "profiles": profiles}))
    return site


def _workload(*, shared: bool) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """A queue that builds up and runs dry: sizes, limits too short and too long, failures, users, a job too large."""
    jobs: list[dict[str, Any]] = []
    profiles: dict[str, Any] = {"twice": {"type": "composed", "repeat": 2, "seq": ["d3", "d5"]}}
    lengths = [31.7, 7.3, 12.9, 3.1, 55.3, 18.7, 9.1, 23.3, 5.9, 41.1]
    for i, length in enumerate(lengths):
        profiles[f"d{i}"] = {"type": "delay", "delay": length} | ({"ret": 2} if i == 6 else {})
    for number in range(30):
        profile = number % len(lengths)
        limit = [1.5, 1.0, 4.0, 0.5, 2.25][number % 5]
        job: dict[str, Any] = {
            "id": f"j{number:02}",
            # Three jobs at a time; a pause in the middle, so that the queue runs dry.
            "subtime": number // 3 * 4.3 + (120.0 if number >= 21 else 0.0),
            "res": [1, 3, 2, 8, 5, 1, 4, 6, 2, 3, 7][number % 11],
            "walltime": round(lengths[profile] * limit, 3),
            "profile": f"d{profile}",
            "user": ["ada", "bob", "eve"][number % 3],
        }
        if shared:
            job["demand"] = [{"core": 1}, {"core": 2, "memory": 8}, {"gpu": 1}, {"core": 3, "gpu": 1}][number % 4]
        jobs.append(job)
    jobs.append({"id": "seq", "subtime": 11.1, "res": 2, "walltime": 100, "profile": "twice", "user": "eve"})
    jobs.append({"id": "large", "subtime": 13.7, "res": 900, "walltime": 9, "profile": "d1", "user": "bob"})
    return jobs, profiles


class Schedule(NamedTuple):
    """What became of each job: (start, end, state, hosts), times in seconds; units of jobs that share hosts."""

    rows: dict[str, tuple[float, float, str, str]]
    units: list[str]


def read_schedule(folder: Path) -> Schedule:
    """Return the schedule in a run's folder."""
    with (folder / "jobs.csv").open(newline="") as lines:
        found = list(csv.DictReader(lines))
    rows = {
        f"{row['workload_name']}!{row['job_id']}": (
            float(row["starting_time"] or "nan"),
            float(row["finish_time"] or "nan"),
            row["final_state"],
            row["allocated_resources"],
        )
        for row in found
        if row["final_state"] != "REJECTED"
    }
    rejected = [(f"{row['workload_name']}!{row['job_id']}") for row in found if row["final_state"] == "REJECTED"]
    rows |= dict.fromkeys(rejected, (-1.0, -1.0, "REJECTED", ""))
    units = folder / "units.csv"
    return Schedule(rows, sorted(units.read_text().splitlines()) if units.exists() else [])


def session_of(name: str) -> Session:
    """Return a fresh session of a dispatcher."""
    return Session(create(name, SPECIAL.get(name, Special()).options, 0))


def peer_of(name: str, session: Session, site: Site, version: str) -> Peer:
    """Return what answers in a decision process of its own: the session, told of the platform file if it needs that."""
    if not SPECIAL.get(name, Special()).informed:
        return session
    return informed_by(site.platform, session, version=version)


def spec_of(name: str, site: Site, engine: Any = "embedded", clock: Any = "together") -> RunSpec:
    """Return the run of a dispatcher on a site."""
    return RunSpec(
        platform=str(site.platform),
        workload=str(site.workload),
        dispatcher=name,
        options=SPECIAL.get(name, Special()).options,
        engine=engine,
        clock=clock,
        timeout=120.0,
    )


def in_process(name: str, site: Site, folder: Path, clock: Any = "together") -> Schedule:
    """No socket, no JSON; leaves the recording that is replayed."""
    folder.mkdir()
    execute(spec_of(name, site, clock=clock), folder)
    return read_schedule(folder)


def simulate(peer: Peer, name: str, site: Site, folder: Path, version: str) -> Schedule:
    """Let our engine ask a peer, in the place of a Batsim."""
    machine = read_platform(site.platform, batsim=5 if version == "5" else 4).machine
    outputs = Outputs(folder, machine.size)
    dispatcher = session_of(name).dispatcher
    energy = counted_energy("auto", needed=dispatcher.needs_energy)
    options = EngineOptions(dynamic_jobs=dispatcher.registers_jobs, energy=energy)
    EmbeddedEngine(machine, read_workload(site.workload), outputs, options=options).run(peer)
    return read_schedule(folder)


def _over_a_socket(version: str) -> Callable[[str, Site, Path], Schedule]:
    def ask(name: str, site: Site, folder: Path) -> Schedule:
        folder.mkdir()
        ready, endpoint, problems = threading.Event(), [""], list[BaseException]()

        def listening(real: str) -> None:
            endpoint[0] = real
            ready.set()

        def decide() -> None:
            try:
                session, wire = session_of(name), protocol(version)
                with Recorder(folder / "decisions.jsonl", wire) as recorder:
                    serve(
                        peer_of(name, session, site, version),
                        "tcp://127.0.0.1:*",
                        wire,
                        features=features_for(registers_jobs=session.dispatcher.registers_jobs),
                        timeout=60,
                        recorder=recorder,
                        on_ready=listening,
                    )
            except BaseException as problem:
                problems.append(problem)
                ready.set()

        thread = threading.Thread(target=decide)
        thread.start()
        try:
            assert ready.wait(30)
            with RemotePeer(endpoint[0], protocol(version), timeout=60) as peer:
                peer.open("")
                found = simulate(peer, name, site, folder, version)
        finally:
            thread.join(70)
            if problems:
                raise problems[0]
        return found

    return ask


def in_pybatsim(name: str, site: Site, folder: Path) -> Schedule:
    """Inside pybatsim, by what its launcher calls; tests/links/test_pybatsim_bridge.py starts the launcher itself."""
    launcher = pytest.importorskip("batsim.tools.launcher", reason="pybatsim is not installed")
    folder.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as server:
        endpoint = f"tcp://127.0.0.1:{server.getsockname()[1]}"
    special = SPECIAL.get(name, Special())
    options: dict[str, Any] = {"dispatcher": name, "options": special.options}
    if special.informed:
        options["platform"] = str(site.platform)
    limit = sys.getrecursionlimit()
    with ThreadPoolExecutor(1) as thread:
        scheduler = launcher.instanciate_scheduler(str(batdispatcher_path()), options=options)
        status = thread.submit(launcher.launch_scheduler, scheduler, endpoint, None, options, 60_000, protect=False)
        with RemotePeer(endpoint, protocol("4"), timeout=60) as peer:
            found = simulate(peer, name, site, folder, "4")
        assert status.result(30) == 0
    # pybatsim's launcher has raised it, for what comes after as well.
    sys.setrecursionlimit(limit)
    return found


def _in_batsim(major: int) -> Callable[[str, Site, Path], Schedule]:
    def ask(name: str, site: Site, folder: Path) -> Schedule:
        try:
            find_batsim(major)
        except InputError as problem:
            pytest.skip(str(problem))
        folder.mkdir()
        execute(spec_of(name, site, f"batsim{major}"), folder)
        return read_schedule(folder)

    return ask


def replayed(name: str, recording: Path, site: Site | None = None) -> Any:
    """Ask a fresh dispatcher again what was recorded; return the first difference, or None."""
    version = told_by(recording)
    peer = session_of(name) if site is None else peer_of(name, session_of(name), site, version)
    return replay(recording, peer, protocol(version), times=True).difference


#: Door -> how to go through it; those behind which a Batsim stands are no exact clocks.
DOORS: dict[str, Callable[[str, Site, Path], Schedule]] = {
    "zeromq4": _over_a_socket("4"),
    "zeromq5": _over_a_socket("5"),
    "pybatsim": in_pybatsim,
    "batsim4": _in_batsim(4),
    "batsim5": _in_batsim(5),
}
