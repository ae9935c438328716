"""A plain installation runs what it promises; where a library of an extra is missing, one sentence says what to do."""

import os
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

from batdispatch.cli.kinds import names
from batdispatch.core.errors import InputError
from batdispatch.core.extras import EXTRAS, check, command, explanation_of, missing_libraries

ROOT = Path(__file__).parents[2]
INPUTS = f"--platform {ROOT}/platforms/flat8.xml --workload {ROOT}/tests/conformance/recordings/workloads/delay.json"
LIBRARIES = sorted({library for brings in EXTRAS.values() for library in brings})
#: Hides libraries, and runs the command line.
MAIN = """
import sys
for name in sys.argv.pop(1).split(","):
    sys.modules[name] = None
from batdispatch.cli.main import main
main()
"""
#: Hides all of them; then runs every dispatcher and every part that names no extra.
PLAIN = """
import sys
from pathlib import Path
for name in sys.argv[1].split(","):
    sys.modules[name] = None
from batdispatch.cli.kinds import find, names
from batdispatch.testing import CASES, check_dispatcher

case = next(case for case in CASES if case.name == sys.argv[2])
ran = []
for kind, text in (
    ("dispatchers", "{}"),
    ("orderings", "easy[ordering={}]"),
    ("placements", "easy[placement={}]"),
    ("predictions", "easy[prediction={}]"),
    ("requests", "attempts[dispatcher=easy,requests={}]"),
    ("policies", "resizing[dispatcher=easy,policy={}]"),
):
    for name in names(kind):
        if find(kind, name).extra is None:
            check_dispatcher(text.format(name), case, Path(sys.argv[3]) / f"{kind}-{name}")
            ran.append(name)
print(" ".join(ran))
"""


