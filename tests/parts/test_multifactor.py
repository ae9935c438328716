"""Slurm's multifactor priority: values worked out by hand from Slurm's documentation."""

import math
from fractions import Fraction

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.core.errors import InputError
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.fields import read_request
from batdispatch.core.jobs.job import Job, JobState
from batdispatch.core.line import events as e
from batdispatch.core.line.dispatcher import create
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.dispatchers.backfilling.queue import QueueDispatcher
from batdispatch.parts.ordering.fair_tree import fair_tree
from batdispatch.parts.ordering.multifactor import Multifactor
from batdispatch.parts.ordering.priority import TOP, make_priority
from batdispatch.parts.ordering.usage import DecayedUsage, Holding
from simulating import Task, simulate

DAY = 86_400.0


def ledger_on(machine: Machine) -> Ledger:
    return Ledger(e.SimulationBegins(0.0, machine))


def job_of(name: str = "1", units: int = 1, submission: float = 0.0, user: str = "", **extra: object) -> Job:
    return Job(
        id=f"w0!{name}",
        request=read_request(units, extra),
        submission=submission,
        walltime=100.0,
        user=user,
        extra=extra,
    )


def multifactor(ledger: Ledger, options: str = "") -> Multifactor:
    made = make_priority(f"multifactor[{options}]")
    assert isinstance(made, Multifactor)
    made.begin(ledger)
    return made


def value(options: str, job: Job, now: float = 0.0, machine: Machine | None = None) -> int:
    return multifactor(ledger_on(machine or Machine.flat(8)), options).value(job, now)


def test_weights_are_zero_unless_given_and_each_job_then_has_the_priority_1() -> None:
    assert value("", job_of(units=8, submission=0.0), now=30 * DAY) == 1


@pytest.mark.parametrize(
    ("wait", "expected"),
    [(0.0, 1), (604.8, 1), (1209.6, 2), (3.5 * DAY, 500), (7 * DAY, 1000), (30 * DAY, 1000)],
)
def test_age_grows_to_its_weight_within_seven_days(wait: float, expected: int) -> None:
    assert value("age=1000", job_of(submission=50.0), now=50.0 + wait) == expected


def test_the_sum_is_rounded_down_to_a_whole_number() -> None:
    assert value("age=1000", job_of(), now=3.5 * DAY + 604.0) == 500
    assert value("age=1000", job_of(), now=3.5 * DAY + 605.0) == 501


def test_age_with_a_shorter_maximum() -> None:
    assert value("age=1000,max_age=100", job_of(), now=25.0) == 250
    assert value("age=1000,max_age=100", job_of(), now=101.0) == 1000


@pytest.mark.parametrize(
    ("units", "fields", "expected"),
    [
        (16, {"demand": {"core": 1}}, 312),  # (1 / 8 + 16 / 32) / 2
        (16, {"demand": {"core": 1}, "nodes": [4, 8]}, 500),  # (4 / 8 + 16 / 32) / 2
        (16, {"demand": {"core": 1}, "units_per_node": 2}, 750),  # (8 / 8 + 16 / 32) / 2
        (4, {"demand": {"core": 4, "gpu": 1}}, 312),  # 16 cores
        (4, {"demand": {"core": 1}, "per_node": {"core": 2}, "nodes": 2}, 250),  # (2 / 8 + 8 / 32) / 2
        (2, {}, 250),  # 2 of 8 whole nodes, and so of the cores
        (8, {}, 1000),
    ],
)
def test_size_is_the_mean_share_of_nodes_and_cores(units: int, fields: dict[str, object], expected: int) -> None:
    assert value("size=1000", job_of(units=units, **fields), machine=Machine.flat(8, "core=4 gpu=2")) == expected


def test_small_jobs_have_the_large_factors_if_so_asked() -> None:
    machine = Machine.flat(8, "core=4 gpu=2")
    assert value("size=1000,favor_small=true", job_of(units=16, demand={"core": 1}), machine=machine) == 687  # 687.5
    assert value("size=1000,favor_small=true", job_of(units=8), machine=machine) == 1


def test_size_on_whole_hosts_is_the_share_of_the_hosts() -> None:
    assert value("size=1000", job_of(units=3)) == 375
    assert value("size=1000,favor_small=true", job_of(units=3)) == 625


@pytest.mark.parametrize(("walltime", "expected"), [(30.0, 375), (119.0, 375), (120.0, 187), (math.inf, 1)])
def test_relative_size_is_the_share_of_the_cores_for_each_whole_minute(walltime: float, expected: int) -> None:
    job = msgspec.structs.replace(job_of(units=3), walltime=walltime)
    assert value("size=1000,relative=true", job) == expected


