"""Hosts that are kept for the job that continues another one."""

import msgspec
import pytest

from batdispatch.core.errors import ImpossibleDecision
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import Job, JobState
from batdispatch.core.line import events as e
from batdispatch.core.line.events import MachinesAvailable, MachinesUnavailable
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.machine.machine import Host, Machine
from strategies import make_job

A = Allocation.parse
KILLED = JobState.COMPLETED_KILLED
BY_ITSELF = [
    JobState.COMPLETED_SUCCESSFULLY,
    JobState.COMPLETED_FAILED,
    JobState.COMPLETED_WALLTIME_REACHED,
]


class Cluster:
    """Four hosts of which the first job has 0 and 1; after each step the ledger is checked."""

    def __init__(self, machine: Machine | None = None, *, acknowledged: bool = False) -> None:
        config = {"dynamic-jobs-enabled": True, "dynamic-jobs-acknowledged": acknowledged}
        self.ledger = Ledger(e.SimulationBegins(0.0, machine or Machine.flat(4), config))

    def submit(self, job: Job) -> Job:
        self.ledger.apply_submitted(e.JobSubmitted(self.ledger.now, job))
        self.ledger.check()
        return job

    def start(self, job: Job, hosts: str | Allocation) -> None:
        self.ledger.start(job, A(hosts) if isinstance(hosts, str) else hosts)
        self.ledger.check()

    def hold(self, job: Job, hosts: str | Allocation) -> None:
        self.ledger.hold(job, A(hosts) if isinstance(hosts, str) else hosts)
        self.ledger.check()

    def end(self, job: Job, state: JobState = KILLED) -> None:
        stay = self.ledger.running[job.id]
        if state is KILLED:
            self.ledger.kill([job])
        elif state is JobState.COMPLETED_WALLTIME_REACHED:
            self.ledger.now = stay.start + stay.job.walltime
        self.ledger.apply_completed(e.JobCompleted(self.ledger.now, job.id, state))
        self.ledger.check()
        self.ledger.unblock()
        self.ledger.check()

    def release(self, job: Job) -> None:
        self.ledger.release(job.id)
        self.ledger.check()

    def successor(self, job: Job, units: int = 1, name: str = "w0!next") -> Job:
        """Register the job that continues another one; where the simulator acknowledges, it does."""
        found = Job(id=name, request=make_job(units=units, demand=job.request.demand).request, parent=job.id)
        self.ledger.register_job(found)
        self.ledger.check()
        if self.ledger.config["dynamic-jobs-acknowledged"]:
            assert found.id not in self.ledger.queue
            return self.submit(Job(id=found.id, request=found.request, parent=job.id))
        return found

    def refuses(self, job: Job, hosts: str, *parts: str) -> None:
        free = self.ledger.free
        with pytest.raises(ImpossibleDecision) as caught:
            self.ledger.start(job, A(hosts))
        assert all(part in str(caught.value) for part in parts), str(caught.value)
        assert self.ledger.space.same(free, self.ledger.free)
        self.ledger.check()


def running(hosts: str = "0-1", *, acknowledged: bool = False) -> tuple[Cluster, Job, Job]:
    """A cluster, its running job, and a waiting one of a host."""
    cluster = Cluster(acknowledged=acknowledged)
    job = cluster.submit(make_job("w0!1", len(A(hosts).ids), walltime=100.0))
    cluster.start(job, hosts)
    return cluster, job, cluster.submit(make_job("w0!other"))


@pytest.mark.parametrize("acknowledged", [False, True])
def test_own_hosts_are_kept_from_the_end_of_a_job_that_is_killed(acknowledged: bool) -> None:
    cluster, job, other = running(acknowledged=acknowledged)
    cluster.hold(job, "1")
    assert cluster.ledger.free == 0b1100
    cluster.end(job)
    assert cluster.ledger.free == 0b1101, "host 0 is not kept"
    cluster.refuses(other, "1", "job w0!other cannot start on 1: host 1 (n1) has 0 host free", "successor of w0!1")
    following = cluster.successor(job)
    assert cluster.ledger.free == 0b1101, "until it starts"
    cluster.start(following, "1")
    assert cluster.ledger.free == 0b1101
    assert not cluster.ledger.holds
    cluster.end(following, JobState.COMPLETED_SUCCESSFULLY)
    assert cluster.ledger.free == 0b1111


