"""What a campaign costs beside its runs: many short runs as a campaign, and the same runs by `runs.compare`.

Use: python benchmarks/campaign.py [--cells 1000] [--jobs 100]. One process at a time. It prints CPU seconds, which a
busy machine lengthens less than the time on the wall, and their ratio. `compare` here is the function behind the
command, which writes no report.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from timing import process

FILE = """
name: many
platforms: {{flat: {{generate: flat, options: {{hosts: 32}}}}}}
workloads:
  lublin: {{generate: lublin, seeds: 1, options: {{jobs: {jobs}, hosts: 32, load: 0.7}}}}
dispatchers:
  easy: {{use: easy, options: {{ordering: [{orderings}]}}}}
"""
COMPARE = """
import sys
from pathlib import Path
from batdispatch.runs.compare import compare
from batdispatch.runs.spec import RunSpec
folder, orderings = Path(sys.argv[1]), sys.argv[2:]
inputs = Path(folder, "campaigns", "inputs")
platform, workload = str(next(inputs.glob("*.xml"))), str(next(inputs.glob("*.json")))
specs = [
    RunSpec(platform=platform, workload=workload, dispatcher="easy", options={"ordering": one}, record=False)
    for one in orderings
]
folders, failures = compare(specs, folder / "compared")
assert len(folders) == len(specs) and not failures
"""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=100, help="of each run")
    asked = parser.parse_args()
    orderings = [f"multifactor[age={number}]" for number in range(1, asked.cells + 1)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "many.yaml"
        path.write_text(FILE.format(jobs=asked.jobs, orderings=", ".join(f'"{one}"' for one in orderings)))
        command = [str(Path(sys.executable).parent / "batdispatch"), "campaign", str(path), "--jobs", "1", "--quiet"]

        first, again = (process(command, folder=folder).cpu for _ in range(2))
        other = process([sys.executable, "-c", COMPARE, str(folder), *orderings]).cpu
    each = 1000 * (first - other) / asked.cells
    print(f"{asked.cells} runs of {asked.jobs} jobs, CPU seconds: campaign {first:.1f}, compare {other:.1f}")
    print(f"ratio {first / other:.2f}; {each:.1f} ms more for each run; nothing to do: {again:.1f}")


if __name__ == "__main__":
    main()
