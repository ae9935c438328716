"""A made-up site: three partitions, a reservation, jobs of its users, and all that as Slurm would write it.

    site = made_up_site.make(folder, jobs=20_000, seed=1)

`site.platform` and `site.workload` are what was simulated, `site.folder` holds `accounts.txt` as sacct prints it, and
in `slurm` a slurm.conf and what scontrol shows. Whoever wants such files for a trial calls this file::

    python tests/support/made_up_site.py FOLDER JOBS SEED
"""

import csv
import json
import math
import sys
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from batdispatch.core.machine.site import Partition, QueuesProperty, Window
from batdispatch.inputs.platforms import read_platform
from batdispatch.inputs.sites import SiteNode, named_platform
from batdispatch.runs.run import execute
from batdispatch.runs.spec import RunSpec

#: When simulated time is 0: a Monday morning.
BEGIN = int(datetime(2026, 3, 2, 6, tzinfo=UTC).timestamp())
DAY, HOUR = 86_400, 3600
COLUMNS = (
    "JobID|JobIDRaw|User|Account|Partition|QOS|JobName|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|State|NNodes"
    "|ReqTRES|AllocTRES|NodeList|Reservation|Constraints"
)
THIN = {"core": 16, "memory": 64_000}
THICK = {"core": 32, "gpu": 4, "memory": 256_000}
HEAVY = {"weight": "10"}
_CONF = """\
ClusterName=made_up
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerType=sched/backfill
GresTypes=gpu
NodeName=DEFAULT CPUs=16 RealMemory=64000 State=UNKNOWN
NodeName=n[00-05] Features=avx512,ib
NodeName=n[06-11] Features=ib
NodeName=g[0-2] CPUs=32 RealMemory=256000 Gres=gpu:4 Features=a100 Weight=10
PartitionName=DEFAULT MaxTime=2-00:00:00 State=UP
"""
#: Share of the jobs, and how much of the machine's time they would fill at load 1.
SHARES = {"batch": 0.55, "short": 0.3, "gpu": 0.15}


class MadeUpSite(NamedTuple):
    folder: Path
    platform: Path
    workload: Path
    #: Of the simulation that the accounts tell of.
    run: Path
    #: How long jobs came.
    days: float

    @property
    def accounts(self) -> Path:
        return self.folder / "accounts.txt"

    @property
    def slurm(self) -> Path:
        return self.folder / "slurm"


