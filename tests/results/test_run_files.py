"""Every reader refuses a folder whose files are not those of one whole run, and names the file."""

import gzip
import json
import lzma
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from batdispatch.abilities.solvers.doors.instances import save_instances
from batdispatch.core.errors import InputError
from batdispatch.core.jobs.job_table import JobTable
from batdispatch.inputs.folders import MARK
from batdispatch.results import runs
from batdispatch.results.jobs_file import read_columns
from batdispatch.results.run_files import NAMES, digests
from batdispatch.results.runs import read_result, read_run
from batdispatch.runs.run import execute
from batdispatch.runs.spec import RunSpec

ROOT = Path(__file__).parents[2]
RECORDINGS = ROOT / "tests" / "conformance" / "recordings"
#: What a recorded run of a dispatcher without solver writes on exclusive hosts.
WRITTEN = {"jobs.csv", "schedule.csv", "machine_states.csv", "decisions.jsonl", "decision_times.csv"}
Call = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the runs of two dispatchers."""
    root = tmp_path_factory.mktemp("made")
    for name in ("easy", "fcfs"):
        platform, workload = RECORDINGS / "platforms" / "four.xml", RECORDINGS / "workloads" / "delay.json"
        execute(RunSpec(platform=str(platform), workload=str(workload), dispatcher=name), root / name)
    return root


@pytest.fixture
def run(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "runs")) / "easy"


READERS = {
    "report": ["report"],
    "check": ["check"],
    "replay": ["replay"],
    "explain-wait": ["explain-wait"],
    "instance": ["instance", "save"],
}


def read(reader: str, folder: Path, call: Call) -> tuple[int, str]:
    rest = {"explain-wait": ["1"], "instance": ["-o", folder.parent / "i.jsonl"]}.get(reader, [])
    status, _, err = call(*READERS[reader], folder, *rest)
    return status, err


@pytest.mark.parametrize("reader", READERS)
def test_every_reader_reads_what_is_whole(reader: str, run: Path, call: Call) -> None:
    status, err = read(reader, run, call)
    # No decision of this small run has two jobs to choose from.
    assert status == 0 or "no decision had 2 jobs" in err


@pytest.mark.parametrize("reader", READERS)
def test_every_reader_refuses_a_file_of_another_run(reader: str, run: Path, call: Call) -> None:
    shutil.copy(run.parent / "fcfs" / "jobs.csv", run)
    assert read(reader, run, call)[0] == 2
    assert f"{run / 'jobs.csv'}: is not the file that result.json was written with" in read(reader, run, call)[1]


@pytest.mark.parametrize("reader", READERS)
def test_every_reader_refuses_an_unfinished_folder(reader: str, run: Path, call: Call) -> None:
    (run / MARK).mkdir()
    status, err = read(reader, run, call)
    assert (status, f"{run}: is unfinished" in err) == (2, True)


def test_a_report_of_several_runs_refuses_those_of_which_one_is_unfinished(run: Path, call: Call) -> None:
    (run.parent / "easy2" / MARK).mkdir(parents=True)
    assert call("report", run.parent)[0] == 2
    shutil.rmtree(run.parent / "easy2")
    assert call("report", run.parent)[0] == 0
    (run.parent / MARK).mkdir()
    assert call("report", run.parent)[0] == 2
    assert call("report", run)[0] == 0


def test_every_file_is_checked(run: Path) -> None:
    noted = json.loads((run / "result.json").read_bytes())["files"]
    assert noted == digests(run, {})
    assert set(noted) == WRITTEN
    for name in noted:
        before = (run / name).read_bytes()
        (run / name).write_bytes(before + b"\n")
        with pytest.raises(InputError, match=f"{name}: is not the file that result.json was written with: its SHA"):
            read_run(run)
        (run / name).write_bytes(before)
    read_run(run)


@pytest.mark.parametrize("name", sorted(set(NAMES) - WRITTEN))
def test_a_file_that_the_run_did_not_write_is_refused(name: str, run: Path) -> None:
    (run / name).write_text("job_id,workload_name,parent\n")
    with pytest.raises(InputError, match=f"{name}: is of another run: result.json was written without it"):
        read_result(run)


def test_what_may_be_removed_and_what_not(run: Path) -> None:
    for name in sorted(WRITTEN - {"jobs.csv"}):
        (run / name).unlink()
    read_run(run)
    (run / "jobs.csv").unlink()
    with pytest.raises(InputError, match=r"jobs\.csv: is missing; result\.json was written with it"):
        read_result(run)


@pytest.mark.parametrize("pack", [gzip, lzma])
def test_a_packed_file_counts_as_what_is_inside(pack: object, run: Path) -> None:
    ending = {gzip: ".gz", lzma: ".xz"}[pack]
    content = (run / "jobs.csv").read_bytes()
    (run / "jobs.csv").unlink()
    packed = run / f"jobs.csv{ending}"
    packed.write_bytes(pack.compress(content))
    assert len(read_run(run).columns) == content.count(b"\n") - 1
    packed.write_bytes(pack.compress(content + b"\n"))
    with pytest.raises(InputError, match=f"jobs.csv{ending}: is not the file"):
        read_run(run)


@pytest.mark.parametrize("going_on", [False, True])
def test_a_run_that_is_replaced_while_it_is_read_is_not_read(
    going_on: bool, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def replaced(path: Path) -> JobTable:
        if going_on:
            (run / MARK).mkdir()
        else:
            for file in (run.parent / "fcfs").iterdir():
                file.replace(run / file.name)
        return read_columns(path)

    monkeypatch.setattr(runs, "read_columns", replaced)
    with pytest.raises(InputError, match="is unfinished" if going_on else "easy: was made anew while it was read"):
        read_run(run)


def test_a_folder_of_an_older_version_is_refused_with_the_reason(run: Path) -> None:
    result = json.loads((run / "result.json").read_bytes())
    del result["files"]
    (run / "result.json").write_text(json.dumps(result))
    with pytest.raises(
        InputError, match=r"result\.json: has no digests .*: an older batdispatch wrote it, so make the"
    ):
        read_run(run)


def test_instances_come_from_a_whole_run(run: Path, tmp_path: Path) -> None:
    shutil.copy(run.parent / "fcfs" / "decisions.jsonl", run)
    with (run / "decisions.jsonl").open("ab") as file:
        file.write(b"\n")
    with pytest.raises(InputError, match=r"decisions\.jsonl: is not the file"):
        save_instances(run, tmp_path / "i.jsonl", prediction="requested")
