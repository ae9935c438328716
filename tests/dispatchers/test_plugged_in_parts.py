"""The manual's own placement and ordering, named by their files, in dispatchers that know nothing of them."""

from pathlib import Path

import pytest

import doors
from batdispatch.core.hosts import hostset
from batdispatch.core.machine.machine import Machine
from simulating import Task, audit, simulate

EXAMPLES = Path(__file__).parents[2] / "schedulers/batdispatch/examples"
STRIDED = f"{EXAMPLES / 'strided.py'}:Strided[step=3]"
FAIR = f"{EXAMPLES / 'fair_share.py'}:FairShare[half_life=1000]"


@pytest.mark.parametrize(
    "name", ["easy", "conservative", "pcp20", "best-list", "stochastic-easy", "stochastic-conservative"]
)
@pytest.mark.parametrize("capacity", [None, "core=1"])
def test_a_placement_with_an_option(name: str, capacity: str | None) -> None:
    tasks = [Task(str(n), float(n), 3, 20.0, 25.0, None if capacity is None else {"core": 1}) for n in range(5)]
    machine = Machine.flat(9, capacity)
    result = simulate(machine, tasks, name, options={"placement": STRIDED})
    audit(machine, tasks, result)
    assert sorted(result.rows["0"].units) == [0, 3, 6]
    # What is free are 1 2 4 5 7 8, of which every third one comes first.
    assert sorted(result.rows["1"].units) == [1, 2, 5]


@pytest.mark.parametrize("name", ["easy", "conservative", "stochastic-easy"])
@pytest.mark.parametrize("door", ["zeromq4", "zeromq5"])
def test_the_same_behind_a_socket(name: str, door: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    site = doors.make_sites(tmp_path / "sites")["hosts"]
    monkeypatch.setitem(doors.SPECIAL, name, doors.Special({"placement": STRIDED, "ordering": FAIR}))
    there = doors.DOORS[door](name, site, tmp_path / "there")
    assert there == doors.in_process(name, site, tmp_path / "here")
    scattered = [row for row in there.rows.values() if len(list(hostset.runs(hostset.from_text(row[3])))) > 1]
    assert len(scattered) > 5


@pytest.mark.parametrize("name", ["fcfs", "easy", "filler", "pcp20", "best-list", "stochastic-easy"])
def test_an_ordering_that_hears_job_ends_shares_fairly(name: str) -> None:
    """Ann has used the machine; of the two jobs that wait, Ben's goes first although it came later."""
    tasks = [
        Task("long", 0.0, 2, 50.0, 50.0, user="ann"),
        Task("block", 50.5, 2, 10.0, 10.0, user="cat"),
        Task("ann", 51.0, 2, 5.0, 5.0, user="ann"),
        Task("ben", 52.0, 2, 5.0, 5.0, user="ben"),
    ]
    found = simulate(Machine.flat(2), tasks, name, options={"ordering": FAIR}).starts()
    assert found["ben"] < found["ann"]
    assert simulate(Machine.flat(2), tasks, name, options={"ordering": "fcfs"}).starts()["ann"] < found["ann"]


def test_a_wrong_option_of_a_part_is_refused_with_the_right_one() -> None:
    with pytest.raises(Exception, match=r"has no option 'stp': did you mean 'step'\?"):
        simulate(Machine.flat(2), [], "easy", options={"placement": STRIDED.replace("step", "stp")})
