"""An explanation in words, for the terminal and the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping

from batdispatch.core.hosts.hostsets import parse_many
from batdispatch.core.line.hindsight import plain
from batdispatch.core.machine.machine import WHOLE_HOST
from batdispatch.explain.records import BUSY, WALLTIMES, Explanation, Holder, Line, Overtaker, Phase
from batdispatch.explain.view import NODE
from batdispatch.inputs.workloads.dates import LogDates
from batdispatch.parts.placement.factory import names_of
from batdispatch.results.numbers import duration

#: Most intervals of hosts, and most jobs that one waits for, that are written out; `--json` has them all.
_MOST_INTERVALS, _MOST_NAMED = 8, 4
#: Placements that make a job wait for a shape although there is room.
_SHAPES = ("contiguous", "connected", "convex", "local")
_PLURALS = {WHOLE_HOST: "hosts", NODE: "whole nodes"}


def amount(name: str, value: float) -> str:
    """Return an amount of a resource: ``1 host``, ``3.5 hosts``, ``8 core``."""
    shown = plain(value) if float(value).is_integer() else f"{value:,.1f}"
    if name == NODE:
        return f"{shown} whole node" if value == 1 else f"{shown} whole nodes"
    return f"{shown} {_PLURALS.get(name, name) if value != 1 else name}"


def amounts(values: Mapping[str, float], only: Iterable[str] = ()) -> str:
    """Return amounts of several resources in words; if some of `only` are among them, these alone."""
    kept = {name: values[name] for name in only if name in values} or values
    return ", ".join(amount(name, value) for name, value in kept.items()) or "nothing"


def headline(phase: Phase) -> str:
    """Return a phase's reason in a few words."""
    if phase.kind == "short":
        return f"short of {' and '.join(_noun(name, phase) for name in phase.short)}"
    if phase.kind == "scattered":
        names = " and ".join(_noun(name, phase) for name in phase.short)
        return f"{names} free, but in pieces" if names else "enough of everything free, but not on the same nodes"
    if phase.kind in _WORDED:
        return _WORDED[phase.kind](phase)
    if phase.line is not None and phase.line.delays:
        return "room for it, but it would have delayed the first in line"
    if phase.line is not None and not phase.line.first:
        return "room for it and first in line, but not started"
    return "room for it, but not started"


def _noun(name: str, phase: Phase) -> str:
    if name in phase.by:
        return f"licence {name}"
    return "idle nodes" if name == NODE else _PLURALS.get(name, name)


def _placed(phase: Phase) -> str:
    name = phase.by[0] if phase.by else ""
    shapes = [shape for shape in names_of(name) if shape in _SHAPES] if name else []
    form = f"no {' and '.join(shapes)} room: " if shapes else ""
    return f"there was room for {many(phase.room[1], 'unit')}, but {form}placement {name} found no place"


def _blocked(phase: Phase) -> str:
    if not phase.by:
        return "waits for its time: some time after other jobs, or the start or end of a reservation"
    shown = phase.by[:_MOST_NAMED]
    more = len(phase.by) - len(shown)
    names = ", ".join(shown) + (f" and {plain(more)} more" if more else "")
    return f"waits for {'job' if len(phase.by) == 1 else 'jobs'} {names}"


#: Kind of a phase -> its reason in words.
_WORDED: Mapping[str, Callable[[Phase], str]] = {
    "elsewhere": lambda phase: "room elsewhere, but not on the nodes that it may use",
    "form": lambda phase: f"room for it, but not on {' and '.join(phase.by) or 'nodes in the form it asks for'}",
    "placement": _placed,
    "blocked": _blocked,
    "waking": lambda phase: "waited for its hosts to wake up",
    "deciding": lambda phase: "the dispatcher was deciding",
}


def figures(phase: Phase, explanation: Explanation) -> list[str]:
    """Return the figures behind a phase's headline, and who was first in line, a line each."""
    if phase.kind in ("deciding", "blocked", "waking"):
        return []
    found = [] if explanation.asked.keys() - phase.free.keys() else _free(phase, explanation)
    if phase.kind in ("scattered", "elsewhere") or not found:
        there = " on those nodes" if phase.kind == "elsewhere" else ""
        found.append(f"room for {_span(*phase.room)} of its {many(explanation.units, 'unit')}{there}")
    behind = _behind(phase.line)
    return ["; ".join(found), behind] if behind else ["; ".join(found)]


def _free(phase: Phase, explanation: Explanation) -> list[str]:
    """Return how much was free of what was short, or else of what the job asks for."""
    found = []
    for name in phase.short or explanation.asked:
        free, asked = phase.free[name], explanation.asked[name]
        mean = f" ({free.mean:,.1f} on average)" if free.least != free.most else ""
        found.append(f"{_span(free.least, free.most)} {_PLURALS.get(name, name)} free{mean}, {plain(asked)} asked for")
        if phase.away[name] > 1e-3:
            found.append(f"{amount(name, round(phase.away[name], 1))} away")
    return found


def many(count: int, noun: str) -> str:
    """Return a count with its noun."""
    return f"{plain(count)} {noun}" if count == 1 else f"{plain(count)} {noun}s"


