"""Pages of reports as people get them, for tests in a browser: of few runs and of many, and of replicates."""

import functools
import json
import tempfile
from collections.abc import Callable
from itertools import cycle, product
from pathlib import Path

from click.testing import CliRunner

from batdispatch.cli.main import cli
from batdispatch.report.page import write_report
from batdispatch.runs.run import execute
from batdispatch.runs.spec import RunSpec

EXAMPLES = Path(__file__).parents[2] / "schedulers" / "batdispatch" / "examples"
PLATFORM, WORKLOAD = str(EXAMPLES / "flat64.xml"), str(EXAMPLES / "demo64.json")
ORDERINGS = ("fcfs", "sjf", "ljf", "smallest-first", "largest-first", "smallest-area", "largest-area", "wfp3")
#: As many hosts, on a network.
TORUS = str(Path(__file__).parents[2] / "platforms" / "torus444.xml")
#: 24 dispatchers.
MANY = [f"{name}[ordering={ordering}]" for name, ordering in product(("easy", "filler", "conservative"), ORDERINGS)]


_DRAWN = tempfile.TemporaryDirectory(prefix="pages-")


@functools.cache
def drawn(write: Callable[[Path], Path]) -> Path:
    """Return a page that tests only look at, drawn once for all of them."""
    return write(Path(tempfile.mkdtemp(dir=_DRAWN.name)) / "runs")


def demonstration(folder: Path) -> Path:
    """Write the page of the demonstration's three runs, recorded, and return its path."""
    return _invoked(["demo", "--out", str(folder)], folder)


def replicates(folder: Path) -> Path:
    """Write the page that compares three dispatchers on six slices of a workload, and return its path."""
    where = ["--platform", PLATFORM, "--workload", WORKLOAD, "--dispatchers", "fcfs,easy,conservative"]
    return _invoked(
        [
            "compare",
            *where,
            "--replicates",
            "6",
            "--replicate-by",
            "slices",
            "--slice-jobs",
            "40",
            "--out",
            str(folder),
        ],
        folder,
    )


@functools.cache
def of_runs(*dispatchers: str, platform: str = PLATFORM, workload: str = WORKLOAD) -> Callable[[Path], Path]:
    """Return what writes the page of some recorded runs into a folder and returns its path."""

    def write(folder: Path) -> Path:
        folders = [folder / dispatcher for dispatcher in dispatchers]
        for dispatcher, each in zip(dispatchers, folders, strict=True):
            execute(RunSpec(platform=platform, workload=workload, dispatcher=dispatcher), each)
        return write_report(folders, folder / "page.html")

    return write


def with_users(folder: Path) -> Path:
    """Write the page of fcfs and easy, whose jobs are those of three users in turn, and return its path."""
    workload = json.loads(Path(WORKLOAD).read_bytes())
    for job, user in zip(workload["jobs"], cycle(("ada", "ben", "cyd")), strict=False):
        job["user"] = user
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "workload.json").write_text(json.dumps(workload))
    return of_runs("fcfs", "easy", workload=str(folder / "workload.json"))(folder)


def _invoked(arguments: list[str], folder: Path) -> Path:
    done = CliRunner().invoke(cli, arguments, standalone_mode=False)
    assert done.exception is None, done.exception
    return folder / "report" / "index.html"
