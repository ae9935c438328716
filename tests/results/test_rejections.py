"""Why jobs were rejected: `run`, `compare` and the report say it in few words."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.cli.main import cli
from batdispatch.results.rejections import MAX_REASONS, group_reasons, in_words, rejections_of
from batdispatch.results.runs import Rejection

ROOT = Path(__file__).parents[2]


def rejected(*reasons: str) -> list[Rejection]:
    return [Rejection(job=f"w0!{number}", reason=reason) for number, reason in enumerate(reasons)]


def test_reasons_that_differ_in_numbers_are_one_with_their_range() -> None:
    told = rejected("asks for 90 hosts, there are 64", "asks for 70 hosts, there are 64", "asks for 70.5 GB")
    assert in_words({"easy": told}) == [
        "2 rejected: asks for 70 to 90 hosts, there are 64 (jobs w0!0, w0!1)",
        "1 rejected: asks for 70.5 GB (job w0!2)",
    ]


@pytest.mark.parametrize("name", ["w0!17", "j-3", "17~2", "n3"])
def test_names_are_no_numbers(name: str) -> None:
    told = rejected(f"waits for job {name}, which failed", "waits for job w9!1, which failed")
    assert [reason for reason, _ in group_reasons(told)] == [each.reason for each in told]


def test_few_reasons_are_told_and_few_jobs_named() -> None:
    words = ["far", "wide", "late", "odd", "long"]
    lines = in_words({"easy": rejected(*(["too large"] * 12), *words)})
    assert len(lines) == MAX_REASONS + 1
    assert lines[0] == "12 rejected: too large (jobs w0!0, w0!1, w0!2, w0!3, w0!4, ...)"
    assert lines[-1] == "3 rejected for 3 other reasons: result.json has them"


def test_runs_that_say_the_same_share_a_line_and_silence_has_none() -> None:
    runs = {"fcfs": rejected("too large"), "easy": rejected("too large"), "mine": rejected(""), "none": []}
    assert in_words(runs) == [
        "fcfs, easy: 1 rejected: too large (job w0!0)",
        "mine: 1 rejected: without a reason (job w0!0)",
    ]


@given(st.lists(st.tuples(st.sampled_from(["asks for {} hosts", "{} of {} GPUs", "no"]), st.integers(0, 10**9))))
def test_no_job_is_lost_or_told_twice(found: list[tuple[str, int]]) -> None:
    told = rejected(*(text.format(number, number + 1) for text, number in found))
    groups = group_reasons(told)
    assert sorted(job for _, jobs in groups for job in jobs) == sorted(each.job for each in told)
    sizes = [len(jobs) for _, jobs in groups]
    assert sizes == sorted(sizes, reverse=True)
    assert len(groups) == len({text for text, _ in found})


def test_run_and_compare_say_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    jobs = [{"id": f"of{units}", "subtime": 0, "res": units, "walltime": 10, "profile": "d"} for units in (1, 7, 70, 9)]
    profiles = {"d": {"type": "delay", "delay": 5}}
    Path("w.json").write_text(json.dumps({"nb_res": 8, "jobs": jobs, "profiles": profiles}))
    inputs = ["--platform", f"{ROOT}/platforms/flat8.xml", "--workload", "w.json"]
    ran = CliRunner().invoke(cli, ["run", *inputs, "--dispatcher", "easy", "--out", "out"], catch_exceptions=False)
    line = "2 rejected: asks for 9 to 70 hosts, the whole machine has room for 8 (jobs w0!of70, w0!of9)"
    assert ran.stdout.splitlines()[-2:] == [line, "out"]
    words = ["compare", *inputs, "--dispatchers", "fcfs,easy", "--out", "two", "--no-report"]
    compared = CliRunner().invoke(cli, words, catch_exceptions=False)
    assert compared.stdout.splitlines()[-2:] == [f"fcfs, easy: {line}", "two"]
    assert len(rejections_of(json.loads(Path("out/result.json").read_bytes()))) == 2
