"""The worked example of docs/architecture.md is an ability: its files and entry points are all that it takes."""

import json
import re
import tomllib
from pathlib import Path

import pytest

from batdispatch.inputs.platforms.generate import flat
from compiling import needs_kernels
from manual import shown_files
from package_copy import ROOT, run, without

PAGE = (ROOT / "docs/architecture.md").read_text()
FILES = dict(shown_files(PAGE))
BASE = "schedulers/batdispatch/"
#: One host. By due dates: a from 0 to 10, c to 20, b to 30. In order of arrival c ends at 30, 5 s late.
JOBS = [
    {"id": name, "subtime": number, "res": 1, "walltime": 10, "profile": "p", "due": due}
    for number, (name, due) in enumerate([("a", 10), ("b", 40), ("c", 25)])
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("example")


@pytest.fixture(scope="module")
def environment(folder: Path) -> dict[str, str]:
    """A copy of the package with the ability's folder in it, and its entry points as those of a stranger's package."""
    environment = without([], folder)
    for name, text in FILES.items():
        if name.startswith(BASE):
            path = folder / "batdispatch" / name.removeprefix(BASE)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    about = folder / "due_dates-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: due-dates\nVersion: 1\n")
    groups = tomllib.loads(FILES["pyproject.toml"])["project"]["entry-points"]
    lines = [
        line for group, points in groups.items() for line in (f"[{group}]", *(f"{k} = {v}" for k, v in points.items()))
    ]
    (about / "entry_points.txt").write_text("\n".join(lines))
    (folder / "p.xml").write_bytes(flat(1))
    profiles = {"p": {"type": "delay", "delay": 10}}
    (folder / "w.json").write_text(json.dumps({"nb_res": 1, "jobs": JOBS, "profiles": profiles}))
    (folder / "wrong.json").write_text(
        json.dumps({"nb_res": 1, "jobs": [{**JOBS[0], "due": "soon"}], "profiles": profiles})
    )
    return environment


def call(environment: dict[str, str], folder: Path, words: str) -> str:
    return run(environment, "-m", "batdispatch", *(word.replace("@", f"{folder}/") for word in words.split()))


INPUTS = "--platform @p.xml --workload @w.json"


def test_the_ability_decides_measures_answers_and_is_on_the_page(environment: dict[str, str], folder: Path) -> None:
    call(environment, folder, f"compare {INPUTS} --dispatchers easy,easy[ordering=earliest-due] --out @both")
    for name, late, order in (("easy", 1, "abc"), ("easy,ordering=earliest-due", 0, "acb")):
        rows = (folder / "both" / name / "jobs.csv").read_text().splitlines()[1:]
        started = {row.split(",")[0]: float(row.split(",")[8]) for row in rows}
        assert sorted(started, key=started.__getitem__) == list(order)
        assert json.loads((folder / "both" / name / "result.json").read_text())["metrics"]["nb_late_jobs"] == late
    assert json.loads(call(environment, folder, "late @both/easy --json")) == [{"job": "c", "late": 5.0}]
    told = re.search(r"^```text\n\$ batdispatch late easy\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert told is not None
    assert call(environment, folder, "late @both/easy").split() == told[1].split()
    page = (folder / "both/report/index.html").read_text()
    assert '<a href="#late">Late jobs</a>' in page
    assert (
        page.index('<section id="inputs"') < page.index('<section id="late"') < page.index('<section id="definitions"')
    )
    assert re.search(r"c \(5\ss\)", page)
    assert "def-nb_late_jobs" in page


def test_it_is_in_help_lists_and_cards_and_the_audit_finds_nothing(environment: dict[str, str], folder: Path) -> None:
    assert re.search(r"^  late +Say which jobs", call(environment, folder, "--help"), re.MULTILINE)
    assert "RUN is a run's folder" in call(environment, folder, "late --help")
    assert "earliest-due" in call(environment, folder, "list orderings")
    assert "results are needed at known times" in call(environment, folder, "explain earliest-due")
    call(environment, folder, f"run {INPUTS} --dispatcher easy[ordering=earliest-due] --out @due")
    assert "no violation" in call(environment, folder, "check @due")
    result = folder / "due/result.json"
    result.write_text(result.read_text().replace('"nb_late_jobs": 0', '"nb_late_jobs": 2'))
    with pytest.raises(AssertionError, match=r"metrics.nb_late_jobs is 2, the hosts and times of the jobs give 0"):
        call(environment, folder, "check @due")


@needs_kernels
def test_a_compiled_run_counts_late_jobs_too(environment: dict[str, str], folder: Path) -> None:
    call(environment, folder, f"run {INPUTS} --dispatcher easy --no-record --compiled always --out @compiled")
    result = json.loads((folder / "compiled/result.json").read_text())
    assert result["engine"]["compiled"].startswith("kernels")
    assert result["metrics"]["nb_late_jobs"] == 1
    assert "no violation" in call(environment, folder, "check @compiled")


def test_wrong_dates_and_a_kernel_that_does_not_know_the_ordering_are_refused(
    environment: dict[str, str], folder: Path
) -> None:
    ordering = "--dispatcher easy[ordering=earliest-due]"
    for words, said in (
        (
            f"--platform @p.xml --workload @wrong.json {ordering}",
            "field due of job .*a: found 'soon', expected seconds",
        ),
        (f"{INPUTS} {ordering} --compiled always", "earliest-due has no kernel"),
    ):
        with pytest.raises(AssertionError, match=said):
            call(environment, folder, f"run {words} --out @refused")


def test_its_own_test_passes(environment: dict[str, str], folder: Path) -> None:
    name = "tests/abilities/due_dates/test_due_dates.py"
    (folder / "test_due_dates.py").write_text(FILES[name])
    run(environment, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", folder, folder / "test_due_dates.py")


def test_its_files_are_as_ours_are(environment: dict[str, str], folder: Path) -> None:
    place = folder / "batdispatch/abilities/due_dates"
    assert len(list(place.rglob("*.py"))) == len([name for name in FILES if name.startswith(BASE)])
    for words in (("check",), ("format", "--check")):
        run(environment, "-m", "ruff", *words, "--no-cache", "--config", ROOT / "pyproject.toml", place)


def test_it_imports_no_other_ability() -> None:
    imported = {
        name for text in FILES.values() for name in re.findall(r"^ *from (batdispatch\.\S+) import", text, re.M)
    }
    assert len(imported) > 10
    assert {name.split(".")[2] for name in imported if ".abilities." in name} == {"due_dates"}
