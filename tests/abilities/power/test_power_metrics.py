"""Metrics of power, worked out by hand on two hosts: 100 W idle, 10 W asleep, 120 W for 2 s down, 140 W for 5 s up."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from batdispatch.abilities.power.results.metrics import METRICS, POWER, idle_energy
from batdispatch.abilities.power.results.run_power import RunPower
from batdispatch.inputs.platforms import read_platform
from batdispatch.inputs.workloads.model import Window
from batdispatch.results.runs import Result, WorkloadFacts
from command_line import call
from sites import delays, hosts_of, platform_of, simulated

pytestmark = pytest.mark.usefixtures("worker_threads")
WATTS = """<prop id="wattage_per_state" value="100:110:200,10:10,120:120,140:140"/>
<prop id="sleep_pstates" value="1:2:3"/>"""
PLATFORM = platform_of(hosts_of(2, WATTS)).replace('speed="1Gf"', 'speed="1Gf,1f,0.5f,0.2f"')
JOBS = [
    {"id": "1", "subtime": 0, "walltime": 20, "res": 1, "profile": "d10"},
    {"id": "2", "subtime": 103, "walltime": 20, "res": 2, "profile": "d10"},
]
NAMES = [name for name, metric in METRICS.items() if metric.group == POWER]


def metrics(run: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((run / "result.json").read_text())["metrics"]
    return found


def find_wrong(run: Path, *names: str) -> None:
    """Let each of some metrics be wrong in result.json, and check that it is found."""
    said = json.loads((run / "result.json").read_text())
    for name in names:
        wrong = {**said, "metrics": {**said["metrics"], name: 1.01 * said["metrics"][name] or 1.0}}
        (run / "result.json").write_text(json.dumps(wrong))
        assert f"metrics.{name} is" in call("check", run).output


def test_metrics_of_power_by_hand(tmp_path: Path) -> None:
    run = simulated(tmp_path, "powered[sleep=idle,after=21]", PLATFORM, JOBS, delays(10))
    # Host 1 sleeps from 21 s on, host 0 from 31 s on; both wake up from 103 to 108 s for the job that ends at 118 s.
    host0 = 31 * 100 + 2 * 120 + 70 * 10 + 5 * 140 + 10 * 100
    host1 = 21 * 100 + 2 * 120 + 80 * 10 + 5 * 140 + 10 * 100
    expected = {
        "energy": (host0 + host1) / 3.6e6,
        "energy_of_jobs": 30 * 100 / 3.6e6,
        "energy_without_jobs": (host0 + host1 - 30 * 100) / 3.6e6,
        "energy_switching": 2 * (2 * 120 + 5 * 140) / 3.6e6,
        "energy_asleep": (70 + 80) * 10 / 3.6e6,
        "energy_idle": (host0 + host1 - 30 * 100 - 2 * 940 - 1500) / 3.6e6,
        "energy_per_unit_hour": (host0 + host1) / 30,
        "peak_power": 0.28,
        # Of 118 s 5 were spent at 280 W, 2 at 220 W, 31 at 200 W: 95 % are 112.1 s.
        "p95_power": 0.22,
        "time_asleep": 100 * 150 / (2 * 118),
        "switches_per_host_day": 86400 * 4 / (2 * 118),
    }
    found = metrics(run)
    assert {name: found[name] for name in NAMES} == pytest.approx(expected)
    parts = [found[f"energy_{part}"] for part in ("of_jobs", "idle", "switching", "asleep")]
    assert sum(parts) == pytest.approx(found["energy"], rel=1e-9)
    assert "no violation" in call("check", run).output
    call("report", run, "--out", tmp_path / "report")
    assert "energy without jobs" in (tmp_path / "report" / "index.html").read_text()


def test_a_storage_host_burns_beside_those_that_run_jobs(tmp_path: Path) -> None:
    disk = (
        hosts_of(1, WATTS + '<prop id="role" value="storage"/>')
        .replace("h0", "disk")
        .replace("1Gf", "1Gf,1f,0.5f,0.2f")
    )
    platform = PLATFORM.replace("</zone>", f"{disk}</zone>")
    runs = []
    for number, option in enumerate(("sleep=idle,after=21", "sleep=idle,after=21,cap=90%")):
        run = simulated(tmp_path, f"powered[{option}]", platform, JOBS, delays(10), out=f"r{number}", energy="exact")
        assert "no violation" in call("check", run).output
        runs.append(metrics(run))
    assert runs[0]["energy_asleep"] == pytest.approx((70 + 80) * 10 / 3.6e6)
    # As on the two hosts alone, and the disk's 100 W until the end.
    assert runs[0]["energy_idle"] == pytest.approx((4200 + 118 * 100) / 3.6e6)
    assert runs[0]["energy"] == runs[1]["energy"]


def test_windows_that_follow_each_other_burn_what_the_run_burns(tmp_path: Path) -> None:
    run = simulated(tmp_path, "powered[sleep=idle,after=21]", PLATFORM, JOBS, delays(10), energy="exact")
    machine = read_platform(tmp_path / "p.xml").machine
    power = RunPower(run, {}, machine)
    bounds = [(0, 25), (25, 90), (90, 104), (104, 118)]
    parts = [power.of_window(Window(begin=begin, end=end)) for begin, end in bounds]
    # From 25 s on one host is awake until 31 s, falls asleep in 2 s, and both sleep.
    assert parts[1]["joules"] == pytest.approx(6 * 110 + 2 * 130 + 57 * 20)
    assert parts[1]["asleep"] == pytest.approx((65 + 57) * 10)
    assert (parts[1]["switching"], parts[1]["switches"], parts[1]["seconds_asleep"]) == pytest.approx((240, 1, 122))
    assert (parts[2]["peak"], parts[0]["peak"], parts[1]["p95"]) == pytest.approx((280, 220, 110))
    whole = power.of_window(Window())
    for name in ("joules", "asleep", "switching", "switches", "seconds_asleep"):
        assert sum(part[name] for part in parts) == pytest.approx(whole[name])


def test_a_window_ends_with_the_run_and_what_is_set_at_its_end_is_in_it(tmp_path: Path) -> None:
    run = simulated(tmp_path, "powered[sleep=idle,after=21]", PLATFORM, JOBS, delays(10), energy="exact")
    power = RunPower(run, {}, read_platform(tmp_path / "p.xml").machine)
    # Hosts burn 100 W each under a delay from 108 s on, until the run ends at 118 s.
    last = power.of_window(Window(begin=108, end=500))
    assert last == power.of_window(Window(begin=108, end=118)) == power.of_window(Window(begin=108, end=None))
    assert (last["joules"], last["peak"], last["p95"]) == pytest.approx((2000, 200, 200))
    # One host is set to sleep at 21 s, the other at 31 s, and both to wake up at 103 s.
    bounds = [(0, 21), (21, 31), (31, 102), (102, 103), (103, 118)]
    assert [power.of_window(Window(begin=begin, end=end))["switches"] for begin, end in bounds] == [1, 1, 0, 2, 0]


def test_cost_and_time_above_a_cap_by_hand(tmp_path: Path) -> None:
    # 200 W while both hosts are idle, or 100 W each under a delay, of 118 s; each watt costs more from 50 s on.
    (tmp_path / "price.csv").write_text("time,price\n0,3600\n50,7200\n100,10800\n")
    (tmp_path / "cap.csv").write_text("time,cap\n0,1000\n20,450\n")
    options = f"price={tmp_path / 'price.csv'},cap={tmp_path / 'cap.csv'}"
    run = simulated(tmp_path, f"powered[{options}]", PLATFORM, JOBS, delays(10), energy="exact")
    found = metrics(run)
    end = found["makespan"]
    assert found["energy_cost"] == pytest.approx(200 * (50 * 1 + 50 * 2 + (end - 100) * 3) / 1000)
    assert found["time_above_cap"] == 0
    assert "no violation" in call("check", run).output
    assert (
        "energy cost"
        in call("report", run, "--out", tmp_path / "report").output + (tmp_path / "report" / "index.html").read_text()
    )
    find_wrong(run, "energy_cost", "time_above_cap")


def test_carbon_is_told_beside_the_price_and_decides_nothing(tmp_path: Path) -> None:
    # 200 W in all until the end, of 118 s, as above.
    (tmp_path / "grid.csv").write_text("time,price,carbon\n0,3600,7200\n50,7200,3600\n100,10800,0\n")
    runs = [
        simulated(tmp_path, f"powered[dispatcher=easy{more}]", PLATFORM, JOBS, delays(10), out=name, energy="exact")
        for name, more in (
            ("alone", ""),
            ("carbon", f",carbon={tmp_path / 'grid.csv'}:carbon"),
            ("both", f",price={tmp_path / 'grid.csv'},carbon={tmp_path / 'grid.csv'}:carbon"),
        )
    ]
    found = [metrics(run) for run in runs]
    end = found[0]["makespan"]
    assert "energy_carbon" not in found[0]
    assert [each["energy_carbon"] for each in found[1:]] == pytest.approx(2 * [200 * (50 * 2 + 50 * 1) / 1000])
    assert found[1]["energy_cost"] is None
    assert found[2]["energy_cost"] == pytest.approx(200 * (50 * 1 + 50 * 2 + (end - 100) * 3) / 1000)
    for run in runs:
        assert "no violation" in call("check", run).output
        assert (run / "jobs.csv").read_bytes() == (runs[0] / "jobs.csv").read_bytes()
    find_wrong(runs[2], "energy_carbon")


def test_a_series_that_is_not_at_hand_makes_no_metric_wrong(tmp_path: Path) -> None:
    (tmp_path / "made").mkdir()
    prices = tmp_path / "made" / "price.csv"
    prices.write_text("time,price,cap\n0,3600,900\n50,7200,900\n")
    dispatcher = f"powered[price={prices}:price,cap={prices}:cap]"
    run = simulated(tmp_path / "made", dispatcher, PLATFORM, JOBS, delays(10), energy="exact")
    run = (tmp_path / "made").rename(tmp_path / "moved") / run.name
    moved = call("check", run)
    # It is found beside the run by its digest, and the run is made again with it.
    assert (moved.status, "no violation" in moved.output) == (0, True)
    (tmp_path / "moved" / "price.csv").unlink()
    lost = call("check", run)
    assert lost.status == 3
    assert f"cost and cap: {prices}:price is not at hand" in lost.output
    assert "metrics." not in lost.output


def test_a_run_whose_jobs_are_all_rejected_cost_nothing_and_had_no_time_above_a_cap(tmp_path: Path) -> None:
    (tmp_path / "price.csv").write_text("time,price\n0,3600\n")
    for option in (f"price={tmp_path / 'price.csv'}", "cap=600", f"price={tmp_path / 'price.csv'},cap=600"):
        jobs = [{**job, "res": 9} for job in JOBS]
        run = simulated(tmp_path, f"powered[{option}]", PLATFORM, jobs, delays(10), energy="exact")
        found = metrics(run)
        assert (found["energy_cost"], found["time_above_cap"]) == (0 if "price" in option else None, None)
        assert "no violation" in call("check", run).output


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("dispatcher", ["powered[sleep=idle,after=1]", "attempts[dispatcher=easy]"])
def test_a_run_without_jobs_ends_and_burns_nothing_from_the_first_submission_on(
    tmp_path: Path, dispatcher: str
) -> None:
    """`attempts` says that it registers no more jobs when it has heard that no job is left to come."""
    run = simulated(tmp_path, dispatcher, PLATFORM, [], delays(10), energy="exact")
    found = metrics(run)
    assert [found[f"energy{part}"] for part in ("", "_idle", "_switching", "_asleep")] == [0, 0, 0, 0]
    assert "no violation" in call("check", run, "--replay", "always").output


def test_powered_has_the_same_metrics_inside_another_layer(tmp_path: Path) -> None:
    (tmp_path / "grid.csv").write_text("time,price,carbon\n0,3600,7200\n50,7200,3600\n100,10800,0\n")
    grid = tmp_path / "grid.csv"
    powered = f"powered[dispatcher=easy[ordering=sjf],price={grid},carbon={grid}:carbon,cap=350]"
    jobs = [*JOBS, {**JOBS[0], "id": "3", "profile": "busy"}, {**JOBS[1], "id": "4"}]
    profiles = {**delays(10), "busy": {"type": "parallel_homogeneous", "cpu": 1e9, "com": 0}}
    names = ("energy_cost", "energy_carbon", "time_above_cap")
    alone, inside = (
        simulated(tmp_path, each, PLATFORM, jobs, profiles, energy="exact", out=each[:5])
        for each in (powered, f"attempts[dispatcher={powered}]")
    )
    assert {name: metrics(inside)[name] for name in names} == {name: metrics(alone)[name] for name in names}
    assert metrics(inside)["energy_cost"] > 0
    said = json.loads((inside / "result.json").read_text())
    # Jobs of two hosts add 200 W to 200 W.
    assert [each["job"] for each in said["rejected"]] == ["w0!2", "w0!4"]
    assert "no violation" in call("check", inside).output
    said["options"]["dispatcher"] = powered.replace("cap=350", "cap=250")
    (inside / "result.json").write_text(json.dumps(said))
    assert "the cap is 250 W" in call("check", inside).output


def test_short_times_of_which_joules_tell_few_digits_are_no_time_above_a_cap(tmp_path: Path) -> None:
    platform = PLATFORM.replace("100:110:200", "100.123:110:213.370123")
    jobs = [{"id": str(n), "subtime": 1.7 * n, "walltime": 20, "res": 1, "profile": "p"} for n in range(20)]
    profiles = {"p": {"type": "parallel_homogeneous", "cpu": 20_000, "com": 0}}
    run = simulated(tmp_path, "powered[cap=313.494]", platform, jobs, profiles, energy="exact")
    assert metrics(run)["time_above_cap"] == 0
    assert metrics(run)["peak_power"] == pytest.approx(0.313493123, rel=1e-3)
    assert "no violation" in call("check", run).output


def test_a_run_that_counts_no_energy_has_none_of_them(tmp_path: Path) -> None:
    run = simulated(tmp_path, "easy", PLATFORM, JOBS, delays(10))
    assert not set(NAMES) & metrics(run).keys()


def test_a_comparison_counts_the_energy_of_all_runs_on_a_platform_if_one_needs_it(tmp_path: Path) -> None:
    simulated(tmp_path, "easy", PLATFORM, JOBS, delays(10))
    inputs = ("--platform", str(tmp_path / "p.xml"), "--workload", str(tmp_path / "run.json"), "--no-report")
    for dispatchers, counted in (("easy,powered[sleep=idle],fcfs", True), ("easy,fcfs,powered", False)):
        out = tmp_path / dispatchers
        assert call("compare", *inputs, "--dispatchers", dispatchers, "-o", str(out)).status == 0
        for run in ("easy", "fcfs"):
            assert ("energy" in metrics(out / run)) == counted
    # Two hosts burn 100 W, idle or with a job that only waits, until 113 s.
    assert metrics(tmp_path / "easy,powered[sleep=idle],fcfs" / "easy")["energy"] == pytest.approx(
        2 * 113 * 100 / 3.6e6
    )


def test_in_a_comparison_on_hosts_that_sleep_at_first_those_run_that_know_of_no_sleep(tmp_path: Path) -> None:
    # Once energy is counted, the engine refuses a job on a host that sleeps.
    simulated(tmp_path, "easy", PLATFORM.replace('speed="1Gf', 'pstate="1" speed="1Gf'), JOBS, delays(10))
    inputs = ("--platform", str(tmp_path / "p.xml"), "--workload", str(tmp_path / "run.json"), "--no-report")
    out = tmp_path / "out"
    assert call("compare", *inputs, "--dispatchers", "easy,powered[sleep=idle]", "-o", str(out)).status == 0
    assert ["energy" in metrics(out / run) for run in ("easy", "powered,sleep=idle")] == [False, True]


def test_wrong_metrics_of_power_are_found(tmp_path: Path) -> None:
    run = simulated(tmp_path, "powered[sleep=idle,after=21]", PLATFORM, JOBS, delays(10))
    find_wrong(run, *NAMES)


def test_what_switches_and_sleeps_is_told_from_the_first_submission_to_the_last_end() -> None:
    power, asked = RunPower(None, {}), list[tuple[float, float]]()

    def between(begin: float, end: float) -> Any:
        asked.append((begin, end))
        return SimpleNamespace(_asdict=lambda: {"asleep": 2.0, "switching": 3.0})

    power._sums = {"consumed_joules": 90.0, "nb_machine_switches": 4.0, "time_sleeping": 5.0}
    split: Any = SimpleNamespace(between=between)
    power._rows, power._split = np.array([[0.0, 50.0], [0.0, 90.0]]), split
    columns: Any = SimpleNamespace(
        ran=np.array([True, True, False]),
        consumed_energy=np.array([30.0, -1.0, 7.0]),
        submission_time=np.array([20.0, 10.0, 15.0]),
        finish_time=np.array([40.0, 45.0, np.nan]),
    )
    found = power.of_run(columns)
    assert asked == [(10.0, 45.0)]
    # What counted no energy, or was rejected, adds none.
    assert (found["joules_of_jobs"], found["asleep"], found["switching"]) == (30.0, 2.0, 3.0)


def test_idle_energy_is_what_neither_jobs_nor_switches_nor_sleep_took() -> None:
    power = {"joules": 36e6, "joules_of_jobs": 18e6, "switching": 3.6e6, "asleep": 7.2e6}
    sample: Any = SimpleNamespace(measured={"power": power}, totals={})
    found = {name: METRICS[name].compute(sample) for name in ("energy_without_jobs", "energy_idle")}
    assert found["energy_without_jobs"] == pytest.approx(5.0)
    assert found["energy_idle"] == pytest.approx(10 - 5 - 1 - 2)


def test_of_several_runs_the_one_with_most_delays_says_what_energy_leaves_out() -> None:
    """Half of 10 jobs are delays in one run, and 8 of 12 in another, which registered two; a third counts no energy."""
    counts = ((10, 5), (12, 8), (99, None), (10, 0))
    runs = [Result(workload=WorkloadFacts(jobs=jobs, delays=delays)) for jobs, delays in counts]
    assert idle_energy(runs).startswith("Energy counts no computation: 8 of 12 jobs are delays")
    assert idle_energy(runs[2:]) == ""
