"""How near slurm-backfill comes to a real Slurm: records traces with one, and prints the table of docs/conformance.md.

    python benchmarks/slurm.py                                the table of the recordings in tests/data/slurm
    python benchmarks/slurm.py --recordings DIR               of others; --phases tries clocks and phases, too
    python benchmarks/slurm.py --accounts DIR                 the table of docs/slurm.md: DIR has a folder of each site
                                                              with its sacct.txt and its slurm.conf in site/
    python benchmarks/slurm.py --what-ifs DIR                 the table of docs/whatif.md, of the same sites
    python benchmarks/slurm.py --record DIR [--trace NAME]    run a real Slurm (root; Debian: slurm-wlm), then the table

A trace of 50 jobs takes some ten minutes in real time and little CPU; several run side by side in --parallel processes.
Recording starts one slurmctld and eight slurmd on loopback and ends what it started.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import itertools
import os
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from slurm_changes import CHANGES, MORE, told, truth
from slurm_truth import FOLDER, read_recording

NODES, CPUS = 8, 4
SHARED, WHOLE = [1, 2, 3, 4, 4, 6, 8, 8, 12, 16, 20, 24, 32], [1, 1, 2, 2, 3, 4, 5, 6, 8]
LENGTHS = [8, 15, 25, 40, 55, 70, 100]
BASIC = "PriorityType=priority/basic"
TEN = "SchedulerParameters=bf_interval=10,sched_min_interval=200000"
ONE_PARTITION = ["PartitionName=p Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO"]
Row = dict[str, Any]
More = Callable[[random.Random, int, Row], Row]


def drawn_jobs(
    seed: int,
    count: int,
    more: More | None = None,
    *,
    whole: bool = False,
    gap: float = 8,
    extra_minutes: tuple[int, ...] = (0, 0, 1, 2),
    sizes: list[int] | None = None,
) -> list[Row]:
    """Return jobs: six at once, then one in `gap` seconds; `more` says what else a job asks for."""
    rng, moment, rows = random.Random(seed), 0.0, []
    for number in range(count):
        moment += rng.expovariate(1 / gap) if number > 6 else 0.3
        length = rng.choice(LENGTHS)
        limit = -(-(length + 3) // 60) + rng.choice(extra_minutes)
        row = {"submit": moment, "sleep_s": length, "limit_min": limit, "whole": int(whole)}
        row["asked"] = rng.choice(sizes or (WHOLE if whole else SHARED))
        rows.append(row | (more(rng, number, row) if more else {}))
    return rows


def _listed_jobs(listed: list[tuple[float, int, int, int, str]]) -> list[Row]:
    keys = ("submit", "sleep_s", "limit_min", "asked", "partition")
    return [dict(zip(keys, job, strict=True)) | {"whole": 1} for job in listed]


def _licensed(rng: random.Random, number: int, row: Row) -> Row:
    if rng.random() >= 0.4:
        return {}
    return {"asked": min(row["asked"], 12), "licences": f"m:{rng.choice([1, 1, 2])}"}


def _named(rng: random.Random, number: int, row: Row) -> Row:
    if rng.random() >= 0.35:
        return {}
    return {"asked": rng.choice([1, 2, 3, 4]), "node": f"n{rng.choice([2, 2, 5])}"}


def _parted(rng: random.Random, number: int, row: Row) -> Row:
    nodes = row["asked"] if row["whole"] else row["asked"] / CPUS
    short, side = nodes <= 4, nodes <= 2
    name = rng.choice(["all", "all", "short" if short else "all", "side" if side else "all"])
    return {"partition": name, "limit_min": min(row["limit_min"], 2) if name == "short" else row["limit_min"]}


def _urgent(rng: random.Random, number: int, row: Row) -> Row:
    return {"partition": "high", "asked": min(row["asked"], 12)} if rng.random() < 0.25 else {"partition": "low"}


def _urgent_nodes(rng: random.Random, number: int, row: Row) -> Row:
    urgent = number > 6 and rng.random() < 0.4
    return {"partition": "high", "asked": min(row["asked"], 4)} if urgent else {"partition": "low"}


def _chained(rng: random.Random, number: int, row: Row) -> Row:
    if number <= 6 or rng.random() >= 0.4:
        return {}
    return {"after": f"{rng.choice(['afterany', 'afterok'])}:{max(1, number + 1 - rng.randint(1, 6))}"}


def _nice(rng: random.Random, number: int, row: Row) -> Row:
    return {"nice": rng.choice([50, 200, 400])} if rng.random() < 0.3 else {}


def _multifactor(*settings: str) -> list[str]:
    return ["PriorityType=priority/multifactor", *settings, TEN]


PARTITIONS = [
    "PartitionName=DEFAULT State=UP MaxTime=INFINITE",
    "PartitionName=all Nodes=n[0-7] Default=YES PriorityTier=1",
    "PartitionName=short Nodes=n[0-3] PriorityTier=5 MaxTime=2",
    "PartitionName=side Nodes=n[6-7] PriorityTier=1",
]
TIERS = [
    "PartitionName=DEFAULT State=UP MaxTime=INFINITE",
    "PartitionName=low Nodes=n[0-7] Default=YES PriorityTier=1",
    "PartitionName=high Nodes=n[2-7] PriorityTier=5 PreemptMode=OFF",
]
TWO_TIERS = [*TIERS[:2], "PartitionName=high Nodes=n[0-7] PriorityTier=5 PreemptMode=OFF"]
#: Submission in s, seconds of work, limit in minutes, nodes, partition: who is suspended how often, and for whom.
SUSPENDED = [
    (1, 100, 3, 8, "low"),
    (20, 30, 2, 2, "high"),
    (30, 20, 1, 2, "low"),
    (45, 20, 1, 3, "high"),
    (60, 20, 1, 4, "low"),
    (170, 100, 2, 4, "low"),
    (171, 30, 2, 4, "low"),
    (185, 60, 2, 8, "high"),
    (200, 30, 1, 8, "high"),
    (215, 10, 1, 2, "low"),
]
PREEMPTION = ("PreemptType=preempt/partition_prio",)
SUSPENSION = "PreemptMode=SUSPEND,GANG"
#: A job that works for so many seconds in all: `sleep` would go on sleeping while it is suspended. Each suspension
#: spares it up to 0.4 s.
WORK = """import time
left, now = {seconds}, time.monotonic()
while left > 0:
    time.sleep(min(left, 0.2))
    before, now = now, time.monotonic()
    left -= min(now - before, 0.4)
