"""Random simulations: after every message the ledger's invariants hold."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batdispatch.core.capacity.filling import first_fit
from batdispatch.core.errors import ImpossibleDecision
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import Job, JobState, Stay
from batdispatch.core.line import decisions as d
from batdispatch.core.line import events as e
from batdispatch.core.line.dispatcher import Dispatcher
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.messages import Message
from batdispatch.core.line.session import Session
from batdispatch.core.machine.machine import Host, Machine
from strategies import jobs, machines, make_job

BY_ITSELF = [JobState.COMPLETED_SUCCESSFULLY, JobState.COMPLETED_FAILED, JobState.COMPLETED_WALLTIME_REACHED]
#: Walltime of every job in seconds, less than lies between two messages.
LIMIT = 0.5


class Anything(Dispatcher):
    """Starts, holds, releases, kills, amends, rejects and continues jobs at random."""

    registers_jobs = True

    def __init__(self, data: st.DataObject) -> None:
        super().__init__()
        self.data = data
        self.killed: set[str] = set()
        self.successors = 0
        self.queued: list[str] = []

    def on_submit(self, ledger: Ledger, job: Job) -> None:
        assert job.id in ledger.queue
        ledger.check()
        self.queued.append(job.id)

    def on_end(self, ledger: Ledger, stay: Stay) -> None:
        assert stay.job.id not in ledger.running
        ledger.check()
        may_continue = stay.state is JobState.COMPLETED_KILLED
        assert may_continue or stay.job.id not in ledger.holds
        if may_continue and self.data.draw(st.booleans()):
            self.follow(ledger, stay, self.data.draw(st.integers(1, stay.job.units)))
            ledger.check()

    def follow(self, ledger: Ledger, stay: Stay, units: int) -> None:
        """Register a job that continues another one."""
        self.successors += 1
        again = make_job(f"w0!again{self.successors}", units, stay.job.request.demand)
        ledger.register_job(Job(id=again.id, request=again.request, walltime=LIMIT, parent=stay.job.id))

    def decide(self, ledger: Ledger) -> None:
        for _ in range(self.data.draw(st.integers(0, 4))):
            getattr(
                self, self.data.draw(st.sampled_from(["start", "start", "hold", "release", "kill", "amend", "reject"]))
            )(ledger)
            ledger.check()

    def one(self, among: object) -> object:
        listed = list(among)  # type: ignore[call-overload]
        return self.data.draw(st.sampled_from(listed)) if listed else None

    def start(self, ledger: Ledger) -> None:
        job = self.one(ledger.queue.values())
        if not isinstance(job, Job):
            return
        kept = ledger.held_for(job)
        place = ledger.place(job)
        if job.parent in ledger.holds and job.parent in ledger.running:
            if place is not None:
                with pytest.raises(ImpossibleDecision, match="which it continues, is running"):
                    ledger.start(job, place)
            return
        if kept is not None and kept.units == job.units and not kept.mask & ledger.unavailable:
            ledger.start(job, kept)
        elif place is not None:
            ledger.start(job, place)
        else:
            somewhere = first_fit(ledger.space, ledger.space.whole(), job)
            hold = ledger.holds.get(job.parent)
            demand = job.request.demand
            nothing = demand is not None and not any(demand.values())
            # Who needs nothing may also go where nothing is left.
            if somewhere is not None and hold is None and not nothing:
                with pytest.raises(ImpossibleDecision):
                    ledger.start(job, somewhere)

    def hold(self, ledger: Ledger) -> None:
        stay = self.one(ledger.running.values())
        if isinstance(stay, Stay):
            hosts = Allocation(self.data.draw(st.integers(1, 2 ** len(ledger.machine.hosts) - 1)))
            try:
                ledger.hold(stay.job, hosts)
            except ImpossibleDecision:
                assert hosts.mask & ~stay.allocation.mask, "a job's own hosts can always be held"

    def release(self, ledger: Ledger) -> None:
        job_id = self.one(ledger.holds)
        if isinstance(job_id, str):
            ledger.release(job_id)
            assert job_id not in ledger.holds

    def kill(self, ledger: Ledger) -> None:
        stay = self.one(ledger.running.values())
        if isinstance(stay, Stay):
            ledger.kill([stay.job])
            if self.data.draw(st.booleans()):
                self.follow(ledger, stay, stay.job.units)

    def amend(self, ledger: Ledger) -> None:
        job = self.one(ledger.queue.values())
        if isinstance(job, Job):
            ledger.amend(job, walltime=9.0, rank=self.data.draw(st.none() | st.integers(-3, 3)))

    def reject(self, ledger: Ledger) -> None:
        job = self.one(ledger.queue.values())
        if isinstance(job, Job) and self.data.draw(st.integers(0, 3)) == 0:
            ledger.reject(job, "by chance")


class World:
    """What a simulator knows: who runs and who was killed, from what was decided."""

    def __init__(self, *, acknowledged: bool) -> None:
        self.acknowledged = acknowledged
        self.running: list[str] = []
        self.killed: list[str] = []
        self.registered: list[Job] = []

    def told(self, decisions: list[d.Decision]) -> None:
        for decision in decisions:
            if isinstance(decision, d.Execute):
                self.running.append(decision.job_id)
            elif isinstance(decision, d.Kill):
                self.killed += [job_id for job_id in decision.job_ids if job_id not in self.killed]
            elif isinstance(decision, d.RegisterJob) and self.acknowledged:
                self.registered.append(decision.job)

    def events(self, data: st.DataObject, now: float, number: int, machine: Machine) -> list[e.Event]:
        found: list[e.Event] = []
        found += [e.JobCompleted(now, job_id, JobState.COMPLETED_KILLED) for job_id in self.killed]
        self.running = [job_id for job_id in self.running if job_id not in self.killed]
        self.killed.clear()
        found += [e.JobSubmitted(now, job) for job in self.registered]
        self.registered.clear()
        for job_id in list(self.running):
            if data.draw(st.integers(0, 3)) == 0:
                self.running.remove(job_id)
                found.append(e.JobCompleted(now, job_id, data.draw(st.sampled_from(BY_ITSELF))))
        for each in range(data.draw(st.integers(0, 2))):
            name = f"w0!{number}.{each}"
            job = data.draw(jobs(machine, name))
            fields = dict(job.extra)
            if data.draw(st.integers(0, 2)) == 0:
                on = st.tuples(st.integers(0, number), st.integers(0, 1)).map(lambda pair: f"{pair[0]}.{pair[1]}")
                named = data.draw(st.lists(on, max_size=2, unique=True))
                fields["dependencies"] = [one for one in named if one != name.partition("!")[2]]
            if machine.licences and data.draw(st.booleans()):
                fields["licences"] = {"matlab": data.draw(st.integers(0, 2))}
            demand = fields.pop("demand", None)
            found.append(e.JobSubmitted(now, make_job(name, job.units, demand, walltime=LIMIT, **fields)))
        hosts = Allocation(data.draw(st.integers(1, 2 ** len(machine.hosts) - 1)))
        kind = data.draw(st.sampled_from([None, None, None, e.MachinesAvailable, e.MachinesUnavailable]))
        return found if kind is None else [*found, kind(now, hosts)]


@settings(max_examples=100)
@given(st.booleans(), st.data())
def test_the_invariants_hold_after_every_message(acknowledged: bool, data: st.DataObject) -> None:
    machine = data.draw(machines())
    if data.draw(st.booleans()):
        machine = Machine(
            [
                Host(
                    id=host.id,
                    name=host.name,
                    storage=host.storage,
                    properties={**host.properties, "licences": "matlab=2"},
                )
                for host in machine.hosts
            ]
        )
    dispatcher = Anything(data)
    session = Session(dispatcher)
    world = World(acknowledged=acknowledged)
    config = {"dynamic-jobs-enabled": True, "dynamic-jobs-acknowledged": acknowledged}
    world.told(list(session.handle(Message(0.0, [e.SimulationBegins(0.0, machine, config)])).decisions))
    for number in range(data.draw(st.integers(1, 8))):
        now = float(number)
        events = world.events(data, now, number, machine)
        if number == 7:
            events.append(e.NoMoreStaticJobs(now))
        world.told(list(session.handle(Message(now, events)).decisions))
        assert session.ledger is not None
        session.ledger.check()
        assert sorted(world.running) == sorted(session.ledger.running)
        assert not dispatcher.queued or len(set(dispatcher.queued)) == len(dispatcher.queued), "told of a job twice"
