"""Whether a run that is called a change of a site, or a size of a machine, is one."""

from __future__ import annotations

import re
from pathlib import Path

from batdispatch.abilities.sites.doors.slurm.conf import SlurmConf
from batdispatch.abilities.sites.doors.slurm.scheduling import DEFAULT_VERSION, SCHEDULING, VERSION, scheduling_of
from batdispatch.abilities.sites.doors.slurm.settings import Setting
from batdispatch.core.errors import InputError
from batdispatch.results.run_files import WHATIF_PAGE
from batdispatch.results.run_names import FILE, Names, belied_name, record_of
from batdispatch.results.runs import Result, jobs_file, read_result

#: As `page.py` calls the site as it is.
_BASELINE = "baseline"
#: Letters by which the folder of a change is known: longer names are cut.
_ALIKE = 60
_SIZE = re.compile(r"(.+) on (\d+) hosts")
_SIZED_FOLDER = re.compile(r".+-on-(\d+)-hosts(?:-\d+)?")
_HOSTS = re.compile(r"hosts(?:=(\d+)|([+-]\d+)|([+-]\d+(?:\.\d+)?)%)", re.ASCII)
_PARTITION_NODES = re.compile(r"partition\..+\.nodes([+-]\d+)", re.ASCII)


def belied_change(run: Path, result: Result) -> str:
    """Return how what a run is called contradicts it as a change of the baseline beside it; else an empty text.

    Raises:
        InputError: the record of names, or the baseline, cannot be read.
    """
    if (run.parent / WHATIF_PAGE).is_file() and not (run.parent / FILE).is_file():
        return f"{FILE}, which binds the names of changes to their runs, is missing"
    sized, hosts = _SIZED_FOLDER.fullmatch(run.name), result.platform.hosts
    if sized and hosts and int(sized[1]) != hosts:
        return f"the folder is called {run.name}, and it ran on {hosts} hosts"
    recorded = record_of(run)
    if recorded is None:
        return ""
    folder, names = recorded
    bound = names.runs.get(run.absolute().relative_to(folder).as_posix())
    if bound is None:
        return ""
    baseline = _baseline_of(folder, names)
    changes = sized or baseline is not None or (folder / WHATIF_PAGE).is_file()
    if changes and not bound.earlier and not _letters(run.name).startswith(_letters(bound.name)[:_ALIKE]):
        return f"{FILE} calls it {bound.name}, and its folder {run.name} was made for another name"
    if size := _SIZE.fullmatch(bound.name):
        if result.platform.hosts != int(size[2]):
            return f"{FILE} calls it {bound.name}, and it ran on {result.platform.hosts}"
        return belied_name(size[1], result.settings, FILE)
    if sized and not bound.earlier:
        return f"{FILE} calls it {bound.name}, which says no size, and its folder {run.name}"
    if baseline is None or bound.name == _BASELINE:
        return ""
    found = _as_change(bound.name, result, baseline)
    return f"{FILE} calls it {bound.name}, and {found}" if found else ""


def _baseline_of(folder: Path, names: Names) -> Result | None:
    path = next((folder / path for path, bound in names.runs.items() if bound.name == _BASELINE), None)
    if path is None or not jobs_file(path):
        return None
    try:
        return read_result(path)
    except InputError:
        return None  # Its own check says so.


def _as_change(change: str, result: Result, baseline: Result) -> str:
    """Return how a run is not the baseline with this change; what only a slurm.conf explains is not looked at."""
    decides = [(one.settings.get("dispatcher"), _options_of(one)) for one in (result, baseline)]
    key, _, value = change.partition("=")
    hosts, before = result.platform.hosts or 0, baseline.platform.hosts or 0
    if found := _HOSTS.fullmatch(change):
        exact, more, share = found.groups()
        expected = int(exact) if exact else before + int(more) if more else round(before * (1 + float(share) / 100))
        if hosts != expected:
            return f"it ran on {hosts} hosts, beside the baseline's {before}"
    elif nodes := _PARTITION_NODES.fullmatch(change):
        if hosts != before + int(nodes[1]):
            return f"it ran on {hosts} hosts, beside the baseline's {before}"
    elif not change.startswith("partition."):
        if result.platform.sha256 != baseline.platform.sha256:
            return "it ran on another machine than the baseline"
        if key == "dispatcher":
            return _other(change, decides[0], value)
        option = "prediction" if key == "walltimes" else key
        if key.lower() in SCHEDULING:
            return _setting(decides[0][1], key, value)
        return _option(decides[0][1], option, value)
    elif (hosts, result.platform.sha256 == baseline.platform.sha256) != (before, False):
        return "a partition is not what it differs in from the baseline"
    return "it has another dispatcher or other options than the baseline" if decides[0] != decides[1] else ""


def _options_of(result: Result) -> dict[str, object]:
    options = result.settings.get("options")
    return options if isinstance(options, dict) else {}


def _other(change: str, decides: tuple[object, dict[str, object]], value: str) -> str:
    told = belied_name(value, {"dispatcher": decides[0], "options": decides[1]}, change)
    return told and f"it is a run of {decides[0]}"


def _option(options: dict[str, object], name: str, value: str) -> str:
    found = options.get(name, options.get(name.replace("-", "_")))
    return "" if str(found) == value else f"its {name} is {found}"


def _setting(options: dict[str, object], key: str, value: str) -> str:
    """Return how the options of a run are not those that a setting of slurm.conf makes."""
    try:
        conf = SlurmConf(general={key.lower(): Setting(key, value, FILE, 0)})
        version = str(options.get(VERSION, DEFAULT_VERSION))
        stated, unset = scheduling_of(conf, version).options, scheduling_of(SlurmConf(), version).options
    except InputError as problem:
        return str(problem)
    told = (_option(options, name, text) for name, text in stated.items() if unset.get(name) != text)
    return next(filter(None, told), "")


def _letters(name: str) -> str:
    return re.sub(r"\W+", "", name)
