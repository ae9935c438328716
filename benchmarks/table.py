"""What whole processes cost, as the table of docs/performance.md: ours beside the peers that are there, in turns.

Usage: ``python benchmarks/table.py --logs DIR [--rounds 3] [--large 1300000] [--only WORD ...] [--before CHECKOUT]
[--growth 10000 100000 1000000]``

DIR holds KTH-SP2-1996-2.1-cln.swf.xz and CEA-Curie-2011-2.1-cln.swf.xz; a log that is not there has no rows. Each row
is a case: a run or a comparison of this package, from the start of Python to the last file. Columns are CPU-seconds
(user and system) of whole processes, least and median of the rounds, and peak memory; in each round all programs take
their turn, so that a busy hour slows them all. The peers:

- ours, Python: the same command with ``--compiled never``;
- before: the same command by the package of another checkout, with ``--before``;
- C++: `easy_counts.cpp`, built with ``g++ -O2`` where there is one; and minimal Python: `yardstick.py`. Both read
  numbers of a binary file, count hosts, and write no rows: they do less.

``--growth`` draws jobs of distinct sizes at load 0.9 on 16,384 hosts instead, and prints what easy takes for each
number of them and the exponent from one to the next.
"""

from __future__ import annotations

import argparse
import math
import statistics
import struct
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from shlex import quote
from typing import NamedTuple

import numpy as np
from compiled import built, drawn, platform_of
from easy import rigid
from timing import Usage, command, process

from batdispatch.inputs.workloads import Workload, write_workload
from batdispatch.inputs.workloads.importers import read_log

LOGS = {"KTH-SP2": "KTH-SP2-1996-2.1-cln.swf.xz", "CEA-Curie": "CEA-Curie-2011-2.1-cln.swf.xz"}
#: Program of the minimal Python: the file of jobs, and the number of hosts.
MINIMAL = """
import struct, sys
sys.path.insert(0, sys.argv[1])
from yardstick import Rigid, easy
with open(sys.argv[2], "rb") as file:
    data = file.read()
easy([Rigid(*job) for job in struct.iter_unpack("<dddd", data[8:])], int(sys.argv[3]))
"""

Program = Callable[[], Usage]


class Case(NamedTuple):
    """A row of the table: what is run, and by whom."""

    name: str
    programs: dict[str, Program]


class Site(NamedTuple):
    """A workload with its machine, as files of ours and of the peers."""

    name: str
    platform: Path
    workload: Path
    numbers: Path
    hosts: int


def site_of(name: str, workload: Workload, hosts: int, folder: Path) -> Site:
    """Write the files."""
    path, numbers = folder / f"{name}.json", folder / f"{name}.bin"
    write_workload(workload, path)
    jobs = rigid(workload)
    numbers.write_bytes(struct.pack("<q", len(jobs)) + np.array(jobs, dtype=np.float64).tobytes())
    return Site(name, platform_of(hosts, folder), path, numbers, hosts)


def ours(words: list[str], out: Path, before: Path | None) -> dict[str, Program]:
    """Return our programs: a command in a fresh folder, as it is, in Python, and as it was."""

    def call(*more: str, checkout: Path | None = None) -> Program:
        def run() -> Usage:
            with tempfile.TemporaryDirectory(dir=out) as folder:
                return command(*words, *more, "--out", f"{folder}/out", checkout=checkout)

        return run

    found = {"ours": call()}
    if words[0] in ("run", "compare"):
        found["ours, Python"] = call("--compiled", "never")
    if before is not None:
        found["before"] = call(checkout=before)
    return found


def peers(site: Site, cpp: Path | None) -> dict[str, Program]:
    """Return the peers that simulate EASY."""
    here = str(Path(__file__).parent)
    minimal = [sys.executable, "-c", MINIMAL, here, str(site.numbers), str(site.hosts)]
    found: dict[str, Program] = {"minimal Python": lambda: process(minimal)}
    if cpp is not None:
        words = ["sh", "-c", f"exec {cpp} easy {site.hosts} < {quote(str(site.numbers))} > /dev/null"]
        found["C++"] = lambda: process(words)
    return found


