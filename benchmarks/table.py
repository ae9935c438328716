"""What whole processes cost, as the table of docs/performance.md: ours beside the peers that are there, in turns.

Usage: ``python benchmarks/table.py --logs DIR [--rounds 3] [--large 1300000] [--only WORD ...] [--before CHECKOUT]
[--hpcopt PROGRAM] [--growth 10000 100000 1000000]``

DIR holds KTH-SP2-1996-2.1-cln.swf.xz and CEA-Curie-2011-2.1-cln.swf.xz; a log that is not there has no rows. Each case
is a run, a comparison or a report of this package, from the start of Python to the last file. Columns are CPU-seconds
(user and system) of whole processes, least and median of the rounds, and peak memory; in each round all programs take
their turn, so that a busy hour slows them all. What is not there is called absent; of HPCOpt the table then has what
others measured. The peers:

- ours, Python: the same command with ``--compiled never``;
- before: the same command by the package of another checkout, with ``--before``;
- C++: `easy_fastest.cpp`, built with ``g++ -O2`` where there is one; and minimal Python: `yardstick.py`. Both read
  numbers of a binary file, count hosts, and write no rows: they do less;
- HPCOpt: ``sim-runner`` of ErenAri/HCP-workload-optimizer, in Rust (``cargo build --release`` in its ``rust/``), found
  by ``--hpcopt`` or on the path. It reads JSON, counts processors, takes real run times for limits, and writes means.

``--growth`` draws jobs of distinct sizes at load 0.9 on 16,384 hosts instead, and prints what easy takes for each
number of them, in a kernel and in Python, and the exponent from one to the next.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import statistics
import struct
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from shlex import quote
from typing import NamedTuple

import numpy as np
from compiled import built, drawn, platform_of
from easy import rigid
from timing import Usage, command, process
from yardstick import Rigid

from batdispatch.inputs.workloads import Workload, write_workload
from batdispatch.inputs.workloads.importers import read_log

#: Rules by which hosts sleep, as options of `powered`.
SLEEPS = ("sleep=idle", "sleep=idle,after=300,keep=8", "sleep=quiet", "sleep=quiet,after=3600,keep=8")
LOGS = {"KTH-SP2": "KTH-SP2-1996-2.1-cln.swf.xz", "CEA-Curie": "CEA-Curie-2011-2.1-cln.swf.xz"}
#: What others measured of HPCOpt on another day: case -> its CPU-seconds, those of ours beside it, and its peak in MB.
HPCOPT = {"CEA-Curie, easy": (0.53, 1.73, ""), "1,300,000 jobs drawn, easy": (2.96, 7.42, "241")}
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
    """Rows of the table: what is run, and by whom; None: a program that is not there."""

    name: str
    programs: dict[str, Program | None]


class Site(NamedTuple):
    """A workload with its machine, as files of ours and of the peers."""

    name: str
    platform: Path
    workload: Path
    numbers: Path
    hosts: int

    @property
    def words(self) -> list[str]:
        """Its files as options."""
        return ["--platform", str(self.platform), "--workload", str(self.workload)]


def site_of(name: str, workload: Workload, hosts: int, folder: Path) -> Site:
    """Write the files."""
    path, numbers = folder / f"{name}.json", folder / f"{name}.bin"
    write_workload(workload, path)
    jobs = rigid(workload)
    numbers.write_bytes(struct.pack("<q", len(jobs)) + np.array(jobs, dtype=np.float64).tobytes())
    return Site(name, platform_of(hosts, folder), path, numbers, hosts)


def ours(words: list[str], out: Path, before: Path | None) -> dict[str, Program | None]:
    """Return our programs: a command in a fresh folder, as it is, in Python, and as it was."""

    def call(*more: str, checkout: Path | None = None) -> Program:
        def run() -> Usage:
            with tempfile.TemporaryDirectory(dir=out) as folder:
                return command(*words, *more, "--out", f"{folder}/out", checkout=checkout)

        return run

    found: dict[str, Program | None] = {"ours": call()}
    if words[0] in ("run", "compare"):
        found["ours, Python"] = call("--compiled", "never")
    if before is not None:
        found["before"] = call(checkout=before)
    return found


def peers(site: Site, cpp: Path | None, hpcopt: str | None) -> dict[str, Program | None]:
    """Return the peers that simulate EASY."""
    here = str(Path(__file__).parent)
    minimal = [sys.executable, "-c", MINIMAL, here, str(site.numbers), str(site.hosts)]
    found: dict[str, Program | None] = {"minimal Python": lambda: process(minimal), "C++": None, "HPCOpt": None}
    if cpp is not None:
        words = ["sh", "-c", f"exec {cpp} {site.hosts} < {quote(str(site.numbers))} > /dev/null"]
        found["C++"] = lambda: process(words)
    if hpcopt is not None:
        found["HPCOpt"] = lambda: process([hpcopt, *_in_hpcopt(site)])
    return found


def _in_hpcopt(site: Site) -> list[str]:
    """Return the words that let HPCOpt simulate EASY; its file of whole seconds is written when it is first needed."""
    path = site.numbers.with_suffix(".hpcopt.json")
    if not path.exists():
        jobs = struct.iter_unpack("<dddd", site.numbers.read_bytes()[8:])
        keys = ("submit_ts", "runtime_actual_sec", "requested_cpus")
        rows = [
            {
                "job_id": index,
                **dict(zip(keys, (int(job.submission), math.ceil(job.runtime), int(job.hosts)), strict=True)),
            }
            for index, job in enumerate(Rigid(*each) for each in jobs)
        ]
        path.write_text(json.dumps(rows))
    policy = ["--policy", "EASY_BACKFILL_BASELINE", "--capacity-cpus", str(site.hosts)]
    return ["--input", str(path), *policy, "--output", str(path.with_suffix(".out"))]


def cases(options: argparse.Namespace, folder: Path) -> Iterator[Case]:
    """Yield all cases whose name is asked for; what they read is written before."""
    words = options.only or [""]
    cpp = built(folder, "easy_fastest")
    hpcopt = options.hpcopt or shutil.which("sim-runner")

    def makers() -> Iterator[tuple[str, Callable[[Site], dict[str, Program | None]], str]]:
        def simulation(dispatcher: str) -> Callable[[Site], dict[str, Program | None]]:
            return lambda site: ours(
                ["run", *site.words, "--no-record", "--dispatcher", dispatcher], folder, options.before
            )

        def easy(site: Site) -> dict[str, Program | None]:
            return simulation("easy")(site) | peers(site, cpp, hpcopt)

        def large(site: Site) -> dict[str, Program | None]:
            # Python would take minutes.
            return {name: program for name, program in easy(site).items() if name != "ours, Python"}

        def comparison(site: Site) -> dict[str, Program | None]:
            several = ["--dispatchers", "fcfs,easy,filler", "--no-record", "--no-report"]
            return ours(["compare", *site.words, *several], folder, options.before)

        def report(site: Site) -> dict[str, Program | None]:
            return recorded_report(site, folder, options.before)

        for name in LOGS:
            yield f"{name}, easy", easy, name
        for dispatcher in ("conservative", "slurm-backfill"):
            yield f"KTH-SP2, {dispatcher}", simulation(dispatcher), "KTH-SP2"
        for dispatcher in ("easy", "conservative"):
            yield f"KTH-SP2 with watts, {dispatcher}", partial(powered, folder=folder, dispatcher=dispatcher), "KTH-SP2"
        yield "KTH-SP2, compare fcfs,easy,filler", comparison, "KTH-SP2"
        for name in LOGS:
            yield f"{name}, report of two recorded runs", report, name
        if options.large:
            yield f"{options.large:,} jobs drawn, easy", large, f"{options.large:,} jobs drawn"

    sites: dict[str, Site | None] = {}
    for name, make, place in makers():
        if not any(word in name for word in words):
            continue
        if place not in sites:
            sites[place] = _read_site(place, options, folder)
        if (site := sites[place]) is not None:
            yield Case(name, make(site))
    others = [conversion(options, folder), *short_cases(options, folder)]
    yield from (case for case in others if any(word in case.name for word in words))


def _read_site(name: str, options: argparse.Namespace, folder: Path) -> Site | None:
    """Return a log's or drawn site, whose files are written; None: there is no such log."""
    if name not in LOGS:
        return site_of(name, drawn(options.large, 158_976, 0.9), 158_976, folder)
    if options.logs is None or not (options.logs / LOGS[name]).is_file():
        return None
    workload = read_log(options.logs / LOGS[name])[0]
    return site_of(name, workload, workload.nb_res or 1, folder)


