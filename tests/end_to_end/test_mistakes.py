"""Mistyped arguments, broken files, bad dispatchers: one readable message, exit 2 or 1, nothing half-written."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from batdispatch.cli.main import main

PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="AS0" routing="Full">
    <cluster id="c" prefix="n" radical="0-3" suffix="" speed="1Gf" bw="1GBps" lat="1us"/>
  </zone>
</platform>
"""
WORKLOAD = """{"nb_res": 4,
 "jobs": [{"id": "a", "subtime": 0, "res": 2, "profile": "p", "walltime": 20},
          {"id": "b", "subtime": 1, "res": 4, "profile": "p", "walltime": 20}],
 "profiles": {"p": {"type": "delay", "delay": 10}}}
"""
REJECT = "\n        for j in list(c.queue.values()): c.reject(j, 'x')"
#: Class name -> body, the expected exit status, and a part of the message.
DISPATCHERS = {
    "Raises": ("def decide(self, c): raise ValueError('own mistake')", 1, "ValueError: own mistake (own.py, line"),
    "OnSubmit": ("def on_submit(self, c, job): {}['k']\n    def decide(self, c): pass", 1, "KeyError: 'k' (own.py"),
    "Begin": ("def begin(self, c): 1 / 0\n    def decide(self, c): pass", 1, "failed at 0.000000 s: ZeroDivisionError"),
    "Setup": ("def __init__(self): pass\n    def decide(self, c): pass", 2, "cannot be set up: TypeError"),
    "NoSuper": ("def __init__(self, o, s): pass\n    def decide(self, c): pass", 2, "super().__init__"),
    "NotOptions": ("options_type = dict\n    def decide(self, c): pass", 2, "expected a subclass of Options"),
    "NoDecide": ("pass", 2, "does not implement decide"),
    "Never": ("def decide(self, c): return 42", 1, "neither started nor rejected w0!a, w0!b"),
    "Over": (
        "def decide(self, c):\n        for j in list(c.queue.values()): c.start(j, Allocation((1 << j.units) - 1))",
        1,
        "job w0!b cannot start on 0-3: host 0 (n0) has 0 host free, the job needs 1 there (held by w0!a)",
    ),
    "Text": ("def decide(self, c):\n        for j in list(c.queue.values()): c.start(j, '0-1')", 1, "(own.py, line"),
    "Reason": ("def decide(self, c):\n        for j in list(c.queue.values()): c.reject(j, 7)", 1, "expected a text"),
    "Twice": (
        "def decide(self, c):\n        for j in list(c.queue.values()): c.reject(j, 'x'); c.reject(j, 'y')",
        1,
        "cannot be rejected: it is ended or rejected already",
    ),
    "Exits": ("def decide(self, c): raise SystemExit(0)", 1, "failed at 0.000000 s: SystemExit"),
    "Recurses": ("def decide(self, c): self.decide(c)", 1, "RecursionError"),
    "Past": ("def decide(self, c): c.wake_at(float('nan'))", 1, "not later than now"),
    "Report": (
        f"def report(self): return 5\n    def decide(self, c):{REJECT}",
        1,
        "report() returned 5, expected a dict",
    ),
    "Unwritable": (
        "def report(self): return {'x': object()}\n    def decide(self, c):" + REJECT,
        1,
        "Unwritable failed at",
    ),
}
INPUT = ["--platform", "p.xml", "--workload", "w.json"]
RUN = ["run", *INPUT, "--dispatcher"]
EASY = [*RUN, "easy"]
COMPARE = ["compare", *INPUT, "--dispatchers"]
SERVE = ["serve", "--dispatcher", "easy", "--socket"]
#: Arguments -> part of the message; the exit status is 2.
WRONG = [
    (["rum"], "No such command 'rum': did you mean 'run'?"),
    (["comapre", *INPUT], "No such command 'comapre': did you mean 'compare'?"),
    (["platform", "shwo"], "No such command 'shwo': did you mean 'show'?"),
    (["platform", "generate", "tours"], "No such command 'tours': did you mean 'torus'?"),
    (["run"], "Missing option '--platform'. See batdispatch run --help"),
    (
        [*RUN, "easy", "--seed", "x"],
        "option --seed: found 'x', expected a whole number, at least 0. See batdispatch run --help",
    ),
    (["compare", *INPUT, "--dispatchers", "easy", "--hosts", "4,x"], "option --hosts: '4,x' is not a list"),
    (["compare", *INPUT, "--dispatchers", "easy", "--hosts", "0"], "option --hosts: found 0, expected numbers"),
    ([*RUN, "esy"], "did you mean 'easy'?"),
    ([*RUN, ""], "option --dispatcher: found '', expected NAME"),
    ([*RUN, "own.py"], "names no class, expected own.py:Class"),
    ([*RUN, "own.py:"], "expected module:Class or path/to/file.py:Class"),
    ([*RUN, ":X"], "expected module:Class or path/to/file.py:Class"),
    ([*RUN, "own.py:Nothing"], "own.py has no 'Nothing'"),
    ([*RUN, "absent.py:X"], "there is no file absent.py"),
    ([*RUN, "absent:X"], "No module named 'absent'"),
    ([*RUN, "syntax.py:X"], "SyntaxError: invalid syntax (syntax.py, line 1)"),
    ([*RUN, "exits.py:X"], "cannot be loaded: SystemExit: 4 (exits.py, line 1)"),
    ([*EASY, "--set", "ordering=nope"], "no ordering is called 'nope'"),
    ([*EASY, "--set", "orderin=sjf"], "did you mean 'ordering'?"),
    ([*EASY, "--set", "ordering"], "expected KEY=VALUE"),
    ([*EASY, "--set", "default_walltime=-5"], "is not a number above 0"),
    ([*EASY, "--seed", "-1"], "--seed"),
    ([*EASY, "--decision-time", "soon"], "expected none, measured or seconds"),
    ([*EASY, "--decision-time", "nan"], "expected none, measured or seconds"),
    ([*EASY, "--timeout", "nan"], "no number of seconds"),
    ([*EASY, "--master-host", "nope"], "has no host 'nope'"),
    ([*EASY, "--clock", "batsim"], "has no such host; name it with --master-host"),
    ([*EASY, "--events", "absent"], "absent: cannot be read: No such file or directory"),
    ([*EASY, "--events", "folder"], "folder: cannot be read: Is a directory"),
    ([*EASY, "--events", "text"], "text, line 1: not a JSON object"),
    ([*EASY, "--out", "text"], "text is a file, expected a folder"),
    ([*EASY, "--out", "text/below"], "text/below: Not a directory"),
    ([*EASY, "--batsim", "x"], "needs --engine batsim4 or batsim5"),
    (["run", "--platform", "folder", "--workload", "w.json", "--dispatcher", "easy"], "folder: cannot be read"),
    (["run", "--platform", "w.json", "--workload", "w.json", "--dispatcher", "easy"], "w.json: line 1: is no XML"),
    (["run", "--platform", "p.xml", "--workload", "p.xml", "--dispatcher", "easy"], "p.xml, line 1: not JSON"),
    (["run", "--platform", "p.xml", "--workload", "empty", "--dispatcher", "easy"], "empty, workload: not JSON"),
    (["run", "--platform", "p.xml", "--workload", "absent", "--dispatcher", "easy"], "absent: cannot be read"),
    ([*COMPARE, ""], "found '', expected NAME"),
    ([*COMPARE, "easy,"], "found '', expected NAME"),
    ([*COMPARE, "easy,easy"], "stands twice"),
    ([*COMPARE, "easy["], "found 'easy[', expected NAME"),
    ([*COMPARE, "easy[x]"], "expected key=value"),
    ([*COMPARE, "fcfs", "--set", "foo=1"], "no dispatcher here has an option 'foo'"),
    ([*COMPARE, "fcfs", "--jobs", "0"], "--jobs"),
    ([*COMPARE, "fcfs", "--out", "text"], "text is a file, expected a folder"),
    ([*SERVE, "nowhere"], "expected tcp://ADDRESS:PORT"),
    ([*SERVE, "tcp://0.0.0.0:28000"], "can be reached from other machines"),
    ([*SERVE, "ipc:///absent/x"], "cannot be bound"),
    ([*SERVE, "tcp://127.0.0.1:*", "--timeout", "nan"], "no number of seconds"),
    ([*SERVE, "tcp://127.0.0.1:*", "--record", "absent/x"], "No such file or directory"),
    ([*SERVE, "tcp://127.0.0.1:*", "--record", "folder"], "is a directory"),
    (["engine", *INPUT, "--socket", "nowhere"], "expected tcp://ADDRESS:PORT"),
    (["engine", *INPUT, "--timeout", "nan"], "no number of seconds"),
    (["replay", "absent"], "does not exist"),
    (["replay", "folder"], "folder: holds neither decisions.jsonl nor jobs.csv, expected a run's folder"),
    (["replay", "text"], "text, line 1"),
    (["replay", "empty"], "is empty, expected a recorded exchange"),
    (["convert", "absent", "-o", "o.json"], "absent: cannot be read"),
    (["convert", "text", "-o", "o.json"], "the format is none we know"),
    (["convert", "w.json", "-o", "o.json"], "looks like JSON"),
    (["convert", "w.json", "-o", "folder", "--to", "batsim5"], "is a folder, expected the name of a file"),
    (["convert", "w.json", "-o", "absent/o.json", "--to", "batsim5"], "there is no folder absent"),
    (["convert", "text", "-o", "o.json", "--select", "first=0"], "expected a whole number from 1"),
    (["generate", "lubin"], "No such command 'lubin': did you mean 'lublin'?"),
    (
        ["run", "--platform", "p.xml", "--workload", "log.swf", "--dispatcher", "easy"],
        "batdispatch convert log.swf",
    ),
    (["run", "--platform", "p.xml", "--workload", "unnamed", "--dispatcher", "easy"], "looks like a log (swf)"),
    (["generate", "lublin", "-o", "o.json", "--seed", "1", "--jobs", "-1", "--hosts", "8"], "jobs"),
    (["generate", "lublin", "-o", "o.json", "--seed", "1", "--jobs", "5", "--hosts", "0"], "hosts"),
    (["platform", "generate", "flat", "--hosts", "0", "-o", "o.xml"], "is not between 1 and"),
    (["platform", "generate", "flat", "--hosts", "3", "-o", "folder"], "is a folder"),
    (["platform", "show", "text"], "is no XML"),
    (["report", "absent"], "is not a folder"),
    (["report", "text"], "expected a run's folder or one that holds several\n"),
    (
        [*COMPARE, "fcfs", "--jobs", "x"],
        "option --jobs: found 'x', expected a whole number, at least 1 and at most 64. See",
    ),
    (["report", "folder"], "holds no jobs.csv"),
    (["check", "folder"], "holds no jobs.csv"),
    (["check", "text"], "is not a folder"),
    (["list", "nope"], "is not one of"),
    (["explain", "nope"], "nothing is called 'nope'"),
    (["requests", "--law", "tnorm:1"], "expected tnorm:LOWER,UPPER,MU,SIGMA"),
    (["requests", "--law", "tnorm:0,20,8,2", "--zeta", "nan"], "expected 0 to 1"),
]


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a platform, a workload and things that are neither, in which the command runs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BATDISPATCH_DEBUG", raising=False)
    Path("p.xml").write_text(PLATFORM)
    Path("w.json").write_text(WORKLOAD)
    Path("tasks.json").write_text(WORKLOAD.replace('"id": "a"', '"id": "a", "runtimes": {"cpu": -1}'))
    Path("text").write_text("hello\n")
    Path("empty").write_text("")
    for log in ("log.swf", "unnamed"):
        Path(log).write_text("; UnixStartTime: 0\n1 0 5 10 4 -1 -1 4 20 -1 1 3 1 -1 -1 -1 -1 -1\n")
    Path("folder").mkdir()
    Path("syntax.py").write_text("def f(:\n")
    Path("exits.py").write_text("raise SystemExit(4)\n")
    head = "from batdispatch import Allocation, Dispatcher\n"
    bodies = [f"class {name}(Dispatcher):\n    {body}\n" for name, (body, _, _) in DISPATCHERS.items()]
    Path("own.py").write_text(head + "".join(bodies))
    return tmp_path


