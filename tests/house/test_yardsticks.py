"""The yardsticks of `benchmarks/` start every job when EASY does, so that their times are those of the same work."""

import importlib.util
import shutil
import struct
import subprocess
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def yardstick() -> ModuleType:
    spec = importlib.util.spec_from_file_location("yardstick", BENCHMARKS / "yardstick.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Name -> words of each program in C++, without the number of hosts."""
    if shutil.which("g++") is None:
        pytest.skip("no g++")
    found = {}
    for name in ("easy_counts", "easy_fastest"):
        program = tmp_path_factory.mktemp("cpp") / name
        subprocess.run(
            ["g++", "-O2", "-std=c++17", "-Wall", "-Werror", "-o", program, BENCHMARKS / f"{name}.cpp"], check=True
        )
        found[name] = [str(program), *(["easy"] if name == "easy_counts" else [])]
    return found


@pytest.mark.parametrize("seed", range(12))
def test_the_programs_in_cpp_start_every_job_when_easy_in_python_does(
    seed: int, programs: dict[str, list[str]], yardstick: ModuleType
) -> None:
    rng = np.random.default_rng(seed)
    count, hosts = 800, int(rng.integers(4, 60))
    runtime = rng.integers(1, 40, count)
    # Walltimes are short enough that expected ends coincide, and some jobs end together with them.
    walltime = runtime + rng.integers(0, 3, count) * rng.integers(0, 30, count)
    sizes = np.minimum(rng.integers(1, hosts + 1, count), rng.integers(1, hosts + 1, count))
    mean_gap = float((runtime * sizes).mean()) / hosts / (0.7, 1.0, 1.4)[seed % 3]
    submission = np.floor(np.cumsum(rng.exponential(mean_gap, count)))
    jobs = [
        yardstick.Rigid(float(when), int(size), float(run), float(limit))
        for when, size, run, limit in zip(submission, sizes, runtime, walltime, strict=True)
    ]
    expected = yardstick.easy(jobs, hosts)
    # Some job was backfilled: it started before one that came earlier.
    assert any(first > second for first, second in pairwise(expected))
    data = struct.pack("<q", count) + np.array(jobs, dtype=np.float64).tobytes()
    for name, words in programs.items():
        done = subprocess.run([*words, str(hosts)], input=data, capture_output=True, check=True)
        assert np.frombuffer(done.stdout).tolist() == expected, name
