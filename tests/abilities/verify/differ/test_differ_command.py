"""``batdispatch differ`` on schedules of ours, in every form that a simulator may leave one in."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from batdispatch.abilities.verify.differ.cases import CASES
from batdispatch.abilities.verify.differ.files import write_cases
from batdispatch.abilities.verify.differ.hold import hold
from batdispatch.abilities.verify.differ.job_files import read_schedule
from batdispatch.abilities.verify.differ.textbook import simulate
from batdispatch.abilities.verify.differ.variants import DEFINITIONS, EVENT_ORDERS, MISTAKES, rules_of
from batdispatch.cli.main import cli
from batdispatch.core.errors import InputError

BY_NAME = {case.name: case for case in CASES}


def call(*arguments: object) -> Result:
    return CliRunner().invoke(cli, ["differ", *map(str, arguments)])


def waits_filled_in(swf: Path, starts: list[int | None]) -> str:
    """Return an SWF workload with the waits of some starts, microseconds."""
    lines, left = [], iter(starts)
    for line in swf.read_text().splitlines():
        fields = line.split()
        if not line.startswith(";"):
            start = next(left)
            assert start is not None
            fields[2] = f"{start / 1e6 - float(fields[1]):g}"
        lines.append(" ".join(fields))
    return "\n".join(lines) + "\n"


def leave(folder: Path, case: str, policy: str, starts: list[int | None]) -> Path:
    path = folder / case / f"{policy}.swf"
    path.write_text(waits_filled_in(folder / case / "workload.swf", starts))
    return path


@pytest.fixture
def kit(tmp_path: Path) -> Path:
    write_cases(tmp_path / "kit")
    return tmp_path / "kit"


def test_a_right_schedule_is_called_right(kit: Path) -> None:
    for case in CASES:
        for policy in DEFINITIONS:
            found = simulate(case.jobs, rules_of(policy, case.hosts))
            assert isinstance(found, list)
            leave(kit, case.name, policy, found)
    done = call("cases", kit)
    assert done.exit_code == 0, done.output
    assert done.output.splitlines()[-1] == f"{len(CASES) * len(DEFINITIONS)} schedules, 0 wrong"


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_each_mistake_is_named(kit: Path, mistake) -> None:
    case = next(case for case in CASES if case.reveals == mistake.name)
    found = simulate(case.jobs, mistake.of(rules_of(case.policy, case.hosts)))
    assert isinstance(found, list)
    leave(kit, case.name, case.policy, found)
    done = call("cases", kit, "--json")
    assert done.exit_code == 1
    (answer,) = json.loads(done.output)["found"]
    assert not answer["right"]
    assert answer["verdict"].startswith("This is not ")
    held = hold(case.jobs, found, case.policy, case.hosts)
    assert held.explained is not None
    # What several mistakes explain is explained by the first of them, or by what the policy is called then.
    told = simulate(case.jobs, held.explained.rules)
    assert told == found
    if held.explained.mistakes and case.name not in ("a-promise-right-after-a-start",):
        assert mistake in held.explained.mistakes


def test_cases_without_schedules_are_refused(kit: Path) -> None:
    done = call("cases", kit)
    assert isinstance(done.exception, InputError)
    assert "there is no schedule" in str(done.exception)


def test_the_jobs_file_of_batsim_is_read(kit: Path, tmp_path: Path) -> None:
    for policy, dispatcher in (("easy", "easy"), ("conservative", "conservative")):
        for case in ("extra-nodes", "compression"):
            made = CliRunner().invoke(
                cli,
                [
                    "run",
                    f"--platform={kit / case / 'platform.xml'}",
                    f"--workload={kit / case / 'workload.json'}",
                    f"--dispatcher={dispatcher}",
                    f"--out={tmp_path / case / policy}",
                ],
            )
            assert made.exit_code == 0, made.output
            jobs = tmp_path / case / policy / "jobs.csv"
            (kit / case / f"{policy}.csv").write_bytes(jobs.read_bytes())
            assert call("file", jobs, "--policy", policy, "--hosts", BY_NAME[case].hosts).exit_code == 0
    done = call("cases", kit)
    assert done.exit_code == 0, done.output
    assert "4 schedules, 0 wrong" in done.output


def test_a_table_is_read_with_a_mapping(tmp_path: Path) -> None:
    path = tmp_path / "theirs.csv"
    rows = zip(BY_NAME["extra-nodes"].rows, BY_NAME["extra-nodes"].starts, strict=True)
    lines = [f"{job},{came},{units},{start},{start + run},{asked}" for (job, came, units, run, asked), start in rows]
    path.write_text("job,came,procs,began,ended,asked\n" + "\n".join(lines) + "\n")
    columns = "id=job,submit=came,nodes=procs,start=began,end=ended,walltime=asked"
    assert call("file", path, "--columns", columns, "--hosts", 8).exit_code == 0
    wrong = call("file", path, "--columns", columns, "--hosts", 8, "--policy", "fcfs")
    assert wrong.exit_code == 1
    assert "1 of 3 jobs start otherwise. The first one is job 3: at 3 s, expected at 8 s." in wrong.output
    assert "It is exactly EASY on 8 processors" in wrong.output


def test_the_wrong_size_is_found(kit: Path) -> None:
    case = BY_NAME["the-machine-is-not-rounded-up"]
    found = simulate(case.jobs, rules_of("easy", 8))
    assert isinstance(found, list)
    path = leave(kit, case.name, "easy", found)
    done = call("file", path)
    assert done.exit_code == 1
    assert "2 jobs on 6 processors (MaxProcs in the log's header)" in done.output
    assert "It is exactly EASY on 8 processors instead of 6" in done.output


def test_other_readings_of_a_moment_are_right_too(kit: Path) -> None:
    for reveals in ("submissions-first", "freed-when-expected"):
        case = next(case for case in CASES if case.reveals == reveals)
        variant = next(variant for variant in EVENT_ORDERS if variant.name == reveals)
        found = simulate(case.jobs, variant.of(rules_of("easy", case.hosts)))
        assert isinstance(found, list)
        done = call("file", leave(kit, case.name, "easy", found))
        assert done.exit_code == 0, done.output
        assert variant.about in done.output


def test_what_no_variant_explains_is_said(kit: Path) -> None:
    case = BY_NAME["extra-nodes"]
    path = leave(kit, case.name, "easy", [0, 8_000_000, 5_000_000])
    done = call("file", path, "--json")
    assert done.exit_code == 1
    answer = json.loads(done.output)
    assert answer["differing"] == ["3"]
    assert answer["explained_by"] is None
    assert "no known variant gives all its starts" in answer["verdict"]


def test_the_log_says_what_was_asked_for(kit: Path, tmp_path: Path) -> None:
    case = BY_NAME["shadow-time-from-requested-ends"]
    log = kit / case.name / "workload.swf"
    theirs = tmp_path / "theirs.swf"
    # A simulator that says nothing of requested times, moves the clock, and loses a job.
    text = waits_filled_in(log, [start * 10**6 for start in case.starts])
    moved = []
    for line in text.splitlines():
        if line.startswith(";"):
            continue
        fields = line.split()
        fields[1], fields[8] = str(int(fields[1]) + 1000), "-1"
        moved.append(" ".join(fields))
    theirs.write_text("\n".join(moved) + "\n")
    done = call("file", theirs, "--log", log)
    assert done.exit_code == 0, done.output
    theirs.write_text("\n".join(moved[:2]).replace(" 6 ", " 4 ") + "\n")
    schedule = read_schedule(theirs, log=log)
    assert any("1 of the log's 3 jobs are not in the job file" in note for note in schedule.notes)
    assert any("another size" in note for note in schedule.notes)


def test_another_log_is_refused(kit: Path, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs.swf"
    theirs.write_text("77 0 0 5 1 -1 -1 1 5 -1 1 1 -1 -1 -1 -1 -1 -1\n")
    with pytest.raises(InputError, match="none of its ids is there"):
        read_schedule(theirs, log=kit / "extra-nodes" / "workload.swf")


def test_figures_of_each_variant_and_size(kit: Path) -> None:
    log = kit / "extra-nodes" / "workload.swf"
    done = call("figures", log, "--hosts", "8,16", "--quantile", 1, "--published", 2.4)
    assert done.exit_code == 0, done.output
    lines = done.output.splitlines()
    # On 8 processors job 2 waits 7 s and runs 5: (7 + 5) / 10; with the mistake job 3 waits 5 s and runs 12.
    assert lines[1].split()[:2] == ["8", "1.20"]
    assert lines[1].endswith("as defined")
    (without,) = [line for line in lines if "leaves over" in line and line.split()[0] == "8" and "no job" in line]
    assert without.split()[1] == "1.42"
    answer = json.loads(call("figures", log, "--hosts", "8,16", "--quantile", 1, "--json").output)
    assert answer["figures"][0] == {
        "hosts": 8,
        "about": "as defined",
        "slowdown": 1.2,
        "wait": answer["figures"][0]["wait"],
    }
    assert len(answer["figures"]) == len(lines) - 1
    assert isinstance(call("figures", log, "--hosts", "8,x").exception, InputError)
