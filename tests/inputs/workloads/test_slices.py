"""Slices of a log: which jobs, from when on, and what is refused."""

from pathlib import Path

from click.testing import CliRunner, Result

from batdispatch.cli.main import cli
from batdispatch.core.errors import InputError
from batdispatch.inputs.workloads import Workload, read_workload


def log(folder: Path) -> Path:
    """Seven jobs, every hundred seconds; the third and the fourth stand the other way round."""
    order = [1, 2, 4, 3, 5, 6, 7]
    lines = [f"{n} {1000 + 100 * n} -1 {60 + n} 2 -1 -1 2 3600 -1 1 1 1 -1 1 -1 -1 -1" for n in order]
    path = folder / "log.swf"
    path.write_text("; MaxProcs: 8\n" + "\n".join(lines) + "\n")
    return path


def cut(path: Path, output: Path, *words: str) -> Result:
    return CliRunner().invoke(cli, ["generate", "slice", "-o", str(output), "--from", str(path), *words])


def arrivals(workload: Workload) -> list[tuple[str, float]]:
    return [(job.id.rpartition("!")[2], job.submission) for job in workload.jobs]


def test_slices_are_successive_jobs_the_first_of_which_comes_at_0(tmp_path: Path) -> None:
    path, output = log(tmp_path), tmp_path / "slice.json"
    found = []
    for number in range(2):
        assert cut(path, output, "--jobs", "3", f"--number={number}").exit_code == 0
        workload = read_workload(output)
        assert workload.nb_res == 8
        assert {job.profile for job in workload.jobs} == set(workload.profiles)
        found.append(arrivals(workload))
    assert found == [[("1", 0.0), ("2", 100.0), ("3", 200.0)], [("4", 0.0), ("5", 100.0), ("6", 200.0)]]
    # Of a workload, the same.
    whole = tmp_path / "whole.json"
    assert CliRunner().invoke(cli, ["convert", str(path), "-o", str(whole)]).exit_code == 0
    assert cut(whole, tmp_path / "again.json", "--jobs", "3", "--number", "1").exit_code == 0
    assert arrivals(read_workload(tmp_path / "again.json")) == found[1]


def test_a_slice_is_whole_or_refused(tmp_path: Path) -> None:
    path = log(tmp_path)
    refused = cut(path, tmp_path / "slice.json", "--jobs", "3", "--number", "2")
    assert isinstance(refused.exception, InputError)
    assert "has 7 jobs, which make 2 slices of 3 jobs" in str(refused.exception)
    assert cut(path, tmp_path / "slice.json", "--jobs", "7", "--number", "0").exit_code == 0
