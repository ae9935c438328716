"""Recordings of the real Batsim can be gone through again with the ledger: what explanations and instances rest on."""

from pathlib import Path

import pytest

from batdispatch.core.errors import InputError
from batdispatch.core.line.ledger import Ledger
from batdispatch.links.retrace import RetracePeer, retrace

RECORDINGS = Path(__file__).parent / "recordings"
EXCHANGES = sorted(RECORDINGS.glob("batsim*/*/exchange.jsonl"))
#: The scheduler did what Batsim does not allow; Batsim ended there.
REFUSED = {
    "err_busy_host": "host 0",
    "err_dyn_composed": "composed",
    "err_dyn_disabled": "not enabled",
    "err_dyn_no_subtime": "subtime",
    "err_two_optionals": "at most one",
    "err_unknown_event": "unknown event type",
    "err_unknown_notify": "data.type",
}
#: Jobs that the recording leaves waiting and running, where Batsim ended early or changed a state for good.
LEFT = {"change_state": (1, 2), "err_past_call": (2, 2), "kill_done_job": (0, 3)}


class Watching(RetracePeer):
    """Counts the decisions, and keeps the cluster."""

    def begin(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.decided = 0

    def look(self, ledger: Ledger) -> None:
        self.decided += 1


@pytest.mark.parametrize("path", EXCHANGES, ids=[f"{path.parts[-3]}-{path.parts[-2]}" for path in EXCHANGES])
def test_every_recording(path: Path) -> None:
    watching = Watching()
    name = path.parent.name
    if name in REFUSED:
        with pytest.raises(InputError, match=REFUSED[name]) as refused:
            retrace(path, watching)
        assert ", line " in str(refused.value)
        return
    if name in LEFT:
        with pytest.raises(InputError, match="ends before the simulation does"):
            retrace(path, Watching())
    retrace(path, watching, partial=name in LEFT)
    assert watching.decided > 2
    assert (len(watching.ledger.queue), len(watching.ledger.running)) == LEFT.get(name, (0, 0))
