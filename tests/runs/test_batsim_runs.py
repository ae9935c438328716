"""``run --engine``: a Batsim is found, started with the right options, served, and its outputs become the run's.

The program is a stand-in (see tests/support/fake_batsim.py): no package index has the real one.
"""

import csv
import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import fake_batsim
from batdispatch.abilities.verify.audit.run import Auditor
from batdispatch.cli.main import cli
from batdispatch.links.watched_process import telling_lines
from command_line import Answer, call
from sites import platform_of

ROOT = Path(__file__).parents[2]
RECORDINGS = ROOT / "tests" / "conformance" / "recordings"
FOUR, DELAYS = RECORDINGS / "platforms" / "four.xml", RECORDINGS / "workloads" / "delay.json"
ENGINES = ["batsim4", "batsim5"]
REGISTERING = '''
from batdispatch import Dispatcher, Job, Request


class Registering(Dispatcher):
    """Runs what fits, and one job of its own."""

    registers_jobs = True
    registered = False

    def decide(self, ledger):
        if not self.registered:
            self.registered = True
            ledger.register_profile("mine", "p", {"type": "delay", "delay": 7.25})
            ledger.register_job(Job(id="mine!a", request=Request(), submission=ledger.now, walltime=100.0, profile="p"))
        for job in list(ledger.queue.values()):
            place = ledger.place(job)
            if place is not None:
                ledger.start(job, place)
'''


