"""Tab completion: names and options of dispatchers and parts at every depth of the grammar."""

from __future__ import annotations

import pytest
from click.shell_completion import ShellComplete

from batdispatch.cli.main import cli

OFFERED = [
    (["run", "--dispatcher"], "eas", ["easy"]),
    (["run", "--dispatcher"], "easy[res", ["easy[reservation="]),
    (["run", "--dispatcher"], "easy[reservation=", ["easy[reservation=count", "easy[reservation=hosts"]),
    (["run", "--dispatcher"], "easy[ordering=wf", ["easy[ordering=wfp3"]),
    (["run", "--dispatcher"], "easy[ordering=sjf,placement=conti", ["easy[ordering=sjf,placement=contiguous"]),
    (
        ["run", "--dispatcher"],
        "attempts[dispatcher=easy[reservation=h",
        ["attempts[dispatcher=easy[reservation=hosts"],
    ),
    (["run", "--dispatcher"], "attempts[speculate=t", ["attempts[speculate=true"]),
    (["run", "--dispatcher"], "easy[ordering=sjf]", []),
    (["run", "--dispatcher"], "nobody[x", []),
    (["run", "--dispatcher"], "absent.py:Mine[x", []),
    (["serve", "--dispatcher"], "cons", ["conservative"]),
    (["compare", "--dispatchers"], "fcfs,eas", ["fcfs,easy"]),
    (["compare", "--dispatchers"], "fcfs,easy[ordering=sjf],fil", ["fcfs,easy[ordering=sjf],filler"]),
    (["run", "--dispatcher", "easy", "--set"], "res", ["reservation="]),
    (["run", "--dispatcher", "easy", "--set"], "placement=best", ["placement=best-fit"]),
    (["run", "--set"], "res", []),
    (["compare", "--dispatchers", "fcfs,easy[ordering=sjf]", "--set"], "res", ["reservation="]),
    (["explain"], "wfp", ["wfp3"]),
    (["list"], "disp", ["dispatchers"]),
]


@pytest.mark.parametrize(("words", "begun", "offered"), OFFERED)
def test_the_shell_offers(words: list[str], begun: str, offered: list[str]) -> None:
    complete = ShellComplete(cli, {}, "batdispatch", "_BATDISPATCH_COMPLETE")
    assert [item.value for item in complete.get_completions(words, begun)] == offered