def run(hidden: str, words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", MAIN, hidden, *words.split()]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=os.environ)


def project() -> dict[str, list[str]]:
    table = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return {"": table["dependencies"], **table["optional-dependencies"]}


def package(requirement: str) -> str:
    found = re.match(r"[A-Za-z0-9-]+", requirement)
    assert found is not None
    return found[0].lower()


def test_the_extras_are_those_of_the_project() -> None:
    stated = project()
    for extra, brings in EXTRAS.items():
        assert {name.lower().replace("-", "") for name in brings.values()} == {package(line) for line in stated[extra]}
    always = {package(line) for line in stated[""]}
    assert always.isdisjoint(package(line) for extra in EXTRAS for line in stated[extra])
    assert stated["all"] == [f"batdispatch[{','.join(EXTRAS)}]"]
    assert "batdispatch[all]" in stated["dev"]


@pytest.mark.parametrize("case", ["whole-hosts", "requests-of-every-form"])
@pytest.mark.slow
def test_what_names_no_extra_runs_without_any(case: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", PLAIN, ",".join(LIBRARIES), case, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {"fcfs", "filler", "easy", "conservative", "first-fit", "last-two"} <= set(done.stdout.split())


def test_a_plain_installation_runs_checks_and_explains(tmp_path: Path) -> None:
    for words in (f"run {INPUTS} --dispatcher fcfs --out out", "check out", "report --help", "explain hcp19"):
        done = run(",".join(LIBRARIES), words, tmp_path)
        assert done.returncode == 0, done.stderr
        assert done.stderr == "" or not words.startswith("run")


def test_a_plain_installation_compares_and_checks_without_a_report(tmp_path: Path) -> None:
    words = f"compare {INPUTS} --dispatchers fcfs,filler,easy,conservative --no-report --out out"
    done = run(",".join(LIBRARIES), words, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "out"
    assert not (tmp_path / "out/report").exists()
    checked = run(",".join(LIBRARIES), "check out", tmp_path)
    assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize(
    ("hidden", "words", "expected"),
    [
        ("ortools", f"run {INPUTS} --dispatcher hcp19", "dispatcher hcp19 needs OR-Tools, which is"),
        ("ortools,scipy", f"run {INPUTS} --dispatcher ipsched", "ipsched needs OR-Tools and SciPy, which are"),
        ("scipy", f"run {INPUTS} --dispatcher pinned-io", "dispatcher pinned-io needs SciPy, which is"),
        ("scipy", f"run {INPUTS} --dispatcher easy[placement=convex]", "placement convex needs SciPy, which is"),
        ("scipy", "requests --law tnorm:0,20,8,2", "law 'tnorm:0,20,8,2': it needs SciPy"),
        ("jinja2", f"compare {INPUTS} --dispatchers fcfs", "the report needs Jinja2, which is not installed"),
        ("pandas,evalys", "demo", "the report needs pandas and evalys, which are not installed"),
        ("matplotlib", "report .", "a report needs matplotlib"),
        ("jinja2", "workload show w.json --html w.html", "the page of --html needs Jinja2"),
        ("yaml,pyarrow", "campaign c.yaml", "a campaign needs PyYAML and pyarrow"),
        ("ortools", "instance solve f.jsonl --models pooled", "model pooled needs OR-Tools"),
        # Found out on the way.
        (
            "scipy",
            f"generate stochastic -o W.json --seed 1 --from {ROOT}/workloads/multiresource16.json --application user",
            "error: this needs SciPy, which is not installed",
        ),
    ],
)
def test_what_is_missing_is_said_in_one_sentence(hidden: str, words: str, expected: str, tmp_path: Path) -> None:
    done = run(hidden, words, tmp_path)
    told = [line for line in done.stderr.splitlines() if "batdispatch compare" not in line]
    assert done.returncode == 2, done.stderr
    assert len(told) == 1
    assert expected in told[0]
    assert re.search(r"not installed: pip install '\S+\[[a-z]+\]'", told[0])
    # What cannot end is not begun.
    assert [path for path in tmp_path.rglob("*") if path.is_file() and path.parent.name != "input"] == []


def test_an_import_that_nobody_foresaw_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    author = tmp_path / "mine.py"
    author.write_text(
        "from batdispatch import Dispatcher\n\n\nclass Mine(Dispatcher):\n    def decide(self, ledger):\n"
        "        import scipy.stats\n"
    )
    done = run("scipy", f"run {INPUTS} --dispatcher mine.py:Mine", tmp_path)
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        f"batdispatch: error: this needs SciPy, which is not installed: {command('stochastic')}"
    ]
    assert explanation_of(ModuleNotFoundError("No module named 'torch'", name="torch")) is None
    # What is installed, and fails for another reason, is no matter of installing it.
    assert explanation_of(ImportError("cannot import name 'x' from 'scipy'", name="scipy")) is None


def test_what_is_there_is_not_complained_of(monkeypatch: pytest.MonkeyPatch) -> None:
    check(None, "nothing")
    check("report", "a report")
    monkeypatch.setitem(sys.modules, "evalys", None)
    assert missing_libraries("report") == f"evalys, which is not installed: {command('report')}"
    with pytest.raises(InputError, match=r"^a report needs evalys, which .* \(or not\)$"):
        check("report", "a report", also=" (or not)")


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (None, "batdispatch"),
        ('{"url": "file://HERE", "dir_info": {"editable": true}}', "."),
        ('{"url": "file://HERE/a%20copy", "dir_info": {}}', "HERE/a copy"),
        ('{"url": "file://HERE/gone", "dir_info": {}}', "batdispatch"),
        ('{"url": "https://example.org/it.whl", "archive_info": {}}', "batdispatch"),
    ],
)
def test_an_extra_comes_from_where_the_copy_came_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str | None, shown: str
) -> None:
    (tmp_path / "a copy").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        metadata.Distribution, "read_text", lambda *_: said and said.replace("HERE", str(tmp_path)), raising=False
    )
    monkeypatch.setattr(metadata.PathDistribution, "read_text", metadata.Distribution.read_text)
    assert command("report") == f"pip install '{shown.replace('HERE', str(tmp_path))}[report]'"


def test_every_extra_of_a_class_is_one_of_them() -> None:
    from batdispatch.cli.kinds import KINDS, find

    named = {name: find(kind, name).extra for kind in KINDS for name in names(kind)}
    assert set(named.values()) <= {None, *EXTRAS}
    assert named["hcp19"] == "cp"
    assert named["convex"] == "topology"
    assert named["easy"] is None
