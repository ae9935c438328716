"""EASY as Lifka (JSSPP 1995) and Mu'alem and Feitelson (TPDS 2001, section 2.1) define it, and its known variants."""

from __future__ import annotations

from bisect import insort

from batdispatch.abilities.verify.differ.textbook.jobs import ENDLESS
from batdispatch.abilities.verify.differ.textbook.moment import Moment


class Easy:
    """Start jobs in order; when the first one does not fit, start others that do not delay it.

    The definition, word by word (Mu'alem and Feitelson, figure 1), and where `Rules` says otherwise:

    1. Find the shadow time and the extra nodes: sort the running jobs by their expected termination, collect nodes
       until the first job fits; that is its shadow time. What is over then are the extra nodes.
    2. Find a backfill job: go through the queue in order. A job that needs no more than the free nodes, and either
       ends by the shadow time or needs no more than the extra nodes as well, starts.
    """

    def __init__(self) -> None:
        #: Of the first job, with ``reserved=once``: its index, shadow time and extra nodes.
        self._kept: tuple[int, int, int] | None = None

    def decide(self, moment: Moment) -> None:
        """Start what may start."""
        rules, jobs = moment.rules, moment.jobs
        any_started = moment.start_from_head()
        if len(moment.queue) < 2:
            return
        head, behind = moment.queue[0], moment.queue[1:]
        free = moment.free
        if not free:
            # Nobody can start, but with `once` the promise counts from now on.
            if rules.reserved == "once":
                self._reserve(moment, head, free)
            return
        promised = rules.reserved in ("always", "once") or (rules.reserved == "unless-started" and not any_started)
        shadow, spare = self._reserve(moment, head, free) if promised else (ENDLESS * 2, 0)
        if rules.ahead == "shortest":
            behind.sort(key=lambda index: (jobs[index].walltime, index))
        for index in behind:
            job = jobs[index]
            takes = job.walltime if rules.candidates == "walltime" else min(job.runtime, job.walltime)
            end = moment.now + takes
            ends_in_time = end <= shadow if rules.exact else end < shadow
            if job.units <= free and (ends_in_time or job.units <= spare):
                free -= job.units
                if not ends_in_time and rules.spare != "kept":
                    spare -= job.units
                moment.start(index)
                if rules.reserved == "once":
                    self._kept = (head, shadow, spare)
            elif rules.searched == "first-refused":
                return

    def _reserve(self, moment: Moment, head: int, free: int) -> tuple[int, int]:
        """Return the first job's shadow time, microseconds, and the extra nodes."""
        rules, jobs = moment.rules, moment.jobs
        if rules.reserved == "once" and self._kept is not None and self._kept[0] == head:
            return self._kept[1:]
        ends = [(max(end, moment.now), index) for end, index in moment.running]
        if rules.freed == "requested-end":
            ends = [(end, index) for end, index in ends if end > moment.now]
        if rules.shadow == "runtime":
            really: list[tuple[int, int]] = []
            for end, index in ends:
                job = jobs[index]
                insort(really, (end - job.walltime + min(job.runtime, job.walltime), index))
            ends = really
        shadow, available = None, free
        for end, index in ends:
            if shadow is not None and (end > shadow or rules.spare == "first-end"):
                break
            available += jobs[index].units
            if shadow is None and available >= jobs[head].units:
                shadow = end
        assert shadow is not None
        if shadow >= ENDLESS:
            # Nobody knows when the first job could start, so nothing is held back for it.
            shadow = 2 * ENDLESS
        spare = 0 if rules.spare == "none" else available - jobs[head].units
        if rules.reserved == "once":
            self._kept = (head, shadow, spare)
        return shadow, spare
