"""What `check` finds in a run's folder, in this process: the audit, what result.json says twice, and the rerun."""

from __future__ import annotations

import tempfile
from pathlib import Path

from batdispatch.abilities.verify.audit.findings import Findings
from batdispatch.abilities.verify.audit.run import Auditor
from batdispatch.abilities.verify.checks.again import Rerun, remake
from batdispatch.abilities.verify.checks.options import CheckOptions, When
from batdispatch.abilities.verify.checks.settings import contradictions, read_said
from batdispatch.results.origins import find_origins
from batdispatch.results.runs import read_result
from batdispatch.runs.run import InputFiles


def checked(folder: Path, when: When) -> Findings:
    """Audit a run's folder, and make the run again."""
    findings = Auditor().run(folder)
    for violation in contradictions(read_said(folder)):
        findings.add(violation)
    rerun = Rerun(folder, find_origins(folder, read_result(folder)), CheckOptions(replay=when, limit=100))
    with tempfile.TemporaryDirectory() as scratch:
        findings.merge(remake(rerun, Path(scratch) / "again", InputFiles()))
    return findings
