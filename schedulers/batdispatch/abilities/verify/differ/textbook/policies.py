"""Policies without a plan: first come first served, and filling."""

from __future__ import annotations

from batdispatch.abilities.verify.differ.textbook.moment import Moment


class Fcfs:
    """First come, first served."""

    def decide(self, moment: Moment) -> None:
        """Start jobs in order until one does not fit."""
        moment.start_from_head()


class Filling:
    """Start whatever fits."""

    def decide(self, moment: Moment) -> None:
        """Go through the queue in order and start each job that fits."""
        free = moment.free
        for index in list(moment.queue):
            if not free:
                break
            units = moment.jobs[index].units
            if units <= free:
                free -= units
                moment.start(index)
