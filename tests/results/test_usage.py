import numpy as np
import pytest

from batdispatch.core.errors import InputError
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import Request, amounts
from batdispatch.core.machine.machine import Machine
from batdispatch.results.jobs_file import read_columns
from batdispatch.results.runs import figures_of
from batdispatch.results.units import read_units
from batdispatch.results.usage import asking_jobs, held_by_row, slots_of

MACHINE = Machine.flat(3, "core=8 gpu=2")


@pytest.fixture
def run(write_jobs):
    folder = write_jobs(
        {"a": {"hosts": "0-1", "units": 3}, "b": {"hosts": "2"}, "r": {"state": "REJECTED"}, "u": {"hosts": "1"}}
    )
    columns = read_columns(folder / "jobs.csv")
    return folder, columns, columns.hosts


def units_file(folder, *lines):
    (folder / "units.csv").write_text("\n".join(["job_id,allocated_resources,units", *lines]) + "\n")
    return folder / "units.csv"


JOBS = [
    Job(id="a", request=Request(units=3, per_unit=amounts({"core": 2, "gpu": 0})), user="ann"),
    Job(id="w0!b", request=Request(units=1)),
    Job(id="r", request=Request(units=1)),
]


def test_units_times_demand_or_the_whole_node(run):
    folder, columns, intervals = run
    units = read_units(units_file(folder, "a,0-1,2 1"), columns, intervals.sizes)
    assert units.tolist() == [2, 1, 1, 1]
    asking = asking_jobs(columns, JOBS)
    assert [job.id if job else None for job in asking] == ["a", "w0!b", "r", None]
    slots = slots_of(intervals, units, MACHINE, asking)
    assert slots.host.tolist() == [0, 1, 2, 1]
    assert slots.amount.tolist() == [[4, 0], [2, 0], [8, 2], [8, 2]]
    held = held_by_row(slots, len(columns), MACHINE.resources)
    assert held["core"].tolist() == [6, 8, 0, 8]
    values = figures_of(columns, {}, machine=MACHINE, jobs=JOBS, folder=folder).metrics
    assert values["utilisation_core"] == pytest.approx(22 * 10 / (24 * 10))
    assert values["utilisation_gpu"] == pytest.approx(4 / 6)
    assert values["nb_users"] == 1


def test_without_a_units_file_each_host_carries_one(run):
    folder, columns, intervals = run
    assert read_units(folder / "units.csv", columns, intervals.sizes).tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("z,0,1", r"line 2: job 'z' is not in the jobs file"),
        ("a,0-1,1", r"line 2: job 'a' has units on 1 hosts and 2 hosts"),
        ("a,0-1,1 0", r"units '1 0', expected a positive number"),
        ("a,0-1,1 x", r"units '1 x'"),
        ("a,0-1", r"line 2: 2 fields, expected 3"),
        ("a,0-1,1 9999999999", r"units '1 9999999999'"),
    ],
)
def test_wrong_units_are_refused(run, line, message):
    folder, columns, intervals = run
    with pytest.raises(InputError, match=message):
        read_units(units_file(folder, line), columns, intervals.sizes)


def test_a_units_file_with_other_columns(run):
    folder, columns, intervals = run
    (folder / "units.csv").write_text("a,b\n")
    with pytest.raises(InputError, match="expected job_id"):
        read_units(folder / "units.csv", columns, intervals.sizes)


def test_a_resource_that_the_machine_lacks(run):
    _, columns, intervals = run
    asking = asking_jobs(columns, [Job(id="a", request=Request(units=3, per_unit=amounts({"tpu": 1})))])
    with pytest.raises(InputError, match=r"job 'a'.*'tpu'"):
        slots_of(intervals, np.ones(4, dtype=np.int64), MACHINE, asking)
