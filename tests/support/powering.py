"""Dispatchers under `powered`, at random."""

import os

from hypothesis import reject, settings

from batdispatch.abilities.power import sleep
from batdispatch.core.errors import InputError
from batdispatch.core.line import dispatcher as dispatchers
from batdispatch.core.line import registry
from batdispatch.core.machine.machine import Machine
from batdispatch.engines.records import EngineOptions
from simulating import Result, Task, simulate

#: Those that set power states by themselves stand apart.
NAMES = [
    name
    for name in registry.names(dispatchers.GROUP)
    if name not in ("powered", "resizing", "dmr") and not dispatchers.find(name).needs_energy
]
#: Sleep rules that need no price.
RULES = [name for name in registry.names(sleep.GROUP) if name != "dear"]
#: Options that keep a solver short.
INSIDE = {
    "pcp19": "pcp19[work=0.02]",
    "pcp20": "pcp20[work=0.02]",
    "hcp19": "hcp19[work=0.02]",
    "aucsched": "aucsched[work=0.02]",
    "attempts": "attempts[dispatcher=conservative]",
}
quick = settings(max_examples=int(os.environ.get("BATDISPATCH_EXAMPLES", "4")))


def stochastic(name: str) -> bool:
    return "speculate" in dispatchers.find(name).options_type.__struct_fields__


def run(name: str, options: str, machine: Machine, tasks: list[Task], **others: object) -> Result:
    registers = dispatchers.find(name).registers_jobs or "states=lower" in options
    engine = EngineOptions(dynamic_jobs=registers, energy="exact")
    text = f"powered[dispatcher={INSIDE.get(name, name)},{options}]"
    try:
        return simulate(machine, tasks, text, engine=engine, **others)  # type: ignore[arg-type]
    except InputError as problem:
        if "and a job adds" in str(problem):
            # Hosts that wake up would burn more than the cap that was drawn.
            reject()
        raise
