"""What implementations of the textbook's policies are known to do otherwise, each with a sentence that says it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from batdispatch.abilities.verify.differ.textbook import Rules

#: Name -> the fields of `Rules` that make it; everything else is the textbook's.
DEFINITIONS: dict[str, dict[str, Any]] = {
    "fcfs": {"policy": "fcfs"},
    "easy": {"policy": "easy"},
    "easy-sjbf": {"policy": "easy", "ahead": "shortest"},
    "conservative": {"policy": "conservative"},
    "conservative-uncompressed": {"policy": "conservative", "plan": "keep"},
    "filling": {"policy": "filling"},
    "sjf-filling": {"policy": "filling", "order": "shortest"},
}


class Variant(NamedTuple):
    """One way to depart from a definition.

    Attributes:
        name: in words with hyphens; what a case names.
        about: what is done, as the end of "EASY, but ..." or of "EASY, where ...".
        changes: the fields of `Rules` that differ.
        policies: of which policies it is known; empty: of all.
    """

    name: str
    about: str
    changes: dict[str, Any]
    policies: frozenset[str] = frozenset()

    def of(self, rules: Rules) -> Rules:
        """Return the rules with this variant's changes."""
        return replace(rules, **self.changes)


#: What happens first at one moment: each is EASY, since no text says. The first is what this package's engine does.
EVENT_ORDERS = (
    Variant("together", "all ends and submissions of a moment come before one decision", {"told": "together"}),
    Variant("ends-first", "each event has a decision of its own, ends first", {"told": "ends-first"}),
    Variant(
        "submissions-first", "each event has a decision of its own, submissions first", {"told": "submissions-first"}
    ),
    Variant(
        "freed-when-expected",
        "each event has a decision of its own, submissions first, and processors count as free from the requested end "
        "of their job on",
        {"told": "submissions-first", "freed": "requested-end"},
    ),
)
#: Which of several jobs that are submitted at one moment is first. No text says.
AMONG_EQUAL = (
    Variant("by-number", "jobs of one moment queue by number", {"among_equal": "number"}),
    Variant("by-text", "jobs of one moment queue by number as text (10 before 9)", {"among_equal": "text"}),
    Variant("by-place", "jobs of one moment queue as they stand in the file", {"among_equal": "file"}),
)
#: What becomes of a job that takes longer than it asked for.
OVERRUN = (
    Variant("killed", "jobs are killed at the time that they asked for", {"overrun": "kill"}),
    Variant("run-on", "jobs run on when they take longer than they asked for", {"overrun": "extend"}),
)

_EASY = frozenset({"easy", "easy-sjbf"})
_PLANS = frozenset({"conservative", "conservative-uncompressed"})
#: What no text allows.
MISTAKES = (
    Variant(
        "real-ends",
        "the shadow time is found from when running jobs really end, which nobody knows yet",
        {"shadow": "runtime"},
        _EASY,
    ),
    Variant(
        "real-lengths",
        "jobs go ahead by how long they really take, which nobody knows yet",
        {"candidates": "runtime"},
        _EASY,
    ),
    Variant(
        "all-real-times",
        "run times take the place of requested times everywhere",
        {"shadow": "runtime", "candidates": "runtime"},
        _EASY,
    ),
    Variant(
        "no-extra-nodes",
        "no job goes ahead on the processors that the first one leaves over",
        {"spare": "none"},
        _EASY,
    ),
    Variant(
        "extra-nodes-kept",
        "processors that the first job leaves over are given to several jobs, since none is deducted",
        {"spare": "kept"},
        _EASY,
    ),
    Variant(
        "first-end-only",
        "of several jobs that are to end at the shadow time only as many are counted as the first job needs",
        {"spare": "first-end"},
        _EASY,
    ),
    Variant(
        "not-exactly-then", "a job that would end exactly at the shadow time does not go ahead", {"exact": False}, _EASY
    ),
    Variant(
        "promise-kept-stale", "the shadow time is not found anew when a job ends early", {"reserved": "once"}, _EASY
    ),
    Variant(
        "no-promise-after-a-start",
        "nothing is promised at moments at which a job was started from the head of the queue",
        {"reserved": "unless-started"},
        _EASY,
    ),
    Variant("no-promise", "nothing is promised: whatever fits starts", {"reserved": "never"}, _EASY),
    Variant(
        "stops-searching",
        "the search for jobs that may go ahead stops at the first one that may not",
        {"searched": "first-refused"},
        _EASY,
    ),
    Variant(
        "compressed-only-early",
        "promises move only when a job ends before its requested end",
        {"plan": "compress-early"},
        _PLANS,
    ),
    Variant("plan-kept", "promises stay as they are when a job ends early", {"plan": "keep"}, _PLANS),
    Variant("plan-anew", "all promises are forgotten and made again when a job ends early", {"plan": "anew"}, _PLANS),
    Variant("queue-by-number", "jobs queue by number, whenever they came", {"order": "number"}),
)


def mistakes_of(policy: str) -> list[Variant]:
    """Return the mistakes that are known of a policy and are not its definition."""
    defined = DEFINITIONS[policy]
    return [
        mistake
        for mistake in MISTAKES
        if (not mistake.policies or policy in mistake.policies)
        and any(defined.get(field) != value for field, value in mistake.changes.items())
        and not ("order" in mistake.changes and "order" in defined)
    ]


def rules_of(policy: str, hosts: int) -> Rules:
    """Return the textbook's rules of a policy, a key of `DEFINITIONS`."""
    return Rules(hosts=hosts, **DEFINITIONS[policy])
