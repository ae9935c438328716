"""Whether a comparison with replicates says of itself, beside its figures, what its runs bear out.

`comparison.json` is bound as a whole when the runs are made (`results.run_names`). What the runs tell is looked at as
well, since a forger of a heading may forge its record, too: jobs of slices, seeds, inputs, families.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from batdispatch.abilities.campaigns.page.facts import Facts
from batdispatch.abilities.campaigns.replicates import BLOCKS, WHOLE
from batdispatch.inputs.platforms import read_platform
from batdispatch.inputs.workloads.model import stem
from batdispatch.results.origins import find_origins
from batdispatch.results.run_files import COMPARISON
from batdispatch.results.run_names import FILE, Names, headings_of
from batdispatch.results.runs import Result, jobs_file, read_result
from batdispatch.runs.families import FAMILIES, members

_PROGRAM = ["batdispatch", "compare"]
_SLICES = re.compile(r"Each has ([\d,]+) jobs, with [\d,]+ between two of them\.")
_WINDOWS = re.compile(r"Each counts [\d,]+ jobs of one simulation of all ([\d,]+), of which the first .*", re.DOTALL)
_SEPARATE = re.compile(r"Each counts [\d,]+ jobs behind [\d,]+ of warm-up and before .*", re.DOTALL)
_RESAMPLES = re.compile(r"Each has ([\d.]+) weeks of users drawn anew\.")


class PlacedRun(NamedTuple):
    """A run, and where the record of names has it: the folder of its replicate, and the replicate's number."""

    place: str
    number: int
    folder: Path
    result: Result


def placed_runs(places: Sequence[str], dispatchers: Sequence[Sequence[Path]]) -> list[PlacedRun]:
    """Return the runs that are there.

    Args:
        places: the folder of each replicate's runs.
        dispatchers: of each dispatcher, the folder of its run in each place.
    """
    return [
        PlacedRun(place, number, runs[number], read_result(runs[number]))
        for runs in dispatchers
        for number, place in enumerate(places)
        if jobs_file(runs[number])
    ]


def against_runs(folder: Path, facts: Facts, names: Names, runs: Sequence[PlacedRun]) -> Iterator[str]:
    """Yield what a comparison says of itself that was not bound to it, or that its runs contradict.

    Raises:
        InputError: the platform of a run cannot be read.
    """
    if names.headings != headings_of(folder):
        yield f"{COMPARISON} is not what {FILE} was written with: it was changed, or another version wrote it"
    yield from _places(facts, runs)
    yield from _how(facts, runs)
    commands = [shlex.split(text) for text in facts.rerun]
    if len(commands) > 1 or any(words[:2] != _PROGRAM for words in commands):
        yield "what made it is said to be another command than one of batdispatch compare"
    for words in commands:
        yield from _command(words, facts, runs)
        if FAMILIES in words and runs:
            yield from _families(facts, runs[0])


def _places(facts: Facts, runs: Sequence[PlacedRun]) -> Iterator[str]:
    """Yield the runs that stand in the place of another replicate."""
    seeds = facts.blocks == BLOCKS["seeds"]
    first = min((one.number for one in runs), default=0)
    begin = next((one.result.settings.get("seed", 0) - first for one in runs if one.number == first), 0)
    for one in runs:
        name, seed = stem(str(one.result.settings.get("workload"))), one.result.settings.get("seed")
        if not seeds and name != one.place:
            yield f"{one.folder.name} on {one.place}: its workload is {name}"
        if seeds and seed != begin + one.number:
            yield f"{one.folder.name} on {one.place}: its seed is {seed}, beside {begin} of seed 0"


def _how(facts: Facts, runs: Sequence[PlacedRun]) -> Iterator[str]:
    """Yield what is said of how the replicates were made otherwise than by the runs."""
    whole = any(one.place == WHOLE for one in runs)
    windows = _WINDOWS if whole else _SEPARATE
    forms = {"windows": windows, "slices": _SLICES, "resamples": _RESAMPLES, "seeds": re.compile("")}
    form = forms.get(facts.blocks)
    told = None if form is None else form.fullmatch(facts.how)
    if told is None:
        yield f"of the {facts.blocks} it is said: {facts.how[:120]!r}, which is no sentence of this program on them"
        return
    jobs = {one.result.workload.jobs for one in runs} - {None}
    if form in (_SLICES, _WINDOWS) and jobs and jobs != {_count(told[1])}:
        which = "each slice" if form is _SLICES else "the simulation"
        has = ", ".join(sorted(map(str, jobs)))
        yield f"{which} is said to have {told[1]} jobs, and the runs have {has}"


def _count(text: str) -> int:
    return int(text.replace(",", ""))


def _command(words: list[str], facts: Facts, runs: Sequence[PlacedRun]) -> Iterator[str]:
    """Yield where the command that is said to have made the runs has other inputs or settings than they have."""
    given = {name: value_of(words, name) for name in ("--replicate-by", "--seed", "--slice-jobs", "--platform")}
    by = given["--replicate-by"] or "windows"
    blocks = next((text for name, text in BLOCKS.items() if name == by), by)
    if blocks != facts.blocks:
        yield f"the command makes {blocks}, and the replicates are called {facts.blocks}"
    slices = _SLICES.fullmatch(facts.how)
    if slices and given["--slice-jobs"].isdecimal() and int(given["--slice-jobs"]) != _count(slices[1]):
        yield f"the command says {given['--slice-jobs']} jobs for each slice, and it is said: {facts.how}"
    first = given["--seed"] or "0"
    for one in runs if first.isdecimal() else ():
        seed = int(first) + (one.number if facts.blocks == BLOCKS["seeds"] else 0)
        if (found := one.result.settings.get("seed")) != seed:
            yield f"{one.folder.name} on {one.place}: its seed is {found}, by the command {seed}"
            break
    machine = given["--platform"]
    platforms = {Path(str(one.result.settings.get("platform"))).name for one in runs}
    if machine.endswith(".xml") and platforms and platforms != {Path(machine).name}:
        yield f"the command's platform is {Path(machine).name}, and the runs have {', '.join(sorted(platforms))}"


def value_of(words: Sequence[str], option: str) -> str:
    """Return the value of an option of a command; empty: it is not given."""
    found = [word.partition("=")[2] for word in words if word.startswith(f"{option}=")]
    found += [words[at + 1] for at, word in enumerate(words[:-1]) if word == option]
    return found[-1] if found else ""


def _families(facts: Facts, run: PlacedRun) -> Iterator[str]:
    """Yield families that are said to take part, or not to, otherwise than each once.

    Raises:
        InputError: the platform of the run cannot be read.
    """
    platform = find_origins(run.folder, run.result).platform
    if platform is None:
        return
    known = {one.family: one for one in members((), read_platform(platform).machine)}
    said = [text.partition(": ")[0] for _, _, text in facts.who] + [name for name, _ in facts.refused]
    if sorted(said) != sorted(known):
        yield f"the families are said to be {', '.join(said)}; expected each of {', '.join(known)} once"
    names = {one.family: one.name for one in known.values()}
    for name, _, text in facts.who:
        family = text.partition(": ")[0]
        if names.get(family, name) != name:
            yield f"{name} is said to stand for {family}, for which {names[family]} stands"
