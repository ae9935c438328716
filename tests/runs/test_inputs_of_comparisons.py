"""A comparison from a log alone: the platform has the right size, says why, and both inputs are kept."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from batdispatch.cli.main import cli
from batdispatch.inputs.log_options import LogOptions
from batdispatch.inputs.platforms import read_platform
from batdispatch.inputs.workloads import read_workload
from batdispatch.inputs.workloads.importers import read_log
from batdispatch.runs.inputs import platform_for

CONFORMANCE = Path(__file__).parents[1] / "conformance"


def line(number: int, submit: int, wait: int, run: int, size: int) -> str:
    return f"{number} {submit} {wait} {run} {size} -1 -1 {size} 100 -1 1 1 1 1 1 -1 -1 -1\n"


#: At most jobs 2 and 3 run at a time: 3 begins when 1 ends.
JOBS = line(1, 0, 0, 50, 6) + line(2, 0, 10, 60, 3) + line(3, 5, 45, 20, 5)
HEADER = "; MaxNodes: 5\n; MaxProcs: 20\n"


def log_of(folder: Path, content: str, name: str = "log.swf") -> Path:
    path = folder / name
    path.write_text(content)
    return path


def sized(tmp_path: Path, content: str, name: str = "log.swf", **options: Any) -> tuple[int, dict[str, int], str]:
    """Return hosts, capacity of one and the reason."""
    read = read_log(log_of(tmp_path, content, name), options=LogOptions(**options))
    found = platform_for(read.workload, read.report.format, read.info)
    path = tmp_path / "p.xml"
    path.write_bytes(found.content)
    machine = read_platform(path).machine
    offers = {name: int(machine.capacity[0, axis]) for axis, name in enumerate(machine.resources)}
    return machine.size, {} if machine.exclusive else offers, found.why


def test_what_the_header_states(tmp_path: Path) -> None:
    assert sized(tmp_path, HEADER + JOBS)[:2] == (20, {})
    assert "MaxProcs 20 in the log's header" in sized(tmp_path, HEADER + JOBS)[2]
    hosts, _, why = sized(tmp_path, HEADER + JOBS, processors_per_host=4)
    assert (hosts, "4 to a host" in why) == (5, True)
    hosts, offers, why = sized(tmp_path, HEADER + JOBS, units="cores")
    assert (hosts, offers, "MaxNodes 5" in why) == (5, {"core": 4}, True)


def test_what_ran_at_a_time(tmp_path: Path) -> None:
    hosts, _, why = sized(tmp_path, JOBS)
    assert hosts == 6 + 3
    assert "the most that ran at a time" in why


def test_the_largest_job(tmp_path: Path) -> None:
    hosts, _, why = sized(tmp_path, JOBS.replace(" 0 10 ", " 0 -1 "))
    assert hosts == 6
    assert "the largest job" in why


def test_nodes_of_slurm(tmp_path: Path) -> None:
    account = (CONFORMANCE / "sacct" / "jobs.txt").read_text()
    hosts, offers, why = sized(tmp_path, account, "account.txt")
    # 3,049 MiB of jobs on one node: what a job of two nodes had on each is not told.
    assert (hosts, offers) == (2, {"core": 16, "gpu": 4, "memory": 3049})
    assert "2 nodes" in why


def test_memory_that_was_held_at_a_time(tmp_path: Path) -> None:
    """Four jobs of a core and 1000 MiB at a time on one host of 4 cores: it has 4000 MiB, not 1000."""
    rows = "".join(
        f"{i}|2026-01-01T00:00:00|2026-01-01T00:00:00|60|COMPLETED|cpu=1,mem=1000M,node=1|n1\n" for i in range(4)
    )
    rows += "9|2026-01-01T00:00:00|2026-01-01T01:00:00|60|COMPLETED|cpu=4,mem=1000M,node=1|n1\n"
    content = "JobID|Submit|Start|ElapsedRaw|State|AllocTRES|NodeList\n" + rows
    assert sized(tmp_path, content, "account.txt")[:2] == (1, {"core": 4, "memory": 4000})


def test_the_machines_that_formats_are_of(tmp_path: Path) -> None:
    hosts, offers, why = sized(tmp_path, "7;4;4;100;9;1;9;10;19\n", "log.rst")
    assert (hosts, offers["core"], "ForHLR II" in why) == (1173, 20, True)
    assert sized(tmp_path, "7;4;4;100;9;1;9;10;19\n", "log.rst", units="hosts")[0] == 4


def compared(*words: object) -> Result:
    return CliRunner().invoke(cli, ["compare", "--jobs", "1", "--no-explain", *map(str, words)])


def test_one_step(tmp_path: Path) -> None:
    log, out = log_of(tmp_path, HEADER + JOBS), tmp_path / "out"
    told = compared(log, "--dispatchers", "fcfs,easy", "--out", out)
    assert told.exit_code == 0, told.output
    assert "20 equal hosts: MaxProcs 20 in the log's header" in told.stderr
    assert read_platform(out / "input" / "platform.xml").machine.size == 20
    assert len(read_workload(out / "input" / "log.json").jobs) == 3
    before = {path: path.read_bytes() for path in (out / "input").iterdir()}
    again = compared("--workload", log, "--platform", "auto", "--dispatchers", "fcfs,easy", "--out", out)
    assert "kept fcfs, easy" in again.stderr
    assert {path: path.read_bytes() for path in (out / "input").iterdir()} == before
    audit = CliRunner().invoke(cli, ["check", str(out)])
    assert audit.exit_code == 0, audit.output


def test_options_of_convert_count(tmp_path: Path) -> None:
    log, out = log_of(tmp_path, HEADER + JOBS), tmp_path / "out"
    assert compared(log, "--select", "first=1", "--dispatchers", "easy", "--out", out).exit_code == 0
    assert len(read_workload(out / "input" / "log.json").jobs) == 1


def test_jobs_that_the_header_has_no_room_for_are_left_out(tmp_path: Path) -> None:
    log, out = log_of(tmp_path, HEADER + JOBS + line(4, 9, 0, 5, 21)), tmp_path / "out"
    told = compared(log, "--dispatchers", "easy", "--out", out)
    assert "1 larger than the platform (jobs 4)" in told.stderr
    assert len(read_workload(out / "input" / "log.json").jobs) == 3


def test_a_platform_for_a_workload(tmp_path: Path) -> None:
    log, out = log_of(tmp_path, HEADER + JOBS), tmp_path / "out"
    made = CliRunner().invoke(cli, ["convert", str(log), "-o", str(tmp_path / "w.json")])
    assert made.exit_code == 0
    told = compared(tmp_path / "w.json", "--dispatchers", "easy", "--out", out)
    assert "20 equal hosts: nb_res of the workload" in told.stderr
    assert [path.name for path in (out / "input").iterdir()] == ["platform.xml"]


def test_a_log_for_a_platform(tmp_path: Path) -> None:
    log, out, platform = log_of(tmp_path, HEADER + JOBS), tmp_path / "out", tmp_path / "p.xml"
    CliRunner().invoke(cli, ["platform", "generate", "flat", "--hosts", "5", "-o", str(platform)])
    told = compared(log, "--platform", platform, "--dispatchers", "easy", "--out", out)
    assert "1 larger than the platform (jobs 1)" in told.stderr
    assert [path.name for path in (out / "input").iterdir()] == ["log.json"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--dispatchers", "easy"], "expected one workload or log"),
        (["w.json", "--workload", "w.json", "--dispatchers", "easy"], "expected one workload or log"),
        (["w.json", "--units", "cores", "--dispatchers", "easy"], "option --units: is for logs"),
        (["none.swf", "--dispatchers", "easy"], "none.swf: cannot be read"),
        (["log.swf", "--dispatchers", "eazy"], "did you mean 'easy'"),
    ],
)
def test_refusals(words: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    log_of(tmp_path, HEADER + JOBS)
    (tmp_path / "w.json").write_text('{"nb_res": 1, "jobs": [], "profiles": {}}')
    result = compared(*words, "--out", "out")
    assert result.exit_code != 0
    assert told in str(result.exception)
    assert not (tmp_path / "out").exists()
