"""How faithful a simulation is to its log, as a grade from A to D.

The grade is the worst of four, each of which has limits: the order of the jobs' waits, the distribution of waits, their
mean, and the utilisation of weeks. The limits are conventions; what they are compared with is measured.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from batdispatch.abilities.whatif.fidelity.waits import Apart, Waits, apart
from batdispatch.core.line.hindsight import name_list
from batdispatch.results.numbers import alike, duration

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
#: What each measure is about, in a sentence that names the weakest.
_ABOUT = {
    "order": "the order of waits",
    "distribution": "the distribution of waits",
    "mean": "the mean wait",
    "utilisation": "how busy the machine is",
    "rejected": "the jobs that it refuses",
}


class Grade(NamedTuple):
    """A grade and why.

    Attributes:
        grade: A to D.
        measures: measure -> (value, its own grade).
        apart: how far the waits are apart.
        means: mean wait in the log and in the simulation, s, of the jobs that are compared.
    """

    grade: str
    measures: dict[str, tuple[float, str]]
    apart: Apart
    means: tuple[float, float]

    def lines(self, shared: tuple[float, str] | None = None) -> list[str]:
        """Say how far the simulation is from what really happened, and what to trust, a sentence each.

        Args:
            shared: the unit that mean waits have on the page, as of `duration`.
        """
        real, simulated = (duration(mean, shared) for mean in self.means) if shared else alike(*self.means)
        said = [f"Jobs really waited {real} in the mean, and wait {simulated} in the simulation."]
        if not math.isnan(self.apart.pairs):
            right = f"{100 * self.apart.pairs:.0f}"
            said.append(f"Which of two jobs waits longer is right in the simulation for {right} of 100 pairs.")
        if refused := self.measures["rejected"][0]:
            said.append(f"The simulated site refuses {100 * refused:.3g} % of the jobs.")
        return [*said, self.trust()]

    def trust(self) -> str:
        """Say what the grade allows to conclude, and which measure limits it."""
        weakest = [_ABOUT[name] for name, (_, grade) in self.measures.items() if grade == self.grade]
        limit = "" if self.grade == "A" else f" Least like the real site: {name_list(weakest)}."
        if self.grade == "D":
            return f"This is not the site that the log tells of, so trust no change.{limit}"
        return f"Trust a change against the baseline, and no simulated wait as a forecast.{limit}"


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
    return Grade(max(grade for _, grade in measures.values()), measures, found, (float(means[0]), float(means[1])))


def _grade(name: str, value: float) -> str:
    worse = sum(not value <= limit for limit in LIMITS[name])
    return GRADES[worse]
