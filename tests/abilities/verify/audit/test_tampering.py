"""Whatever a forger changes in the folder of a good run is found and named; the good runs themselves are clean.

A forgery is a function that changes one thing, or one thing with all that follows from it. Those that are marked
`again` leave nothing that contradicts itself, or change what the engine alone says: the simulation finds them.
"""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from batdispatch.core.errors import InputError
from checked import checked
from forged_runs import IN_ATTEMPTS, ON_HOSTS, ON_NODES, SHARED, WHOLE, Simulated, simulated
from forging import Forged
from tamperings import HARMLESS, SUMS, read_table, write_table

#: run -> (platform, jobs, dispatcher, options, whether hosts come and go)
RUNS: dict[str, Simulated] = {
    "easy": (WHOLE, ON_HOSTS, "easy", {"reservation": "hosts"}, False),
    "shared": (SHARED, ON_NODES, "filler", {}, False),
    "attempts": (WHOLE, IN_ATTEMPTS, "attempts", {"dispatcher": "easy"}, False),
    "events": (WHOLE, ON_HOSTS, "conservative", {}, True),
}


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Simulate the runs once."""
    return simulated(RUNS, tmp_path_factory.mktemp("good"))


class Forgery(NamedTuple):
    """A change to a run, what must be found, and about which job."""

    run: str
    kinds: str
    job: str
    change: Callable[[Forged], None]
    again: bool


FORGERIES: dict[str, Forgery] = {}


def forgery(
    runs: str, kinds: str, job: str = "", *, again: bool = False
) -> Callable[[Callable[[Forged], None]], Callable[[Forged], None]]:
    """Register a forgery of some runs; `kinds` are those of which at least one must be found."""

    def register(change: Callable[[Forged], None]) -> Callable[[Forged], None]:
        for run in runs.split():
            FORGERIES[f"{run}-{change.__name__}"] = Forgery(run, kinds, job, change, again)
        return change

    return register


def column(name: str, value: str, kinds: str, runs: str = "easy shared attempts events", job: str = "late") -> None:
    """Register that a column of a job is overwritten, and nothing else."""

    def change(forged: Forged) -> None:
        assert forged.row(job)[name] != value
        forged.row(job)[name] = value

    change.__name__ = f"column_{name}"
    forgery(runs, kinds, job)(change)


# ---------------------------------------------------------------------- one column of one row

column("workload_name", "w1", "workload name|unknown job")
column("profile", "d11", "profile")
column("submission_time", "399.000000", "submission")
column("requested_number_of_resources", "2", "request")
column("requested_time", "21.000000", "walltime asked")
column("success", "0", "state")
column("final_state", "COMPLETED_FAILED", "return code|state")
column("starting_time", "401.000000", "start ordered")
column("execution_time", "11.000000", "execution time")
column("finish_time", "411.000000", "end told")
column("waiting_time", "3.000000", "waiting time")
column("turnaround_time", "12.000000", "turnaround time")
column("stretch", "1.500000", "stretch")
column("allocated_resources", "2", "start ordered")
column("consumed_energy", "5.000000", "energy")
column("metadata", "paid for", "metadata")


@forgery("easy shared attempts events", "missing job|exchange", "late")
def row_removed(forged: Forged) -> None:
    forged.rows.remove(forged.row("late"))
    forged.follow()


@forgery("easy", "job twice", "late")
def row_doubled(forged: Forged) -> None:
    forged.rows.append(dict(forged.row("late")))


@forgery("easy attempts", "unknown job", "ghost")
def row_invented(forged: Forged) -> None:
    forged.rows.append(forged.row("late") | {"job_id": "ghost", "allocated_resources": "5"})
    forged.follow()


@forgery("easy", "unknown job|missing job", "other")
def row_renamed(forged: Forged) -> None:
    forged.row("late")["job_id"] = "other"


# ---------------------------------------------------------------------- one job, with all that follows from it


@forgery("easy shared attempts events", "start ordered", "late")
def start_late_in_the_tables(forged: Forged) -> None:
    forged.shift("late", 1e7, exchange=False)
    forged.follow()


@forgery("easy shared events", "idle machine", "late")
def start_late_on_an_idle_machine(forged: Forged) -> None:
    forged.end_later(1e7 + 1000)
    forged.shift("late", 1e7)
    forged.follow()


@forgery("easy", "idle machine", "late")
def start_late_without_a_recording(forged: Forged) -> None:
    forged.shift("late", 1e7, exchange=False)
    forged.follow()
    forged.drop_recording()
    forged.result["recorded"] = False


def reject(forged: Forged, job: str) -> None:
    row = forged.row(job)
    row |= {"success": "0", "final_state": "REJECTED"}
    for name in forged.columns[8:16]:
        row[name] = ""


@forgery("easy shared attempts events", "rejection|rejection ordered", "late")
def feasible_job_rejected(forged: Forged) -> None:
    reject(forged, "late")
    forged.follow()


@forgery("easy shared events", "rejection ordered", "late")
def feasible_job_rejected_with_a_reason(forged: Forged) -> None:
    reject(forged, "late")
    forged.result["rejected"].append({"job": "w0!late", "reason": "the queue is full"})
    forged.follow()


def reject_everywhere(forged: Forged, job: str, reason: str) -> None:
    reject(forged, job)
    forged.result["rejected"].append({"job": f"w0!{job}", "reason": reason})
    event = forged.event("EXECUTE_JOB", job)
    event["type"], event["data"] = "REJECT_JOB", {"job_id": f"w0!{job}"}
    forged.drop("JOB_COMPLETED", job)
    forged.follow()


@forgery("easy shared events", "rejection", "late")
def feasible_job_rejected_everywhere_without_reason(forged: Forged) -> None:
    reject_everywhere(forged, "late", "")


@forgery("easy shared events", "rejection", "late")
def feasible_job_rejected_everywhere_with_a_claim(forged: Forged) -> None:
    reject_everywhere(forged, "late", "asks for 1 hosts, the whole machine has room for 0")


@forgery("easy shared events", "decision", "late", again=True)
def feasible_job_rejected_everywhere_with_a_reason_of_its_own(forged: Forged) -> None:
    reject_everywhere(forged, "late", "the queue is full")


@forgery("easy shared attempts events", "rejection ordered", "a")
def every_job_rejected(forged: Forged) -> None:
    for row in forged.rows:
        reject(forged, row["job_id"])
    for name in ("units.csv", "lineage.csv"):
        (forged.folder / name).unlink(missing_ok=True)
    forged.result["rejected"] = [
        {"job": f"w0!{row['job_id']}", "reason": "asks for 9 hosts, the whole machine has room for 8"}
        for row in forged.rows
    ]
    forged.follow()


@forgery("easy shared", "rejection", "big")
def rejection_not_listed(forged: Forged) -> None:
    forged.result["rejected"] = [each for each in forged.result["rejected"] if each["job"] != "w0!big"]


@forgery("easy shared events", "decision", "big", again=True)
def another_reason(forged: Forged) -> None:
    forged.result["rejected"][0]["reason"] = "asks for too much"


@forgery("easy", "rejection", "late")
def rejection_listed_of_a_job_that_ran(forged: Forged) -> None:
    forged.result["rejected"].append({"job": "w0!late", "reason": "the queue is full"})


@forgery("easy events", "rejected and run", "big")
def rejected_job_on_hosts(forged: Forged) -> None:
    forged.row("big")["allocated_resources"] = "0"


@forgery("easy", "rejected and run|state told|submission told|start ordered", "big")
def rejected_job_ran(forged: Forged) -> None:
    forged.row("big").update(forged.row("late") | {"job_id": "big", "requested_number_of_resources": "9"})
    forged.follow()


def ended(forged: Forged, job: str, state: str, *, exchange: bool = True, code: int = 0) -> None:
    forged.row(job)["final_state"] = state
    if exchange:
        forged.event("JOB_COMPLETED", job)["data"] |= {"job_state": state, "return_code": code}
    forged.follow()


@forgery("easy shared attempts events", "state told|return code", "late")
def success_called_failure(forged: Forged) -> None:
    ended(forged, "late", "COMPLETED_FAILED", exchange=False)


@forgery("easy shared attempts events", "return code", "late")
def success_called_failure_everywhere(forged: Forged) -> None:
    ended(forged, "late", "COMPLETED_FAILED", code=1)


@forgery("easy events", "return code", "c")
def failure_called_success_everywhere(forged: Forged) -> None:
    ended(forged, "c", "COMPLETED_SUCCESSFULLY")


@forgery("easy", "decision", again=True)
def another_return_code_told(forged: Forged) -> None:
    forged.event("JOB_COMPLETED", "c")["data"]["return_code"] = 7


def cut(forged: Forged, job: str, state: str, seconds: float) -> None:
    row = forged.row(job)
    row["finish_time"] = f"{float(row['starting_time']) + seconds:.6f}"
    event = forged.event("JOB_COMPLETED", job)
    forged.drop("JOB_COMPLETED", job)
    event["timestamp"] = float(row["finish_time"])
    forged.say("batsim->sched", event)
    ended(forged, job, state, code=-1)


@forgery("easy shared attempts events", "kill ordered", "late")
def cut_short_and_called_killed(forged: Forged) -> None:
    cut(forged, "late", "COMPLETED_KILLED", 5)


@forgery("easy shared events", "decision", "late", again=True)
def cut_short_and_a_kill_invented(forged: Forged) -> None:
    cut(forged, "late", "COMPLETED_KILLED", 5)
    at = float(forged.row("late")["finish_time"])
    forged.say("sched->batsim", {"timestamp": at, "type": "KILL_JOB", "data": {"job_ids": ["w0!late"]}})
    # The order comes before the end.
    for index, (_, frame) in enumerate(forged.frames):
        if any(event["type"] == "JOB_COMPLETED" and event["timestamp"] == at for event in frame["events"]):
            asked = [["batsim->sched", {"now": at, "events": []}], ["sched->batsim", forged.frames[index + 1][1]]]
            forged.frames[index : index + 2] = [
                *asked,
                forged.frames[index],
                ["sched->batsim", {"now": at, "events": []}],
            ]
            break
    forged.result["performance"]["messages"] += 1
    forged.result["decisions"]["count"] += 1
    forged.follow()


@forgery("easy shared events", "walltime not reached", "late")
def cut_short_and_called_walltime(forged: Forged) -> None:
    cut(forged, "late", "COMPLETED_WALLTIME_REACHED", 5)


@forgery("easy shared events", "run time", "late")
def cut_short_and_called_success(forged: Forged) -> None:
    cut(forged, "late", "COMPLETED_SUCCESSFULLY", 5)


@forgery("easy events", "run time|walltime exceeded", "d")
def walltime_called_success(forged: Forged) -> None:
    ended(forged, "d", "COMPLETED_SUCCESSFULLY")


@forgery("attempts", "kill ordered", "s")
def kill_order_removed(forged: Forged) -> None:
    forged.drop("KILL_JOB", "s")


@forgery("attempts", "state told|return code", "s")
def killed_attempt_called_success(forged: Forged) -> None:
    ended(forged, "s", "COMPLETED_SUCCESSFULLY", exchange=False)


@forgery("easy shared events", "end told|run time", "a")
def ran_longer(forged: Forged) -> None:
    row = forged.row("a")
    row["finish_time"] = f"{float(row['finish_time']) + 1:.6f}"
    forged.follow()


@forgery("easy", "capacity|start ordered", "c")
def two_jobs_on_a_host(forged: Forged) -> None:
    forged.row("c")["allocated_resources"] = "0-1"


@forgery("shared", "capacity|start ordered", "c")
def node_overloaded(forged: Forged) -> None:
    forged.row("c")["allocated_resources"] = forged.row("a")["allocated_resources"]
    old = line_of_units(forged, "c")
    forged.text("units.csv", old, f"c,{forged.row('a')['allocated_resources']},4 4")


@forgery("easy events", "decision", "late", again=True)
def other_hosts_everywhere(forged: Forged) -> None:
    forged.row("late")["allocated_resources"] = "7"
    for kind in ("EXECUTE_JOB", "JOB_COMPLETED"):
        forged.event(kind, "late")["data"]["alloc"] = "7"
    forged.follow()


@forgery("easy", "host", "late")
def host_that_is_not_there(forged: Forged) -> None:
    forged.row("late")["allocated_resources"] = "8"


@forgery("easy", "dependency", "after")
def started_before_its_dependency(forged: Forged) -> None:
    forged.shift("after", -100)
    forged.follow()


@forgery("events", "host away", "e")
def started_on_a_host_that_is_away(forged: Forged) -> None:
    forged.row("e")["allocated_resources"] = "5-7"
    for kind in ("EXECUTE_JOB", "JOB_COMPLETED"):
        forged.event(kind, "e")["data"]["alloc"] = "5-7"


# ---------------------------------------------------------------------- units, licences, lineage


def line_of_units(forged: Forged, job: str) -> str:
    return next(line for line in (forged.folder / "units.csv").read_text().splitlines() if line.startswith(f"{job},"))


@forgery("shared", "units ordered|allocation size|capacity", "a")
def units_moved(forged: Forged) -> None:
    line = line_of_units(forged, "a")
    head, _, counts = line.rpartition(",")
    forged.text("units.csv", line, f"{head},{' '.join(reversed(counts.split()))}")


@forgery("shared", "units ordered|allocation size", "a")
def units_removed(forged: Forged) -> None:
    line = line_of_units(forged, "a")
    forged.text("units.csv", line + "\n", "")


@forgery("shared", "decision", again=True)
def units_on_other_hosts(forged: Forged) -> None:
    line = line_of_units(forged, "a")
    forged.text("units.csv", line, line.replace("0-1", "2-3", 1))


@forgery("shared", "decision", again=True)
def units_twice(forged: Forged) -> None:
    line = line_of_units(forged, "a")
    forged.text("units.csv", line, f"{line}\n{line}")


@forgery("shared", "units ordered|allocation size", "a")
def units_file_removed(forged: Forged) -> None:
    (forged.folder / "units.csv").unlink()


@forgery("shared", "licences", "lic2")
def licence_held_twice(forged: Forged) -> None:
    forged.shift("lic2", float(forged.row("lic")["starting_time"]) - float(forged.row("lic2")["starting_time"]))
    forged.follow()


@forgery("attempts", "lineage told", "t")
def lineage_row_removed(forged: Forged) -> None:
    path = forged.folder / "lineage.csv"
    path.write_text("\n".join(path.read_text().splitlines()[:-1]) + "\n")
    forged.follow()


@forgery("attempts", "lineage told|lineage", "s")
def lineage_removed(forged: Forged) -> None:
    (forged.folder / "lineage.csv").unlink()
    forged.follow()


@forgery("attempts", "lineage told|lineage", "s")
def lineage_of_another(forged: Forged) -> None:
    path = forged.folder / "lineage.csv"
    head, *rows = path.read_text().splitlines()
    name = rows[0].split(",")[0]
    path.write_text("\n".join([head, f"{name},w0,a", *rows[1:]]) + "\n")
    forged.follow()


@forgery("easy", "lineage told|lineage", "late")
def lineage_invented(forged: Forged) -> None:
    (forged.folder / "lineage.csv").write_text("job_id,workload_name,parent\nlate,w0,e\n")
    forged.follow()


# ---------------------------------------------------------------------- sums and metrics


def sums(name: str) -> None:
    """Register that a sum of schedule.csv is overwritten."""

    def change(forged: Forged) -> None:
        head, row = read_table(forged.folder / "schedule.csv")
        assert row[head.index(name)] != "99"
        row[head.index(name)] = "99"
        write_table(forged.folder / "schedule.csv", [head, row])

    change.__name__ = f"sum_{name}"
    # Of the sums, the rows are asked for those that people read; the rest is the engine's to write again.
    counted = name.startswith("nb_jobs") or name in ("nb_computing_machines", "makespan", "batsim_version")
    forgery("easy shared", "sums" if counted else "decision", again=not counted)(change)


for each in SUMS.split(","):
    if f"schedule.csv: {each}" not in HARMLESS:
        sums(each)


@forgery("easy", "decision", again=True)
def sums_removed(forged: Forged) -> None:
    (forged.folder / "schedule.csv").unlink()


@forgery("easy shared", "decision", again=True)
def machine_state_removed(forged: Forged) -> None:
    path = forged.folder / "machine_states.csv"
    path.write_text("\n".join(path.read_text().splitlines()[:-2]) + "\n")


@forgery("easy", "decision", again=True)
def machine_state_changed(forged: Forged) -> None:
    path = forged.folder / "machine_states.csv"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:2], lines[2].rpartition(",")[0] + ",9", *lines[3:]]) + "\n")


@forgery("easy shared attempts events", "metrics")
def metric_changed(forged: Forged) -> None:
    forged.result["metrics"]["mean_waiting_time"] *= 0.9


@forgery("easy", "metrics")
def metric_removed(forged: Forged) -> None:
    del forged.result["metrics"]["mean_waiting_time"]


@forgery("attempts", "metrics")
def attempts_changed(forged: Forged) -> None:
    forged.result["attempts"]["wasted_work"] = 0.0


def stated(path: str, value: object, kinds: str = "result|command|made from", *, again: bool = False) -> None:
    """Register that a value in result.json is overwritten."""

    def change(forged: Forged) -> None:
        *outer, last = path.split(".")
        place = forged.result
        for name in outer:
            place = place[name]
        assert place[last] != value
        place[last] = value

    change.__name__ = f"stated_{path}"
    forgery("easy", kinds, again=again)(change)


stated("platform.hosts", 9)
stated("platform.sha256", "0" * 64, "platform file")
stated("platform.resources", {"core": 5})
stated("workload.jobs", 10)
stated("workload.sha256", "0" * 64, "workload file")
stated("dispatcher", "fcfs")
stated("seed", 7)
stated("clock", "apart")
stated("decision_time", 3.0)
stated("fallbacks", 2)
stated("dynamic_jobs", True, "decision", again=True)
stated("decisions.count", 3, "decision times")
stated("performance.messages", 3)
stated("command", "batdispatch run --dispatcher fcfs")
stated("options.reservation", "count")
stated("report.prediction.jobs", 99, "decision", again=True)


@forgery("easy events", "decision", again=True)
def another_dispatcher_everywhere(forged: Forged) -> None:
    forged.result["command"] = forged.result["command"].replace(
        f"--dispatcher {forged.result['dispatcher']}", "--dispatcher fcfs"
    )
    forged.result["command"] = forged.result["command"].replace("--set reservation=hosts", "")
    forged.result["dispatcher"] = forged.result["label"] = "fcfs"
    forged.result["made_from"]["settings"] |= {"dispatcher": "fcfs", "options": {}}
    forged.result["options"] = {}
    forged.result["report"] = {}


# ---------------------------------------------------------------------- the exchange


@forgery("easy attempts", "exchange")
def recording_removed(forged: Forged) -> None:
    forged.drop_recording()


@forgery("easy attempts", "exchange")
def recording_cut_off(forged: Forged) -> None:
    forged.frames = forged.frames[: len(forged.frames) // 2 // 2 * 2]


@forgery("easy", "exchange")
def recording_of_something_else(forged: Forged) -> None:
    forged.drop_recording()
    (forged.folder / "decisions.jsonl").write_text("nothing\n")


@forgery("easy", "exchange")
def beginning_removed(forged: Forged) -> None:
    forged.frames = forged.frames[2:]


@forgery("easy shared attempts events", "start ordered|exchange", "late")
def start_order_removed(forged: Forged) -> None:
    forged.drop("EXECUTE_JOB", "late")


@forgery("easy shared attempts events", "start ordered|exchange", "late")
def start_order_of_other_hosts(forged: Forged) -> None:
    forged.event("EXECUTE_JOB", "late")["data"]["alloc"] = "3"


@forgery("easy attempts events", "start ordered|exchange", "late")
def start_order_later(forged: Forged) -> None:
    forged.event("EXECUTE_JOB", "late")["timestamp"] += 3
    forged.frames[forged.frames.index(next(f for f in forged.frames if "EXECUTE_JOB" in str(f) and "late" in str(f)))][
        1
    ]["now"] += 3


@forgery("easy shared attempts events", "end told|exchange", "late")
def end_removed(forged: Forged) -> None:
    forged.drop("JOB_COMPLETED", "late")


@forgery("easy shared events", "rejection ordered|exchange", "big")
def rejection_order_removed(forged: Forged) -> None:
    forged.drop("REJECT_JOB", "big")


@forgery("easy shared attempts events", "submission told|exchange", "late")
def submission_removed(forged: Forged) -> None:
    forged.drop("JOB_SUBMITTED", "late")


def told(name: str, value: object) -> None:
    """Register that a field of a job is told to the dispatcher as another than it is."""

    def change(forged: Forged) -> None:
        forged.event("JOB_SUBMITTED", "e" if "late" not in name else "late")["data"]["job"][name] = value

    change.__name__ = f"told_{name}"
    forgery("easy", "exchange", "e")(change)


told("res", 4)
told("walltime", 99)
told("profile", "d10")
told("subtime", 150)
told("user", "eve")
told("contiguous", True)
told("note", "psst")


@forgery("easy", "exchange", "late")
def submission_told_late(forged: Forged) -> None:
    event = forged.event("JOB_SUBMITTED", "late")
    event["timestamp"] -= 5


@forgery("attempts", "exchange", "s")
def registration_removed(forged: Forged) -> None:
    forged.drop("REGISTER_JOB", next(e for e in forged.events("REGISTER_JOB"))["data"]["job_id"].partition("!")[2])


@forgery("attempts", "decision", again=True)
def call_removed(forged: Forged) -> None:
    forged.drop("REQUESTED_CALL")


@forgery("easy", "decision", again=True)
def call_invented(forged: Forged) -> None:
    forged.frames[4][1]["events"].append(
        {"timestamp": forged.frames[4][1]["now"], "type": "REQUESTED_CALL", "data": {}}
    )


@forgery("easy", "machine told")
def machine_told_otherwise(forged: Forged) -> None:
    forged.event("SIMULATION_BEGINS")["data"]["compute_resources"][3]["name"] = "h9"


@forgery("easy", "decision", again=True)
def profile_told_otherwise(forged: Forged) -> None:
    forged.event("SIMULATION_BEGINS")["data"]["profiles"]["w0"]["d50"]["delay"] = 5


@forgery("events", "outages")
def outage_moved(forged: Forged) -> None:
    for index, (_, frame) in enumerate(forged.frames):
        for event in list(frame["events"]):
            if event["data"].get("type") == "event_machine_unavailable":
                frame["events"].remove(event)
                forged.frames[index + 2][1]["events"].insert(
                    0, event | {"timestamp": forged.frames[index + 2][1]["now"]}
                )
                return


@forgery("events", "outages")
def outage_removed(forged: Forged) -> None:
    forged.drop("NOTIFY")


@forgery("easy", "outages")
def outage_invented(forged: Forged) -> None:
    now = forged.frames[4][1]["now"]
    data = {"type": "event_machine_unavailable", "resources": "7"}
    forged.frames[4][1]["events"].append({"timestamp": now, "type": "NOTIFY", "data": data})


@forgery("easy", "decision", again=True)
def deciding_took_time(forged: Forged) -> None:
    forged.frames[5][1]["now"] += 0.5


@forgery("easy shared attempts events", "decision", again=True)
def last_submission_not_told(forged: Forged) -> None:
    for _, frame in forged.frames:
        frame["events"] = [each for each in frame["events"] if "no_more_static" not in each["data"].get("type", "")]


@forgery("shared", "decision", again=True)
def mapping_changed(forged: Forged) -> None:
    event = forged.event("EXECUTE_JOB", "late")
    for each in (event, forged.event("JOB_COMPLETED", "late")):
        each["data"]["alloc"] = "2"
    forged.row("late")["allocated_resources"] = "2"
    forged.follow()


# ----------------------------------------------------------------------


@pytest.fixture
def forge(good: dict[str, Path], tmp_path: Path) -> Callable[[str], Forged]:
    """Return what puts a copy of a good run into a forger's hands."""

    def start(run: str) -> Forged:
        return Forged(Path(shutil.copytree(good[run], tmp_path / "run")))

    return start


