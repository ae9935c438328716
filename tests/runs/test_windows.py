"""Windows of a workload: which jobs count, for how long each is watched, and what a comparison on windows says."""

import json
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import batdispatch as bd
from batdispatch.abilities.campaigns import replicate_cost
from batdispatch.abilities.topology.generate import torus
from batdispatch.cli.main import cli
from batdispatch.core.errors import InputError
from batdispatch.core.line import registry
from batdispatch.inputs.workloads import Workload, read_workload, write_workload
from batdispatch.inputs.workloads.lublin import lublin
from batdispatch.inputs.workloads.malleable import made_malleable
from batdispatch.inputs.workloads.model import Window
from batdispatch.inputs.workloads.windows import plan_windows, take_window
from batdispatch.parts import ordering
from batdispatch.results.jobs_file import read_columns
from batdispatch.results.metrics.compute import compute
from batdispatch.results.metrics.sample import sample_of

FAMILIES = [
    *(f"easy[ordering={name}]" for name in registry.names(ordering.GROUP)),
    *("fcfs", "filler", "conservative", "slurm-backfill", "best-list", "easy[backfill=sjf]"),
    *("hcp19[work=0.05,wall=3600]", "ipsched", "stochastic-easy[requests=learned-ratio]"),
    *("resizing[dispatcher=easy]", "easy[placement=compact]"),
]
few = settings(max_examples=15)


def workload(seed: int = 1, jobs: int = 60) -> Workload:
    """Return a workload that keeps 16 hosts busy, half of whose jobs can be resized."""
    rigid = lublin(np.random.default_rng(seed), jobs=jobs, hosts=16, load=1.2, walltimes="modal")
    rigid.sort()
    return made_malleable(np.random.default_rng(seed), rigid, hosts=16)[0]


def waits_by_hand(folder: Path, made: Workload, ids: set[str], until: float | None) -> list[float]:
    """Return what counts for the waits of some jobs, from the first row of each in jobs.csv."""
    lines = [line.split(",") for line in (folder / "jobs.csv").read_text().splitlines()]
    at = {name: place for place, name in enumerate(lines[0])}
    starts = {row[at["job_id"]]: float(row[at["starting_time"]]) for row in lines[1:] if row[at["starting_time"]]}
    limit = np.inf if until is None else until
    return [min(starts[job.id], limit) - job.submission for job in made.jobs if job.id in ids and job.id in starts]


@pytest.mark.usefixtures("worker_threads")
@pytest.mark.parametrize("dispatcher", FAMILIES)
def test_any_dispatcher_takes_a_window_and_its_run_is_clean(dispatcher: str, tmp_path: Path) -> None:
    whole = workload()
    made = take_window(whole, 20, jobs=25, warm_up=20, cool_down=5)
    (tmp_path / "p.xml").write_bytes(torus([2, 2, 2], hosts_per_router=2))
    write_workload(made, tmp_path / "w.json")
    run = bd.run(tmp_path / "w.json", dispatcher, platform=tmp_path / "p.xml", out=tmp_path / "run", record=False)
    counted = run.result["workload"]["counted"]
    ids = {job.id for job in whole.jobs[20:45]}
    assert run.metrics["nb_jobs"] == 25
    assert run.result["metrics"]["nb_jobs"] >= 50
    if not (run.folder / "lineage.csv").is_file():
        waits = waits_by_hand(run.folder, made, ids, counted["until"])
        assert run.metrics["max_waiting_time"] == pytest.approx(max(waits), abs=2e-6)
        assert run.metrics["mean_waiting_time"] == pytest.approx(np.mean(waits), abs=2e-6)
    assert run.check().clean


@few
@given(seed=st.integers(0, 1000), dispatcher=st.sampled_from(["fcfs", "easy", "resizing[dispatcher=easy]", "ipsched"]))
def test_a_window_that_is_the_whole_log_has_the_metrics_of_the_run(seed: int, dispatcher: str) -> None:
    made = take_window(workload(seed, jobs=30), 0, jobs=30, warm_up=0, cool_down=0)
    result = bd.run(made, dispatcher, platform=16).result
    assert result["workload"]["counted"]["metrics"] == result["metrics"]


