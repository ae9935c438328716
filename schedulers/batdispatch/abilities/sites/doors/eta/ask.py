"""From what people state to the estimates of a queue."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from batdispatch.abilities.sites.doors.eta.calendar import Calendar, calendar_of_queue
from batdispatch.abilities.sites.doors.eta.estimate import QueueEstimate, estimate
from batdispatch.abilities.sites.doors.eta.experience import Experience, learn, read_experience, write_experience
from batdispatch.abilities.sites.doors.eta.futures import Futures
from batdispatch.abilities.sites.doors.eta.options import EtaOptions
from batdispatch.abilities.sites.doors.eta.queue_moment import History
from batdispatch.abilities.sites.doors.eta.sources import check_age, of_accounts, of_queue, of_run, taken_at
from batdispatch.abilities.sites.doors.slurm.queue import SlurmQueue, read_queue
from batdispatch.core.errors import InputError
from batdispatch.inputs.log_options import LogReading
from batdispatch.inputs.workloads.moments import Clock, time_zone
from batdispatch.runs.inputs import Follow
from batdispatch.runs.listener import Listener

#: The dispatcher that is simulated if none is stated.
_DISPATCHER = "easy"


class Past(NamedTuple):
    """What is known of a machine's past, and the simulations that take account of it."""

    learned: Experience
    futures: Futures
    #: Where it comes from, for messages.
    name: str
    #: What the clock of the accounts shows at 0, seconds since 1970; None: nobody knows.
    begin: float | None


def answer(options: EtaOptions, reading: LogReading, listener: Listener) -> QueueEstimate | None:
    """Estimate when the waiting jobs of a queue start; None if there is no queue, and only something was to be learned.

    Raises:
        InputError: an option or a file is wrong, or options do not go together.
    """
    _check(options)
    if options.run is not None:
        found = _of_run(options, options.run)
    else:
        # What is wrong with the queue is said before minutes are spent on the past.
        queue = None if options.queue is None else _read_queue(options.queue, reading)
        past = _past(options, reading, listener)
        if queue is None or options.queue is None:
            return None
        found = _of_queue(options, reading, past, queue, options.queue, listener)
    if not options.job:
        return found
    known = {one.job: one for one in found.jobs}
    for job in options.job:
        if job not in known:
            raise InputError(f"{job!r} does not wait", source="option --job")
    found.jobs = [known[job] for job in options.job]
    return found


def _check(options: EtaOptions) -> None:
    if options.run is not None:
        given = [name for name in ("queue", "accounts", "learned") if getattr(options, name) is not None]
        if given or options.partition or options.machine:
            raise InputError(
                "has a queue and a past of its own: --queue, --accounts, --learned, --partition and --machine do not "
                "go with it",
                source="option --run",
            )
        if options.at is None:
            raise InputError("needs --at SECONDS, the moment", source="option --run")
    elif options.queue is None and (options.accounts is None or options.learned is None):
        raise InputError(
            "a queue is needed (--queue FILE, or --run DIR), or --accounts and --learned to learn for later"
        )
    elif options.accounts is None and options.learned is None:
        raise InputError(
            "needs a past: --accounts LOG, or --learned FILE that was made of it; without one nothing tells how long "
            "jobs run",
            source="option --queue",
        )


def _of_run(options: EtaOptions, folder: Path) -> QueueEstimate:
    source = of_run(folder)
    now = options.at or 0.0
    dispatcher = options.dispatcher or _DISPATCHER
    futures = Futures(dispatcher, source.units)
    learned = learn(source.jobs, futures, dispatcher=dispatcher, unit=source.unit, now=now, seed=options.seed)
    calendar = Calendar(source.begin or 0.0, source.zone)
    return estimate(History(source.jobs).at(now), futures, learned, options.seed, calendar, options.job)


def _past(options: EtaOptions, reading: LogReading, listener: Listener) -> Past:
    if options.accounts is None:
        assert options.learned is not None
        learned = read_experience(options.learned)
        if options.machine not in (None, learned.units):
            raise InputError("was made of accounts: --machine goes with these", source=str(options.learned))
        if options.partition not in ("", learned.partition):
            said = f"partition {learned.partition}" if learned.partition else "the whole machine"
            raise InputError(
                f"was learned of {said}, not of partition {options.partition}: give --accounts to learn of that",
                source=str(options.learned),
            )
        stated = {"dispatcher": (options.dispatcher, learned.dispatcher), "units": (reading.units, learned.unit)}
        for name, (wanted, said) in stated.items():
            if wanted not in (None, said):
                raise InputError(
                    f"was learned with --{name} {said}, not {wanted}: give --accounts to learn with that",
                    source=str(options.learned),
                )
        return Past(learned, Futures(learned.dispatcher, learned.units), str(options.learned), None)
    follow: Follow = listener.progress
    source = of_accounts(options.accounts, reading, options.partition, options.machine, follow)
    listener.note(f"the machine has {source.units:,} {source.unit}: {source.why}")
    dispatcher = options.dispatcher or _DISPATCHER
    futures = Futures(dispatcher, source.units)
    until = float(source.jobs.submission[-1])
    learned = learn(
        source.jobs,
        futures,
        dispatcher=dispatcher,
        unit=source.unit,
        now=until,
        seed=options.seed,
        partition=options.partition,
        zone=source.zone,
    )
    if options.learned is not None:
        write_experience(learned, options.learned)
        listener.note(
            f"{options.learned}: learned of {len(source.jobs.ids):,} jobs and at {len(learned.past.at)} moments"
        )
    return Past(learned, futures, str(options.accounts), source.begin)


def _read_queue(path: Path, reading: LogReading) -> SlurmQueue:
    return read_queue(path, Clock(time_zone(reading.time_zone) if reading.time_zone else None), reading.cluster)


def _of_queue(
    options: EtaOptions, reading: LogReading, past: Past, queue: SlurmQueue, path: Path, listener: Listener
) -> QueueEstimate:
    now, remark = taken_at(queue, options.at)
    if remark:
        listener.note(remark)
    for why, count in queue.left_out.items():
        listener.note(f"{count:,} {'job' if count == 1 else 'jobs'} left out: {why}")
    if past.begin is not None:
        check_age(now, queue.zoned and not reading.time_zone, past.learned.until + past.begin, past.name)
    running, waiting = of_queue(queue, past.learned.unit, past.learned.partition)
    _check_times(queue, now, path)
    moment = past.learned.moment(now, running, waiting)
    calendar = calendar_of_queue(reading, queue.zoned, past.learned.zone)
    found = estimate(moment, past.futures, past.learned, options.seed, calendar, options.job)
    reasons = {job.id: job.reason for job in queue.jobs}
    for job in found.jobs:
        job.slurm_reason = reasons[job.job] or None
    return found


def _check_times(queue: SlurmQueue, now: float, path: Path) -> None:
    late = next((job for job in queue.jobs if job.submission > now + 1.0), None)
    if late is not None:
        raise InputError(
            f"came {late.submission - now:,.0f} s after the queue was taken: is --at right?",
            source=str(path),
            place=f"job {late.id}",
        )
