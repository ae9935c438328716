"""The manual's first page: a complete dispatcher in at most 30 lines, run from its file."""

import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import batdispatch
from batdispatch.core.line.dispatcher import Dispatcher, find
from batdispatch.core.machine.machine import Machine
from simulating import Task, audit, simulate

EXAMPLE = Path(__file__).parents[2] / "schedulers/batdispatch/examples" / "smallest_first.py"


def test_it_has_at_most_30_lines() -> None:
    assert len(EXAMPLE.read_text().splitlines()) <= 30


def test_it_starts_the_smallest_job_that_fits() -> None:
    tasks = [Task("a", 0, 3, 10), Task("b", 1, 4, 10), Task("c", 2, 2, 10), Task("d", 3, 1, 10), Task("e", 3, 1, 10)]
    result = simulate(Machine.flat(4), tasks, f"{EXAMPLE}:SmallestFirst")
    audit(Machine.flat(4), tasks, result)
    assert result.starts() == {"a": 0, "d": 3, "e": 10, "c": 10, "b": 20}


def test_it_runs_on_nodes_with_several_resources() -> None:
    machine = Machine.flat(2, "core=4 gpu=1")
    tasks = [Task("a", 0, 2, 5, demand={"gpu": 1}), Task("b", 0, 6, 5, demand={"core": 1}), Task("c", 1, 1, 5)]
    result = simulate(machine, tasks, f"{EXAMPLE}:SmallestFirst")
    audit(machine, tasks, result)
    assert result.starts() == {"a": 0, "b": 0, "c": 5}


@pytest.mark.parametrize("name", [name for name in batdispatch.__all__ if name != "__version__"])
def test_what_authors_need_is_importable_from_the_package(name: str) -> None:
    found = getattr(batdispatch, name)
    assert found.__name__.rpartition(".")[2] == name
    assert isinstance(found, ModuleType) or found.__module__.startswith("batdispatch.")


def test_what_authors_need_is_described() -> None:
    pages = sorted((Path(__file__).parents[2] / "docs").glob("reference*.md"))
    reference = "".join(page.read_text() for page in pages)
    for name in batdispatch.__all__:
        if name != "__version__":
            assert re.search(rf"^::: batdispatch\.[\w.]+\.{name}$", reference, re.MULTILINE), name


def test_the_package_knows_no_other_names() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Despatcher'"):
        batdispatch.Despatcher  # noqa: B018
    assert issubclass(find(f"{EXAMPLE}:SmallestFirst"), Dispatcher)


def test_importing_the_package_alone_is_cheap() -> None:
    # `batdispatch --help` and shell completion must not load numpy.
    code = "import sys, batdispatch; print('numpy' in sys.modules, 'msgspec' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
