"""The engine with SimGrid: run times worked out by hand, the same calendar as without it, refusals, crashes."""

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from batdispatch.abilities.simgrid import engine
from batdispatch.abilities.simgrid.library import how_to_install
from batdispatch.abilities.verify.audit.run import Auditor
from batdispatch.core.errors import ImpossibleDecision, InputError, SimulationError
from batdispatch.results.frame import read_jobs
from batdispatch.runs.run import execute
from batdispatch.runs.spec import RunSpec
from batdispatch.runs.workers import call_isolated
from with_simgrid import needs_simgrid, start_twice

#: Two hosts of 1 Gf behind links of 100 MB/s and 10 ms, a storage host behind one of 50 MB/s and 10 ms;
#: another one is not connected.
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  {config}
  <zone id="z" routing="Full">
    <host id="a" speed="1Gf"/><host id="b" speed="1Gf"/>
    <host id="disk" speed="1Gf"><prop id="role" value="storage"/></host>
    <host id="spare" speed="1Gf"><prop id="role" value="storage"/></host>
    <link id="la" bandwidth="100MBps" latency="10ms"/>
    <link id="lb" bandwidth="100MBps" latency="10ms"/>
    <link id="ld" bandwidth="50MBps" latency="10ms"/>
    <route src="a" dst="b"><link_ctn id="la"/><link_ctn id="lb"/></route>
    <route src="a" dst="disk"><link_ctn id="la"/><link_ctn id="ld"/></route>
    <route src="b" dst="disk"><link_ctn id="lb"/><link_ctn id="ld"/></route>
  </zone>
</platform>
"""
PROFILES: dict[str, dict[str, Any]] = {
    "compute": {"type": "parallel_homogeneous", "cpu": 5e9, "com": 0},
    # Both directions share each link: 2 x 100 MB over 100 MB/s, after the latency of the route.
    "exchange": {"type": "parallel_homogeneous", "cpu": 0, "com": 1e8},
    "nothing": {"type": "parallel_homogeneous", "cpu": 0, "com": 0},
    "write": {"type": "parallel_homogeneous_pfs", "bytes_to_read": 0, "bytes_to_write": 1e8, "storage": "disk"},
    "elsewhere": {"type": "parallel_homogeneous_pfs", "bytes_to_read": 1, "bytes_to_write": 1, "storage": "tape"},
    "next to nothing": {"type": "parallel_homogeneous", "cpu": 1e-320, "com": 1e-310},
    "endless": {"type": "parallel_homogeneous", "cpu": 1e308, "com": 1e308},
    "delay": {"type": "delay", "delay": 3},
    "steps": {"type": "composed", "repeat": 2, "seq": ["compute", "delay", "exchange"]},
    "bad end": {"type": "parallel_homogeneous", "cpu": 1e9, "com": 0, "ret": 3},
    "stops": {"type": "composed", "seq": ["bad end", "compute"]},
    "two": {"type": "parallel", "cpu": [1e9, 3e9], "com": [0, 0, 0, 0]},
}


def job(name: str, profile: str, res: int = 2, submission: float = 0.0, walltime: float = 100.0) -> dict[str, Any]:
    return {"id": name, "subtime": submission, "res": res, "profile": profile, "walltime": walltime}


class Bench:
    """Writes a platform and a workload, and runs them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def files(
        self, jobs: list[dict[str, Any]], profiles: dict[str, Any] = PROFILES, config: str = ""
    ) -> tuple[str, str]:
        platform, workload = self.folder / "p.xml", self.folder / "w.json"
        platform.write_text(PLATFORM.format(config=config))
        workload.write_text(json.dumps({"nb_res": 2, "jobs": jobs, "profiles": profiles}))
        return str(platform), str(workload)

    def run(self, *jobs: dict[str, Any], out: str = "out", dispatcher: str = "fcfs", **options: Any) -> dict[str, Any]:
        """Return the jobs file's rows by job id."""
        more = {key: options.pop(key) for key in ("profiles", "config") if key in options}
        platform, workload = self.files(list(jobs), **more)
        spec = RunSpec(platform=platform, workload=workload, dispatcher=dispatcher, **options)
        self.result = execute(spec, self.folder / out)
        return read_jobs(self.folder / out / "jobs.csv").set_index("job_id").to_dict("index")


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@needs_simgrid
@pytest.mark.parametrize(
    ("profile", "seconds"),
    [
        ("compute", 5.0),
        ("exchange", 2.02),
        ("nothing", 0.0),
        ("next to nothing", 0.0),
        ("write", 4.02),
        ("two", 3.0),
        ("steps", 2 * (5.0 + 3.0 + 2.02)),
    ],
)
def test_run_times_worked_out_by_hand(bench: Bench, profile: str, seconds: float) -> None:
    rows = bench.run(job("j", profile, submission=1.5))
    assert rows["j"]["final_state"] == "COMPLETED_SUCCESSFULLY"
    assert rows["j"]["starting_time"] == 1.5
    assert rows["j"]["execution_time"] == pytest.approx(seconds, abs=1e-5)
    assert bench.result["engine"]["simgrid"]


