"""Conservative backfilling leaves jobs alone that cannot gain; whoever places all of them anew gets the same."""

from typing import TypeVar

from hypothesis import given
from hypothesis import strategies as st

from batdispatch.core.hosts.allocation import Place
from batdispatch.core.jobs.job import Job
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.options import parse_options
from batdispatch.core.line.scene import Scene
from batdispatch.core.machine.machine import Machine
from batdispatch.core.plans.reservations import Reservation, Reservations
from batdispatch.dispatchers.backfilling.conservative import Conservative
from batdispatch.parts.placement.first_fit import FirstFit
from simulating import Task, simulate
from strategies import absences, exclusive_machines, machines, workloads

C = TypeVar("C", bound=Conservative)


class PlacedAnew(Reservations):
    """Takes each job out of the plan and looks for the best place in all of it."""

    def replan(self, key: str, job: Job, duration: float, *, keep: bool, stable: bool) -> Reservation | None:
        before = self.planned.pop(key, None)
        if before is not None:
            self.timeline.release(before.job, before.place.allocation, before.start, before.end)
        found = self.earliest(job, duration)
        if found is not None and before is not None and keep and found.start >= before.start:
            found = before
        return None if found is None else self.put(key, found)


class Anew(Conservative):
    """Places every planned job anew at each compression."""

    def begin(self, ledger: Ledger) -> None:
        super().begin(ledger)
        self.plan = PlacedAnew(ledger, self.placement.place, slack=self.lateness.slack)


class Planned(Conservative):
    """Notes where the plan has job 3 after each decision, as often as that changes."""

    def begin(self, ledger: Ledger) -> None:
        super().begin(ledger)
        self.planned_on: list[str] = []

    def decide(self, ledger: Ledger) -> None:
        super().decide(ledger)
        kept = self.plan.planned.get("w0!3")
        if kept is not None and str(kept.place.allocation) not in self.planned_on:
            self.planned_on.append(str(kept.place.allocation))


def built(kind: type[C], **options: str) -> C:
    return kind(parse_options(kind.options_type, options, kind.__name__))


@given(data=st.data())
def test_the_schedule_is_that_of_placing_every_job_anew(data: st.DataObject) -> None:
    machine = data.draw(st.one_of(exclusive_machines(), machines()))
    tasks = data.draw(workloads(machine, most=20))
    options = {
        "placement": data.draw(st.sampled_from(["first-fit", "last-fit", "best-fit", "contiguous", "scarce"])),
        "ordering": data.draw(st.sampled_from(["fcfs", "sjf", "wfp3"])),
        "rjms_delay": data.draw(st.sampled_from(["0", "1", "5"])),
    }
    away = data.draw(st.one_of(st.just([]), absences(machine)))
    expected = simulate(machine, tasks, built(Anew, **options), events=away).files["jobs.csv"]
    assert simulate(machine, tasks, built(Conservative, **options), events=away).files["jobs.csv"] == expected


def test_no_place_is_looked_for_where_a_job_cannot_gain() -> None:
    looked: list[tuple[float, str]] = []

    class Watched(FirstFit):
        def place(self, scene: Scene, job: Job) -> Place | None:
            looked.append((scene.ledger.now, job.id))
            return super().place(scene, job)

    # "0" ends 2 s early on 1 of 2 hosts: 2 s are too short for the others until "1" ends as well, as expected.
    tasks = [
        Task("0", 0.0, 1, 4.0, 6.0),
        Task("1", 0.0, 1, 8.0, 8.0),
        Task("2", 0.0, 2, 5.0, 5.0),
        Task("3", 0.0, 2, 5.0, 5.0),
    ]
    dispatcher = built(Conservative)
    dispatcher.placement = Watched()
    starts = simulate(Machine.flat(2), tasks, dispatcher).starts()
    assert starts == {"0": 0.0, "1": 0.0, "2": 8.0, "3": 13.0}
    assert looked == [(0.0, f"w0!{job}") for job in range(4)] + [(8.0, "w0!2"), (13.0, "w0!3")]


def test_a_job_that_cannot_start_earlier_moves_to_hosts_that_its_placement_likes_better() -> None:
    # "0" ends 6 s early, while "3" is planned on hosts 1 and 2 from 4 s on; before that only host 0 is free.
    tasks = [
        Task("0", 0.0, 1, 2.0, 8.0),
        Task("1", 0.0, 1, 4.0, 4.0),
        Task("2", 0.0, 1, 4.0, 4.0),
        Task("3", 0.0, 2, 5.0, 5.0),
    ]
    watched = built(Planned)
    result = simulate(Machine.flat(3), tasks, watched)
    assert result.rows["3"].hosts == "0-1"
    assert watched.planned_on == ["1-2", "0-1"]
