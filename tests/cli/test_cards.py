"""Cards: what docstrings are read for, and that each dispatcher, part and option says what it has to."""

import json
import re
from typing import Annotated, Literal

import msgspec
import pytest
from click.testing import CliRunner

from batdispatch.cli.cards import SECTIONS, options_of, read_card
from batdispatch.cli.kinds import KINDS, find, names
from batdispatch.cli.main import cli
from batdispatch.core.line.options import Options

EVERYTHING = [(kind, name) for kind in KINDS for name in names(kind)]
DISPATCHERS = names("dispatchers")

#: With what a sentence on an option begins: the verb that says what the option does, the condition under which it does
#: it, or a value of the option. A new option may add its verb. A noun ("The weight of ...") does not say what a number
#: changes.
OPENINGS = re.compile(
    r"(Add|Ask|Build|Change|Charge|Choose|Count|Decide|Divide|Draw|End|Expand|Expect|Fill|Give|Keep|Learn|Let|Line|"
    r"Look|Make|Move|Multiply|Place|Plan|Put|Rank|Read|Reserve|Round|Run|Search|Simulate|Start|Stop|Take|Try|Weigh|Work|After|"
    r"By|If|Once|When|With) "
    r"|(`\S+`|2): "
)

DOCUMENTED = """Summary in
one sentence.

How it works.

Limits: none
    to speak of.
Guarantee:
    - `a <= b`, see
      [1] and x - y.
    - Another one.
References:
    [1] Somebody: "Title",
        1999. [2] Another: "Title (see [1])", 2001.
"""


def test_a_card_has_an_overview_and_sections() -> None:
    card = read_card(DOCUMENTED)
    assert card.overview == ["Summary in one sentence.", "How it works."]
    assert card.sections == {
        "Limits": ["none to speak of."],
        "Guarantee": ["`a <= b`, see [1] and x - y.", "Another one."],
        "References": ['[1] Somebody: "Title", 1999.', '[2] Another: "Title (see [1])", 2001.'],
    }


def test_a_docstring_without_sections_is_an_overview() -> None:
    card = read_card("Just a summary.")
    assert (card.overview, card.sections) == (["Just a summary."], {})
    assert (read_card("").overview, read_card("").sections) == ([], {})


class Base(Options, frozen=True, kw_only=True):
    """Options of the base.

    ordering, most: What the base
        says.
    """

    ordering: str = "fcfs"
    most: Annotated[float, msgspec.Meta(ge=0, le=1e9)] = 5e9
    untold: bool = True


class Derived(Base, frozen=True, kw_only=True):
    """Options of what derives from it.

    most: What it says itself.
    speculate: As for `attempts`.
    """

    speculate: bool = False
    grid: int | None = None
    rule: Literal["a", "b"] = "a"
    delay: float = 0.0094


def test_options_are_told_by_the_class_or_its_base_or_where_they_come_from() -> None:
    told = {option.name: option for option in options_of(Derived)}
    assert {name: option.text for name, option in told.items() if name not in ("speculate", "grid", "rule")} == {
        "ordering": "What the base says.",
        "most": "What it says itself.",
        "untold": "",
        "delay": "",
    }
    attempts = {option.name: option.text for option in options_of(find("dispatchers", "attempts").options_type)}
    assert told["speculate"].text == attempts["speculate"] != ""


def test_options_are_written_as_people_write_them() -> None:
    assert {option.name: (option.default, option.accepts) for option in options_of(Derived)} == {
        "ordering": ("fcfs", "an ordering"),
        "most": ("5e9", "a number at least 0 at most 1e9"),
        "untold": ("true", "true or false"),
        "speculate": ("false", "true or false"),
        "grid": ("none", "a whole number or none"),
        "rule": ("a", "one of a, b"),
        "delay": ("0.0094", "a number"),
    }


def test_every_dispatcher_has_all_sections_in_order() -> None:
    for name in DISPATCHERS:
        card = read_card(find("dispatchers", name).__doc__ or "")
        assert card.overview, name
        assert list(card.sections) == list(SECTIONS), name
        for entries in card.sections.values():
            assert entries, name
            assert all(entry.endswith((".", ")")) or re.search(r"doi:10\.\S+$", entry) for entry in entries), entries
        assert all(entry.startswith(f"[{n}] ") for n, entry in enumerate(card.sections["References"], 1)), name
        # Complexities are formulas.
        assert "`" in " ".join(card.sections["Time"]), name


def test_every_option_says_in_sentences_what_it_does() -> None:
    for kind, name in EVERYTHING:
        for option in options_of(find(kind, name).options_type):
            assert option.text.endswith("."), option
            assert OPENINGS.match(option.text), option
            assert not re.search(r"\bso (many|much)\b|^See |^As ", option.text), option
            if option.default == "none":
                # What the dispatcher does then is no secret.
                assert "`none`" in option.text, option
            if kind != "dispatchers" and "at least 0" in option.accepts:
                # Nor is what 0 does: as a rule it switches something off.
                assert re.search(r"\b0\b", option.text), option


def test_every_card_says_first_what_the_part_does_and_then_for_whom() -> None:
    for kind, name in EVERYTHING:
        card = read_card(find(kind, name).__doc__ or "")
        # `list` prints the summaries one below the other, so they have one form: "Starts ...".
        assert re.match(r"[A-Z][a-z]+s,? ", card.overview[0]), (kind, name)
        assert len(card.sections["Typical use"]) == 1, (kind, name)


@pytest.mark.parametrize("name", DISPATCHERS)
def test_explain_prints_the_card_within_the_terminal(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "72")
    result = CliRunner().invoke(cli, ["explain", name])
    assert result.exit_code == 0
    lines = result.output.splitlines()
    found = [line for line in lines if line in SECTIONS.values()]
    assert found[: len(SECTIONS)] == list(SECTIONS.values())
    # Only what cannot be broken is longer: an option and what it accepts, an address.
    assert [line for line in lines if len(line) > 72 and not re.match(r" +(\w+=|https://|\S+$)", line)] == []
    for option in options_of(find("dispatchers", name).options_type):
        assert f"  {option.name}={option.default}  ({option.accepts})" in lines


def test_explain_prints_numbered_references_and_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    output = CliRunner().invoke(cli, ["explain", "easy"]).output
    assert "\n  [1] Lifka: " in output
    assert "\n  - On nodes with several resources " in output
    assert "\nComplexity\n  Time: `O(r + " in output


def test_explain_prints_all_that_are_called_so() -> None:
    output = CliRunner().invoke(cli, ["explain", "dmr"]).output
    assert "dmr (dispatcher)\n" in output
    assert "\ndmr (policy)\n" in output
    assert "toptimal (request sequence)\n" in CliRunner().invoke(cli, ["explain", "toptimal"]).output


def test_explain_prints_every_card_of_a_name_as_json() -> None:
    dispatcher, policy = json.loads(CliRunner().invoke(cli, ["explain", "dmr", "--json"]).output)
    assert (dispatcher["name"], dispatcher["kind"], policy["kind"]) == ("dmr", "dispatcher", "policy")
    card = read_card(find("dispatchers", "dmr").__doc__ or "")
    assert dispatcher["overview"] == card.overview
    assert dispatcher["complexity"] == card.sections["Time"]
    options = options_of(find("dispatchers", "dmr").options_type)
    assert [option["name"] for option in dispatcher["options"]] == [option.name for option in options]