"""
FINE = "SchedulerParameters=bf_interval=10,bf_resolution=1,sched_min_interval=200000"
AGED = ("PriorityWeightJobSize=1000", "PriorityWeightAge=100000", "PriorityMaxAge=0-1")
RELATIVE = ("PriorityWeightJobSize=100000", "PriorityFlags=SMALL_RELATIVE_TO_TIME", "PriorityCalcPeriod=1")
Trace = tuple[list[str], list[Row], list[str], bool]


def traces(shift: int = 0) -> dict[str, Trace]:
    """Return settings, jobs, partitions, and whether n[0-3] are reserved from 150 s to 330 s, by the trace's name.

    `shift`: of the seeds; other jobs are drawn.
    """

    def jobs(seed: int, count: int, more: More | None = None, **how: Any) -> list[Row]:
        return drawn_jobs(seed + shift, count, more, **how)

    return {
        "basic-shared": ([BASIC, TEN], jobs(201, 50), ONE_PARTITION, False),
        "defaults": ([], jobs(202, 45), ONE_PARTITION, False),
        "exclusive": ([BASIC], jobs(203, 45, whole=True, gap=9), ONE_PARTITION, False),
        "windows": (
            [BASIC, FINE],
            jobs(215, 45, whole=True, gap=9, extra_minutes=(0, 1, 3, 6, 12)),
            ONE_PARTITION,
            False,
        ),
        "multifactor": (_multifactor(*AGED), jobs(204, 50, _nice), ONE_PARTITION, False),
        "small-relative": (
            _multifactor(*RELATIVE),
            jobs(205, 45, whole=True, gap=9, extra_minutes=(0, 1, 2, 4)),
            ONE_PARTITION,
            False,
        ),
        "partitions": ([BASIC, TEN], jobs(206, 55, _parted), PARTITIONS, False),
        "partitions-whole": ([BASIC, TEN], jobs(222, 50, _parted, whole=True), PARTITIONS, False),
        "reservation": ([BASIC, TEN], jobs(207, 45), ONE_PARTITION, True),
        "licences": ([BASIC, "Licenses=m:2", TEN], jobs(208, 50, _licensed), ONE_PARTITION, False),
        "bf-licenses": ([BASIC, "Licenses=m:2", f"{TEN},bf_licenses"], jobs(208, 50, _licensed), ONE_PARTITION, False),
        "node-lists": ([BASIC, TEN], jobs(209, 55, _named), ONE_PARTITION, False),
        "chain": ([BASIC, TEN], jobs(210, 50, _chained), ONE_PARTITION, False),
        "preempt-cancel": ([BASIC, TEN, *PREEMPTION, "PreemptMode=CANCEL"], jobs(320, 50, _urgent), TIERS, False),
        "preempt-requeue": ([BASIC, TEN, *PREEMPTION, "PreemptMode=REQUEUE"], jobs(421, 50, _urgent), TIERS, False),
        "preempt-suspend": (
            [BASIC, TEN, *PREEMPTION, SUSPENSION],
            jobs(532, 34, _urgent_nodes, whole=True, gap=14, sizes=[1, 1, 2, 2, 3, 4, 5, 6]),
            TIERS,
            False,
        ),
        "suspension": ([BASIC, TEN, *PREEMPTION, SUSPENSION], _listed_jobs(SUSPENDED), TWO_TIERS, False),
    }


def record(name: str, trace: Trace, folder: Path, port: int) -> None:
    """Run a trace on a real Slurm in real time, and write NAME.csv and NAME.conf into a folder.

    NAME.starts.csv has when `squeue` expected each waiting job to start, every 10 s.
    """
    settings, rows, partitions, reserved = trace
    site = folder / f".{name}"
    shutil.rmtree(site, ignore_errors=True)
    for part in ("state", "log"):
        (site / part).mkdir(parents=True)
    nodes = f"NodeName=n[0-{NODES - 1}] CPUs={CPUS} RealMemory=100 State=UNKNOWN"
    told = [*settings, nodes, *partitions]
    local = f"{nodes} NodeHostname=localhost Port=[{port + 1}-{port + NODES}]"
    (site / "slurm.conf").write_text("\n".join([*_daemon_lines(site, port), *settings, local, *partitions]) + "\n")
    environment = {**os.environ, "SLURM_CONF": str(site / "slurm.conf")}
    daemons = [_daemon(site, environment, "slurmctld", "-D")]
    over, said = threading.Event(), list[tuple[float, str]]()
    try:
        time.sleep(3)
        daemons += [_daemon(site, environment, "slurmd", "-D", "-N", f"n{number}") for number in range(NODES)]
        time.sleep(12)
        began = time.time()
        watcher = threading.Thread(target=_watch, args=(environment, over, said))
        watcher.start()
        if reserved:
            start = datetime.datetime.fromtimestamp(began + 150).isoformat(timespec="seconds")
            what = f"ReservationName=maint StartTime={start} Duration=3 Nodes=n[0-3] Users=root Flags=MAINT"
            _ask(environment, "scontrol", "create", "reservation", *what.split())
        for number, row in enumerate(rows):
            time.sleep(max(0.0, began + row["submit"] - time.time()))
            seconds = row["sleep_s"]
            works = SUSPENSION in settings
            script = f"#!/usr/bin/python3\n{WORK.format(seconds=seconds)}" if works else f"#!/bin/sh\nsleep {seconds}\n"
            _ask(environment, "sbatch", *_arguments(number, row), text=script)
        while _ask(environment, "squeue", "-h", "-t", "PD,R,CG,S", "-o", "%i").split():
            time.sleep(5)
        over.set()
        watcher.join()
        text = _ask(environment, "scontrol", "-o", "show", "jobs")
    finally:
        over.set()
        for daemon in reversed(daemons):
            daemon.send_signal(signal.SIGTERM)
    shift, phase, clock, tick = clocks((site / "log" / "slurmctld.log").read_text(), began)
    note = f"# clock {clock:.2f} phase {phase:.2f} tick {tick:.5f}\n"
    if reserved:
        note += f"# reservation maint {150 + shift:.0f} {330 + shift:.0f} n[0-3]\n"
    (folder / f"{name}.conf").write_text(note + "\n".join(told) + "\n")
    write_table(folder / f"{name}.csv", text, rows, began - shift, shift)
    _write_starts(folder / f"{name}.starts.csv", said, began - shift)
    shutil.rmtree(site, ignore_errors=True)
    print(f"{name}: {len(rows)} jobs recorded", flush=True)


def _watch(environment: dict[str, str], over: threading.Event, said: list[tuple[float, str]]) -> None:
    """Note every 10 s when `squeue` expects the waiting jobs to start."""
    while not over.wait(10.0):
        said.append((time.time(), _ask(environment, "squeue", "-h", "-t", "PD", "-o", "%j|%S")))


def _write_starts(path: Path, said: list[tuple[float, str]], origin: float) -> None:
    """Write what `squeue` said as a table with times since `origin`, in seconds; empty: it did not know."""
    lines = ["moment,job,expected"]
    for moment, text in said:
        for name, _, expected in (line.partition("|") for line in text.split()):
            known = expected not in ("N/A", "Unknown")
            start = f"{datetime.datetime.fromisoformat(expected).timestamp() - origin:.2f}" if known else ""
            lines.append(f"{moment - origin:.2f},{name[1:]},{start}")
    path.write_text("\n".join(lines) + "\n")


def _daemon_lines(site: Path, port: int) -> list[str]:
    return f"""ClusterName=c{port}
