"""Why jobs were rejected, in few words: jobs that were rejected for the same reason together."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from batdispatch.results.runs import Rejection

#: Reasons that are told one by one, and jobs that are named for each.
MAX_REASONS = 3
MAX_NAMED = 5
#: A number that stands alone; that of a job, as in w0!17, does not.
_NUMBER = re.compile(r"(?<![\w!.~-])\d+(?:\.\d+)?(?![\w!~-]|\.\d)")


def rejections_of(result: Mapping[str, Any]) -> list[Rejection]:
    """Return what the decoded result.json of a run says was rejected."""
    return msgspec.convert(result.get("rejected") or [], list[Rejection])


def group_reasons(rejections: Sequence[Rejection]) -> list[tuple[str, list[str]]]:
    """Return reasons with the jobs that were rejected for them, those of most jobs first.

    Reasons that differ in numbers alone are one reason, with the range of these numbers: jobs that ask for 70 and for
    90 hosts are told as ``asks for 70 to 90 hosts``.
    """
    found: dict[str, list[Rejection]] = {}
    for rejection in rejections:
        found.setdefault(_NUMBER.sub("0", rejection.reason), []).append(rejection)
    reasons = [(_common([each.reason for each in alike]), [each.job for each in alike]) for alike in found.values()]
    return sorted(reasons, key=lambda item: -len(item[1]))


def _common(reasons: Sequence[str]) -> str:
    """Return texts that differ in numbers alone as one."""
    columns = iter(list(zip(*(_NUMBER.findall(reason) for reason in reasons), strict=True)))

    def spanned(_: re.Match[str]) -> str:
        numbers = sorted(next(columns), key=float)
        return numbers[0] if numbers[0] == numbers[-1] else f"{numbers[0]} to {numbers[-1]}"

    return _NUMBER.sub(spanned, reasons[0]) or "without a reason"


def name_jobs(jobs: Sequence[str]) -> str:
    """Return the first jobs of a list as text."""
    return ", ".join(jobs[:MAX_NAMED]) + (", ..." if len(jobs) > MAX_NAMED else "")


def in_words(runs: Mapping[str, Sequence[Rejection]]) -> list[str]:
    """Return a line for each reason of each run: how many jobs, why, and which; runs that say the same share a line.

    Args:
        runs: label -> what was rejected.
    """
    labels: dict[tuple[str, ...], list[str]] = {}
    for label, rejections in runs.items():
        labels.setdefault(tuple(_lines(rejections)), []).append(label)
    return [
        line if len(runs) == 1 else f"{', '.join(names)}: {line}" for lines, names in labels.items() for line in lines
    ]


def _lines(rejections: Sequence[Rejection]) -> list[str]:
    reasons = group_reasons(rejections)
    lines = [
        f"{len(jobs):,} rejected: {reason} (job{'s' if len(jobs) > 1 else ''} {name_jobs(jobs)})"
        for reason, jobs in reasons[:MAX_REASONS]
    ]
    if len(reasons) > MAX_REASONS:
        more = sum(len(jobs) for _, jobs in reasons[MAX_REASONS:])
        others = len(reasons) - MAX_REASONS
        lines.append(f"{more:,} rejected for {others} other reason{'s' if others > 1 else ''}: result.json has them")
    return lines
