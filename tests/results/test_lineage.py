"""Rows of one job are joined by the record of the run and by nothing else: in metrics, table, report, explanation."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.abilities.verify.audit.run import Auditor
from batdispatch.core.errors import InputError
from batdispatch.core.jobs.job import FINAL_STATES
from batdispatch.core.jobs.job_table import JobTable
from batdispatch.explain.wait_causes import explain
from batdispatch.report.comparison import warnings
from batdispatch.report.losses import begin_losses
from batdispatch.report.page import render
from batdispatch.results.jobs_file import read_columns
from batdispatch.results.lineage import FILE, Lineage, logical, read_lineage, rows_as_jobs, waits, write_lineage
from batdispatch.results.lineage import lineage_of as lineage_of_parents
from batdispatch.results.metrics.compute import compute
from batdispatch.results.metrics.sample import sample_of
from batdispatch.results.runs import Run, read_run, read_runs
from columns import columns_of
from sites import delays, simulated

ROOT = Path(__file__).parents[2]
PLATFORM = ROOT / "platforms" / "flat8.xml"
Call = Callable[..., tuple[int, str, str]]
WriteJobs = Callable[..., Path]

KILLED = {"state": "COMPLETED_WALLTIME_REACHED"}
#: Submitted at 0, ran from 2 to 6 on 2 hosts and from 9 to 19 on 4, beside a job that did neither.
SEGMENTS = {
    "7~2": {"submission": 6.0, "start": 9.0, "finish": 19.0, "hosts": "0-3", "units": 4},
    "b": {"submission": 1.0, "start": 1.0, "finish": 20.0, "hosts": "4"},
    "7": {"start": 2.0, "finish": 6.0, "hosts": "0-1", "units": 2, **KILLED},
}


def record(folder: Path, *lines: str) -> Path:
    (folder / FILE).write_text("\n".join(["job_id,workload_name,parent", *lines]) + "\n")
    return folder


def lineage_of(folder: Path) -> tuple[JobTable, Lineage]:
    columns = read_columns(folder / "jobs.csv")
    return columns, read_lineage(folder / FILE, columns)


# --- reading and writing ---------------------------------------------------------------------------------------------


def test_segments_become_one_row(write_jobs: WriteJobs) -> None:
    columns, lineage = lineage_of(record(write_jobs(SEGMENTS), "7~2,w0,7"))
    assert (lineage.parent.tolist(), lineage.root.tolist(), lineage.depth.tolist()) == (
        [2, -1, -1],
        [2, 1, 2],
        [1, 0, 0],
    )
    jobs = logical(columns, lineage)
    assert jobs.job_id.tolist() == ["b", "7"]
    names = ["submission_time", "starting_time", "finish_time", "execution_time", "waiting_time", "turnaround_time"]
    assert [getattr(jobs, name)[1] for name in names] == [0, 2, 19, 14, 5, 19]
    assert (jobs.requested_number_of_resources[1], lineage.segments.tolist()) == (2, [1, 2])
    assert FINAL_STATES[jobs.final_state[1]] == "COMPLETED_SUCCESSFULLY"
    assert jobs.success[1]
    begin, end = waits(columns, lineage)
    assert sorted(zip(begin.tolist(), end.tolist(), strict=True)) == [(0, 2), (1, 1), (6, 9)]


def test_energy_of_a_job_is_that_of_all_its_segments(write_jobs: WriteJobs) -> None:
    columns, lineage = lineage_of(record(write_jobs(SEGMENTS), "7~2,w0,7"))
    energy = {"7~2": 40.0, "b": 3.0, "7": 200.0}
    told = replace(columns, consumed_energy=np.array([energy[name] for name in columns.job_id]))
    jobs = logical(told, lineage)
    assert dict(zip(jobs.job_id.tolist(), jobs.consumed_energy.tolist(), strict=True)) == {"b": 3, "7": 240}


def test_without_the_file_nothing_is_joined(write_jobs: WriteJobs) -> None:
    columns, lineage = lineage_of(write_jobs(SEGMENTS))
    assert not lineage.joined
    assert logical(columns, lineage) is columns
    assert set(lineage.segments.tolist()) == {1}


def test_what_was_written_is_read(write_jobs: WriteJobs) -> None:
    jobs = {"a": {}, "b": {"start": 10.0, "finish": 11.0}, "c": {"workload": "w1", "start": 12.0, "finish": 14.0}}
    folder = write_jobs(jobs)
    write_lineage({"w0!b": "w0!a", "w1!c": "w0!b"}, folder / FILE)
    assert (folder / FILE).read_text() == "job_id,workload_name,parent\nb,w0,a\nc,w1,w0!b\n"
    _, lineage = lineage_of(folder)
    assert lineage.root.tolist() == [0, 0, 0]
    at_hand = lineage_of_parents(read_columns(folder / "jobs.csv"), {"w0!b": "w0!a", "w1!c": "w0!b"})
    assert at_hand.parent.tolist() == lineage.parent.tolist() == [-1, 0, 1]
    # A later run in the same folder in which no job continues another.
    write_lineage({}, folder / FILE)
    assert not (folder / FILE).exists()


def test_a_segment_that_was_rejected_ends_nothing(write_jobs: WriteJobs) -> None:
    columns, lineage = lineage_of(
        record(write_jobs({"a": KILLED, "a~2": {"state": "REJECTED", "submission": 10.0}}), "a~2,w0,a")
    )
    job = logical(columns, lineage)
    assert [FINAL_STATES[state] for state in job.final_state] == ["COMPLETED_WALLTIME_REACHED"]
    assert (job.finish_time.tolist(), lineage.segments.tolist()) == ([10], [2])


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["7~2,w0"], "line 2: 2 fields, expected 3"),
        (["9,w0,7"], "line 2: job '9' is not in the jobs file"),
        (["7,w1,b"], "line 2: job '7' is not in the jobs file"),
        (["7~2,w0,70"], "line 2: job '7~2' continues job '70', which is not in the jobs file"),
        (["7~2,w0,7", "7~2,w0,b"], "line 3: job '7~2' stands here and in line 2"),
        (["7~2,w0,7~2"], "line 2: job 7~2 continues itself"),
        (["7~2,w0,7", "7,w0,7~2"], "jobs 7~2, 7 continue each other in a circle"),
        (["7~2,w0,7", "7,w0,b", "b,w0,7"], "in a circle"),
        # It is right as such, and contradicts the times.
        (["7~2,w0,b"], "job '7~2' starts at 9.000000 s, before job 'b', which it continues, ends at 20.000000 s"),
        (["b,w0,7~2"], "job 'b' starts at 1.000000 s, before job '7~2'"),
    ],
)
def test_a_record_that_lies_is_refused(write_jobs: WriteJobs, lines: list[str], message: str) -> None:
    folder = record(write_jobs(SEGMENTS), *lines)
    with pytest.raises(InputError) as refused:
        read_run(folder)
    assert message in str(refused.value)
    assert FILE in str(refused.value)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "found columns '', expected job_id,workload_name,parent"),
        (b"job_id,parent\n", "found columns 'job_id,parent'"),
        (b"job_id,workload_name,parent\n\xff", "utf-8"),
        (b'job_id,workload_name,parent\n"a', "line 2"),
    ],
)
def test_a_file_that_is_no_record_is_refused(write_jobs: WriteJobs, data: bytes, message: str) -> None:
    folder = write_jobs(SEGMENTS)
    (folder / FILE).write_bytes(data)
    with pytest.raises(InputError, match=message):
        read_run(folder)


def test_a_record_too_large_is_refused(write_jobs: WriteJobs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("batdispatch.results.rows.MAX_BYTES", 20)
    with pytest.raises(InputError, match="larger than 20 bytes"):
        read_run(record(write_jobs(SEGMENTS), "7~2,w0,7"))


def test_a_long_chain_is_followed(write_jobs: WriteJobs) -> None:
    count = 3000
    jobs = {str(i): {"submission": float(i), "start": float(i), "finish": i + 0.5} for i in range(count)}
    folder = record(write_jobs(jobs), *(f"{i},w0,{i - 1}" for i in range(count - 1, 0, -1)))
    columns, lineage = lineage_of(folder)
    assert set(lineage.root.tolist()) == {0}
    job = logical(columns, lineage)
    assert (len(job), lineage.segments.tolist()) == (1, [count])
    assert (job.execution_time[0], job.waiting_time[0]) == (count / 2, (count - 1) / 2)


# --- metrics ---------------------------------------------------------------------------------------------------------


def test_metrics_are_of_logical_jobs_and_the_machine_of_segments(write_jobs: WriteJobs) -> None:
    columns, lineage = lineage_of(record(write_jobs(SEGMENTS), "7~2,w0,7"))
    values = compute(sample_of(columns, lineage=lineage, hosts=8))
    assert values["nb_jobs"] == values["nb_jobs_success"] == 2
    assert values["nb_jobs_killed"] == 0
    assert values["mean_waiting_time"] == (5 + 0) / 2
    assert values["mean_turnaround_time"] == (19 + 19) / 2
    assert values["max_slowdown"] == 19 / 14
    assert values["makespan"] == 20
    assert values["utilisation"] == pytest.approx((2 * 4 + 4 * 10 + 19) / (8 * 20))
    assert values["max_queue_length"] == 1
    assert values["mean_queue_length"] == 5 / 20
    assert values["throughput"] == 3600 * 2 / 20


@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=1, max_size=4), min_size=1, max_size=8
    ),
    st.randoms(use_true_random=False),
)
def test_metrics_against_jobs_joined_by_hand(jobs: list[list[tuple[int, int]]], shuffle) -> None:  # type: ignore[no-untyped-def]
    rows, chains = [], []
    for number, segments in enumerate(jobs):
        time, names = number, []
        for index, (gap, length) in enumerate(segments):
            names.append(f"{number}.{index}")
            start, submission, time = time + gap, time, time + gap + length
            last = index == len(segments) - 1
            rows.append((names[-1], submission, start, time, "COMPLETED_SUCCESSFULLY" if last else "COMPLETED_KILLED"))
        chains.append(names)
    shuffle.shuffle(rows)
    names = ["job_id", "submission_time", "starting_time", "finish_time", "final_state"]
    frame = pd.DataFrame(rows, columns=names).assign(
        workload_name="w0", requested_number_of_resources=1, allocated_resources="0", consumed_energy=0.0, success=True
    )
    at = {name: row for row, name in enumerate(frame["job_id"])}
    parent = np.full(len(rows), -1)
    root, depth = np.arange(len(rows)), np.zeros(len(rows), dtype=np.int64)
    for names in chains:
        for index, name in enumerate(names):
            root[at[name]], depth[at[name]] = at[names[0]], index
            if index:
                parent[at[name]] = at[names[index - 1]]
    values = compute(
        sample_of(columns_of(frame), lineage=Lineage(parent, root, depth, np.zeros(len(rows)), np.zeros(len(rows))))
    )
    waited = [sum(gap for gap, _ in segments) for segments in jobs]
    ran = [sum(length for _, length in segments) for segments in jobs]
    assert values["mean_waiting_time"] == pytest.approx(np.mean(waited))
    assert values["mean_turnaround_time"] == pytest.approx(np.mean(np.add(waited, ran)))
    assert values["mean_bounded_slowdown"] == pytest.approx(
        np.mean([max(1, (w + p) / max(p, 10)) for w, p in zip(waited, ran, strict=True)])
    )
    assert (values["nb_jobs"], values["nb_jobs_success"]) == (len(jobs), len(jobs))


def test_jobs_that_are_not_joined_have_the_numbers_they_had(recordings: Path) -> None:
    for path in sorted(recordings.glob("scheduling/*/jobs.csv"))[:6]:
        columns = read_columns(path)
        assert compute(sample_of(columns, hosts=128)) == compute(
            sample_of(columns, hosts=128, lineage=rows_as_jobs(len(columns)))
        )


# --- a log whose names look like attempts ----------------------------------------------------------------------------


@pytest.fixture
def look_alikes(tmp_path: Path) -> Path:
    """A run of a log with jobs '7' and '7~2', which have nothing to do with each other."""
    jobs = [
        {"id": "7", "subtime": 0, "res": 8, "walltime": 20, "profile": "d10"},
        {"id": "7~2", "subtime": 1, "res": 8, "walltime": 20, "profile": "d10"},
    ]
    return run(tmp_path / "alike", jobs, "easy")


def run(out: Path, jobs: list[dict[str, object]], dispatcher: str, **options: str) -> Path:
    profiles = delays(5, 10, 30, 60)
    return simulated(out.parent, dispatcher, PLATFORM, jobs, profiles, out=out.name, options=options)


def test_names_that_look_like_attempts_are_two_jobs_everywhere(look_alikes: Path, call: Call) -> None:
    assert not (look_alikes / FILE).exists()
    found = read_run(look_alikes)
    assert found.metrics["nb_jobs"] == 2
    assert found.metrics["mean_waiting_time"] == 4.5
    result = json.loads((look_alikes / "result.json").read_text())
    assert result["metrics"]["nb_jobs"] == 2
    status, out, _ = call("explain-wait", look_alikes, "7~2", "--json")
    assert (status, json.loads(out)["attempts"]) == (0, [])
    _, out, _ = call("explain-wait", look_alikes, "7")
    assert "other segments" not in out
    page = render(read_runs([look_alikes]))
    assert "2 jobs on 8 hosts" in page
    assert "over all their attempts" not in page
    assert Auditor().run(look_alikes).kept == []


def test_the_terminal_table_counts_them_as_two(look_alikes: Path, call: Call, tmp_path: Path) -> None:
    workload = look_alikes.parent / "alike.json"
    arguments = ["--platform", PLATFORM, "--workload", workload, "--out", tmp_path / "again"]
    status, out, _ = call("run", *arguments, "--dispatcher", "fcfs")
    assert status == 0
    (line,) = [line for line in out.splitlines() if line.startswith("successful")]
    assert line.split()[-1] == "2"


# --- a run in which jobs continue others -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def stochastic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Job 1 is tried with ever longer limits until its 60 s suffice, beside two jobs that are known."""
    law = {"runtime_law": "texp:0,100,20"}
    jobs: list[dict[str, object]] = [
        {"id": "1", "subtime": 0, "res": 8, "walltime": 200, "profile": "d60", **law},
        {"id": "2", "subtime": 1, "res": 8, "walltime": 31, "profile": "d30"},
        {"id": "3", "subtime": 2, "res": 1, "walltime": 31, "profile": "d30"},
    ]
    folder = tmp_path_factory.mktemp("stochastic")
    return run(folder / "tried", jobs, "stochastic-easy", requests="factor", rate="0.5")