@few
@given(seed=st.integers(0, 1000), delay=st.floats(0, 1e6))
def test_what_counts_does_not_depend_on_how_long_the_warm_up_waited(seed: int, delay: float) -> None:
    run = bd.run(take_window(workload(seed), 20, jobs=20, warm_up=20, cool_down=10), "easy", platform=16, record=False)
    columns = read_columns(run.folder / "jobs.csv")
    window = Window(**{name: run.result["workload"]["counted"][name] for name in Window.__struct_fields__})
    before = columns.submission_time < window.begin
    assert before.sum() == 20
    found = compute(sample_of(columns, window=window))
    columns.starting_time[before] += delay
    columns.finish_time[before] += delay
    later = compute(sample_of(columns, window=window))
    for name in ("max_waiting_time", "mean_waiting_time", "mean_bounded_slowdown", "p95_waiting_time", "nb_jobs"):
        assert later[name] == found[name]


def in_a_row(count: int, *, apart: float = 10.0, runtime: float = 25.0) -> Workload:
    """Return jobs of one host each that come faster than one host serves them."""
    jobs = [{"id": str(n), "subtime": apart * n, "res": 1, "walltime": 100, "profile": "p"} for n in range(count)]
    return read_json({"nb_res": 1, "jobs": jobs, "profiles": {"p": {"type": "delay", "delay": runtime}}})


def read_json(fields: dict[str, Any]) -> Workload:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "w.json"
        path.write_text(json.dumps(fields))
        return read_workload(path)


def test_jobs_that_still_wait_at_the_end_count_for_what_they_waited() -> None:
    # Job n comes at 10 n s and starts at 25 n s. Jobs 2 to 5 count; job 7 is the last to come, at 70 s.
    made = take_window(in_a_row(10), 2, jobs=4, warm_up=2, cool_down=2)
    run = bd.run(made, "fcfs", platform=1)
    assert run.result["workload"]["counted"] == {
        "begin": 20.0,
        "end": 60.0,
        "until": 70.0,
        "still_waiting": 3,
        "metrics": run.metrics,
    }
    # Job 2 waits from 20 to 50, job 3 from 30 to 75 (counted until 70), job 4 from 40 and job 5 from 50 until 70.
    assert run.metrics["mean_waiting_time"] == (30 + 40 + 30 + 20) / 4
    assert run.metrics["max_waiting_time"] == 40
    assert run.metrics["mean_bounded_slowdown"] == pytest.approx(np.mean([55, 65, 55, 45]) / 25)
    # The host never stands idle between 20 and 60 s, whosever jobs it runs.
    assert run.metrics["utilisation"] == 1.0
    assert run.result["metrics"]["max_waiting_time"] == 7 * 15


def test_jobs_without_a_cool_down_are_watched_until_they_start() -> None:
    run = bd.run(take_window(in_a_row(10), 2, jobs=4, warm_up=2, cool_down=0), "fcfs", platform=1)
    assert run.metrics["max_waiting_time"] == 5 * 15
    assert run.metrics["nb_jobs"] == 4


@given(st.integers(1, 60_000), st.integers(1, 40), st.floats(0, 1), st.floats(0, 1))
def test_windows_of_one_simulation_share_no_job_and_leave_hardly_one_out(
    total: int, count: int, warm_up: float, cool_down: float
) -> None:
    try:
        plan = plan_windows(total, count, warm_up=warm_up, cool_down=cool_down)
    except InputError:
        assert total < 5
        return
    assert total == plan.warm_up + plan.windows * plan.jobs + plan.cool_down
    assert plan.warm_up <= (warm_up if warm_up >= 1 else warm_up * plan.jobs) + plan.windows + 3
    assert plan.step == plan.jobs
    assert plan.independent == plan.windows == min(count, plan.windows)
    assert plan.windows == count or plan.jobs == 1
    assert len(plan.notes) == (plan.windows < count)


