"""explain-wait on hosts that a resized job leaves: they are not free, and it says for whom they are kept until when."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.transfer import FIELD, read_leaving, told_of
from batdispatch.inputs.platforms.generate import flat
from sites import simulated

Call = Callable[..., tuple[int, str, str]]
SIZES = {"least": 1, "most": 4, "kind": "malleable", "steps": 10}
JOBS = [
    {"id": "a", "subtime": 0, "res": 4, "profile": "d100", "sizes": {**SIZES, "data": 1e9}},
    {"id": "b", "subtime": 25, "res": 2, "walltime": 40, "profile": "d30"},
    {"id": "c", "subtime": 31, "res": 1, "walltime": 40, "profile": "d30"},
]
PROFILES = {"d100": {"type": "delay", "delay": 100}, "d30": {"type": "delay", "delay": 30}}
OPTIONS = {"check_cost": "0", "expand_cost": "0", "shrink_cost": "2", "bandwidth": "1e9"}


def explained(tmp_path: Path, call: Call, job: str, preferred: int | None = None, **options: str) -> dict[str, Any]:
    """Run, and return what explain-wait says of a job as JSON."""
    jobs = [dict(job) for job in JOBS]
    if preferred is not None:
        jobs[0]["sizes"] = {**SIZES, "data": 1e9, "preferred": preferred}
    simulated(tmp_path, "resizing", flat(4), jobs, PROFILES, options={**OPTIONS, **options})
    status, out, err = call("explain-wait", tmp_path / "run", job, "--json")
    assert (status, err) == (0, "")
    answer: dict[str, Any] = json.loads(out)
    return answer


def leaving(answer: dict[str, Any]) -> list[tuple[float, float, int, str]]:
    """(from, until, hosts, for whom) of what leaves, of all phases."""
    return [
        (one["start"], one["end"], one["hosts"], one["leaving"])
        for phase in answer["phases"]
        for one in phase["holders"]
        if one["leaving"] is not None
    ]


def test_who_waits_for_the_hosts_sees_them_leave(tmp_path: Path, call: Call) -> None:
    """a is stopped at 30 s; 1 GB goes from four hosts to two at 1 GB/s, and the shrink costs 2 s beside that."""
    answer = explained(tmp_path, call, "b")
    assert answer["until"] == 32.25
    assert leaving(answer) == [(30.0, 32.25, 2, "w0!b")]
    assert [(phase["kind"], phase["start"], phase["end"]) for phase in answer["phases"]] == [("short", 25.0, 32.25)]
    assert answer["phases"][0]["free"]["host"]["most"] == 0, "what leaves is not free"
    _, out, _ = call("explain-wait", tmp_path / "run", "b")
    assert "w0!a~2  2 hosts  leaving from 30 to 32.25, kept for w0!b\n" in out


def test_others_see_for_whom_they_are_kept(tmp_path: Path, call: Call) -> None:
    answer = explained(tmp_path, call, "c")
    assert answer["phases"][0]["kind"] == "short"
    assert (30.0, 32.25, 2, "w0!b") in leaving(answer)


def test_hosts_that_leave_for_nobody_in_particular(tmp_path: Path, call: Call) -> None:
    """A job above its preferred size shrinks to it as soon as anything waits."""
    answer = explained(tmp_path, call, "b", preferred=2)
    assert leaving(answer) == [(30.0, 32.25, 2, "")]
    _, out, _ = call("explain-wait", tmp_path / "run", "b")
    assert "w0!a~2  2 hosts  leaving from 30 to 32.25\n" in out


def test_without_acknowledgement_none_leaves(tmp_path: Path, call: Call) -> None:
    answer = explained(tmp_path, call, "b", acknowledge="false")
    assert (answer["until"], leaving(answer)) == (30.0, [])


def test_what_a_recording_says_wrongly_is_not_believed(tmp_path: Path, call: Call) -> None:
    """A run that failed left a recording that nothing vouches for."""
    explained(tmp_path, call, "b")
    text = (tmp_path / "run" / "decisions.jsonl").read_text()
    failed = tmp_path / "failed"
    failed.mkdir()
    # Inside the recorded message, quotation marks are escaped or not.
    for hosts, kept in (("2-3", 1), ("0-1", 0), ("2-9", 0), ("x", 0)):
        altered = text.replace('hosts":"2-3"', f'hosts":"{hosts}"').replace('hosts\\":\\"2-3', f'hosts\\":\\"{hosts}')
        assert (altered != text) == (hosts != "2-3")
        (failed / "decisions.jsonl.partial").write_text(altered)
        status, out, err = call("explain-wait", failed, "b", "--json")
        assert (status, err) == (0, "")
        assert len(leaving(json.loads(out))) == kept


@pytest.mark.parametrize(
    ("hosts", "counts"), [(Allocation.parse("2-3 5"), None), (Allocation.of([2, 4], [3, 1]), [3, 1])]
)
def test_what_is_told_is_read(hosts: Allocation, counts: list[int] | None) -> None:
    told = told_of(hosts, 2.5, "w0!b")
    found = read_leaving(told)
    assert found is not None
    assert (found[0].counts, found[0].seconds, found[0].to) == (counts, 2.5, "w0!b")
    assert found[1].per_host() == hosts.per_host()
    assert told_of(None, 2.5, "w0!b") == {}
    for wrong in ({}, {FIELD: 7}, {FIELD: {"hosts": "x"}}, {FIELD: {"hosts": "1-2", "counts": [1]}}):
        assert read_leaving(wrong) is None
