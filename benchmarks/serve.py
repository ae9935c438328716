"""Messages answered per CPU-second by `serve`, against pybatsim's loop with an equivalent scheduler.

Usage: ``python benchmarks/serve.py [--jobs N] [--hosts N] [--loads X ...] [--rounds N]``. Both run behind a tcp socket
on the loopback; what is measured is the CPU time of the decision process alone, its start-up taken off. pybatsim runs
its own loop with logging off.

- limit: a bare echo behind a REP socket and `serve`, one after the other in several rounds, and what a message takes
  to be read, decided about and answered in process, without a socket. What is left of `serve` is set beside the echo.
- plain: a scripted Batsim sends jobs that end before the next ones come, so nobody has a queue to search; pybatsim runs
  a first-come scheduler of a dozen lines that makes the same decisions. Mostly ZeroMQ's own cost on either side.
- loaded: the embedded engine simulates a machine (of 128 hosts unless said otherwise) with a queue; pybatsim runs its
  easyBackfill and fillerSched, ours are easy and filler. The schedules differ in details, so only messages a second
  compare.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import zmq

from batdispatch.batsim import v4
from batdispatch.core.line.dispatcher import create
from batdispatch.core.line.session import Session
from batdispatch.core.machine.machine import Machine
from batdispatch.engines.embedded import EmbeddedEngine
from batdispatch.engines.outputs import Outputs
from batdispatch.inputs.workloads import read_workload
from batdispatch.links.remote_peer import RemotePeer

PYBATSIM = '''
from batsim.batsim import BatsimScheduler
from procset import ProcSet


class PlainSched(BatsimScheduler):
    """First come, first served, lowest hosts."""

    def onSimulationBegins(self):
        self.free = ProcSet((0, self.bs.nb_compute_resources - 1))
        self.queue = []

    def onJobSubmission(self, job):
        self.queue.append(job)

    def onJobCompletion(self, job):
        self.free |= job.allocation

    def onNoMoreEvents(self):
        while self.queue and len(self.free) >= self.queue[0].requested_resources:
            job = self.queue.pop(0)
            job.allocation = ProcSet(*self.free[: job.requested_resources])
            self.free -= job.allocation
            self.bs.execute_jobs([job])
'''


def frames(jobs: int, hosts: int = 64) -> list[bytes]:
    """Return Batsim's side of a simulation: a submission a message, and the end of the job before it."""
    resources = [
        {"id": i, "name": f"n{i}", "state": "idle", "properties": {"role": ""}, "zone_properties": {}}
        for i in range(hosts)
    ]
    config = {
        "redis-enabled": False,
        "profiles-forwarded-on-submission": False,
        "dynamic-jobs-enabled": False,
        "dynamic-jobs-acknowledged": False,
        "profile-reuse-enabled": False,
        "sched-config": "",
        "forward-unknown-events": False,
    }
    begins = {
        "nb_resources": hosts,
        "nb_compute_resources": hosts,
        "nb_storage_resources": 0,
        "allow_compute_sharing": False,
        "allow_storage_sharing": True,
        "config": config,
        "compute_resources": resources,
        "storage_resources": [],
        "workloads": {"w0": "w.json"},
        "profiles": {"w0": {"p": {"type": "delay", "delay": 1}}},
    }

    def frame(now: float, *events: tuple[str, dict[str, object]]) -> bytes:
        listed = [{"timestamp": now, "type": kind, "data": data} for kind, data in events]
        return json.dumps({"now": now, "events": listed}, separators=(",", ":")).encode()

    said = [frame(0.0, ("SIMULATION_BEGINS", begins))]
    done: list[tuple[str, dict[str, object]]] = []
    for number in range(jobs):
        name = f"w0!{number}"
        fields = {"id": name, "subtime": number, "res": 4, "profile": "p", "walltime": 100}
        said.append(frame(1.0 + number, *done, ("JOB_SUBMITTED", {"job_id": name, "job": fields})))
        state = {"job_id": name, "job_state": "COMPLETED_SUCCESSFULLY", "return_code": 0, "alloc": ""}
        # The lowest hosts are free or were freed in the same message: jobs alternate between two places.
        done = [("JOB_COMPLETED", state)]
    said.append(frame(jobs + 1.0, *done))
    said.append(frame(jobs + 1.0, ("SIMULATION_ENDS", {})))
    return said


def cpu_of(command: list[str], endpoint: str, said: list[bytes]) -> tuple[float, list[str]]:
    """Return the CPU seconds that a decision process spends on the frames, and where it started each job."""
    placed: list[str] = []
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    context = zmq.Context()
    asking = context.socket(zmq.REQ)
    asking.setsockopt(zmq.RCVTIMEO, 60_000)
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        asking.connect(endpoint)
        for frame in said:
            # What ended held what it was given.
            asking.send(frame.replace(b'"alloc":""', f'"alloc":"{placed[-1] if placed else ""}"'.encode()))
            placed += [event["data"]["alloc"] for event in json.loads(asking.recv())["events"]]
        process.wait(60)
    asking.close()
    context.term()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, placed


def own_work(said: list[bytes], placed: list[str]) -> float:
    """Return the CPU seconds that it takes to read the frames, decide and write the replies, without a socket."""
    session = Session(create("fcfs"))
    filled = [
        frame.replace(b'"alloc":""', f'"alloc":"{at}"'.encode())
        for frame, at in zip(said, ["", "", *placed, *[""] * 2], strict=False)
    ]
    began = time.process_time()
    for frame in filled:
        v4.encode_reply(session.handle(v4.decode_message(frame)))
    return time.process_time() - began


