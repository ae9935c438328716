"""What a terminal would obey instead of showing it never reaches a terminal: file names, names inside files."""

import json
import re
from pathlib import Path

import pytest

from batdispatch.cli.messages import note
from batdispatch.core.errors import InputError, printable
from command_line import call

PACKAGE = Path(__file__).parents[2] / "schedulers" / "batdispatch"
#: A zero byte, a command to a terminal in two forms, one that turns the writing direction, a delete, a line's start.
WRONG = "\0 \x1b[31m \x9b31m \u202e \x7f \r"
SHOWN = r"\u0000 \u001b[31m \u009b31m \u202e \u007f \u000d"


@pytest.fixture
def workload(tmp_path: Path) -> Path:
    jobs = [{"id": "a", "subtime": 0, "res": 1, "walltime": 20, "profile": "p", "user": f"u{WRONG}"}]
    path = tmp_path / "w.json"
    path.write_text(json.dumps({"nb_res": 4, "jobs": jobs, "profiles": {"p": {"type": "delay", "delay": 10}}}))
    return path


def test_texts_keep_their_letters_tabs_and_lines() -> None:
    assert printable(WRONG) == SHOWN
    assert printable("a\tb\né ü 日本 👩\n") == "a\tb\né ü 日本 👩\n"
    assert printable("\udcff") == r"\udcff"


def test_errors_show_control_characters_of_names() -> None:
    status, out, err = call("workload", "show", "/nowhere/w\x1b[31m\x07.json")
    assert (status, out) == (2, "")
    assert err.startswith(r"batdispatch: error: /nowhere/w\u001b[31m\u0007.json: ")
    assert str(InputError(f"found {WRONG}", source="f")) == f"f: found {SHOWN}"


def test_tables_show_control_characters_of_names(workload: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # In a narrow terminal the name takes several lines.
    monkeypatch.setenv("COLUMNS", "120")
    out = call("workload", "show", workload).out
    assert rf"u{SHOWN}" in out
    assert not re.search("[\0-\x08\x0b-\x1f\x7f-\x9f\u202e]", out)


def test_json_has_the_same_meaning(workload: Path) -> None:
    out = call("workload", "show", workload, "--json").out
    assert rf"u{SHOWN[:6]}" in out
    assert not re.search("[\0-\x08\x0b-\x1f\x7f-\x9f\u202e]", out)
    assert f"u{WRONG}" in {user["name"] for user in json.loads(out)["users"]}


def test_notes_show_control_characters(capsys: pytest.CaptureFixture[str]) -> None:
    note(f"a{WRONG}")
    assert capsys.readouterr().err == f"batdispatch: a{SHOWN}\n"


def test_commands_print_through_one_function() -> None:
    printing = re.compile(r"click\.s?echo\(|(?<![\w.])print\(|\bConsole\(|sys\.std(out|err)\.write\(")
    where = {path.name for path in (PACKAGE / "cli").glob("*.py") if printing.search(path.read_text())}
    assert where == {"main.py", "messages.py", "groups.py", "progress.py", "tables.py"}
