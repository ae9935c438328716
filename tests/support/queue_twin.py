"""A naive twin of the queue rules and of fcfs, filler and easy: at each moment, a look at everything from the start.

`simulate(case, policy)` returns what becomes of each job of a case of `queue_cases` under `fcfs`, `filler` or `easy`
with their default options: id -> `Outcome`. It shares no code with the package, and is as slow as it is plain. The
package's textbook, which counts processors, is held against this twin, too.
"""

import math
from dataclasses import dataclass
from typing import Any

import queue_policies
from queue_rules import hosts_now, is_refused, is_too_late, walltime

Fields = dict[str, Any]


@dataclass
class Outcome:
    """What has become of a job so far; times in seconds."""

    #: When the job started; None: it never did.
    start: int | None = None
    hosts: tuple[int, ...] = ()
    #: When it ended or was rejected; None: it has not.
    end: int | None = None
    succeeded: bool = False
    #: Whether the rules of dependencies and arrays have let it go.
    free: bool = False

    @property
    def rejected(self) -> bool:
        """Whether it ended without having run."""
        return self.end is not None and self.start is None


class Twin:
    """A case in the course of time."""

    def __init__(self, case: Fields, policy: str) -> None:
        self.case = case
        self.policy = queue_policies.POLICIES[policy]
        self.now = -1
        self.jobs: list[Fields] = case["jobs"]
        self.by_id = {job["id"]: job for job in self.jobs}
        self.outcomes = {job["id"]: Outcome() for job in self.jobs}

    # ------------------------------------------------------------------ who waits for whom

    def state(self, job: Fields) -> Outcome:
        return self.outcomes[job["id"]]

    def has_come(self, job: Fields) -> bool:
        return bool(job["subtime"] <= self.now)

    def namesakes_ahead(self, job: Fields) -> list[Fields]:
        """Jobs of the same user and name that came before and have not ended."""
        ahead = self.jobs[: self.jobs.index(job)]
        alike = [one for one in ahead if "name" in one and one["name"] == job["name"]]
        return [one for one in alike if one.get("user") == job.get("user") and self.state(one).end is None]

    def met_since(self, one: Fields) -> float:
        """The moment from which on a dependency on another job is met, s; infinite: it is not met."""
        other = self.outcomes[one["job"]]
        since: float | None = {
            "afterok": other.end if other.succeeded else None,
            "afterany": other.end,
            "afternotok": None if other.succeeded else other.end,
            "after": other.end if other.rejected else other.start,
        }[one["kind"]]
        return math.inf if since is None else since + one["delay"]

    def conditions(self, job: Fields) -> list[Fields]:
        asked = [{"job": one} if isinstance(one, str) else one for one in job.get("dependencies", [])]
        return [{"kind": "afterok", "delay": 0, **one} for one in asked if one.get("kind") != "singleton"]

    def is_singleton(self, job: Fields) -> bool:
        return {"kind": "singleton"} in job.get("dependencies", [])

    def awaited(self, job: Fields) -> list[Fields]:
        """The jobs that a job waits for; one that only waits for a moment waits for none."""
        unmet = [self.by_id[one["job"]] for one in self.conditions(job) if self.met_since(one) == math.inf]
        return unmet + (self.namesakes_ahead(job) if self.is_singleton(job) else [])

    def due(self, job: Fields) -> float:
        """The moment from which on a job that waits for no other may go, s."""
        return max([job["subtime"], *(self.met_since(one) for one in self.conditions(job))])

    def blocked(self) -> list[Fields]:
        return [
            job for job in self.jobs if self.has_come(job) and not self.state(job).free and self.state(job).end is None
        ]

    def turns(self, tasks: list[Fields]) -> list[Fields]:
        """Of tasks of arrays that wait for nothing else, those that go: as many as may, in order of arrival."""
        found: list[Fields] = []
        for task in tasks:
            alike = [one for one in self.jobs if one.get("array", {}).get("id") == task["array"]["id"]]
            going = [one for one in alike if one in found or (self.state(one).free and self.state(one).end is None)]
            if len(going) < task["array"]["limit"]:
                found.append(task)
        return found

    # ------------------------------------------------------------------ until nothing changes any more

    def follow_up(self) -> bool:
        """Reject and let go until nothing changes; return whether a job was let go."""
        freed = False
        while True:
            if self.reject_some():
                continue
            ready = [job for job in self.blocked() if not self.awaited(job) and self.due(job) <= self.now]
            limited = [job for job in ready if job.get("array", {}).get("limit")]
            going = [job for job in ready if job not in limited] or self.turns(limited)
            if not going:
                return freed
            for job in going:
                self.state(job).free = freed = True

    def reject_some(self) -> bool:
        """Reject those for whom there is no place or no hope, and return whether there were any."""
        waiting = self.waiting()
        never = [one for one in waiting if is_refused(self.case, one) or is_too_late(self.case, one, self.now)]
        hopeless = [] if never else self.hopeless()
        never = never or [job for job in hopeless if self.has_lost(job)] or self.first_in_circle(hopeless)
        for job in never:
            self.state(job).end = self.now
        return bool(never)

    def hopeless(self) -> list[Fields]:
        """Blocked jobs that can never start, however well all goes."""
        blocked = self.blocked()
        hopeful: list[Fields] = []
        while True:
            more = [job for job in blocked if job not in hopeful and self.may_hope(job, hopeful)]
            if not more:
                return [job for job in blocked if job not in hopeful]
            hopeful += more

    def may_hope(self, job: Fields, hopeful: list[Fields]) -> bool:
        return all(
            not self.has_come(one) or one in hopeful or (self.state(one).free and self.state(one).end is None)
            for one in self.awaited(job)
        )

    def has_lost(self, job: Fields) -> bool:
        """Whether a job that a hopeless one waits for has ended otherwise."""
        return any(self.outcomes[one["job"]].end is not None and self.met_since(one) == math.inf
                   for one in self.conditions(job))  # fmt: skip

    def first_in_circle(self, hopeless: list[Fields]) -> list[Fields]:
        """The first of the hopeless jobs that wait for themselves in the end; none: there is no such job."""
        for job in hopeless:
            reached: list[Fields] = []
            ahead = self.awaited(job)
            while ahead:
                one = ahead.pop()
                if one not in reached and one in hopeless:
                    reached.append(one)
                    ahead += self.awaited(one)
            if job in reached:
                return [job]
        return []

    # ------------------------------------------------------------------ decisions

    def waiting(self) -> list[Fields]:
        return [job for job in self.jobs if self.state(job).free and self.state(job).start is None
                and self.state(job).end is None]  # fmt: skip

    def running(self) -> list[Fields]:
        return [job for job in self.jobs if self.state(job).start is not None and self.state(job).end is None]

    def expected_end(self, job: Fields) -> float:
        start = self.state(job).start
        assert start is not None
        return start + walltime(job)

    def idle(self) -> set[int]:
        return set(range(self.case["hosts"])) - {host for job in self.running() for host in self.state(job).hosts}

    def decide(self) -> None:
        """Let the policy start jobs that have an open place; it sees no others."""
        open_to = {job["id"]: hosts_now(self.case, job, self.now) for job in self.waiting()}
        seen = [job for job in self.waiting() if len(open_to[job["id"]]) >= job["res"]]
        held = [(self.expected_end(job), set(self.state(job).hosts)) for job in self.running()]
        for job, hosts in self.policy(self.now, seen, open_to, self.idle(), held):
            self.state(job).start, self.state(job).hosts = self.now, hosts

    # ------------------------------------------------------------------ time

    def real_end(self, job: Fields) -> int:
        start = self.state(job).start
        assert start is not None
        return int(start + min(job["runtime"], walltime(job)))

    def next_moment(self) -> float:
        moments = [job["subtime"] for job in self.jobs] + [self.real_end(job) for job in self.running()]
        moments += [self.due(job) for job in self.blocked() if not self.awaited(job)]
        moments += [window[end] for window in self.case["reservations"] for end in ("start", "end")]
        return min((moment for moment in moments if moment > self.now), default=math.inf)

    def step(self) -> None:
        for job in self.running():
            if self.real_end(job) == self.now:
                self.state(job).end, self.state(job).succeeded = self.now, job["runtime"] < walltime(job)
        self.follow_up()
        self.decide()
        while self.follow_up():
            self.decide()


def simulate(case: Fields, policy: str) -> dict[str, Outcome]:
    """Return what becomes of each job of a case, by id, under `fcfs`, `filler` or `easy`."""
    twin = Twin(case, policy)
    while (moment := twin.next_moment()) < math.inf:
        twin.now = int(moment)
        twin.step()
    assert all(outcome.end is not None for outcome in twin.outcomes.values()), f"case {case['seed']}: a job is left"
    return twin.outcomes
