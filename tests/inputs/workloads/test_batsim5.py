"""Workloads of Batsim 5: read, written, converted both ways, and what neither version can say."""

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.core.errors import InputError
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import Request
from batdispatch.engines.execution import check_timed
from batdispatch.inputs.workloads import Workload, read_workload, write_workload
from command_line import Answer, call

RECORDED = Path(__file__).parents[2] / "conformance" / "recordings" / "workloads"
FIVES = sorted(RECORDED.glob("*5.json"))
FOURS = sorted(file for file in RECORDED.glob("*.json") if file not in FIVES)
#: Recorded workloads that Batsim 5 cannot run -> what is said of them.
REFUSED = {
    "msg": "Batsim 5 has no messages between jobs and schedulers",
    "parallel": "which Batsim 4 and 5 do differently, and jobs of 2, 4 hosts use it",
}


def facts(workload: Workload) -> list[Any]:
    return [
        (job.id, job.units, job.submission, job.walltime, job.profile, job.user, job.extra) for job in workload.jobs
    ]


def write(path: Path, jobs: list[Any], profiles: dict[str, Any]) -> Path:
    path.write_text(json.dumps({"nb_res": 4, "jobs": jobs, "profiles": profiles}))
    return path


def job(name: str = "a", res: int = 1, profile: str = "p", **more: Any) -> dict[str, Any]:
    return {"id": name, "subtime": 0, "res": res, "profile": profile, **more}


def in_use(profiles: dict[str, Any], workload: Workload) -> dict[str, Any]:
    """Return the profiles without those that no job of a workload uses, be it as parts of sequences."""
    used = {job.profile for job in workload.jobs}
    # Recorded sequences hold sequences, and those hold none.
    for _ in range(2):
        used.update(part for name in [*used] for part in workload.profiles[name].get("seq", ()))
    return {name: profile for name, profile in profiles.items() if name in used}


def convert(*arguments: Any) -> Answer:
    return call("convert", *arguments)


@pytest.mark.parametrize("file", FIVES, ids=lambda file: file.stem)
def test_recorded_workloads_of_batsim_5_are_written_again_as_they_were(file: Path, tmp_path: Path) -> None:
    workload = read_workload(file)
    write_workload(workload, tmp_path / "again.json", batsim=5)
    again, before = json.loads((tmp_path / "again.json").read_text()), json.loads(file.read_text())
    assert again["profiles"] == in_use(before["profiles"], workload)
    by_id = {each["id"]: each for each in again["jobs"]}
    for each in before["jobs"]:
        if "foo" in each:
            # Batsim 5 would not hand it on where it stood.
            each["extra_data"]["foo"] = each.pop("foo")
        assert by_id[each["id"]] == each


@pytest.mark.parametrize("file", [file for file in FOURS if file.stem not in REFUSED], ids=lambda file: file.stem)
def test_recorded_workloads_of_batsim_4_survive_the_way_there_and_back(file: Path, tmp_path: Path) -> None:
    there, back = tmp_path / "there.json", tmp_path / "back.json"
    assert convert(file, "--to", "batsim5", "-o", there).status == 0
    assert convert(there, "--to", "batsim4", "-o", back).status == 0
    before, after = read_workload(file), read_workload(back)
    assert facts(after) == facts(before)
    assert after.profiles == in_use(before.profiles, before)
    types = {profile["type"] for profile in json.loads(there.read_text())["profiles"].values()}
    assert all(name.endswith("Profile") for name in types)


@pytest.mark.parametrize("form", ["batsim4", "batsim5"])
def test_profiles_that_no_job_uses_are_left_out_for_batsim_5(form: str, tmp_path: Path) -> None:
    """Batsim 5.0.0-rc2 dies of them; a part of a used sequence is in use, and one of an unused sequence is not."""
    profiles = {
        "unused": {"type": "delay", "delay": 20},
        "outer": {"type": "composed", "repeat": 2, "seq": ["inner", "d1"]},
        "inner": {"type": "composed", "seq": ["d2"]},
        "unused sequence": {"type": "composed", "seq": ["d2", "part of an unused one"]},
        "part of an unused one": {"type": "delay", "delay": 4},
        **{f"d{delay}": {"type": "delay", "delay": delay} for delay in (1, 2)},
    }
    path = write(tmp_path / "w.json", [job(profile="outer")], profiles)
    if form == "batsim5":
        # Written by hand: `convert` leaves them out.
        for profile in profiles.values():
            composed = profile["type"] == "composed"
            profile["type"] = "SequentialCompositionProfile" if composed else "DelayProfile"
        write(path, [job(profile="outer")], profiles)
    result = convert(path, "--to", "batsim5", "-o", tmp_path / "w5.json")
    assert result.status == 0, result.output
    assert "1 jobs, 4 profiles for Batsim 5" in result.output
    assert [*json.loads((tmp_path / "w5.json").read_text())["profiles"]] == ["outer", "inner", "d1", "d2"]
    result = convert(path, "--to", "batsim4", "-o", tmp_path / "w4.json")
    assert "1 jobs, 7 profiles for Batsim 4" in result.output
    assert [*json.loads((tmp_path / "w4.json").read_text())["profiles"]] == [*profiles]


