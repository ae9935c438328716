"""The audit of runs with power states: an honest one passes, and what is changed in it is found."""

import re
from pathlib import Path

import pytest

from batdispatch.abilities.verify.audit.case import RULES
from batdispatch.runs.run import execute
from batdispatch.runs.spec import RunSpec
from command_line import call
from recorded_energy import ENERGY, rows
from sealing import seal
from sites import delays, hosts_of, platform_of, simulated
from workloads_of_cases import write_workload

DISPATCHER = f"{Path(__file__).parents[3] / 'support' / 'night_shift.py'}:NightShift"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    profiles = {"p": {"type": "parallel_homogeneous", "cpu": 5e9, "com": 0}}
    jobs = [{"id": str(n), "subtime": 100 * n, "walltime": 600, "res": 3 + n, "profile": "p"} for n in range(5)]
    workload = write_workload(tmp_path / "w.json", jobs, profiles, 8)
    platform = ENERGY / "platforms" / "homo8.xml"
    execute(RunSpec(platform=str(platform), workload=str(workload), dispatcher=DISPATCHER), tmp_path / "run")
    return tmp_path / "run"


def found(run: Path) -> str:
    seal(run)
    answer = call("check", run, "--replay", "never")
    return answer.output


def test_a_run_whose_hosts_slept_and_woke_up_passes(run: Path) -> None:
    assert {row["new_pstate"] for row in rows(run / "pstate_changes.csv")} >= {"-2", "3", "-1", "0"}
    assert "nothing wrong in what was checked" in found(run)
    assert {"asleep", "joules"} <= RULES.keys()


def test_joules_are_the_sum_of_watts_times_seconds_over_the_states(run: Path) -> None:
    (sums,) = rows(run / "schedule.csv")
    seconds = {name.removeprefix("time_"): float(text) for name, text in sums.items() if name.startswith("time_")}
    # Batsim counts no time of a host's last state: here that of the one host that idles at the end.
    seconds["idle"] += 8 * float(sums["makespan"]) - sum(seconds.values()) + seconds["unavailable"]
    watts = {"computing": 200, "idle": 100, "sleeping": 10, "switching_off": 120, "switching_on": 140}
    assert float(sums["consumed_joules"]) == pytest.approx(sum(watts[name] * seconds[name] for name in watts))


def test_a_job_on_a_host_that_sleeps_is_found(run: Path) -> None:
    path = run / "pstate_changes.csv"
    path.write_text(path.read_text().replace(",6-7,-2\n", ",0-1,-2\n"))
    assert "the host sleeps or switches from 0 s to" in found(run)


def test_more_joules_than_all_hosts_burnt_are_found(run: Path) -> None:
    path = run / "jobs.csv"
    (first, *_) = rows(path)
    path.write_text(path.read_text().replace(first["consumed_energy"], "99999999.000000"))
    assert "more than all hosts burnt while it ran" in found(run)


def test_joules_that_fall_are_found(run: Path) -> None:
    path = run / "consumed_energy.csv"
    path.write_text(path.read_text() + "99999.000000,1.000000,e,0.000000,0.000000\n")
    assert "consumed_energy.csv: the energy falls at 99999.000000 s" in found(run)


@pytest.mark.parametrize("wrong", ["nan", "inf", "1e400"])
def test_joules_and_times_that_are_no_numbers_are_found_without_a_warning(run: Path, wrong: str) -> None:
    path = run / "consumed_energy.csv"
    path.write_text(path.read_text() + f"{wrong},{wrong},e,0.000000,0.000000\n" * 2)
    assert "consumed_energy.csv: a time or an energy is not finite" in found(run)


@pytest.fixture
def waits(tmp_path: Path) -> Path:
    """A run of jobs that only wait, on hosts of which some sleep."""
    jobs = [{"id": str(n), "subtime": 400 * n, "walltime": 600, "res": 3 + n, "profile": "d"} for n in range(5)]
    workload = write_workload(tmp_path / "w.json", jobs, {"d": {"type": "delay", "delay": 50}}, 8)
    platform, name = ENERGY / "platforms" / "homo8.xml", "powered[sleep=idle,after=60]"
    execute(RunSpec(platform=str(platform), workload=str(workload), dispatcher=name), tmp_path / "run")
    return tmp_path / "run"


def test_a_job_that_takes_no_time_burns_nothing(tmp_path: Path) -> None:
    """The last one begins and ends while hosts fall asleep."""
    jobs = [{"id": str(n), "subtime": 60.5 * n, "walltime": 600, "res": 8 - 7 * n, "profile": "d"} for n in range(2)]
    workload = write_workload(tmp_path / "w.json", jobs, {"d": {"type": "delay", "delay": 2e-10}}, 8)
    platform, name = ENERGY / "platforms" / "homo8.xml", "powered[sleep=idle,after=60,keep=1]"
    execute(RunSpec(platform=str(platform), workload=str(workload), dispatcher=name), tmp_path / "run")
    assert {row["consumed_energy"] for row in rows(tmp_path / "run" / "jobs.csv")} == {"0.000000"}
    assert "nothing wrong in what was checked" in found(tmp_path / "run")


def test_moments_that_are_printed_with_six_digits_are_read_where_they_have_all(tmp_path: Path) -> None:
    """Hosts wake up at 12,345,670 s, which pstate_changes.csv rounds to a moment after the end of the run."""
    jobs = [{"id": "0", "subtime": 12345670.1, "walltime": 600, "res": 3, "profile": "d"}]
    workload = write_workload(tmp_path / "w.json", jobs, {"d": {"type": "delay", "delay": 2}}, 8)
    platform, name = ENERGY / "platforms" / "homo8.xml", "powered[sleep=idle,after=60]"
    execute(RunSpec(platform=str(platform), workload=str(workload), dispatcher=name), tmp_path / "run")
    assert "1.23457e+07,0-2,-1\n" in (tmp_path / "run" / "pstate_changes.csv").read_text()
    assert "nothing wrong in what was checked" in found(tmp_path / "run")


