"""Small cases worked out by hand, each of which reveals one mistake.

The rows of a case are jobs: number, submission, processors, run time, requested time; seconds. `starts` are those of
the definition. The sentences say how they come about, and what an implementation with the mistake does.
"""

from __future__ import annotations

from typing import NamedTuple

from batdispatch.abilities.verify.differ.textbook import RigidJob


class Case(NamedTuple):
    """A workload, and when its jobs start.

    Attributes:
        name: in words with hyphens.
        policy: whose definition is followed, a key of `variants.DEFINITIONS`.
        hosts: processors.
        rows: (number, submission, processors, run time, requested time), seconds, in the order of the file.
        starts: seconds, one a row; under the first reading of `variants` where the definition leaves something open.
        reveals: name of the variant that is told apart: a mistake, a reading, or a policy.
        about: how the starts come about, and those of the variant.
    """

    name: str
    policy: str
    hosts: int
    rows: tuple[tuple[int, int, int, int, int], ...]
    starts: tuple[int, ...]
    reveals: str
    about: str

    def __str__(self) -> str:
        return self.name

    @property
    def jobs(self) -> list[RigidJob]:
        """The jobs, times in microseconds."""
        return [
            RigidJob(str(name), submission * 10**6, units, walltime * 10**6, runtime * 10**6)
            for name, submission, units, runtime, walltime in self.rows
        ]


