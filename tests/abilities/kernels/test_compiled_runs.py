"""Which runs are compiled, and that such a run's folder is what it is without."""

import os
import threading
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from batdispatch.abilities.kernels import applies, reasons
from batdispatch.abilities.kernels.library import KERNELS
from batdispatch.abilities.sites.doors.queues import with_queues
from batdispatch.abilities.verify.audit.run import Auditor
from batdispatch.cli.main import cli
from batdispatch.core.errors import InputError
from batdispatch.inputs.workloads import workload_file
from batdispatch.results.decisions import TIMES
from batdispatch.runs import embedded
from batdispatch.runs.run import InputFiles, execute
from batdispatch.runs.spec import RunSpec
from checked import checked
from compiling import needs_kernels
from sealing import seal
from sites import hosts_of, platform_of
from workloads_of_cases import write_workload

pytestmark = needs_kernels
ROOT = Path(__file__).parents[3]
FLAT = str(ROOT / "platforms" / "flat64.xml")
DEMO = str(ROOT / "workloads" / "demo64.json")


def spec(**changes: Any) -> RunSpec:
    settings = {"platform": FLAT, "workload": DEMO, "dispatcher": "easy", "record": False, "compiled": "always"}
    return RunSpec(**(settings | changes))


@pytest.mark.parametrize("dispatcher", ["fcfs", "filler", "easy", "conservative"])
def test_a_compiled_run_is_whole_and_says_that_it_is_compiled(tmp_path: Path, dispatcher: str) -> None:
    result = execute(spec(dispatcher=dispatcher), tmp_path / "compiled")
    other = execute(spec(dispatcher=dispatcher, compiled="never"), tmp_path / "python")
    assert result["engine"]["compiled"] == KERNELS.path().stem
    assert other["engine"]["compiled"] is None
    assert "--compiled never" in other["engine"]["not_compiled"]
    for name in ("jobs.csv", "machine_states.csv"):
        assert (tmp_path / "compiled" / name).read_bytes() == (tmp_path / "python" / name).read_bytes()
    for name in ("report", "rejected", "fallbacks"):
        assert result[name] == other[name]
    assert result["performance"]["messages"] == other["performance"]["messages"]
    # No decision of a kernel is timed, and it says so.
    assert result["decisions"] == {"count": 0}
    metrics = {name: value for name, value in other["metrics"].items() if not name.startswith("decisions_")}
    assert {name: value for name, value in result["metrics"].items() if name in metrics} == metrics
    assert not Auditor().run(tmp_path / "compiled").total


@pytest.mark.parametrize("dispatcher", ["fcfs", "filler", "easy", "conservative"])
def test_a_kernel_records_the_exchange_of_the_engine_in_python(tmp_path: Path, dispatcher: str) -> None:
    result = execute(spec(dispatcher=dispatcher, record=True), tmp_path / "compiled")
    execute(spec(dispatcher=dispatcher, record=True, compiled="never"), tmp_path / "python")
    assert result["engine"]["compiled"] == KERNELS.path().stem
    recordings = [(tmp_path / name / "decisions.jsonl").read_bytes() for name in ("compiled", "python")]
    assert recordings[0] == recordings[1]
    assert not checked(tmp_path / "compiled", "auto").total


def test_a_run_that_a_kernel_recorded_has_no_times_of_decisions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "run"
    execute(spec(record=True), folder)
    # In Python, too, if no kernel applies where it is checked.
    for kernels in (True, False):
        if not kernels:
            monkeypatch.setattr(applies, "why_missing", lambda: "none is here")
        assert not checked(folder, "auto").total
    (folder / TIMES).write_text("time,seconds\n0.000000,0.000001\n")
    seal(folder)
    assert f"{TIMES} is there" in str(checked(folder, "auto").kept)


@pytest.mark.parametrize("dispatcher", ["fcfs", "filler", "easy", "conservative"])
def test_a_kernel_records_the_exchange_about_no_job_at_all(tmp_path: Path, dispatcher: str) -> None:
    (tmp_path / "w.json").write_text('{"nb_res": 64, "jobs": [], "profiles": {}}')
    for name, compiled in (("compiled", "always"), ("python", "never")):
        changes = {"dispatcher": dispatcher, "workload": str(tmp_path / "w.json"), "record": True}
        execute(spec(**changes, compiled=compiled), tmp_path / name)
    recordings = [(tmp_path / name / "decisions.jsonl").read_bytes() for name in ("compiled", "python")]
    assert b"no_more_static_job_to_submit" in recordings[0]
    assert recordings[0] == recordings[1]
    assert checked(tmp_path / "compiled", "always").total == 0


