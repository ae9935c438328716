"""Hosts that went away and came back: what the dispatcher was told of them is what the events file says."""

from __future__ import annotations

from collections.abc import Sequence

from batdispatch.core import events as e
from batdispatch.results.audit.exchange import Clock, Course, Outage
from batdispatch.results.audit.findings import Findings, Violation
from batdispatch.results.run_files import RECORDING


def outages_of(events: Sequence[e.Event]) -> list[Outage]:
    """Return the external events about hosts."""
    return [
        Outage(event.time, isinstance(event, e.MachinesAvailable), str(event.hosts))
        for event in events
        if isinstance(event, e.MachinesAvailable | e.MachinesUnavailable)
    ]


def check_outages(findings: Findings, expected: Sequence[Outage] | None, course: Course | None, clock: Clock) -> None:
    """Each outage in the exchange is one of the events file, and the embedded engine tells all of them.

    Args:
        findings: to add to.
        expected: those of the events file, in order of time; None: it is not known.
        course: what the exchange says; None: there is none.
        clock: of the simulator.
    """
    if course is None or not course.complete:
        return
    if expected is None:
        if course.outages:
            findings.skipped["outages"] = "the file of external events is not at hand (say --events)"
        return
    findings.checked.append("outages")
    left = list(reversed(expected))
    for told in course.outages:
        due = left.pop() if left else None
        if due is None or told[1:] != due[1:] or not -2e-6 <= told.time - due.time <= clock.slack(1):
            wanted = "there is no such event" if due is None else f"the events file has {due}"
            findings.add(Violation("outages", f"{RECORDING} tells {told}: {wanted}", time=told.time))
            return
    if left and clock.exact:
        findings.add(
            Violation("outages", f"{RECORDING} does not tell {left[-1]} of the events file", time=left[-1].time)
        )
