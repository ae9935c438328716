"""What is run, and what the paper and an independent simulation report of it."""

from __future__ import annotations

from typing import Any, NamedTuple

from batdispatch.runs.grid import Cell

#: Equal weights for age and size, so large that rounding to whole priorities matters to nobody.
MULTIFACTOR = "multifactor[age=1000000,size=1000000]"
#: Slurm's backfilling as the independent simulation has it: 12 jobs that cannot start have reservations.
BACKFILL = {"reservations": "12"}

#: Row of the paper's table -> what is run.
ROWS = {
    "backfill, basic": Cell(dispatcher="slurm-backfill", options={"ordering": "basic", **BACKFILL}),
    "IPSCHED, basic": Cell(dispatcher="ipsched", options={"priorities": "basic"}),
    "backfill, multifactor": Cell(dispatcher="slurm-backfill", options={"ordering": MULTIFACTOR, **BACKFILL}),
    "IPSCHED, multifactor": Cell(dispatcher="ipsched", options={"priorities": MULTIFACTOR}),
}


class Figures(NamedTuple):
    """A row of the paper's table: hours, and standard deviations over the jobs."""

    wait: float
    wait_std: float
    slowdown: float
    slowdown_std: float
    utilisation: float


#: What the slides report.
PAPER = {
    "backfill, basic": Figures(1.60, 0.836, 18.11, 25.49, 0.90),
    "IPSCHED, basic": Figures(0.77, 1.257, 9.95, 18.87, 0.92),
    "backfill, multifactor": Figures(2.42, 1.758, 22.75, 22.02, 0.89),
    "IPSCHED, multifactor": Figures(0.88, 1.223, 10.75, 18.20, 0.94),
}
#: Means of three seeds of a simulation that shares no code with this package.
REFERENCE = {
    "backfill, basic": Figures(1.648, 1.037, 16.563, 14.593, 0.884),
    "IPSCHED, basic": Figures(0.796, 1.367, 11.06, 24.52, 0.957),
    "backfill, multifactor": Figures(2.51, 1.675, 24.177, 22.26, 0.918),
    "IPSCHED, multifactor": Figures(0.821, 1.291, 11.167, 23.903, 0.967),
}
#: How far a mean may be from the paper's.
TOLERANCE = 0.15
#: IPSCHED's mean wait is expected to be at most this share of backfilling's; in the paper it is 0.48 and 0.36.
MOST_WAIT = 0.55

#: Assumption about the workload -> options of `generate esp` that differ from its defaults.
CASES: dict[str, dict[str, Any]] = {
    "over 3 h": {},
    "at the start": {"spread": 0.0},
    "over 1.5 h": {"spread": 5_400.0},
    "over 4.5 h": {"spread": 16_200.0},
    "4 cores a GPU node": {"gpu_cores_per_node": 4},
    "Z has its turn": {"z_rule": "alone"},
}
#: Assumption about Slurm -> options of slurm-backfill that differ from the rows'.
SLURM: dict[str, dict[str, str]] = {
    "1 reservation": {"reservations": "1"},
    "as in the table: 12": {},
    "a reservation for each job tried": {"reservations": "0"},
    "a pass at each event": {"interval": "0"},
    "a pass every 5 minutes": {"interval": "300"},
}