SlurmctldHost=localhost
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
SlurmctldPort={port}
StateSaveLocation={site}/state
SlurmdSpoolDir={site}/spool.%n
SlurmctldPidFile={site}/slurmctld.pid
SlurmdPidFile={site}/slurmd.%n.pid
SlurmctldLogFile={site}/log/slurmctld.log
SlurmdLogFile={site}/log/slurmd.%n.log
SlurmctldDebug=debug
LogTimeFormat=iso8601_ms
DebugFlags=Backfill
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
MinJobAge=30000
KillWait=1
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill""".splitlines()


def _daemon(site: Path, environment: dict[str, str], *command: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*command, "-f", str(site / "slurm.conf")],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _ask(environment: dict[str, str], *command: str, text: str = "") -> str:
    done = subprocess.run(command, env=environment, input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{' '.join(command)}: {done.stderr.strip()}", flush=True)
    return done.stdout


def _arguments(number: int, row: Row) -> list[str]:
    size = ["--exclusive", "-N", str(row["asked"])] if row["whole"] else ["-n", str(row["asked"])]
    names = {"partition": "-p", "licences": "-L", "node": "-w"}
    more = [word for key, flag in names.items() if key in row for word in (flag, row[key])]
    more += ["-N", "1"] if "node" in row else []
    more += [f"--nice={row['nice']}"] if "nice" in row else []
    more += [f"--dependency={row['after']}"] if "after" in row else []
    return ["--parsable", "-J", f"j{number}", "-t", str(row["limit_min"]), "-o", "/dev/null", "-D", "/", *size, *more]


def clocks(log: str, began: float) -> tuple[float, float, float, float]:
    """Return by how much times shift so that slurmctld ticks at multiples, and its phase, clock and tick, in s."""
    when = re.compile(r"^\[(\S+?)\].*(Running job scheduler|_attempt_backfill: beginning)", re.MULTILINE)
    found = [(datetime.datetime.fromisoformat(at).timestamp(), what) for at, what in when.findall(log)]
    ticks, passes = ([at for at, what in found if (what[0] == "R") == kind and at > began] for kind in (True, False))
    counts = [0]
    for before, after in itertools.pairwise(ticks):
        counts.append(counts[-1] + round((after - before) / 1.0025))
    last = max(2, len(ticks) * 3 // 4)
    tick = (ticks[last] - ticks[0]) / (counts[last] - counts[0])
    first = ticks[0] - began
    shift = -(-first // tick) * tick - first
    return shift, passes[0] - began + shift, (began - shift) % 3600, tick


def write_table(path: Path, text: str, rows: list[Row], origin: float, shift: float) -> None:
    """Write what scontrol says of the jobs as a table, with times since `origin`, in seconds."""
    columns = "job submit start end nodes asked whole limit_min sleep_s partition licences node nice after priority"
    columns += " state restarts"
    table = []
    for line in text.splitlines():
        fields = dict(re.findall(r"(\w+)=(\S*)", line))
        number = int(fields["JobName"][1:])
        start, end = (
            round(datetime.datetime.fromisoformat(fields[key]).timestamp() - origin, 2)
            for key in ("StartTime", "EndTime")
        )
        row = rows[number] | {"job": number, "start": start, "end": end, "nodes": fields["NodeList"]}
        table.append(row | {"submit": round(rows[number]["submit"] + shift, 2), "priority": fields["Priority"]})
        table[-1] |= {"state": fields["JobState"], "restarts": fields["Restarts"]}
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns.split(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(table, key=lambda row: row["job"]))


def print_table(folder: Path, *, phases: bool) -> None:
    """Print for each recording the mean wait and the share of pairs in Slurm's order, beside easy and conservative."""
    print("| trace | Slurm, mean wait in s | slurm-backfill | pairs | easy | pairs | conservative | pairs |")
    print("|---|---|---|---|---|---|---|---|")
    apart, order = [], []
    for path in sorted(set(folder.glob("*.csv")) - set(folder.glob("*.starts.csv"))):
        real = read_recording(path)
        tries = [real.run(**one) for one in real.phases()] if phases or real.clock is None else [real.run()]
        best = max(tries, key=real.pairs)
        mean = real.wait(real.starts)
        apart.append(abs(real.wait(best) / mean - 1.0))
        order.append(real.pairs(best))
        cells = [f"{real.wait(starts):.1f} | {real.pairs(starts):.3f}" for starts in (best, *map(real.run, OTHERS))]
        spread = sorted(map(real.pairs, tries))
        more = f" {spread[0]:.3f} to {spread[-1]:.3f} over {len(tries)} phases |" if len(tries) > 1 else ""
        print(f"| {real.name} | {mean:.1f} | {' | '.join(cells)} |{more}", flush=True)
    print(f"\nmean wait apart by {statistics.mean(apart):.1%} on average, pairs in order {statistics.mean(order):.3f}")