def recorded_report(site: Site, folder: Path, before: Path | None) -> dict[str, Program | None]:
    """Return the programs that make the report of easy and fcfs, with explanations, of runs that are recorded once."""
    runs = [folder / f"{site.name}-{dispatcher}" for dispatcher in ("fcfs", "easy")]

    def call(checkout: Path | None) -> Program:
        def run() -> Usage:
            for path, dispatcher in zip(runs, ("fcfs", "easy"), strict=True):
                if not path.exists():
                    command("run", *site.words, "--dispatcher", dispatcher, "--out", str(path))
            return command("report", *map(str, runs), "--output", str(folder / "report.html"), checkout=checkout)

        return run

    found: dict[str, Program | None] = {"ours": call(None)}
    return found if before is None else found | {"before": call(before)}


def powered(site: Site, folder: Path, dispatcher: str) -> dict[str, Program | None]:
    """Return a dispatcher alone, with its energy counted, and inside `powered`, on hosts that state watts and sleep."""
    platform = folder / "watts.xml"
    words = ["--hosts", str(site.hosts), "--power", "batsim-cluster", "--out", str(platform)]
    command("platform", "generate", "flat", *words)
    inputs = ["run", "--platform", str(platform), "--workload", str(site.workload), "--no-record", "--dispatcher"]
    found = {"ours": [dispatcher], "energy counted": [dispatcher, "--energy", "exact"]}
    found |= {sleep: [f"powered[dispatcher={dispatcher},{sleep}]"] for sleep in SLEEPS}
    return {name: ours([*inputs, *more], folder, None)["ours"] for name, more in found.items()}