@given(st.integers(1, 60_000), st.integers(1, 40), st.floats(0, 1), st.floats(0, 1))
def test_separate_windows_lie_within_the_workload_evenly_and_say_where_they_overlap(
    total: int, count: int, warm_up: float, cool_down: float
) -> None:
    try:
        plan = plan_windows(total, count, warm_up=warm_up, cool_down=cool_down, separate=True)
    except InputError:
        assert total < 2 + warm_up * 10_000 + cool_down * 10_000 or total < 10_000 * (1 + warm_up + cool_down) + 2
        return
    assert plan.jobs == min(10_000, max(total // 2, 1))
    assert 1 <= plan.windows <= count
    assert plan.warm_up + (plan.windows - 1) * plan.step + plan.jobs + plan.cool_down <= total
    assert plan.windows == 1 or plan.step >= 1
    overlap = plan.windows > 1 and plan.step < plan.jobs
    assert (plan.independent < plan.windows) == overlap
    assert any("overlap" in note for note in plan.notes) == overlap
    assert any("instead of 10,000" in note for note in plan.notes) == (total // 2 < 10_000)


def test_overlapping_windows_count_for_as_many_as_fit_into_their_time() -> None:
    """Four windows of 10 jobs begin 7 jobs apart: the 31 jobs have room for three of them side by side."""
    plan = plan_windows(31, 4, jobs=10, warm_up=0, cool_down=0)
    assert (plan.step, plan.windows, plan.independent) == (7, 4, 3)
    # 19 jobs have room for one, 20 jobs for two.
    assert plan_windows(19, 10, jobs=10, warm_up=0, cool_down=0).independent == 1
    assert plan_windows(20, 11, jobs=10, warm_up=0, cool_down=0).independent == 2


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"jobs": 90}, "has 100 jobs, too few for a window of 90 behind 18 of warm-up and before 18 of cool-down"),
        ({"jobs": 20.5}, "option --window: found 20.5, expected a whole number of jobs, or a share below 1"),
        ({"jobs": 0.004}, "too few for a window of 0"),
    ],
)
def test_windows_that_there_cannot_be_are_refused(given: dict[str, float], message: str) -> None:
    with pytest.raises(InputError) as told:
        plan_windows(100, 2, source="w.json", **given)
    assert message in str(told.value)


def test_a_window_of_jobs_that_all_come_at_once_is_refused() -> None:
    with pytest.raises(InputError, match="all jobs of the window are submitted at one moment"):
        take_window(in_a_row(10, apart=0.0), 2, jobs=4, warm_up=2, cool_down=2)
    with pytest.raises(InputError, match="there is no window of 4 from job 8 on with 2 before"):
        take_window(in_a_row(10), 8, jobs=4, warm_up=2, cool_down=2)


def test_a_comparison_on_separate_windows_is_clean_and_warns_of_a_wait_that_grows(tmp_path: Path) -> None:
    log = lublin(np.random.default_rng(5), jobs=500, hosts=16, load=1.05, walltimes="modal")
    shown = bd.replicate(
        log,
        ["easy", "easy[ordering=smallest-area]"],
        6,
        replicate_by="separate-windows",
        window=60,
        platform=16,
        out=tmp_path / "out",
        processes=1,
    )
    said = "Each counts 60 jobs behind 12 of warm-up and before 12 of cool-down, and is simulated by itself"
    assert shown.facts.how.startswith(said)
    assert list(shown.table["replicate"].unique()) == [f"window {number}" for number in range(6)]
    longest = shown.table.pivot_table(index="replicate", columns="dispatcher", values="max_waiting_time").max()
    (pair,) = next(one for one in shown.sections[0].answers if one.aim.extreme).pairs
    expected = (longest["easy[ordering=smallest-area]"] + 10) / (longest["easy"] + 10)
    assert pair.effect is not None
    assert pair.effect.value == pytest.approx(expected)
    assert (pair.effect.low, pair.effect.method) == (None, "longest")
    assert any("still waited when the cool-down ended" in text for text in shown.sections[0].warnings)
    assert shown.check().clean
    said = (tmp_path / "out" / "replicates.csv").read_text()
    (tmp_path / "out" / "replicates.csv").write_text(said.replace("window 0,easy,", "window 0,easy,1", 1))
    assert not shown.check().clean


def test_the_command_and_a_campaign_make_the_same_separate_windows(tmp_path: Path) -> None:
    write_workload(workload(), tmp_path / "w.json")
    words = ["generate", "window", "-o", str(tmp_path / "one.json"), "--from", str(tmp_path / "w.json")]
    words += ["--jobs", "10", "--warm-up", "8", "--cool-down", "4", "--number", "2", "--gap", "3", "--json"]
    done = CliRunner().invoke(cli, words, standalone_mode=False)
    assert done.exception is None, done.exception
    made, expected = read_workload(tmp_path / "one.json"), take_window(workload(), 34, jobs=10, warm_up=8, cool_down=4)
    assert [job.id for job in made.jobs] == [job.id for job in expected.jobs]
    assert made.about["counted"] == expected.about["counted"]
    (tmp_path / "c.yaml").write_text(
        "name: c\nplatforms: {p: {generate: flat, options: {hosts: 16}}}\n"
        "workloads: {w: {file: w.json, separate-windows: {count: 2, jobs: 10, warm-up: 8, cool-down: 4, gap: 3}}}\n"
        "dispatchers: [easy, fcfs]\nsettings: {audit: true}\n"
    )
    done_campaign = bd.campaign(tmp_path / "c.yaml", out=tmp_path / "campaigns", processes=1)
    rows = done_campaign.table
    assert sorted(rows["replicate"].unique()) == ["window 0", "window 1"]
    assert set(rows["nb_jobs"]) == {10}
    assert done_campaign.check().clean


