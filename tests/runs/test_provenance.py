"""``compare`` keeps whole runs of the same command and inputs, and makes all others."""

import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from batdispatch.core.errors import InputError
from batdispatch.core.line import registry
from batdispatch.inputs.folders import MARK, Claim
from batdispatch.results.runs import find_runs
from batdispatch.runs import provenance
from batdispatch.runs.compare import compare
from batdispatch.runs.listener import Listener
from batdispatch.runs.run import execute, is_made
from batdispatch.runs.spec import RunSpec

ROOT = Path(__file__).parents[2]
RECORDINGS = ROOT / "tests" / "conformance" / "recordings"


@pytest.fixture
def spec(tmp_path: Path) -> RunSpec:
    for name in ("platforms/four.xml", "workloads/delay.json"):
        shutil.copy(RECORDINGS / name, tmp_path)
    events = tmp_path / "events.txt"
    events.write_text(
        '{"type": "machine_unavailable", "timestamp": 1, "resources": "0"}\n'
        '{"type": "machine_available", "timestamp": 2, "resources": "0"}\n'
    )
    return RunSpec(
        platform=str(tmp_path / "four.xml"),
        workload=str(tmp_path / "delay.json"),
        dispatcher="easy",
        options={"ordering": "sjf"},
        external_events=str(events),
    )


#: Field of a spec -> another value; of every field there is one.
OTHER: dict[str, Any] = {
    "platform": "four2.xml",
    "workload": "delay2.json",
    "dispatcher": "conservative",
    "options": {"ordering": "ljf"},
    "decision_time": 1.0,
    "decision_clock": "cpu",
    "seed": 1,
    "master_host": "n0",
    "external_events": None,
    "ties": "apart",
    "record": False,
    "simgrid": "always",
    "engine": "batsim4",
    "batsim": "/opt/batsim",
    "timeout": 5.0,
}


