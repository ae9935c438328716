"""`check` finds nothing in any kind of folder that this package writes."""

from pathlib import Path
from typing import Any

import pytest

from honest_folders import KINDS, make

pytestmark = [
    pytest.mark.usefixtures("worker_threads"),
    pytest.mark.filterwarnings("ignore:the machine has:UserWarning", "ignore:the log used:UserWarning"),
]


@pytest.mark.parametrize("kind", KINDS)
def test_check_is_silent_about_what_was_made(kind: str, tmp_path: Path, check: Any) -> None:
    folder = make(kind, tmp_path)
    found = check(folder, "--replay", "never")
    assert found.status == 0, found.text
    assert "violation" not in found.text.replace("no violation", "")