@pytest.mark.parametrize("capacity", ["gpu=0 slot=4", "slot=4 gpu=8", "core=0 slot=4"])
def test_cores_are_the_first_resource_there_is_where_none_has_that_name(capacity: str) -> None:
    job = job_of(units=8, demand={"slot": 2})
    assert value("size=1000", job, machine=Machine.flat(8, capacity)) == 312  # (1 / 8 + 16 / 32) / 2


def test_nodes_that_are_no_compute_hosts_do_not_count() -> None:
    hosts = [Host(id=i, name=f"n{i}", storage=i >= 4) for i in range(8)]
    assert value("size=1000", job_of(units=2), machine=Machine(hosts)) == 500


@pytest.mark.parametrize(
    ("nice", "expected"), [(0, 500), (100, 400), (-100, 600), (10_000, 1), (-2_147_483_645, 2147484145)]
)
def test_nice_is_taken_off_and_nothing_goes_below_1(nice: int, expected: int) -> None:
    assert value("age=1000", job_of(nice=nice), now=3.5 * DAY) == expected


def test_no_priority_is_beyond_the_largest() -> None:
    assert value("age=4294967295,size=4294967295", job_of(units=8), now=7 * DAY) == TOP


@pytest.mark.parametrize("nice", ["1", 1.5, True, 2**31])
def test_a_nice_that_is_no_whole_number_is_refused(nice: object) -> None:
    with pytest.raises(InputError, match=r"job w0!7, field 'nice': found .*, expected a whole number from -2147483645"):
        value("age=1", job_of("7", nice=nice))


def test_weights_that_slurm_refuses_are_refused() -> None:
    for wrong in ("age=-1", "size=4294967296", "fairshare=0.5", "max_age=0", "half_life=-1", "period=inf"):
        with pytest.raises(InputError, match=r"multifactor"):
            make_priority(f"multifactor[{wrong}]")


# ---------------------------------------------------------------------- fair share


def run(ledger: Ledger, ordering: Multifactor, job: Job, hosts: int, start: float, end: float | None) -> None:
    """Run a job on the hosts of a mask; end None: it runs on."""
    ledger.now = start
    ledger.apply_submitted(e.JobSubmitted(start, job))
    ledger.start(job, Allocation(hosts))
    if end is not None:
        ledger.now = end
        stay = ledger.apply_completed(e.JobCompleted(end, job.id, JobState.COMPLETED_SUCCESSFULLY))
        ordering.ended(stay, end)


def waiting(ledger: Ledger, name: str, user: str) -> Job:
    job = job_of(name, user=user)
    ledger.apply_submitted(e.JobSubmitted(ledger.now, job))
    return job


def test_who_used_as_much_as_his_share_has_half() -> None:
    """Classic fair share: "a factor of 0.5 indicates that the user's jobs have used exactly the portion"."""
    ledger = ledger_on(Machine.flat(8))
    ordering = multifactor(ledger, "fairshare=1000")
    run(ledger, ordering, job_of("a", 2, user="ann"), 0b11, 0.0, 50.0)
    run(ledger, ordering, job_of("b", 1, user="ben"), 0b1, 0.0, 100.0)
    ann, ben = waiting(ledger, "c", "ann"), waiting(ledger, "d", "ben")
    # Both used 100 host-seconds but for what was forgotten of ann's in 50 s of a half-life of a week.
    assert (ordering.value(ann, 100.0), ordering.value(ben, 100.0)) == (500, 499)


def test_two_thirds_of_all_use_among_three_users() -> None:
    ledger = ledger_on(Machine.flat(8))
    ordering = multifactor(ledger, "fairshare=100000,half_life=0")
    run(ledger, ordering, job_of("a", 2, user="ann"), 0b11, 0.0, 100.0)
    run(ledger, ordering, job_of("b", 1, user="ben"), 0b1, 0.0, 100.0)
    values = [ordering.value(waiting(ledger, name, user), 100.0) for name, user in (("c", "ann"), ("d", "ben"))]
    assert values == [39685, 62996]  # Two users: 2^(-2/3 x 2) and 2^(-1/3 x 2).
    cleo = waiting(ledger, "e", "cleo")
    values = [ordering.value(job, 100.0) for job in ledger.queue.values()]
    assert values == [25000, 50000, 100000]  # Three: 2^(-2/3 x 3), 2^(-1/3 x 3), and 1 for who used nothing.
    assert cleo.id in ledger.queue


