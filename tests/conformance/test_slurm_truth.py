"""slurm-backfill beside recordings of a real Slurm 22.05.8; `benchmarks/slurm.py` makes more of them."""

import csv
from functools import cache

import pytest

from batdispatch.abilities.sites.slurm.clocks import MainLoopClock
from batdispatch.abilities.sites.slurm.main_loop import MainLoop
from batdispatch.abilities.sites.slurm.partitions import Partitions
from batdispatch.abilities.sites.slurm.preemption import Preemption
from batdispatch.abilities.sites.slurm.suspension import Suspension
from batdispatch.core.jobs.job import Job
from batdispatch.core.line.events import SimulationBegins
from batdispatch.core.line.ledger import Ledger
from batdispatch.parts.ordering import make_ordering
from batdispatch.testing.simulation import Task
from slurm_truth import FOLDER, Recording, read_recording

#: Recording -> least share of pairs in Slurm's order, and by how much of Slurm's the mean wait may differ.
NEAR = {
    "basic-shared": (0.995, 0.01),
    "bf-licenses": (0.96, 0.03),
    "chain": (0.975, 0.08),
    "defaults": (0.97, 0.01),
    "exclusive": (0.975, 0.07),
    "licences": (0.965, 0.04),
    "multifactor": (0.97, 0.03),
    "node-lists": (0.99, 0.01),
    "partitions": (0.995, 0.01),
    "partitions-whole": (0.995, 0.01),
    "preempt-cancel": (0.995, 0.01),
    "preempt-requeue": (0.985, 0.03),
    "preempt-suspend": (0.98, 0.04),
    "reservation": (0.995, 0.01),
    "small-relative": (0.995, 0.01),
    "suspension": (0.995, 0.05),
    "windows": (0.98, 0.02),
}


@cache
def recording(name: str) -> Recording:
    return read_recording(FOLDER / f"{name}.csv")


@pytest.mark.parametrize("name", NEAR)
def test_jobs_start_in_slurms_order_and_wait_as_long(name: str) -> None:
    real = recording(name)
    ours = real.run()
    order, apart = NEAR[name]
    assert real.pairs(ours) >= order
    assert real.wait(ours) == pytest.approx(real.wait(real.starts), rel=apart)


@pytest.mark.parametrize("name", NEAR)
def test_easy_is_never_nearer_to_slurm(name: str) -> None:
    real = recording(name)
    assert real.pairs(real.run()) > real.pairs(real.run("easy"))


#: A recording on which a rule decides, and the option that does without the rule.
RULES = [
    ("basic-shared", {"resolution": "0"}),
    ("basic-shared", {"end_window": "0"}),
    ("basic-shared", {"placement": "first-fit"}),
    ("partitions", {"queue_depth": "1"}),
    ("partitions", {"depth": "3"}),
    ("partitions", {"reservations": "1"}),
    ("licences", {"licenses": "true"}),
    ("bf-licenses", {"licenses": "false"}),
    ("multifactor", {"ordering": "basic"}),
    ("preempt-cancel", {"preempt": "none"}),
    ("preempt-cancel", {"preempt_mode": "requeue"}),
    ("preempt-requeue", {"preempt_mode": "cancel"}),
    ("preempt-requeue", {"requeue_delay": "0"}),
    ("preempt-suspend", {"preempt": "none"}),
    ("preempt-suspend", {"preempt_mode": "requeue"}),
    ("suspension", {"preempt_mode": "cancel"}),
    ("small-relative", {"ordering": "multifactor[size=100000]"}),
    ("small-relative", {"interval": "30"}),
]


@pytest.mark.parametrize(("name", "without"), RULES)
def test_without_a_rule_the_order_is_another(name: str, without: dict[str, str]) -> None:
    assert recording(name).pairs(recording(name).run(**without)) < NEAR[name][0]


def test_without_tiers_the_order_is_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Partitions, "in_order", lambda self, jobs: jobs)
    assert recording("partitions").pairs(recording("partitions").run()) < 0.9


def test_if_jobs_that_could_never_fit_held_up_others_the_order_would_be_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(MainLoop, "_is_busy", lambda self, job: True)
    assert recording("partitions").pairs(recording("partitions").run()) < 0.95


def test_if_jobs_of_whole_nodes_held_up_only_what_they_fit_on_the_order_would_be_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fits_if_idle(loop: MainLoop, job: Job) -> bool:
        space = loop._ledger.space
        return bool(space.fits(space.only(space.whole(), loop._open), job))

    monkeypatch.setattr(MainLoop, "_is_busy", fits_if_idle)
    assert recording("partitions-whole").pairs(recording("partitions-whole").run()) < 0.95


def test_if_large_jobs_were_preempted_first_the_order_would_be_another(monkeypatch: pytest.MonkeyPatch) -> None:
    ordered = Preemption.candidates
    monkeypatch.setattr(Preemption, "candidates", lambda self, job: ordered(self, job)[::-1])
    assert recording("preempt-cancel").pairs(recording("preempt-cancel").run()) < 0.97


def test_if_preemptors_waited_for_the_next_tick_the_order_would_be_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MainLoopClock, "hurry", lambda self: None)
    assert recording("preempt-cancel").pairs(recording("preempt-cancel").run()) < 0.96


def test_if_suspended_jobs_kept_nothing_the_order_would_be_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Suspension, "kept", lambda self, job: [])
    assert recording("suspension").pairs(recording("suspension").run()) < NEAR["suspension"][0]


def test_suspended_jobs_end_when_slurm_says() -> None:
    """Their work stands still meanwhile, and goes on when the last higher job has left: nothing of it is lost."""
    real = recording("suspension")
    ends = {
        f"j{row['job']}": float(row["end"])
        for row in csv.DictReader((FOLDER / "suspension.csv").read_text().splitlines())
    }
    assert real.ends() == pytest.approx(ends, abs=4.0)


@pytest.mark.parametrize("name", ["small-relative"])
def test_priorities_are_those_that_slurmctld_prints(name: str) -> None:
    real = recording(name)
    ordering = make_ordering(real.options["ordering"])
    ordering.begin(_ledger(real))
    rows = csv.DictReader((FOLDER / f"{name}.csv").read_text().splitlines())
    ours = {task.id: ordering.value(_job(task), task.submission) for task in real.tasks}
    assert ours == {f"j{row['job']}": int(row["priority"]) for row in rows}


def _ledger(real: Recording) -> Ledger:
    return Ledger(SimulationBegins(0.0, real.machine))


def _job(task: Task) -> Job:
    return Job(
        id=f"w0!{task.id}",
        request=task.request(),
        submission=task.submission,
        walltime=task.walltime,
        extra=task.fields(),
    )