def _span(least: float, most: float) -> str:
    return plain(least) if least == most else f"{plain(least)} to {plain(most)}"


def _behind(line: Line | None) -> str:
    """Return what the room may have been kept for; empty if for nobody in line."""
    if line is None or not line.first:
        return ""
    start = "never started" if line.start is None else f"started at {plain(line.start)}"
    due = "no walltimes say when due" if line.by == WALLTIMES else f"{line.by} does not say when due"
    if line.due is not None:
        due = f"due by {plain(line.due)} by {line.by}"
    text = f"first of {plain(line.ahead)} in line before it: {line.first} ({amounts(line.asked)}), {due}, {start}"
    return f"{text}; it would not have delayed that" if line.delays is False else text


def held_by(holder: Holder, only: Iterable[str]) -> tuple[str, str, str]:
    """Return a holder as (job, amounts, times)."""
    times = f"from {plain(holder.start)}"
    times += " on" if holder.end is None else f" to {plain(holder.end)}"
    if holder.leaving is not None:
        # Till when it leaves is no estimate.
        times = f"leaving {times}" + (f", kept for {holder.leaving}" if holder.leaving else "")
    elif holder.expected_end is not None:
        times += f", expected until {plain(holder.expected_end)}"
    return holder.job, amounts(holder.amounts, only), times


def in_words(explanation: Explanation, *, limit: int, dates: LogDates | None = None) -> Iterator[str]:
    """Yield the lines that say what held a job.

    Args:
        explanation: of the job.
        limit: most phases and most overtaking jobs shown.
        dates: of the run's clock; None: it has none.
    """
    x = explanation
    walltime = "" if x.walltime is None else f" for at most {plain(x.walltime)} s"
    each = "" if x.demand is None else f"{many(x.units, 'unit')} of {amounts(x.demand)}: "
    yield f"{x.job}: {each}{amounts(x.asked)}{walltime}"
    by = ", registered by the dispatcher" if x.registered else ""
    before = f", {plain(x.ahead)} waiting before it" if x.ahead else ", none waiting before it"
    yield f"submitted at {plain(x.submission)}{by}{before}"
    yield _outcome(x)
    if dates is not None:
        times = ", ".join(f"{what} {text}" for what, text in dates_of_job(x, dates).items())
        yield f"by the site's clock, {dates.zone}: {times}"
    if x.attempts:
        yield f"other segments of the job: {', '.join(x.attempts)}"
    if not x.phases:
        yield "it did not wait"
        return
    yield ""
    for text, seconds in totals(x):
        yield f"{plain(seconds):>16} s {seconds / x.wait:6.1%}  {text}"
    shown = sorted(sorted(x.phases, key=lambda phase: -phase.seconds)[:limit], key=lambda phase: phase.start)
    for phase in shown:
        yield ""
        yield f"{plain(phase.start)} to {plain(phase.end)} ({plain(phase.seconds)} s): {headline(phase)}"
        yield from (f"    {text}" for text in figures(phase, x))
        only = phase.short or list(x.asked)
        # Where there was room nobody held the job up by what it held.
        busy = phase.kind in BUSY
        rows = [held_by(holder, only) for holder in phase.holders] if busy else []
        if phase.others and busy:
            rows.append((f"{phase.others} others", amounts(phase.others_held, only), "on average"))
        widths = [max((len(row[column]) for row in rows), default=0) for column in (0, 1)]
        for row in rows:
            yield f"    {row[0]:<{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]}"
    if len(shown) < len(x.phases):
        left = x.wait - sum(phase.seconds for phase in shown)
        yield ""
        yield f"{many(len(x.phases) - len(shown), 'shorter phase')}, {plain(left)} s in all"
    yield from _overtaken(x, limit)
    yield from _said(x, limit)


def dates_of_job(x: Explanation, dates: LogDates) -> dict[str, str]:
    """Return when a job was submitted, started and ended, as dates of its site, as far as that is known."""
    moments = {"submitted": x.submission, "started" if x.outcome not in ("waiting", "rejected") else x.outcome: x.until}
    if x.end is not None:
        moments["ended"] = x.end
    return {what: dates.text(moment) for what, moment in moments.items()}


def _outcome(x: Explanation) -> str:
    waited = f"waited {plain(x.wait)} s"
    if x.outcome == "waiting":
        return f"{waited} and was not started before the recording ends at {plain(x.until)}"
    if x.outcome == "rejected":
        return f"{waited} and was rejected at {plain(x.until)}" + (f": {x.reason}" if x.reason else "")
    ended = "still running when the recording ends" if x.end is None else f"ended at {plain(x.end)} ({x.state})"
    return f"{waited}, started at {plain(x.until)} on {_shortened(x.hosts)}, {ended}"


def _shortened(hosts: str) -> str:
    """Return host ids as they are, or the first of them and their number where there are many pieces."""
    pieces = hosts.split()
    if len(pieces) <= _MOST_INTERVALS:
        return hosts
    count = int(parse_many([hosts]).sizes[0])
    return f"{count:,} hosts ({' '.join(pieces[:_MOST_INTERVALS])} ...)"


