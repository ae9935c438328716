"""Questions: their commands, help, JSON and calls from Python follow from structs and a function."""

import inspect
import json
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import click
import msgspec
import pytest
from click.testing import CliRunner

from batdispatch.cli.main import Commands
from batdispatch.cli.questions import command_of
from batdispatch.core.errors import InputError
from batdispatch.core.line.settings import Form
from batdispatch.core.questions import Answer, Fields, Line, Question, Questions, Table
from batdispatch.runs.listener import Listener


class Size(msgspec.Struct, frozen=True, kw_only=True):
    """How large it is.

    wide: Make it so wide.
    tall: Make it so tall.
    """

    wide: Annotated[int, msgspec.Meta(ge=1)] = 2
    tall: int = 3


class Paint(msgspec.Struct, frozen=True, kw_only=True):
    """How it is painted.

    colour: Paint it in this colour.
    shade: Shade it.
    """

    colour: Annotated[str, Form("NAME")]
    shade: bool = False


def area(
    size: Size,
    paint: Annotated[Paint, Fields(("colour",), needed=False)],
    folders: Annotated[tuple[Path, ...], Form("FOLDER...")],
    name: Annotated[str, Form("NAME")],
) -> Answer:
    """Say how large something is.

    FOLDER is what holds it.
    """
    facts = {"area": size.wide * size.tall, "colour": paint.colour, "name": name, "folders": list(map(str, folders))}
    rows = [(str(folder), [f"{size.wide}"]) for folder in folders]
    said = [f"{name}: {facts['area']}", Line("painted by hand", aside=True), Table(["folder", "wide"], rows)]
    return Answer(facts, said, status=3 if size.wide > 8 else 0)


def follow(size: Size, *, listener: Listener | None) -> Answer:
    """Follow it."""
    if listener is not None:
        listener.progress("measuring", 1, 1)
        listener.warn("it is small")
    return Answer(None, [f"{size.wide} wide"])


def shades(
    house: Annotated[Path, Form("HOUSE", exists=True, folder=True)],
    shade: Annotated[str | None, Form(choices=lambda: ["light", "dark"])] = None,
) -> Answer:
    """Say which shades there are."""
    return Answer(lambda: {"house": house.name, "shade": shade}, [Line(f"{house.name}: {shade}", bold=True)])


def drawing(size: Annotated[Size, Fields(first="tall")], *, listener: Listener | None) -> Answer:
    """Draw it."""
    assert listener is None or listener.note("drawing") is None
    words = "many words that go over several lines"
    tables = [Table(["", ""], [("a", [words])], (0, 1), long, 20) for long in ("", "fold", "cut")]
    return Answer({"wide": size.wide}, ["drawn", *tables], written="d.svg")


DRAWING = Question("drawing", drawing, quiet=True, common=("tall",))
AREA = Question("area", area, "Print the area as JSON.")
FOLLOW = Question("follow", follow)
SHADES = Question("shades", shades, heading="Results")


def call(asked: Question | Questions, *words: str) -> Any:
    return CliRunner().invoke(command_of(asked), words)


def test_the_options_of_all_structs_stand_in_the_help_with_their_texts() -> None:
    text = call(AREA, "--help").output
    assert "FOLDER... NAME" in text
    assert "Say how large something is.\n\n  FOLDER is what holds it." in text
    found = [word for line in text.splitlines() for word in line.split()[:1] if word.startswith("--")]
    assert found == ["--wide", "--tall", "--colour", "--json", "--help"]
    assert "Make it so tall." in text
    assert "Print the area as JSON." in text


def test_people_read_lines_and_tables_and_programs_facts(tmp_path: Path) -> None:
    words = ("--wide", "4", "--colour", "red", str(tmp_path), "x", "me")
    done = call(AREA, *words)
    assert (done.exit_code, done.stderr) == (0, "painted by hand\n")
    assert done.stdout.splitlines()[0] == "me: 12"
    assert [line.split() for line in done.stdout.splitlines()[1:]] == [
        ["folder", "wide"],
        [str(tmp_path), "4"],
        ["x", "4"],
    ]
    done = call(AREA, *words, "--json")
    facts = {"area": 12, "colour": "red", "name": "me", "folders": [str(tmp_path), "x"]}
    assert (done.exit_code, done.stderr, json.loads(done.stdout)) == (0, "", facts)


def test_python_asks_the_same_by_names() -> None:
    answer = AREA.ask((Path("a"),), "me", wide=9, colour="red")
    assert answer.facts == {"area": 27, "colour": "red", "name": "me", "folders": ["a"]}
    # A field that needs no value here is the empty text.
    assert AREA.ask((Path("a"),), "me").facts["colour"] == ""
    with pytest.raises(TypeError, match="area has no option 'shade'"):
        AREA.ask((Path("a"),), "me", shade=True)
    for operands in (((Path("a"),),), ((Path("a"),), "me", "you")):
        with pytest.raises(TypeError, match="argument"):
            AREA.ask(*operands)


