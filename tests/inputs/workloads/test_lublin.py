"""The Lublin-Feitelson model against its published parameters."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.core.errors import InputError
from batdispatch.inputs.workloads.drawn_fields import with_users
from batdispatch.inputs.workloads.estimates import ROUND_MINUTES, estimates
from batdispatch.inputs.workloads.lublin import (
    ALL_JOBS,
    BATCH,
    INTERACTIVE,
    MAX_LOG_GAP,
    MAX_LOG_RUNTIME,
    DailyCycle,
    JobClass,
    draw_gaps,
    draw_runtimes,
    draw_sizes,
    gamma_cdf,
    lublin,
    slot_weights,
)

MANY = 60_000


def rng(seed: int = 7) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("alpha", [1.0, 2.0, 5.0])
def test_gamma_cdf_of_whole_shapes_is_the_poisson_tail(alpha: float) -> None:
    for x in (0.0, 0.1, 1.0, 7.5, 20.0, 50.0):
        tail = sum(math.exp(-x) * x**k / math.factorial(k) for k in range(int(alpha)))
        assert gamma_cdf(x, alpha) == pytest.approx(1 - tail, abs=1e-12)


@pytest.mark.parametrize(("kind", "rush"), [(ALL_JOBS, 13.9), (BATCH, 13.2), (INTERACTIVE, 14.2)])
def test_the_day_is_busiest_after_noon_and_quietest_before_dawn(kind: JobClass, rush: float) -> None:
    weights = slot_weights(kind)
    assert weights.mean() == pytest.approx(1)
    # The mode of the day's gamma lies (alpha - 1) beta slots after the day's begin.
    assert (np.argmax(weights) + 0.5) / 2 == pytest.approx(rush, abs=0.6)
    assert 4 <= np.argmin(weights) / 2 <= 6


@pytest.mark.parametrize(("kind", "hosts"), [(ALL_JOBS, 128), (BATCH, 128), (INTERACTIVE, 128), (ALL_JOBS, 1024)])
def test_sizes(kind: JobClass, hosts: int) -> None:
    sizes = draw_sizes(rng(), kind, MANY, hosts)
    parallel = sizes[sizes > 1]
    assert (sizes == 1).mean() == pytest.approx(kind.serial, abs=0.01)
    assert sizes.min() == 1
    assert sizes.max() <= hosts
    powers = (parallel & (parallel - 1)) == 0
    # Rounding makes powers of two of some others as well.
    assert powers.mean() > kind.power2 / (1 - kind.serial)
    assert powers.mean() < kind.power2 / (1 - kind.serial) + 0.12
    high = min(kind.high, math.log2(hosts))
    medium = high - kind.below
    mean = kind.share * (kind.low + medium) / 2 + (1 - kind.share) * (medium + high) / 2
    assert np.log2(parallel).mean() == pytest.approx(mean, abs=0.06)


@pytest.mark.parametrize("kind", [ALL_JOBS, BATCH])
@pytest.mark.parametrize("size", [1, 32, 128])
def test_runtimes_follow_the_size(kind: JobClass, size: int) -> None:
    runtimes = draw_runtimes(rng(), kind, np.full(MANY, size))
    assert runtimes.min() >= 1
    assert runtimes.max() <= math.exp(12)
    p = min(max(kind.pa * size + kind.pb, 0), 1)
    # Means of the gammas; the tail cut at 12 takes little from the first and almost nothing from the second.
    expected = p * kind.a1 * kind.b1 + (1 - p) * kind.a2 * kind.b2
    assert np.log(runtimes).mean() == pytest.approx(expected, abs=0.35)


def test_larger_jobs_run_longer() -> None:
    means = [np.log(draw_runtimes(rng(), ALL_JOBS, np.full(20_000, size))).mean() for size in (1, 16, 64, 128)]
    assert means == sorted(means)
    assert means[-1] > means[0] + 2


def test_gaps() -> None:
    gaps = draw_gaps(rng(), ALL_JOBS, MANY)
    assert gaps.max() <= math.exp(13)
    assert np.log(gaps).mean() == pytest.approx(ALL_JOBS.gap_alpha * ALL_JOBS.gap_ratio * ALL_JOBS.gap_beta, abs=0.05)


def test_arrivals_follow_the_day() -> None:
    # Short gaps, so that many days hold many jobs each.
    times = DailyCycle(slot_weights(ALL_JOBS)).clock(np.cumsum(draw_gaps(rng(), ALL_JOBS, MANY)) * 0.05)
    assert (np.diff(times) >= 0).all()
    slots = np.bincount((times % 86_400 // 1800).astype(int), minlength=48) / len(times) * 48
    assert np.corrcoef(slots, slot_weights(ALL_JOBS))[0, 1] > 0.8


@given(st.lists(st.floats(0, 1e7), min_size=1, max_size=20))
def test_the_cycle_keeps_order_and_whole_days(even: list[float]) -> None:
    cycle = DailyCycle(slot_weights(ALL_JOBS))
    times = cycle.clock(np.sort(np.array(even)))
    assert (np.diff(times) >= 0).all()
    assert cycle.clock(np.array([86_400.0 * 3]))[0] == pytest.approx(86_400 * 3)
    assert np.abs(times - np.sort(even)).max() < 86_400


@pytest.mark.parametrize("load", [0.3, 0.9, 1.5])
@pytest.mark.parametrize("classes", ["all", "separate"])
def test_load_is_reached(load: float, classes: str) -> None:
    workload = lublin(rng(), jobs=500, hosts=64, load=load, classes=classes)  # type: ignore[arg-type]
    assert workload.offered_load() == pytest.approx(load, rel=0.01)
    assert len(workload.jobs) == 500


def test_separate_classes_name_their_queue() -> None:
    workload = lublin(rng(), jobs=2000, hosts=128, classes="separate")
    queues = [job.extra["queue"] for job in workload.jobs]
    assert 0.1 < queues.count("batch") / 2000 < 0.9
    largest = max(job.units for job, queue in zip(workload.jobs, queues, strict=True) if queue == "interactive")
    assert largest <= round(2**5.5)


def test_users_change_nothing_else_and_a_few_have_most_jobs() -> None:
    workload = lublin(rng(), jobs=2000, hosts=128)
    owned = with_users(rng(), workload, 10)
    counts = [sum(job.user == f"u{rank}" for job in owned.jobs) for rank in range(1, 11)]
    assert sum(counts) == 2000
    # 1 / (1 + 1/2 + ... + 1/10) of the jobs belong to the first, and half as many to the second.
    assert counts[0] == pytest.approx(683, rel=0.1)
    assert counts[1] == pytest.approx(341, rel=0.15)
    assert [job.extra["user"] for job in owned.jobs] == [job.user for job in owned.jobs]
    for before, after in zip(workload.jobs, owned.jobs, strict=True):
        assert before.extra == {name: value for name, value in after.extra.items() if name != "user"}
        assert (before.id, before.submission, before.request) == (after.id, after.submission, after.request)
    with pytest.raises(InputError, match="expected 1 to 10,000 users"):
        with_users(rng(), workload, 0)


@given(
    st.integers(1, 60),
    st.integers(1, 2000),
    st.integers(0, 2**32),
    st.sampled_from(["none", "exact", "factor", "modal"]),
    st.floats(1, 20),
)
def test_any_workload_is_sound(jobs: int, hosts: int, seed: int, walltimes: str, factor: float) -> None:
    workload = lublin(rng(seed), jobs=jobs, hosts=hosts, walltimes=walltimes, factor=factor)  # type: ignore[arg-type]
    assert len(workload.jobs) == jobs
    assert [job.submission for job in workload.jobs] == sorted(job.submission for job in workload.jobs)
    for job in workload.jobs:
        runtime = workload.profiles[job.profile]["delay"]
        assert 1 <= job.units <= hosts
        assert job.walltime > runtime
        if walltimes == "exact":
            assert job.walltime == runtime + 1
        if walltimes == "factor":
            assert job.walltime <= factor * runtime + 1


def test_modal_estimates_are_round_values() -> None:
    runtimes = draw_runtimes(rng(), ALL_JOBS, np.ones(5000, dtype=np.int64))
    limits = estimates(rng(), runtimes, "modal", 5.0)
    usual = {minutes * 60.0 for minutes in ROUND_MINUTES}
    assert len(ROUND_MINUTES) == 20
    assert all(limit in usual or (limit > max(usual) and limit % 86_400 == 0) for limit in limits)
    assert (limits > runtimes).all()


#: The section MODEL PARAMETERS of the authors' program, m_lublin99.c of the Parallel Workloads Archive, where it is
#: published with the model: what it defines for all jobs, for batch jobs (_BATCH) and for interactive ones (_ACTIVE).
#: Read from a copy of the program and compared value by value; GridSim's Java port has the same sizes of batch jobs.
PUBLISHED: dict[str, dict[str, float]] = {
    "": {
        **{"SERIAL_PROB": 0.244, "POW2_PROB": 0.576, "ULOW": 0.8, "UMED": 4.5, "UHI": 7, "UPROB": 0.86},
        **{"A1": 4.2, "B1": 0.94, "A2": 312, "B2": 0.03, "PA": -0.0054, "PB": 0.78},
        **{"AARR": 10.2303, "BARR": 0.4871, "ANUM": 8.1737, "BNUM": 3.9631, "ARAR": 1.0225},
    },
    "_BATCH": {
        **{"SERIAL_PROB": 0.2927, "POW2_PROB": 0.6686, "ULOW": 1.2, "UMED": 5, "UHI": 7, "UPROB": 0.875},
        **{"A1": 6.57, "B1": 0.823, "A2": 639.1, "B2": 0.0156, "PA": -0.003, "PB": 0.6986},
        **{"AARR": 6.0415, "BARR": 0.8531, "ANUM": 6.1271, "BNUM": 5.2740, "ARAR": 1.0519},
    },
    "_ACTIVE": {
        **{"SERIAL_PROB": 0.1541, "POW2_PROB": 0.625, "ULOW": 1, "UMED": 3, "UHI": 5.5, "UPROB": 0.705},
        **{"A1": 3.8351, "B1": 0.6605, "A2": 7.073, "B2": 0.6856, "PA": -0.0118, "PB": 0.9156},
        **{"AARR": 6.5510, "BARR": 0.6621, "ANUM": 8.9186, "BNUM": 3.6680, "ARAR": 0.9797},
    },
}
#: There: BUCKETS of half an hour, CYCLIC_DAY_START counted from 1, TOO_MUCH_TIME and TOO_MUCH_ARRIVE_TIME.
BUCKETS, CYCLIC_DAY_START, TOO_MUCH_TIME, TOO_MUCH_ARRIVE_TIME = 48, 11, 12, 13
#: What each is called here.
NAMES = {
    **{"serial": "SERIAL_PROB", "power2": "POW2_PROB", "low": "ULOW", "share": "UPROB"},
    **{"a1": "A1", "b1": "B1", "a2": "A2", "b2": "B2", "pa": "PA", "pb": "PB"},
    **{"gap_alpha": "AARR", "gap_beta": "BARR", "day_alpha": "ANUM", "day_beta": "BNUM", "gap_ratio": "ARAR"},
}


@pytest.mark.parametrize(("kind", "name"), [(ALL_JOBS, ""), (BATCH, "_BATCH"), (INTERACTIVE, "_ACTIVE")])
def test_half_hours_have_the_share_of_the_day_of_the_authors_program(kind: JobClass, name: str) -> None:
    # Theirs are numbered from 1, and the day of the gamma begins with the one before the eleventh: index i - 1 has what
    # the gamma has from i - .5 to i + .5, here by the midpoint rule in a hundred parts.
    alpha, beta = PUBLISHED[name]["ANUM"], PUBLISHED[name]["BNUM"]
    shares = [0.0] * BUCKETS
    for i in range(CYCLIC_DAY_START, CYCLIC_DAY_START + BUCKETS):
        middles = (i - 0.5 + (part + 0.5) / 100 for part in range(100))
        shares[(i - 1) % BUCKETS] = sum(x ** (alpha - 1) * math.exp(-x / beta) for x in middles)
    assert slot_weights(kind) == pytest.approx([BUCKETS * share / sum(shares) for share in shares], rel=1e-3)


def test_longer_draws_than_the_authors_program_keeps_are_repeated() -> None:
    assert (MAX_LOG_RUNTIME, MAX_LOG_GAP) == (TOO_MUCH_TIME, TOO_MUCH_ARRIVE_TIME)


@pytest.mark.parametrize(
    ("kind", "name", "log_gap", "log_of_serial"),
    [
        # alpha beta ratio, and p a1 b1 + (1 - p) a2 b2 with p = pa + pb for a job of one node:
        # 10.2303 x .4871 x 1.0225 = 5.0953; .7746 x 4.2 x .94 + .2254 x 312 x .03 = 3.0581 + 2.1097 = 5.1678.
        (ALL_JOBS, "", 5.0953, 5.168),
        # 6.0415 x .8531 x 1.0519 = 5.4215; .6956 x 6.57 x .823 + .3044 x 639.1 x .0156 = 3.7611 + 3.0348 = 6.7960.
        (BATCH, "_BATCH", 5.4215, 6.796),
        # 6.551 x .6621 x .9797 = 4.2494; .9038 x 3.8351 x .6605 + .0962 x 7.073 x .6856 = 2.2894 + .4665 = 2.7559.
        (INTERACTIVE, "_ACTIVE", 4.2494, 2.756),
    ],
)
def test_parameters_and_the_means_that_follow_from_them_are_the_published_ones(
    kind: JobClass, name: str, log_gap: float, log_of_serial: float
) -> None:
    published = PUBLISHED[name]
    assert {theirs: getattr(kind, ours) for ours, theirs in NAMES.items()} == {
        theirs: published[theirs] for theirs in NAMES.values()
    }
    # Their machine has 2^7 hosts, here it may have any number; interactive jobs have at most 2^5.5.
    assert kind.high == (5.5 if name == "_ACTIVE" else math.inf)
    assert min(kind.high, 7) == published["UHI"]
    assert kind.below == published["UHI"] - published["UMED"]
    # The cut at 13 takes .02 from the mean logarithm of the gaps of batch jobs, and less from the others.
    assert np.log(draw_gaps(rng(1), kind, MANY)).mean() == pytest.approx(log_gap, abs=0.045)
    # Whole seconds shorten a job: by half a second in the mean, which counts for the shortest.
    assert np.log(draw_runtimes(rng(2), kind, np.ones(MANY, dtype=np.int64)) + 0.5).mean() == pytest.approx(
        log_of_serial, abs=0.12
    )