@pytest.mark.parametrize("acknowledged", [False, True])
def test_further_hosts_are_kept_at_once(acknowledged: bool) -> None:
    cluster, job, other = running(acknowledged=acknowledged)
    epoch = cluster.ledger.epoch
    cluster.hold(job, "0-2")
    assert cluster.ledger.free == 0b1000
    assert cluster.ledger.epoch == epoch, "capacity that goes as by a start leaves plans valid"
    cluster.refuses(other, "2", "host 2 (n2) has 0 host free", "the successor of w0!1")
    following = cluster.successor(job, 3)
    cluster.refuses(following, "0-2", "job w0!next cannot start: job w0!1, which it continues, is running")
    cluster.end(job)
    assert cluster.ledger.free == 0b1000
    cluster.start(following, "0-2")
    assert cluster.ledger.free == 0b1000
    assert not cluster.ledger.holds


def test_what_the_successor_does_not_use_is_free_again() -> None:
    cluster, job, other = running()
    cluster.hold(job, "0-2")
    cluster.end(job)
    epoch = cluster.ledger.epoch
    cluster.start(cluster.successor(job, 2), "2-3")
    assert cluster.ledger.free == 0b0011
    assert cluster.ledger.epoch > epoch
    cluster.start(other, "0")


@pytest.mark.parametrize("state", BY_ITSELF)
def test_a_job_that_ends_by_itself_has_no_successor(state: JobState) -> None:
    cluster, job, other = running()
    cluster.hold(job, "0-2")
    cluster.end(job, state)
    assert not cluster.ledger.holds
    assert cluster.ledger.free == 0b1111
    cluster.start(other, "2")


@pytest.mark.parametrize("ended", [False, True])
def test_a_hold_that_is_released_is_free_again(ended: bool) -> None:
    cluster, job, _ = running()
    cluster.hold(job, "1-2")
    if ended:
        cluster.end(job)
    epoch = cluster.ledger.epoch
    cluster.release(job)
    assert cluster.ledger.free == (0b1111 if ended else 0b1100)
    assert cluster.ledger.epoch > epoch
    epoch = cluster.ledger.epoch
    cluster.release(job)
    assert cluster.ledger.epoch == epoch, "nothing was held any more"


def test_a_second_hold_takes_the_place_of_the_first() -> None:
    cluster, job, _ = running()
    cluster.hold(job, "0 2-3")
    cluster.hold(job, "1-2")
    assert cluster.ledger.free == 0b1000
    cluster.end(job)
    assert cluster.ledger.free == 0b1001


def test_only_the_successor_may_use_what_is_held() -> None:
    cluster, job, other = running()
    cluster.start(other, "3")
    cluster.hold(job, "0-2")
    cluster.end(other)
    stranger = cluster.successor(other, 1, "w0!stranger")
    cluster.end(job)
    cluster.refuses(stranger, "0", "the successor of w0!1")
    cluster.start(cluster.successor(job, 1), "0")
    cluster.start(stranger, "1")


def test_hosts_that_go_away_come_back_to_the_one_who_holds_them() -> None:
    cluster, job, other = running()
    cluster.hold(job, "1-2")
    cluster.ledger.apply(MachinesUnavailable(cluster.ledger.now, A("1-2")))
    cluster.ledger.check()
    cluster.end(job)
    following = cluster.successor(job, 2)
    cluster.refuses(following, "1-2", "host 1 (n1) is unavailable")
    cluster.ledger.apply(MachinesAvailable(cluster.ledger.now, A("1-2")))
    cluster.ledger.check()
    assert cluster.ledger.free == 0b1001
    cluster.refuses(other, "2", "the successor of w0!1")
    cluster.start(following, "1-2")


def test_a_job_of_a_successor_that_needs_another_shape_must_find_room() -> None:
    cluster, job, other = running()
    cluster.start(other, "3")
    cluster.hold(job, "0-1")
    cluster.end(job)
    following = cluster.successor(job, 2)
    cluster.refuses(following, "1 3", "host 3 (n3) has 0 host free", "held by w0!other")
    assert "w0!1" in cluster.ledger.holds
    cluster.start(following, "1-2")