def status_of(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> object:
    """Run the command in this process and return its exit status."""
    monkeypatch.setattr(sys, "argv", ["batdispatch", *arguments])
    with pytest.raises(SystemExit) as stop:
        main()
    return stop.value.code


def files() -> set[str]:
    """Return the files and folders that are there, those that Python caches aside."""
    return {str(path) for path in Path().rglob("*") if "__pycache__" not in path.parts}


@pytest.mark.parametrize(("arguments", "part"), WRONG, ids=lambda value: " ".join(value) if value else None)
def test_wrong_argument_is_one_message_and_writes_nothing(
    arguments: list[str], part: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = files()
    assert status_of(arguments, monkeypatch) == 2
    said = capsys.readouterr().err
    assert part in said
    assert said.splitlines()[-1].startswith("batdispatch: error: ")
    assert "Traceback" not in said
    assert files() == before


@pytest.mark.parametrize("name", DISPATCHERS)
def test_dispatcher_that_fails_is_named_with_its_line(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _, status, part = DISPATCHERS[name]
    assert status_of([*RUN, f"own.py:{name}", "--out", "out"], monkeypatch) == status
    said = capsys.readouterr().err
    assert part in said
    assert len(said.splitlines()) == 1
    # The recording of a failed run stays, under a name that says so.
    assert {path.name for path in Path("out").glob("*")} <= {"decisions.jsonl.partial"}


def test_job_that_a_dispatcher_cannot_read_is_named_with_its_file(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tasks = ["run", "--platform", "p.xml", "--workload", "tasks.json", "--dispatcher", "heft"]
    assert status_of(tasks, monkeypatch) == 2
    expected = "tasks.json, job w0!a, field 'runtimes.cpu': found '-1', expected seconds above 0"
    assert expected in capsys.readouterr().err


def test_debugging_shows_the_traceback(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("BATDISPATCH_DEBUG", "1")
    assert status_of([*RUN, "own.py:Raises", "--out", "out"], monkeypatch) == 1
    said = capsys.readouterr().err
    assert "Traceback" in said
    assert "raise ValueError('own mistake')" in said


def test_compare_names_the_one_that_failed_and_reports_the_rest(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status_of([*COMPARE, "own.py:Raises,fcfs", "--out", "out"], monkeypatch) == 1
    shown = capsys.readouterr()
    assert "raises failed: dispatcher Raises failed at 0.000000 s: ValueError: own mistake (own.py" in shown.err
    assert "Traceback" not in shown.err
    assert "out/report/index.html" in shown.out
    assert Path("out/report/index.html").is_file()


def test_nothing_of_an_earlier_run_remains_beside_the_new_one(monkeypatch: pytest.MonkeyPatch) -> None:
    out = Path("out")
    out.mkdir()
    for name in ("units.csv", "decisions.jsonl", "decisions.jsonl.partial", "solver.jsonl", "result.json"):
        (out / name).write_text("of an earlier run")
    assert status_of([*EASY, "--out", "out", "--no-record"], monkeypatch) == 0
    assert {path.name for path in out.iterdir()} == {"jobs.csv", "schedule.csv", "machine_states.csv", "result.json"}
    assert "earlier" not in (out / "result.json").read_text()


def test_failure_leaves_the_earlier_results_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert status_of([*EASY, "--out", "out"], monkeypatch) == 0
    before = {path.name: path.read_bytes() for path in Path("out").iterdir()}
    assert status_of([*RUN, "own.py:Over", "--out", "out", "--no-record"], monkeypatch) == 1
    assert {path.name: path.read_bytes() for path in Path("out").iterdir()} == before


def test_bug_of_ours_is_one_message(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def fail(*_: object) -> None:
        raise KeyError("lost")

    monkeypatch.setattr("batdispatch.cli.list_parts.summaries", fail)
    assert status_of(["list"], monkeypatch) == 1
    said = capsys.readouterr().err
    assert said.startswith("batdispatch: error: this is a bug: KeyError: 'lost'")
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize(("number", "said"), [(signal.SIGINT, "interrupted"), (signal.SIGTERM, "terminated")])
@pytest.mark.parametrize("command", [RUN], ids=["run"])
def test_a_signal_that_a_library_in_c_turns_into_its_own_error_ends_the_command(
    command: list[str], number: signal.Signals, said: str, place: Path
) -> None:
    Path("solving.py").write_text(
        "import os, signal, time\nfrom batdispatch.core.line.dispatcher import Dispatcher\n"
        "class Solving(Dispatcher):\n    def decide(self, c):\n"
        f"        try:\n            os.kill(os.getpid(), {int(number)})\n            time.sleep(60)\n"
        "        except KeyboardInterrupt as stop:\n"
        "            raise SystemError('<built-in function solve> returned a result with an exception set') from stop\n"
    )
    words = [sys.executable, "-c", "from batdispatch.cli.main import main; main()", *command, "solving.py:Solving"]
    heard = ["env", "--default-signal=INT", *words, "--out", "out", "--quiet"]
    done = subprocess.run(heard, capture_output=True, text=True, check=False)
    # The empty line is click's.
    assert (done.returncode, done.stderr.lstrip()) == (128 + number, f"batdispatch: {said}\n")


@pytest.mark.parametrize("command", [[*RUN, "slow.py:Slow"], [*COMPARE, "slow.py:Slow"]], ids=["run", "compare"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupt_leaves_nothing(command: list[str], number: signal.Signals, place: Path) -> None:
    Path("slow.py").write_text(
        "import pathlib, time\nfrom batdispatch.core.line.dispatcher import Dispatcher\n"
        "class Slow(Dispatcher):\n    def decide(self, c):\n"
        "        pathlib.Path('began').touch()\n        time.sleep(60)\n"
    )
    words = [sys.executable, "-c", "from batdispatch.cli.main import main; main()", *command, "--out", "out"]
    # A background job of a shell inherits that SIGINT is ignored.
    heard = ["env", "--default-signal=INT", *words]
    process = subprocess.Popen(heard, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    deadline = time.monotonic() + 60
    while not Path("began").exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    if number == signal.SIGINT:  # As at a terminal: the interrupt reaches the whole group.
        os.killpg(process.pid, number)
    else:  # As from a batch system's or a script's kill.
        process.terminate()
    _, said = process.communicate(timeout=30)
    assert process.returncode == 128 + number, said
    assert said.split() == ["batdispatch:", "interrupted" if number == signal.SIGINT else "terminated"]
    assert list(place.glob("out/**/*")) == []


def test_closed_output_is_no_error() -> None:
    words = f"{sys.executable} -c 'from batdispatch.cli.main import main; main()' list | head -1"
    done = subprocess.run(words, shell=True, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "dispatchers\n"
    assert done.stderr == ""
