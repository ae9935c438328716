"""What the paper reports (Iserte et al., "DMR API", Parallel Computing 78, 2018, section 7), and what is expected."""

from __future__ import annotations

from typing import NamedTuple

#: Nodes of the machine for the three applications (section 7.5).
HOSTS = 64


class Figures(NamedTuple):
    """A line of table 4: utilisation, and means over the jobs in seconds."""

    utilisation: float
    wait: float
    execution: float
    completion: float


#: Table 4: number of jobs -> fixed, malleable.
PAPER = {
    50: (Figures(0.9871, 4115.02, 620.26, 4735.28), Figures(0.6867, 1359.92, 900.3, 2260.22)),
    100: (Figures(0.9739, 9750.34, 586.64, 10336.98), Figures(0.7191, 2990.6, 858.16, 3848.76)),
    200: (Figures(0.9838, 17466.2, 520.58, 17986.78), Figures(0.7354, 6856.8, 825.88, 7676.67)),
    400: (Figures(0.9838, 31788.39, 532.14, 32320.53), Figures(0.7354, 13861.03, 843.19, 14704.22)),
}
#: Figures 4 and 5: number of jobs -> by how much workload time and waits fall.
GAINS = {50: (0.4648, 0.6695), 100: (0.4904, 0.6933), 200: (0.4142, 0.6074), 400: (0.4197, 0.5640)}


class Actions(NamedTuple):
    """A column of table 1: resizes per job, and seconds of a check without action, an expansion and a shrink."""

    expansions: float
    shrinks: float
    check: float
    expand: float
    longest_expansion: float
    shrink: float


#: Table 1.
TABLE_1 = {
    "sync": Actions(0.125, 0.485, 0.0094, 0.423, 0.530, 0.425),
    "async": Actions(0.267, 0.757, 0.0137, 8.820, 40.418, 0.422),
}


class Gains(NamedTuple):
    """A column of table 2: utilisation, and by how much waits, execution and completion fall."""

    utilisation: float
    wait: float
    execution: float
    completion: float


#: Table 2; the fixed run has no gains.
TABLE_2 = {
    "fixed": Gains(0.83607, 0.0, 0.0, 0.0),
    "sync": Gains(0.93909, 0.27980, -0.58482, 0.12786),
    "async": Gains(0.86687, 0.30575, -0.97294, 0.07799),
}
#: The run times of flexible sleeps are scaled until rigid jobs use so much of the machine; how exactly; and how far
#: asynchronous may then be from fixed.
FIXED_UTILISATION, NEAR, NO_FURTHER = TABLE_2["fixed"].utilisation, 0.01, 0.03

#: Seconds after which an expansion is dropped, as `dmr` has it by default.
TIMEOUT = 40.0
