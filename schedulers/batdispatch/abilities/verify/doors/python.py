"""What Python calls to check results."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from batdispatch.api.listeners import default_listener
from batdispatch.runs.listener import Listener

if TYPE_CHECKING:
    from batdispatch.abilities.verify.audit.findings import Violation
    from batdispatch.abilities.verify.checks.check import Report
    from batdispatch.abilities.verify.checks.options import When

#: Seconds for making runs again, unless said.
BUDGET = 600.0


class Audit:
    """What an audit found.

    Attributes:
        findings: what was found about each folder and each table, with what was checked.
    """

    def __init__(self, findings: Report) -> None:
        self.findings = findings

    def __repr__(self) -> str:
        return f"<audit of {len(self.findings.runs)} runs: {len(self.violations)} violations shown>"

    @property
    def violations(self) -> list[tuple[Path, Violation]]:
        """What is wrong, and where; of many of a kind, the first ones."""
        checked = (*self.findings.runs, *self.findings.tables)
        return [(one.path, violation) for one in checked for violation in one.findings.kept]

    @property
    def undone(self) -> dict[Path, str]:
        """Folder of a run that could not be made again -> why; without it, all being well is not proven."""
        return {one.path: "; ".join(one.findings.undone.values()) for one in self.findings.runs if one.findings.undone}

    @property
    def clean(self) -> bool:
        """Whether nothing is wrong and every run was made again."""
        return not self.violations and not self.undone


def check(
    *folders: str | PathLike[str],
    platform: str | PathLike[str] | None = None,
    workload: str | PathLike[str] | None = None,
    events: str | PathLike[str] | None = None,
    master_host: str | None = None,
    roles: Mapping[str, str] = {},
    replay: When = "auto",
    budget: float | None = None,
    sample: int | None = None,
    seed: int = 0,
    limit: int = 100,
    listener: Listener | None = None,
) -> Audit:
    """Audit every file of runs against workload, platform and decisions, and make the runs again.

    Args:
        folders: of runs, comparisons or campaigns.
        platform: of every run; None: the one that each notes. So are the others.
        workload: of every run.
        events: external events of every run.
        master_host: the host that carries Batsim.
        roles: of hosts that Batsim was told one of.
        replay: whether runs are made again: ``auto``: unless that runs a source file; ``always``; ``never``.
        budget: seconds for making runs again, all together; None: 600, and no limit with ``always``.
        sample: look at so many runs, drawn at random; None: at all.
        seed: of that drawing.
        limit: most violations kept of a kind.
        listener: as for `run`.

    Raises:
        InputError: a folder holds no run, or a file is missing or malformed.
    """
    from batdispatch.abilities.verify.checks.again import Budget
    from batdispatch.abilities.verify.checks.check import check as audit
    from batdispatch.abilities.verify.checks.options import CheckOptions

    how = CheckOptions(
        platform=_path(platform),
        workload=_path(workload),
        events=_path(events),
        master_host=master_host,
        roles=dict(roles),
        replay=replay,
        sample=sample,
        seed=seed,
        limit=limit,
    )
    seconds = BUDGET if budget is None and replay == "auto" else budget
    progress = (listener or default_listener()).progress
    return Audit(audit(list(map(Path, folders)), how, budget=Budget(seconds), progress=progress))


def _path(path: str | PathLike[str] | None) -> Path | None:
    return None if path is None else Path(path)
