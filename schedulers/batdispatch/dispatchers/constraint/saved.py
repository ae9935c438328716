"""Dispatching instances as JSON, one a line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import msgspec
import numpy as np

from batdispatch.core.errors import InputError
from batdispatch.core.machine import MAX_TOTAL
from batdispatch.dispatchers.constraint.instance import FOREVER, Held, Instance

Amount = Annotated[int, msgspec.Meta(ge=-1, le=MAX_TOTAL)]
Count = Annotated[int, msgspec.Meta(ge=1, le=2**31)]
Duration = Annotated[int, msgspec.Meta(ge=1, le=FOREVER)]
#: Bytes of the longest line.
MAX_LINE = 64 * 2**20


class SavedJob(msgspec.Struct, forbid_unknown_fields=True):
    """A queued job: duration and wait in s; `request` of one unit along the resources, -1: a whole node."""

    id: str
    duration: Duration
    wait: Annotated[float, msgspec.Meta(ge=0)]
    units: Count
    request: list[Amount]


class SavedHeld(msgspec.Struct, forbid_unknown_fields=True):
    """A running job: s until its expected end, and the amounts it holds of each resource by node."""

    id: str
    remaining: Duration
    holds: dict[int, list[Amount]]


class SavedInstance(msgspec.Struct, forbid_unknown_fields=True):
    """One line of a file of instances; nodes with equal capacity in a row are written as [how many, amounts]."""

    now: float
    resources: list[str]
    nodes: list[tuple[Count, list[Amount]]]
    jobs: list[SavedJob]
    running: list[SavedHeld]


def encode(instance: Instance) -> bytes:
    """Return an instance as a line of JSON, without the line's end."""
    nodes: list[tuple[int, list[int]]] = []
    for row in instance.capacity.tolist():
        if nodes and nodes[-1][1] == row:
            nodes[-1] = (nodes[-1][0] + 1, row)
        else:
            nodes.append((1, row))
    jobs = [
        SavedJob(job_id, int(duration), float(wait), int(units), request.tolist())
        for job_id, duration, wait, units, request in zip(
            instance.ids, instance.durations, instance.waits, instance.units, instance.requests, strict=True
        )
    ]
    running = [
        SavedHeld(held.id, held.remaining, dict(zip(held.hosts.tolist(), held.amounts.tolist(), strict=True)))
        for held in instance.running
    ]
    return msgspec.json.encode(SavedInstance(instance.now, list(instance.resources), nodes, jobs, running))


def read(path: Path) -> Iterator[tuple[int, Instance]]:
    """Yield (line number, instance) of a file of instances.

    Raises:
        InputError: a line is no instance, or describes an impossible one.
        OSError: the file cannot be read.
    """
    decoder = msgspec.json.Decoder(SavedInstance)
    found = False
    with path.open("rb") as file:
        number = 0
        while line := file.readline(MAX_LINE + 1):
            number += 1
            place = f"line {number}"
            if len(line) > MAX_LINE:
                raise InputError(f"is longer than {MAX_LINE} bytes", source=str(path), place=place)
            if not line.strip():
                continue
            try:
                saved = decoder.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
                raise InputError(f"is no dispatching instance: {problem}", source=str(path), place=place) from None
            found = True
            yield number, _instance(saved, str(path), place)
    if not found:
        raise InputError("holds no dispatching instance", source=str(path))


def _instance(saved: SavedInstance, source: str, place: str) -> Instance:
    def wrong(message: str) -> InputError:
        return InputError(message, source=source, place=place)

    width = len(saved.resources)
    count = sum(number for number, _ in saved.nodes)
    if not width or not saved.jobs or not 1 <= count <= 10**6:
        raise wrong(f"{width} resources, {count} nodes and {len(saved.jobs)} jobs, expected at least one of each")
    rows = [row for _, row in saved.nodes] + [job.request for job in saved.jobs]
    rows += [row for held in saved.running for row in held.holds.values()]
    if any(len(row) != width for row in rows):
        raise wrong(f"a list of amounts has not as many as there are resources, {width}")
    if any(amount < 0 for row in rows[: len(saved.nodes)] for amount in row):
        raise wrong("a node has less than nothing of a resource")
    capacity = np.repeat(
        np.array([row for _, row in saved.nodes], dtype=np.int64), [number for number, _ in saved.nodes], axis=0
    )
    running = []
    for held in sorted(saved.running, key=lambda one: one.remaining):
        hosts = sorted(held.holds)
        if hosts and not 0 <= hosts[0] <= hosts[-1] < count:
            raise wrong(f"job {held.id} runs on a node outside 0-{count - 1}")
        amounts = np.array([held.holds[host] for host in hosts], dtype=np.int64).reshape(len(hosts), width)
        running.append(Held(held.id, held.remaining, np.array(hosts, dtype=np.intp), amounts))
    instance = Instance(
        now=saved.now,
        resources=tuple(saved.resources),
        capacity=capacity,
        ids=tuple(job.id for job in saved.jobs),
        durations=np.array([job.duration for job in saved.jobs], dtype=np.int64),
        waits=np.array([job.wait for job in saved.jobs]),
        units=np.array([job.units for job in saved.jobs], dtype=np.int64),
        requests=np.array([job.request for job in saved.jobs], dtype=np.int64),
        running=tuple(running),
    )
    used = np.zeros_like(capacity)
    for held_now in running:
        if (held_now.amounts < 0).any():
            raise wrong(f"job {held_now.id} holds less than nothing")
        used[held_now.hosts] += held_now.amounts
    if (used > capacity).any():
        raise wrong(f"node {int(np.argwhere(used > capacity)[0, 0])} carries more than it has")
    for job, units in enumerate(instance.units.tolist()):
        request = instance.requests[job]
        if (request < 0).any() and not (request < 0).all():
            raise wrong(f"job {instance.ids[job]} asks for -1 of some resources only")
        if instance.room(job) < units:
            raise wrong(f"job {instance.ids[job]} does not fit the idle machine")
    return instance
