"""Hostile lists of jobs: the reader in C says what the reader in Python says, or leaves the list to it.

``BATDISPATCH_FUZZ_SECONDS=600`` goes on for that long, ``BATDISPATCH_FUZZ_SEED=7`` takes other examples.
"""

import itertools
import json
import os
import random
import re
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from batdispatch.core.errors import InputError
from batdispatch.inputs.workloads import read_workload
from batdispatch.inputs.workloads.columns import JobColumns, columns_of
from batdispatch.inputs.workloads.reader import read_contents
from batdispatch.inputs.workloads.text_columns import read_columns
from compiling import needs_kernels

pytestmark = needs_kernels
SECONDS = float(os.environ.get("BATDISPATCH_FUZZ_SECONDS", "0"))
SEED = os.environ.get("BATDISPATCH_FUZZ_SEED", "1")
ENOUGH = 1500
PROFILES: dict[str, Any] = {"d": {"type": "delay", "delay": 3}, "e": {"type": "delay", "delay": 1.5}}
NUMBERS = [
    *(b"0", b"-0", b"-0.0", b"0.0", b"1", b"-1", b"-1.0", b"00", b"01", b"+1", b"1.", b".5", b"1e", b"1e+", b"0x10"),
    *(b"1e0", b"1E2", b"12e-1", b"1e400", b"-1e400", b"1e-400", b"4.9e-324", b"2.5e-324", b"1e22", b"1e23", b"NaN"),
    *(b"9007199254740993", b"9007199254740993.0", b"123456789012345678", b"1234567890123456789", b"1" * 19, b"2" * 20),
    *(b"18446744073709551616", b"0.1000000000000000055511151231257827", b"3" * 63, b"3" * 64, b"0." + b"3" * 61),
    *(b"0." + b"0" * 22 + b"1", b"0." + b"0" * 400 + b"1", b"1" * 400, b"1" + b"0" * 308, b"Infinity", b"1_0", b"1 0"),
    *(b"8.5", b"0.30000000000000004", b"1.7976931348623157e308", b"137438953472", b"137438953473", b"1e5000000000"),
]
MARKS = [
    *(b"\0", b"\\u0041", b'\\"', b"\\", b'"', b"\xff", b"\xc3\xa9", b"\x7f", b"\x1f", b" " * 40, b"\t\r\n", b"\x0b"),
    *(b"{", b"}", b"[", b"]", b",", b":", b"{}", b"[]", b"[" * 5000, b'{"a":' * 500, b"null", b"true", b"tru", b"nul"),
    *(
        b'"id":"7",',
        b'"user":"",',
        b'"x":0,',
        b'"parent":"1",',
        b'"\\u0069d":"8",',
        b"a" * 300,
        b"!",
        b"/**/",
        b"\xef\xbb\xbf",
    ),
]


def usual_list(rng: random.Random) -> bytes:
    jobs: list[dict[str, Any]] = []
    for number in range(rng.randint(1, 4)):
        job: dict[str, Any] = {"id": str(number), "subtime": rng.choice([0, 1, 2.5]), "res": rng.randint(1, 4)}
        job |= {"profile": rng.choice(["d", "e"]), "walltime": rng.choice([-1, 4, 0.1])}
        job |= rng.choice([{}, {"user": rng.choice(["ann", "", 7])}])
        job |= {f"f{each}": each for each in range(70)} if rng.random() < 0.05 else {}
        jobs.append(dict(rng.sample(list(job.items()), len(job))) if rng.random() < 0.3 else job)
    return json.dumps(jobs, separators=rng.choice([(",", ":"), (", ", ": ")])).encode()


def hostile(rng: random.Random, text: bytes) -> bytes:
    """Change a text in a few places: numbers for others, marks that come, bytes that go or are others, a cut."""
    for _ in range(rng.choice([0, 1, 1, 1, 2, 5])):
        at = rng.randint(0, len(text))
        kind = rng.random()
        if kind < 0.5:
            number = rng.choice(list(re.finditer(rb"-?\d+(\.\d+)?", text)) or [None])
            if number is not None:
                text = text[: number.start()] + rng.choice(NUMBERS) + text[number.end() :]
        elif kind < 0.75:
            text = text[:at] + rng.choice(MARKS) + text[at:]
        elif kind < 0.85:
            text = text[:at] + text[at + rng.randint(1, 4) :]
        elif kind < 0.95:
            text = text[:at] + bytes([rng.randrange(256)]) + text[at + 1 :]
        else:
            text = text[:at]
    return text


def facts(columns: JobColumns) -> list[Any]:
    names = [columns.profiles[each] for each in columns.profile]
    users = [columns.users[each] for each in columns.user]
    arrays = (columns.submission, columns.units, columns.walltime)
    return list(zip(columns.ids.tolist(), names, users, *(array.tolist() for array in arrays), strict=True))


def in_python(path: Path) -> list[Any] | None:
    """What Python reads; None: a refusal, or jobs that are not plain."""
    try:
        columns = columns_of(read_workload(path))
    except InputError:
        return None
    return facts(columns) if isinstance(columns, JobColumns) else None


def in_c(path: Path) -> list[Any] | None:
    try:
        columns = read_contents(path).columns()
    except InputError:
        return None
    return None if columns is None else facts(columns)


def test_c_and_python_read_the_same(tmp_path: Path) -> None:
    rng = random.Random(SEED)
    until = time.monotonic() + SECONDS
    path = tmp_path / "w.json"
    read = 0
    for number in itertools.count():
        if number >= ENOUGH and time.monotonic() >= until:
            break
        text = hostile(rng, usual_list(rng))
        # Whatever stands there, C reads no further than the text goes.
        read_columns(msgspec.Raw(text), PROFILES, frozenset())
        path.write_bytes(b'{"nb_res": 9, "profiles": ' + json.dumps(PROFILES).encode() + b', "jobs": ' + text + b"}")
        found = in_c(path)
        if found is not None:
            read += 1
            assert found == in_python(path), f"seed {SEED}, example {number}: {text!r}"
    assert read > ENOUGH / 10, "hardly a list was read"


@pytest.mark.parametrize("number", NUMBERS, ids=repr)
@pytest.mark.parametrize("field", ["subtime", "res", "walltime", "user", "other"])
def test_each_number_in_each_field(tmp_path: Path, number: bytes, field: str) -> None:
    job = {"id": "a", "subtime": 0, "res": 1, "walltime": 5, "user": 1, "other": 1, "profile": "d"}
    text = json.dumps([job | {field: "here"}]).encode().replace(b'"here"', number)
    path = tmp_path / "w.json"
    path.write_bytes(b'{"nb_res": 9, "profiles": ' + json.dumps(PROFILES).encode() + b', "jobs": ' + text + b"}")
    found = in_c(path)
    assert found is None or found == in_python(path)
