"""Whether the table of a comparison over replicates is that of its runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from batdispatch.audit.findings import Violation, part
from batdispatch.core.errors import InputError
from batdispatch.core.line.options import parse_named
from batdispatch.report.replicates.facts import Facts, read_facts, title_of
from batdispatch.report.replicates.table import DISPATCHER, REPLICATE, WORKLOAD
from batdispatch.results.run_files import REPLICATES_TABLE
from batdispatch.results.run_names import belied_name
from batdispatch.results.runs import jobs_file, read_result
from batdispatch.runs.replicates import RUNS, WHOLE, read_runs, table_of

KIND = "table"


def check_replicates(folder: Path) -> Iterator[Violation]:
    """Yield where replicates.csv says otherwise than the runs do.

    Raises:
        InputError: the table, what is told about the comparison, or a run cannot be read.
    """
    facts, table = read_facts(folder), read_runs(folder / REPLICATES_TABLE)
    names = list(dict.fromkeys(table[REPLICATE]))
    if (asked := _count_of(facts)) not in (None, len(names)):
        yield Violation(KIND, f"there are {len(names)} replicates, and the command made {asked}")
    given = {name: text or name for name, text, _ in facts.who}
    is_whole = (folder / RUNS / WHOLE).is_dir()
    places = [folder / RUNS / name for name in ([WHOLE] if is_whole else (each.replace(" ", "-") for each in names))]
    dispatchers = []
    for name in dict.fromkeys(table[DISPATCHER]):
        runs = [_run_of(place, given.get(name, name)) for place in places]
        found = [run or folder / "no-such-run" for run in runs]
        dispatchers.append((name, found * len(names) if is_whole else found))
        for run in filter(None, runs):
            if said := belied_name(name, read_result(run).settings):
                yield Violation(KIND, f"{run.relative_to(folder)}: {said}")
    yield from _windows(names, dispatchers[0][1][0]) if is_whole and dispatchers else ()
    yield from _inputs(names[: len(places)], [runs[: len(places)] for _, runs in dispatchers])
    workload = next(iter(table[WORKLOAD]), "")
    yield from _headings(folder, facts, str(workload), [str(name) for name in dict.fromkeys(table[DISPATCHER])])
    noted = (folder / REPLICATES_TABLE).read_bytes()
    told, expected = (_lines(text) for text in (noted, table_of(workload, names, dispatchers)))
    for number, (one, other) in enumerate(zip(told, expected, strict=False), start=1):
        if one != other:
            yield Violation(KIND, f"line {number} is {one[:200]!r}, its run gives {other[:200]!r}")
    if len(told) != len(expected):
        yield Violation(KIND, f"{len(told)} lines, the runs give {len(expected)}")


def _headings(folder: Path, facts: Facts, workload: str, dispatchers: list[str]) -> Iterator[Violation]:
    """Yield what the page would print of the comparison that its runs and its table do not bear out."""
    if facts.title != title_of(workload):
        yield Violation(KIND, f"the title is {facts.title!r}, and the table is of {workload}")
    words = [Path(word).name for text in facts.rerun for word in text.split()]
    if words and not any(word.strip("'\"").startswith(workload) for word in words):
        yield Violation(KIND, f"the table is of {workload}, and the command that made it names no such workload")
    for name, _ in facts.failures:
        if jobs_file(folder / RUNS / name):
            yield Violation(KIND, f"{name} is said to have failed, and its run is there")
    for name, _ in facts.refused:
        if name in dispatchers:
            yield Violation(KIND, f"{name} is said to take no part, and the table has it")


def _lines(content: bytes) -> list[str]:
    return content.decode(errors="replace").splitlines()


def _windows(names: list[str], run: Path) -> Iterator[Violation]:
    """Yield where the windows of a run of the whole workload are not as many as the replicates, or stand twice."""
    windows = [(one.begin, one.end) for one in read_result(run).workload.windows] if jobs_file(run) else []
    if windows and len(windows) != len(names):
        yield Violation(KIND, f"there are {len(names)} replicates, and the runs count {len(windows)} windows")
    if len(set(windows)) < len(windows):
        yield Violation(KIND, "two windows of the runs are the same")


def _inputs(names: list[str], dispatchers: list[list[Path]]) -> Iterator[Violation]:
    """Yield the replicates whose runs have different inputs, and those that have the inputs of another."""
    seen: dict[str, str] = {}
    for name, *runs in zip(names, *dispatchers, strict=True):
        made = {_made_of(run) for run in runs if jobs_file(run)}
        if len(made) > 1:
            yield Violation(KIND, f"the runs of {name} have different inputs or seeds")
        for inputs in made:
            if seen.setdefault(inputs, name) != name:
                yield Violation(KIND, f"{name} and {seen[inputs]} have the same inputs and seed")


def _made_of(run: Path) -> str:
    """Return the digests of a run's inputs and its seed as a text."""
    result = read_result(run)
    return f"{sorted(result.input_digests.items())}, seed {result.settings.get('seed')}"


def _count_of(facts: Facts) -> int | None:
    """Return how many replicates the command asked for, or how many windows had room; None: nothing says it."""
    room = re.search(r"There is room for ([\d,]+) windows? instead", facts.how)
    found = room or re.search(r"--replicates[ =](\d+)", " ".join(facts.rerun))
    return None if found is None else int(found.group(1).replace(",", ""))


def _run_of(replicate: Path, text: str) -> Path | None:
    """Return the run of a dispatcher on a replicate: of those that have its options, the one with the fewest others.

    Options of all dispatchers (``--set``) stand in no dispatcher's text.
    """
    try:
        name, options = parse_named(text, "dispatcher")
    except InputError:
        return None
    found = []
    for run in sorted(path for path in replicate.glob("*") if jobs_file(path)):
        settings = read_result(run).settings
        given = part(settings, "options")
        if settings.get("dispatcher") == name and options.items() <= given.items():
            found.append((len(given), run))
    return min(found)[1] if found else None
