"""fcfs, filler and easy as a textbook has them, on hosts of which some are open to each job.

A policy is told the time, the waiting jobs in order of arrival, the hosts open to each of them by id, the idle hosts,
and (expected end in seconds, hosts) of the running jobs. It returns the jobs to start with their hosts.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

Fields = dict[str, Any]
Open = dict[str, set[int]]
Held = list[tuple[float, set[int]]]
Starts = list[tuple[Fields, tuple[int, ...]]]


def lowest(job: Fields, hosts: set[int]) -> tuple[int, ...]:
    """The lowest hosts for a job; none: there are too few."""
    return tuple(sorted(hosts)[: job["res"]]) if len(hosts) >= job["res"] else ()


def fcfs(now: int, waiting: list[Fields], open_to: Open, idle: set[int], held: Held) -> Starts:
    """Start jobs in order until one does not fit."""
    found: Starts = []
    for job in waiting:
        hosts = lowest(job, idle & open_to[job["id"]])
        if not hosts:
            break
        found.append((job, hosts))
        idle = idle - set(hosts)
    return found


def filler(now: int, waiting: list[Fields], open_to: Open, idle: set[int], held: Held) -> Starts:
    """Start every job that fits, in order."""
    found: Starts = []
    for job in waiting:
        hosts = lowest(job, idle & open_to[job["id"]])
        if hosts:
            found.append((job, hosts))
            idle = idle - set(hosts)
    return found


def easy(now: int, waiting: list[Fields], open_to: Open, idle: set[int], held: Held, shortest: bool = False) -> Starts:
    """EASY by its promise alone: a job goes ahead unless the head of the queue would start later for it."""
    found = fcfs(now, waiting, open_to, idle, held)
    behind = waiting[len(found) :]
    held = held + [(now + _walltime(job), set(hosts)) for job, hosts in found]
    idle = idle - {host for _, hosts in found for host in hosts}
    for job in sorted(behind[1:], key=_walltime) if shortest else behind[1:]:
        hosts = set(lowest(job, idle & open_to[job["id"]]))
        more = [*held, (now + _walltime(job), hosts)]
        promised = _promise(behind[0], open_to, idle, held)
        if hosts and _promise(behind[0], open_to, idle - hosts, more) <= promised:
            found.append((job, tuple(sorted(hosts))))
            idle, held = idle - hosts, more
    return found


def _promise(head: Fields, open_to: Open, idle: set[int], held: Held) -> float:
    """The first moment at which enough hosts are expected to be free for the head: each one is tried."""
    for end in sorted({end for end, _ in held}):
        then = idle.union(*(hosts for other, hosts in held if other <= end))
        if len(then & open_to[head["id"]]) >= head["res"]:
            return end
    return math.inf


def _walltime(job: Fields) -> float:
    return float(job.get("walltime", math.inf))


POLICIES: dict[str, Callable[[int, list[Fields], Open, set[int], Held], Starts]] = {
    "fcfs": fcfs,
    "filler": filler,
    "easy": easy,
    "easy-sjbf": partial(easy, shortest=True),
}