def by_hand(found: Run) -> tuple[float, float]:
    """Wait and turnaround of job 1 from the rows of its attempts."""
    rows = found.frame[found.frame["job_id"].str.split("~").str[0] == "1"]
    assert len(rows) > 1
    turnaround = float(rows["finish_time"].max() - rows["submission_time"].min())
    return turnaround - float((rows["finish_time"] - rows["starting_time"]).sum()), turnaround


def test_a_stochastic_run_is_joined(stochastic: Path, call: Call) -> None:
    found = read_run(stochastic)
    assert (stochastic / FILE).read_text().splitlines()[:2] == ["job_id,workload_name,parent", "1~2,w0,1"]
    assert len(found.frame) > len(found.jobs) == 3
    wait, turnaround = by_hand(found)
    job = found.jobs.set_index("job_id").loc["1"]
    assert (job["waiting_time"], job["turnaround_time"]) == pytest.approx((wait, turnaround))
    assert found.metrics["nb_jobs"] == found.metrics["nb_jobs_success"] == 3
    assert found.metrics["nb_jobs_killed"] == 0
    result = json.loads((stochastic / "result.json").read_text())
    assert result["metrics"]["nb_jobs"] == result["attempts"]["jobs"] == 3
    attempts = [name for name in found.frame["job_id"] if name != "1" and name.startswith("1")]
    _, out, _ = call("explain-wait", stochastic, "1", "--json")
    assert sorted(json.loads(out)["attempts"]) == sorted(f"w0!{name}" for name in attempts)
    _, out, _ = call("explain-wait", stochastic, "1~2")
    assert "other segments of the job: w0!1" in out
    page = render(read_runs([stochastic]))
    assert "3 jobs on 8 hosts" in page
    assert "over all their attempts" in page
    assert Auditor().run(stochastic).kept == []


