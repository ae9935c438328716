"""Stands in for the program ``batsim`` where none can be installed: Batsim's command line, our engine, a real socket.

Installed by `install` as an executable script. It takes only the options that the Batsim it plays has, reads only its
workloads, and writes its output files under its names. What aborts the real one aborts it: storage that is mapped to no
host, and for Batsim 5 a cluster that stands in no zone and zones in a zone with Floyd's routing. Activities take a
second each. The clock of Batsim 5 has nanoseconds, and its external events carry the time of the event before them,
as in the recordings of 5.0.0-rc2.

`FAKE_BATSIM` makes it misbehave: early (ends before it connects), crash, kill, hang, silent (no outputs), late (a bad
status after a good end), mute (no version), elsewhere (the last host is a storage host), deaf (does not notice that its
peer is gone, as the real one does not). Where `FAKE_BATSIM_PID` names a file, its process id is there.
"""

import argparse
import csv
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

VERSIONS = {4: "4.2.1", 5: "5.0.0-rc2"}


def install(folder: Path, major: int, name: str = "batsim") -> Path:
    """Write the program into a folder and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    here = str(Path(__file__).parent)
    path.write_text(
        f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {here!r})\nfrom fake_batsim import main\nmain({major})\n"
    )
    path.chmod(0o755)
    return path


def arguments(major: int) -> argparse.Namespace:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--version", action="store_true")
    parser.add_argument("-p", "--platform")
    parser.add_argument("-w", "--workload")
    parser.add_argument("-m", "--master-host", default="master_host")
    parser.add_argument("-e", "--export", default="out")
    parser.add_argument("-q", "--quiet", action="store_true")
    if major == 4:
        parser.add_argument("--events")
        parser.add_argument("--disable-schedule-tracing", action="store_true")
        parser.add_argument("-s", "--socket-endpoint")
        parser.add_argument("-r", "--add-role-to-hosts", action="append", default=[])
        for flag in ("enable-dynamic-jobs", "acknowledge-dynamic-jobs", "enable-profile-reuse"):
            parser.add_argument(f"--{flag}", action="store_true")
        parser.add_argument("--enable-compute-sharing", action="store_true")
        parser.add_argument("--forward-unknown-events", action="store_true")
        parser.add_argument("-E", "--energy", action="store_true")
    else:
        parser.add_argument("--ee", "--external-events", dest="events")
        parser.add_argument("-s", "--edc-socket-str", nargs=2)
        parser.add_argument("-r", "--add-role", nargs=2, action="append", default=[])
        parser.add_argument("--trace-machine-state", action="store_true")
        parser.add_argument("-E", "--energy-host", action="store_true")
        parser.add_argument("--trace-pstate-changes", action="store_true")
    # Batsim takes an option once, unless it says otherwise.
    flags = [word for word in sys.argv[1:] if word.startswith("-") and word != "-r"]
    assert len(flags) == len(set(flags)), flags
    return parser.parse_args()


def abort(reason: str) -> None:
    """End as SimGrid ends a program: the reason first, then a backtrace."""
    print(f"[master_host:server:(1) 0.000002] src/server.cpp:812: [root/CRITICAL] {reason}", file=sys.stderr)
    for depth in range(40):
        print(f"  ->  {depth:2}# simgrid::kernel::context::frame at ??:?", file=sys.stderr)
    sys.stderr.flush()
    os.abort()


class Activities:
    """A platform on which each activity takes a second, whatever else runs."""

    version = "fake"
    sends = True

    def __init__(self) -> None:
        self.clock = 0.0
        self.ends: dict[int, tuple[float, Any]] = {}
        self.count = 0

    @property
    def running(self) -> int:
        return len(self.ends)

    def run(self, loop: Any) -> None:
        loop()

    def start(self, activity: Any, subject: Any, now: float) -> int:
        self.clock = max(self.clock, now)
        self.count += 1
        self.ends[self.count] = (self.clock + 1.0, subject)
        return self.count

    def cancel(self, handle: int) -> float:
        end = self.ends.pop(handle, None)
        return 1.0 if end is None else self.clock + 1.0 - end[0]

    def advance(self, until: float) -> list[Any]:
        self.clock = min([until, *(end for end, _ in self.ends.values())])
        ended = [handle for handle, (end, _) in self.ends.items() if end <= self.clock]
        return [self.ends.pop(handle)[1] for handle in ended]


class NoisyClock:
    """Passes messages on with what Batsim 5 prints beyond microseconds, and takes the replies back to exact times."""

    #: What the recordings show beside the moment that was meant, in seconds.
    NOISE = (3e-10, 1.1e-9, -8e-10, 1e-9, -4e-8, 1.1e-8)

    def __init__(self, peer: Any) -> None:
        self.peer = peer
        self.now = 0.0
        #: Time of the last event.
        self.stamp = 0.0
        self.count = 0

    def handle(self, message: Any) -> Any:
        from msgspec.structs import replace

        noise = self.NOISE[self.count % len(self.NOISE)]
        self.count += 1
        self.now = max(message.now + noise, self.now)
        events = [self.stamped(event, noise) for event in message.events]
        reply = self.peer.handle(replace(message, now=self.now, events=events))
        decisions = [replace(one, time=self.exact(one.time, message.now)) for one in reply.decisions]
        return replace(reply, now=self.exact(reply.now, message.now), decisions=decisions)

    def stamped(self, event: Any, noise: float) -> Any:
        from msgspec.structs import replace

        if type(event).__name__ not in ("MachinesUnavailable", "MachinesAvailable", "Notified"):
            self.stamp = max(min(event.time + noise, self.now), self.stamp)
        job = getattr(event, "job", None)
        if job is not None and job.submission == event.time:
            return replace(event, time=self.stamp, job=replace(job, submission=self.stamp))
        return replace(event, time=self.stamp)

    def exact(self, time: float, now: float) -> float:
        if time < self.now:
            abort(f"You attempt to go back in time: {time!r} at {self.now!r}")
        return now if time <= max(now, self.now) else time


class Misbehaving:
    """Passes messages on until it is time to misbehave; aborts where the real Batsim of a version would."""

    def __init__(self, peer: Any, how: str, major: int, jobs: Any, machine: Any) -> None:
        self.peer = peer
        self.how = how
        self.left = 3
        self.major = major
        self.profiles = jobs.profiles
        self.profile_of = {f"w0!{job.id}": job.profile for job in jobs.jobs}
        self.machine = machine

    def check_storage(self, decision: Any) -> None:
        """Look for the hosts of labels as generate_parallel_homogeneous_with_pfs and its like do in each version."""
        profile = self.profiles.get(self.profile_of.get(decision.job_id, ""), {})
        mapping = dict(decision.storage or {})
        fields = {"parallel_homogeneous_pfs": ("storage",), "data_staging": ("from", "to")}
        for field in fields.get(profile.get("type", ""), ()):
            label = profile.get(field, "pfs")
            if self.major == 4 and not mapping and field == "storage":
                if len(self.machine.storage) != 1:
                    abort("No storage/host mapping given and there is no (or more than one) storage node available")
            elif label not in mapping and (self.major == 4 or label not in {disk.name for disk in self.machine.hosts}):
                abort(f"Unknown storage label='{label}'")

    def handle(self, message: Any) -> Any:
        self.left -= 1
        if self.left == 0 and self.how == "crash":
            abort("Assertion happy failed: the machine is upset")
        if self.left == 0 and self.how == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.left == 0 and self.how == "hang":
            time.sleep(60)
        reply = self.peer.handle(message)
        for decision in reply.decisions:
            if type(decision).__name__ == "Execute":
                self.check_storage(decision)
        return reply


def external_events(major: int, path: str | None, hosts: int, folder: Path) -> list[Any]:
    from batdispatch.engines.external import read_external_events

    if path is None:
        return []
    if major == 5:
        lines = [json.loads(line) for line in Path(path).read_text().splitlines()]
        assert all(line["type"] == "generic" and isinstance(line["data"], str) for line in lines), lines
        inner = [{**json.loads(line["data"]), "timestamp": line["timestamp"]} for line in lines]
        plain = folder / "events-of-the-fake.txt"
        plain.write_text("".join(json.dumps(line) + "\n" for line in inner))
        path = str(plain)
    return read_external_events(Path(path), hosts)


def replay_traces(major: int, workload: Path, jobs: Any) -> None:
    """Look for the traces as each version does, and let them take a second: our engine replays none."""
    for name, profile in json.loads(workload.read_text())["profiles"].items():
        if profile["type"] not in ("smpi", "usage_trace", "TraceReplayProfile"):
            continue
        if major == 5 and profile.get("trace_type") not in ("SMPI", "FractionalComputation"):
            abort(f"Invalid JSON: profile '{name}' has an unknown trace type")
        if not (workload.parent / profile["filename" if major == 5 else "trace"]).is_file():
            abort(f"Invalid JSON: profile '{name}' has an invalid trace file")
        jobs.profiles[name] = {"type": "delay", "delay": 1.0}
    for name, profile in jobs.profiles.items():
        # Batsim 5 spreads amounts over executors of any number.
        if profile["type"].endswith("Profile"):
            jobs.profiles[name] = {"type": "parallel_homogeneous", "cpu": 1.0, "com": 0.0}


def write_outputs(major: int, prefix: str, made: Path) -> None:
    """Give the engine's files Batsim's names and, for Batsim 5, its form."""
    if major == 5:
        with (made / "schedule.csv").open() as lines:
            (row,) = csv.DictReader(lines)
        numbers = {key: value if key == "batsim_version" else float(value) for key, value in row.items()}
        (made / "schedule.csv").unlink()
        (made / "schedule.json").write_text(
            json.dumps(numbers | {"nb_computing_machines": int(row["nb_computing_machines"])})
        )
        with (made / "jobs.csv").open(newline="") as lines:
            rows = list(csv.reader(lines))
        for each in rows[1:]:
            each[2] = f"{each[1]}!{each[2]}"
        with (made / "jobs.csv").open("w", newline="") as file:
            csv.writer(file).writerows(rows)
    for file in made.iterdir():
        if file.name != "units.csv":
            file.replace(f"{prefix}_{file.name}" if major == 4 else f"{prefix}{file.name}")


def main(major: int) -> None:
    """Simulate as the command line says."""
    given = arguments(major)
    how = os.environ.get("FAKE_BATSIM", "")
    if given.version:
        print("" if how == "mute" else VERSIONS[major])
        return
    import tempfile
    from xml.etree import ElementTree

    from msgspec.structs import replace

    from batdispatch.batsim import protocol
    from batdispatch.engines.embedded import EmbeddedEngine
    from batdispatch.engines.outputs import Outputs
    from batdispatch.engines.records import EngineOptions
    from batdispatch.inputs.platforms import read_platform
    from batdispatch.inputs.workloads import read_workload
    from batdispatch.links.remote_peer import RemotePeer

    for file in (given.platform, given.workload):
        assert Path(file).suffix in (".xml", ".json"), f"Batsim reads nothing packed: {file}"
    if "FAKE_BATSIM_PID" in os.environ:
        Path(os.environ["FAKE_BATSIM_PID"]).write_text(str(os.getpid()))
    if how == "early":
        abort("Assertion happy failed: the machine is upset")
    if how == "deaf":
        time.sleep(60)
    if major == 5 and ElementTree.parse(given.platform).getroot().find("cluster[@topology]") is not None:
        print("Segmentation fault in torus_create_links", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGSEGV)
    if major == 5 and ElementTree.parse(given.platform).getroot().find(".//zone[@routing='Floyd']/zone") is not None:
        print("Segmentation fault in get_interzone_route", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGSEGV)
    site = read_platform(Path(given.platform), master=given.master_host, batsim=5 if major == 5 else 4)
    if how == "elsewhere":
        roles = {site.machine.hosts[-1].name: "storage"}
        site = read_platform(Path(given.platform), master=given.master_host, roles=roles, batsim=5 if major == 5 else 4)
    jobs = read_workload(Path(given.workload))
    if major == 5 and jobs.part(0, len(jobs.jobs)).profiles.keys() != jobs.profiles.keys():
        # It sets them to null once it has read the workload, and reads them when it forwards them.
        print("Segmentation fault in to_job_profile", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGSEGV)
    assert jobs.batsim == major, f"a workload of Batsim {jobs.batsim}"
    replay_traces(major, Path(given.workload), jobs)
    endpoint, init = (given.socket_endpoint, "") if major == 4 else given.edc_socket_str
    with RemotePeer(endpoint, protocol(str(major)), timeout=60) as peer, tempfile.TemporaryDirectory() as scratch:
        asked = peer.open(init)
        if asked is None:
            options = EngineOptions(
                dynamic_jobs=given.enable_dynamic_jobs,
                acknowledge_dynamic_jobs=given.acknowledge_dynamic_jobs,
                compute_sharing=given.enable_compute_sharing,
            )
        else:
            options = EngineOptions(
                dynamic_jobs=asked.dynamic_registration,
                acknowledge_dynamic_jobs=asked.acknowledge_dynamic_jobs,
                compute_sharing=True,
            )
        # What hosts burn is simulated where they state it; jobs only wait there.
        states_watts = all("wattage_per_state" in host.properties for host in site.machine.hosts)
        burns = states_watts and (given.energy if major == 4 else given.energy_host)
        options = replace(options, energy="batsim" if burns else None, turns_hosts=major == 5 and burns)
        made = Path(scratch) / "made"
        outputs = Outputs(made, site.machine.size)
        events = external_events(major, given.events, len(site.machine.hosts), Path(scratch))
        EmbeddedEngine(
            site.machine, jobs, outputs, options=options, external_events=events, timer=None if burns else Activities()
        ).run(Misbehaving(NoisyClock(peer) if major == 5 else peer, how, major, jobs, site.machine))
        if how != "silent":
            if major == 5 and not given.trace_pstate_changes:
                (made / "pstate_changes.csv").unlink(missing_ok=True)
            write_outputs(major, given.export, made)
    sys.exit(4 if how == "late" else 0)
