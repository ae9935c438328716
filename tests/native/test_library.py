"""What is built of C: without a warning, with Python's fields, of these sources and no others, if it can be."""

import ctypes
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from batdispatch.engines.compiled.energy import Energy
from batdispatch.engines.compiled.files import JobRows
from batdispatch.engines.compiled.foresight import Foresight
from batdispatch.engines.compiled.multifactor import Factors
from batdispatch.engines.compiled.node_plan import NodePlan
from batdispatch.engines.compiled.nodes import Nodes
from batdispatch.engines.compiled.openings import Openings
from batdispatch.engines.compiled.plan import Plan
from batdispatch.engines.compiled.queue_order import Beside, Order
from batdispatch.engines.compiled.sleepers import Sleepers
from batdispatch.engines.compiled.slurm import Slurm
from batdispatch.engines.compiled.state import State
from batdispatch.inputs.workloads.text_columns import WorkloadText
from batdispatch.native import library
from batdispatch.native.record import Record, pointer_to, structure_of
from compiling import needs_kernels

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "schedulers" / "batdispatch" / "native"
RECORDS: dict[str, tuple[type[Record], ...]] = {
    **{"state.h": (State,), "plan.h": (Plan,), "foresight.h": (Foresight,), "easy_beside.h": (Beside,)},
    **{"queue_order.h": (Order,), "nodes.h": (Nodes, Openings), "node_plan.h": (NodePlan,), "slurm.h": (Slurm,)},
    **{"sleepers.h": (Sleepers,), "energy.c": (Energy,), "job_rows.c": (JobRows,)},
    **{"workload_text.c": (WorkloadText,), "multifactor.h": (Factors,)},
}


@needs_kernels
@pytest.mark.parametrize("source", RECORDS)
def test_structures_are_as_large_and_end_alike_in_python_and_in_c(tmp_path: Path, source: str) -> None:
    claims = [f'#include <stddef.h>\n#include "{source}"']
    for record in RECORDS[source]:
        name, (last, _) = record.__name__, record._fields_[-1]
        claims.append(f'_Static_assert(sizeof({name}) == {ctypes.sizeof(record)}, "size");')
        claims.append(f'_Static_assert(offsetof({name}, {last}) == {getattr(record, last).offset}, "last field");')
    probe = tmp_path / "probe.c"
    probe.write_text("\n".join(claims))
    subprocess.run(["cc", "-std=c11", "-fsyntax-only", f"-I{FOLDER}", str(probe)], check=True)


def test_fields_are_of_the_kind_that_c_states() -> None:
    kinds, _ = structure_of("queue_order.h", "Order")
    assert list(kinds)[:2] == ["key_formula", "key_column"]
    assert (kinds["key_formula"], kinds["ahead_power"], kinds["ahead_column"]) == (int, float, np.float64)
    assert (kinds["queued"], kinds["entries"], kinds["tier"]) == (int, np.int64, np.int64)
    assert structure_of("job_rows.c", "JobRows")[0]["state"] is np.int8


def test_arrays_of_other_numbers_or_with_gaps_are_refused() -> None:
    for array in (np.zeros(3), np.zeros(6, dtype=np.int64)[::2]):
        with pytest.raises(TypeError, match="array of int64 without gaps"):
            pointer_to(array, np.int64)


@needs_kernels
def test_the_compiler_warns_of_nothing(tmp_path: Path) -> None:
    library.build(tmp_path / "made.so", "-Wall", "-Wextra", "-Wshadow", "-Werror")
    assert [path.name for path in tmp_path.iterdir()] == ["made.so"]


@needs_kernels
def test_a_library_of_other_sources_is_not_loaded(tmp_path: Path) -> None:
    assert library.why_missing() is None, "the library is older than its sources: install the package again"
    package = shutil.copytree(FOLDER, tmp_path / "native")
    words = [sys.executable, "-c", "import library; print(library.load() is not None)"]
    for expected in ("True", "False"):
        found = subprocess.run(words, cwd=package, capture_output=True, text=True, check=True)
        assert found.stdout.strip() == expected
        with (package / "rounding.c").open("a") as source:
            source.write("\n")


@needs_kernels
@pytest.mark.parametrize(("compiler", "tag"), [("cc", r"py3-none-(?!any)\w+"), ("no-such-compiler", "py3-none-any")])
def test_a_wheel_has_the_library_where_there_is_a_compiler(tmp_path: Path, compiler: str, tag: str) -> None:
    project = tmp_path / "project"
    project.mkdir()
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "COPYING", ".gitignore"):
        shutil.copy(ROOT / name, project)
    shutil.copytree(FOLDER, project / "schedulers/batdispatch/native", ignore=shutil.ignore_patterns("kernels-*"))
    shutil.copy(ROOT / "schedulers/batdispatch/__init__.py", project / "schedulers/batdispatch")
    (project / "expe/papers/batdispatch_papers").mkdir(parents=True)
    words = [sys.executable, "-m", "hatchling", "build", "--target", "wheel"]
    environment = {**os.environ, "CC": compiler}
    done = subprocess.run(words, cwd=project, env=environment, capture_output=True, text=True, check=True)
    assert ("The kernels in C are left out" in done.stdout + done.stderr) == (compiler != "cc")
    (wheel,) = (project / "dist").iterdir()
    assert re.search(tag + r"\.whl$", wheel.name)
    names = zipfile.ZipFile(wheel).namelist()
    assert [name for name in names if name.endswith(".so")] == (
        [f"batdispatch/native/{library.path().name}"] if compiler == "cc" else []
    )
    assert "batdispatch/native/state.h" in names