def test_the_terminal_table_joins_attempts(stochastic: Path, call: Call, tmp_path: Path) -> None:
    arguments = ["--platform", PLATFORM, "--workload", stochastic.parent / "tried.json", "--out", tmp_path / "again"]
    chosen = "stochastic-easy[requests=factor,rate=0.5]"
    status, out, _ = call("run", *arguments, "--dispatcher", chosen)
    assert status == 0
    (line,) = [line for line in out.splitlines() if line.startswith("successful")]
    assert line.split()[-1] == "3"


def test_a_stochastic_run_compares_with_one_that_never_tries_twice(stochastic: Path, tmp_path: Path) -> None:
    jobs = json.loads((stochastic.parent / "tried.json").read_text())["jobs"]
    once = run(tmp_path / "once", jobs, "easy")
    runs = read_runs([stochastic, once])
    assert not any("different jobs" in warning for warning in warnings(runs))
    best, lost, _ = begin_losses(runs)()
    assert {best, *(loser.label for loser in lost)} <= {"tried", "once"}
    (loser,) = lost
    assert loser.jobs == 3
    assert loser.note == ""
    if loser.label == "tried":
        assert any(loss.why.startswith("It ran in ") or loss.why.startswith("Waited") for loss in loser.losses)


def test_explanations_join_by_the_recorded_parent(stochastic: Path, tmp_path: Path) -> None:
    """With the field taken out of the recording, the same names are of different jobs."""
    recording = stochastic / "decisions.jsonl"
    (first,) = explain(recording, ["1"])
    assert first.attempts
    text = recording.read_text()
    assert '"parent"' in text.replace("\\", "")
    bare = tmp_path / "decisions.jsonl"
    bare.write_text(text.replace('\\"parent\\"', '\\"other\\"').replace('"parent"', '"other"'))
    (alone,) = explain(bare, ["1"])
    assert alone.attempts == []