def test_a_recorded_run_is_checked_by_a_kernel_and_in_python_only_where_they_differ(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    execute(spec(record=True, compiled="never"), tmp_path / "run")
    in_python = []
    monkeypatch.setattr(embedded, "simulate", lambda *given: in_python.append(given))
    assert checked(tmp_path / "run", "auto").total == 0
    assert not in_python
    times = tmp_path / "run" / "decision_times.csv"
    times.write_text(times.read_text().replace("\n0.000000,", "\n0.000001,", 1))
    seal(tmp_path / "run")
    with pytest.raises(AttributeError):
        # What stands for Python's simulation here has no outcome.
        checked(tmp_path / "run", "auto")
    assert in_python


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"record": True, "dispatcher": "slurm-backfill"}, "do not tell when the dispatcher asks to be called"),
        ({"clock": "apart"}, "--clock apart"),
        ({"decision_time": 1.0}, "decisions take simulated time"),
        ({"decision_clock": "cpu"}, "timed by CPU time"),
        ({"dispatcher": "best-list"}, "best-list has no kernel"),
        ({"dispatcher": "attempts", "options": {"dispatcher": "easy"}}, "has no kernel"),
        ({"options": {"ordering": "pcp20-priority"}}, "pcp20-priority has no kernel, multifactor and those by"),
        ({"options": {"ordering": "late-first"}}, "ordering late-first has no kernel"),
        ({"options": {"ordering": "guarded[ordering=late-first]"}}, "has no kernel"),
        ({"options": {"backfill": "late-first"}}, "ordering late-first has no kernel"),
        (
            {"dispatcher": "conservative", "options": {"ordering": "wfp3"}},
            "ordering wfp3 changes while jobs wait, and the kernel of conservative knows no such",
        ),
        ({"dispatcher": "filler", "options": {"ordering": "guarded"}}, "the kernel of filler knows no such"),
        ({"options": {"placement": "best-fit"}}, "placement best-fit has no kernel"),
        ({"options": {"prediction": "data-driven"}}, "prediction data-driven has no kernel"),
        ({"dispatcher": "filler", "options": {"prediction": "oracle"}}, "oracle has a kernel only under easy"),
        ({"options": {"prediction": "oracle", "ordering": "guarded"}}, "guarded and conservative have kernels only"),
        ({"dispatcher": "conservative", "options": {"default_walltime": "5"}}, "without default_walltime"),
        ({"options": {"prediction": "requested"}, "engine": "batsim5"}, "for the embedded engine"),
    ],
)
def test_what_is_not_compiled_is_refused_with_a_reason(tmp_path: Path, changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        execute(spec(**changes), tmp_path / "out")


def job(number: int, **fields: Any) -> dict[str, Any]:
    return {"id": str(number), "subtime": number, "res": 1, "walltime": 9, "profile": "d", **fields}


@pytest.mark.parametrize(
    ("dispatcher", "jobs", "profile", "reason"),
    [
        ("easy", [job(1, node_list=["n00"])], {}, "job '1' asks for more than a number of whole hosts"),
        ("easy", [job(1), job(2, dependencies=["1"])], {}, "job '2' asks for more"),
        ("easy", [job(1), job(2, parent="1")], {}, "job '2' continues another one"),
        ("easy", [job(1), job(2, array={"id": "a", "index": 0})], {}, "job '2' is a task of an array"),
        ("easy", [job(1)], {"type": "composed", "seq": ["e"]}, "job '1' has a profile of type 'composed'"),
        ("easy", [job(1)], {"type": "delay", "delay": 1e13}, "add up to more than"),
        ("easy", [job(1, walltime=1e13)], {}, "a walltime is longer than"),
    ],
)
def test_what_a_workload_must_not_have(
    tmp_path: Path, dispatcher: str, jobs: list[dict[str, Any]], profile: dict[str, Any], reason: str
) -> None:
    delay = {"type": "delay", "delay": 3}
    path = tmp_path / "w.json"
    path.write_bytes(msgspec.json.encode({"nb_res": 64, "jobs": jobs, "profiles": {"d": profile or delay, "e": delay}}))
    name, _, option = dispatcher.rstrip("]").partition("[")
    options = dict([option.split("=")]) if option else {}
    with pytest.raises(InputError, match=reason):
        execute(spec(workload=str(path), dispatcher=name, options=options), tmp_path / "out")


@pytest.mark.parametrize(
    ("dispatcher", "options", "fields", "reason"),
    [
        ("easy", {}, {"contiguous": True}, "a job states contiguous, and kernels know none"),
        ("easy", {}, {"sizes": {"least": 1, "most": 2}}, "a job states sizes, and kernels know none"),
    ],
)
def test_what_is_left_to_python_on_nodes_that_jobs_share(
    tmp_path: Path, dispatcher: str, options: dict[str, Any], fields: dict[str, Any], reason: str
) -> None:
    path = tmp_path / "w.json"
    jobs = [job(1), job(2, **fields)]
    path.write_bytes(
        msgspec.json.encode({"nb_res": 64, "jobs": jobs, "profiles": {"d": {"type": "delay", "delay": 3}}})
    )
    platform = str(ROOT / "platforms" / "eurora.xml")
    with pytest.raises(InputError, match=reason):
        execute(spec(platform=platform, workload=str(path), dispatcher=dispatcher, options=options), tmp_path / "out")


@pytest.mark.parametrize("fair_tree", ["false", "true"])
def test_the_fields_nice_and_account_matter_to_multifactor(tmp_path: Path, fair_tree: str) -> None:
    path, order = tmp_path / "w.json", f"multifactor[fairshare=1000,fair_tree={fair_tree},age=9,max_age=9]"
    jobs = [job(n, res=40, user="ada", account=f"a{n % 3}", nice=50 * (n % 5)) for n in range(40)]
    listed = {"nb_res": 64, "jobs": jobs, "profiles": {"d": {"type": "delay", "delay": 3}}}
    path.write_bytes(msgspec.json.encode(listed))
    for name in ("always", "never"):
        settings = {"workload": str(path), "options": {"ordering": order}, "compiled": name}
        execute(spec(**settings), tmp_path / name)
    assert (tmp_path / "always" / "jobs.csv").read_bytes() == (tmp_path / "never" / "jobs.csv").read_bytes()


@pytest.fixture
def reserved(tmp_path: Path) -> str:
    """A platform all of whose hosts are reserved for some time."""
    queues, platform = tmp_path / "q.toml", tmp_path / "p.xml"
    queues.write_text("[[reservations]]\nname = 'r'\nstart = 5\nend = 9\n")
    platform.write_bytes(with_queues(ROOT / "platforms" / "flat64.xml", queues))
    return str(platform)


def test_what_is_left_to_python_on_machines_with_reservations(reserved: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the kernel of conservative knows no reservations"):
        execute(spec(platform=reserved, dispatcher="conservative"), tmp_path / "out")
    with pytest.raises(InputError, match="easy has a kernel for reservations only with prediction=requested"):
        execute(spec(platform=reserved, dispatcher="easy", options={"prediction": "oracle"}), tmp_path / "out")
    with pytest.raises(InputError, match="ordering guarded has a kernel only where there are no reservations"):
        execute(spec(platform=reserved, dispatcher="easy", options={"ordering": "guarded"}), tmp_path / "out")
    shared = {"options": {"backfill": "multifactor[fairshare=9,period=300]"}}
    with pytest.raises(InputError, match="with fairshare and period has a kernel only where there are no reservations"):
        execute(spec(platform=reserved, **shared), tmp_path / "out")
    with pytest.raises(InputError, match="the dispatcher asks to be called"):
        execute(spec(platform=reserved, record=True), tmp_path / "out")
    assert execute(spec(platform=reserved), tmp_path / "out")["engine"]["compiled"]


def test_a_machine_with_licences_has_kernels(tmp_path: Path) -> None:
    router, platform = 'router_id="nodes_1_router"', tmp_path / "p.xml"
    stated = f'{router}><prop id="licences" value="matlab=2"/></cluster>'
    platform.write_text(Path(FLAT).read_text().replace(f"{router}/>", stated))
    slurm = {"dispatcher": "slurm-backfill", "options": {"licenses": True}}
    assert execute(spec(platform=str(platform), **slurm), tmp_path / "out")["engine"]["compiled"]


@pytest.mark.parametrize("dispatcher", ["easy", "powered[dispatcher=easy]"])
def test_what_hosts_burn_that_sleep_at_first_is_not_counted_by_a_kernel(dispatcher: str, tmp_path: Path) -> None:
    """Nobody wakes them, so that no job may start there."""
    watts = """<prop id="wattage_per_state" value="30:100,9:9,20:20,42:42"/><prop id="sleep_pstates" value="1:2:3"/>"""
    platform = tmp_path / "p.xml"
    platform.write_text(platform_of(hosts_of(2, watts)).replace('speed="1Gf"', 'pstate="1" speed="1Gf,1f,1f,1f"'))
    workload = write_workload(tmp_path / "w.json", [], {}, 2)
    asleep = spec(platform=str(platform), workload=str(workload), dispatcher=dispatcher, energy="exact")
    with pytest.raises(InputError, match="hosts sleep at first"):
        execute(asleep, tmp_path / "run")
    execute(msgspec.structs.replace(asleep, energy="auto"), tmp_path / "run")


def test_few_jobs_are_not_worth_a_kernel_unless_it_is_asked_for(tmp_path: Path) -> None:
    result = execute(spec(compiled="auto"), tmp_path / "out")
    assert "which times each decision" in result["engine"]["not_compiled"]


def test_compare_compiles(tmp_path: Path) -> None:
    words = ["compare", "--platform", FLAT, "--workload", DEMO, "--dispatchers", "fcfs,easy", "--compiled", "always"]
    done = CliRunner().invoke(cli, [*words, "--no-record", "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    for name in ("fcfs", "easy"):
        result = msgspec.json.decode((tmp_path / "out" / name / "result.json").read_bytes())
        assert result["engine"]["compiled"]


def test_without_the_library_it_is_said_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(KERNELS, "loaded", None)
    with pytest.raises(InputError, match="not built: install batdispatch again where there is a C compiler"):
        execute(spec(), tmp_path / "out")
    assert execute(spec(compiled="auto"), tmp_path / "out")["engine"]["compiled"] is None


def test_a_compiled_run_reads_no_object_per_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workload_file.WorkloadFile, "workload", None)
    files = InputFiles()
    for dispatcher in ("fcfs", "easy"):
        execute(spec(dispatcher=dispatcher), tmp_path / dispatcher, files=files)
        # And reads the jobs once.
        monkeypatch.setattr(workload_file, "read_contents", None)
        monkeypatch.setattr(workload_file, "columns_of", None)


def test_runs_in_a_kernel_and_in_python_share_what_was_read(tmp_path: Path) -> None:
    demo = msgspec.json.decode(Path(DEMO).read_bytes())
    for number, each in enumerate(demo["jobs"]):
        each["user"] = f"u{number % 5}"
    path = tmp_path / "w.json"
    path.write_bytes(msgspec.json.encode(demo))
    expected = execute(spec(workload=str(path), compiled="never"), tmp_path / "alone")
    metrics = {name: value for name, value in expected["metrics"].items() if not name.startswith("decisions_")}
    assert metrics["nb_users"] == 5
    for order in (("always", "never"), ("never", "always")):
        files = InputFiles()
        for name in (*order, *order):
            found = execute(spec(workload=str(path), compiled=name), tmp_path / "out", files=files)
            assert {name: found["metrics"][name] for name in metrics} == metrics
            assert bool(found["engine"]["compiled"]) == (name == "always")
            assert found["workload"] == expected["workload"]


def test_a_workload_from_a_pipe_is_read_once(tmp_path: Path) -> None:
    pipe = tmp_path / "w.json"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(Path(DEMO).read_bytes()))
    writer.start()
    result = execute(spec(workload=str(pipe)), tmp_path / "out")
    writer.join()
    assert result["engine"]["compiled"]


def test_a_workload_that_changes_between_two_readings_is_refused(tmp_path: Path) -> None:
    files, path = InputFiles(), tmp_path / "w.json"
    path.write_bytes(Path(DEMO).read_bytes())
    execute(spec(workload=str(path)), tmp_path / "out", files=files)
    path.write_bytes(Path(DEMO).read_bytes() + b"\n")
    with pytest.raises(InputError, match="has changed since"):
        execute(spec(workload=str(path), compiled="never"), tmp_path / "out", files=files)


def test_a_kernel_that_stops_leaves_the_run_to_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second job's hosts are free for 9 ms less than it may run: the plan cuts its place."""
    jobs = [
        {"id": "1", "subtime": 0, "res": 2, "walltime": 10, "profile": "d"},
        {"id": "2", "subtime": 1, "res": 3, "walltime": 5, "profile": "d"},
        {"id": "3", "subtime": 2, "res": 1, "walltime": 8.009, "profile": "d"},
    ]
    workload, platform = tmp_path / "w.json", tmp_path / "p.xml"
    workload.write_bytes(
        msgspec.json.encode({"nb_res": 3, "jobs": jobs, "profiles": {"d": {"type": "delay", "delay": 20}}})
    )
    made = CliRunner().invoke(cli, ["platform", "generate", "flat", "--hosts", "3", "-o", str(platform)])
    assert made.exit_code == 0, made.output
    given = {"workload": str(workload), "platform": str(platform), "dispatcher": "conservative"}
    with pytest.raises(InputError, match="too short for a job by less than the tolerance"):
        execute(spec(**given), tmp_path / "always")
    monkeypatch.setattr(reasons, "FEW", 1)
    result = execute(spec(**given, compiled="auto"), tmp_path / "auto")
    assert "too short" in result["engine"]["not_compiled"]
    assert len((tmp_path / "auto" / "jobs.csv").read_text().splitlines()) == 4
    assert not list((tmp_path / "auto").glob("*.partial"))
