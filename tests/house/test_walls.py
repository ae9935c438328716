"""Each ability can be taken away: without its folder and its entry points, the rest works as before."""

import re
import subprocess
import sys
from pathlib import Path

import grimp
import pytest

from batdispatch.core.abilities import own_abilities
from batdispatch.inputs.platforms.generate import flat
from package_copy import POINTS, ROOT, run, with_dependents, without

NAMES = [ability.name for ability in own_abilities()]
#: Folders of tests of the base; the first is quick.
FOLDERS = ("core", "batsim", "dispatchers", "parts")
WORKLOAD = """{"nb_res": 4, "jobs": [
    {"id": "1", "subtime": 0, "res": 3, "walltime": 20, "profile": "p"},
    {"id": "2", "subtime": 1, "res": 4, "walltime": 20, "profile": "p"},
    {"id": "3", "subtime": 2, "res": 1, "walltime": 5, "profile": "q"}
], "profiles": {"p": {"type": "delay", "delay": 10}, "q": {"type": "delay", "delay": 4}}}"""


def support_of_abilities() -> set[str]:
    """Return the modules of `tests/support` that import an ability, by way of others too."""
    texts = {file.stem: file.read_text() for file in (ROOT / "tests/support").glob("*.py")}
    found = {name for name, text in texts.items() if "batdispatch.abilities" in text}
    while (
        more := {
            name
            for name, text in texts.items()
            if any(re.search(rf"^from {each} import", text, re.M) for each in found)
        }
        - found
    ):
        found |= more
    return found


def base_tests(*folders: str) -> list[Path]:
    """Return files of tests that name nothing which an ability announces, one by one or all together."""
    names = {name for points in POINTS.values() for name, place in points.items() if ".abilities." in place}
    named = re.compile(
        "|".join(
            [
                r"batdispatch\.(abilities|__all__)",
                *(rf"[\"'\[]{re.escape(name)}[\"'\[]" for name in names),
                *(rf"^from {name} import" for name in support_of_abilities()),
            ]
        ),
        re.MULTILINE,
    )
    found = [file for folder in folders for file in sorted((ROOT / "tests" / folder).glob("test_*.py"))]
    chosen = [file for file in found if not named.search(file.read_text())]
    assert len(chosen) > len(found) / 2
    return chosen


def use(environment: dict[str, str], folder: Path) -> None:
    """Run, compare, report and serve with the copy."""
    where = run(environment, "-c", "import batdispatch; print(batdispatch.__file__)")
    assert folder in Path(where).parents
    (folder / "p.xml").write_bytes(flat(4))
    (folder / "w.json").write_text(WORKLOAD)
    inputs = ("--platform", folder / "p.xml", "--workload", folder / "w.json")
    call = ("-m", "batdispatch")
    run(environment, *call, "run", *inputs, "--dispatcher", "easy", "--out", folder / "run")
    run(environment, *call, "compare", *inputs, "--dispatchers", "fcfs,easy", "--out", folder / "compared")
    run(environment, *call, "report", folder / "run", "--out", folder / "page.html")
    run(environment, *call, "list")
    run(environment, *call, "--help")
    # The same run through a socket, which the copy serves.
    socket = f"ipc://{folder}/wire"
    serve = subprocess.Popen(
        [sys.executable, *call, "serve", "--dispatcher", "easy", "--socket", socket],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        run(environment, *call, "engine", *inputs, "--socket", socket, "--out", folder / "served")
        assert serve.wait(60) == 0, serve.communicate()[1]
    finally:
        serve.kill()
        serve.communicate()
    assert (folder / "served/jobs.csv").read_bytes() == (folder / "run/jobs.csv").read_bytes()


def test_an_ability_that_stays_is_there(tmp_path: Path) -> None:
    """The copies of the other tests would prove nothing if they were the package that is installed."""
    environment = without([], tmp_path)
    code = "from batdispatch.core.abilities import own_abilities; print([each.name for each in own_abilities()])"
    assert run(environment, "-c", code).strip() == str(NAMES)


@pytest.mark.parametrize("gone", NAMES)
def test_without_an_ability_the_commands_of_the_base_work(gone: str, tmp_path: Path) -> None:
    use(without(with_dependents(gone), tmp_path), tmp_path)


@pytest.mark.parametrize(
    ("gone", "option"),
    [
        ("campaigns", ["--replicates", "2"]),
        ("power", ["--energy", "exact"]),
        ("whatif", ["--hosts", "4,5"]),
        ("sites", ["--slurm", "."]),
    ],
)
def test_an_option_that_needs_a_missing_ability_says_so(gone: str, option: list[str], tmp_path: Path) -> None:
    environment = without(with_dependents(gone), tmp_path)
    (tmp_path / "log.swf").write_text("1 0 0 10 3 -1 -1 3 20 -1 1 1 1 1 1 -1 -1 -1\n")
    words = ("compare", tmp_path / "log.swf", "--dispatchers", "easy", *option, "--out", tmp_path / "out")
    done = subprocess.run(
        [sys.executable, "-m", "batdispatch", *map(str, words)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    expected = f"batdispatch: error: option {option[0]}: needs the ability {gone}, which this installation lacks"
    # Before it may stand what the log was read as.
    assert (done.returncode, done.stderr.strip().splitlines()[-1]) == (2, expected)


def test_power_states_of_a_generated_platform_need_their_ability(tmp_path: Path) -> None:
    environment = without(with_dependents("power"), tmp_path)
    words = "platform generate flat --hosts 2 --power batsim-homogeneous -o"
    done = subprocess.run(
        [sys.executable, "-m", "batdispatch", *words.split(), str(tmp_path / "p.xml")],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    expected = "batdispatch: error: option --power: needs the ability power, which this installation lacks"
    assert (done.returncode, done.stderr.strip(), (tmp_path / "p.xml").exists()) == (2, expected, False)


def test_without_all_abilities_the_tests_of_the_base_pass(tmp_path: Path) -> None:
    environment = without(NAMES, tmp_path)
    use(environment, tmp_path)
    run(environment, "-m", "pytest", "-q", "-p", "no:cacheprovider", *base_tests("core"))


@pytest.mark.slow
@pytest.mark.parametrize("gone", NAMES)
def test_without_an_ability_the_tests_of_the_base_pass(gone: str, tmp_path: Path) -> None:
    run(without(with_dependents(gone), tmp_path), "-m", "pytest", "-q", "-p", "no:cacheprovider", *base_tests(*FOLDERS))


@pytest.mark.parametrize("ability", own_abilities(), ids=NAMES)
def test_an_ability_imports_the_abilities_that_it_says(ability: object) -> None:
    graph = grimp.build_graph("batdispatch", cache_dir=None)
    name = f"batdispatch.abilities.{ability.name}"  # type: ignore[attr-defined]
    inside = {name, *graph.find_descendants(name)}
    used = {
        each.split(".")[2]
        for module in inside
        for each in graph.find_modules_directly_imported_by(module)
        if each.startswith("batdispatch.abilities.") and each not in inside
    }
    assert used == set(ability.needs)  # type: ignore[attr-defined]