@pytest.mark.parametrize("run", RUNS)
def test_good_runs_are_clean(good: dict[str, Path], forge: Callable[[str], Forged], run: str) -> None:
    findings = checked(good[run], "always")
    assert findings.kept == []
    assert "exchange" not in findings.skipped
    assert not findings.undone
    # What a forger leaves alone is as good as before.
    forged = forge(run)
    # The forger's sums know neither units on nodes nor hosts that go away.
    if run not in ("shared", "events"):
        forged.follow()
    forged.write()
    assert checked(forged.folder, "always").kept == []


@pytest.mark.parametrize("name", FORGERIES)
def test_every_forgery_is_found(forge: Callable[[str], Forged], name: str) -> None:
    run, kinds, job, change, again = FORGERIES[name]
    forged = forge(run)
    change(forged)
    forged.write()
    try:
        findings = checked(forged.folder, "never")
        if again:
            # Nothing contradicts itself.
            assert findings.kept == []
            findings = checked(forged.folder, "auto")
    except InputError as problem:
        pytest.fail(f"refused, not audited: {problem}")
    found = [each for each in findings.kept if each.kind in kinds.split("|")]
    assert found, findings.kept
    assert all(each.message for each in found)
    if job:
        assert any(each.job.startswith(job) for each in found), found


def test_forgeries_are_many() -> None:
    assert len(FORGERIES) >= 75
    assert len({forgery.change.__name__ for forgery in FORGERIES.values()}) >= 40
