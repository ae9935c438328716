"""The set `simple`: what it stands for in a list of dispatchers, and in a campaign."""

from pathlib import Path

import pytest

from batdispatch.abilities.campaigns.campaign.file import read_campaign
from batdispatch.core.errors import InputError
from batdispatch.core.line.dispatcher import create
from batdispatch.core.line.options import parse_named
from batdispatch.dispatchers.simple import SIMPLE, expand, has_simple
from batdispatch.inputs.platforms.generate import flat
from batdispatch.runs.compare import entrants_of


def test_each_of_them_is_a_dispatcher_and_all_but_easy_are_simple_orderings() -> None:
    for text in SIMPLE:
        assert create(*parse_named(text)).options.prediction == "requested"
    assert [has_simple([text]) for text in SIMPLE] == [False, *([True] * (len(SIMPLE) - 1))]


@pytest.mark.parametrize("prediction", ["last-two", "online-regression", "oracle"])
def test_options_in_brackets_are_those_of_all(prediction: str) -> None:
    found = expand(f"simple[prediction={prediction}]")
    assert found[0] == f"easy[prediction={prediction}]"
    assert found[1] == f"easy[ordering=unicef,prediction={prediction}]"
    assert len(found) == len(SIMPLE)
    assert {create(*parse_named(text)).options.prediction for text in found} == {prediction}


def test_in_a_list_each_takes_part_once_and_what_is_said_twice_is_refused() -> None:
    found = [one.text for one in entrants_of("easy[ordering=f1],simple,easy,simple[prediction=oracle],fcfs")]
    assert found[0] == "easy[ordering=f1]"
    assert sorted(found) == sorted([*SIMPLE, *expand("simple[prediction=oracle]"), "fcfs"])
    with pytest.raises(InputError, match="'fcfs' stands twice"):
        entrants_of("fcfs,simple,fcfs")
    with pytest.raises(InputError, match="expected key=value"):
        entrants_of("simple[last-two]")


def campaign(folder: Path, dispatchers: str, part: str) -> list[str]:
    (folder / "p.xml").write_bytes(flat(4))
    (folder / "w.json").write_text('{"nb_res": 4, "jobs": [], "profiles": {}}')
    (folder / "c.yaml").write_text(
        f"name: c\nplatforms: {{p: p.xml}}\nworkloads: {{w: w.json}}\ndispatchers: {dispatchers}\n"
        f"parts: {{one: {{dispatchers: {part}}}}}\n"
    )
    return [cell.dispatcher.name for cell in read_campaign(folder / "c.yaml").cells]


def test_a_campaign_has_them_in_its_list_and_in_that_of_a_part(tmp_path: Path) -> None:
    assert campaign(tmp_path, "[fcfs, simple]", "[fcfs, simple]") == ["fcfs", *SIMPLE]
    assert campaign(tmp_path, "[fcfs, simple]", "'easy[ordering=f2]'") == ["easy[ordering=f2]"]
    # A name of the file's own stands for what the file says.
    assert campaign(tmp_path, "{simple: fcfs, other: easy}", "simple") == ["simple"]
    # As in a list of `compare`.
    assert campaign(tmp_path, "[simple, easy]", "[easy, simple]") == list(SIMPLE)
