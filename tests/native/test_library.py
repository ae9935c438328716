"""What is built of C: without a warning, with Python's fields, of these sources and no others, if it can be."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from batdispatch.engines.job_rows import JobRows, RowColumn
from batdispatch.inputs.workloads.text_columns import WorkloadText
from batdispatch.native.library import FOLDER, OWN, Library, folders
from batdispatch.native.record import Record, pointer_to, structure_of
from batdispatch.results.cells import JobCells
from compiling import needs_kernels, sizes_in_c

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "schedulers" / "batdispatch"
#: Of the base, and of each ability that has some.
LIBRARIES = folders(PACKAGE)
RECORDS: dict[str, tuple[type[Record], ...]] = {
    **{"job_rows.c": (JobRows, RowColumn), "workload_text.c": (WorkloadText,), "job_cells.c": (JobCells,)},
}


@needs_kernels
@pytest.mark.parametrize("source", RECORDS)
def test_structures_are_as_large_and_end_alike_in_python_and_in_c(tmp_path: Path, source: str) -> None:
    sizes_in_c(OWN, source, RECORDS[source], tmp_path)


def test_fields_are_of_the_kind_that_c_states() -> None:
    kinds, fields = structure_of("job_rows.c", "RowColumn")
    assert (kinds["of_those_that_ran"], kinds["numbers"], kinds["wholes"], kinds["place"]) == (
        *(int, np.float64, np.int64, np.int32),
    )
    assert [name for name, _ in fields] == list(kinds)


def test_arrays_of_other_numbers_or_with_gaps_are_refused() -> None:
    for array in (np.zeros(3), np.zeros(6, dtype=np.int64)[::2]):
        with pytest.raises(TypeError, match="array of int64 without gaps"):
            pointer_to(array, np.int64)


@needs_kernels
@pytest.mark.parametrize("folder", LIBRARIES, ids=lambda folder: folder.parent.name)
def test_the_compiler_warns_of_nothing(folder: Path, tmp_path: Path) -> None:
    Library(folder).build(tmp_path / "made.so", "-Wall", "-Wextra", "-Wshadow", "-Werror")
    assert [path.name for path in tmp_path.iterdir()] == ["made.so"]


@needs_kernels
@pytest.mark.parametrize("folder", LIBRARIES, ids=lambda folder: folder.parent.name)
@pytest.mark.parametrize("changed", ["rounding.c", "export.h"])
def test_a_library_of_other_sources_is_not_loaded(folder: Path, changed: str, tmp_path: Path) -> None:
    assert Library(folder).loaded is not None, "the library is older than its sources: install the package again"
    package = tmp_path / "batdispatch"
    for each in {FOLDER, folder}:
        shutil.copytree(each, package / each.relative_to(PACKAGE))
    place = package / folder.relative_to(PACKAGE)
    code = f"import library, pathlib; print(library.Library(pathlib.Path({str(place)!r})).loaded is not None)"
    for expected in ("True", "False"):
        found = subprocess.run(
            [sys.executable, "-c", code], cwd=package / "native", capture_output=True, text=True, check=True
        )
        assert found.stdout.strip() == expected
        # Each library has a copy of what rounds, and all see the base's headers.
        with (package / "native" / changed).open("a") as source:
            source.write("\n")


def test_each_ability_has_a_library_of_its_own() -> None:
    """A build that skips a folder would leave an ability to Python without a word."""
    assert LIBRARIES[0] == FOLDER
    assert {source.parent for source in PACKAGE.rglob("*.c")} == set(LIBRARIES)
    names = [Library(folder).path().name for folder in LIBRARIES]
    assert len(set(names)) == len(names)


@needs_kernels
@pytest.mark.parametrize(("compiler", "tag"), [("cc", r"py3-none-(?!any)\w+"), ("no-such-compiler", "py3-none-any")])
def test_a_wheel_has_the_libraries_where_there_is_a_compiler(tmp_path: Path, compiler: str, tag: str) -> None:
    project = tmp_path / "project"
    project.mkdir()
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "COPYING", ".gitignore"):
        shutil.copy(ROOT / name, project)
    for folder in LIBRARIES:
        copied = project / folder.relative_to(ROOT)
        shutil.copytree(folder, copied, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
        # As an earlier build with other sources leaves it.
        (copied / f"{folder.parent.name}-0123456789abcdef.so").touch()
    shutil.copy(PACKAGE / "__init__.py", project / "schedulers/batdispatch")
    (project / "expe/papers/batdispatch_papers").mkdir(parents=True)
    words = [sys.executable, "-m", "hatchling", "build", "--target", "wheel"]
    environment = {**os.environ, "CC": compiler}
    done = subprocess.run(words, cwd=project, env=environment, capture_output=True, text=True, check=True)
    assert ("The kernels in C are left out" in done.stdout + done.stderr) == (compiler != "cc")
    (wheel,) = (project / "dist").iterdir()
    assert re.search(tag + r"\.whl$", wheel.name)
    names = zipfile.ZipFile(wheel).namelist()
    paths = [Library(folder).path().relative_to(PACKAGE.parent).as_posix() for folder in LIBRARIES]
    built = [name for name in names if name.endswith(".so")]
    assert sorted(built) == (sorted(paths) if compiler == "cc" else [])
    assert {"batdispatch/native/texts.h", "batdispatch/abilities/kernels/native/state.h"} <= set(names)
