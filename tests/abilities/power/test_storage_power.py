"""Power states of a storage host, which runs no job."""

from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.line.dispatcher import Dispatcher
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.engines.records import EngineOptions
from simulating import exact, simulate, start_all

POWER = {"wattage_per_state": "100:110:200,10:10,120:120,140:140", "sleep_pstates": "1:2:3"}


class StorageSleeper(Dispatcher):
    """Lets the storage host behind the others sleep, and starts what fits."""

    needs_energy = True

    def begin(self, ledger: Ledger) -> None:
        ledger.set_state(Allocation.of([1]), "1")

    def decide(self, ledger: Ledger) -> None:
        start_all(ledger)


def test_a_storage_host_sleeps_and_counts() -> None:
    speeds = {"speed": 1e9, "speeds": (1e9, 1.0, 0.5, 0.25)}
    hosts = [
        Host(id=0, name="a", properties=POWER, **speeds),
        Host(id=1, name="io", storage=True, properties=POWER, **speeds),
    ]
    name = f"{StorageSleeper.__module__}:{StorageSleeper.__name__}"
    result = simulate(Machine(hosts), [exact("1", 5, 1, 10)], name, engine=EngineOptions(energy="exact"))
    # It falls asleep in 2 s at 120 W, and sleeps at 10 W for 13 s; the other one is idle at 100 W.
    energy = result.files["consumed_energy.csv"].decode().splitlines()[-1].split(",")
    assert (float(energy[0]), float(energy[1])) == (15.0, 2 * 120.0 + 13 * 10.0 + 15 * 100.0)