def test_a_profile_that_batsim_5_cannot_say_and_no_job_uses_is_no_reason_to_refuse(tmp_path: Path) -> None:
    profiles = {"p": {"type": "delay", "delay": 1}, "r": {"type": "recv", "success": "p"}}
    path = write(tmp_path / "w.json", [job()], profiles)
    assert convert(path, "--to", "batsim5", "-o", tmp_path / "w5.json").status == 0


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_recorded_workloads_that_batsim_5_cannot_run_are_refused(name: str, tmp_path: Path) -> None:
    result = convert(RECORDED / f"{name}.json", "--to", "batsim5", "-o", tmp_path / "there.json")
    assert result.status == 2
    assert REFUSED[name] in result.output
    assert list(tmp_path.iterdir()) == []


def test_the_pairs_recorded_for_both_are_one_workload(tmp_path: Path) -> None:
    four, five = read_workload(RECORDED / "reject.json"), read_workload(RECORDED / "reject5.json")
    shared = {each.id for each in five.jobs} & {each.id for each in four.jobs}
    assert len(shared) >= 3
    assert [row for row in facts(five) if row[0] in shared] == [row for row in facts(four) if row[0] in shared]
    four, five = read_workload(RECORDED / "kill.json"), read_workload(RECORDED / "kill5.json")
    assert {name: four.profiles[name] for name in ("d10", "d30")} == {
        name: five.profiles[name] for name in ("d10", "d30")
    }


def test_fields_of_the_user_travel_in_extra_data(tmp_path: Path) -> None:
    four = write(
        tmp_path / "w4.json",
        [job(user="eve", demand={"core": 2}, deadline=7.5)],
        {"p": {"type": "delay", "delay": 3, "ret": 1, "colour": "red"}},
    )
    result = convert(four, "--to", "batsim5", "-o", tmp_path / "w5.json", "--json")
    assert result.status == 0, result.output
    assert json.loads(result.output)["jobs"] == 1
    five = json.loads((tmp_path / "w5.json").read_text())
    assert five["jobs"] == [job(extra_data={"user": "eve", "demand": {"core": 2}, "deadline": 7.5})]
    assert five["profiles"] == {"p": {"type": "DelayProfile", "delay": 3, "ret": 1, "extra_data": {"colour": "red"}}}
    (read,) = read_workload(tmp_path / "w5.json").jobs
    assert (read.user, read.request.demand, read.extra["deadline"]) == ("eve", {"core": 2}, 7.5)


def test_extra_data_may_be_any_text(tmp_path: Path) -> None:
    profiles = {"p": {"type": "DelayProfile", "delay": 3}}
    jobs = [job("a", extra_data="plain"), job("b", extra_data='{"user": "eve"}'), job("c", extra_data=[1, 2])]
    read = {each.id: each for each in read_workload(write(tmp_path / "w5.json", jobs, profiles)).jobs}
    assert read["a"].extra == {"extra_data": "plain"}
    assert read["b"].user == "eve"
    assert read["c"].extra == {"extra_data": [1, 2]}
    write_workload(read_workload(tmp_path / "w5.json"), tmp_path / "again.json", batsim=5)
    again = {each["id"]: each for each in json.loads((tmp_path / "again.json").read_text())["jobs"]}
    assert [again[name]["extra_data"] for name in "abc"] == ["plain", {"user": "eve"}, [1, 2]]


@pytest.mark.parametrize("size", [1, 2, 5])
def test_spread_communication_moves_the_same_bytes_between_each_pair(size: int, tmp_path: Path) -> None:
    five = write(
        tmp_path / "w5.json",
        [job(res=size, profile="s")],
        {
            "p": {
                "type": "ParallelTaskHomogeneousProfile",
                "generation_strategy": "DefinedAmountsSpreadUniformly",
                "cpu": 1e6,
                "com": 6e5,
            },
            "s": {"type": "SequentialCompositionProfile", "seq": ["p"]},
        },
    )
    ours = read_workload(five).profiles["p"]
    assert ours["type"] == "parallel_homogeneous_total"
    pairs = size * (size - 1)
    if pairs:
        assert ours["com"] / size == pytest.approx(6e5 / pairs)
    write_workload(read_workload(five), tmp_path / "again.json", batsim=5)
    assert json.loads((tmp_path / "again.json").read_text())["profiles"]["p"]["com"] == pytest.approx(6e5)