def limit(jobs: int, rounds: int) -> None:
    """Print what a bare echo, `serve` and its own work cost, each the least of several rounds."""
    said, bare = frames(jobs), frames(0)
    least = {"echo": math.inf, "serve": math.inf, "own work": math.inf}
    for _ in range(rounds):
        cost, placed = {}, {}
        for kind in ("echo", "serve"):
            seconds = []
            for listed in (bare, said):
                endpoint = free_endpoint()
                line = [sys.executable, "-c", ECHO, endpoint] if kind == "echo" else serve_command("fcfs", endpoint)
                spent, placed[kind] = cpu_of(line, endpoint, listed)
                seconds.append(spent)
            cost[kind] = seconds[1] - seconds[0]
        cost["own work"] = own_work(said, placed["serve"]) - own_work(bare, [])
        least = {kind: min(known, 1e6 * cost[kind] / jobs) for kind, known in least.items()}
    print("CPU-us a message: " + ", ".join(f"{kind} {cost:.1f}" for kind, cost in least.items()))
    print(f"what is left of serve: {(least['serve'] - least['own work']) / least['echo']:.2f} times the echo")


def free_endpoint() -> str:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"tcp://127.0.0.1:{server.getsockname()[1]}"


#: A socket that answers at once, without reading what it is sent: what ZeroMQ alone costs on either side.
ECHO = """
import sys, zmq
socket = zmq.Context().socket(zmq.REP)
socket.bind(sys.argv[1])
while b"SIMULATION_ENDS" not in socket.recv():
    socket.send(b'{"now":0.0,"events":[]}')
socket.send(b'{"now":0.0,"events":[]}')
"""
OURS = "from batdispatch.cli.entry import main; main()"
THEIRS = "import sys; from batsim.cmds.launcher import main; sys.exit(main())"


def serve_command(dispatcher: str, endpoint: str) -> list[str]:
    return [sys.executable, "-c", OURS, "serve", "--dispatcher", dispatcher, "--socket", endpoint]


def pybatsim_command(scheduler: str, endpoint: str) -> list[str]:
    return [sys.executable, "-c", THEIRS, scheduler, "-s", endpoint, "-v", "critical", "-t", "60000"]


def write_workload(path: Path, jobs: int, load: float, hosts: int) -> None:
    """Write random jobs of up to a quarter of the hosts that ask for `load` times the machine on average."""
    rng = np.random.default_rng(1)
    units = 2 ** rng.integers(0, max(hosts.bit_length() - 2, 1), jobs)
    runtimes = rng.lognormal(6, 1, jobs).round()
    gaps = rng.exponential(units.mean() * runtimes.mean() / hosts / load, jobs)
    listed = [
        {"id": i, "subtime": float(at), "res": int(n), "profile": str(int(run)), "walltime": float(2 * run + 60)}
        for i, (at, n, run) in enumerate(zip(gaps.cumsum().round(3), units, runtimes + 1, strict=True))
    ]
    profiles = {job["profile"]: {"type": "delay", "delay": int(job["profile"])} for job in listed}
    path.write_text(json.dumps({"nb_res": hosts, "jobs": listed, "profiles": profiles}))


def loaded(command: list[str], endpoint: str, workload: Path, hosts: int, folder: Path) -> tuple[float, int]:
    """Return the CPU seconds that a decision process spends on a simulation, and the number of messages."""
    folder.mkdir()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    machine = Machine.flat(hosts)
    engine = EmbeddedEngine(machine, read_workload(workload), Outputs(folder, machine.size))
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        with RemotePeer(endpoint, v4, timeout=60) as peer:
            engine.run(peer)
        process.wait(60)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, engine.messages


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=20_000)
    parser.add_argument("--loads", type=float, nargs="*", default=[0.7, 0.9, 1.0, 1.1])
    parser.add_argument("--hosts", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=5, help="rounds of the comparison with an echo")
    given = parser.parse_args()
    jobs = given.jobs
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        scheduler = folder / "plainSched.py"
        scheduler.write_text(PYBATSIM)
        commands = {
            "serve": lambda endpoint: serve_command("fcfs", endpoint),
            "pybatsim": lambda endpoint: pybatsim_command(str(scheduler), endpoint),
        }
        rates, starts, startup = {}, {}, {}
        limit(jobs, given.rounds)
        for kind, command in commands.items():
            endpoint = free_endpoint()
            startup[kind], _ = cpu_of(command(endpoint), endpoint, frames(0))
            endpoint = free_endpoint()
            seconds, starts[kind] = cpu_of(command(endpoint), endpoint, frames(jobs))
            rates[kind] = jobs / (seconds - startup[kind])
        assert starts["serve"] == starts["pybatsim"], "the two decided differently"
        show("plain", rates)
        for load in given.loads:
            workload = folder / f"load{load}.json"
            write_workload(workload, jobs, load, given.hosts)
            for dispatcher, theirs in (("easy", "easyBackfill"), ("filler", "fillerSched")):
                rates = {}
                for kind in commands:
                    endpoint = free_endpoint()
                    ours = kind == "serve"
                    line = serve_command(dispatcher, endpoint) if ours else pybatsim_command(theirs, endpoint)
                    out = folder / f"{dispatcher}.{kind}.{load}"
                    seconds, messages = loaded(line, endpoint, workload, given.hosts, out)
                    rates[kind] = messages / (seconds - startup[kind])
                show(f"{dispatcher}, load {load}", rates)


def show(what: str, rates: dict[str, float]) -> None:
    ours, theirs = rates["serve"], rates["pybatsim"]
    print(f"{what:18} serve {ours:8.0f}, pybatsim {theirs:8.0f} messages a CPU-second, ratio {ours / theirs:.2f}")


if __name__ == "__main__":
    main()