OTHERS = ("easy", "conservative")


# ---------------------------------------------------------------------- accounts, as operators have them

DOOR = ("slurm-backfill", "easy")
#: The site whose accounts do not tell what happened.
UNTOLD = "t7_events"


def told_starts(path: Path) -> tuple[dict[str, float], dict[str, float]]:
    """Return when the jobs of an account were submitted and started, in seconds; nothing of batdispatch reads it."""
    submits, starts = {}, {}
    with path.open(newline="") as file:
        for row in csv.DictReader(file, delimiter="|", quoting=csv.QUOTE_NONE):
            name = row["JobID"]
            if "." not in name and "[" not in name and row["Start"][:1].isdigit():
                submits[name], starts[name] = (
                    datetime.datetime.fromisoformat(row[key]).timestamp() for key in ("Submit", "Start")
                )
    return submits, starts


def share_in_order(real: dict[str, float], ours: dict[str, float]) -> float:
    """Return the share of the pairs of jobs that start in the real order; jobs that start together count half."""
    right = total = 0.0
    for one, other in itertools.combinations(real, 2):
        apart, simulated = real[one] - real[other], ours[one] - ours[other]
        if apart:
            total += 1.0
            right += 0.5 if not simulated else float((apart > 0) == (simulated > 0))
    return right / total