def conversion(options: argparse.Namespace, folder: Path) -> Case:
    """Return the case in which a log becomes a workload; the log is drawn when it is first needed."""
    log, lines = folder / "drawn.swf", 1_000_000

    def call(checkout: Path | None) -> Program:
        def run() -> Usage:
            if not log.exists():
                _draw_swf(log, lines)
            return command("convert", str(log), "-o", str(folder / "converted.json"), checkout=checkout)

        return run

    programs = {"ours": call(None)} | ({"before": call(options.before)} if options.before is not None else {})
    return Case(f"{lines:,} lines of SWF, convert", programs)


def _draw_swf(path: Path, lines: int) -> None:
    rng = np.random.default_rng(1)
    run = np.minimum(rng.lognormal(7, 2, lines), 259_200).astype(int)
    submit, size = np.cumsum(rng.exponential(30, lines)).astype(int), 2 ** rng.integers(0, 9, lines)
    limit = (run * rng.uniform(0.9, 5, lines)).astype(int) // 60 * 60 + 60
    names = [rng.integers(1, most, lines) for most in (500, 40, 200, 5)]
    unknown = np.full(lines, -1)
    before = [np.arange(1, lines + 1), submit, rng.integers(0, 1_000, lines), run, size, unknown, unknown, size, limit]
    columns = [*before, unknown, rng.choice([0, 1, 1, 1, 5], lines), *names, unknown, unknown, unknown]
    np.savetxt(path, np.column_stack(columns), fmt="%d", header=" MaxProcs: 16384", comments=";")


def short_cases(options: argparse.Namespace, folder: Path) -> list[Case]:
    """Return the cases in which little is simulated."""
    site = site_of("ten", drawn(10, 64, 0.9), 64, folder)
    words = {
        "ten jobs, recorded run": ["run", *site.words, "--dispatcher", "easy"],
        "ten jobs, compare with report": ["compare", *site.words, "--dispatchers", "fcfs,easy"],
        "demo": ["demo"],
    }
    found = [Case(name, ours(each, folder, options.before)) for name, each in words.items()]
    for case in found:
        case.programs.pop("ours, Python", None)
    return [*found, Case("--help", {"ours": lambda: command("--help")})]


def measured(listed: Iterable[Case], rounds: int) -> None:
    """Print the table, case by case."""
    print("| case | program | least, CPU-s | median | ratio to ours | peak, MB |\n|---|---|---:|---:|---:|---:|")
    for case in listed:
        usage: dict[str, list[Usage]] = {name: [] for name in case.programs}
        for _ in range(rounds):
            for name, program in case.programs.items():
                usage[name] += [] if program is None else [program()]
        of_ours = statistics.median(each.cpu for each in usage["ours"])
        for name, taken in usage.items():
            seconds = [each.cpu for each in taken]
            cells = ["absent", "", "", ""]
            if not seconds and name == "HPCOpt" and case.name in HPCOPT:
                theirs, beside, peak = HPCOPT[case.name]
                name += f", absent; others measured it beside {beside:.2f} s of ours"
                cells = [f"{theirs:.2f}", "", f"{theirs / beside:.2f}", peak]
            if seconds:
                middle = statistics.median(seconds)
                cells = [f"{min(seconds):.2f}", f"{middle:.2f}", f"{middle / of_ours:.2f}"]
                cells.append(f"{max(each.memory for each in taken):,.0f}")
            print(f"| {case.name if name == 'ours' else ''} | {name} | {' | '.join(cells)} |", flush=True)


def growth(sizes: list[int], rounds: int, folder: Path) -> None:
    """Print what easy takes for numbers of jobs, in a kernel and in Python, and the exponents."""
    print("| jobs | program | least, CPU-s | exponent | peak, MB |\n|---:|---|---:|---:|---:|")
    before: dict[str, tuple[int, float]] = {}
    for count in sizes:
        site = site_of(f"jobs{count}", drawn(count, 16_384, 0.9), 16_384, folder)
        for name, program in ours(["run", *site.words, "--dispatcher", "easy", "--no-record"], folder, None).items():
            assert program is not None
            taken = [program() for _ in range(rounds)]
            seconds = min(each.cpu for each in taken)
            last, least = before.get(name, (count, seconds))
            exponent = f"{math.log(seconds / least) / math.log(count / last):.2f}" if last < count else ""
            peak = max(each.memory for each in taken)
            print(f"| {count:,} | {name} | {seconds:.2f} | {exponent} | {peak:,.0f} |", flush=True)
            before[name] = count, seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--large", type=int, default=1_300_000, help="jobs drawn for a row of easy; 0: none")
    parser.add_argument("--hpcopt", help="HPCOpt's sim-runner")
    parser.add_argument("--only", nargs="*", help="rows whose name holds one of these words")
    parser.add_argument("--before", type=Path, help="another checkout, with its kernels built")
    parser.add_argument("--growth", type=int, nargs="*", help="numbers of jobs")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        if options.growth:
            growth(options.growth, options.rounds, Path(name))
            return
        measured(cases(options, Path(name)), options.rounds)


if __name__ == "__main__":
    main()