def test_storage_amounts_that_are_spread_become_those_of_each_host(tmp_path: Path) -> None:
    kind = "ParallelTaskOnStorageHomogeneousProfile"
    spread = {"type": kind, "bytes_to_read": 8e6, "generation_strategy": "DefinedAmountsSpreadUniformly", "host": "nfs"}
    read = read_workload(write(tmp_path / "w5.json", [job(res=4)], {"p": spread}))
    assert read.profiles["p"] == {
        "type": "parallel_homogeneous_pfs",
        "bytes_to_read": 2e6,
        "bytes_to_write": 0,
        "storage": "nfs",
    }


def test_traces_are_renamed(tmp_path: Path) -> None:
    profiles = {
        "p": {"type": "TraceReplayProfile", "trace_type": "SMPI", "filename": "a.txt"},
        "u": {"type": "TraceReplayProfile", "trace_type": "FractionalComputation", "filename": "b.txt"},
    }
    read = read_workload(write(tmp_path / "w5.json", [job(), job("b", profile="u")], profiles))
    assert read.profiles == {"p": {"type": "smpi", "trace": "a.txt"}, "u": {"type": "usage_trace", "trace": "b.txt"}}
    write_workload(read, tmp_path / "w4.json")
    write_workload(read_workload(tmp_path / "w4.json"), tmp_path / "again.json", batsim=5)
    assert json.loads((tmp_path / "again.json").read_text())["profiles"] == profiles


@pytest.mark.parametrize(("name", "to"), [("smpi", 5), ("usage", 5), ("smpi5", 4), ("usage5", 4), ("usage5", 5)])
def test_traces_are_found_from_the_folder_into_which_a_workload_is_written(name: str, to: int, tmp_path: Path) -> None:
    traces = RECORDED.parent / "traces"
    (tmp_path / "there").mkdir()
    there, back = tmp_path / "there" / "w.json", tmp_path / "back.json"
    assert convert(traces / f"{name}.json", "--to", f"batsim{to}", "-o", there).status == 0
    profiles = json.loads(there.read_text())["profiles"]
    if to == 5:
        assert {each["trace_type"] for each in profiles.values()} <= {"SMPI", "FractionalComputation"}
    for key, profile in profiles.items():
        trace = profile["filename" if to == 5 else "trace"]
        assert (there.parent / trace).resolve() == (traces / "traces" / f"{key}.txt").resolve()
    assert convert(there, "--to", "batsim5", "-o", back).status == 0
    again = json.loads(back.read_text())["profiles"]
    assert {(back.parent / each["filename"]).resolve() for each in again.values()} == {
        (traces / "traces" / f"{key}.txt").resolve() for key in profiles
    }


def test_amounts_that_are_spread_stay_as_they_are_where_jobs_of_several_sizes_use_them(tmp_path: Path) -> None:
    jobs = [job(), job("b", 2), job("c", 1, "q"), job("d", 2, "q")]
    path = write(tmp_path / "w5.json", jobs, {"p": SPREAD, "q": STORED})
    workload = read_workload(path)
    assert workload.profiles["p"] == SPREAD
    write_workload(workload, tmp_path / "again.json", batsim=5)
    assert json.loads((tmp_path / "again.json").read_text())["profiles"] == {"p": SPREAD, "q": STORED}
    # Part of it has jobs of one size.
    write_workload(workload.part(1, 2), tmp_path / "part.json")
    assert read_workload(tmp_path / "part.json").profiles["p"]["type"] == "parallel_homogeneous_total"
    with pytest.raises(InputError, match=r"profile 'p': its amounts .* jobs of 1, 2 hosts use it"):
        write_workload(workload, tmp_path / "w4.json")
    with pytest.raises(InputError, match=r"give the jobs of each size a profile of their own, .*--engine batsim5"):
        check_timed("p", workload.profiles, set())


D = {"type": "DelayProfile", "delay": 1}
SPREAD = {
    "type": "ParallelTaskHomogeneousProfile",
    "cpu": 1,
    "com": 1,
    "generation_strategy": "DefinedAmountsSpreadUniformly",
}
STORED = {
    "type": "ParallelTaskOnStorageHomogeneousProfile",
    "bytes_to_read": 8e6,
    "generation_strategy": "DefinedAmountsSpreadUniformly",
}