class SiteRow(NamedTuple):
    """A row of the table: what a real Slurm did at a site, and what is simulated by the command that operators use."""

    site: str
    jobs: int
    #: Of the real Slurm, s.
    mean_wait: float
    #: Mean wait in s and share of pairs in the real order, of each of `DOOR`.
    figures: tuple[tuple[float, float], ...]

    def __str__(self) -> str:
        cells = " | ".join(f"{wait:.1f} | {pairs:.3f}" for wait, pairs in self.figures)
        return f"| {self.site} | {self.jobs} | {self.mean_wait:.1f} | {cells} |"


def site_row(site: Path) -> SiteRow:
    """Simulate a site and return how near that comes."""
    submits, real = told_starts(site / "sacct.txt")
    with tempfile.TemporaryDirectory() as out:
        words = [sys.executable, "-m", "batdispatch", "compare", str(site / "sacct.txt"), "--slurm", str(site / "site")]
        words += ["--dispatchers", ",".join(DOOR), "--no-report", "--out", out]
        subprocess.run(words, check=True, capture_output=True)
        cells = []
        for name in DOOR:
            with (Path(out) / name / "jobs.csv").open(newline="") as file:
                rows = {row["job_id"]: row for row in csv.DictReader(file)}
            ours = {job: float(rows[job]["starting_time"]) for job in real}
            wait = statistics.mean(ours[job] - float(rows[job]["submission_time"]) for job in real)
            cells.append((wait, share_in_order(real, ours)))
    return SiteRow(site.name, len(real), statistics.mean(real[job] - submits[job] for job in real), tuple(cells))


