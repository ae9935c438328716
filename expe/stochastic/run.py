"""Reruns the scenarios of Gainaru, Pallez, Sun, Raghavan (ICPP 2019) and writes results.md beside this file.

Use: python expe/stochastic/run.py [--seeds 10] [--scenarios 1234]. One process, about a minute of CPU time a seed.
"""

from __future__ import annotations

import argparse
import math
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy import stats

from batdispatch.analysis.attempts import attempt_metrics
from batdispatch.analysis.frame import read_jobs
from batdispatch.core.dispatcher import create
from batdispatch.core.machine import Machine
from batdispatch.core.session import Session
from batdispatch.engines.embedded import EmbeddedEngine
from batdispatch.engines.outputs import Outputs
from batdispatch.engines.records import EngineOptions
from batdispatch.workloads import Workload
from batdispatch.workloads.stochastic import scenario

HPC = {"requests": "hpc"}
TOPTIMAL = {"requests": "toptimal"}
SPECULATE = {"speculate": "true"}
REPACK = {"plan": "repack"}

#: Scenario -> (what the paper says, options of the workload, rows: label -> dispatcher options).
CAMPAIGN = {
    "1, beta widths": (
        "TOptimal is better than HPC and Neuroscience. The authors' simulator: HPC .407, 483 h; TOptimal .662, 285 h.",
        {"which": 1},
        {
            "HPC": HPC,
            "Neuroscience": {"requests": "neuroscience"},
            "TOptimal": TOPTIMAL,
            "HPC, re-packed": HPC | REPACK,
            "TOptimal, re-packed": TOPTIMAL | REPACK,
        },
    ),
    "1, machine-wide jobs": (
        "No figure; closed forms: rigid HPC .400, TOptimal .670; re-packed HPC 1, TOptimal .897.",
        {"which": 1, "widths": "all"},
        {"HPC": HPC, "TOptimal": TOPTIMAL, "HPC, re-packed": HPC | REPACK, "TOptimal, re-packed": TOPTIMAL | REPACK},
    ),
    "2, rate 0.3": (
        "ATOptimal lies between TOptimal and HPC; its utilisation is always the best.",
        {"which": 2, "rate": 0.3},
        {
            "HPC": HPC,
            "TOptimal": TOPTIMAL,
            "ATOptimal, rate given": {"requests": "atoptimal", "rate": "0.3"},
            "ATOptimal, rate measured": {"requests": "atoptimal"},
        },
    ),
    "3, 30 % small": (
        "TOptimal is a little better than HPC. The authors' simulator: HPC .482, 170 h; TOptimal .641, 115 h.",
        {"which": 3, "share": 0.3},
        {
            "HPC": HPC,
            "TOptimal": TOPTIMAL,
            "HPC, speculative": HPC | SPECULATE,
            "TOptimal, speculative": TOPTIMAL | SPECULATE,
        },
    ),
    "3, 70 % small": (
        "Speculative HPC is better than TOptimal where many jobs are small.",
        {"which": 3, "share": 0.7},
        {
            "HPC": HPC,
            "TOptimal": TOPTIMAL,
            "HPC, speculative": HPC | SPECULATE,
            "TOptimal, speculative": TOPTIMAL | SPECULATE,
        },
    ),
    "4, Intrepid": (
        "Pictures only. In the whole paper: response time -25 %, utilisation +30 %.",
        {"which": 4},
        {"HPC": HPC, "TOptimal": TOPTIMAL, "ATOptimal": {"requests": "atoptimal", "rate": "0.21"}},
    ),
}


def simulate(workload: Workload, options: dict[str, str]) -> tuple[float, float, float, float]:
    """Return effective utilisation, mean response of the long jobs (h), failures a long job, and CPU seconds."""
    machine = Machine.flat(workload.nb_res or 1)
    began = time.process_time()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        engine = EmbeddedEngine(
            machine, workload, Outputs(folder, machine.size), options=EngineOptions(dynamic_jobs=True)
        )
        engine.run(Session(create("stochastic-batch", options)))
        spent = time.process_time() - began
        frame = read_jobs(folder / "jobs.csv")
    everything = attempt_metrics(frame, machine.size)
    long = attempt_metrics(frame[~frame["job_id"].str.startswith("small-")])
    assert everything["jobs"] == everything["jobs_succeeded"] == len(workload.jobs)
    return (
        float(everything["effective_utilisation"] or 0),
        float(long["mean_response_time"] or 0) / 3600,
        float(long["failures_per_job"] or 0),
        spent,
    )


def interval(values: list[float]) -> str:
    """Return mean and half width of the 95 % confidence interval (Student's t)."""
    mean = float(np.mean(values))
    half = stats.t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / math.sqrt(len(values))
    digits = 1 if abs(mean) >= 10 else 3
    return f"{mean:.{digits}f} ± {half:.{digits}f}"


def main() -> None:
    """Run the campaign."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--scenarios", default="1234")
    chosen = parser.parse_args()
    lines = [
        "# Speculative scheduling: the paper's claims and what we measured",
        "",
        f"`stochastic-batch`, 100 jobs (scenario 4: 400), seeds 0 to {chosen.seeds - 1}; rigid plan unless said.",
        "Mean and 95 % confidence interval; response time and failures are those of the stochastic jobs.",
    ]
    for title, (claim, made, rows) in CAMPAIGN.items():
        if title[0] not in chosen.scenarios:
            continue
        lines += ["", f"## Scenario {title}", "", f"The paper: {claim}", ""]
        lines += ["| | utilisation | response time (h) | failures a job | CPU s a run |", "|---|---|---|---|---|"]
        workloads = [scenario(np.random.default_rng(seed), **made) for seed in range(chosen.seeds)]
        for label, options in rows.items():
            columns = list(zip(*(simulate(workload, options) for workload in workloads), strict=True))
            cells = [*(interval(list(column)) for column in columns[:3]), f"{np.mean(columns[3]):.2f}"]
            lines.append(f"| {label} | {' | '.join(cells)} |")
            print(title, label, *cells, flush=True)
    Path(__file__).with_name("results.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
