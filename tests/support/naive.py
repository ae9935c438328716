"""What a job's fields mean, read naively and by hand: shares no code with the package."""

from itertools import product
from typing import Any

from batdispatch.core.machine.machine import Machine

#: Host -> resource -> amount.
Amounts = list[dict[str, int]]


def offered(machine: Machine) -> Amounts:
    """What each host has; nothing on storage hosts."""
    found: Amounts = []
    for host in machine.hosts:
        if host.storage:
            found.append({})
        elif machine.exclusive:
            found.append({"host": 1})
        else:
            parts = (part.partition("=") for part in host.properties["capacity"].split())
            found.append({name: int(amount) for name, _, amount in parts})
    return found


def use_of(machine: Machine, fields: dict[str, Any], units: dict[int, int]) -> Amounts:
    """What a job takes of each host if it has so many units there."""
    whole = machine.exclusive or "demand" not in fields or fields.get("whole_nodes", False)
    taken: Amounts = [{} for _ in machine.hosts]
    for host, count in units.items():
        if whole:
            taken[host] = dict(offered(machine)[host])
            continue
        taken[host] = {name: count * amount for name, amount in fields["demand"].items()}
        for name, amount in fields.get("per_node", {}).items():
            taken[host][name] = taken[host].get(name, 0) + amount
    return taken


def allowed(machine: Machine, fields: dict[str, Any], units: dict[int, int], total: int) -> bool:
    """Whether a spread of units over hosts is one that the job asks for, capacity apart."""
    used = sorted(host for host, count in units.items() if count)
    names = {machine.hosts[host].name for host in used}
    nodes = fields.get("nodes", [1, total])
    least, most = (nodes, nodes) if isinstance(nodes, int) else nodes
    each = fields.get("units_per_node")
    return (
        sum(units.values()) == total
        and least <= len(used) <= most
        and (each is None or all(units[host] == each for host in used))
        and ("node_list" not in fields or names <= set(fields["node_list"]))
        and not names & set(fields.get("exclude_nodes", ()))
        and (not fields.get("contiguous") or used == list(range(used[0], used[-1] + 1)))
        and not any(machine.hosts[host].storage for host in used)
    )


def most_units(machine: Machine, fields: dict[str, Any], free: dict[str, int], host: int, total: int) -> int:
    """How many units one host can take by itself, as far as capacity goes."""
    there = offered(machine)[host]
    if not there or not any(free.values()):
        return 0
    if machine.exclusive or "demand" not in fields:
        return int(free == there)
    if fields.get("whole_nodes") and free != there:
        return 0
    fitting = 0
    for count in range(1, total + 1):
        needed = {name: count * amount for name, amount in fields["demand"].items()}
        for name, amount in fields.get("per_node", {}).items():
            needed[name] = needed.get(name, 0) + amount
        if any(amount > free.get(name, 0) for name, amount in needed.items()):
            break
        fitting = count
    return fitting


def fits(machine: Machine, fields: dict[str, Any], total: int, free: Amounts) -> bool:
    """Whether all units find a place, by trying every spread of units over hosts."""
    most = [most_units(machine, fields, free[host], host, total) for host in range(len(machine.hosts))]
    return any(
        allowed(machine, fields, dict(enumerate(counts)), total)
        for counts in product(*(range(limit + 1) for limit in most))
        if sum(counts) == total
    )


def left(machine: Machine, held: list[tuple[dict[str, Any], dict[int, int]]]) -> Amounts:
    """What is free when jobs of these fields hold these units."""
    free = offered(machine)
    for fields, units in held:
        for host, amounts in enumerate(use_of(machine, fields, units)):
            for name, amount in amounts.items():
                free[host][name] = free[host].get(name, 0) - amount
    return free
