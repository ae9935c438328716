"""The audit of a large run: CPU seconds and memory.

    python benchmarks/audit.py [--jobs 39000] [--hosts 9216] [--replay]

A workload of the Lublin-Feitelson model is simulated with easy; then the run's folder is audited in a process of its
own. `--replay` lets the dispatcher decide again, too.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
from pathlib import Path


def main() -> None:
    """Generate, simulate and audit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=39_000)
    parser.add_argument("--hosts", type=int, default=9_216)
    parser.add_argument("--replay", action="store_true")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        batdispatch = [str(Path(sys.executable).with_name("batdispatch"))]
        platform, workload = str(root / "p.xml"), str(root / "w.json")
        for arguments in (
            ["platform", "generate", "flat", "--hosts", str(chosen.hosts), "-o", platform],
            f"generate lublin --seed 1 --jobs {chosen.jobs} --hosts {chosen.hosts} --load 0.9 -o {workload}".split(),
            ["run", "--platform", platform, "--workload", workload, "--dispatcher", "easy", "--out", str(root / "run")],
        ):
            subprocess.run([*batdispatch, *arguments], check=True, stdout=subprocess.DEVNULL)
        code = (
            "import resource, sys\n"
            "from pathlib import Path\n"
            "from batdispatch.results.audit.run import Auditor\n"
            "from batdispatch.results.rerun import audit_all\n"
            "findings = audit_all(Auditor(), Path(sys.argv[1]), sys.argv[2])\n"
            "print(findings.total, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)\n"
        )
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [sys.executable, "-c", code, str(root / "run"), "always" if chosen.replay else "never"],
            check=True,
            capture_output=True,
            text=True,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        violations, memory = done.stdout.split()
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        size = f"{chosen.jobs:,} jobs on {chosen.hosts:,} hosts"
        print(f"{size}: {violations} violations, {seconds:.1f} s CPU, {memory} MiB")


if __name__ == "__main__":
    main()