def nodes(batch: int = 12, gpu: int = 3) -> list[SiteNode]:
    """Return the nodes: thin ones, of which half have AVX-512 and a quarter is for short jobs too, and thick ones."""
    thin = [
        SiteNode(name=f"n{row:02d}", capacity=THIN, features=("avx512", "ib") if row < batch // 2 else ("ib",))
        for row in range(batch)
    ]
    return [*(thick(f"g{row}") for row in range(gpu)), *thin]


def thick(name: str) -> SiteNode:
    """Return a node with GPUs."""
    return SiteNode(name=name, capacity=THICK, features=("a100",), properties=HEAVY)


def queues(batch: int = 12, gpu: int = 3, days: float = 20.0) -> QueuesProperty:
    """Return the partitions, and a reservation in the middle of so many days."""
    start = float(int(days / 2) * DAY + 4 * HOUR)
    return QueuesProperty(
        partitions=[
            Partition(name="batch", hosts=[f"n[00-{batch - 1:02d}]"], default=True, max_time=2.0 * DAY, priority=1),
            Partition(name="gpu", hosts=[f"g[0-{gpu - 1}]"], max_time=2.0 * DAY, priority=1),
            Partition(
                name="short",
                hosts=[f"n[{batch - batch // 4:02d}-{batch - 1:02d}]"],
                max_time=7200.0,
                priority=5,
                tier=2,
            ),
        ],
        reservations=[
            Window(name="course", start=start, end=start + 6 * HOUR, hosts=["n[00-01]"], accounts=["course"])
        ],
    )


def jobs_of(count: int, seed: int, load: float) -> tuple[list[dict[str, Any]], float]:
    """Return jobs as a workload's file has them, and how many days they come in."""
    random = Random(seed)
    jobs = [_job(random, number) for number in range(count)]
    offered = {"batch": 12 * 16, "gpu": 3 * 32, "short": 3 * 16}
    work = {name: sum(j["res"] * j["runtime"] for j in jobs if j["partition"] == name) for name in offered}
    seconds = max(work[name] / (offered[name] * load) for name in ("batch", "gpu"))
    moments = sorted(random.random() for _ in jobs)
    for job, moment in zip(jobs, moments, strict=True):
        # More jobs come by day.
        time = moment * seconds
        job["subtime"] = int(time - 0.6 * DAY / math.tau * math.sin(math.tau * time / DAY)) if time > DAY else int(time)
    jobs.sort(key=lambda job: job["subtime"])
    for number, job in enumerate(jobs, 1):
        job["id"] = str(1000 + number)
    return jobs, seconds / DAY


def _job(random: Random, number: int) -> dict[str, Any]:
    partition = random.choices(list(SHARES), list(SHARES.values()))[0]
    user = f"u{min(int(random.expovariate(0.15)), 29):02d}"
    seconds = max(int(random.lognormvariate(7.2, 1.4)), 5)
    seconds = min(seconds, 7000 if partition == "short" else 40 * HOUR)
    slack = random.choice([1.0, 1.1, 1.5, 2.0, 4.0, 10.0])
    walltime = math.ceil(seconds * slack / 60) * 60
    walltime = min(walltime, 7200 if partition == "short" else 2 * DAY)
    job: dict[str, Any] = {
        "partition": partition, "user": user, "account": "course" if user == "u07" else f"lab{int(user[1:]) % 4}",
        "qos": "normal", "name": random.choice(["cfd", "train", "md", "sweep"]), "runtime": seconds,
        "walltime": max(walltime, seconds), "res": 2 ** random.choice([0, 0, 1, 2, 3, 4]),
        "demand": {"core": 1, "memory": random.choice([500, 1000, 2000, 3500])},
    }  # fmt: skip
    if partition == "gpu":
        gpus = random.choice([1, 1, 2, 4])
        job |= {"res": gpus * 4, "per_node": {"gpu": gpus}, "nodes": 1}
    elif partition == "batch" and random.random() < 0.15:
        count = random.choice([2, 2, 4])
        job |= {"res": 16 * count, "nodes": count}
    if partition == "batch" and random.random() < 0.1 and "nodes" not in job:
        job["constraint"] = random.choice(["avx512", "avx512&ib"])
    return job


def make(
    folder: Path, *, jobs: int, seed: int, dispatcher: str = "slurm-backfill", load: float = 0.85, steps: bool = False
) -> MadeUpSite:
    """Simulate a site, and write what its Slurm would have told.

    Args:
        folder: for all files.
        jobs: how many.
        seed: of the jobs.
        dispatcher: that runs them, with its options in brackets.
        load: of the partition that is fullest.
        steps: whether the accounts have two steps for each job, as sacct prints them unless told otherwise.
    """
    (folder / "slurm").mkdir(parents=True, exist_ok=True)
    made, days = jobs_of(jobs, seed, load)
    told = queues(days=days)
    _reserve(made, told.reservations[0])
    platform, workload, run = folder / "platform.xml", folder / "truth.json", folder / "truth"
    platform.write_bytes(named_platform(sorted(nodes(), key=lambda node: node.name), told))
    profiles = {f"d{job['runtime']}": {"type": "delay", "delay": job["runtime"]} for job in made}
    rows = [{**{k: v for k, v in job.items() if k != "runtime"}, "profile": f"d{job['runtime']}"} for job in made]
    workload.write_text(json.dumps({"nb_res": len(nodes()), "jobs": rows, "profiles": profiles}))
    execute(RunSpec(platform=str(platform), workload=str(workload), dispatcher=dispatcher, record=False), run)
    site = MadeUpSite(folder, platform, workload, run, days)
    site.accounts.write_text("\n".join([COLUMNS, *_lines(made, site, steps)]) + "\n")
    _write_slurm(site.slurm, told)
    return site


def _reserve(jobs: list[dict[str, Any]], window: Window) -> None:
    """Let some jobs of the course run in its reservation."""
    for job in jobs:
        soon = window.start - DAY < job["subtime"] < window.start + HOUR
        if soon and job["account"] == "course" and job["partition"] == "batch" and "constraint" not in job:
            job |= {"reservation": window.name, "runtime": min(job["runtime"], HOUR), "walltime": HOUR, "res": 4}
            job.pop("nodes", None)


def _lines(jobs: list[dict[str, Any]], site: MadeUpSite, steps: bool) -> list[str]:
    names = [host.name for host in read_platform(site.platform).machine.hosts]
    with (site.run / "jobs.csv").open() as file:
        ran = {row["job_id"]: row for row in csv.DictReader(file)}
    lines = []
    for job in jobs:
        row = ran[job["id"]]
        if row["final_state"] == "REJECTED":
            raise AssertionError(f"the made-up job {job} cannot run")
        lines += _records(job, row, names, steps)
    return lines


def _records(job: dict[str, Any], row: dict[str, str], names: list[str], steps: bool) -> list[str]:
    start, end = (BEGIN + round(float(row[key])) for key in ("starting_time", "finish_time"))
    hosts = [name for part in row["allocated_resources"].split() for name in _hosts(part, names)]
    asked = {"cpu": job["res"], "mem": f"{job['res'] * job['demand']['memory']}M", "node": job.get("nodes", 1)}
    if "per_node" in job:
        asked["gres/gpu"] = job["per_node"]["gpu"]
    requested = ",".join(f"{name}={amount}" for name, amount in asked.items())
    given = ",".join(f"{name}={amount}" for name, amount in {**asked, "node": len(hosts)}.items())
    submit = text_of(BEGIN + job["subtime"])
    times = (submit, submit, text_of(start), text_of(end), str(end - start))
    head = (job["id"], job["id"], job["user"], job["account"], job["partition"], "normal", job["name"])
    tail = ("COMPLETED", str(len(hosts)), requested, given, ",".join(hosts))
    more = (job.get("reservation", ""), job.get("constraint", ""))
    lines = ["|".join((*head, *times, str(job["walltime"] // 60), *tail, *more))]
    for kind in ("batch", "extern") if steps else ():
        name = f"{job['id']}.{kind}"
        lines.append(
            "|".join((name, name, "", job["account"], "", "", kind, *times, "", *tail[:2], "", *tail[3:], "", ""))
        )
    return lines


def _hosts(part: str, names: list[str]) -> list[str]:
    first, _, last = part.partition("-")
    return names[int(first) : int(last or first) + 1]


def text_of(moment: int) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def _write_slurm(folder: Path, told: QueuesProperty) -> None:
    """Write the site as its slurm.conf, and what scontrol shows of its reservation."""
    lines = []
    for one in told.partitions:
        limit = "MaxTime=120 " if one.name == "short" else ""
        default = "Default=YES " if one.default else ""
        hosts = ",".join(one.hosts or ())
        priorities = f"PriorityJobFactor={one.priority} PriorityTier={one.tier}"
        lines.append(f"PartitionName={one.name} Nodes={hosts} {default}{limit}{priorities}\n")
    (folder / "slurm.conf").write_text(_CONF + "".join(lines))
    window = told.reservations[0]
    start, end = (text_of(BEGIN + round(moment)) for moment in (window.start, window.end))
    (folder / "reservations.txt").write_text(
        f"ReservationName={window.name} StartTime={start} EndTime={end} Duration=06:00:00\n"
        f"   Nodes={','.join(window.hosts or ())} NodeCnt=2 CoreCnt=32 Features=(null) PartitionName=batch Flags=\n"
        f"   TRES=cpu=32\n   Users=(null) Groups=(null) Accounts=course Licenses=(null) State=INACTIVE\n\n"
    )


if __name__ == "__main__":
    print(make(Path(sys.argv[1]), jobs=int(sys.argv[2]), seed=int(sys.argv[3])).folder)
