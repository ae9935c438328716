"""Makes the instances beside the tests importable, and the model that only a benchmark has."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[3] / "benchmarks")]