def test_running_jobs_count_for_as_long_as_they_run() -> None:
    ledger = ledger_on(Machine.flat(8))
    ordering = multifactor(ledger, "fairshare=100000,half_life=0")
    run(ledger, ordering, job_of("a", 3, user="ann"), 0b111, 0.0, None)
    run(ledger, ordering, job_of("b", 1, user="ben"), 0b1000, 0.0, None)
    ann = waiting(ledger, "c", "ann")
    assert ordering.value(ann, 0.0) == 100000  # Nothing is used yet.
    assert ordering.value(ann, 10.0) == 35355  # 30 of 40: 2^-1.5
    assert ordering.value(ann, 20.0) == 35355


def test_use_counts_half_after_the_half_life() -> None:
    ledger = ledger_on(Machine.flat(8))
    ordering = multifactor(ledger, "fairshare=100000,half_life=1000")
    run(ledger, ordering, job_of("a", 1, user="ann"), 0b1, 0.0, 1.0)
    ledger.now = 1000.0
    run(ledger, ordering, job_of("b", 1, user="ben"), 0b1, 1000.0, 1001.0)
    ann = waiting(ledger, "c", "ann")
    assert ordering.value(ann, 1001.0) == math.floor(100000 * 2 ** -(2 / 3))  # 1/2 of 3/2


def test_use_may_never_be_forgotten() -> None:
    ledger = ledger_on(Machine.flat(8))
    ordering = multifactor(ledger, "fairshare=100000,half_life=0")
    run(ledger, ordering, job_of("a", 1, user="ann"), 0b1, 0.0, 1.0)
    run(ledger, ordering, job_of("b", 1, user="ben"), 0b1, 1e8, 1e8 + 1)
    assert ordering.value(waiting(ledger, "c", "ann"), 1e8 + 1) == 50000


def test_all_jobs_of_a_user_add_up() -> None:
    ledger = ledger_on(Machine.flat(8))
    ordering = multifactor(ledger, "fairshare=100000,half_life=0")
    run(ledger, ordering, job_of("a", 1, user="ann"), 0b1, 0.0, 10.0)
    run(ledger, ordering, job_of("b", 1, user="ann"), 0b1, 10.0, 20.0)
    run(ledger, ordering, job_of("c", 1, user="ann"), 0b1, 20.0, None)
    run(ledger, ordering, job_of("d", 2, user="ann"), 0b110, 20.0, None)
    run(ledger, ordering, job_of("e", 5, user="ben"), 0b11111000, 20.0, None)
    # 10 + 10 + 10 + 20 and 50 host-seconds.
    assert ordering.value(waiting(ledger, "f", "ann"), 30.0) == 50000


def test_the_end_of_a_job_changes_no_fair_share_at_that_moment() -> None:
    ledger = ledger_on(Machine.flat(8))
    ordering = multifactor(ledger, "fairshare=1000000,half_life=500")
    run(ledger, ordering, job_of("a", 3, user="ann"), 0b111, 0.0, None)
    run(ledger, ordering, job_of("b", 1, user="ben"), 0b1000, 100.0, None)
    ann = waiting(ledger, "c", "ann")
    before = ordering.value(ann, 700.0)
    ledger.now = 700.0
    ordering.ended(ledger.apply_completed(e.JobCompleted(700.0, "w0!a", JobState.COMPLETED_SUCCESSFULLY)), 700.0)
    assert ordering.value(ann, 700.0) == before


def test_use_on_shared_nodes_is_in_cores_and_whole_nodes_have_all_of_theirs() -> None:
    ledger = ledger_on(Machine.flat(4, "gpu=2 core=4"))
    ordering = multifactor(ledger, "fairshare=100000,half_life=0")
    some, node = job_of("a", 4, user="ann", demand={"core": 1}), job_of("b", 1, user="ben")
    ledger.apply_submitted(e.JobSubmitted(0.0, some))
    ledger.apply_submitted(e.JobSubmitted(0.0, node))
    ledger.start(some, Allocation.of([0, 1], [2, 2]))
    ledger.start(node, Allocation(0b100))
    ann = waiting(ledger, "c", "ann")
    assert ordering.value(ann, 10.0) == 50000  # Four cores each.


