"""Wrong workload files: each ends in one InputError that names the file, the place and what was found."""

import gzip
import json
import lzma
import math
from pathlib import Path
from typing import Any

import pytest

from batdispatch.core.errors import InputError
from batdispatch.core.jobs.profiles import MAX_NESTING, check_profile
from batdispatch.inputs import files
from batdispatch.inputs.workloads import read_workload
from batdispatch.inputs.workloads.workload_file import WorkloadFile

JOB: dict[str, Any] = {"id": "a", "subtime": 0, "res": 1, "walltime": 10, "profile": "d"}
DELAY: dict[str, Any] = {"type": "delay", "delay": 5}


def job(**changes: Any) -> str:
    """A workload whose only job differs from a sound one; None drops a field."""
    fields = {key: value for key, value in (JOB | changes).items() if value is not None}
    return json.dumps(
        {
            "nb_res": 4,
            "jobs": [fields],
            "profiles": {"d": DELAY, "p": {"type": "parallel", "cpu": [1, 1], "com": [0] * 4}},
        }
    )


def profile(**fields: Any) -> str:
    """A workload whose profile `q` has these fields."""
    return json.dumps({"nb_res": 4, "jobs": [], "profiles": {"d": DELAY, "q": fields}})


def profiles(**named: Any) -> str:
    return json.dumps({"nb_res": 4, "jobs": [], "profiles": {"d": DELAY} | named})


def chain(length: int) -> dict[str, Any]:
    return {f"c{i}": {"type": "composed", "seq": [f"c{i + 1}" if i + 1 < length else "d"]} for i in range(length)}


