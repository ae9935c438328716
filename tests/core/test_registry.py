"""Dispatchers and parts by name, by module, by file."""

import importlib.metadata
from pathlib import Path

import pytest

from batdispatch.core.errors import InputError
from batdispatch.core.line import registry
from batdispatch.core.line.dispatcher import GROUP, Dispatcher, create, find
from batdispatch.dispatchers.backfilling.easy import Easy
from batdispatch.parts.ordering import Ordering, make_ordering
from batdispatch.parts.placement import make_placement

OWN = '''
"""An author's file."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from batdispatch import Dispatcher, Options


class MyOptions(Options, frozen=True, kw_only=True):
    """Mine."""

    patience: Annotated[float, msgspec.Meta(gt=0)] = 3.0
    mode: Literal["a", "b"] = "a"


class Mine(Dispatcher):
    """Does nothing."""

    options_type = MyOptions

    def decide(self, ledger):
        pass


class Half(Dispatcher):
    """Forgot to decide."""


class Stranger:
    """No dispatcher."""


number = 3
'''


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.py"
    path.write_text(OWN)
    return path


def test_every_registered_name_can_be_found() -> None:
    names = registry.names(GROUP)
    assert {"conservative", "easy", "fcfs", "filler"} <= set(names)
    assert names == sorted(names)
    for name in names:
        assert issubclass(find(name), Dispatcher)
    assert find("easy") is Easy


def test_a_class_in_a_module() -> None:
    assert find("batdispatch.dispatchers.backfilling.easy:Easy") is Easy


def test_a_class_in_an_authors_file_with_its_typed_options(own: Path) -> None:
    dispatcher = create(f"{own}:Mine", {"patience": "7", "mode": "b"}, seed=3)
    assert (dispatcher.options.patience, dispatcher.options.mode) == (7.0, "b")
    assert dispatcher.rng.integers(1000) == create(f"{own}:Mine", seed=3).rng.integers(1000)
    with pytest.raises(InputError, match=r"own\.py:Mine: option patience='0' is not a number above 0"):
        create(f"{own}:Mine", {"patience": "0"})


def test_two_files_of_one_name_are_two_modules(own: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / own.name
    other.parent.mkdir()
    other.write_text(OWN.replace("= 3.0", "= 4.0"))
    assert create(f"{own}:Mine").options.patience == 3.0
    assert create(f"{other}:Mine").options.patience == 4.0
    assert find(f"{own}:Mine").__module__ != find(f"{other}:Mine").__module__


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("esay", "no dispatcher is called 'esay': did you mean 'easy'?"),
        ("", "no dispatcher is called ''"),
        ("OWN:Nobody", "has no 'Nobody'"),
        ("OWN:Stranger", "is not a Dispatcher class"),
        ("OWN:number", "is not a Dispatcher class"),
        ("OWN:Half", "cannot be used as a dispatcher: it does not implement decide"),
        ("OWN:", "expected module:Class or"),
        ("batdispatch.core.line.dispatcher:Dispatcher", "it does not implement decide"),
        ("batdispatch.parts.ordering.arrival:Fcfs", "is not a Dispatcher class"),
        ("no.such.module:Mine", "cannot be loaded: ModuleNotFoundError"),
        (":Mine", "expected module:Class or"),
        ("gone.py:Mine", "there is no file gone.py"),
    ],
)
def test_wrong_names(own: Path, name: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        find(name.replace("OWN", str(own)))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\ny = x +\n", "SyntaxError"),
        ("x = 1\n\nprint(unknown_name)\n", "NameError: name 'unknown_name' is not defined (PATH, line 3)"),
        ("def f():\n    raise ValueError('no')\nf()\n", "ValueError: no (PATH, line 2)"),
    ],
)
def test_a_file_that_fails_says_where(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "broken.py"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        find(f"{path}:Mine")
    assert message.replace("PATH", str(path)) in str(caught.value)
    assert "line" in str(caught.value)


def test_a_name_that_two_packages_announce_is_an_error_that_lists_both(monkeypatch: pytest.MonkeyPatch) -> None:
    values = ("one.place:Easy", "other.place:Easy")
    points = importlib.metadata.EntryPoints(importlib.metadata.EntryPoint("easy", value, GROUP) for value in values)
    monkeypatch.setattr(registry, "announcements", lambda: points)
    with pytest.raises(InputError, match=r"dispatcher 'easy' is registered twice: one\.place:Easy, other\.place:Easy"):
        find("easy")


def test_parts_by_name() -> None:
    assert isinstance(make_ordering("sjf"), Ordering)
    with pytest.raises(InputError, match="no ordering is called 'sfj': did you mean 'sjf'"):
        make_ordering("sfj")
    with pytest.raises(InputError, match="no placement is called 'firstfit': did you mean 'first-fit'"):
        make_placement("firstfit")
    for wrong in ({"ordering": "sfj"}, {"placement": "firstfit"}, {"reservation": "nodes"}):
        with pytest.raises(InputError):
            create("easy", wrong)