def totals(x: Explanation) -> list[tuple[str, float]]:
    """Return (reason, seconds) over the wait, longest first."""
    found: Counter[str] = Counter()
    for phase in x.phases:
        found[headline(phase)] += phase.seconds  # type: ignore[assignment]
    return sorted(found.items(), key=lambda entry: (-entry[1], entry[0]))


def _overtaken(x: Explanation, limit: int) -> Iterator[str]:
    if x.overtakers:
        preferred = sum(other.preferred for other in x.overtakers)
        fitted = len(x.overtakers) - preferred
        counts = [f"{plain(fitted)} fitted where it did not"] if fitted else []
        counts += [f"{plain(preferred)} while there was room for it"] if preferred else []
        yield ""
        yield f"overtaken by {many(len(x.overtakers), 'job')} submitted later: {', '.join(counts)}"
        for other in largest(x, limit):
            how = "while there was room" if other.preferred else "fitted where it did not"
            end = "on" if other.end is None else f"to {plain(other.end)}"
            yield f"    {other.job}  {amounts(other.asked)}  from {plain(other.start)} {end}  {how}"
        if len(x.overtakers) > limit:
            yield f"    {plain(len(x.overtakers) - limit)} smaller ones"
    if x.chances:
        first = x.chances[0]
        named = ", ".join(first.started[:4]) + (", ..." if len(first.started) > 4 else "")
        times = "once" if len(x.chances) == 1 else f"{plain(len(x.chances))} times"
        yield ""
        yield f"{times} there was room for it that others were given, first at {plain(first.time)}: {named}"


def _said(x: Explanation, limit: int) -> Iterator[str]:
    """Yield what the dispatcher says of its decisions: each reason once, with the first decision that had it."""
    if x.verdicts:
        yield from _verdicts(x, limit)
    if x.at_start is not None:
        yield ""
        yield "the dispatcher when it started the job:"
        yield f"    {x.at_start.why}"
        yield f"        {x.at_start.how}"


def _verdicts(x: Explanation, limit: int) -> Iterator[str]:
    counts: Counter[str] = Counter()
    for verdict in x.verdicts:
        counts[verdict.why] += verdict.decisions
    yield ""
    yield f"the dispatcher on the {many(counts.total(), 'time')} it left the job waiting:"
    firsts = {verdict.why: verdict for verdict in reversed(x.verdicts)}
    for why, count in counts.most_common(limit):
        times = "at" if count == 1 else f"{plain(count)} times, first at"
        yield f"    {why} ({times} {plain(firsts[why].first)})"
        if firsts[why].how:
            yield f"        {firsts[why].how}"


def largest(x: Explanation, limit: int) -> list[Overtaker]:
    """Return the overtakers that took most of the machine during the wait, by start."""

    def taken(other: Overtaker) -> float:
        end = x.until if other.end is None else min(other.end, x.until)
        shares = [value / x.capacity[name] for name, value in other.asked.items() if x.capacity.get(name)]
        return max(shares, default=1.0) * (end - other.start)

    kept = sorted(x.overtakers, key=lambda other: (-taken(other), other.start, other.job))[:limit]
    return sorted(kept, key=lambda other: (other.start, other.job))


def sentence(x: Explanation, shared: tuple[float, str] | None = None) -> str:
    """Return the main reasons of a wait in a sentence or two, without the job's name.

    Args:
        x: explains the wait.
        shared: the unit that other waits on the page have, as of `duration`.
    """
    if not x.phases:
        return "It did not wait."
    shares = [(round(100 * seconds / x.wait), text) for text, seconds in totals(x)]
    parts = [f"{share} % {text}" for share, text in shares[:3] if share]
    found = [f"Waited {duration(x.wait, shared)}: {'; '.join(parts)}."]
    held: Counter[str] = Counter()
    what: dict[str, str] = {}
    for phase in x.phases:
        if phase.kind in BUSY:
            for holder in phase.holders:
                weight = max((holder.amounts.get(name, 0) for name in phase.short), default=0) or holder.hosts
                held[holder.job] += weight * holder.seconds  # type: ignore[assignment]
                what[holder.job] = amounts(holder.amounts, phase.short)
    if held and x.seconds(*BUSY) >= 0.01 * x.wait:
        found.append(f"Held most by {', '.join(f'{job} ({what[job]})' for job, _ in held.most_common(3))}.")
    room = [phase for phase in x.phases if phase.line is not None and phase.line.first]
    if room:
        longest = max(room, key=lambda phase: phase.seconds)
        queue = longest.line
        assert queue is not None
        aside = ", which it would not have delayed" if queue.delays is False else ""
        found.append(f"First in line while there was room: {queue.first} ({amounts(queue.asked)}){aside}.")
    if x.overtakers:
        preferred = sum(other.preferred for other in x.overtakers)
        which = "" if preferred == len(x.overtakers) else f"{plain(preferred)} of them "
        while_room = f", {which}while there was room for it" if preferred else ""
        found.append(f"{many(len(x.overtakers), 'later job')} overtook it{while_room}.")
    return " ".join(found)
