"""How faithful a simulation is to its log, as a grade from A to D.

The grade is the worst of four, each of which has limits: the order of the jobs' waits, the distribution of waits, their
mean, and the utilisation of weeks. The limits are conventions; what they are compared with is measured.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from batdispatch.report.fidelity.waits import Apart, Waits, apart
from batdispatch.results.numbers import duration

#: Grades, the best first.
GRADES = "ABCD"
#: Waits that are shorter on average than this are alike, s.
SHORT = 60.0
#: Measure -> the largest value for A, B and C; what is larger is D.
LIMITS = {
    "order": (0.2, 0.4, 0.7),
    "distribution": (0.15, 0.3, 0.6),
    "mean": (1.15, 1.5, 2.0),
    "utilisation": (0.03, 0.07, 0.15),
    "rejected": (0.0, 0.01, 0.02),
}
_WORDS = {
    "order": "1 - Spearman's rank correlation of the jobs' waits",
    "distribution": "distance of the distributions of waits in decades",
    "mean": "factor between the mean waits",
    "utilisation": "largest difference between weekly utilisations",
    "rejected": "share of the jobs that the simulated site refuses",
}


class Grade(NamedTuple):
    """A grade and why.

    Attributes:
        grade: A to D.
        measures: measure -> (value, its own grade).
        apart: how far the waits are apart.
    """

    grade: str
    measures: dict[str, tuple[float, str]]
    apart: Apart

    def lines(self) -> list[str]:
        """Return a sentence for each measure."""
        return [f"{_WORDS[name]} is {value:.3g}: {grade}" for name, (value, grade) in self.measures.items()]


def grade_of(log: Waits, simulation: Waits, *, rejected: float) -> Grade:
    """Return the grade of a simulation.

    Args:
        log: the waits in the log.
        simulation: those of the same jobs in the simulation.
        rejected: share of the log's jobs that the simulation refused.
    """
    found = apart(log, simulation)
    means = log.wait.mean(), simulation.wait.mean()
    near = bool(max(means) < SHORT)
    factor = 1.0 if near else max(found.ratio, 1 / found.ratio) if found.ratio > 0 else math.inf
    order = 0.0 if near or math.isnan(found.rank) else 1 - found.rank
    values = {
        "order": order,
        "distribution": found.decades,
        "mean": factor,
        "utilisation": found.busy,
        "rejected": rejected,
    }
    measures = {name: (float(value), _grade(name, value)) for name, value in values.items()}
    return Grade(max(grade for _, grade in measures.values()), measures, found)


def _grade(name: str, value: float) -> str:
    worse = sum(not value <= limit for limit in LIMITS[name])
    return GRADES[worse]


def sentence(grade: Grade, log: Waits, simulation: Waits, name: str) -> str:
    """Say what the grade is."""
    means = (duration(float(each.wait.mean())) for each in (log, simulation))
    return (
        f"Baseline {name}: grade {grade.grade}. Mean wait {' in the log, '.join(means)} in the simulation "
        f"({'; '.join(grade.lines())})."
    )
