"""What the commands import: only a command that uses a large library loads it, so that the others start fast."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from batdispatch.cli.kinds import KINDS, find, names, summaries
from batdispatch.cli.main import cli

RECORDINGS = Path(__file__).parents[1] / "conformance" / "recordings"
#: Libraries that take longer to import than all that the help needs.
LARGE = {"numpy", "pandas", "scipy", "matplotlib", "evalys", "ortools", "rich", "lxml", "jinja2", "zmq"}
#: Runs a command line, and prints which modules were imported.
SCRIPT = """
import json, sys
from batdispatch.cli.main import cli
try:
    cli.main(sys.argv[1:], standalone_mode=False)
except SystemExit:
    pass
print("\\n" + json.dumps(sorted(name for name in sys.modules if name.count(".") <= 2)))
"""


def imported(*words: str) -> set[str]:
    done = subprocess.run([sys.executable, "-c", SCRIPT, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize("words", ["--help", "run --help", "compare --help", "list", "list orderings --json"])
def test_help_and_list_import_no_large_library(words: str) -> None:
    found = imported(*words.split())
    assert found & LARGE == set()
    assert "batdispatch.dispatchers.backfilling" not in found


def test_a_run_imports_nothing_of_frames_reports_solvers_and_sockets(tmp_path: Path) -> None:
    words = ["--platform", f"{RECORDINGS}/platforms/four.xml", "--workload", f"{RECORDINGS}/workloads/delay.json"]
    found = imported("run", *words, "--dispatcher", "easy", "--out", str(tmp_path / "out"))
    unused = {"pandas", "scipy", "matplotlib", "evalys", "ortools", "jinja2", "zmq", "rich", "numpy.random", "numba"}
    assert found & (unused | {"batdispatch.results.frame", "batdispatch.report"}) == set()
    assert {"numpy", "batdispatch.engines.embedded"} <= found


def test_a_report_imports_only_what_draws_it(tmp_path: Path) -> None:
    words = ["--platform", f"{RECORDINGS}/platforms/four.xml", "--workload", f"{RECORDINGS}/workloads/delay.json"]
    found = imported("compare", *words, "--dispatchers", "fcfs,easy", "--out", str(tmp_path / "out"), "--quiet")
    unused = {"pandas", "pyarrow", "evalys", "scipy", "matplotlib.pyplot", "ortools", "zmq", "rich", "numba"}
    assert found & unused == set()
    assert {"matplotlib", "jinja2"} <= found
    again = imported("report", str(tmp_path / "out"), "--output", str(tmp_path / "again.html"))
    assert again & unused == set()


@pytest.mark.parametrize("kind", KINDS)
def test_the_list_says_what_the_classes_say(kind: str) -> None:
    told = {name: (find(kind, name).__doc__ or "").strip().split("\n")[0] for name in names(kind)}
    assert summaries(kind) == told
    assert all(told.values())


def test_a_class_of_another_package_is_imported_and_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib.metadata import EntryPoint, EntryPoints

    points = EntryPoints(
        [
            EntryPoint("theirs", "calendar:Calendar", "batdispatch.orderings"),
            EntryPoint("ours", "batdispatch.parts.ordering.arrival:Fcfs", "batdispatch.orderings"),
        ]
    )
    monkeypatch.setattr("batdispatch.core.line.registry.announcements", lambda: points)
    failed = CliRunner().invoke(cli, ["list", "orderings"], standalone_mode=False)
    assert "'theirs' is not a Ordering class" in str(failed.exception)