@needs_simgrid
def test_a_task_without_work_is_written_as_batsim_writes_it(bench: Bench) -> None:
    rows = bench.run(job("a", "nothing", submission=1.5), job("b", "delay", submission=1.5))
    assert rows["a"]["execution_time"] == pytest.approx(1e-5)
    assert rows["a"]["stretch"] == pytest.approx(1)
    # The hosts were free at once, and the audit knows that.
    assert rows["b"]["starting_time"] == 1.5
    assert not Auditor().run(bench.folder / "out").total


@needs_simgrid
def test_a_return_code_fails_the_job_and_ends_its_sequence(bench: Bench) -> None:
    row = bench.run(job("j", "stops"))["j"]
    assert row["final_state"] == "COMPLETED_FAILED"
    assert row["execution_time"] == pytest.approx(1.0, abs=1e-5)


@needs_simgrid
def test_a_walltime_ends_an_activity_and_frees_what_it_held(bench: Bench) -> None:
    rows = bench.run(job("long", "compute", walltime=2.0), job("next", "compute", submission=0.5))
    assert rows["long"]["final_state"] == "COMPLETED_WALLTIME_REACHED"
    assert rows["long"]["execution_time"] == 2.0
    assert rows["next"]["starting_time"] == 2.0
    assert rows["next"]["execution_time"] == pytest.approx(5.0, abs=1e-5)


@needs_simgrid
def test_a_walltime_ends_more_work_than_can_be_added_up(bench: Bench) -> None:
    rows = bench.run(job("j", "endless", walltime=7.0))
    assert (rows["j"]["final_state"], rows["j"]["execution_time"]) == ("COMPLETED_WALLTIME_REACHED", 7.0)


@needs_simgrid
def test_a_walltime_that_equals_the_run_time_is_reached(bench: Bench) -> None:
    assert bench.run(job("j", "compute", walltime=5.0))["j"]["final_state"] == "COMPLETED_WALLTIME_REACHED"


@needs_simgrid
def test_a_slower_neighbour_is_felt_and_a_delay_is_not(bench: Bench) -> None:
    alone = bench.run(job("w", "write", res=1))["w"]["execution_time"]
    beside_delay = bench.run(job("d", "delay", res=1), job("w", "write", res=1))["w"]["execution_time"]
    beside_writer = bench.run(job("v", "write", res=1), job("w", "write", res=1))["w"]["execution_time"]
    assert alone == beside_delay == pytest.approx(2.02, abs=1e-5)
    assert beside_writer == pytest.approx(4.02, abs=1e-5)


@needs_simgrid
def test_delays_alone_give_the_same_files_with_and_without_simgrid(bench: Bench) -> None:
    source = random.Random(7)
    profiles = {f"d{k}": {"type": "delay", "delay": source.uniform(0.1, 30)} for k in range(20)}
    jobs = [
        job(f"{k}", f"d{source.randrange(20)}", source.randint(1, 2), source.uniform(0, 200), source.uniform(5, 40))
        for k in range(60)
    ]
    jobs.sort(key=lambda entry: entry["subtime"])
    for name in ("easy", "conservative"):
        bench.run(*jobs, profiles=profiles, dispatcher=name, out="without")
        assert bench.result["engine"]["simgrid"] is None
        bench.run(*jobs, profiles=profiles, dispatcher=name, out="with", simgrid="always")
        assert bench.result["engine"]["simgrid"]
        for file in ("jobs.csv", "machine_states.csv"):
            assert (bench.folder / "with" / file).read_bytes() == (bench.folder / "without" / file).read_bytes()


