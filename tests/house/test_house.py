"""The rules of `make lint` about imports, files and clocks: a copy of the package that breaks one of them is found."""

from __future__ import annotations

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
ONE_ENGINE = "Compiled kernels are one engine behind the choice of engines"

DISPATCHER = Path("dispatchers/backfilling/bad.py")


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """Return a copy of the package with its configuration."""
    shutil.copytree(ROOT / PACKAGE, tmp_path / PACKAGE, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


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


@pytest.mark.parametrize(
    ("file", "code", "contract", "found"),
    [
        (DISPATCHER, "import batdispatch.links.serve", ONE_WAY, "dispatchers.backfilling.bad -> batdispatch.links"),
        (DISPATCHER, "from batdispatch.batsim import v4", ONE_WAY, "dispatchers.backfilling.bad -> batdispatch.batsim"),
        (DISPATCHER, "from pathlib import Path", NO_IO, "dispatchers.backfilling.bad -> pathlib"),
        (DISPATCHER, "from time import perf_counter", NO_IO, "dispatchers.backfilling.bad -> time"),
        (DISPATCHER, "from datetime import datetime", NO_IO, "dispatchers.backfilling.bad -> datetime"),
        (DISPATCHER, "import random", NO_IO, "dispatchers.backfilling.bad -> random"),
        (DISPATCHER, "def f():\n    import socket", NO_IO, "dispatchers.backfilling.bad -> socket"),
        (Path("parts/ordering/bad.py"), "import subprocess", NO_IO, "parts.ordering.bad -> subprocess"),
        (Path("layers/bad.py"), "import os", NO_IO, "layers.bad -> os"),
        (Path("layers/bad.py"), "import batdispatch.dispatchers", ONE_WAY, "layers.bad -> batdispatch.dispatchers"),
        (Path("core/bad.py"), "import tempfile", NO_IO, "core.bad -> tempfile"),
        (Path("core/bad.py"), "import pandas", "The core needs numpy, msgspec and procset", "core.bad -> pandas"),
        (Path("core/bad.py"), "import batdispatch.parts.ordering", ONE_WAY, "core.bad -> batdispatch.parts"),
        (Path("batsim/bad.py"), "import batdispatch.parts", "Wire formats know only the core", "batsim.bad"),
        (Path("links/bad.py"), "import batdispatch.engines.embedded", ONE_WAY, "links.bad -> batdispatch.engines"),
        (Path("audit/bad.py"), "import batdispatch.core.line.ledger", "The audit shares no code", "audit.bad"),
        (
            Path("results/statistics/bad.py"),
            "import pandas",
            "Statistics know numbers alone",
            "statistics.bad -> pandas",
        ),
        (
            Path("differ/textbook/bad.py"),
            "import batdispatch.core.plans.timeline",
            "The textbook's policies share no code",
            "textbook.bad",
        ),
        (Path("runs/bad.py"), "import batdispatch.engines.compiled.masks", ONE_ENGINE, "batdispatch.runs.bad"),
        (Path("shed/bad.py"), "", ONE_WAY, "shed"),
    ],
)
def test_wrong_imports_are_found(house: Path, file: Path, code: str, contract: str, found: str) -> None:
    if not (house / PACKAGE / file).parent.exists():
        plant(house, file.parent / "__init__.py", "")
    plant(house, file, code)
    report = broken_contracts(house)
    assert contract in report
    assert found in report


def test_a_circle_of_files_is_found(house: Path) -> None:
    plant(house, Path("engines/records.py"), '"""."""\nfrom batdispatch.engines import embedded')
    report = broken_contracts(house)
    assert NO_CIRCLE in report
    assert "batdispatch.engines" in report


def test_a_circle_of_folders_is_found(house: Path) -> None:
    plant(house, Path("report/explore/bad.py"), "import batdispatch.report.page")
    report = broken_contracts(house)
    assert NO_CIRCLE in report
    assert "batdispatch.report" in report


def test_no_file_imports_itself_by_way_of_others() -> None:
    # Beside what the contract sees, that a package's own file and a file in it do not need each other.
    graph = grimp.build_graph("batdispatch", cache_dir=None)
    imported = {name: graph.find_modules_directly_imported_by(name) for name in sorted(graph.modules)}
    # It names for type checkers what is public, in any room; when it runs, it imports what is asked for.
    runs = grimp.build_graph("batdispatch", cache_dir=None, exclude_type_checking_imports=True)
    imported["batdispatch"] = runs.find_modules_directly_imported_by("batdispatch")
    TopologicalSorter(imported).prepare()


@pytest.mark.parametrize(
    "call",
    ['open("x")', 'with open("x") as file: ...', "print(1)", "numpy.load(1)"],
)
@pytest.mark.parametrize("folder", ["dispatchers/backfilling", "parts/placement", "layers", "core", "batsim/v4"])
def test_files_are_not_opened_by_what_decides(house: Path, folder: str, call: str) -> None:
    plant(house, Path(folder) / "bad.py", f"import numpy\n{call}")
    assert re.search(rf"{folder}/bad\.py:2:\d+: (TID251|T201|PTH123)", banned_calls(house))


def test_files_are_read_elsewhere(house: Path) -> None:
    plant(house, Path("inputs/good.py"), '"""."""\n\nimport numpy\n\nprint(numpy.load("x"))')
    assert "good.py" not in banned_calls(house)
