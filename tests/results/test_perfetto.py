"""Traces for Perfetto: slices are the jobs on their hosts, none overlaps another, and counters are the levels."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from batdispatch.cli.main import cli
from batdispatch.core.errors import InputError
from batdispatch.results import perfetto
from batdispatch.results.runs import read_runs

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
    found: list[dict[str, Any]] = json.loads(content)["traceEvents"]
    return found


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
