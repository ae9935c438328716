"""The audit and jobs that are pinned to I/O nodes: they may have to wait for hosts that are away on an idle machine."""

from pathlib import Path
from typing import Any

import pytest

from batdispatch.abilities.verify.audit.run import Auditor
from batdispatch.runs.run import execute
from batdispatch.runs.spec import RunSpec
from batdispatch.testing.cases import Case


@pytest.mark.parametrize("pinned", [True, False])
def test_a_pinned_job_may_wait_for_hosts_that_are_away(pinned: bool, tmp_path: Path) -> None:
    job: dict[str, Any] = {"id": "1", "subtime": 5, "res": 1, "walltime": 9, "profile": "d"}
    more: dict[str, Any] = {"io_node": "n1"} if pinned else {"node_list": ["n0", "n3"]}
    case = Case(
        "away",
        "The neighbours of an I/O node are away.",
        [job | more],
        {"d": {"type": "delay", "delay": 9}},
        hosts=4,
        events=[
            # n1 is the I/O node, so the hosts n0, n2 and n3 have the numbers 0 to 2.
            {"type": "machine_unavailable", "resources": "0-1", "timestamp": 1.0},
            {"type": "machine_available", "resources": "0-1", "timestamp": 60.0},
        ],
    )
    platform, workload, events = case.write(tmp_path / "case")
    told = '<host id="master_host" speed="1Gf"/>'
    text = platform.read_text()
    assert told in text
    platform.write_text(text.replace(told, told[:-2] + '><prop id="storage_hosts" value="n1"/></host>'))
    dispatcher = "pinned-io"
    if not pinned:
        # A job that may run on a host that is there, and a dispatcher that leaves it: this is still found.
        dispatcher = f"{tmp_path / 'idle.py'}:Idle"
        (tmp_path / "idle.py").write_text(
            "from batdispatch import Dispatcher\n\n\nclass Idle(Dispatcher):\n    def decide(self, ledger):\n"
            "        if ledger.now >= 60:\n            for job in list(ledger.queue.values()):\n"
            "                ledger.start(job, ledger.place(job))\n"
        )
    spec = RunSpec(platform=str(platform), workload=str(workload), dispatcher=dispatcher, external_events=str(events))
    execute(spec, tmp_path / "run")
    found = Auditor().run(tmp_path / "run")
    assert [finding.kind for finding in found.kept] == ([] if pinned else ["idle machine"])
