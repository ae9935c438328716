"""A run's folder in the hands of a forger, who can change every file and make the others follow."""

import csv
import hashlib
import json
import math
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from batdispatch.abilities.topology.results.table import FILE as NETWORK
from batdispatch.abilities.topology.results.table import write_table
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import JobState
from batdispatch.core.machine.machine import Machine
from batdispatch.engines.machine_times import MachineTimes
from batdispatch.engines.outputs import Outputs
from batdispatch.inputs.platforms import read_platform
from batdispatch.inputs.workloads import read_workload
from batdispatch.results.decisions import read_decision_times, write_decision_times
from batdispatch.results.jobs_file import read_columns
from batdispatch.results.runs import figures_of
from batdispatch.runs.run import decision_statistics

#: With what a job is over.
_OVER = ("JOB_COMPLETED", "REJECT_JOB")


class Forged:
    """The files of a run, to be changed and written.

    Attributes:
        folder: of the run.
        rows: the rows of jobs.csv, column -> text.
        frames: the exchange: (direction, frame).
        result: result.json.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with (folder / "jobs.csv").open(newline="") as file:
            self.rows = list(csv.DictReader(file))
        self.columns = list(self.rows[0])
        lines = [json.loads(line) for line in (folder / "decisions.jsonl").read_text().splitlines()]
        self.frames: list[list[Any]] = [[line["dir"], json.loads(line["raw"])] for line in lines]
        self.result: dict[str, Any] = json.loads((folder / "result.json").read_text())
        self._recorded = True

    def write(self) -> None:
        """Write jobs.csv, the exchange and result.json as they are now."""
        # As the engine does, with quotes around metadata.
        rows = [",".join([*list(row.values())[:-1], f'"{row["metadata"]}"']) for row in self.rows]
        (self.folder / "jobs.csv").write_text("\n".join([",".join(self.columns), *rows, ""]))
        if self._recorded:
            lines = [json.dumps({"dir": way, "raw": json.dumps(frame)}) for way, frame in self.frames]
            (self.folder / "decisions.jsonl").write_text("\n".join(lines) + "\n")
        if "files" in self.result:
            # The digests of the files beside it, as a forger would write them.
            listed = (path for path in sorted(self.folder.iterdir()) if path.name != "result.json" and path.is_file())
            self.result["files"] = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in listed}
        (self.folder / "result.json").write_text(json.dumps(self.result))

    # ------------------------------------------------------------------ what there is

    def row(self, job: str) -> dict[str, str]:
        """Return the row of a job."""
        return next(row for row in self.rows if row["job_id"] == job)

    def events(self, kind: str, job: str = "") -> Iterator[dict[str, Any]]:
        """Yield the events and decisions of a type in the exchange, of a job if one is named."""
        for _, frame in self.frames:
            for event in frame["events"]:
                data = event["data"]
                mine = data.get("job_id", "").partition("!")[2] == job or f"w0!{job}" in data.get("job_ids", ())
                if event["type"] == kind and (not job or mine):
                    yield event

    def event(self, kind: str, job: str = "") -> dict[str, Any]:
        """Return the first of these."""
        return next(self.events(kind, job))

    def drop(self, kind: str, job: str = "") -> None:
        """Remove them from the exchange."""
        gone = [id(event) for event in self.events(kind, job)]
        for _, frame in self.frames:
            frame["events"] = [event for event in frame["events"] if id(event) not in gone]

    def drop_recording(self) -> None:
        """Remove the exchange."""
        (self.folder / "decisions.jsonl").unlink()
        self._recorded = False

    def text(self, name: str, old: str, new: str) -> None:
        """Replace a text in another file, once."""
        path = self.folder / name
        found = path.read_text()
        assert old in found, f"{old!r} is not in {name}: {found}"
        path.write_text(found.replace(old, new, 1))

    # ------------------------------------------------------------------ forgeries

    def shift(self, job: str, seconds: float, *, exchange: bool = True) -> None:
        """Let a job run later, here and in the exchange."""
        row = self.row(job)
        for column in ("starting_time", "finish_time"):
            row[column] = f"{float(row[column]) + seconds:.6f}"
        if not exchange:
            return
        for way, kind in (("sched->batsim", "EXECUTE_JOB"), ("batsim->sched", "JOB_COMPLETED")):
            event = self.event(kind, job)
            self.drop(kind, job)
            event["timestamp"] += seconds
            self.say(way, event)

    def say(self, way: str, event: dict[str, Any]) -> None:
        """Put an event, or a decision, into the exchange at its time: into a message of that time, or a new one."""
        at = event["timestamp"]
        place = next(
            index for index, (_, frame) in enumerate(self.frames) if index % 2 == 0 and frame["now"] >= at - 1e-9
        )
        if self.frames[place][1]["now"] > at + 1e-9:
            exchanged = [["batsim->sched", {"now": at, "events": []}], ["sched->batsim", {"now": at, "events": []}]]
            self.frames[place:place] = exchanged
            for part in ("messages",):
                self.result["performance"][part] += 1
            self.result["decisions"]["count"] += 1
        self.frames[place + (way == "sched->batsim")][1]["events"].append(event)

    def end_later(self, now: float) -> None:
        """Move the end of the simulation."""
        for _, frame in self.frames[-2:]:
            frame["now"] = now
            for event in frame["events"]:
                event["timestamp"] = now

    @staticmethod
    def _times(changes: list[tuple[float, int, Sequence[int]]], machine: Machine) -> tuple[float, float, float]:
        """Sum up how long hosts computed and idled, from starts (1) and ends (-1) of jobs."""
        times, jobs = MachineTimes(machine.compute), [0] * len(machine.hosts)
        for time, change, hosts in sorted(changes, key=lambda entry: entry[:2]):
            for host in hosts:
                jobs[host] += change
            computing = sum(count > 0 for count in jobs)
            bounds = [bound for host in hosts for bound in (host, host + 1)]
            times.change(time, bounds, computing=computing, away=0)
        return times.totals(0)

    def _time_decisions(self) -> None:
        """Let each message but the last have its row in decision_times.csv, and result.json the statistics."""
        path = self.folder / "decision_times.csv"
        if not path.is_file():
            return
        seconds = read_decision_times(self.folder).seconds.tolist()
        times = [frame["now"] for way, frame in self.frames if way == "batsim->sched"][:-1]
        seconds += [seconds[0]] * (len(times) - len(seconds))
        write_decision_times(times, seconds[: len(times)], path)
        self.result["decisions"] = decision_statistics(seconds[: len(times)])

    @staticmethod
    def _name(event: dict[str, Any]) -> str:
        return str(event["data"]["job_id"].partition("!")[2])

    def follow(self) -> None:
        """Make all that can be worked out from times and states follow: columns, sums, machine states and metrics."""
        platform = read_platform(self.result["platform"]["path"])
        for row in self.rows:
            if row["final_state"] == "REJECTED":
                continue
            start, end, submission = (float(row[name]) for name in ("starting_time", "finish_time", "submission_time"))
            row["execution_time"], row["waiting_time"] = f"{end - start:.6f}", f"{start - submission:.6f}"
            row["turnaround_time"] = f"{end - submission:.6f}"
            row["stretch"] = f"{(end - submission) / (end - start) if end > start else math.inf:.6f}"
            row["success"] = str(int(row["final_state"] == "COMPLETED_SUCCESSFULLY"))
        over = [self._name(event) for _, frame in self.frames for event in frame["events"] if event["type"] in _OVER]
        places = {name: place for place, name in reversed(list(enumerate(over)))}
        self.rows.sort(key=lambda row: places.get(row["job_id"], len(over)))
        self.write()
        scratch = self.folder / "scratch"
        outputs = Outputs(scratch, len(platform.machine.hosts))
        changes: list[tuple[float, int, Sequence[int]]] = []
        for row in self.rows:
            job = {
                "job_id": f"{row['workload_name']}!{row['job_id']}",
                "profile": row["profile"],
                "submission": float(row["submission_time"]),
                "units": int(row["requested_number_of_resources"]),
                "walltime": float(row["requested_time"]),
                "metadata": row["metadata"],
            }
            if row["final_state"] == "REJECTED":
                outputs.rejected(**job)
                continue
            outputs.ended(
                **job,
                state=JobState(row["final_state"]),
                start=float(row["starting_time"]),
                end=float(row["finish_time"]),
                allocation=Allocation.parse(row["allocated_resources"]),
            )
            held = Allocation.parse(row["allocated_resources"]).ids
            for time, change in ((float(row["starting_time"]), 1), (float(row["finish_time"]), -1)):
                changes.append((time, change, held))
        computing: Counter[int] = Counter()
        for time, change, held in sorted(changes, key=lambda entry: entry[:2]):
            computing.update(dict.fromkeys(held, change))
            busy = sum(count > 0 for count in computing.values())
            outputs.states(time, platform.machine.size - busy, busy)
        version = f"batdispatch {self.result['batdispatch']} embedded"
        times = self._times(changes, platform.machine)
        outputs.finish(version=version, scheduling_seconds=0.0, simulation_seconds=0.0, times=times)
        shutil.copy(scratch / "schedule.csv", self.folder)
        shutil.copy(scratch / "machine_states.csv", self.folder)
        shutil.rmtree(scratch)
        self._time_decisions()
        jobs = read_workload(Path(self.result["workload"]["path"])).jobs
        columns = read_columns(self.folder / "jobs.csv")
        figures = figures_of(columns, self.result, machine=platform.machine, jobs=jobs, folder=self.folder)
        self.result["metrics"] = figures.metrics
        write_table(figures.measured.get("network"), columns, self.folder / NETWORK)