@few
@given(
    seed=st.integers(0, 1000),
    count=st.integers(1, 8),
    dispatcher=st.sampled_from(["fcfs", "easy[ordering=smallest-area]", "resizing[dispatcher=easy]", "ipsched"]),
)
def test_windows_of_one_simulation_are_its_jobs_counted_apart(seed: int, count: int, dispatcher: str) -> None:
    whole = workload(seed)
    plan = plan_windows(len(whole.jobs), count)
    run = bd.run(plan.mark(whole), dispatcher, platform=16, record=False)
    assert run.metrics == run.result["metrics"], "what is said of the run is said of all jobs"
    jobs = run.jobs.sort_values("submission_time", kind="stable")
    windows = run.result["workload"]["windows"]
    assert len(windows) == plan.windows == count
    for place, one in enumerate(windows):
        began, ended = (whole.jobs[plan.warm_up + (place + more) * plan.step].submission for more in (0, 1))
        own = jobs[jobs["submission_time"].between(began, ended, inclusive="left")]
        assert one["metrics"]["nb_jobs"] == len(own)
        started = own["waiting_time"].dropna()
        # Each job is watched until it starts, however long that takes.
        assert one["metrics"]["max_waiting_time"] == pytest.approx(started.max(), abs=1e-5)
        assert one["metrics"]["mean_waiting_time"] == pytest.approx(started.mean(), abs=1e-5)


def compared_on_windows(place: Path, *words: str) -> Any:
    """Compare two dispatchers on six windows of a workload on which jobs starve."""
    log = lublin(np.random.default_rng(5), jobs=500, hosts=16, load=1.05, walltimes="modal")
    names = ["easy", "easy[ordering=smallest-area]", *words]
    return bd.replicate(log, names, 6, platform=16, out=place, processes=1)


def test_the_effect_over_windows_of_one_simulation_is_that_of_their_jobs_together(tmp_path: Path) -> None:
    shown = compared_on_windows(tmp_path / "out")
    assert shown.facts.how == (
        "Each counts 77 jobs of one simulation of all 500, of which the first 23 and the last 15 count in none."
    )
    assert list(shown.table["replicate"].unique()) == [f"window {number}" for number in range(6)]
    assert len(list((tmp_path / "out" / "runs").glob("*/*/result.json"))) == 2
    means = shown.table.groupby("dispatcher")[["mean_bounded_slowdown", "max_waiting_time"]].agg(["mean", "max"])
    ours, easy = means.loc["easy[ordering=smallest-area]"], means.loc["easy"]
    pairs = {one.aim.metric: one.pairs[0] for one in shown.sections[0].answers}
    slowdown = pairs["mean_bounded_slowdown"].effect
    ratio = ours["mean_bounded_slowdown", "mean"] / easy["mean_bounded_slowdown", "mean"]
    assert slowdown.value == pytest.approx(ratio)
    assert slowdown.low < ratio < slowdown.high
    longest = ours["max_waiting_time", "max"] / easy["max_waiting_time", "max"]
    assert pairs["max_waiting_time"].effect.value == pytest.approx(longest)
    assert any("Some jobs starve" in text for text in shown.sections[0].warnings)
    assert not any("still waited" in text for text in shown.sections[0].warnings)


def test_a_changed_table_over_windows_of_one_simulation_is_found(tmp_path: Path) -> None:
    shown = compared_on_windows(tmp_path / "out")
    path = tmp_path / "out" / "replicates.csv"
    assert shown.check().clean
    head, *rows = path.read_text().splitlines()
    for changed in (
        [rows[0].replace("window 0,easy,", "window 0,easy,1", 1), *rows[1:]],
        [rows[0].replace("window 0", "window 1"), rows[1], rows[2].replace("window 1", "window 0"), *rows[3:]],
        rows[:-2],
    ):
        assert changed != rows
        path.write_text("\n".join([head, *changed, ""]))
        assert not shown.check(replay="never").clean
    path.write_text("\n".join([head, *rows, ""]))
    run = tmp_path / "out" / "runs" / "windows" / "easy" / "result.json"
    result = json.loads(run.read_bytes())
    result["workload"]["windows"][1] = result["workload"]["windows"][0]
    run.write_text(json.dumps(result))
    assert not shown.check(replay="never").clean
    # A figure that both tell, the table and the run, is found when the run is made again.
    assert any(path == run.parent for path, _ in shown.check().violations)