CASES: tuple[Case, ...] = (
    Case(
        "shadow-time-from-requested-ends",
        "easy",
        6,
        ((1, 0, 1, 15, 20), (2, 5, 6, 10, 10), (3, 6, 3, 5, 10)),
        (0, 15, 6),
        "real-ends",
        "Job 2 is first in the queue and needs all 6 processors. Job 1 asked for 20 s, so the shadow time is 20. Job "
        "3 would end at 16 and goes ahead. Job 1 ends at 15, and job 2 starts. Who takes the real end of job 1 for "
        "the shadow time holds job 3 back until job 2 has ended, at 25.",
    ),
    Case(
        "candidates-by-requested-time",
        "easy",
        8,
        ((1, 0, 2, 12, 22), (2, 5, 8, 8, 8), (3, 6, 3, 8, 18), (4, 7, 4, 15, 35)),
        (0, 12, 20, 20),
        "real-lengths",
        "The shadow time of job 2 is 22, and it leaves nothing over. Job 3 asks for 18 s and would end at 24, job 4 "
        "later still: both wait. Job 2 runs from 12 to 20. Who looks at the run time of job 3, 8 s, lets it go ahead "
        "at 6, and job 2 starts at 14.",
    ),
    Case(
        "requested-times-throughout",
        "easy",
        4,
        ((1, 0, 1, 20, 40), (2, 3, 4, 5, 25), (3, 8, 3, 4, 24), (4, 9, 2, 10, 20)),
        (0, 22, 8, 12),
        "all-real-times",
        "The shadow time of job 2 is 40. Job 3 would end at 32 and goes ahead at 8. It ends at 12, and job 4, which "
        "would end at 32, goes ahead then until 22. Who takes run times everywhere has the shadow time 20: job 4 "
        "would end at 22 and waits until 25.",
    ),
    Case(
        "extra-nodes",
        "easy",
        8,
        ((1, 0, 4, 8, 18), (2, 1, 5, 5, 15), (3, 3, 2, 12, 32)),
        (0, 8, 3),
        "no-extra-nodes",
        "The shadow time of job 2 is 18; 8 processors are free then, and it leaves 3 over. Job 3 would end at 35, "
        "but takes 2 of these and goes ahead at 3. Who knows no extra nodes starts it at 8, beside job 2.",
    ),
    Case(
        "extra-nodes-are-used-up",
        "easy",
        6,
        (
            (1, 0, 3, 10, 10),
            (2, 1, 3, 6, 6),
            (3, 2, 5, 10, 10),
            (4, 3, 1, 20, 20),
            (5, 4, 2, 20, 20),
            (6, 5, 1, 20, 20),
        ),
        (0, 1, 10, 7, 20, 20),
        "extra-nodes-kept",
        "Job 2 ends at 7. The shadow time of job 3 is 10, and it leaves 1 processor over, which job 4 takes. Job 5 "
        "needs 2. Job 6 needs 1, but none is left over any more. Job 3 runs from 10 to 20. Who does not deduct what "
        "job 4 takes starts job 6 at 7, and job 3 has to wait until 27.",
    ),
    Case(
        "all-that-end-at-the-shadow-time",
        "easy",
        6,
        ((1, 0, 4, 20, 20), (2, 3, 1, 15, 17), (3, 8, 5, 5, 15), (4, 13, 1, 6, 16)),
        (0, 3, 20, 13),
        "first-end-only",
        "Jobs 1 and 2 are both to end at 20, the shadow time of job 3. All 6 processors are free then, and job 3 "
        "leaves 1 over, which job 4 takes at 13. Who stops counting at job 1 sees 5 free processors and nothing left "
        "over: job 4 waits until job 2 ends, at 18.",
    ),
    Case(
        "exactly-at-the-shadow-time",
        "easy",
        4,
        ((1, 0, 3, 6, 6), (2, 1, 4, 10, 15), (3, 2, 1, 4, 4)),
        (0, 6, 2),
        "not-exactly-then",
        "Job 3 would end at 6, exactly at the shadow time of job 2, and delays nobody. Who asks for an end before "
        "that time starts it at 16.",
    ),
    Case(
        "shadow-time-anew-after-an-early-end",
        "easy",
        4,
        ((1, 0, 3, 15, 15), (2, 3, 3, 8, 10), (3, 8, 1, 2, 12), (4, 10, 1, 15, 20)),
        (0, 15, 8, 10),
        "promise-kept-stale",
        "The shadow time of job 2 is 15, and it leaves 1 processor over, which job 3 takes at 8. Job 3 ends early, "
        "at 10. The processor is left over again, and job 4 takes it. Who keeps the old promise believes that it is "
        "used up: job 4 waits until 15.",
    ),
    Case(
        "a-promise-right-after-a-start",
        "easy",
        6,
        ((1, 0, 2, 6, 6), (2, 3, 5, 20, 20), (3, 4, 2, 5, 5), (4, 6, 5, 12, 12), (5, 7, 4, 10, 15)),
        (0, 6, 26, 31, 43),
        "no-promise-after-a-start",
        "At 26 job 2 ends and job 3 starts. Job 4 is first now, needs 5 processors, and is promised 31. Job 5 fits "
        "into the 4 free ones, but would end at 41 and waits. Who promises nothing in the moment of a start lets job "
        "5 go ahead, and job 4 starts at 36.",
    ),
    Case(
        "the-first-is-not-passed",
        "easy",
        6,
        ((1, 0, 2, 8, 8), (2, 2, 6, 20, 30), (3, 4, 4, 15, 35)),
        (0, 8, 28),
        "no-promise",
        "Job 2 needs the whole machine and is promised 8. Job 3 would end at 39 and waits until job 2 has ended, at "
        "28. Who promises nothing starts job 3 at 4, and job 2 at 19.",
    ),
    Case(
        "the-whole-queue-is-searched",
        "easy",
        8,
        ((1, 0, 5, 20, 30), (2, 3, 5, 12, 22), (3, 5, 8, 15, 15), (4, 8, 1, 20, 22)),
        (0, 20, 32, 8),
        "stops-searching",
        "Job 2 is promised 30. Job 3 does not fit. Job 4 would end at 30 and goes ahead at 8. Who stops at job 3 "
        "starts job 4 at 20, and job 3 at 40.",
    ),
    Case(
        "queue-by-arrival",
        "easy",
        6,
        ((3, 0, 5, 12, 17), (2, 1, 4, 2, 7), (1, 6, 4, 10, 20)),
        (0, 12, 14),
        "queue-by-number",
        "Job 2 came before job 1 and starts at 12, job 1 at 14. Who sorts the queue by number starts job 1 at 12 and "
        "job 2 at 22.",
    ),
    Case(
        "compression",
        "conservative",
        4,
        ((1, 0, 4, 4, 4), (2, 3, 1, 15, 20), (3, 6, 4, 2, 22)),
        (0, 4, 19),
        "plan-kept",
        "Job 2 runs from 4 and asked for 20 s, so job 3 is promised 24. Job 2 ends at 19, and job 3 moves there. Who "
        "leaves the plan as it is starts it at 24.",
    ),
    Case(
        "compression-at-each-end",
        "conservative",
        4,
        ((1, 0, 4, 10, 20), (2, 1, 2, 8, 13), (3, 4, 3, 10, 10), (4, 7, 2, 10, 10), (5, 8, 2, 4, 4)),
        (0, 10, 22, 10, 18),
        "compressed-only-early",
        "At 18 job 2 ends early. Job 3 moves to 24, since job 5 is still promised 20 to 24; then job 5 moves to 18. "
        "Job 4 ends at 20 as requested. Now job 3 can move again, to 22, when job 5 is to end. Who compresses at "
        "early ends only starts it at 24.",
    ),
    Case(
        "promises-hold",
        "conservative",
        4,
        ((1, 0, 3, 12, 12), (2, 5, 1, 6, 11), (3, 7, 4, 6, 16), (4, 10, 2, 4, 4)),
        (0, 5, 16, 12),
        "plan-anew",
        "Job 2 is to end at 16, so job 3, which needs the whole machine, is promised 16. Job 4 is promised 12 to 16. "
        "Job 2 ends at 11. Job 3 could start at 12 only by breaking the promise to job 4, and stays. Who makes the "
        "plan anew in order starts job 3 at 12 and job 4 at 18.",
    ),
    Case(
        "which-policy",
        "easy",
        4,
        ((1, 0, 4, 10, 20), (2, 1, 2, 8, 13), (3, 4, 3, 10, 10), (4, 7, 2, 10, 10), (5, 8, 2, 4, 4)),
        (0, 10, 20, 10, 30),
        "conservative",
        "At 10 job 2 starts. Job 3 is promised 23, when job 2 is to have ended, and leaves 1 processor over. Job 4 "
        "would end at 20 and goes ahead beside job 2. Job 2 ends at 18; job 5 would end at 22, but job 3 is promised "
        "20 now. Under each other policy of this kit some job starts at another time.",
    ),
    Case(
        "ends-and-submissions-of-one-moment",
        "easy",
        4,
        (
            (1, 0, 3, 6, 6),
            (2, 0, 2, 4, 6),
            (3, 4, 3, 2, 2),
            (4, 4, 2, 4, 4),
            (5, 4, 4, 6, 6),
            (6, 6, 1, 2, 4),
        ),
        (0, 6, 10, 6, 12, 18),
        "submissions-first",
        "Job 6 comes at 6, when job 1 ends. If the end is known, jobs 2 and 4 start and leave nothing free. If the "
        "submission is decided upon first, job 6 takes the one free processor at 6, and job 4 starts at 8.",
    ),
    Case(
        "free-from-the-requested-end",
        "easy",
        4,
        ((1, 0, 1, 2, 6), (2, 1, 2, 1, 1), (3, 2, 4, 1, 1), (4, 2, 3, 1, 1)),
        (0, 1, 2, 3),
        "freed-when-expected",
        "Jobs 1 and 2 end at 2, when jobs 3 and 4 come. If all is known at once, job 3 starts at 2. A simulator that "
        "handles one event at a time, submissions first, and takes the processors of job 2 for free since it was to "
        "end at 2, finds room for job 4, and starts job 3 at 3.",
    ),
    Case(
        "equal-submissions",
        "fcfs",
        2,
        ((9, 0, 2, 5, 5), (10, 0, 2, 5, 5), (8, 0, 2, 5, 5)),
        (5, 10, 0),
        "by-text",
        "All come at once. By number job 8 is first, then 9 and 10; as texts 10 comes before 8 and 9; in the file 9 "
        "is first.",
    ),
    Case(
        "longer-than-requested",
        "fcfs",
        2,
        ((1, 0, 2, 10, 6), (2, 1, 2, 5, 5)),
        (0, 6),
        "run-on",
        "Job 1 is killed at 6, when its requested time is over, and job 2 starts. Where jobs run on, job 2 starts at "
        "10.",
    ),
    Case(
        "the-machine-is-not-rounded-up",
        "easy",
        6,
        ((1, 0, 6, 10, 10), (2, 1, 2, 5, 5)),
        (0, 10),
        "8 processors",
        "Job 1 takes the whole machine of 6 processors. On 8, the next power of two, job 2 starts at 1.",
    ),
)