def test_on_shared_nodes_as_many_units_are_kept_as_were_said() -> None:
    cluster = Cluster(Machine.flat(2, "core=4 mem=8"))
    job = cluster.submit(make_job("w0!1", 3, {"core": 1, "mem": 2}))
    cluster.start(job, Allocation.of([0, 1], [2, 1]))
    cluster.hold(job, Allocation.of([0], [1]))
    assert cluster.ledger.free.tolist() == [[2, 4], [3, 6]]
    cluster.end(job)
    assert cluster.ledger.free.tolist() == [[3, 6], [4, 8]]
    cluster.start(cluster.successor(job, 2), Allocation.of([0], [2]))
    assert cluster.ledger.free.tolist() == [[2, 4], [4, 8]]


def test_further_nodes_are_kept_beside_own_units() -> None:
    cluster = Cluster(Machine.flat(3, "core=4"))
    job = cluster.submit(make_job("w0!1", 2, {"core": 2}))
    cluster.start(job, Allocation.of([0], [2]))
    cluster.hold(job, Allocation.of([0, 2], [1, 2]))
    assert cluster.ledger.free.tolist() == [[0], [4], [0]]
    cluster.end(job)
    assert cluster.ledger.free.tolist() == [[2], [4], [0]]
    cluster.start(cluster.successor(job, 3), Allocation.of([0, 2], [1, 2]))
    assert cluster.ledger.free.tolist() == [[2], [4], [0]]


REFUSED = [
    ("3", "hosts 3 cannot be kept for the successor of job w0!1: host 3 (n3) has 0 host free, 1 are to be kept"),
    ("2", "hosts 2 cannot be kept for the successor of job w0!1: not all of them are there and run jobs"),
    ("4", "hosts 4 cannot be kept for the successor of job w0!1: not all of them are there and run jobs"),
    ("9", "hosts 9 cannot be kept for the successor of job w0!1: not all of them are there and run jobs"),
]


@pytest.mark.parametrize(("hosts", "message"), REFUSED)
def test_what_cannot_be_held(hosts: str, message: str) -> None:
    # Host 4 is a disk, host 2 is away, host 3 is another job's.
    cluster = Cluster(Machine([Host(id=i, name=f"n{i}", storage=i == 4) for i in range(5)]))
    job, other = cluster.submit(make_job("w0!1", 2)), cluster.submit(make_job("w0!2"))
    cluster.start(job, "0-1")
    cluster.start(other, "3")
    cluster.ledger.apply(MachinesUnavailable(cluster.ledger.now, A("2")))
    free = cluster.ledger.free
    with pytest.raises(ImpossibleDecision) as caught:
        cluster.hold(job, hosts)
    assert message in str(caught.value)
    assert cluster.ledger.free == free
    assert not cluster.ledger.holds
    cluster.ledger.check()


def test_more_units_than_the_job_has_cannot_be_held_on_its_node() -> None:
    cluster = Cluster(Machine.flat(1, "core=4"))
    job = cluster.submit(make_job("w0!1", 2, {"core": 1}))
    cluster.start(job, Allocation.of([0], [2]))
    with pytest.raises(ImpossibleDecision, match=r"3 units cannot be kept on host 0 \(n0\).*it has 2 there"):
        cluster.hold(job, Allocation.of([0], [3]))


def test_a_job_that_has_whole_nodes_keeps_them_for_a_successor_of_more_units() -> None:
    cluster = Cluster(Machine.flat(2, "core=4"))
    job = cluster.submit(make_job("w0!1", 2, {"core": 1}, nodes=2, whole_nodes=True))
    cluster.start(job, Allocation.of([0, 1], [1, 1]))
    cluster.hold(job, Allocation.of([0, 1], [4, 4]))
    cluster.end(job)
    other = cluster.submit(make_job("w0!2", 1, {"core": 1}))
    cluster.refuses(other, "0", "n0")


@pytest.mark.parametrize("what", ["waiting", "ended", "unknown"])
def test_only_a_running_job_can_have_a_successor(what: str) -> None:
    cluster = Cluster()
    job = make_job("w0!1")
    if what != "unknown":
        cluster.submit(job)
    if what == "ended":
        cluster.start(job, "0")
        cluster.end(job)
    with pytest.raises(ImpossibleDecision, match=f"job w0!1 can have no successor: it is {what}"):
        cluster.hold(job, "1")
    cluster.ledger.check()


