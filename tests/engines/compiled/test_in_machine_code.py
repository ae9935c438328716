"""Kernels that are compiled do what the same kernels do as Python; elsewhere, tests run them as Python."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("numba")

SUPPORT = Path(__file__).parents[2] / "support"


@pytest.mark.parametrize(
    ("dispatchers", "cases"),
    [(["fcfs", "filler", "easy"], 6), (["conservative"], 2)],
)
def test_compiled_kernels_make_the_files_of_python(dispatchers: list[str], cases: int) -> None:
    # What was compiled is kept in the user's cache folder, so only the first of many suites compiles.
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "0", "PYTHONPATH": str(SUPPORT)}
    words = [sys.executable, "-c", f"import machine_code; print(machine_code.compare(*{dispatchers}))"]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == cases