def cases(options: argparse.Namespace, folder: Path) -> list[Case]:
    """Return all rows."""
    found = []
    cpp = built(folder)
    sites = {}
    for name, file in LOGS.items():
        if options.logs is not None and (options.logs / file).is_file():
            workload = read_log(options.logs / file)[0]
            sites[name] = site_of(name, workload, workload.nb_res or 1, folder)
    if options.large:
        name = f"{options.large:,} jobs drawn"
        sites[name] = site_of(name, drawn(options.large, 158_976, 0.9), 158_976, folder)
    for name, site in sites.items():
        place = ["--platform", str(site.platform), "--workload", str(site.workload)]
        run = ["run", *place, "--no-record", "--dispatcher"]
        easy = ours([*run, "easy"], folder, options.before) | peers(site, cpp)
        if name not in LOGS:
            # It would take minutes.
            del easy["ours, Python"]
        found.append(Case(f"{name}, easy", easy))
        if name == "KTH-SP2":
            for each in ("conservative", "slurm-backfill"):
                found.append(Case(f"{name}, {each}", ours([*run, each], folder, options.before)))
            several = ["compare", *place, "--dispatchers", "fcfs,easy,filler", "--no-record", "--no-report"]
            found.append(Case(f"{name}, compare fcfs,easy,filler", ours(several, folder, options.before)))
    return found + short_cases(options, folder)


def short_cases(options: argparse.Namespace, folder: Path) -> list[Case]:
    """Return the rows in which little is simulated."""
    site = site_of("ten", drawn(10, 64, 0.9), 64, folder)
    place = ["--platform", str(site.platform), "--workload", str(site.workload)]
    words = {
        "ten jobs, recorded run": ["run", *place, "--dispatcher", "easy"],
        "ten jobs, compare with report": ["compare", *place, "--dispatchers", "fcfs,easy"],
        "demo": ["demo"],
    }
    found = [Case(name, ours(each, folder, options.before)) for name, each in words.items()]
    for case in found:
        case.programs.pop("ours, Python", None)
    return [*found, Case("--help", {"ours": lambda: command("--help")})]


def measured(listed: list[Case], rounds: int) -> None:
    """Print the table, row by row."""
    print("| case | program | least, CPU-s | median | ratio to ours | peak, MB |\n|---|---|---:|---:|---:|---:|")
    for case in listed:
        usage: dict[str, list[Usage]] = {name: [] for name in case.programs}
        for _ in range(rounds):
            for name, program in case.programs.items():
                usage[name].append(program())
        of_ours = statistics.median(each.cpu for each in usage["ours"])
        for name, taken in usage.items():
            seconds = [each.cpu for each in taken]
            middle = statistics.median(seconds)
            cells = [f"{min(seconds):.2f}", f"{middle:.2f}", f"{middle / of_ours:.2f}"]
            cells.append(f"{max(each.memory for each in taken):,.0f}")
            print(f"| {case.name} | {name} | {' | '.join(cells)} |", flush=True)


def growth(sizes: list[int], rounds: int, folder: Path) -> None:
    """Print what easy takes for numbers of jobs, and the exponents."""
    print("| jobs | least, CPU-s | exponent | peak, MB |\n|---:|---:|---:|---:|")
    before: tuple[int, float] | None = None
    for count in sizes:
        site = site_of(f"jobs{count}", drawn(count, 16_384, 0.9), 16_384, folder)
        words = ["run", "--platform", str(site.platform), "--workload", str(site.workload), "--dispatcher", "easy"]
        program = ours([*words, "--no-record"], folder, None)["ours"]
        taken = [program() for _ in range(rounds)]
        seconds = min(each.cpu for each in taken)
        exponent = "" if before is None else f"{math.log(seconds / before[1]) / math.log(count / before[0]):.2f}"
        print(f"| {count:,} | {seconds:.2f} | {exponent} | {max(each.memory for each in taken):,.0f} |", flush=True)
        before = count, seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--large", type=int, default=0)
    parser.add_argument("--only", nargs="*", help="rows whose name holds one of these words")
    parser.add_argument("--before", type=Path, help="another checkout, with its kernels built")
    parser.add_argument("--growth", type=int, nargs="*", help="numbers of jobs")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        if options.growth:
            growth(options.growth, options.rounds, Path(name))
            return
        words = options.only or [""]
        listed = [case for case in cases(options, Path(name)) if any(word in case.name for word in words)]
        measured(listed, options.rounds)


if __name__ == "__main__":
    main()
