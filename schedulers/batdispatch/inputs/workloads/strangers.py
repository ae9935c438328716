"""Accounts that nothing here reads, told by how they begin, so that they get a name and people a way on."""

from __future__ import annotations

import re

_AS_TABLE = "make a table of it (CSV) and name its columns with --columns submit=...,runtime=...,cores=..."
_LSF = re.compile(rb'"(?:JOB_FINISH|JOB_NEW|JOB_START|JOB_STATUS|EVENT_ADRSV_FINISH)" "\d')
#: Queue, host, group, owner, name, number, account, priority, three times, and more: 40 fields and more in newer ones.
_SGE = re.compile(rb"[^:\s]+:[^:\s]+:[^:]*:[^:]+:[^:]*:\d+:[^:]*:\d+:\d+:\d+:\d+:[^:]*(?::[^:]*){20,}")
#: As the accounts of PBS, but jobs have plain numbers.
_COBALT = re.compile(rb"\s*\d\d/\d\d/\d{4} \d\d:\d\d:\d\d;[A-Za-z]{1,6};\d+;")
_MARKS_OF_COBALT = (b"resources_used.location=", b" args=", b";args=")


def stranger(head: bytes) -> str:
    """Return what a file is that begins so and is not read here, and what to do instead; empty: it is nothing known.

    Args:
        head: the file's first bytes.
    """
    lines = (line.strip() for line in head.splitlines()[:20])
    first = next((line for line in lines if line and not line.startswith(b"#")), b"")
    name = ""
    if _LSF.match(first):
        name = "LSF (lsb.acct)"
    elif _SGE.match(first):
        name = "Grid Engine (SGE)"
    elif is_cobalt(head):
        name = "Cobalt"
    return f"looks like accounts of {name}, which are not read: {_AS_TABLE}" if name else ""


def is_cobalt(head: bytes) -> bool:
    """Return whether a file that begins so holds accounts of Cobalt."""
    return _COBALT.match(head) is not None and any(mark in head for mark in _MARKS_OF_COBALT)