@pytest.fixture
def batsim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of programs, first on PATH, with a Batsim of each version."""
    folder = tmp_path / "bin"
    for major in (4, 5):
        fake_batsim.install(folder, major, f"batsim{major}")
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin")
    monkeypatch.delenv("FAKE_BATSIM", raising=False)
    return folder


def run(*arguments: Any) -> Answer:
    """Run, and let `check` find nothing wrong with what the stand-in ran."""
    ran = said_by(*arguments)
    if ran.status == 0 and "--engine" in arguments and "--out" in arguments:
        folder = arguments[arguments.index("--out") + 1]
        assert [str(violation) for violation in Auditor().run(Path(folder)).kept] == []
    return ran


def said_by(*arguments: Any) -> Answer:
    return call("run", *arguments)


def inputs(platform: Path = FOUR, workload: Path = DELAYS, dispatcher: str = "easy") -> list[Any]:
    return ["--platform", platform, "--workload", workload, "--dispatcher", dispatcher]


def schedule(folder: Path) -> dict[str, tuple[str, str, str]]:
    with (folder / "jobs.csv").open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    return {row["job_id"]: (row["starting_time"], row["final_state"], row["allocated_resources"]) for row in rows}


@pytest.mark.parametrize("workload", ["delay.json", "reject.json", "delays5.json", "events.json"])
@pytest.mark.parametrize("engine", ENGINES)
def test_the_schedule_is_that_of_the_embedded_engine(engine: str, workload: str, batsim: Path, tmp_path: Path) -> None:
    given = inputs(workload=RECORDINGS / "workloads" / workload)
    assert run(*given, "--out", tmp_path / "here").status == 0
    there = run(*given, "--engine", engine, "--out", tmp_path / "there")
    assert there.status == 0, there.output
    assert schedule(tmp_path / "there") == schedule(tmp_path / "here")
    here, result = (json.loads((tmp_path / name / "result.json").read_text()) for name in ("here", "there"))
    assert result["engine"]["name"] == engine
    assert result["engine"]["version"] == {"batsim4": "4.2.1", "batsim5": "5.0.0-rc2"}[engine]
    assert f"--engine {engine}" in result["command"]
    assert result["metrics"] == pytest.approx(here["metrics"]) or result["metrics"].keys() == here["metrics"].keys()
    for name in ("makespan", "mean_waiting_time", "utilisation"):
        assert result["metrics"][name] == pytest.approx(here["metrics"][name])
    sums = "schedule.csv" if engine == "batsim4" else "schedule.json"
    names = {"jobs.csv", sums, "machine_states.csv", "decisions.jsonl", "decision_times.csv", "result.json"}
    assert {path.name for path in (tmp_path / "there").iterdir()} == names


SIZES = {"least": 1, "most": 4, "factor": 2, "preferred": 1, "kind": "malleable", "steps": 100, "scalability": "linear"}
LAW = {"runtime_law": "tnorm:0,200,40,15", "history": [12.5, 33.0, 41.5, 18.25]}
HALVING = f"{ROOT / 'schedulers' / 'batdispatch' / 'examples' / 'halving.py'}:Halving"


CONTINUED: list[tuple[str, dict[str, Any]]] = [
    ("dmr", {"sizes": SIZES}),
    ("resizing[dispatcher=easy]", {"sizes": SIZES}),
    ("attempts[requests=checkpoints]", LAW),
    ("stochastic-batch", LAW),
    ("stochastic-easy", LAW),
    (HALVING, {}),
]


@pytest.mark.parametrize(
    ("engine", "dispatcher", "fields"),
    [
        # In the fast suite each meets one of the two in turn.
        pytest.param(engine, *continued, marks=[] if (number + place) % 2 else pytest.mark.slow)
        for number, engine in enumerate(ENGINES)
        for place, continued in enumerate(CONTINUED)
    ],
)
def test_jobs_that_go_on_as_others_go_on_alike(
    engine: str, dispatcher: str, fields: dict[str, Any], batsim: Path, tmp_path: Path
) -> None:
    """Each is stopped and registered again, with a profile of what is left of it."""
    jobs = [{"id": f"j{i}", "subtime": i * 7.25, "res": 1 + i % 4, "profile": f"d{i % 4}", **fields} for i in range(12)]
    profiles = {f"d{i}": {"type": "delay", "delay": 20.0 + 17.5 * i} for i in range(4)}
    workload = tmp_path / "w.json"
    workload.write_text(json.dumps({"nb_res": 4, "jobs": jobs, "profiles": profiles}))
    given = inputs(FOUR, workload, dispatcher)
    assert run(*given, "--out", tmp_path / "here").status == 0
    ran = run(*given, "--engine", engine, "--out", tmp_path / "there")
    assert ran.status == 0, ran.output
    here, there = (schedule(tmp_path / name) for name in ("here", "there"))
    assert {job: row[1:] for job, row in there.items()} == {job: row[1:] for job, row in here.items()}
    for job, row in here.items():
        # Batsim 4 prints the progress of a killed job with six digits.
        assert float(there[job][0]) == pytest.approx(float(row[0]), abs=0.01), job
    assert (tmp_path / "there" / "lineage.csv").exists()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", ["smpi5.json", "usage5.json", "usage.json", "several.json"])
def test_traces_and_spread_amounts(engine: str, name: str, batsim: Path, tmp_path: Path) -> None:
    if name == "several.json":
        if engine == "batsim4":
            pytest.skip("Batsim 4 spreads otherwise, and refuses it")
        spread = {"cpu": 1e6, "com": 1e6, "generation_strategy": "DefinedAmountsSpreadUniformly"}
        jobs = [{"id": str(res), "subtime": 0, "res": res, "walltime": 9, "profile": "p"} for res in (1, 2, 3)]
        profiles = {"p": {"type": "ParallelTaskHomogeneousProfile", **spread}}
        (tmp_path / name).write_text(json.dumps({"nb_res": 4, "jobs": jobs, "profiles": profiles}))
    workload = tmp_path / name if name == "several.json" else RECORDINGS / "traces" / name
    given = inputs(RECORDINGS / "platforms" / "hetero12.xml", workload)
    ran = run(*given, "--engine", engine, "--out", tmp_path / "run")
    assert ran.status == 0, ran.output
    assert {state for _, state, _ in schedule(tmp_path / "run").values()} == {"COMPLETED_SUCCESSFULLY"}


@pytest.mark.parametrize("engine", ENGINES)
def test_what_was_recorded_can_be_replayed(engine: str, batsim: Path, tmp_path: Path) -> None:
    from batdispatch.batsim import protocol
    from batdispatch.core.line.dispatcher import create
    from batdispatch.core.line.session import Session
    from batdispatch.links.replay import replay, told_by

    assert run(*inputs(), "--engine", engine, "--out", tmp_path / "run").status == 0
    path = tmp_path / "run" / "decisions.jsonl"
    assert told_by(path) == engine[-1]
    result = replay(path, Session(create("easy")), protocol(engine[-1]), times=True)
    assert result.difference is None
    assert result.decisions > 3


@pytest.mark.parametrize("engine", ENGINES)
def test_a_dispatcher_that_registers_jobs_may_do_so(engine: str, batsim: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(REGISTERING)
    given = inputs(dispatcher=f"{tmp_path / 'mine.py'}:Registering")
    ran = run(*given, "--engine", engine, "--out", tmp_path / "run")
    assert ran.status == 0, ran.output
    assert run(*given, "--out", tmp_path / "here").status == 0
    assert schedule(tmp_path / "run") == schedule(tmp_path / "here")
    assert "a" in schedule(tmp_path / "run")


@pytest.mark.parametrize("engine", ENGINES)
def test_hosts_that_jobs_share(engine: str, batsim: Path, tmp_path: Path) -> None:
    platform = tmp_path / "shared.xml"
    hosts = "".join(f'<host id="n{i}" speed="1Gf"><prop id="capacity" value="core=4"/></host>' for i in range(2))
    platform.write_text(platform_of(f'<host id="master_host" speed="1Gf"/>{hosts}'))
    jobs = [
        {"id": name, "subtime": 0, "res": res, "walltime": 9, "profile": "d", "demand": {"core": 1}, "user": "eve"}
        for name, res in (("a", 3), ("b", 4), ("c", 2))
    ]
    workload = tmp_path / "w.json"
    workload.write_text(json.dumps({"nb_res": 2, "jobs": jobs, "profiles": {"d": {"type": "delay", "delay": 5}}}))
    given = inputs(platform, workload, "filler")
    assert run(*given, "--out", tmp_path / "here").status == 0
    ran = run(*given, "--engine", engine, "--out", tmp_path / "there")
    assert ran.status == 0, ran.output
    assert schedule(tmp_path / "there") == schedule(tmp_path / "here")
    units = [sorted((tmp_path / name / "units.csv").read_text().splitlines()) for name in ("here", "there")]
    assert units[0] == units[1]


@pytest.mark.parametrize("engine", ENGINES)
def test_external_events(engine: str, batsim: Path, tmp_path: Path) -> None:
    events = tmp_path / "events.txt"
    events.write_text(
        '{"type": "machine_unavailable", "timestamp": 1, "resources": "0-1"}\n'
        '{"type": "rain", "timestamp": 2, "depth": 3}\n'
        '{"type": "machine_available", "timestamp": 30, "resources": "0-1"}\n'
    )
    given = [*inputs(), "--events", events]
    assert run(*given, "--out", tmp_path / "here").status == 0
    ran = run(*given, "--engine", engine, "--out", tmp_path / "there")
    assert ran.status == 0, ran.output
    assert schedule(tmp_path / "there") == schedule(tmp_path / "here")


@pytest.mark.parametrize("engine", ["embedded", *ENGINES])
def test_an_event_that_is_told_as_batsim_tells_outages_is_an_outage(engine: str, batsim: Path, tmp_path: Path) -> None:
    events = tmp_path / "events.txt"
    events.write_text(
        '{"type": "event_machine_unavailable", "timestamp": 1, "resources": "0-1"}\n'
        '{"type": "event_machine_available", "timestamp": 30, "resources": "0-1"}\n'
    )
    given = [*inputs(), "--events", events]
    assert run(*given, "--engine", engine, "--out", tmp_path / "run").status == 0
    named = tmp_path / "named.txt"
    named.write_text(events.read_text().replace("event_", ""))
    assert run(*inputs(), "--events", named, "--out", tmp_path / "named").status == 0
    assert schedule(tmp_path / "run") == schedule(tmp_path / "named")


@pytest.mark.parametrize("engine", ENGINES)
def test_packed_inputs_are_unpacked_for_batsim(engine: str, batsim: Path, tmp_path: Path) -> None:
    import gzip
    import lzma

    platform, workload = tmp_path / "p.xml.gz", tmp_path / "w.json.xz"
    platform.write_bytes(gzip.compress(FOUR.read_bytes()))
    workload.write_bytes(lzma.compress(DELAYS.read_bytes()))
    ran = run(*inputs(platform, workload), "--engine", engine, "--out", tmp_path / "run")
    assert ran.status == 0, ran.output


def test_outputs_of_an_earlier_run_do_not_stay_among_the_new(batsim: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    for engine in (*ENGINES, "embedded"):
        assert run(*inputs(), "--engine", engine, "--out", out).status == 0
    assert (out / "schedule.csv").exists()
    assert run(*inputs(), "--engine", "batsim5", "--out", out).status == 0
    assert not (out / "schedule.csv").exists()


def test_a_batsim_of_another_version_is_not_taken(batsim: Path, tmp_path: Path) -> None:
    (batsim / "batsim5").unlink()
    fake_batsim.install(batsim, 4)
    ran = run(*inputs(), "--engine", "batsim5", "--out", tmp_path / "run")
    assert ran.status == 2
    assert ran.output == f"batdispatch: error: engine batsim5: {batsim / 'batsim'} is Batsim 4.2.1, expected Batsim 5\n"


def test_a_batsim_that_is_named(batsim: Path, tmp_path: Path) -> None:
    other = fake_batsim.install(tmp_path / "elsewhere", 4, "bs")
    assert run(*inputs(), "--engine", "batsim4", "--batsim", other, "--out", tmp_path / "run").status == 0
    ran = run(*inputs(), "--engine", "batsim5", "--batsim", other, "--out", tmp_path / "run2")
    assert ran.status == 2
    assert "option --batsim" in ran.output
    ran = run(*inputs(), "--batsim", other, "--out", tmp_path / "run3")
    assert ran.status == 2
    assert "option --batsim: needs --engine" in ran.output
    ran = run(*inputs(), "--engine", "batsim4", "--batsim", tmp_path / "none", "--out", tmp_path / "run4")
    assert ran.status == 2
    assert "is no program that can be run" in ran.output


@pytest.mark.parametrize(
    ("engine", "options"),
    [("batsim4", ["--energy"]), ("batsim5", ["--energy-host", "-r 'alder' compute"])],
)
def test_batsim_is_started_with_options_of_the_users(
    engine: str, options: list[str], batsim: Path, tmp_path: Path
) -> None:
    given = [f"--batsim-option={option}" for option in options]
    ran = run(*inputs(), "--engine", engine, *given, "--out", tmp_path / "run")
    assert ran.status == 0, ran.output
    result = json.loads((tmp_path / "run" / "result.json").read_text())
    for word in shlex.split(" ".join(options)):
        assert word in shlex.split(result["engine"]["command"])
    assert result["made_from"]["settings"]["batsim_option"] == " ".join(options)
    words = shlex.split(result["command"])[2:]
    assert f"--batsim-option={' '.join(options)}" in words
    again = run(*words, "--out", tmp_path / "again")
    assert again.status == 0, again.output
    assert schedule(tmp_path / "again") == schedule(tmp_path / "run")


def test_a_dispatcher_that_needs_energy_and_a_user_who_wants_it_name_the_option_once(
    batsim: Path, tmp_path: Path
) -> None:
    (tmp_path / "mine.py").write_text(
        REGISTERING.replace("registers_jobs = True", "needs_energy = True").replace(
            "registered = False", "registered = True"
        )
    )
    watts = RECORDINGS / "energy" / "platforms" / "homo8.xml"
    for engine, option in (("batsim4", "-E"), ("batsim5", "--energy-host")):
        given = [*inputs(watts, dispatcher=f"{tmp_path / 'mine.py'}:Registering"), f"--batsim-option={option}"]
        ran = run(*given, "--engine", engine, "--out", tmp_path / engine)
        assert ran.status == 0, ran.output


@pytest.mark.parametrize(
    ("engine", "option", "expected"),
    [
        ("embedded", "--energy", "needs --engine batsim4 or batsim5"),
        ("batsim4", "--platform=x.xml", "'--platform=x.xml': say --platform of run itself"),
        ("batsim5", "-s tcp://127.0.0.1:1", "'-s': run finds an address by itself"),
        ("batsim5", "'--energy", "No closing quotation"),
    ],
)
def test_options_that_batsim_cannot_be_started_with(
    engine: str, option: str, expected: str, batsim: Path, tmp_path: Path
) -> None:
    ran = run(*inputs(), "--engine", engine, f"--batsim-option={option}", "--out", tmp_path / "run")
    assert ran.status == 2
    assert "option --batsim-option: " in ran.output
    assert expected in ran.output


@pytest.mark.parametrize("engine", ENGINES)
def test_no_batsim(engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    ran = run(*inputs(), "--engine", engine, "--out", tmp_path / "run")
    assert ran.status == 2
    assert ran.output.startswith(f"batdispatch: error: engine {engine}: there is no batsim on PATH; install Batsim")
    assert "--batsim PATH" in ran.output


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("how", "status", "expected"),
    [
        ("early", 1, "Batsim ended by SIGABRT before the end of the simulation; it said:"),
        ("crash", 1, "Batsim ended by SIGABRT before the end of the simulation; it said:"),
        # However long the backtrace, the reason is shown.
        ("crash", 1, "[root/CRITICAL] Assertion happy failed: the machine is upset\n  ...\n"),
        ("kill", 1, "Batsim ended by SIGKILL before the end of the simulation"),
        ("hang", 1, "Batsim is connected but has said nothing for 6 s"),
        ("silent", 1, "wrote no jobs.csv"),
        ("late", 1, "Batsim ended with status 4 after the simulation"),
        ("mute", 2, "--version: found '', expected the version of a Batsim"),
    ],
)
def test_a_batsim_that_fails_is_reported_and_gone(
    engine: str, how: str, status: int, expected: str, batsim: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_BATSIM", how)
    limit = ["--timeout", "6"] if how == "hang" else []
    ran = run(*inputs(), "--engine", engine, *limit, "--out", tmp_path / "run")
    assert (ran.status, expected in ran.output) == (status, True), ran.output
    assert "Traceback" not in ran.output
    # What was said until then may be looked at; results there are none.
    assert {path.name for path in (tmp_path / "run").glob("*")} <= {"decisions.jsonl.partial"}


def test_what_only_the_embedded_engine_has_is_refused(batsim: Path, tmp_path: Path) -> None:
    for option, value in (("--clock", "apart"), ("--clock", "batsim"), ("--simgrid", "always")):
        ran = run(*inputs(), "--engine", "batsim4", option, value, "--out", tmp_path / "run")
        assert ran.status == 2
        assert f"option {option}: is for the embedded engine" in ran.output


def test_a_platform_without_a_host_for_batsim(batsim: Path, tmp_path: Path) -> None:
    platform = RECORDINGS / "platforms" / "flat128.xml"
    ran = run(*inputs(platform), "--engine", "batsim4", "--out", tmp_path / "run")
    assert ran.status == 2
    assert "say which with --master-host" in ran.output
    ran = run(*inputs(platform), "--master-host", "n0", "--engine", "batsim5", "--out", tmp_path / "run")
    assert ran.status == 0, ran.output


def test_what_batsim_5_cannot_run_is_refused(batsim: Path, tmp_path: Path) -> None:
    ran = run(*inputs(workload=RECORDINGS / "workloads" / "msg.json"), "--engine", "batsim5", "--out", tmp_path / "run")
    assert ran.status == 2
    assert "Batsim 5 has no messages between jobs and schedulers" in ran.output


TORUS = (
    '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n<platform version="4.1">\n'
    '<zone id="w" routing="Full">\n<cluster id="c" prefix="n" suffix="" radical="1-12" speed="2Gf" bw="1GBps" '
    'lat="1us" topology="TORUS" topo_parameters="4,3"/>\n<zone id="m" routing="Full">'
    '<host id="master_host" speed="1Gf"/></zone>\n</zone>\n</platform>\n'
)


def storage_platform(path: Path, *disks: str) -> Path:
    """Write a platform of three compute hosts and storage hosts of the given names."""
    role = '<prop id="role" value="storage"/>'
    hosts = "".join(f'<host id="n{number}" speed="1Gf"/>' for number in range(3))
    hosts += "".join(f'<host id="{name}" speed="1Gf">{role}</host>' for name in disks)
    path.write_text(platform_of(f'<host id="master_host" speed="1Gf"/>{hosts}'))
    return path


@pytest.mark.parametrize("disks", [("nfs", "pfs"), ("scratch",)])
@pytest.mark.parametrize("engine", ENGINES)
def test_batsim_is_told_which_storage_the_engine_assumes(
    engine: str, disks: tuple[str, ...], batsim: Path, tmp_path: Path
) -> None:
    profiles: dict[str, Any] = {
        "io": {"type": "parallel_homogeneous_pfs", "bytes_to_read": 1e6, "bytes_to_write": 1e6},
        "stage": {"type": "data_staging", "nb_bytes": 1e6, "from": "pfs", "to": "nfs"},
        "both": {"type": "composed", "seq": ["d", "stage", "io"]},
        "d": {"type": "delay", "delay": 3},
    }
    jobs = [{"id": name, "subtime": 0, "res": 1, "walltime": 99, "profile": name} for name in profiles]
    platform, workload = storage_platform(tmp_path / "p.xml", *disks), tmp_path / "w.json"
    workload.write_text(json.dumps({"nb_res": 3, "jobs": jobs, "profiles": profiles}))
    ran = run(*inputs(platform, workload), "--engine", engine, "--out", tmp_path / "run")
    assert ran.status == 0, ran.output
    told: dict[str, Any] = {}
    for line in (tmp_path / "run" / "decisions.jsonl").read_text().splitlines():
        raw = json.loads(line)["raw"]
        for event in json.loads(raw)["events"] if isinstance(raw, str) and raw else ():
            data = event.get("data", event.get("event"))
            if event.get("type") == "EXECUTE_JOB":
                told[data["job_id"]] = data.get("storage_mapping")
            elif event.get("event_type") == "ExecuteJobEvent":
                placed = data.get("storage_placement")
                told[data["job_id"]] = placed and {each["storage_name"]: each["host_id"] for each in placed}
    pfs, nfs = (4, 3) if len(disks) == 2 else (3, 3)
    both = {"nfs": nfs, "pfs": pfs}
    # What 5.0.0-rc2 does wrongly with these jobs is said: two of the four stage data.
    assert ("warning: Batsim 5.0.0-rc2: 2 of 4 jobs stage data" in ran.output) == (engine == "batsim5")
    assert told == {"w0!io": {"pfs": pfs}, "w0!stage": both, "w0!both": both, "w0!d": None}


def test_batsim_leaves_out_what_nobody_reads(batsim: Path, tmp_path: Path) -> None:
    assert run(*inputs(), "--engine", "batsim4", "--out", tmp_path / "run").status == 0
    command = json.loads((tmp_path / "run" / "result.json").read_text())["engine"]["command"]
    assert "--disable-schedule-tracing" in command
    # A part of Batsim's outputs that is read must not be switched off.
    assert "--disable-machine-state-tracing" not in command


@pytest.mark.parametrize("engine", ENGINES)
def test_a_torus_that_stands_alone(engine: str, batsim: Path, tmp_path: Path) -> None:
    platform, workload = RECORDINGS / "platforms" / "torus444.xml", tmp_path / "w.json"
    jobs = [{"id": "1", "subtime": 0, "res": 2, "walltime": 20, "profile": "d"}]
    workload.write_text(json.dumps({"nb_res": 63, "jobs": jobs, "profiles": {"d": {"type": "delay", "delay": 9}}}))
    given = [*inputs(platform, workload), "--master-host", "n0"]
    ran = run(*given, "--engine", engine, "--out", tmp_path / "run")
    assert ran.status == 0, ran.output
    assert run(*given, "--out", tmp_path / "here").status == 0
    assert schedule(tmp_path / "run") == schedule(tmp_path / "here")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process of its parent's end")
@pytest.mark.parametrize("engine", ENGINES)
def test_no_batsim_outlives_a_run_that_is_killed(
    engine: str, batsim: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pid = tmp_path / "pid"
    monkeypatch.setenv("FAKE_BATSIM", "deaf")
    monkeypatch.setenv("FAKE_BATSIM_PID", str(pid))
    command = [*map(str, inputs()), "--engine", engine, "--out", str(tmp_path / "run")]
    with subprocess.Popen(
        [sys.executable, "-c", "from batdispatch.cli.main import main; main()", "run", *command]
    ) as killed:
        wait_until(lambda: pid.exists() and pid.read_text() != "")
        killed.kill()
    # Its parent is gone, so somebody else has to bury it: a zombie has ended, too.
    state = Path("/proc") / pid.read_text() / "stat"
    wait_until(lambda: not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z")


def wait_until(holds: Callable[[], bool]) -> None:
    for _ in range(400):
        if holds():
            return
        time.sleep(0.05)
    raise AssertionError("it does not come to that")


def test_the_lines_that_tell_why() -> None:
    trace = [b"frame %d\n" % number for number in range(40)]
    reason = b"[n0:x:(1) 2.5] src/a.cpp:12: [root/CRITICAL] the machine is upset\n"
    shown = telling_lines([b"hello\n", reason, b"\n", *trace])
    assert shown == [reason.decode().strip(), "...", *(f"frame {number}" for number in range(34, 40))]
    assert telling_lines([reason, *trace[:3]]) == [reason.decode().strip(), "frame 0", "frame 1", "frame 2"]
    assert telling_lines([reason, *trace[:6]]) == [reason.decode().strip(), *(f"frame {number}" for number in range(6))]
    # Of very many, the first tell the cause.
    many = [b"[root/CRITICAL] %d" % number for number in range(20)]
    assert telling_lines([*many, *trace])[:4] == [f"[root/CRITICAL] {number}" for number in range(3)] + ["..."]
    assert telling_lines([]) == []
    assert telling_lines([b"\x00\xff" * 1000])[0].startswith("\\u0000")
    assert len(telling_lines([b"x" * 10**6])[0]) < 1000


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            ["torus", "--dims", "2,2,2", "--hosts-per-router", "2"],
            "torus .* with --hosts-per-router 1 or",
        ),
        (["mesh", "--dims", "3,3"], "mesh .* on which SimGrid 4.1 crashes: run it in Batsim 4"),
        (["torus", "--dims", "2,2,2", "--hosts-per-router", "2", "--router-links", "split"], ""),
        (["torus", "--dims", "2,2,2", "--hosts-per-router", "1"], ""),
    ],
)
def test_a_generated_grid_runs_in_batsim_5_or_is_refused_with_the_way_out(
    words: list[str], expected: str, batsim: Path, tmp_path: Path
) -> None:
    platform = tmp_path / "p.xml"
    assert CliRunner().invoke(cli, ["platform", "generate", *words, "-o", str(platform)]).exit_code == 0
    assert run(*inputs(platform), "--engine", "batsim4", "--out", tmp_path / "four").status == 0
    ran = run(*inputs(platform), "--engine", "batsim5", "--out", tmp_path / "five")
    assert ran.status == (2 if expected else 0), ran.output
    assert re.search(expected, ran.output.replace("\n", " "))


@pytest.mark.parametrize("engine", ENGINES)
def test_the_dispatcher_knows_what_batsim_does_not_tell(engine: str, batsim: Path, tmp_path: Path) -> None:
    """The two versions number n1, n2, ... n12 differently: the places on the torus follow the names."""
    platform, workload = tmp_path / "torus.xml", tmp_path / "w.json"
    platform.write_text(TORUS)
    jobs = [{"id": "1", "subtime": 0, "res": 2, "walltime": 20, "profile": "d"}]
    workload.write_text(json.dumps({"nb_res": 12, "jobs": jobs, "profiles": {"d": {"type": "delay", "delay": 9}}}))
    telling = f"{ROOT / 'tests' / 'links' / 'dispatchers_for_platform.py'}:Telling"
    ran = run(*inputs(platform, workload, telling), "--engine", engine, "--out", tmp_path / "run")
    assert ran.status == 0, ran.output
    (line,) = [line for line in ran.output.splitlines() if line.startswith("knows ")]
    told = json.loads(line.removeprefix("knows "))
    assert told["kind"] == "torus"
    assert told["routers"] == {f"n{number}": number - 1 for number in range(1, 13)}
    assert set(told["speeds"].values()) == {2e9}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_batsim_that_read_another_machine_is_refused(
    engine: str, batsim: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_BATSIM", "elsewhere")
    ran = run(*inputs(), "--engine", engine, "--out", tmp_path / "run")
    assert ran.status == 2, ran.output
    assert f"{FOUR}: has 4 compute hosts, Batsim says 3" in ran.output
    assert "Traceback" not in ran.output


@pytest.mark.parametrize("kind", ["delay", "DelayProfile"])
@pytest.mark.parametrize("engine", ENGINES)
def test_profiles_that_no_job_uses_do_not_kill_batsim(engine: str, kind: str, batsim: Path, tmp_path: Path) -> None:
    profiles = {name: {"type": kind, "delay": 10} for name in ("used", "unused")}
    jobs = [{"id": "a", "subtime": 0, "res": 1, "walltime": 50, "profile": "used"}]
    workload = tmp_path / "w.json"
    workload.write_text(json.dumps({"nb_res": 4, "jobs": jobs, "profiles": profiles}))
    ran = run(*inputs(workload=workload), "--engine", engine, "--out", tmp_path / "run")
    assert ran.status == 0, ran.output
    assert [*schedule(tmp_path / "run")] == ["a"]


@pytest.mark.parametrize(
    ("engine", "given"),
    [
        ("batsim4", ["--energy", "batsim"]),
        ("batsim5", ["--energy", "batsim"]),
        ("batsim5", ["--batsim-option=-E"]),
        ("batsim5", ["--energy", "batsim", "--batsim-option=-E", "--batsim-option=--trace-pstate-changes"]),
    ],
)
def test_a_run_that_counts_energy_has_the_changes_of_power_states(
    engine: str, given: list[str], batsim: Path, tmp_path: Path
) -> None:
    watts = RECORDINGS / "energy" / "platforms" / "homo8.xml"
    ran = run(*inputs(watts), "--engine", engine, *given, "--out", tmp_path / "run")
    assert ran.status == 0, ran.output
    assert (tmp_path / "run" / "pstate_changes.csv").is_file()


@pytest.mark.usefixtures("worker_threads")
@pytest.mark.parametrize(("engine", "option"), [("batsim4", "-E"), ("batsim5", "--energy-host")])
def test_a_campaign_with_energy_has_its_metrics_and_passes_the_check(
    engine: str, option: str, batsim: Path, tmp_path: Path
) -> None:
    """The stand-in of Batsim 5 writes its sums as schedule.json, as Batsim 5 does."""
    watts = RECORDINGS / "energy" / "platforms" / "homo8.xml"
    (tmp_path / "c.yaml").write_text(
        f"""
name: c
platforms: {{p: {watts}}}
workloads: {{w: {DELAYS}}}
dispatchers: [easy, "powered[sleep=idle,after=1]", "powered[cap=1000]"]
settings: {{engine: {engine}, batsim-option: {option}}}
"""
    )
    ran = call("campaign", tmp_path / "c.yaml", "--out", tmp_path / "out")
    assert ran.status == 0, ran.output
    runs = [path.parent for path in (tmp_path / "out").rglob("result.json")]
    assert len(runs) == 3
    for folder in runs:
        found = json.loads((folder / "result.json").read_text())["metrics"]
        assert found["energy"] > 0
        parts = [found[f"energy_{part}"] for part in ("of_jobs", "idle", "switching", "asleep")]
        assert sum(parts) == pytest.approx(found["energy"])
        assert [str(violation) for violation in Auditor().run(folder).kept] == []
