"""Traces for Perfetto: the published format, jobs as slices on their hosts, arrows between segments, counters."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from batdispatch.cli.main import cli
from batdispatch.core.errors import InputError
from batdispatch.results import perfetto
from batdispatch.results.runs import read_runs
from trace_events import check_trace

Jobs = Callable[..., Path]
JOBS = {
    "a": {"start": 0.0, "finish": 10.0, "hosts": "0-1", "units": 2, "walltime": 12},
    "b": {"submission": 1.0, "start": 10.0, "finish": 10.5, "hosts": "1 3", "units": 2},
    "c": {"submission": 2.0, "start": 5.0, "finish": 12.0, "hosts": "0"},
    "d": {"submission": 3.0, "state": "REJECTED"},
}


def events(path: Path) -> list[dict[str, Any]]:
    content = path.read_bytes()
    if path.suffix == ".gz":
        content = gzip.decompress(content)
    return check_trace(json.loads(content))


def test_jobs_stand_on_their_hosts_and_none_overlaps_another(write_jobs: Jobs, tmp_path: Path) -> None:
    path = tmp_path / "trace.json.gz"
    folders = [write_jobs(JOBS, "one"), write_jobs(JOBS, "two")]
    done = CliRunner().invoke(cli, ["export", "perfetto", *map(str, folders), "-o", str(path)])
    assert (done.exit_code, done.output.strip()) == (0, str(path))
    all_events = events(path)
    assert [one["args"]["name"] for one in all_events if one["name"] == "process_name"] == ["one", "two"]
    names = {(one["pid"], one["tid"]): one["args"]["name"] for one in all_events if one["name"] == "thread_name"}
    assert len(names) == sum(one["name"] == "thread_name" for one in all_events)
    slices = [one for one in all_events if one["ph"] == "X" and one["pid"] == 2]
    assert sorted((one["name"], names[2, one["tid"]], one["ts"], one["dur"]) for one in slices) == [
        ("a", "host 0", 0, 10_000_000),
        ("a", "host 1", 0, 10_000_000),
        ("b", "host 1", 10_000_000, 500_000),
        ("b", "host 3", 10_000_000, 500_000),
        # Beside the one that holds the host already.
        ("c", "host 0, beside", 5_000_000, 7_000_000),
    ]
    assert slices[0]["args"] == {
        "submitted": 0.0,
        "waited": 0.0,
        "asked for": 2,
        "ended": "COMPLETED_SUCCESSFULLY",
        "walltime": 12.0,
    }


def test_counters_are_the_levels_after_each_moment(write_jobs: Jobs, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    perfetto.write_perfetto(read_runs([write_jobs(JOBS)]), path)
    levels = {
        name: [(one["ts"] / 1e6, one["args"]["value"]) for one in events(path) if one["name"] == name]
        for name in ("waiting jobs", "busy hosts")
    }
    assert levels["waiting jobs"] == [(0, 0), (1, 1), (2, 2), (5, 1), (10, 0), (10.5, 0), (12, 0)]
    assert levels["busy hosts"] == [(0, 2), (1, 2), (2, 2), (5, 3), (10, 3), (10.5, 1), (12, 0)]


def test_same_runs_same_bytes(write_jobs: Jobs, tmp_path: Path) -> None:
    runs = read_runs([write_jobs(JOBS)])
    paths = [tmp_path / "one.json.gz", tmp_path / "two.json.gz"]
    assert [perfetto.write_perfetto(runs, path) for path in paths] == [5, 5]
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_what_is_too_large_or_misnamed_is_refused(
    write_jobs: Jobs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_jobs(JOBS)
    monkeypatch.setattr(perfetto, "MAX_SLICES", 4)
    with pytest.raises(InputError, match="5 here, expected at most 4"):
        perfetto.write_perfetto(read_runs([folder]), tmp_path / "trace.json")
    assert not (tmp_path / "trace.json").exists()
    done = CliRunner().invoke(cli, ["export", "perfetto", str(folder), "-o", str(tmp_path / "trace.pb")])
    assert isinstance(done.exception, InputError)
    assert "ends in .json or .json.gz" in str(done.exception)


def test_arrows_lead_from_each_segment_to_the_next_one(write_jobs: Jobs, tmp_path: Path) -> None:
    folder = write_jobs(
        {
            "a": {"finish": 10.0, "hosts": "4-7", "units": 4, "state": "COMPLETED_WALLTIME_REACHED"},
            "b": {"start": 10.0, "finish": 10.0, "hosts": "4"},
            "a!1": {"submission": 10.0, "start": 10.0, "finish": 10.0, "hosts": "6-7", "units": 2},
            "a!2": {"submission": 10.0, "start": 12.0, "finish": 20.0, "hosts": "2 5", "units": 2},
        }
    )
    (folder / "lineage.csv").write_text("job_id,workload_name,parent\na!1,w0,a\na!2,w0,a!1\n")
    path = tmp_path / "trace.json"
    perfetto.write_perfetto(read_runs([folder]), path)
    found = events(path)
    names = {one["tid"]: one["args"]["name"] for one in found if one["name"] == "thread_name"}
    arrows = [(one["ph"], one["id"], names[one["tid"]], one["ts"]) for one in found if one["ph"] in "sf"]
    first, second = dict.fromkeys(one[1] for one in arrows)
    assert arrows == [
        ("s", first, "host 4", 9_999_999),
        ("f", first, "host 6", 10_000_000),
        # This segment took no time.
        ("s", second, "host 6", 10_000_000),
        ("f", second, "host 2", 12_000_000),
    ]
    told = {one["name"]: one["args"].get("segment") for one in found if one["ph"] == "X"}
    assert told == {"a": "1 of 3", "b": None, "a!1": "2 of 3", "a!2": "3 of 3"}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    drawn=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 5), st.integers(0, 3), st.integers(0, 2), st.booleans()))
)
def test_any_run_makes_a_trace_of_the_published_format(
    drawn: list[tuple[int, int, int, int, bool]], write_jobs: Jobs, tmp_path: Path
) -> None:
    """Jobs overlap on hosts, take no time, begin together, and continue the one before them if that has ended."""
    jobs: dict[str, Any] = {"first": {}}
    lineage = ["job_id,workload_name,parent"]
    before, ended = "first", 10.0
    for number, (start, took, host, more, goes_on) in enumerate(drawn):
        begin = ended + start if goes_on else float(start)
        jobs[f"j{number}"] = {"start": begin, "finish": begin + took, "hosts": f"{host}-{host + more}"}
        if goes_on:
            lineage.append(f"j{number},w0,{before}")
        before, ended = f"j{number}", begin + took
    folder = write_jobs(jobs)
    (folder / "lineage.csv").write_text("\n".join(lineage) + "\n")
    path = tmp_path / "trace.json"
    slices = perfetto.write_perfetto(read_runs([folder]), path)
    found = events(path)
    assert sum(one["ph"] == "X" for one in found) == slices
    assert sum(one["ph"] == "s" for one in found) == len(lineage) - 1
