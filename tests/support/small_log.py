"""A small log in the Standard Workload Format, of a machine of 100 processors that began at a date."""

from __future__ import annotations

from pathlib import Path

#: Seconds since 1970 of the log's time 0: 2026-03-01 in UTC.
BEGIN = 1772323200
HEADER = f"; UnixStartTime: {BEGIN}\n; MaxNodes: 100\n; MaxProcs: 100\n"


def write_log(path: Path, jobs: int = 120) -> None:
    """Write a log of so many jobs of 7 users in 3 queues and 2 partitions; times and sizes follow from the number."""
    lines = []
    for job in range(1, jobs + 1):
        submission, run, size = 60 * job, 100 + 37 * job % 900, 1 + 13 * job % 64
        fields = [job, submission, 0, run, size, -1, -1, size, 2 * run, -1, 1, job % 7, 1, -1, job % 3, job % 2, -1, -1]
        lines.append(" ".join(map(str, fields)) + "\n")
    path.write_text(HEADER + "".join(lines))