@given(st.floats(1.0, 1e7), st.floats(0.0, 1e6), st.floats(0.0, 1e6), st.floats(0.0, 1e6))
def test_use_in_pieces_is_use_in_one(half_life: float, first: float, second: float, after: float) -> None:
    """A job that is cut in two uses as much as the whole one, now and later."""
    whole, cut = DecayedUsage(half_life), DecayedUsage(half_life)
    user = ("", "u")
    whole.ended(Holding(user, 3.0, 0.0), first + second)
    cut.ended(Holding(user, 3.0, 0.0), first)
    cut.ended(Holding(user, 3.0, first), first + second)
    now = first + second + after
    assert cut.at(now, [])[user] == pytest.approx(whole.at(now, [])[user], rel=1e-9, abs=1e-9)
    assert whole.at(now, [])[user] <= 3.0 * (first + second) * (1 + 1e-12) + 1e-9


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 99), st.integers(0, 40), st.integers(1, 40)), max_size=9))
def test_use_at_a_moment_does_not_depend_on_when_it_is_asked_for(jobs: list[tuple[int, int, int, int]]) -> None:
    """Whoever asks for the use at 50 s, then or later, is told the same to the last digit."""
    stays = [
        (Holding(("", f"u{user}"), 1 + rank / 3, float(came + wait), rank, float(came)), float(came + wait + lasts))
        for rank, (user, came, wait, lasts) in enumerate(jobs)
    ]
    answers = []
    for now in (50.0, 60.0, 90.0, 200.0):
        usage = DecayedUsage(20.0)
        for holding, end in sorted(stays, key=lambda stay: stay[1]):
            if end <= now:
                usage.ended(holding, end)
        used = usage.at(50.0, [holding for holding, end in reversed(stays) if holding.start <= now < end])
        waiting = [one.owner for one, _ in stays if one.came <= 50.0 and one.start > now]
        answers.append(used | {user: 0.0 for user in waiting if user not in used})
    assert all(answer == answers[0] for answer in answers)
    assert set(answers[0]) == {one.owner for one, _ in stays if one.came <= 50.0}


def test_shares_are_those_at_the_beginning_of_the_period() -> None:
    ledger = ledger_on(Machine.flat(8))
    ordering = multifactor(ledger, "fairshare=100000,half_life=0,period=60")
    run(ledger, ordering, job_of("a", 1, user="ann"), 0b1, 0.0, 60.0)
    run(ledger, ordering, job_of("b", 4, user="ben", submission=60.0), 0b11110, 60.0, 70.0)
    ledger.now = 80.0
    ann, ben = waiting(ledger, "c", "ann"), waiting(ledger, "d", "ben")
    # Until 60 s ann had used 60 host-seconds, and ben nothing; until 120 s ben has used 40.
    assert [ordering.value(job, 119.0) for job in (ann, ben)] == [25000, 100000]
    assert [ordering.value(job, 120.0) for job in (ann, ben)] == [43527, 57434]  # 2^-1.2 and 2^-0.8


# ---------------------------------------------------------------------- Fair Tree


def test_fair_tree_ranks_accounts_first_and_users_within_them() -> None:
    """Account b used less than its half, so b1 goes first, though b1 used more than a2 did."""
    used = {("a", "a1"): 60.0, ("a", "a2"): 5.0, ("b", "b1"): 35.0}
    assert fair_tree(used) == {("b", "b1"): 1.0, ("a", "a2"): 2 / 3, ("a", "a1"): 1 / 3}
    idle = {("a", "a1"): 0.0, ("b", "b1"): 1.0, ("c", "c1"): 0.0}
    assert fair_tree(idle) == {("a", "a1"): 1.0, ("c", "c1"): 1.0, ("b", "b1"): 1 / 3}
    # Accounts that are level are one: their users stand side by side.
    level = {("a", "a1"): 9.0, ("a", "a2"): 1.0, ("b", "b1"): 6.0, ("b", "b2"): 4.0}
    assert [one for _, one in fair_tree(level)] == ["a2", "b2", "b1", "a1"]


def share_over_use(used: int, siblings: list[int]) -> Fraction | float:
    """Return Slurm's "Level FS", S / U, exactly: equal shares of siblings over the part of their use."""
    return math.inf if not used else Fraction(1, len(siblings)) / Fraction(used, sum(siblings))


def place_in_the_tree(used: dict[tuple[str, str], int], one: tuple[str, str]) -> tuple[Fraction | float, ...]:
    """Return the levels on the way from the root to a user; who has larger ones, from the root on, goes first."""
    accounts = {name: sum(amount for (other, _), amount in used.items() if other == name) for name, _ in used}
    siblings = [amount for (name, _), amount in used.items() if name == one[0]]
    return share_over_use(accounts[one[0]], list(accounts.values())), share_over_use(used[one], siblings)