def test_a_run_is_kept_only_if_all_that_it_was_made_from_is_the_same(spec: RunSpec, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert not is_made(spec, out)
    execute(spec, out)
    assert is_made(spec, out)
    for name in ("four.xml", "delay.json"):
        shutil.copy(tmp_path / name, tmp_path / name.replace(".", "2."))
    for field in msgspec.structs.fields(RunSpec):
        # A field that is new in a RunSpec counts by itself.
        value = OTHER.get(field.name, "another")
        value = str(tmp_path / value) if field.name in ("platform", "workload") else value
        assert not is_made(msgspec.structs.replace(spec, **{field.name: value}), out), field.name
    assert is_made(spec, out)


@pytest.mark.parametrize("name", ["four.xml", "delay.json", "events.txt"])
def test_another_content_of_an_input_is_noticed(name: str, spec: RunSpec, tmp_path: Path) -> None:
    execute(spec, tmp_path / "out")
    with (tmp_path / name).open("a") as file:
        file.write("\n")
    assert not is_made(spec, tmp_path / "out")


@pytest.mark.parametrize("fact", ["_code", "_version", "libraries"])
def test_other_code_is_noticed(fact: str, spec: RunSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    execute(spec, tmp_path / "out")
    other = {"simgrid": "other"} if fact == "libraries" else "other"
    monkeypatch.setattr(provenance, fact, lambda *_: other)
    assert not is_made(spec, tmp_path / "out")


def test_the_code_is_that_of_the_package_but_its_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = Path(shutil.copytree(ROOT / "schedulers" / "batdispatch", tmp_path / "batdispatch"))
    before = provenance._code()
    monkeypatch.setattr(provenance.batdispatch, "__file__", str(package / "__init__.py"))
    provenance._code.cache_clear()
    assert provenance._code() == before
    for file, same in (("cli/run.py", True), ("core/line/session.py", False)):
        with (package / file).open("a") as text:
            text.write("\n")
        provenance._code.cache_clear()
        assert (provenance._code() == before) is same
    provenance._code.cache_clear()


@pytest.mark.parametrize("gone", ["jobs.csv", "decisions.jsonl", "schedule.csv"])
def test_a_run_that_is_not_whole_is_made_anew(gone: str, spec: RunSpec, tmp_path: Path) -> None:
    execute(spec, tmp_path / "out")
    content = (tmp_path / "out" / gone).read_bytes()
    (tmp_path / "out" / gone).unlink()
    assert not is_made(spec, tmp_path / "out")
    (tmp_path / "out" / gone).write_bytes(content + b" ")
    assert not is_made(spec, tmp_path / "out")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("easy", None),
        ("easy[placement=contiguous[wrap=true],ordering=sjf]", None),
        ("attempts[dispatcher=easy,law=tnorm:0,20,8,2]", None),
        ("own.py:Mine", "own.py:Mine"),
        ("attempts[dispatcher=package.module:Mine[a=1]]", "package.module:Mine"),
        ("easy[placement=/tmp/own.py:Strided[step=3]]", "/tmp/own.py:Strided"),
        ("strange", "strange"),
        ("attempts[dispatcher=strange]", "strange"),
    ],
)
def test_code_of_others_is_found_at_every_depth(text: str, found: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib.metadata import EntryPoint, EntryPoints

    points = EntryPoints([EntryPoint("strange", "somebody.elses:Dispatcher", "batdispatch.dispatchers")])
    monkeypatch.setattr(registry, "announcements", lambda: points)
    assert next(iter(provenance.others_names(text)), None) == found


def test_a_dispatcher_of_ones_own_is_run_again(spec: RunSpec, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("from batdispatch.dispatchers.backfilling.easy import Easy as Own\n")
    own = msgspec.structs.replace(spec, dispatcher=f"{tmp_path / 'own.py'}:Own")
    execute(own, tmp_path / "out")
    assert not is_made(own, tmp_path / "out")


class Kept(Listener):
    def __init__(self, labels: list[str]) -> None:
        self._labels = labels

    def kept(self, labels: Sequence[str]) -> None:
        self._labels.extend(labels)


def published(folder: Path) -> int:
    return (folder / "result.json").stat().st_ino


def test_a_comparison_says_what_it_keeps_and_makes_the_rest(spec: RunSpec, tmp_path: Path) -> None:
    out = tmp_path / "out"
    other = msgspec.structs.replace(spec, dispatcher="filler", options={})
    execute(spec, out / spec.label)
    before = published(out / spec.label)
    told: list[str] = []
    folders, failures = compare([other, spec], out, listener=Kept(told))
    assert ([folder.name for folder in folders], failures) == (["filler", spec.label], {})
    assert (told, published(out / spec.label)) == ([spec.label], before)
    told.clear()
    compare([spec], out, listener=Kept(told), fresh=True)
    assert told == []
    assert published(out / spec.label) != before


def fail(folders: list[Path], failures: dict[str, str]) -> None:
    raise ZeroDivisionError


def test_a_comparison_that_stops_before_its_report_is_unfinished_if_it_made_a_run(
    spec: RunSpec, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    with pytest.raises(ZeroDivisionError):
        compare([spec], out, conclude=fail)
    with pytest.raises(InputError, match="is unfinished"):
        find_runs([out])
    compare([spec], out)
    with pytest.raises(ZeroDivisionError):
        compare([spec], out, conclude=fail)
    assert find_runs([out]) == [out / spec.label]


def test_a_run_makes_anew_what_is_there(spec: RunSpec, tmp_path: Path) -> None:
    execute(spec, tmp_path / "out")
    before = published(tmp_path / "out")
    execute(spec, tmp_path / "out")
    assert published(tmp_path / "out") != before


def test_a_folder_into_which_another_runs_is_left_alone(spec: RunSpec, tmp_path: Path) -> None:
    out = tmp_path / "out"
    execute(spec, out)
    before = published(out)
    with Claim(out):
        for write in (lambda: execute(spec, out), lambda: compare([spec], out)):
            with pytest.raises(
                InputError, match=r"out: is being written by process \d+ on .*: two runs into one folder"
            ):
                write()
    assert published(out) == before


WAITING = """
import os, time
from pathlib import Path
from batdispatch.core.line.dispatcher import Dispatcher
class Waiting(Dispatcher):
    def decide(self, ledger):
        Path(__file__).with_name(f"worker-{os.getpid()}").touch()
        time.sleep(60)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="Linux's way to follow a parent into death")
@pytest.mark.parametrize("number", ["KILL", "TERM"])
def test_workers_die_with_their_comparison_which_is_unfinished(number: str, spec: RunSpec, tmp_path: Path) -> None:
    (tmp_path / "waiting.py").write_text(WAITING)
    words = [sys.executable, "-c", "from batdispatch.cli.main import main; main()", "compare", "--jobs", "2"]
    words += ["--platform", spec.platform, "--workload", spec.workload, "--out", str(tmp_path / "out")]
    words += ["--dispatchers", f"{tmp_path / 'waiting.py'}:Waiting,easy[ordering=sjf]"]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as comparison:
        try:
            easy = tmp_path / "out" / "easy,ordering=sjf"
            wait_for(lambda: sorted(tmp_path.glob("worker-*")) and (easy / "result.json").exists())
            wait_for(lambda: not (easy / MARK).exists())
            # The worker of `easy` may have ended, since no task waits for it.
            children = children_of(comparison.pid)
            assert children
            subprocess.run(["kill", f"-{number}", str(comparison.pid)], check=True)
        except BaseException:
            # Leaving waits for the process, which waits for its dispatcher.
            comparison.kill()
            raise
    assert wait_for(lambda: not any(map(alive, children)))
    # The run that had ended is whole; the comparison is not.
    with pytest.raises(InputError, match="out: is unfinished"):
        find_runs([tmp_path / "out"])
    assert find_runs([easy]) == [easy]
    assert (tmp_path / "out" / "waiting").exists() is (number == "KILL")


def wait_for(ready: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found = ready()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError("it does not come about")


def stat(pid: int) -> list[str]:
    """State, parent and so on of a process; of none that it is dead."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return ["X", "0"]


def alive(pid: int) -> bool:
    return stat(pid)[0] not in "XZ"


def children_of(parent: int) -> list[int]:
    pids = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    return [pid for pid in pids if stat(pid)[1] == str(parent) and alive(pid)]
