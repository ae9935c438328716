"""Options on the command line: in brackets at every depth, and by --set for those that know them."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from batdispatch.cli.main import cli
from batdispatch.core.errors import InputError

ROOT = Path(__file__).parents[2]
INPUTS = ["--platform", ROOT / "platforms" / "flat8.xml", "--workload", ROOT / "workloads" / "demo64.json"]


def batdispatch(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, list(map(str, arguments)))


def options(folder: Path) -> dict[str, str]:
    found: dict[str, str] = json.loads((folder / "result.json").read_bytes())["options"]
    return found


def test_an_option_goes_to_those_that_know_it(tmp_path: Path) -> None:
    dispatchers = "fcfs,easy,easy[reservation=count,ordering=sjf]"
    found = batdispatch(
        "compare", *INPUTS, "--dispatchers", dispatchers, "--set", "reservation=hosts", "--no-explain",
        "--out", tmp_path,
    )  # fmt: skip
    assert found.exit_code == 0, found.output
    assert "reservation" not in options(tmp_path / "fcfs")
    assert options(tmp_path / "easy,reservation=hosts")["reservation"] == "hosts"
    # What stands in brackets wins.
    assert options(tmp_path / "easy,reservation=count,ordering=sjf")["reservation"] == "count"


def test_an_option_that_none_knows_is_an_error(tmp_path: Path) -> None:
    found = batdispatch("compare", *INPUTS, "--dispatchers", "fcfs,easy", "--set", "reservatio=hosts")
    assert isinstance(found.exception, InputError)
    assert "no dispatcher here has an option 'reservatio': did you mean 'reservation'?" in str(found.exception)


def test_brackets_and_set_mean_the_same(tmp_path: Path) -> None:
    nested = "attempts[dispatcher=easy[ordering=sjf,placement=best-fit],requests=toptimal[grid=50]]"
    assert batdispatch("run", *INPUTS, "--dispatcher", nested, "--out", tmp_path / "a").exit_code == 0
    found = batdispatch(
        "run", *INPUTS, "--dispatcher", "attempts", "--set", "dispatcher=easy[ordering=sjf,placement=best-fit]",
        "--set", "requests=toptimal[grid=50]", "--out", tmp_path / "b",
    )  # fmt: skip
    assert found.exit_code == 0, found.output
    assert options(tmp_path / "a") == options(tmp_path / "b")
    assert (tmp_path / "a" / "jobs.csv").read_bytes() == (tmp_path / "b" / "jobs.csv").read_bytes()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("easy[", "found 'easy[', expected NAME or NAME[key=value,...]"),
        ("easy[ordering]", "found 'ordering' in 'easy[ordering]', expected key=value"),
        ("easy[ordering=sjf,ordering=ljf]", "'ordering' stands twice"),
        ("easy[ordering=sjff]", "no ordering is called 'sjff': did you mean 'sjf'?"),
        ("easy[ordering=sjf[x=1]]", "ordering sjf has no option 'x'"),
        ("attempts[requests=toptimal[grid=many]]", "option grid='many' is not a whole number"),
        ("attempts[dispatcher=easyy]", "no dispatcher is called 'easyy': did you mean 'easy'?"),
    ],
)
def test_mistakes(text: str, expected: str) -> None:
    found = batdispatch("run", *INPUTS, "--dispatcher", text)
    assert isinstance(found.exception, InputError)
    assert expected in str(found.exception)
