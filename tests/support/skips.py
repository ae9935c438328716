"""What a run of the tests had to leave out."""

from collections import Counter
from collections.abc import Iterable
from typing import Any


def line_of(reports: Iterable[Any]) -> str:
    """Return one line about tests that were skipped: how many for which reason, most first; empty if none were."""
    reasons = Counter(_reason(report) for report in reports)
    if not reasons:
        return ""
    ordered = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    return "skipped on this machine: " + "; ".join(f"{count} ({reason})" for reason, count in ordered)


def _reason(report: Any) -> str:
    if "reallogs" in report.keywords:
        return "the real logs are not here"
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    # How to install it is told by the test's own line (-rs).
    first: str = text.removeprefix("Skipped: ").split(";")[0].splitlines()[0]
    return first
