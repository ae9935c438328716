"""Calls from Python: they do what the commands do, in the same words, also with objects in place of files."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import threading
import types
import warnings
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner

import batdispatch as bd
from batdispatch.api.listeners import NotebookListener, PythonListener, default_listener
from batdispatch.cli.main import cli
from batdispatch.core.jobs.job_table import COLUMNS
from batdispatch.runs.run import check_known_elsewhere
from small_log import BEGIN, write_log

RECORDINGS = Path(__file__).parents[1] / "conformance" / "recordings"
PLATFORM = RECORDINGS / "platforms" / "four.xml"
WORKLOAD = RECORDINGS / "workloads" / "delay.json"
#: Files of a run in which nothing is measured by a clock.
SAME = ("jobs.csv", "machine_states.csv", "decisions.jsonl")


class Eager(bd.Dispatcher):
    """Starts what fits, in the order of arrival."""

    def __init__(self, options: bd.Options | None = None, seed: int = 0) -> None:
        super().__init__(options, seed)
        self.decisions = 0

    def decide(self, ledger: bd.Ledger) -> None:
        self.decisions += 1
        for job in list(ledger.queue.values()):
            if (place := ledger.place(job)) is not None:
                ledger.start(job, place)


class Broken(Eager):
    """Knows no better."""

    def decide(self, ledger: bd.Ledger) -> None:
        raise ValueError("seven is no time")


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("log") / "log.swf"
    write_log(path, 60)
    return path


def command(*words: object) -> str:
    """Return what a command that is refused says."""
    done = CliRunner().invoke(cli, [str(word) for word in words])
    assert isinstance(done.exception, bd.InputError), done.output
    return str(done.exception)


def test_a_run_writes_what_the_command_writes(tmp_path: Path) -> None:
    words = ["run", "--platform", PLATFORM, "--workload", WORKLOAD, "--dispatcher", "easy[ordering=sjf]", "--seed", 3]
    done = CliRunner().invoke(cli, [*map(str, words), "--out", str(tmp_path / "command")])
    assert done.exit_code == 0, done.output
    run = bd.run(WORKLOAD, "easy", options={"ordering": "sjf"}, platform=PLATFORM, seed=3, out=tmp_path / "python")
    for name in SAME:
        assert (tmp_path / "python" / name).read_bytes() == (tmp_path / "command" / name).read_bytes(), name
    told = json.loads((tmp_path / "command" / "result.json").read_bytes())
    for key in ("command", "made_from", "options", "platform", "workload"):
        assert run.result[key] == told[key], key
    assert {name: run.metrics[name] for name in ("makespan", "mean_waiting_time")} == {
        name: told["metrics"][name] for name in ("makespan", "mean_waiting_time")
    }


def test_jobs_have_the_columns_of_their_file_and_what_the_workload_says(log: Path) -> None:
    comparison = bd.compare(log, ["easy", "fcfs"], processes=1)
    assert list(comparison) == ["easy", "fcfs"]
    jobs = comparison["easy"].jobs
    told = ["user", "queue", "partition", "submission_date", "starting_date", "finish_date"]
    assert list(jobs.columns) == [*COLUMNS, "segments", *told]
    assert list(comparison.jobs.columns) == ["run", *jobs.columns]
    third = jobs.set_index("job_id").loc["3"]
    assert third["user"] == "3"
    # Times are seconds from the first job of the log on, and dates are those of the log.
    assert third["submission_time"] == 120
    assert third["submission_date"] == pd.Timestamp(BEGIN + 180, unit="s", tz="UTC")
    assert (jobs["starting_date"] - jobs["submission_date"]).dt.total_seconds().tolist() == jobs[
        "waiting_time"
    ].tolist()
    assert comparison.metrics.loc["fcfs", "nb_jobs_success"] == 60
    assert comparison.notes[0].endswith("100 equal hosts: MaxProcs 100 in the log's header.")
    assert comparison["easy"].segments.columns.tolist() == list(COLUMNS)


def test_results_without_a_folder_of_their_own_go_when_nobody_holds_them() -> None:
    run = bd.run(WORKLOAD, "fcfs", platform=PLATFORM)
    folder = run.folder
    assert (folder / "jobs.csv").is_file()
    del run
    gc.collect()
    assert not folder.exists()


def test_objects_stand_for_files(log: Path, tmp_path: Path) -> None:
    by_file = bd.run(WORKLOAD, "easy", platform=PLATFORM)
    by_object = bd.run(bd.read_workload(WORKLOAD), "easy", platform=bd.read_platform(PLATFORM))
    assert (by_object.folder / "jobs.csv").read_bytes() == (by_file.folder / "jobs.csv").read_bytes()
    part = bd.read_workload(WORKLOAD).part(0, 2)
    assert len(bd.run(part, "easy", platform=4).jobs) == 2
    assert by_object.check().clean


def test_a_platform_that_has_changed_since_it_was_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "p.xml"
    path.write_bytes(PLATFORM.read_bytes())
    platform = bd.read_platform(path)
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(bd.InputError, match=r"p\.xml: has changed since it was read"):
        bd.run(WORKLOAD, "easy", platform=platform)


def test_an_object_of_a_class_of_ones_own_decides_and_stays_as_it_is() -> None:
    own = Eager()
    alone = bd.run(WORKLOAD, own, platform=PLATFORM)
    comparison = bd.compare(WORKLOAD, ["filler", own], platform=PLATFORM, processes=1)
    assert list(comparison) == ["filler", "eager"]
    assert own.decisions == 0
    assert alone.result["dispatcher"] == f"{__name__}:Eager"
    rows = [(run.folder / "jobs.csv").read_bytes() for run in (alone, comparison["eager"])]
    assert rows[0] == rows[1]


def test_a_class_that_no_other_process_knows_is_refused_where_simgrid_needs_one() -> None:
    class Hidden(Eager):
        """Nobody can import it."""

    check_known_elsewhere(Eager())
    with pytest.raises(bd.InputError, match=r"Hidden is not known to the process .* name it as file\.py:Hidden"):
        check_known_elsewhere(Hidden())


def test_a_run_that_fails_is_named_and_does_not_take_the_others_with_it() -> None:
    with pytest.warns(UserWarning, match=r"broken failed: .*ValueError: seven is no time \(.*test_calls\.py"):
        comparison = bd.compare(WORKLOAD, ["fcfs", Broken()], platform=PLATFORM, processes=1)
    assert list(comparison) == ["fcfs"]
    with pytest.raises(bd.SimulationError, match=r"broken failed: .*seven is no time"):
        comparison["broken"]
    with warnings.catch_warnings(), pytest.raises(bd.SimulationError, match="seven is no time"):
        bd.run(WORKLOAD, Broken(), platform=PLATFORM)
    with pytest.warns(UserWarning, match="broken"), pytest.raises(bd.SimulationError, match="no run finished"):
        bd.compare(WORKLOAD, [Broken()], platform=PLATFORM)


@pytest.mark.parametrize(
    ("words", "call"),
    [
        (["--dispatcher", "eays"], {"dispatcher": "eays"}),
        (["--dispatcher", "easy[ordering=sjfs]"], {"dispatcher": "easy[ordering=sjfs]"}),
        (["--dispatcher", "easy[ordering"], {"dispatcher": "easy[ordering"}),
        (
            ["--dispatcher", "easy[ordering=sjf]", "--set", "ordering=ljf"],
            {"dispatcher": "easy[ordering=sjf]", "options": {"ordering": "ljf"}},
        ),
        (["--dispatcher", "easy", "--out", __file__], {"dispatcher": "easy", "out": __file__}),
        (["--dispatcher", "easy", "--batsim", "batsim"], {"dispatcher": "easy", "batsim": "batsim"}),
        (["--dispatcher", "easy", "--events", "none.txt"], {"dispatcher": "easy", "external_events": "none.txt"}),
    ],
)
def test_errors_have_the_words_of_the_command(words: list[str], call: dict[str, Any], tmp_path: Path) -> None:
    refused = command("run", "--platform", PLATFORM, "--workload", WORKLOAD, *words)
    with pytest.raises(bd.InputError) as problem:
        bd.run(WORKLOAD, platform=PLATFORM, **call)
    assert str(problem.value) == refused


def test_settings_are_checked_and_the_nearest_name_is_proposed(log: Path) -> None:
    for settings, said in (
        ({"sed": 1}, "there is no setting 'sed': did you mean 'seed'?"),
        ({"seed": "one"}, "option --seed: found 'one', expected a whole number"),
        ({"decision_time": -1.0}, "option --decision-time: found -1.0, expected seconds, or None for the measured"),
        ({"overrun": "extend"}, "option --overrun: is for logs, and this is a Batsim workload"),
    ):
        with pytest.raises(bd.InputError) as problem:
            bd.run(WORKLOAD, "easy", platform=PLATFORM, **settings)
        assert str(problem.value).startswith(said)
    assert len(bd.run(log, "easy", platform=100, select=["first=10"]).jobs) == 10


def test_help_says_what_each_setting_does() -> None:
    for function, text in (
        (
            bd.run,
            "seed: Seed all random choices with this number. The same seed gives the same bytes. The default is 0.",
        ),
        (bd.compare, "slice_jobs: Put N jobs into each slice. By default, at most 1,000."),
        (
            bd.serve,
            "allow_remote: Let other machines connect. The protocol has no authentication. The default is False.",
        ),
    ):
        assert f"\n    {text}\n" in (function.__doc__ or "")


def test_replicates_say_whom_to_choose(log: Path, tmp_path: Path) -> None:
    answer = bd.compare(log, ["easy", "fcfs"], replicates=2, processes=1, out=tmp_path / "out")
    assert "no choice can be recommended" in str(answer)
    assert answer.table.shape[0] == 4
    assert answer.page.is_file()
    assert answer.answers["workloads"][0]["answers"][0]["metric"] == "mean_waiting_time"
    with pytest.raises(bd.InputError, match=r"^option --replicates: found 0, expected a whole number at least 1"):
        bd.replicate(log, "easy,fcfs", 0)
    for settings, said in (
        ({"weeks": 3, "replicates": 2}, "option --weeks: is for --replicate-by sessions, and this is windows"),
        ({"slice_jobs": 3}, "option --slice-jobs: needs --replicates N"),
    ):
        with pytest.raises(bd.InputError, match=f"^{said}$"):
            bd.compare(log, "easy,fcfs", **settings)


def test_runs_that_are_there_are_kept_checked_and_reported(tmp_path: Path) -> None:
    class KeptLabels(bd.Listener):
        def kept(self, labels: Any) -> None:
            kept.extend(labels)

    kept: list[str] = []
    for _ in range(2):
        comparison = bd.compare(
            WORKLOAD, "easy,fcfs", platform=PLATFORM, out=tmp_path / "out", processes=1, listener=KeptLabels()
        )
    assert kept == ["easy", "fcfs"]
    page = bd.report(tmp_path / "out", page=tmp_path / "page.html", explain=False)
    assert Path(page).read_text().startswith("<!doctype html>")
    # The room of this name has been imported by now.
    assert callable(bd.report)
    assert [run["label"] for run in page.facts["runs"]] == ["easy", "fcfs"]
    assert bd.check(tmp_path / "out", replay="never").violations == []
    (tmp_path / "out" / "easy" / "schedule.csv").unlink()
    audit = comparison.check()
    assert not audit.clean
    assert {path.name for path, _ in audit.violations} == {"easy"}
    assert set(bd.load(tmp_path / "out" / "fcfs")) == {"fcfs"}


def test_a_campaign_gives_its_table_and_its_runs(tmp_path: Path) -> None:
    file = tmp_path / "campaign.yaml"
    file.write_text(
        f"name: two\nplatforms: {{four: {PLATFORM}}}\nworkloads: {{delay: {WORKLOAD}}}\ndispatchers: [fcfs, easy]\n"
    )
    results = bd.campaign(file, out=tmp_path / "campaigns", processes=1)
    assert results.failures == {}
    assert results.table["dispatcher"].tolist() == ["fcfs", "easy"]
    assert [run.result["dispatcher"] for run in results.runs.values()] == ["fcfs", "easy"]
    with pytest.raises(bd.InputError, match="no part is called 'none'"):
        bd.campaign(file, parts=["none"])


def test_an_object_answers_a_simulator_from_another_thread(tmp_path: Path) -> None:
    served: list[Any] = []
    endpoint = f"ipc://{tmp_path}/socket"
    server = threading.Thread(target=lambda: served.append(bd.serve(Eager(), socket=endpoint)), daemon=True)
    server.start()
    words = ["engine", "--platform", PLATFORM, "--workload", WORKLOAD, "--socket", endpoint, "--out", tmp_path / "out"]
    done = CliRunner().invoke(cli, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    server.join(60)
    assert (served[0].messages > 0, served[0].stopped_by) == (True, None)
    here = bd.run(WORKLOAD, Eager(), platform=PLATFORM)
    assert (tmp_path / "out" / "jobs.csv").read_bytes() == (here.folder / "jobs.csv").read_bytes()


def test_a_script_without_a_guard_is_run_once(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        f"import batdispatch as bd\nprint('begun')\n"
        f"print(len(bd.compare({str(WORKLOAD)!r}, ['easy', 'fcfs'], platform={str(PLATFORM)!r})))\n"
    )
    done = subprocess.run([sys.executable, tmp_path / "script.py"], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["begun", "2"]


def test_the_package_shows_what_is_public_and_imports_it_when_it_is_asked_for() -> None:
    assert dir(bd) == sorted(bd.__all__)
    script = "import sys, batdispatch; print(sorted({'numpy', 'pandas', 'click'} & set(sys.modules)), dir(batdispatch))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"[] {sorted(bd.__all__)}"


def test_a_notebook_shows_in_one_place_how_far_the_work_is(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []

    class Handle:
        def update(self, content: dict[str, str], raw: bool) -> None:
            shown.append(content["text/plain"])

    def display(content: dict[str, str], raw: bool, display_id: bool) -> Handle:
        shown.append(content["text/plain"])
        return Handle()

    class ZMQInteractiveShell:
        pass

    modules = {"IPython": types.ModuleType("IPython"), "IPython.display": types.ModuleType("IPython.display")}
    modules["IPython"].get_ipython = ZMQInteractiveShell  # type: ignore[attr-defined]
    modules["IPython.display"].display = display  # type: ignore[attr-defined]
    assert type(default_listener()) is PythonListener
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    listener = default_listener()
    assert isinstance(listener, NotebookListener)
    bd.run(WORKLOAD, "easy", platform=PLATFORM)
    listener.progress("easy", 1, 4)
    listener.progress("fcfs", 4, 4)
    listener.progress("easy", 4, 4)
    assert shown[-2:] == ["easy: 25 % done", ""]


@pytest.mark.parametrize(("text", "count"), [("first=10", 10), ("first=3", 3)])
def test_a_text_selects_as_a_list_of_it_does(log: Path, text: str, count: int) -> None:
    # Taken letter by letter, or for no selection at all, it would be refused, or leave all 60 jobs.
    jobs = bd.run(log, "easy", platform=100, select=text).jobs
    assert len(jobs) == count
    assert jobs.equals(bd.run(log, "easy", platform=100, select=[text]).jobs)