def test_windows_that_count_in_one_simulation_are_told_by_command_and_campaign_alike(tmp_path: Path) -> None:
    write_workload(workload(), tmp_path / "w.json")
    words = ["generate", "windows", "-o", str(tmp_path / "marked.json"), "--from", str(tmp_path / "w.json")]
    done = CliRunner().invoke(cli, [*words, "--count", "3", "--json"], standalone_mode=False)
    assert done.exception is None, done.exception
    made = read_workload(tmp_path / "marked.json")
    assert made.about["windows"] == plan_windows(60, 3).mark(workload()).about["windows"]
    assert "windows" not in made.part(0, 60).about
    (tmp_path / "c.yaml").write_text(
        "name: c\nplatforms: {p: {generate: flat, options: {hosts: 16}}}\n"
        "workloads: {w: {file: w.json, windows: {count: 3}}}\n"
        "dispatchers: [easy, fcfs]\nsettings: {audit: true}\n"
    )
    campaign = bd.campaign(tmp_path / "c.yaml", out=tmp_path / "campaigns", processes=1)
    rows = campaign.table.set_index(["replicate", "dispatcher"])
    assert sorted(rows.index) == [(f"window {place}", name) for place in range(3) for name in ("easy", "fcfs")]
    assert rows["cell"].nunique() == 2
    for place, one in enumerate(bd.run(made, "fcfs", platform=16).result["workload"]["windows"]):
        assert rows.loc[(f"window {place}", "fcfs"), "mean_waiting_time"] == one["metrics"]["mean_waiting_time"]
    assert campaign.check().clean
    assert CliRunner().invoke(cli, [*words, "--count", "90"], standalone_mode=False).exception is not None


def test_one_job_is_one_window_in_which_all_are_equal(tmp_path: Path) -> None:
    write_workload(
        lublin(np.random.default_rng(1), jobs=1, hosts=16, load=None, walltimes="modal"), tmp_path / "w.json"
    )
    (tmp_path / "p.xml").write_bytes(torus([2, 2, 2], hosts_per_router=2))
    words = ["compare", str(tmp_path / "w.json"), "--platform", str(tmp_path / "p.xml"), "--jobs", "1"]
    words += ["--dispatchers", "easy,easy[ordering=guarded]", "--replicates", "3", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0, done.output
    assert "There is room for 1 window instead of 3." in done.output
    assert "For the shortest longest wait: no choice can be recommended. All dispatchers are equal." in done.output
    assert "()" not in done.output
    assert "nan" not in done.output, "its one host is at no distance from itself, which has no ratio"


def test_a_run_that_says_nothing_in_its_first_seconds_has_more_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine a process may take long to begin: half a percent in no time would foretell minutes."""
    given: list[float] = []

    def carry_out(function: Any, tasks: Any, *, told: Any, left: Any, **_: Any) -> None:
        given.append(left())
        told(tasks[0], (1, 10))
        given.append(left())

    monkeypatch.setattr(replicate_cost, "carry_out", carry_out)
    assert replicate_cost._trial("easy", None, Path("nowhere"))[1] == 0.1  # type: ignore[arg-type]
    trial, busy = replicate_cost.TRIAL, replicate_cost.BUSY
    assert given == pytest.approx([trial * (1 + busy), trial], abs=1.0)


def test_what_windows_take_is_told_before_they_are_simulated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replicate_cost, "LONG", 1)
    monkeypatch.setattr(replicate_cost, "MUCH", 1e-9)

    def told(trial: float) -> str:
        monkeypatch.setattr(replicate_cost, "TRIAL", trial)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            bd.replicate(workload(), ["easy", "best-list"], 3, platform=16, out=tmp_path / "out", processes=1)
        return " ".join(str(one.message) for one in caught)

    # A dispatcher that is ended before its first job has ended takes a multiple of that; what is whole is kept.
    assert "s of it best-list: so tell the first 0.3 s" in told(0.3)
    assert len(list((tmp_path / "out" / "runs" / "windows").glob("*/result.json"))) == 2
    assert "This takes about" not in told(60.0), "whole runs are kept, so nothing is to be told"
