"""What `check` finds in a run's folder, in this process: the audit, what result.json says twice, and the rerun."""

from __future__ import annotations

from pathlib import Path

from batdispatch.audit.findings import Findings
from batdispatch.audit.run import Auditor
from batdispatch.inputs.platforms import read_platform
from batdispatch.runs.checks.rerun import When, decide_again
from batdispatch.runs.checks.settings import contradictions, read_said


def checked(folder: Path, when: When) -> Findings:
    """Audit a run's folder, and let its dispatcher decide again."""
    findings = Auditor().run(folder)
    result = read_said(folder)
    for violation in contradictions(result):
        findings.add(violation)
    machine = read_platform(Path(result["platform"]["path"]), master=result["platform"].get("master")).machine
    decide_again(findings, folder, result, machine, when)
    return findings
