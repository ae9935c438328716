"""CPU time of reservation sequences, and of the stochastic scenarios on the embedded engine.

Use: python benchmarks/stochastic.py [JOBS]   (1,000 jobs unless said otherwise)
"""

from __future__ import annotations

import argparse
import functools
import tempfile
from pathlib import Path

import numpy as np
from timing import timed

from batdispatch.abilities.stochastic.requests.atoptimal import atoptimal
from batdispatch.abilities.stochastic.requests.toptimal import toptimal, toptimal_on_grid
from batdispatch.abilities.stochastic.requests.vocabulary import parse_law
from batdispatch.core.line.dispatcher import create
from batdispatch.core.line.session import Session
from batdispatch.core.machine.machine import Machine
from batdispatch.engines.embedded import EmbeddedEngine
from batdispatch.engines.outputs import Outputs
from batdispatch.engines.records import EngineOptions
from batdispatch_papers.stochastic.workload import scenario


def run(which: int, jobs: int, options: dict[str, str]) -> int:
    """Simulate a scenario under the batch scheduler, and return how many jobs it has."""
    workload = scenario(np.random.default_rng(0), which, jobs=jobs)
    with tempfile.TemporaryDirectory() as name:
        outputs = Outputs(Path(name), 10)
        engine = EmbeddedEngine(Machine.flat(10), workload, outputs, options=EngineOptions(dynamic_jobs=True))
        engine.run(Session(create("stochastic-batch", options)))
    return len(workload.jobs)


def main() -> None:
    """Print one line a measurement."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("jobs", type=int, nargs="?", default=1000, help="how many jobs a scenario has")
    jobs = parser.parse_args().jobs
    law = parse_law("tnorm:0,20,8,2")
    # The first call loads scipy's optimiser.
    toptimal(parse_law("tnorm:0,30,8,2"))
    print(f"TOptimal on 2,000 points           {timed(lambda: toptimal_on_grid(law, 2000))[0]:.4f}")
    for zeta in (0.1, 0.5, 0.9):
        print(f"ATOptimal, rate {zeta}               {timed(lambda zeta=zeta: atoptimal(law, zeta))[0]:.4f}")
    for which in (1, 3):
        for options in ({}, {"requests": "hpc"}, {"requests": "hpc", "speculate": "true"}, {"plan": "repack"}):
            told = ",".join(f"{key}={value}" for key, value in options.items()) or "defaults"
            print(f"scenario {which}, {jobs} jobs, {told}: {timed(lambda w=which, o=options: run(w, jobs, o))[0]:.2f}")
    for large in (25, 50, 100):
        for plan, gain in (("rigid", "0"), ("repack", "0.01"), ("repack", "0")):
            took, count = timed(functools.partial(run, 2, large, {"plan": plan, "gain": gain}))
            print(f"scenario 2, {large} large jobs of {count:,}, plan={plan}, gain={gain}: {took:.2f}")


if __name__ == "__main__":
    main()
