"""A dispatcher that says what it knows of its machine, for the tests of ``serve --platform``."""

import json

from batdispatch.core.line.dispatcher import Dispatcher
from batdispatch.core.line.ledger import Ledger


class Telling(Dispatcher):
    """Prints one line of JSON about the machine, and starts nothing."""

    def begin(self, ledger: Ledger) -> None:
        machine = ledger.machine
        topology = machine.topology
        known = {
            "kind": None if topology is None else topology.kind,
            "routers": None if topology is None else {h.name: int(topology.router_of[h.id]) for h in machine.hosts},
            "speeds": {host.name: host.speed for host in machine.hosts},
            "storage": [host.name for host in machine.storage],
        }
        print(f"knows {json.dumps(known, sort_keys=True)}", flush=True)

    def decide(self, cluster: Ledger) -> None:
        for job in list(cluster.queue.values()):
            cluster.reject(job, "starts nothing")