@pytest.mark.parametrize("json_too", [(), ("--json",)])
def test_the_status_is_that_of_the_answer(json_too: tuple[str, ...]) -> None:
    assert call(AREA, "--wide", "9", "a", "me", *json_too).exit_code == 3


def test_wrong_options_and_missing_operands_are_refused() -> None:
    for words in (("a", "me", "--wide", "0"), ("me",), ("a", "me", "--shade")):
        assert call(AREA, *words).exit_code == 2


def test_long_work_is_told_of_and_an_answer_without_facts_is_text() -> None:
    done = call(FOLLOW, "--json", "--wide", "5")
    assert done.stdout == "5 wide\n"
    assert "warning: it is small" in done.stderr
    assert list(FOLLOW.ask().text) == ["2 wide"]


def test_several_questions_stand_under_one_command() -> None:
    both = Questions("both", "Ask of it.", (AREA, FOLLOW))
    assert "  area    Say how large something is.\n  follow  Follow it." in call(both, "--help").output
    assert call(both, "follow", "--wide", "7").stdout == "7 wide\n"


def test_an_operand_may_be_missing_or_one_of_a_list_and_must_exist_where_it_says_so(tmp_path: Path) -> None:
    (tmp_path / "house").mkdir()
    (tmp_path / "file").touch()
    here = str(tmp_path / "house")
    assert call(SHADES, here).stdout == "house: None\n"
    assert json.loads(call(SHADES, here, "dark", "--json").stdout) == {"house": "house", "shade": "dark"}
    assert "HOUSE [light|dark]" in call(SHADES, "--help").output.replace("[[light|dark]]", "[light|dark]")
    assert "Results:\n  --json" in call(SHADES, "--help").output
    for words in ((here, "drak"), (str(tmp_path / "file"),), (str(tmp_path / "none"),), ()):
        assert call(SHADES, *words).exit_code == 2
    assert "Did you mean 'dark'?" in call(SHADES, here, "drak").output
    assert list(SHADES.ask(tmp_path).text) == [Line(f"{tmp_path.name}: None", bold=True)]
    assert SHADES.ask(tmp_path, "dark").facts() == {"house": tmp_path.name, "shade": "dark"}


def test_a_quiet_question_says_what_was_written_and_facts_alone() -> None:
    loud, quiet, facts = (call(DRAWING, *words) for words in ((), ("--quiet",), ("-q", "--json")))
    assert (loud.stdout.splitlines()[0], loud.stdout.splitlines()[-1]) == ("drawn", "d.svg")
    assert "drawing" in loud.stderr
    assert (quiet.output, facts.output) == ("d.svg\n", '{\n  "wide": 2\n}\nd.svg\n')


def test_tables_say_what_becomes_of_long_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    lines = "\n".join(call(DRAWING).stdout.splitlines()[1:-1])
    assert max(map(len, lines.splitlines())) <= 20
    # Words go over several lines, as folded; a text that is cut off has one. Tables stand apart.
    plain, folded, cut = lines.split("\n\n")
    assert plain == folded
    assert (len(plain.splitlines()) > 1, len(cut.splitlines())) == (True, 1)


def test_help_shows_what_people_use_first_and_a_field_may_stand_before_the_others() -> None:
    text, whole = call(DRAWING, "--help").output, call(DRAWING, "--help-all").output
    assert "--tall" in text
    assert "--wide" not in text
    assert whole.index("--tall") < whole.index("--wide")


# ---------------------------------------------------------------------- our own


def own_questions() -> list[Question]:
    modules = (import_module(module) for module, _ in Commands.table.values())
    asked = [module.QUESTION for module in modules if hasattr(module, "QUESTION")]
    return [one for each in asked for one in (each.questions if isinstance(each, Questions) else (each,))]


@pytest.mark.parametrize("question", own_questions(), ids=lambda question: question.name)
def test_a_question_of_ours_says_how_its_operands_are_called(question: Question) -> None:
    assert question.function.__doc__
    assert all(operand.form.metavar or operand.form.choices for operand in question.operands)
    taken = [name for name in inspect.signature(question.function).parameters if name != "listener"]
    assert taken[len(question.options) :] == [operand.name for operand in question.operands]


def test_a_question_of_ours_that_takes_long_can_be_quiet() -> None:
    # What check prints is its answer, of which nothing can be left out.
    assert {each.name for each in own_questions() if each.listens and not each.quiet} == {"check"}


def test_a_question_is_asked_from_python_as_from_the_command_line() -> None:
    question = next(one for one in own_questions() if one.name == "requests")
    done = CliRunner().invoke(command_of(question), ["--law", "tnorm:0,20,8,2", "--zeta", "0.1", "--json"])
    answer = question.ask(law="tnorm:0,20,8,2", zeta=0.1)
    assert json.loads(done.stdout) == json.loads(msgspec.json.encode(answer.facts))
    with pytest.raises(InputError, match="expected 0 to 1"):
        question.ask(law="tnorm:0,20,8,2", zeta=2.0)


def test_a_command_is_made_only_when_it_is_used() -> None:
    group = Commands("batdispatch")
    assert isinstance(group.get_command(click.Context(group), "replay"), click.Command)