@needs_simgrid
@pytest.mark.parametrize("seed", range(3))
def test_computing_alone_takes_as_long_as_a_delay(bench: Bench, seed: int) -> None:
    source = random.Random(seed)
    lengths = [source.uniform(0.1, 30) for _ in range(15)]
    delays = {f"p{k}": {"type": "delay", "delay": length} for k, length in enumerate(lengths)}
    tasks = {f"p{k}": {"type": "parallel_homogeneous", "cpu": 1e9 * s, "com": 0} for k, s in enumerate(lengths)}
    jobs = [
        job(f"{k}", f"p{source.randrange(15)}", source.randint(1, 2), source.uniform(0, 400), source.uniform(5, 40))
        for k in range(60)
    ]
    ours = bench.run(*jobs, profiles=tasks, dispatcher="easy")
    theirs = bench.run(*jobs, profiles=delays, dispatcher="easy")
    assert list(ours) == list(theirs)
    for name, row in ours.items():
        assert row["final_state"] == theirs[name]["final_state"]
        for column in ("starting_time", "finish_time"):
            assert row[column] == pytest.approx(theirs[name][column], abs=1e-4)


@needs_simgrid
def test_the_same_run_gives_the_same_bytes(bench: Bench) -> None:
    source = random.Random(3)
    jobs = [job(f"{k}", source.choice(list(PROFILES)[:4]), source.randint(1, 2), k / 3) for k in range(40)]
    for out in ("first", "second"):
        bench.run(*jobs, dispatcher="easy", out=out)
    for file in ("jobs.csv", "machine_states.csv", "decisions.jsonl"):
        assert (bench.folder / "first" / file).read_bytes() == (bench.folder / "second" / file).read_bytes()


@needs_simgrid
def test_a_storage_that_is_not_there_stops_the_run(bench: Bench) -> None:
    with pytest.raises(ImpossibleDecision, match=r"^at 1\.000000 s: job w0!j: profile 'elsewhere' uses storage 'tape'"):
        bench.run(job("j", "elsewhere", submission=1.0))
    assert [path.name for path in (bench.folder / "out").iterdir()] == ["decisions.jsonl.partial"]


@needs_simgrid
def test_what_simgrid_dislikes_is_one_message(bench: Bench) -> None:
    config = '<config><prop id="cpu/optim" value="nonsense"/></config>'
    with pytest.raises(InputError, match=r"SimGrid refuses it: .*Invalid value 'nonsense' for option cpu/optim"):
        bench.run(job("j", "compute"), config=config)
    assert not list((bench.folder / "out").glob("*"))


@needs_simgrid
def test_a_config_key_that_simgrid_does_not_know_is_named_with_its_line(bench: Bench) -> None:
    config = '<config><prop id="surf/precision" value="1e-9"/>\n<prop id="no/such" value="1"/></config>'
    with pytest.raises(InputError, match=r"line \d+, <prop> no/such: SimGrid refuses it: Bad config key: no/such"):
        bench.run(job("j", "compute"), config=config)


@needs_simgrid
def test_at_the_command_line_it_is_one_message_too(bench: Bench) -> None:
    platform, workload = bench.files(
        [job("j", "compute")], config='<config><prop id="cpu/optim" value="bad"/></config>'
    )
    words = [
        "run",
        "--platform",
        platform,
        "--workload",
        workload,
        "--dispatcher",
        "easy",
        "--out",
        f"{bench.folder}/o",
    ]
    done = subprocess.run(
        [sys.executable, "-c", "from batdispatch.cli.main import main; main()", *words],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"batdispatch: error: {platform}, line ")
    assert "<prop> cpu/optim: SimGrid refuses it: " in done.stderr
    assert len(done.stderr.splitlines()) == 1


@needs_simgrid
def test_simgrid_starts_once_in_a_process(bench: Bench) -> None:
    platform, _ = bench.files([])
    with pytest.raises(SimulationError, match="SimGrid can simulate once in a process"):
        call_isolated(start_twice, platform)


