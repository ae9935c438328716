"""Accounts that nothing here reads, told by how they begin, so that they get a name and people a way on."""

from __future__ import annotations

import re

from batdispatch.inputs.workloads.pbs import is_cobalt
from batdispatch.inputs.workloads.sacct_lines import looks_headless

_AS_TABLE = "make a table of it (CSV) and name its columns with --columns submit=...,runtime=...,cores=..."
_LSF = re.compile(rb'"(?:JOB_FINISH|JOB_NEW|JOB_START|JOB_STATUS|EVENT_ADRSV_FINISH)" "\d')
#: Queue, host, group, owner, name, number, account, priority, three times, and more: 40 fields and more in newer ones.
_SGE = re.compile(rb"[^:\s]+:[^:\s]+:[^:]*:[^:]+:[^:]*:\d+:[^:]*:\d+:\d+:\d+:\d+:[^:]*(?::[^:]*){20,}")
_SACCT_TABLE = re.compile(rb"\s*(?:[A-Za-z]\w+\s+)+\n(?:-+\s+)+\n?")


def stranger(head: bytes) -> str:
    """Return what a file is that begins so and is not read here, and what to do instead; empty: it is nothing known.

    Args:
        head: the file's first bytes.
    """
    lines = [line.strip() for line in head.splitlines()[:20] if line.strip() and not line.startswith(b"#")]
    first = lines[0] if lines else b""
    if _LSF.match(first):
        return f"looks like LSF's accounts (lsb.acct), which are not read: {_AS_TABLE}"
    if _SGE.match(first):
        return f"looks like accounts of Grid Engine (SGE), which are not read: {_AS_TABLE}"
    if is_cobalt(head):
        return f"looks like accounts of Cobalt, which are not read: {_AS_TABLE}"
    is_table = b"JobID" in first and _SACCT_TABLE.match(head.replace(b"\r", b"").lstrip(b"\n")) is not None
    delimiter = looks_headless(first)
    if is_table or delimiter == "":
        return "looks like what sacct prints for people, where long fields are cut: export it with sacct --parsable2"
    if delimiter is not None:
        return (
            "looks like what sacct --noheader prints: name its columns as --format had them, --header "
            "JobID,User,Submit,Start,End,State,AllocTRES,NodeList"
        )
    return ""
