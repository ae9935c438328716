"""A platform and a workload on which filler and easy decide otherwise, and ``check`` as a user calls it."""

import hashlib
import json
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner

from batdispatch.cli.main import cli
from batdispatch.inputs.platforms.generate import flat
from batdispatch.runs.run import execute
from batdispatch.runs.spec import RunSpec

#: id -> (submission, hosts, seconds): filler starts d and e before b, which waits for all hosts; easy does not.
JOBS = {"a": (0, 3, 100), "b": (1, 4, 50), "c": (2, 1, 60), "d": (3, 1, 500), "e": (4, 1, 30), "f": (700, 2, 10)}


class Said(NamedTuple):
    """What ``check`` said, and its exit status."""

    status: int
    text: str
    errors: str


Check = Callable[..., Said]


@pytest.fixture
def check() -> Check:
    """Return what calls ``check`` with words; whatever does not end well must not say that nothing is wrong."""

    def call(*words: object) -> Said:
        done = CliRunner().invoke(cli, ["check", *map(str, words)])
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        assert "this is a bug" not in done.output
        return Said(done.exit_code, done.stdout, done.stderr)

    return call


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with p.xml and w.json."""
    folder = tmp_path_factory.mktemp("inputs")
    (folder / "p.xml").write_bytes(flat(4))
    jobs = [
        {"id": name, "subtime": at, "res": hosts, "walltime": 2 * seconds, "profile": f"d{seconds}"}
        for name, (at, hosts, seconds) in JOBS.items()
    ]
    profiles = {f"d{seconds}": {"type": "delay", "delay": seconds} for _, _, seconds in JOBS.values()}
    (folder / "w.json").write_text(json.dumps({"nb_res": 4, "jobs": jobs, "profiles": profiles}))
    return folder


Simulate = Callable[..., Path]


@pytest.fixture
def simulate(inputs: Path, tmp_path: Path) -> Simulate:
    """Return what simulates a dispatcher into a folder of its name, with fields of `RunSpec`."""

    def run(dispatcher: str, **fields: Any) -> Path:
        paths = {"platform": str(inputs / "p.xml"), "workload": str(inputs / "w.json")}
        folder = tmp_path / fields.pop("name", dispatcher)
        execute(RunSpec(**(paths | {"dispatcher": dispatcher} | fields)), folder)
        return folder

    return run


Disguise = Callable[..., Path]


@pytest.fixture
def disguise(simulate: Simulate, tmp_path: Path) -> Disguise:
    """Return what makes the run of filler that says that it is one of easy, with changes to result.json.

    A change is (path of the key, value); the path's parts have dots between them. The command and made_from follow.
    `version`: of another version.
    """

    def make(*changes: tuple[str, Any], version: bool = False, **fields: Any) -> Path:
        easy = json.loads((simulate("easy", **fields) / "result.json").read_bytes())
        folder = Path(shutil.copytree(simulate("filler", **fields), tmp_path / "forged"))
        result = json.loads((folder / "result.json").read_bytes())
        assert result["metrics"]["max_waiting_time"] != easy["metrics"]["max_waiting_time"]
        result |= {name: easy[name] for name in ("dispatcher", "label", "options", "report", "command", "made_from")}
        for path, value in changes:
            *outer, last = path.split(".")
            place = result
            for name in outer:
                place = place[name]
            place[last] = value
        settings = result["made_from"]["settings"]
        settings["dispatcher"], takes = result["dispatcher"], result["decision_time"]
        settings["decision_time"] = None if takes == "measured" else 0.0
        words = ["--decision-time", takes] if takes == "measured" else []
        words += [] if settings["record"] else ["--no-record"]
        command = ["batdispatch", "run", "--platform", settings["platform"], "--workload", settings["workload"]]
        result["command"] = shlex.join([*command, "--dispatcher", result["dispatcher"], *words, "--seed", "0"])
        (folder / "result.json").write_text(json.dumps(result))
        if version:
            change_version(folder)
        return folder

    return make


def change_version(folder: Path) -> None:
    """Let all files of a run say that another version made it."""
    sums, path = folder / "schedule.csv", folder / "result.json"
    result = json.loads(path.read_bytes())
    sums.write_text(sums.read_text().replace(f"batdispatch {result['batdispatch']}", "batdispatch 0.0.9"))
    result["files"][sums.name] = hashlib.sha256(sums.read_bytes()).hexdigest()
    made_from = result["made_from"] | {"batdispatch": "0.0.9"}
    path.write_text(json.dumps(result | {"batdispatch": "0.0.9", "made_from": made_from}))


@pytest.fixture
def of_another_version() -> Callable[[Path], None]:
    """Return what lets all files of a run say that another version made it."""
    return change_version