def print_accounts(folder: Path, sites: Sequence[str] = ()) -> None:
    """Print how near each site of a folder is simulated, or only some."""
    print("| site | jobs | Slurm, mean wait in s | slurm-backfill | pairs | easy | pairs |")
    print("|---|---|---|---|---|---|---|")
    found = []
    for site in sorted(path.parent for path in folder.glob("*/sacct.txt")):
        if not sites or site.name in sites:
            found.append(site_row(site))
            print(found[-1], flush=True)
    order = [row.figures[0][1] for row in found]
    apart = {row.site: abs(row.figures[0][0] / row.mean_wait - 1.0) for row in found}
    print(
        f"\nslurm-backfill: pairs in order {statistics.mean(order):.3f} on average, {min(order):.3f} at least; "
        f"mean wait apart by {statistics.mean(apart.values()):.1%} on average, {max(apart.values()):.1%} at most"
    )
    left = [value for site, value in apart.items() if site != UNTOLD]
    if len(left) < len(apart):
        print(f"without {UNTOLD}: mean wait apart by {statistics.mean(left):.1%} on average, {max(left):.1%} at most")


def print_changes(folder: Path) -> None:
    """Print what `whatif` says of changes whose effect was recorded, and how far that is from what came of them."""
    print("| site | change | really | whatif | 95 % interval | off by |")
    print("|---|---|---|---|---|---|")
    off: list[float] = []
    right = 0
    cases = (*CHANGES, *MORE)
    for case in cases:
        true = truth(folder, case)
        with tempfile.TemporaryDirectory() as out:
            said = told(folder, case, Path(out))
        off.append(abs(said.ratio / true - 1.0))
        right += (said.ratio > 1.0) == (true > 1.0)
        site = f"{case.site}, partition {case.partition}" if case.partition else case.site
        cells = f"{true:.2f} | {said.ratio:.2f} | {said.low:.2f} to {said.high:.2f} | {off[-1]:.0%}"
        print(f"| {site} | `{case.change}` | {cells} |", flush=True)
    print(
        f"\nright sign: {right} of {len(cases)}; off by {statistics.median(off):.1%} in the median, "
        f"{max(off):.1%} at most"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recordings", type=Path, default=FOLDER, metavar="DIR")
    parser.add_argument("--accounts", type=Path, metavar="DIR", help="sites with accounts instead")
    parser.add_argument("--what-ifs", type=Path, metavar="DIR", help="changes of such sites instead")
    parser.add_argument("--site", action="append", help="only these of the sites with accounts")
    parser.add_argument("--phases", action="store_true", help="try phases also where the clock is known")
    parser.add_argument("--record", type=Path, metavar="DIR")
    parser.add_argument("--trace", action="append", choices=list(traces()), help="only these")
    parser.add_argument("--shift", type=int, default=0, help="draw other jobs")
    parser.add_argument("--parallel", type=int, default=4)
    parser.add_argument("--port", type=int, default=21_000)
    given = parser.parse_args()
    if given.accounts is not None:
        print_accounts(given.accounts, given.site or ())
        return
    if given.what_ifs is not None:
        print_changes(given.what_ifs)
        return
    if given.record is not None:
        if not all(map(shutil.which, ("slurmctld", "slurmd"))) or os.geteuid():
            sys.exit("needs root, slurmctld and slurmd (Debian: apt-get install slurm-wlm)")
        given.record.mkdir(parents=True, exist_ok=True)
        with ThreadPoolExecutor(given.parallel) as pool:
            drawn = traces(given.shift)
            named = given.trace or list(drawn)
            ports = (given.port + 100 * number for number in range(len(named)))
            list(pool.map(lambda name, port: record(name, drawn[name], given.record.resolve(), port), named, ports))
    print_table(given.record or given.recordings, phases=given.phases)


if __name__ == "__main__":
    main()
