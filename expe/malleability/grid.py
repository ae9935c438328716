"""What is run: slices of a log, shares of malleable jobs, policies, and what is assumed about the jobs."""

from __future__ import annotations

from typing import NamedTuple

from batdispatch.inputs.workloads.malleable import Rule
from batdispatch.runs.grid import Cell

#: Hosts of KTH-SP2, and jobs of a slice. The log's 28,476 jobs make 28 whole slices.
HOSTS, JOBS = 100, 1000
SLICES = tuple(range(28))
#: Seeds of who is malleable, where not all are.
SEEDS = (1, 2)
SHARES = (0.25, 0.5, 1.0)
#: Policy -> the run with it; all of them are easy under the layer.
POLICIES = ("dmr", "equal-share", "speed-up")
EASY = Cell(dispatcher="easy")
#: Resamples of the bootstrap over slices, and its seed.
RESAMPLES, BOOTSTRAP_SEED = 9999, 7
#: Speed of n hosts. The first one is assumed unless something else is said.
SCALABILITIES = ("power:0.7", "power:0.9", "linear")
#: Seconds of run time between two reconfiguring points.
STEP = 300.0


class Case(NamedTuple):
    """One way to make a log's jobs malleable and to resize them."""

    policy: str = "dmr"
    share: float = 1.0
    scalability: str = SCALABILITIES[0]
    step: float = STEP
    #: What becomes of a resized job's walltime.
    walltime: str = "left"
    #: A job's largest size over the size that it asks for.
    expand: int = 2

    @property
    def cell(self) -> Cell:
        """The run on a workload of this case."""
        options = {"policy": self.policy} | ({"walltime": self.walltime} if self.walltime != "left" else {})
        return Cell(dispatcher="resizing", options={"dispatcher": "easy", **options})

    @property
    def rule(self) -> Rule:
        """How jobs are made malleable; what is not said here is the default of `generate malleable`."""
        return Rule(scalability=self.scalability, step=self.step, expand=self.expand)

    @property
    def seeds(self) -> tuple[int, ...]:
        """Seeds of who is malleable."""
        return SEEDS if self.share < 1 else SEEDS[:1]

    @property
    def workload(self) -> str:
        """Name of its workload, without slice and seed."""
        most = "" if self.expand == Case().expand else f"-expand{self.expand}"
        return f"{self.share:g}-{self.scalability.replace(':', '')}-{self.step:g}s{most}"


#: Part -> its cases.
PARTS: dict[str, tuple[Case, ...]] = {
    "shares": tuple(Case(policy, share) for policy in POLICIES for share in SHARES),
    "scalability": tuple(Case(policy, scalability=law) for law in SCALABILITIES for policy in POLICIES),
    "assumptions": (
        Case(),
        Case(expand=1),
        Case(walltime="scaled"),
    ),
}