@given(
    st.dictionaries(
        st.tuples(st.sampled_from("abcd"), st.sampled_from("uvwxyz")),
        st.one_of(st.integers(0, 4), st.integers(0, 60), st.integers(0, 10**9)),
        min_size=1,
    )
)
def test_fair_tree_is_that_of_a_twin_which_compares_each_pair_of_users(used: dict[tuple[str, str], int]) -> None:
    """Slurm's page on Fair Tree: a rank over the number of users. Who ties has the same, and accounts that tie merge.

    The twin compares users two by two, with exact fractions, and walks down no tree.
    """
    places = {one: place_in_the_tree(used, one) for one in used}
    for one, factor in fair_tree(used).items():
        ahead = sum(place > places[one] for place in places.values())
        assert factor == (len(used) - ahead) / len(used)


def test_users_who_are_level_in_fractions_share_a_rank() -> None:
    """5 of 6 among three users and 3 of 6 among five: 6 / 5 / 3 and 6 / 3 / 5 differ once each is rounded twice."""
    used = {("a", "u"): 5.0, ("a", "v"): 1.0, ("a", "w"): 0.0}
    used |= {("b", "u"): 3.0, ("b", "v"): 1.0, ("b", "w"): 1.0, ("b", "x"): 1.0, ("b", "y"): 0.0}
    assert fair_tree(used)["a", "u"] == fair_tree(used)["b", "u"] == 2 / 8


def test_the_fair_tree_of_waiting_and_running_jobs() -> None:
    ledger = ledger_on(Machine.flat(8))
    ordering = multifactor(ledger, "fairshare=900,fair_tree=true,half_life=0")
    running = job_of("r", 4, user="a1", account="a")
    ledger.apply_submitted(e.JobSubmitted(0.0, running))
    ledger.start(running, Allocation.of([0, 1, 2, 3]))
    jobs = [job_of(name, user=name, account=name[0]) for name in ("a1", "a2", "b1")]
    for job in jobs:
        ledger.apply_submitted(e.JobSubmitted(1.0, job))
    assert [ordering.value(job, 10.0) for job in jobs] == [300, 600, 900]
    classic = multifactor(ledger, "fairshare=900,half_life=0")
    assert classic.value(jobs[1], 10.0) == classic.value(jobs[2], 10.0) == 900


# ---------------------------------------------------------------------- in a dispatcher


def test_the_queue_of_a_dispatcher_is_sorted_again_as_jobs_age() -> None:
    ledger = ledger_on(Machine.flat(8))
    dispatcher = create("easy", {"ordering": "multifactor[age=1000,size=100,max_age=100]"})
    assert isinstance(dispatcher, QueueDispatcher)
    dispatcher.begin(ledger)
    for job in (job_of("old", 1, 0.0), job_of("large", 4, 30.0), job_of("late", 1, 60.0)):
        ledger.apply_submitted(e.JobSubmitted(job.submission, job))
        dispatcher.on_submit(ledger, job)
    orders = {}
    for now in (60.0, 500.0):
        ledger.now = now
        orders[now] = [job.id.removeprefix("w0!") for job in dispatcher.in_order(ledger)]
    # 612, 350, 12; when all are as old as counts, 1012, 1050, 1012.
    assert orders == {60.0: ["old", "large", "late"], 500.0: ["large", "old", "late"]}


@pytest.mark.parametrize(
    ("ordering", "order"), [("fcfs", ["a1", "a2", "b1"]), ("multifactor[fairshare=1000]", ["a1", "b1", "a2"])]
)
def test_a_dispatcher_tells_of_ended_jobs(ordering: str, order: list[str]) -> None:
    """On one host ann's second job waits behind ben's, since ann has used the machine and ben has not."""
    jobs = [("a1", "ann", 0.0), ("a2", "ann", 1.0), ("b1", "ben", 2.0)]
    tasks = [Task(name, submission, 1, 10.0, user=user) for name, user, submission in jobs]
    starts = simulate(Machine.flat(1), tasks, "fcfs", options={"ordering": ordering}).starts()
    assert sorted(starts, key=lambda name: starts[name]) == order


@pytest.mark.parametrize(("nodes", "first", "later"), [(8, 62500, 100000), (5, 39062, 62500), (1, 7812, 12500)])
def test_whole_nodes_count_in_full_from_the_period_after_a_job_came(nodes: int, first: int, later: int) -> None:
    """As squeue of Slurm 22.05 printed them, with PriorityCalcPeriod=1 on 8 nodes of 4 cores."""
    machine = Machine.flat(8, "core=4")
    job = job_of(units=nodes, submission=30.0, demand={"core": 1}, nodes=nodes, whole_nodes=True)
    assert value("size=100000,period=60", job, now=59.0, machine=machine) == first
    assert value("size=100000,period=60", job, now=60.0, machine=machine) == later
