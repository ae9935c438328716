"""Makes the instances beside the tests importable, and the model that only a benchmark has."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
# Behind the support of tests, in which modules have the names of some benchmarks.
sys.path.append(str(Path(__file__).parents[4] / "benchmarks"))
