"""Machines: capacities, classes, coordinates, and what does not make one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.core.capacity.granularity import space_of
from batdispatch.core.capacity.need import resolve
from batdispatch.core.errors import InputError
from batdispatch.core.jobs.job import Job
from batdispatch.core.machine.machine import Host, Machine, parse_capacity
from strategies import jobs, make_job, shared_machines


def host(number: int, *, storage: bool = False, **properties: str) -> Host:
    return Host(id=number, name=f"n{number}", storage=storage, properties=properties)


def test_hosts_without_capacity_are_exclusive() -> None:
    machine = Machine([host(1), host(0), host(2, storage=True)])
    assert machine.exclusive
    assert machine.resources == ("host",)
    assert machine.capacity.tolist() == [[1], [1], [0]]
    assert machine.compute == 0b011
    assert machine.size == 2
    assert [disk.id for disk in machine.storage] == [2]
    assert machine.classes.tolist() == [0, 0, -1]


def test_resources_in_order_of_appearance_and_classes_by_capacity() -> None:
    machine = Machine(
        [
            host(0, capacity="core=16 memory=32"),
            host(1, capacity="core=16,gpu=2,memory=32"),
            host(2, storage=True, capacity="core=99"),
            host(3, capacity="memory=32 core=16"),
        ]
    )
    assert machine.resources == ("core", "memory", "gpu")
    assert machine.capacity.tolist() == [[16, 32, 0], [16, 32, 2], [0, 0, 0], [16, 32, 0]]
    assert machine.total().tolist() == [48, 96, 2]
    assert machine.classes[0] == machine.classes[3] != machine.classes[1]
    assert machine.class_capacity[machine.classes[1]].tolist() == [16, 32, 2]


def test_flat_machines_name_hosts_so_that_text_order_is_number_order() -> None:
    names = [each.name for each in Machine.flat(12).hosts]
    assert names == sorted(names)
    assert Machine.flat(2, "core=4").capacity.tolist() == [[4], [4]]


@pytest.mark.parametrize(
    ("hosts", "message"),
    [
        ([], "no compute host"),
        ([host(0, storage=True)], "no compute host"),
        ([host(0), host(2)], "without holes"),
        ([host(1), host(2)], "without holes"),
        ([host(0), host(0)], "repetitions"),
        ([host(0, capacity="core=4"), host(1)], "host n1 states no capacity while others do"),
        ([host(0, capacity="")], "host n0: its capacity '' is empty"),
        ([host(0, capacity="core=0 gpu=0")], "host n0: its capacity 'core=0 gpu=0' is empty"),
        ([host(0, capacity="core core=2")], "'core' is not name=amount"),
        ([host(0, capacity="core=")], "'core=' is not name=amount"),
        ([host(0, capacity="=4")], "'=4' is not name=amount"),
        ([host(0, capacity="core=4 core=4")], "each name once"),
        ([host(0, capacity="core=-4")], "'core=-4' is not name=amount"),
        ([host(0, capacity="core=4.5")], "'core=4.5' is not name=amount"),
        ([host(0, capacity="core=" + "9" * 19)], "whole amount"),
        ([host(i, capacity="core=" + "9" * 18) for i in range(5)], "core in all"),
        ([host(0, coordinates="0,x")], "host n0: coordinates '0,x' are not whole numbers"),
        ([host(0, coordinates="")], "coordinates '' are not whole numbers"),
        ([host(0, coordinates="0,-1")], "are not whole numbers"),
        ([host(0, coordinates="9" * 5000)], "are not whole numbers"),
        ([host(0, coordinates="0,1"), host(1, coordinates="0")], r"different dimensions: \[1, 2\]"),
    ],
)
def test_what_does_not_make_a_machine(hosts: list[Host], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Machine(hosts)


def test_capacity_is_read_with_spaces_or_commas() -> None:
    assert parse_capacity("core=16 gpu=0,memory=7", "n0") == {"core": 16, "gpu": 0, "memory": 7}


def test_a_capacity_that_is_another_programs_leaves_the_hosts_whole() -> None:
    machine = Machine([host(0, capacity="500GB"), host(1, storage=True, capacity="16")])
    assert machine.exclusive
    with pytest.raises(InputError, match="host n1 states no capacity while others do"):
        Machine([host(0, capacity="core=4"), host(1, capacity="500GB")])


def test_coordinates_of_all_compute_hosts_or_none() -> None:
    machine = Machine([host(0, coordinates="0,1"), host(1, coordinates="2, 3"), host(2, storage=True)])
    assert machine.coordinates is not None
    assert machine.coordinates.tolist() == [[0, 1], [2, 3], [-1, -1]]
    assert Machine([host(0, coordinates="0,1"), host(1)]).coordinates is None
    assert Machine.flat(2).coordinates is None


def test_a_demand_along_the_resource_axis() -> None:
    machine = Machine([host(0, capacity="core=4 gpu=1 memory=8")])
    need = resolve(machine, make_job(demand={"memory": 2, "core": 1, "mic": 0}).request)
    assert need.amounts == (1, 0, 2)
    assert not need.whole
    assert resolve(machine, make_job().request).whole
    host_alone = resolve(Machine.flat(2), make_job(demand={"core": 4}).request)
    assert host_alone.amounts == (1,)
    assert not host_alone.whole, "no other job could share the host"
    with pytest.raises(InputError, match="needs resource 'mic', the machine has core, gpu, memory"):
        resolve(machine, make_job(demand={"mic": 1}).request)


@given(st.data())
def test_room_is_how_often_a_unit_can_be_taken_off(data: st.DataObject) -> None:
    machine = data.draw(shared_machines())
    job: Job = data.draw(jobs(machine))
    free = machine.capacity.copy()
    for number in range(len(machine.hosts)):
        for axis in range(len(machine.resources)):
            free[number, axis] = data.draw(st.integers(0, int(machine.capacity[number, axis])))
    room = space_of(machine).room(free, job)
    demand = job.request.demand
    for number, each in enumerate(machine.hosts):
        if each.storage:
            assert room[number] == 0
        elif demand is None:
            assert room[number] == (free[number].tolist() == machine.capacity[number].tolist())
        elif not any(demand.values()):
            assert (room[number] >= job.units) if free[number].any() else room[number] == 0
        else:
            units = 0
            axes = {machine.resources.index(name): amount for name, amount in demand.items() if amount}
            while all(free[number, axis] >= amount * (units + 1) for axis, amount in axes.items()):
                units += 1
            assert room[number] == units
