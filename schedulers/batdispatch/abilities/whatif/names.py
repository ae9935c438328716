"""Whether a run that is called a change of a site, or a size of a machine, is one."""

from __future__ import annotations

import re
from pathlib import Path

from batdispatch.abilities.sites.doors.slurm.scheduling import SCHEDULING
from batdispatch.core.errors import InputError
from batdispatch.results.run_files import WHATIF_PAGE
from batdispatch.results.run_names import FILE, Names, belied_name, record_of
from batdispatch.results.runs import Result, jobs_file, read_result

#: As `page.py` calls the site as it is.
_BASELINE = "baseline"
_SIZE = re.compile(r"(.+) on (\d+) hosts")
_HOSTS = re.compile(r"hosts(?:=(\d+)|([+-]\d+)|([+-])[\d.]+%)", re.ASCII)


def belied_change(run: Path, result: Result) -> str:
    """Return how what a run is called contradicts it as a change of the baseline beside it; else an empty text.

    Raises:
        InputError: the record of names, or the baseline, cannot be read.
    """
    if (run.parent / WHATIF_PAGE).is_file() and not (run.parent / FILE).is_file():
        return f"{FILE}, which binds the names of changes to their runs, is missing"
    recorded = record_of(run)
    if recorded is None:
        return ""
    folder, names = recorded
    bound = names.runs.get(run.absolute().relative_to(folder).as_posix())
    if bound is None:
        return ""
    if size := _SIZE.fullmatch(bound.name):
        if result.platform.hosts != int(size[2]):
            return f"{FILE} calls it {bound.name}, and it ran on {result.platform.hosts}"
        return belied_name(size[1], result.settings, FILE)
    baseline = _baseline_of(folder, names)
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
        exact, more, sign = found.groups()
        expected = int(exact) if exact else before + int(more) if more else None
        wrong = hosts != expected if expected is not None else (hosts - before) * int(f"{sign}1") < 0
        if wrong:
            return f"it ran on {hosts} hosts, beside the baseline's {before}"
    elif not change.startswith("partition."):
        if result.platform.sha256 != baseline.platform.sha256:
            return "it ran on another machine than the baseline"
        if key == "dispatcher":
            return _other(change, decides[0], value)
        option = "prediction" if key == "walltimes" else key
        return "" if key.lower() in SCHEDULING else _option(decides[0][1], option, value)
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
