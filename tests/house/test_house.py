"""The rules of `make lint` about imports, files and clocks: a copy of the package that breaks one of them is found."""

import os
import re
import shutil
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
PACKAGE = Path("schedulers/batdispatch")

NO_IO = "What decides has no files, sockets, clocks, processes or chance of its own"
ONE_WAY = "Imports run one way"
NO_CIRCLE = "No circle of files or folders"

#: A file of the package, what it says, the contract that it breaks, and what the report names.
WRONG_IMPORTS = [
    ("dispatchers/backfilling", "import batdispatch.links.serve", ONE_WAY, "batdispatch.links"),
    ("dispatchers/backfilling", "from batdispatch.batsim import v4", ONE_WAY, "batdispatch.batsim"),
    ("dispatchers/backfilling", "from pathlib import Path", NO_IO, "pathlib"),
    ("dispatchers/backfilling", "from time import perf_counter", NO_IO, "time"),
    ("dispatchers/backfilling", "from datetime import datetime", NO_IO, "datetime"),
    ("dispatchers/backfilling", "import random", NO_IO, "random"),
    ("dispatchers/backfilling", "def f():\n    import socket", NO_IO, "socket"),
    ("parts/ordering", "import subprocess", NO_IO, "subprocess"),
    ("layers", "import os", NO_IO, "os"),
    ("layers", "import batdispatch.dispatchers", ONE_WAY, "batdispatch.dispatchers"),
    ("core", "import tempfile", NO_IO, "tempfile"),
    ("core", "import pandas", "The core needs numpy, msgspec and procset", "pandas"),
    ("core", "import batdispatch.parts.ordering", ONE_WAY, "batdispatch.parts"),
    ("batsim", "import batdispatch.parts", "Wire formats know only the core", "batdispatch.parts"),
    ("links", "import batdispatch.engines.embedded", ONE_WAY, "batdispatch.engines"),
    ("abilities/verify/audit", "import batdispatch.core.line.ledger", "The audit shares no code", "batdispatch.core"),
    ("abilities/campaigns/statistics", "import pandas", "Statistics know numbers alone", "pandas"),
    (
        "abilities/verify/differ/textbook",
        "import batdispatch.core.plans.timeline",
        "The textbook's policies share no code",
        "batdispatch.core",
    ),
    ("runs", "import batdispatch.abilities.kernels.seam", ONE_WAY, "batdispatch.abilities.kernels"),
    ("engines", "import batdispatch.abilities.simgrid.timer", ONE_WAY, "batdispatch.abilities.simgrid"),
]
CALLS = ['open("x")', 'with open("x") as file: ...', "print(1)", "numpy.load(1)"]
FOLDERS = ["dispatchers/backfilling", "parts/placement", "layers", "core", "batsim/v4"]


def copy(folder: Path) -> Path:
    """Copy the package with its configuration, and return the folder."""
    shutil.copytree(ROOT / PACKAGE, folder / PACKAGE, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


@pytest.fixture
def house(tmp_path: Path) -> Path:
    return copy(tmp_path)


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy with all faults of the tables at once, each in a file of its own."""
    house = copy(tmp_path_factory.mktemp("faulty"))
    for number, (folder, code, *_) in enumerate(WRONG_IMPORTS):
        plant(house, Path(folder) / f"bad{number}.py", code)
    for folder in FOLDERS:
        for number, call in enumerate(CALLS):
            plant(house, Path(folder) / f"call{number}.py", f"import numpy\n{call}")
    return house


@pytest.fixture(scope="module")
def broken(faulty: Path) -> dict[str, str]:
    """Return what import-linter says of the faulty copy, contract by contract."""
    _, *parts = re.split(r"^(.+)\n-+\n", broken_contracts(faulty), flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


@pytest.fixture(scope="module")
def banned(faulty: Path) -> str:
    return banned_calls(faulty)


def plant(house: Path, file: Path, code: str) -> None:
    """Write a file of the copy; in front of what it says already."""
    path = house / PACKAGE / file
    rest = path.read_text() if path.exists() else ""
    path.parent.mkdir(exist_ok=True)
    path.write_text(code + "\n" + rest)


def broken_contracts(house: Path) -> str:
    """Return the part of import-linter's report that names what is broken."""
    done = subprocess.run(
        [BIN / "lint-imports", "--no-cache", "--no-logo"],
        cwd=house,
        env=os.environ | {"PYTHONPATH": str(house / "schedulers")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr + done.stdout
    assert "Contracts: " in done.stdout, done.stderr + done.stdout
    return done.stdout.partition("Broken contracts")[2]


def banned_calls(house: Path) -> str:
    """Return what ruff says of the package."""
    done = subprocess.run(
        [BIN / "ruff", "check", "--no-cache", "--output-format", "concise", PACKAGE],
        cwd=house,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def test_the_house_is_in_order(house: Path) -> None:
    assert broken_contracts(house) == ""
    assert not re.search("TID251|T20|PTH123", banned_calls(house))


@pytest.mark.parametrize(("number", "wrong"), list(enumerate(WRONG_IMPORTS)))
def test_wrong_imports_are_found(number: int, wrong: tuple[str, str, str, str], broken: dict[str, str]) -> None:
    folder, _, contract, imported = wrong
    (report,) = [text for name, text in broken.items() if name.startswith(contract)]
    name = folder.replace("/", ".")
    # The report is wrapped.
    assert re.search(rf"batdispatch\.{name}\.bad{number} -> {re.escape(imported)}", " ".join(report.split()))


def test_a_folder_without_a_layer_is_found(house: Path) -> None:
    plant(house, Path("shed/__init__.py"), "")
    report = broken_contracts(house)
    assert ONE_WAY in report
    assert "shed" in report


@pytest.mark.parametrize(
    ("file", "code", "folder"),
    [
        ("engines/records.py", '"""."""\nfrom batdispatch.engines import embedded', "batdispatch.engines"),
        ("results/metrics/bad.py", "import batdispatch.results.runs", "batdispatch.results"),
    ],
    ids=["files", "folders"],
)
def test_a_circle_is_found(house: Path, file: str, code: str, folder: str) -> None:
    plant(house, Path(file), code)
    report = broken_contracts(house)
    assert NO_CIRCLE in report
    assert folder in report


def test_no_file_imports_itself_by_way_of_others() -> None:
    # Beside what the contract sees, that a package's own file and a file in it do not need each other.
    graph = grimp.build_graph("batdispatch", cache_dir=None)
    imported = {name: graph.find_modules_directly_imported_by(name) for name in sorted(graph.modules)}
    # It names for type checkers what is public, in any room; when it runs, it imports what is asked for.
    runs = grimp.build_graph("batdispatch", cache_dir=None, exclude_type_checking_imports=True)
    imported["batdispatch"] = runs.find_modules_directly_imported_by("batdispatch")
    TopologicalSorter(imported).prepare()


@pytest.mark.parametrize("number", range(len(CALLS)), ids=CALLS)
@pytest.mark.parametrize("folder", FOLDERS)
def test_files_are_not_opened_by_what_decides(banned: str, folder: str, number: int) -> None:
    assert re.search(rf"{folder}/call{number}\.py:2:\d+: (TID251|T201|PTH123)", banned)


def test_files_are_read_elsewhere(house: Path) -> None:
    plant(house, Path("inputs/good.py"), '"""."""\n\nimport numpy\n\nprint(numpy.load("x"))')
    assert "good.py" not in banned_calls(house)