def test_joules_that_no_watts_explain_are_found(waits: Path) -> None:
    assert "nothing wrong in what was checked" in found(waits)
    rows_path, sums_path = waits / "jobs.csv", waits / "schedule.csv"
    (first, *_), (sums,) = rows(rows_path), rows(sums_path)
    text, energy = rows_path.read_text(), float(first["consumed_energy"])
    rows_path.write_text(text.replace(first["consumed_energy"], f"{0.999 * energy:.6f}", 1))
    assert f"consumed_energy is {0.999 * energy:g} J, its hosts burn {energy:g} J in this time" in found(waits)
    rows_path.write_text(text)
    total = float(sums["consumed_joules"])
    sums_path.write_text(sums_path.read_text().replace(sums["consumed_joules"], f"{1.01 * total:.6f}"))
    assert f"consumed_joules is {1.01 * total:g}, the hosts burn" in found(waits)


@pytest.mark.parametrize("name", ["schedule.csv", "consumed_energy.csv", "pstate_changes.csv"])
def test_a_file_that_is_no_table_is_no_bug(waits: Path, name: str) -> None:
    text = (waits / name).read_text()
    for damaged in ("", text.splitlines(keepends=True)[0], f"{text[:-5]}\r{text[-5:]}", text + "9" * 150_000 + "\n"):
        (waits / name).write_bytes(damaged.encode())
        seal(waits)
        answer = call("check", waits)
        assert answer.status == 1
        assert "bug" not in answer.output
        assert f"{name}" in answer.output


@pytest.fixture
def capped(tmp_path: Path) -> Path:
    """A run of jobs that compute under a cap that changes: 8 hosts burn 100 W idle and 200 W computing."""
    profiles = {"p": {"type": "parallel_homogeneous", "cpu": 5e9, "com": 0}}
    jobs = [{"id": str(n), "subtime": 9 * n, "walltime": 600, "res": 2, "profile": "p"} for n in range(12)]
    workload = write_workload(tmp_path / "w.json", jobs, profiles, 8)
    (tmp_path / "cap.csv").write_text("time,watts\n0,1200\n700,1000\n2000,1400\n")
    dispatcher = f"powered[dispatcher=easy,sleep=idle,after=30,cap={tmp_path / 'cap.csv'}]"
    spec = RunSpec(
        platform=str(ENERGY / "platforms" / "homo8.xml"), workload=str(workload), dispatcher=dispatcher, energy="exact"
    )
    execute(spec, tmp_path / "run")
    return tmp_path / "run"


def test_a_run_under_a_cap_passes_and_one_above_it_is_found(capped: Path) -> None:
    assert "nothing wrong in what was checked" in found(capped)
    table = [float(row["epower"]) for row in rows(capped / "consumed_energy.csv") if row["epower"] != "NA"]
    assert 1150 < max(table) <= 1400
    cap = capped.parent / "cap.csv"
    cap.write_text(cap.read_text().replace("0,1200", f"0,{max(table) - 1:g}").replace("1400", f"{max(table) - 1:g}"))
    assert f"the cap is {max(table) - 1:g} W" in found(capped)


def test_a_cap_that_is_gone_is_not_checked(capped: Path) -> None:
    (capped.parent / "cap.csv").unlink()
    assert "power cap: " in found(capped)


def test_a_job_may_be_beyond_the_cap_because_its_hosts_would_have_to_wake_up(tmp_path: Path) -> None:
    """A host that sleeps from the beginning on and that no rule lets sleep: to wake up it burns 425 W instead of 30."""
    watts = """<prop id="wattage_per_state" value="30:30:100,9:9:9,20:20:20,425:425:425"/>
    <prop id="sleep_pstates" value="1:2:3"/>"""
    platform = platform_of(hosts_of(2, watts)).replace('speed="1Gf"', 'pstate="1" speed="1Gf,1f,0.5f,0.2f"')
    jobs = [{"id": "1", "subtime": 0, "walltime": 20, "res": 2, "profile": "d10"}]
    run = simulated(tmp_path, "powered[cap=500]", platform, jobs, delays(10), energy="exact")
    assert '"reason": "needs 850 W with all hosts at rest' in (run / "result.json").read_text()
    assert "nothing wrong in what was checked" in found(run)


@pytest.mark.parametrize("cap", ["900", "60%"])
def test_a_job_that_is_rejected_for_the_cap_must_be_beyond_it(tmp_path: Path, cap: str) -> None:
    """Eight hosts burn 800 W idle, and 100 W more with the one host of job 1; job 2 needs all of them."""
    profiles = {"p": {"type": "parallel_homogeneous", "cpu": 5e9, "com": 0}}
    jobs = [{"id": str(n), "subtime": 0, "walltime": 600, "res": n, "profile": "p"} for n in (1, 8)]
    workload = write_workload(tmp_path / "w.json", jobs, profiles, 8)
    platform = ENERGY / "platforms" / "homo8.xml"
    spec = RunSpec(platform=str(platform), workload=str(workload), dispatcher=f"powered[cap={cap}]", energy="exact")
    execute(spec, tmp_path / "run")
    assert "nothing wrong in what was checked" in found(tmp_path / "run")
    result = tmp_path / "run" / "result.json"
    result.write_text(re.sub(f'"cap":( ?)"{cap}"', '"cap":"1600"', result.read_text()))
    assert "fits under the cap: the reason 'needs " in found(tmp_path / "run")
