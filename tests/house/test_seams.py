"""How far a notion of the core reaches: in how many files of the package it is asked for by name."""

import re
from collections import defaultdict
from pathlib import Path

import batdispatch
from batdispatch.core.jobs.request import Request

PACKAGE = Path(batdispatch.__file__).parent
#: The most files that ask for a field of a request, and whether jobs take whole hosts. Others ask `Need`, or a method
#: of the request or the machine, which stand for several fields at once.
OF_A_FIELD, OF_WHOLE_HOSTS = 12, 20
#: What every file may ask of a request.
PLAIN = {"units", "plain"}


def files_with(pattern: str) -> dict[str, set[str]]:
    """Return what the pattern's group finds -> the files; the audit has a reading of its own of all this."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in PACKAGE.rglob("*.py"):
        if "audit" not in path.parts:
            for name in re.findall(pattern, path.read_text()):
                found[name].add(str(path.relative_to(PACKAGE)))
    return found


def test_a_field_of_a_request_reaches_few_files() -> None:
    found = files_with(r"\brequest\.(\w+)")
    assert found["contiguous"], "the fields are read somewhere"
    fields = set(Request.__struct_fields__) - PLAIN
    far = {name: sorted(files) for name, files in found.items() if name in fields and len(files) > OF_A_FIELD}
    assert not far


def test_few_files_ask_whether_jobs_take_whole_hosts() -> None:
    files = files_with(r"machine\.(exclusive)\b")["exclusive"]
    assert 1 <= len(files) <= OF_WHOLE_HOSTS, sorted(files)