def test_a_job_cannot_continue_one_that_nobody_knows() -> None:
    cluster = Cluster()
    with pytest.raises(
        ImpossibleDecision, match="job w0!2 cannot be registered: it continues job w0!1, which is unknown"
    ):
        cluster.successor(make_job("w0!1"), 1, "w0!2")


@pytest.mark.parametrize("state", [*BY_ITSELF, KILLED])
def test_a_job_that_the_simulator_announces_waits_for_the_end_of_the_one_that_it_continues(state: JobState) -> None:
    cluster, job, _ = running()
    following = cluster.submit(Job(id="w0!2", request=make_job().request, parent="w0!1"))
    assert cluster.ledger.blocked == {following.id: following}
    cluster.refuses(following, "2", "job w0!2 cannot start: it is waiting for w0!1")
    cluster.end(job, state)
    assert following.id in cluster.ledger.queue, "however it ended"
    cluster.start(following, "0")


def test_jobs_that_continue_others_are_one_logical_job() -> None:
    cluster, job, _ = running()
    cluster.end(job)
    second = cluster.successor(job, 1, "w0!second")
    cluster.start(second, "0")
    cluster.end(second)
    third = cluster.successor(second, 1, "w0!third")
    assert [cluster.ledger.root(each.id) for each in (job, second, third)] == ["w0!1"] * 3


def test_what_is_held_for_a_job_is_known_once_it_may_have_it() -> None:
    cluster, job, other = running()
    cluster.hold(job, "1-2")
    following = cluster.successor(job, 2)
    assert cluster.ledger.held_for(following) is None, "the job that it continues still runs"
    cluster.end(job)
    assert cluster.ledger.held_for(following) == A("1-2")
    assert cluster.ledger.held_for(other) is None
    cluster.start(following, "1-2")
    assert cluster.ledger.held_for(following) is None


def licensed() -> tuple[Cluster, Job]:
    """Return three hosts with two licences, and a job on the first that has both."""
    hosts = [Host(id=i, name=f"n{i}", properties={"licences": "matlab=2"}) for i in range(3)]
    cluster = Cluster(Machine(hosts))
    job = cluster.submit(make_job("w0!1", 1, licences={"matlab": 2}))
    cluster.start(job, "0")
    return cluster, job


def test_a_licence_is_kept_once_for_own_and_further_hosts() -> None:
    cluster, job = licensed()
    cluster.hold(job, "0")
    cluster.end(job)
    assert cluster.ledger.free.left.tolist() == [0]
    following = Job(id="w0!2", request=job.request, parent="w0!1")
    cluster.ledger.register_job(following)
    cluster.start(following, "0")
    assert cluster.ledger.free.left.tolist() == [0]


def test_further_hosts_need_no_further_licence() -> None:
    cluster, job = licensed()
    cluster.hold(job, "0-1")


def test_a_hold_that_is_refused_leaves_the_first_one() -> None:
    cluster, job, other = running()
    cluster.start(other, "3")
    cluster.hold(job, "2")
    with pytest.raises(ImpossibleDecision):
        cluster.hold(job, "3")
    assert cluster.ledger.free == 0
    assert "w0!1" in cluster.ledger.holds


def test_shared_power_is_kept_beside_that_of_the_job() -> None:
    """Of 500 mW the job has 200, and 150 more are kept for its successor, of whose further host nobody takes any."""
    cluster = Cluster()
    cluster.ledger.cap_power(500)

    def asking(name: str, units: int, power: int) -> Job:
        request = msgspec.structs.replace(make_job(units=units).request, power=(power, 0))
        return cluster.submit(Job(id=name, request=request))

    job, small, large = asking("w0!a", 2, 200), asking("w0!b", 1, 150), asking("w0!c", 1, 151)
    cluster.start(job, "0-1")
    assert cluster.ledger.fits(large)
    cluster.ledger.hold(job, A("0-2"), 150)
    cluster.ledger.check()
    assert (cluster.ledger.fits(small), cluster.ledger.fits(large)) == (True, False)
    cluster.end(job)
    assert (cluster.ledger.fits(small), cluster.ledger.fits(large)) == (True, False)
    cluster.release(job)
    assert cluster.ledger.fits(large)
