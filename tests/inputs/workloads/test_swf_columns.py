"""SWF goes through the rules in columns: the same file and the same account as of a reading record by record."""

import math
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.core.errors import InputError
from batdispatch.inputs import files
from batdispatch.inputs.log_options import LogOptions
from batdispatch.inputs.workloads import write_workload
from batdispatch.inputs.workloads.columns import submission_order
from batdispatch.inputs.workloads.importers import import_log, read_log
from batdispatch.inputs.workloads.logs import Selection
from batdispatch.inputs.workloads.report import ImportReport

KEPT = ("user", "group", "executable", "queue", "partition", "preceding_job", "think_time")
AMOUNTS = ("-1", "0", "1", "2", "3", "8", "+5", "07", "2.5", "1e1", "-0", "1e20")
TIMES = ("0", "1", "10", "10", "10.5", "99.9999994", "123.4567895", "-1", "1e2", "5000")


class Account:
    """Reasons in the order in which they are met, and the jobs of each."""

    def __init__(self) -> None:
        self.dropped: dict[str, list[str]] = {}
        self.changed: dict[str, list[str]] = {}

    def drop(self, reason: str, name: str) -> None:
        self.dropped.setdefault(reason, []).append(name)

    def change(self, reason: str, name: str) -> None:
        self.changed.setdefault(reason, []).append(name)


def whole(value: float, below: float = math.inf) -> float | int:
    return int(value) if value == int(value) and abs(value) < below else value


def size_of(name: str, allocated: float, asked: float, options: LogOptions, account: Account) -> int:
    other = {"requested": "allocated", "allocated": "requested"}[options.size]
    first, second = (asked, allocated) if options.size == "requested" else (allocated, asked)
    if first > 0:
        if second > 0 and first != second:
            account.change(f"with {options.size} and {other} processors that differ: {options.size} taken", name)
        return math.ceil(first)
    if second > 0:
        account.change(f"without {options.size} processors: {other} taken", name)
        return math.ceil(second)
    account.change("ran on an unknown number of processors: taken as 1", name)
    return 1