@pytest.mark.parametrize(
    ("jobs", "profiles", "expected"),
    [
        ([job()], {"p": {"type": "ForkJoinCompositionProfile", "seq": []}}, "profile 'p': type 'ForkJoinComp.*run it"),
        ([job()], {"p": D, "q": {"type": "delay", "delay": 1}}, "profile 'q': type 'delay' in a Batsim 5 workload"),
        ([job()], {"p": {"type": "DelayProfile", "delay": 0}}, "profile 'p'.*> 0.0"),
        ([job()], {"p": {"type": "DelayProfile"}}, "profile 'p'.*delay"),
        ([job(), job("b", 2)], {"p": {**SPREAD, "cpu": -1}}, "profile 'p'.*cpu"),
        ([job()], {"p": {**SPREAD, "generation_strategy": "Fair"}}, "'generation_strategy' is 'Fair'"),
        ([job()], {"p": {**SPREAD, "com": "x"}}, "profile 'p'.*com"),
        ([job()], {"p": {"type": "TraceReplayProfile", "trace_type": "x"}}, "'trace_type' is 'x'"),
        ([job()], {"p": {"type": "SequentialCompositionProfile", "seq": ["z"]}}, "profile 'z', which is not"),
        ([job(extra_data={"res": 3})], {"p": D}, "job 'a': 'extra_data' has a field 'res'"),
        ([job(extra_data={"x": 3}, x=3)], {"p": D}, "job 'a': 'extra_data' has a field 'x'"),
        ([job(extra_data={"user": [3]})], {"p": D}, "job 'a': 'user' is"),
        ([job()], {"p": {"type": "ParallelTaskProfile", "com": [1, 2, 3]}}, "profile 'p'.*com"),
    ],
)
def test_what_is_wrong_is_said(jobs: Any, profiles: Any, expected: str, tmp_path: Path) -> None:
    path = write(tmp_path / "w5.json", jobs, profiles)
    with pytest.raises(InputError, match=expected) as caught:
        read_workload(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("profile", "expected"),
    [
        ({"type": "send", "msg": "hello"}, "Batsim 5 has no messages between jobs and schedulers"),
        ({"type": "recv"}, "Batsim 5 has no messages between jobs and schedulers"),
        ({"type": "parallel_homogeneous_total", "cpu": 1, "com": 2}, "jobs of 1, 2 hosts use it"),
    ],
)
def test_what_batsim_5_cannot_say_is_refused_and_nothing_written(profile: Any, expected: str, tmp_path: Path) -> None:
    path = write(tmp_path / "w4.json", [job(), job("b", 2)], {"p": profile})
    out = tmp_path / "out"
    out.mkdir()
    result = convert(path, "--to", "batsim5", "-o", out / "w5.json")
    assert result.status == 2
    assert expected in result.output
    assert "profile 'p'" in result.output
    assert list(out.iterdir()) == []


def test_options_of_logs_are_refused_for_workloads(tmp_path: Path) -> None:
    path = write(tmp_path / "w4.json", [job()], {"p": {"type": "delay", "delay": 1}})
    result = convert(path, "--to", "batsim5", "-o", tmp_path / "w5.json", "--keep-clock")
    assert result.status == 2
    assert "option --keep-clock: is for logs" in result.output
    result = convert(path, "-o", tmp_path / "w5.json")
    assert result.status == 2
    assert "--to" in result.output


def test_a_log_becomes_a_workload_of_batsim_5(tmp_path: Path) -> None:
    log = tmp_path / "log.swf"
    log.write_text("; MaxProcs: 8\n1 0 1 60 2 -1 -1 2 100 -1 1 7 1 -1 1 -1 -1 -1\n")
    assert convert(log, "--to", "batsim5", "-o", tmp_path / "w5.json").status == 0
    five = json.loads((tmp_path / "w5.json").read_text())
    assert [profile["type"] for profile in five["profiles"].values()] == ["DelayProfile"]
    assert five["jobs"][0]["extra_data"]["user"] == read_workload(tmp_path / "w5.json").jobs[0].extra["user"]


NAMES = st.text("abcdefgh", min_size=1, max_size=3).filter(lambda name: name not in ("res", "id"))
VALUES = st.recursive(st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=4), st.lists, max_leaves=4)


@given(st.dictionaries(NAMES, VALUES, max_size=4), st.sampled_from([1.0, 2.5]), st.sampled_from([float("inf"), 9.0]))
def test_any_job_survives_the_way_there_and_back(extra: dict[str, Any], submission: float, walltime: float) -> None:
    made = Job(id="j", request=Request(units=2), submission=submission, walltime=walltime, profile="p", extra=extra)
    profiles = {"p": {"type": "composed", "seq": ["d"]}, "d": {"type": "delay", "delay": 2}}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "w5.json"
        write_workload(Workload(path=path, name="made", jobs=[made], profiles=profiles), path, batsim=5)
        read = read_workload(path)
    assert facts(read) == [("j", 2, submission, walltime, "p", "", extra)]
    assert read.profiles == profiles
