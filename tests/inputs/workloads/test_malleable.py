"""A share of a log's jobs made malleable: which jobs, what sizes, and that everything else stays."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.cli.generate import command as generate
from batdispatch.core.errors import InputError
from batdispatch.core.jobs.fields import read_request
from batdispatch.core.jobs.job import Job, JobState
from batdispatch.core.jobs.scalability import parse_scalability
from batdispatch.core.jobs.sizes import Sizes
from batdispatch.core.machine.machine import Machine
from batdispatch.inputs.generator_options import MalleableRule as Rule
from batdispatch.inputs.workloads import Workload, read_workload
from batdispatch.inputs.workloads.malleable import Conversion, choose, made_malleable, slowest
from batdispatch.inputs.workloads.writer import job_fields, write_workload
from simulating import Task, micro, simulate


def log(*jobs: tuple[int, float], hosts: int | None = 64, **fields: Any) -> Workload:
    """Jobs of (units, run time), ten seconds apart."""
    return Workload(
        path=Path("log.json"),
        name="log",
        nb_res=hosts,
        jobs=[
            Job(
                id=str(index),
                request=read_request(units, fields),
                submission=10.0 * index,
                walltime=2 * runtime,
                profile=f"p{index}",
                extra={"user": "ada", **fields},
            )
            for index, (units, runtime) in enumerate(jobs)
        ],
        profiles={f"p{index}": {"type": "delay", "delay": runtime} for index, (_, runtime) in enumerate(jobs)},
    )


def make(workload: Workload, seed: int = 1, **options: Any) -> tuple[Workload, Conversion]:
    return made_malleable(np.random.default_rng(seed), workload, **options)


def chosen(workload: Workload) -> set[str]:
    return {job.id for job in workload.jobs if job.request.sizes is not None}


def test_the_rule_by_hand() -> None:
    """16 hosts and 1,000 s: 2 to 32 hosts, 17 steps; 40 hosts of 64 cannot be doubled; 3 hosts can only be doubled."""
    made, counts = make(log((16, 1000.0), (40, 60.0), (3, 61.0), (64, 1.0)))
    sizes = [job.extra["sizes"] for job in made.jobs]
    usual = {"factor": 2, "kind": "malleable", "scalability": "power:0.7"}
    assert sizes == [
        {"least": 2, "most": 32, "steps": 17, "data": 16e9, **usual},
        {"least": 5, "most": 64, "steps": 2, "data": 40e9, **usual},
        {"least": 1, "most": 6, "steps": 2, "data": 3e9, **usual},
        {"least": 8, "most": 64, "steps": 2, "data": 64e9, **usual},
    ]
    assert counts == Conversion(malleable=4, able=4, unable=0)


def test_each_part_of_the_rule_by_hand() -> None:
    rule = Rule(shrink=3, expand=9, factor=3, scalability="amdahl:0.05", step=7.0, period=30.0, data=5.0)
    made, _ = make(log((10, 70.0), hosts=64), hosts=50, rule=rule)
    assert made.jobs[0].extra["sizes"] == {
        "least": 4,
        "most": 50,
        "factor": 3,
        "kind": "malleable",
        "steps": 10,
        "period": 30.0,
        "data": 50.0,
        "scalability": "amdahl:0.05",
    }
    assert made.nb_res == 50


def test_jobs_that_cannot_be_resized_stay_and_count_for_no_share() -> None:
    """Not on shared nodes, not with sizes of their own, not of unknown run time, not too large, not without a size."""
    workload = log((4, 9.0), (4, 9.0), (4, 9.0), (66, 9.0), (63, 9.0), (4, 9.0))
    for index, fields in ((0, {"demand": {"core": 1}}), (1, {"sizes": {"least": 1, "most": 4}})):
        job = workload.jobs[index]
        workload.jobs[index] = Job(id=job.id, request=read_request(4, fields), profile=job.profile, extra=fields)
    workload.profiles["p2"] = {"type": "parallel_homogeneous", "cpu": 1e9, "com": 0}
    made, counts = make(workload)
    assert counts == Conversion(malleable=1, able=1, unable=5)
    assert [job.extra for job in made.jobs[:5]] == [job.extra for job in workload.jobs[:5]]
    assert made.jobs[5].request.sizes is not None


JOBS = st.lists(st.tuples(st.integers(1, 64), st.floats(0.1, 1e6)), min_size=1, max_size=40)


@given(jobs=JOBS, seed=st.integers(0, 99), shares=st.tuples(st.floats(0, 1), st.floats(0, 1)))
def test_shares_are_nested_and_whole_and_nothing_else_changes(
    jobs: list[tuple[int, float]], seed: int, shares: tuple[float, float]
) -> None:
    few, many = sorted(shares)
    workload = log((8, 100.0), *jobs)
    before = [job_fields(job) for job in workload.jobs]
    less, counts = make(workload, seed, share=few)
    more, _ = make(workload, seed, share=many)
    assert chosen(less) <= chosen(more)
    assert counts.malleable == len(chosen(less)) == math.floor(few * counts.able + 0.5)
    assert counts.able + counts.unable == len(jobs) + 1
    for made in (less, more):
        after = [job_fields(job) for job in made.jobs]
        assert [{key: value for key, value in fields.items() if key != "sizes"} for fields in after] == before
        assert made.profiles == workload.profiles
    assert [job_fields(job) for job in workload.jobs] == before


@given(units=st.integers(1, 64), runtime=st.floats(0.1, 1e7), shrink=st.integers(1, 20), expand=st.integers(1, 9))
def test_sizes_are_in_the_rules_range_and_have_a_second_one(
    units: int, runtime: float, shrink: int, expand: int
) -> None:
    anyhow = (1, 1.0) if expand > 1 else (64, 1.0)
    rule = Rule(shrink=max(shrink, 2) if expand == 1 else shrink, expand=expand)
    made, _ = make(log((units, runtime), anyhow), rule=rule)
    sizes = made.jobs[0].request.sizes
    reachable = [n for n in range(1, 65) if units / rule.shrink <= n <= units * expand and _linked(n, units)]
    assert (sizes is not None) == (len(reachable) > 1)
    if sizes is not None:
        assert sorted({units, *sizes.above(units), *sizes.below(units)}) == reachable
        assert (sizes.steps - 1) * 60 < max(runtime, 61) <= sizes.steps * 60


def _linked(one: int, other: int) -> bool:
    """Whether one size is the other times a power of two."""
    low, high = sorted((one, other))
    return high % low == 0 and (high // low).bit_count() == 1


def test_every_job_is_chosen_alike_often() -> None:
    """Chi-square over 600 seeds: 20 jobs, a quarter of them each time."""
    counts = sum(choose(np.random.default_rng(seed), 20, 0.25).astype(int) for seed in range(600))
    assert isinstance(counts, np.ndarray)
    assert counts.sum() == 600 * 5
    # Drawn without replacement, so the sum is (1 - 1/4) 20/19 times a chi-square of 19 degrees: 1 % are above 28.6.
    assert ((counts - 150) ** 2 / 150).sum() < 28.6


def test_the_slowest_size_by_hand() -> None:
    """Linear, 8 units down to 1: eight times as long. Flat: never longer. 12 units are halved to 6 and 3 only."""
    assert slowest(Sizes(least=1, most=16), 8) == 8.0
    assert slowest(Sizes(least=1, most=16), 12) == 4.0
    assert slowest(Sizes(least=1, most=16), 5) == 1.0
    flat, table = parse_scalability("power:0"), parse_scalability("table:1=5,2=4,4=9")
    assert flat is not None
    assert table is not None
    assert slowest(Sizes(least=1, most=16, scalability=flat), 8) == 1.0
    assert slowest(Sizes(least=1, most=4, scalability=table), 1) == 9 / 5


def test_malleable_jobs_are_resized_in_a_run_and_end_once() -> None:
    """A job of 8 hosts has a step each minute. After the first one, it shrinks for a job that wants 4 of them."""
    made, _ = make(log((8, 600.0), (4, 600.0), hosts=8), rule=Rule(data=0.0))
    tasks = [
        Task(job.id, job.submission, job.units, made.profiles[job.profile]["delay"], 6000.0, extra=job.extra)
        for job in made.jobs
    ]
    rigid = [Task(task.id, task.submission, task.units, task.runtime, task.walltime) for task in tasks]
    machine = Machine.flat(8)
    assert simulate(machine, rigid, "dmr").rows["1"].start == micro(600)
    result = simulate(machine, tasks, "dmr")
    assert micro(60) <= result.rows["1"].start < micro(61)
    ends = [row.state for row in result.rows.values()]
    assert ends.count(JobState.COMPLETED_SUCCESSFULLY) == 2


def test_same_seed_same_bytes_by_the_command_from_a_workload_or_a_log(tmp_path: Path) -> None:
    write_workload(log(*[(2**n, 100.0) for n in range(6)]), tmp_path / "log.json")
    line = "{0} {1} 0 100 {2} -1 -1 {2} 200 -1 1 1 1 1 1 1 -1 -1\n"
    swf = "; MaxNodes: 64\n; MaxProcs: 64\n" + "".join(line.format(n + 1, 10 * n, 2**n) for n in range(6))
    (tmp_path / "log.swf").write_text(swf)
    for source in ("log.json", "log.swf"):
        for name, seed in (("a", "5"), ("b", "5"), ("c", "7")):
            arguments = ["malleable", "-o", str(tmp_path / name), "--seed", seed, "--from", str(tmp_path / source)]
            result = CliRunner().invoke(generate, [*arguments, "--share", "0.5"], catch_exceptions=False)
            assert "3 jobs malleable of 6 that can be; 0 cannot" in result.stdout
        first, again, other = ((tmp_path / name).read_bytes() for name in "abc")
        assert first == again
        assert first != other
        made = read_workload(tmp_path / "a")
        assert made.nb_res == 64
        assert len(chosen(made)) == 3
        assert made.about["origin"]["from"] == source


def test_the_command_accounts_for_the_records_of_a_log(tmp_path: Path) -> None:
    """The second record never ran."""
    swf = "; MaxNodes: 8\n; MaxProcs: 8\n1 0 0 100 4 -1 -1 4 200 -1 1 1 1 1 1 1 -1 -1\n"
    (tmp_path / "log.swf").write_text(swf + "2 0 0 -1 4 -1 -1 4 200 -1 5 1 1 1 1 1 -1 -1\n")
    arguments = ["malleable", "-o", str(tmp_path / "w"), "--seed", "1", "--from", str(tmp_path / "log.swf")]
    told = CliRunner().invoke(generate, arguments, catch_exceptions=False).stdout
    assert "2 records, 1 jobs kept" in told
    facts = json.loads(CliRunner().invoke(generate, [*arguments, "--json"], catch_exceptions=False).stdout)
    assert (facts["imported"]["records"], facts["imported"]["kept"], facts["able"]) == (2, 1, 1)


def test_the_command_counts_as_json(tmp_path: Path) -> None:
    write_workload(log((8, 100.0), (4, 100.0)), tmp_path / "log.json")
    arguments = ["malleable", "-o", str(tmp_path / "w"), "--seed", "1", "--from", str(tmp_path / "log.json"), "--json"]
    facts = json.loads(CliRunner().invoke(generate, arguments, catch_exceptions=False).stdout)
    assert (facts["malleable"], facts["able"], facts["unable"]) == (2, 2, 0)
    assert "imported" not in facts


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"share": 1.5}, "option --share: 1.5, expected 0 to 1"),
        ({"share": math.nan}, "option --share: nan, expected 0 to 1"),
        ({"hosts": 0}, "option --hosts: 0, expected 1 to"),
        ({"rule": Rule(shrink=0)}, "option --shrink: 0, expected 1 to"),
        ({"rule": Rule(expand=0)}, "option --expand: 0, expected 1 to"),
        ({"rule": Rule(factor=1)}, "option --factor: 1, expected 2 to"),
        ({"rule": Rule(step=0.0)}, "option --step: 0, expected 0.001 to"),
        ({"rule": Rule(period=-1.0)}, "option --period: -1, expected 0 to"),
        ({"rule": Rule(data=-1.0)}, "option --data: -1, expected 0 to"),
        ({"rule": Rule(scalability="pow")}, "option --scalability: 'pow', expected linear, power:EXPONENT (0 to 2)"),
        ({"rule": Rule(scalability="table:1=2,64=1")}, "option --scalability: 'table:1=2,64=1', expected linear"),
        ({"rule": Rule(shrink=1, expand=1)}, "log.json: has no job that can be made malleable"),
    ],
)
def test_what_cannot_be_made_is_refused_in_words(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as problem:
        make(log((8, 100.0)), **options)
    assert message in str(problem.value)


@pytest.mark.parametrize("name", ["missing.json", "missing.swf"])
def test_a_log_that_is_not_there_is_named(tmp_path: Path, name: str) -> None:
    arguments = ["malleable", "-o", str(tmp_path / "w"), "--seed", "1", "--from", str(tmp_path / name)]
    with pytest.raises(InputError, match=name):
        CliRunner().invoke(generate, arguments, catch_exceptions=False)


def test_the_machine_must_be_known() -> None:
    with pytest.raises(InputError, match=r"option --hosts: log\.json does not say how many hosts the machine has"):
        make(log((8, 100.0), hosts=None))


def test_a_part_of_a_workload_begins_at_0_and_has_the_profiles_that_it_uses() -> None:
    profiles = {
        "d1": {"type": "delay", "delay": 1},
        "d2": {"type": "delay", "delay": 2},
        "twice": {"type": "composed", "repeat": 2, "seq": ["inner"]},
        "inner": {"type": "composed", "repeat": 1, "seq": ["d2"]},
    }
    jobs = [
        Job(id=name, request=read_request(1, {}), submission=at, walltime=9.0, profile=profile)
        for name, at, profile in (("a", 1.0, "d1"), ("b", 2.5, "twice"), ("c", 3.0, "twice"), ("d", 4.0, "d1"))
    ]
    whole = Workload(path=Path("w"), name="w", nb_res=4, jobs=jobs, profiles=profiles, digest="x")
    part = whole.part(1, 3)
    assert [(job.id, job.submission) for job in part.jobs] == [("b", 0.0), ("c", 0.5)]
    assert list(part.profiles) == ["d2", "twice", "inner"]
    assert (part.nb_res, part.digest) == (4, "")
    assert whole.part(4, 9).jobs == []
    assert [job.submission for job in whole.jobs] == [1.0, 2.5, 3.0, 4.0]