def record_of(line: str, options: LogOptions, selection: Selection, account: Account) -> dict[str, Any] | None:
    fields = line.split()
    job, submit, _, run, allocated, _, _, asked, limit, _, status, *kept = map(float, fields[:18])
    name = str(int(job))
    if len(fields) > 18:
        account.change("with more than 18 fields: the rest is not read", name)
    never = "never started (0 s and no processors, or cancelled)"
    reasons = {
        "without a submit time": submit < 0,
        "without a run time": run < 0 < allocated,
        "never started": run < 0,
        never: run == 0 and (allocated <= 0 or status == 5),
    }
    reason = next((reason for reason, holds in reasons.items() if holds), None)
    if reason is not None:
        return account.drop(reason, name)
    if status not in (-1, 0, 1, 2, 3, 4, 5):
        account.change("with a status outside the format: taken as run", name)
    units = size_of(name, allocated, asked, options, account)
    extra = {
        field: whole(value)
        for field, value in zip(KEPT, kept, strict=True)
        if value > 0 or (value == 0 and field not in ("preceding_job", "think_time"))
    }
    if not selection.start <= submit < selection.end:
        return account.drop("submitted outside the time span selected", name)
    if selection.users and str(extra.get("user", "")) not in selection.users:
        return account.drop("of users not selected", name)
    if run == 0 and options.zero_runtime == "drop":
        return account.drop("ran for 0 s", name)
    if run == 0:
        account.change("ran for 0 s: taken as 1 s, since a delay must be above 0", name)
    units = -(-units // options.processors_per_host)
    return {"id": name, "submit": submit, "res": units, "limit": limit, "run": run or 1.0, "extra": extra}


def naive(lines: list[str], options: LogOptions, selection: Selection) -> tuple[list[str], list[str], Account]:
    """Return the jobs and the profiles of the file, a line each, and the account."""
    account = Account()
    there = [line for line in lines if line.strip() and line.lstrip()[0] != ";"]
    # Numbers come once, so that parts of jobs have no summary line: they are jobs, found at the end of the log.
    there.sort(key=lambda line: float(line.split()[10]) in (2, 3, 4))
    records = [record_of(line, options, selection, account) for line in there]
    jobs = sorted((job for job in records if job), key=lambda job: (job["submit"], job["id"]))
    if selection.first is not None:
        for job in jobs[selection.first :]:
            account.drop(f"after the first {selection.first:,} jobs", job["id"])
        del jobs[selection.first :]
    if not jobs:
        raise InputError("no job is left")
    origin = 0.0 if options.keep_clock else jobs[0]["submit"]
    told = []
    for job in jobs:
        fields = {"id": job["id"], "subtime": whole(round(job["submit"] - origin, 6)), "res": job["res"]}
        walltime = job["limit"] if job["limit"] > 0 else math.inf
        if walltime == job["run"]:
            account.change("ran exactly as long as their walltime: they count as killed at it", job["id"])
        if walltime < job["run"] and options.overrun == "extend":
            account.change("ran longer than their walltime: walltime raised to 1 s above the run time", job["id"])
            walltime = math.floor(job["run"]) + 1
        elif walltime < job["run"]:
            account.change("ran longer than their walltime: they will be killed at it", job["id"])
        if walltime < math.inf:
            fields["walltime"] = whole(walltime, 2.0**53)
        told.append(fields | {"profile": f"d{whole(job['run'])}"} | job["extra"])
    runs = sorted({job["run"] for job in jobs})
    profiles = [f'"d{whole(run)}": {{"type":"delay","delay":{whole(run)}}}' for run in runs]
    return [msgspec.json.encode(each).decode() for each in told], profiles, account


@st.composite
def logs(draw: st.DrawFn) -> list[str]:
    count = draw(st.integers(1, 25))
    ids = draw(st.permutations(range(1, 40)))
    lines = []
    for number in ids[:count]:
        amounts = iter(draw(st.lists(st.sampled_from(AMOUNTS[:-1]), min_size=15, max_size=15)))
        times = iter(draw(st.lists(st.sampled_from(TIMES), min_size=3, max_size=3)))
        last = [draw(st.sampled_from(AMOUNTS)) for _ in KEPT]
        fields = [str(number), next(times), next(amounts), next(times), next(amounts), *("-1", "-1"), next(amounts)]
        fields += [next(times), "-1", draw(st.sampled_from(["1", "1", "1", "0", "5", "-1", "2", "4", "17"])), *last]
        fields += draw(st.sampled_from([[], [], [], [], ["9"], ["x_y", "z"]]))
        lines.append(draw(st.sampled_from([" ", "\t", "  "])).join(fields))
        lines += draw(st.sampled_from([[], [], [], [""], ["  "], ["; a remark"], [" ;1 2"]]))
    return lines


OPTIONS = st.builds(
    LogOptions,
    size=st.sampled_from(["requested", "allocated"]),
    overrun=st.sampled_from(["kill", "extend"]),
    zero_runtime=st.sampled_from(["keep", "drop"]),
    processors_per_host=st.sampled_from([1, 1, 2, 3]),
    keep_clock=st.booleans(),
)
SELECTIONS = st.builds(
    Selection,
    first=st.none() | st.integers(1, 12),
    start=st.sampled_from([-math.inf, -math.inf, 5.0]),
    end=st.sampled_from([math.inf, math.inf, 200.0]),
    users=st.sampled_from([frozenset(), frozenset(), frozenset({"1", "2", "10"}), frozenset({"", "0"})]),
)


def told(report: ImportReport) -> list[list[tuple[str, int, list[str]]]]:
    both = (report.dropped, report.changed)
    return [[(why, tally.count, tally.examples) for why, tally in tallies.items()] for tallies in both]


@given(logs(), OPTIONS, SELECTIONS, st.sampled_from([40, 200, 1 << 18]), st.sampled_from(["\n", "\r\n"]))
def test_a_log_becomes_the_file_and_the_account_of_a_reading_record_by_record(
    tmp_path_factory: pytest.TempPathFactory,
    lines: list[str],
    options: LogOptions,
    selection: Selection,
    block: int,
    end: str,
) -> None:
    folder = tmp_path_factory.mktemp("swf")
    log, out = folder / "a.swf", folder / "w.json"
    log.write_bytes(end.join(lines).encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "_BLOCK", block)
        try:
            jobs, profiles, account = naive(lines, options, selection)
        except InputError:
            with pytest.raises(InputError, match="no job is left"):
                import_log(log, options=options, selection=selection)
            return
        columns = import_log(log, options=options, selection=selection)
        objects = read_log(log, options=options, selection=selection)
    write_workload(columns.workload, out)
    text = out.read_text()
    assert (
        text.partition('"jobs": [\n')[2]
        == ",\n".join(jobs) + '\n],\n"profiles": {\n' + ",\n".join(profiles) + "\n}\n}\n"
    )
    expected = [
        [(why, len(names), names[:5]) for why, names in reasons.items()]
        for reasons in (account.dropped, account.changed)
    ]
    assert told(columns.report) == expected
    for version in (4, 5):
        write_workload(columns.workload, out, batsim=version)
        write_workload(objects.workload, folder / "objects.json", batsim=version)
        assert (folder / "objects.json").read_bytes() == out.read_bytes()


@pytest.mark.parametrize("field", ["nan", "inf", "1_0", "0x1", "1\x1c2", "1;2", "\xa05", "--1", "1e999"])
def test_what_numpy_may_take_for_a_number_or_for_white_space_is_refused(field: str, tmp_path: Path) -> None:
    line = ["1", "0", "0", "10", "1", *(["-1"] * 13)]
    for place in range(18):
        fields = [*line[:place], field, *line[place + 1 :]]
        log = tmp_path / "a.swf"
        log.write_bytes("\n".join([" ".join(line), " ".join(fields)]).encode("latin-1"))
        with pytest.raises(InputError, match=rf"line 2: field {place + 1} is"):
            import_log(log, options=LogOptions(bad_records=0))


@given(st.lists(st.tuples(st.sampled_from([0.0, 1.0, 1.5, 7.0]), st.integers(1, 120)), unique_by=lambda job: job[1]))
def test_order_of_submission_is_that_of_times_and_then_of_ids_as_texts(jobs: list[tuple[float, int]]) -> None:
    times, ids = np.array([time for time, _ in jobs]), [str(number) for _, number in jobs]
    order = submission_order(times, ids)
    expected = sorted(range(len(jobs)), key=lambda row: (times[row], ids[row]))
    assert (list(range(len(jobs))) if order is None else order.tolist()) == expected


@given(st.lists(st.text("ab\r", max_size=9)), st.integers(1, 30))
def test_lines_do_not_depend_on_the_bytes_that_are_read_together(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], block: int
) -> None:
    file = tmp_path_factory.mktemp("lines") / "a.txt"
    file.write_bytes("\n".join(lines).encode())
    with pytest.MonkeyPatch.context() as patch, files.Source(file) as source:
        patch.setattr(files, "_BLOCK", block)
        found = list(source.lines())
    if lines and not lines[-1]:
        lines = lines[:-1]
    assert found == [(number, line.rstrip("\r").encode()) for number, line in enumerate(lines, 1)]
