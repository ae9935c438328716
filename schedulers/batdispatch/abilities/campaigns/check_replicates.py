"""Whether the table of a comparison over replicates is that of its runs."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from batdispatch.abilities.campaigns.check_headings import against_runs, placed_runs, value_of
from batdispatch.abilities.campaigns.page.facts import Facts, read_facts, title_of
from batdispatch.abilities.campaigns.page.table import DISPATCHER, REPLICATE, WORKLOAD
from batdispatch.abilities.campaigns.replicates import BLOCKS, RUNS, WHOLE, read_runs, table_of
from batdispatch.core.line.options import split_list
from batdispatch.dispatchers import simple
from batdispatch.inputs.workloads.model import stem
from batdispatch.results.run_files import REPLICATES_TABLE
from batdispatch.results.run_names import FILE, Names, belied_name, read_names
from batdispatch.results.runs import jobs_file, read_result
from batdispatch.runs.families import FAMILIES


def check_replicates(folder: Path) -> Iterator[str]:
    """Yield where replicates.csv says otherwise than the runs do.

    Raises:
        InputError: the table, what is told about the comparison, the names of its runs, or a run cannot be read.
    """
    facts, table = read_facts(folder), read_runs(folder / REPLICATES_TABLE)
    if not (folder / FILE).is_file():
        yield f"{FILE}, which binds the names of the table to the runs, is missing"
        return
    names = list(dict.fromkeys(table[REPLICATE]))
    if (asked := _count_of(facts)) not in (None, len(names)):
        yield f"there are {len(names)} replicates, and the command made {asked}"
    record = read_names(folder)
    bound = _bound_in(record)
    is_whole = any(place == WHOLE for place, _ in bound)
    places = [WHOLE] if is_whole else [each.replace(" ", "-") for each in names]
    dispatchers = []
    for name in dict.fromkeys(table[DISPATCHER]):
        runs = [bound.get((place, name)) for place in places]
        found = [folder / (run or "no-such-run") for run in runs]
        dispatchers.append((name, found * len(names) if is_whole else found))
        for run in filter(None, runs):
            if jobs_file(folder / run) and (said := belied_name(name, read_result(folder / run).settings)):
                yield f"{run}: {said}"
    for place, name in bound:
        if place not in places or name not in set(table[DISPATCHER]):
            yield f"{FILE} names a run of {name} on {place}, and the table has none"
    yield from _windows(names, dispatchers[0][1][0], facts.independent) if is_whole and dispatchers else ()
    if facts.blocks != BLOCKS["windows"] and facts.independent is not None:
        yield f"{facts.independent} replicates are said to be independent, and these are no windows"
    each = [runs[: len(places)] for _, runs in dispatchers]
    yield from _inputs(names[: len(places)], each)
    yield from against_runs(folder, facts, record, placed_runs(places, each))
    workload = next(iter(table[WORKLOAD]), "")
    yield from _headings(folder, facts, str(workload), [str(name) for name in dict.fromkeys(table[DISPATCHER])], names)
    noted = (folder / REPLICATES_TABLE).read_bytes()
    told, expected = (_lines(text) for text in (noted, table_of(workload, names, dispatchers)))
    for number, (one, other) in enumerate(zip(told, expected, strict=False), start=1):
        if one != other:
            yield f"line {number} is {one[:200]!r}, its run gives {other[:200]!r}"
    if len(told) != len(expected):
        yield f"{len(told)} lines, the runs give {len(expected)}"


def _bound_in(names: Names) -> dict[tuple[str, str], str]:
    """Return the runs of a comparison, as paths, by the folder of their replicate and the name of their dispatcher."""
    found = {}
    for path, bound in names.current.items():
        runs, _, rest = path.partition("/")
        if runs == RUNS and "/" in rest:
            found[rest.partition("/")[0], bound.name] = path
    return found


def _headings(
    folder: Path, facts: Facts, workload: str, dispatchers: list[str], replicates: list[str]
) -> Iterator[str]:
    """Yield what the page would print of the comparison that its runs and its table do not bear out."""
    if facts.title != title_of(workload):
        yield f"the title is {facts.title!r}, and the table is of {workload}"
    words = [word for text in facts.rerun for word in shlex.split(text)]
    if words and not any(workload in (stem(word), stem(word.partition("=")[2])) for word in words):
        yield f"the table is of {workload}, and the command that made it names no such workload"
    kinds = {f"{name.rpartition(' ')[0]}s" for name in replicates}
    if kinds != {facts.blocks}:
        yield f"the replicates are called {facts.blocks}, and the table has {', '.join(sorted(kinds))}"
    for name, text, _ in facts.who:
        if name != text or name not in dispatchers:
            yield f"{name} is said to be {text}, and the table has no such name"
    if missing := sorted({*dispatchers} - {name for name, _, _ in facts.who}):
        yield f"nothing says what {', '.join(missing)} in the table is"
    told = read_names(folder).current
    for name, _ in facts.failures:
        if f"{RUNS}/{name}" in told and jobs_file(folder / RUNS / name):
            yield f"{name} is said to have failed, and its run is there"
        place, _, label = name.partition("/")
        known = {WHOLE, *(each.replace(" ", "-") for each in replicates)}
        families = FAMILIES in words
        entrants = {each.partition("[")[0] for each in dispatchers}
        if place not in known or (not families and label.partition(",")[0] not in entrants):
            yield f"{name} is said to have failed, and nothing of that name took part"
    yield from _party(facts, words, dispatchers)


def _party(facts: Facts, words: list[str], dispatchers: list[str]) -> Iterator[str]:
    """Yield what is said of who takes part otherwise than by the command."""
    if facts.baseline and facts.baseline not in dispatchers:
        yield f"the others are compared with {facts.baseline}, which the table has not"
    families = not words or FAMILIES in words
    for name, _ in facts.refused:
        if name in dispatchers or not families:
            why = "the table has it" if name in dispatchers else "the command names each dispatcher"
            yield f"{name} is said to take no part, and {why}"
    if not words:
        return
    stated = value_of(words, "--baseline")
    if facts.baseline != stated:
        yield f"the baseline is {facts.baseline!r}, and the command says {stated!r}"
    if families:
        return
    given = value_of(words, "--dispatchers")
    named = {text.strip() for each in split_list(given) for text in simple.expand(each)}
    for name in sorted(named ^ set(dispatchers)) if given else ():
        where = "the table has it, and the command" if name in dispatchers else "the command has it, and the table"
        yield f"dispatcher {name}: {where} has not"
    for name, _, what in facts.who:
        if what:
            yield f"{name} is said to be {what!r}, and the command names each dispatcher"


def _lines(content: bytes) -> list[str]:
    return content.decode(errors="replace").splitlines()


def _windows(names: list[str], run: Path, independent: int | None) -> Iterator[str]:
    """Yield where the windows of a run of the whole workload are not as many as the replicates, or stand twice.

    Windows that overlap must not count as if they did not.
    """
    windows = [(one.begin, one.end) for one in read_result(run).workload.windows] if jobs_file(run) else []
    if windows and len(windows) != len(names):
        yield f"there are {len(names)} replicates, and the runs count {len(windows)} windows"
    if len(set(windows)) < len(windows):
        yield "two windows of the runs are the same"
    overlap = any((end or 0) > (begin or 0) for (_, end), (begin, _) in pairwise(windows))
    if windows and independent is not None and (independent < len(names)) != overlap:
        said = "overlap" if overlap else "share no job"
        yield f"{independent} of {len(names)} windows are said to be independent, and they {said}"


def _inputs(names: list[str], dispatchers: list[list[Path]]) -> Iterator[str]:
    """Yield the replicates whose runs have different inputs, and those that have the inputs of another."""
    seen: dict[str, str] = {}
    for name, *runs in zip(names, *dispatchers, strict=True):
        made = {_made_of(run) for run in runs if jobs_file(run)}
        if len(made) > 1:
            yield f"the runs of {name} have different inputs or seeds"
        for inputs in made:
            if seen.setdefault(inputs, name) != name:
                yield f"{name} and {seen[inputs]} have the same inputs and seed"


def _made_of(run: Path) -> str:
    """Return the digests of a run's inputs and its seed as a text."""
    result = read_result(run)
    return f"{sorted(result.input_digests.items())}, seed {result.settings.get('seed')}"


def _count_of(facts: Facts) -> int | None:
    """Return how many replicates the command asked for, or how many windows had room; None: nothing says it."""
    room = re.search(r"There is room for ([\d,]+) windows? instead", facts.how)
    found = room or re.search(r"--replicates[ =](\d+)", " ".join(facts.rerun))
    return None if found is None else int(found.group(1).replace(",", ""))
