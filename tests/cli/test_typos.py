"""A name that was mistyped is answered with the right one, in every place where one stands."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from batdispatch.cli.main import cli

ROOT = Path(__file__).parents[2]
RUN = f"run --platform {ROOT}/platforms/flat8.xml --workload {ROOT}/workloads/demo64.json"
COMPARE = f"compare {ROOT}/workloads/demo64.json --dispatchers"

TYPOS = [
    ("comapre", "did you mean 'compare'?"),
    ("generate lubin", "did you mean 'lublin'?"),
    ("workload shwo", "did you mean 'show'?"),
    ("platform generate tours", "did you mean 'torus'?"),
    (f"{RUN} --dispacher easy", "Did you mean '--dispatcher'?"),
    (f"{RUN} --dispatcher esay", "did you mean 'easy'?"),
    (f"{RUN} --dispatcher EASY", "did you mean 'easy'?"),
    (f"{RUN} --dispatcher easy[odering=sjf]", "did you mean 'ordering'?"),
    (f"{RUN} --dispatcher easy[ordering=sfj]", "did you mean 'sjf'?"),
    (f"{RUN} --dispatcher easy --set ordering=multifator", "did you mean 'multifactor'?"),
    (f"{RUN} --dispatcher easy --set ordring=sjf", "did you mean 'ordering'?"),
    (f"{RUN} --dispatcher easy --clock togehter", "Did you mean 'together'?"),
    (f"{COMPARE} famlies", "did you mean 'families'?"),
    (f"{COMPARE} famlies --replicates 2", "did you mean 'families'?"),
    (f"{COMPARE} easy,conservativ --no-report", "did you mean 'conservative'?"),
    (f"{COMPARE} easy --replicates 2 --baseline eesy", "did you mean 'easy'?"),
    (f"{COMPARE} families", "families needs --replicates N"),
    ("explain esay", "did you mean 'easy'?"),
    ("list dispachers", "Did you mean 'dispatchers'?"),
    ("workload show w.json --format swff", "Did you mean 'swf'?"),
    (f"{RUN} --platform {ROOT}/platforms/flat9.xml --dispatcher easy", "platforms/flat8.xml'?"),
    (f"report {ROOT}/workload", "did you mean '"),
    (f"explain-wait {ROOT}/platform 3", "/platforms'?"),
    ("leaderboard --boards lublin", "The command 'leaderboard' is gone: `batdispatch compare LOG"),
    (f"workload show {ROOT}/workloads/demo46.json", "workloads/demo64.json'?"),
]


@pytest.mark.parametrize(("words", "answer"), TYPOS, ids=lambda value: value.replace(str(ROOT), "")[-40:])
def test_the_right_name_is_proposed(words: str, answer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(cli, words.split())
    assert done.exit_code != 0
    assert answer in done.output + str(done.exception)