WRONG: dict[str, tuple[str, str, str]] = {
    # name: (content, place, part of the message)
    "empty": ("", "workload", "not JSON"),
    "cut short": ('{"nb_res": 4,\n"jobs": [\n{"id": ', "not JSON", "truncated"),
    "comma too many": ('{"nb_res": 4,\n"jobs": [],\n"profiles": {},}', "line 3", "not JSON"),
    "a list": ("[]", "workload", "object"),
    "nested deeply": ("[" * 200_000, "workload", "object"),
    "nested deeply inside": ('{"jobs": ' + "[" * 200_000, "workload", "nested too deeply"),
    "profile nested deeply": (
        '{"jobs": [], "profiles": {"q": {"type": "send", "msg": ' + "[" * 5000 + "]" * 5000 + "}}}",
        "",
        "nested too deeply",
    ),
    "no jobs": ('{"nb_res": 4, "profiles": {}}', "", "has no 'jobs'"),
    "no profiles": ('{"nb_res": 4, "jobs": []}', "", "has no 'profiles'"),
    "nb_res zero": ('{"nb_res": 0, "jobs": [], "profiles": {}}', "", "'nb_res' is 0"),
    "nb_res text": ('{"nb_res": "4", "jobs": [], "profiles": {}}', "", "'nb_res' is '4'"),
    "nb_res true": ('{"nb_res": true, "jobs": [], "profiles": {}}', "", "'nb_res' is True"),
    "jobs an object": ('{"nb_res": 4, "jobs": {}, "profiles": {}}', "'jobs'", "array"),
    "profiles a list": ('{"nb_res": 4, "jobs": [], "profiles": []}', "'profiles'", "object"),
    "job a number": ('{"nb_res": 4, "jobs": [7], "profiles": {}}', "job number 1", "object"),
    "not UTF-8": ('{"nb_res": 4, "jobs": [{"id": "\udcff"}], "profiles": {}}', "job number 1", "not JSON"),
    "id missing": (job(id=None), "job number 1", "'id' is missing"),
    "id a list": (job(id=[1]), "job number 1", "'id' is [1]"),
    "id true": (job(id=True), "job number 1", "'id' is True"),
    "id empty": (job(id=""), "job number 1", "job name ''"),
    "id with prefix": (job(id="w0!a"), "job number 1", "exclamation mark"),
    "id with comma": (job(id="a,b"), "job number 1", "comma"),
    "id with newline": (job(id="a\nb"), "job number 1", "printable"),
    "id too long": (job(id="a" * 300), "job number 1", "256"),
    "id twice": (json.dumps({"jobs": [JOB, JOB], "profiles": {"d": DELAY}}), "job 'a'", "two jobs"),
    "id twice, number and string": (
        json.dumps({"jobs": [JOB | {"id": 1}, JOB | {"id": "1"}], "profiles": {"d": DELAY}}),
        "job '1'",
        "two jobs",
    ),
    "subtime missing": (job(subtime=None), "job 'a'", "'subtime' is missing"),
    "subtime negative": (job(subtime=-1), "job 'a'", "'subtime' is -1"),
    "subtime NaN": (job(subtime=math.nan), "", "not JSON"),
    "subtime infinite": (job(subtime=math.inf), "", "not JSON"),
    "subtime beyond floats": (job(subtime="@").replace('"@"', "1e999"), "job number 1", "out of range"),
    "subtime a huge integer": (job(subtime="@").replace('"@"', "9" * 400), "", "a number of 400 digits"),
    "subtime text": (job(subtime="0"), "job 'a'", "'subtime' is '0'"),
    "res missing": (job(res=None), "job 'a'", "'res' is missing"),
    "res zero": (job(res=0), "job 'a'", "'res' is 0"),
    "res negative": (job(res=-2), "job 'a'", "'res' is -2"),
    "res a fraction": (job(res=1.5), "job 'a'", "'res' is 1.5"),
    "res true": (job(res=True), "job 'a'", "'res' is True"),
    "res beyond all machines": (job(res=10**12), "job 'a'", "'res' is 1000000000000"),
    "walltime zero": (job(walltime=0), "job 'a'", "'walltime' is 0"),
    "walltime -2": (job(walltime=-2), "job 'a'", "'walltime' is -2"),
    "walltime text": (job(walltime="1:00"), "job 'a'", "'walltime' is '1:00'"),
    "walltime true": (job(walltime=True), "job 'a'", "'walltime' is True"),
    "profile missing": (job(profile=None), "job 'a'", "'profile' is missing"),
    "profile unknown": (job(profile="e"), "job 'a'", "'profile' is 'e'"),
    "profile a number": (job(profile=3), "job 'a'", "'profile' is 3"),
    "res not the profile's": (job(profile="p", res=3), "job 'a'", "made for 2"),
    "user a list": (job(user=["x"]), "job 'a'", "'user' is ['x']"),
    "demand a list": (job(demand=[1]), "job 'a'", "'demand' is [1]"),
    "demand negative": (job(demand={"core": -1}), "job 'a'", "'demand.core' is -1"),
    "demand a fraction": (job(demand={"core": 0.5}), "job 'a'", "'demand.core' is 0.5"),
    "demand beyond counting": (job(demand={"core": 2**53}), "job 'a'", "'demand.core' is 9007199254740992"),
    "demand name with space": (job(demand={"a b": 1}), "job 'a'", "'demand' is 'a b', expected the name of a resource"),
    "per_node a number": (job(per_node=2), "job 'a'", "'per_node' is 2"),
    "nodes backwards": (job(nodes=[3, 2]), "job 'a'", "'nodes' is [3, 2]"),
    "licences negative": (job(licences={"matlab": -1}), "job 'a'", "'licences.matlab' is -1"),
    "a host twice": (job(node_list=["a", "a"]), "job 'a'", "'node_list' is 'a', expected each name once"),
    "parent a number": (job(parent=7), "job 'a'", "'parent' is 7"),
    "profile name empty": (profiles(**{"": DELAY}), "profile ''", "printable"),
    "profile name with quote": (profiles(**{'a"b': DELAY}), "profile", "double quote"),
    "profile twice": (
        '{"jobs": [], "profiles": {"d": {"type": "delay", "delay": 1}, "d": {"type": "delay", "delay": 2}}}',
        "'profiles'",
        "'d' is there twice",
    ),
    "profile field twice": (
        '{"jobs": [], "profiles": {"d": {"type": "delay", "delay": 1, "delay": 2}}}',
        "'profiles'",
        "'delay' is there twice",
    ),
    "profile no object": (profiles(q=3), "'profiles'", "object"),
    "type missing": (profile(delay=3), "profile 'q'", "has no 'type'"),
    "type unknown": (profile(type="sleep"), "profile 'q'", "unknown type 'sleep'"),
    "types of both Batsims": (profile(type="DelayProfile", delay=3), "profile 'd'", "'delay' in a Batsim 5 workload"),
    "type of Batsim 3": (profile(type="msg_par_hg", cpu=1, com=1), "profile 'q'", "'parallel_homogeneous'"),
    "delay missing": (profile(type="delay"), "profile 'q'", "delay"),
    "delay zero": (profile(type="delay", delay=0), "profile 'q'", "> 0.0 - at 'delay', found 0"),
    "delay negative": (profile(type="delay", delay=-1), "profile 'q'", "found -1"),
    "delay text": (profile(type="delay", delay="5"), "profile 'q'", "found '5'"),
    "delay true": (profile(type="delay", delay=True), "profile 'q'", "found True"),
    "delay a huge integer": (profile(type="delay", delay="@").replace('"@"', "9" * 400), "", "a number of 400 digits"),
    "ret text": (profile(type="delay", delay=1, ret="x"), "profile 'q'", "found 'x'"),
    "parallel without com": (profile(type="parallel", cpu=[1]), "profile 'q'", "'com'"),
    "parallel empty": (profile(type="parallel", cpu=[], com=[]), "profile 'q'", "cpu"),
    "parallel not square": (profile(type="parallel", cpu=[1, 1], com=[0, 0]), "profile 'q'", "2 x 2 = 4, found 2"),
    "parallel negative": (profile(type="parallel", cpu=[-1], com=[0]), "profile 'q'", "cpu"),
    "homogeneous without cpu": (profile(type="parallel_homogeneous", com=1), "profile 'q'", "'cpu'"),
    "homogeneous negative": (profile(type="parallel_homogeneous", cpu=1, com=-1), "profile 'q'", "found -1"),
    "total a list": (profile(type="parallel_homogeneous_total", cpu=[1], com=1), "profile 'q'", "found [1]"),
    "pfs without bytes": (profile(type="parallel_homogeneous_pfs", bytes_to_read=1), "profile 'q'", "'bytes_to_write'"),
    "pfs storage empty": (
        profile(type="parallel_homogeneous_pfs", bytes_to_read=1, bytes_to_write=1, storage=""),
        "profile 'q'",
        "storage",
    ),
    "staging without from": (profile(type="data_staging", nb_bytes=1, to="b"), "profile 'q'", "'from'"),
    "staging negative": (profile(type="data_staging", nb_bytes=-1, **{"from": "a"}, to="b"), "profile 'q'", "found -1"),
    "send without msg": (profile(type="send"), "profile 'q'", "'msg'"),
    "send sleeptime zero": (profile(type="send", msg={}, sleeptime=0), "profile 'q'", "found 0"),
    "recv polltime negative": (profile(type="recv", polltime=-1), "profile 'q'", "found -1"),
    "recv names nothing": (profile(type="recv", success="nowhere"), "profile 'q'", "'nowhere'"),
    "smpi without trace": (profile(type="smpi"), "profile 'q'", "'trace'"),
    "usage trace a number": (profile(type="usage_trace", trace=3), "profile 'q'", "found 3"),
    "composed empty": (profile(type="composed", seq=[]), "profile 'q'", "seq"),
    "composed names nothing": (profile(type="composed", seq=["d", "nowhere"]), "profile 'q'", "'nowhere'"),
    "composed repeat zero": (profile(type="composed", seq=["d"], repeat=0), "profile 'q'", "found 0"),
    "composed repeat a fraction": (profile(type="composed", seq=["d"], repeat=1.5), "profile 'q'", "found 1.5"),
    "composed of itself": (profile(type="composed", seq=["d", "q"]), "profile 'q'", "contains itself"),
    "composed in a circle": (
        profiles(q={"type": "composed", "seq": ["r"]}, r={"type": "composed", "seq": ["d", "q"]}),
        "profile 'q'",
        "contains itself, by way of 'r'",
    ),
    "composed too deep": (profiles(**chain(MAX_NESTING + 1)), "profile 'c0'", "nested deeper than 64"),
    "composed far too deep": (profiles(**chain(5000)), "profile 'c", "nested deeper than 64"),
    "composed explodes": (
        profiles(
            **{
                f"e{i}": {"type": "composed", "repeat": 1000, "seq": [f"e{i + 1}" if i < 9 else "d"] * 2}
                for i in range(10)
            }
        ),
        "profile 'e",
        "tasks",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_one_readable_error(name: str, tmp_path: Path) -> None:
    content, place, part = WRONG[name]
    path = tmp_path / "wrong.json"
    path.write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(InputError) as caught:
        read_workload(path)
    text = str(caught.value)
    assert text.startswith(str(path))
    assert place in text
    assert part in text
    assert len(text) < 700 + len(str(path))
    with pytest.raises(InputError) as again:
        WorkloadFile(path).columns()
    assert str(again.value) == text


def test_there_are_enough() -> None:
    assert len(WRONG) >= 40


def test_files_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = lzma.compress(job().encode())
    cases = {
        tmp_path / "absent.json": "No such file",
        tmp_path: "directory",
        tmp_path / "cut.json.xz": "broken",
        tmp_path / "cut.json.gz": "broken",
        tmp_path / "bomb.json.gz": "bytes of content",
    }
    (tmp_path / "cut.json.xz").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "cut.json.gz").write_bytes(gzip.compress(job().encode())[:40] + b"rubbish")
    (tmp_path / "bomb.json.gz").write_bytes(gzip.compress(b" " * 200_000))
    for path, part in cases.items():
        with pytest.raises(InputError, match=part) as caught:
            files.read_all(path, limit=100_000)
        assert str(path) in str(caught.value)


def test_a_dynamic_profile_with_an_infinite_delay() -> None:
    with pytest.raises(InputError, match="infinite"):
        check_profile("x", {"type": "delay", "delay": math.inf})