# --- a run in which a job is resized ---------------------------------------------------------------------------------


def test_a_resized_job_is_one_job_everywhere(tmp_path: Path, call: Call) -> None:
    """Job 1 gives 4 of 8 hosts to job 2, and gets them back when that has ended."""
    sizes = {"least": 1, "most": 8, "kind": "malleable", "steps": 10}
    jobs: list[dict[str, object]] = [
        {"id": "1", "subtime": 0, "res": 8, "profile": "d60", "sizes": sizes},
        {"id": "2", "subtime": 1, "res": 4, "walltime": 31, "profile": "d30"},
    ]
    costs = {"check_cost": "0", "shrink_cost": "1", "expand_cost": "2"}
    folder = run(tmp_path / "resized", jobs, "dmr", **costs)
    found = read_run(folder)
    rows = {name: tuple(times) for name, *times in found.frame[["job_id", "starting_time", "finish_time"]].to_numpy()}
    # 6 of 60 s are done at 6 s; job 2 starts when the second of the redistribution is over. At 12 s on half the hosts,
    # its next point, nothing waits and no host is free; the first one after the end of job 2, at 37 s, is at 43 s.
    assert rows == {
        "1": (0.0, 6.0),
        "2": (7.0, 37.0),
        "1~2": (6.0, 43.0),
        "1~3": (43.0, 43.0 + 2.0 + 36.0),
    }
    assert found.lineage.resizes(found.columns) == 2
    metrics = found.metrics
    assert (metrics["nb_jobs"], metrics["nb_jobs_success"], metrics["nb_jobs_killed"]) == (2, 2, 0)
    assert metrics["mean_waiting_time"] == (0.0 + 6.0) / 2
    assert metrics["mean_turnaround_time"] == (81.0 + 36.0) / 2
    told = json.loads((folder / "result.json").read_text())["report"]["resizing"]
    assert told["shrink"] == {"count": 1, "least": 1.0, "mean": 1.0, "most": 1.0}
    assert told["expand"] == {"count": 1, "least": 2.0, "mean": 2.0, "most": 2.0}
    _, out, _ = call("explain-wait", folder, "2")
    assert "short of hosts" in out
    _, out, _ = call("explain-wait", folder, "1~2")
    assert "other segments of the job: w0!1, w0!1~3" in out
    page = render(read_runs([folder]))
    assert "2 jobs on 8 hosts" in page
    assert "over all their attempts" not in page, "what a resize ends is not wasted"
    assert Auditor().run(folder).kept == []


def test_a_molded_job_is_not_a_rejected_one(tmp_path: Path, call: Call) -> None:
    """Job 2 starts on 4 hosts, as that is what is free: Batsim is told to reject it, and of another one."""
    jobs: list[dict[str, object]] = [
        {"id": "1", "subtime": 0, "res": 3, "walltime": 31, "profile": "d30"},
        {"id": "2", "subtime": 1, "res": 8, "profile": "d10", "sizes": {"least": 1, "most": 8}},
    ]
    folder = run(tmp_path / "molded", jobs, "dmr", moldable="fitting")
    metrics = read_run(folder).metrics
    assert (metrics["nb_jobs"], metrics["nb_jobs_success"], metrics["nb_jobs_rejected"]) == (2, 2, 0)
    assert metrics["mean_turnaround_time"] == (30.0 + 20.0) / 2
    assert Auditor().run(folder).kept == []
    _, out, _ = call("explain-wait", folder, "2~2")
    assert "it did not wait" in out