@needs_simgrid
def test_a_library_that_is_none_is_named(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BATDISPATCH_SIMGRID", "/nowhere/libsimgrid.so")
    with pytest.raises(InputError, match=r"^/nowhere/libsimgrid\.so: SimGrid cannot be loaded"):
        bench.run(job("j", "compute"))


WRITER = f"{Path(__file__).parents[2] / 'support' / 'io_dispatchers.py'}:Writer"


@needs_simgrid
@pytest.mark.parametrize(
    ("profile", "seconds"),
    [
        # Two hosts write 100 MB each over a link of 50 MB/s, while they compute: one task, after the longest latency.
        ("compute", 5.02),
        ("nothing", 4.02),
        # Each host's link carries twice 100 MB from the exchange and 100 MB to the disk.
        ("exchange", 4.02),
        # As in Batsim, nothing is written beside a delay.
        ("delay", 3.0),
    ],
)
def test_an_io_job_runs_along_with_its_job(bench: Bench, profile: str, seconds: float) -> None:
    row = bench.run(job("j", profile), dispatcher=WRITER, simgrid="always")["j"]
    assert row["execution_time"] == pytest.approx(seconds, abs=1e-5)
    assert row["allocated_resources"] == "0-1"


@needs_simgrid
def test_an_io_job_of_another_shape_is_refused(bench: Bench) -> None:
    with pytest.raises(ImpossibleDecision, match="I/O job: the job is a sequence of 3 profiles, the I/O job is not"):
        bench.run(job("j", "steps"), dispatcher=WRITER)
    with pytest.raises(ImpossibleDecision, match="I/O job: type 'data_staging' cannot run as an I/O job"):
        bench.run(job("j", "compute"), dispatcher=WRITER.replace("Writer", "Careless"))


@needs_simgrid
def test_messages_cross_the_links(bench: Bench) -> None:
    # From b's 20 ms to a; a has nothing to cross to itself but SimGrid's loopback.
    ran = bench.run(job("first", "compute", 1), job("next", "delay", 1, 1), clock="batsim", master_host="a")
    assert ran["first"]["finish_time"] == pytest.approx(5, abs=1e-6)
    assert ran["next"]["starting_time"] == pytest.approx(5.02, abs=1e-6)


@needs_simgrid
def test_the_result_says_who_timed_the_run(bench: Bench) -> None:
    bench.run(job("j", "compute"), dispatcher="easy")
    about = bench.result["engine"]
    assert list(about) == ["name", "version", "simgrid", "compiled", "not_compiled"]
    assert (about["name"], about["compiled"], about["not_compiled"]) == ("embedded", None, "SimGrid times the run")
    assert about["simgrid"]
    # What was installed stands among that of which the run was made.
    assert bench.result["made_from"]["simgrid"] == engine.find_simgrid()


def test_an_io_job_needs_simgrid(bench: Bench) -> None:
    with pytest.raises(ImpossibleDecision, match=r"job w0!j: an I/O job's time depends .* \(--simgrid always\)"):
        bench.run(job("j", "delay"), dispatcher=WRITER)


def test_without_simgrid_a_message_says_how_to_install_it(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "find_simgrid", lambda: None)
    with pytest.raises(InputError) as raised:
        bench.run(job("j", "steps"))
    assert "w.json, profile 'exchange': type 'parallel_homogeneous': its run time depends" in str(raised.value)
    assert str(raised.value).endswith(f"SimGrid is not installed. To install it: {how_to_install()}")
    assert not (bench.folder / "out").exists()
    # Everything else works without.
    assert bench.run(job("j", "delay"))["j"]["execution_time"] == 3.0
    with pytest.raises(InputError, match=r"^option --simgrid always: SimGrid is not installed"):
        bench.run(job("j", "delay"), simgrid="always")
    with pytest.raises(InputError, match=r"^option --clock batsim: SimGrid is not installed"):
        bench.run(job("j", "delay", 1), clock="batsim", master_host="b")


@pytest.mark.parametrize(("tool", "words"), [("apt-get", "apt-get install python3-simgrid"), (None, "'pybind11<3'")])
def test_the_advice_fits_the_system(monkeypatch: pytest.MonkeyPatch, tool: str | None, words: str) -> None:
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}" if name == tool else None)
    assert words in how_to_install()
