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

from batdispatch.engines.compiled.energy import Energy
from batdispatch.engines.compiled.files import JobRows
from batdispatch.engines.compiled.foresight import Foresight
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
from batdispatch.native.record import Record, pointer_to
from batdispatch.parts.rollouts.kernel import Rollout
from compiling import needs_kernels

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "schedulers" / "batdispatch" / "native"
KINDS = {
    "int64_t": int,
    "double": float,
    "int64_t *": np.int64,
    "int32_t *": np.int32,
    "uint64_t *": np.uint64,
    "double *": np.float64,
    "uint8_t *": np.uint8,
    "int8_t *": np.int8,
    # Pairs of a double and an int64_t.
    "Expectation *": np.float64,
    # Of two doubles.
    "Hope *": np.float64,
    # Of two int64_t.
    "Run *": np.int64,
    "Roomy *": np.int64,
    # Of four.
    "Neighbours *": np.int64,
    # A structure of its own.
    "Nodes *": np.int64,
    "Openings *": np.int64,
    "Sleepers *": np.int64,
    # Of three.
    "Entry *": np.float64,
}


def fields_in(source: str, name: str) -> dict[str, object]:
    """Return the fields of a structure in a file in C, and what Python calls their types."""
    text = re.sub(r"/\*.*?\*/", "", (FOLDER / source).read_text(), flags=re.DOTALL)
    (body,) = re.findall(r"typedef struct (?:\w+ )?\{([^{}]*)\} " + name + ";", text)
    declared = [re.fullmatch(r"(?:const )?(\w+ \*?)(\w+)", line.strip()) for line in body.split(";")[:-1]]
    found: dict[str, object] = {}
    for kind, field in ((each[1].strip(), each[2]) for each in declared if each is not None):
        if kind in KINDS:
            found[field] = KINDS[kind]
        else:
            # A structure within: Python writes its fields one by one, without the prefix of the first.
            prefix = f"{field}_" if found else ""
            found |= {prefix + inner: value for inner, value in fields_in(source, kind).items()}
    return found


@pytest.mark.parametrize(
    ("source", "record"),
    [
        *[("state.h", State), ("plan.h", Plan), ("rollout.c", Rollout)],
        *[("queue_order.h", Order), ("easy_beside.h", Beside), ("foresight.h", Foresight)],
        *[("slurm.h", Slurm), ("nodes.h", Nodes), ("node_plan.h", NodePlan), ("openings.h", Openings)],
        *[("sleepers.h", Sleepers), ("energy.c", Energy)],
        *[("job_rows.c", JobRows), ("workload_text.c", WorkloadText)],
    ],
)
def test_structures_have_the_same_fields_in_the_same_order(source: str, record: type[Record]) -> None:
    fields = fields_in(source, record.__name__)
    assert len(fields) >= 5
    assert list(fields.items()) == list(record.kinds.items())


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
