"""Options from texts."""

import math
from typing import Annotated, Any, Literal

import msgspec
import pytest

from batdispatch.core.errors import InputError
from batdispatch.core.line.options import Options, describe_type, did_you_mean, parse_options


class Some(Options, frozen=True, kw_only=True):
    """One option of each kind."""

    count: int = 3
    share: Annotated[float, msgspec.Meta(gt=0, le=1)] = 0.5
    limit: float = math.inf
    strict: bool = False
    mode: Literal["count", "hosts"] = "count"
    name: str = "x"
    perhaps: int | None = None


def parsed(**given: Any) -> Some:
    return parse_options(Some, given, "dispatcher some")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, Some()),
        ({"count": "7"}, Some(count=7)),
        ({"count": 7}, Some(count=7)),
        ({"share": "1"}, Some(share=1.0)),
        ({"limit": "1e3"}, Some(limit=1000.0)),
        ({"limit": "inf"}, Some()),
        ({"strict": "true"}, Some(strict=True)),
        ({"strict": "False"}, Some()),
        ({"strict": "1"}, Some(strict=True)),
        ({"mode": "hosts"}, Some(mode="hosts")),
        ({"name": "7"}, Some(name="7")),
        ({"name": "none"}, Some(name="none")),
        ({"perhaps": "4"}, Some(perhaps=4)),
        ({"perhaps": "none"}, Some()),
        ({"perhaps": None}, Some()),
    ],
)
def test_right_options(given: dict[str, Any], expected: Some) -> None:
    assert parsed(**given) == expected


def test_words_may_be_joined_by_hyphens() -> None:
    class Hyphens(Options, frozen=True, kw_only=True):
        """One."""

        default_walltime: float = 1.0

    assert parse_options(Hyphens, {"default-walltime": "5"}, "x").default_walltime == 5.0
    with pytest.raises(InputError, match="x: option default_walltime is given twice"):
        parse_options(Hyphens, {"default-walltime": "5", "default_walltime": "6"}, "x")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"count": "many"}, "dispatcher some: option count='many' is not a whole number"),
        ({"count": "1.5"}, "option count='1.5' is not a whole number"),
        ({"count": ""}, "option count='' is not a whole number"),
        ({"count": None}, "option count=None is not a whole number"),
        ({"share": "0"}, "option share='0' is not a number above 0 at most 1"),
        ({"share": "1.01"}, "option share='1.01' is not a number above 0 at most 1"),
        ({"share": "nan"}, "option share='nan' is not a number"),
        ({"limit": "nan"}, "option limit='nan' is not a number"),
        ({"limit": "none"}, "option limit='none' is not a number"),
        ({"strict": "yes"}, "option strict='yes' is not true or false"),
        ({"mode": "nodes"}, "option mode='nodes' is not one of count, hosts"),
        ({"name": 7}, "option name=7 is not a text"),
        ({"perhaps": "x"}, "option perhaps='x' is not a whole number or none"),
        ({"cuont": "3"}, "dispatcher some has no option 'cuont': did you mean 'count'?"),
        ({"zzz": "3"}, "has no option 'zzz': known: count, limit, mode, name, perhaps, share, strict"),
    ],
)
def test_wrong_options(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        parsed(**given)
    assert message in str(caught.value)


def test_no_option_is_known() -> None:
    with pytest.raises(InputError, match="plain has no option 'a': known: none"):
        parse_options(Options, {"a": "1"}, "plain")


def test_types_in_words() -> None:
    assert describe_type(bool) == "true or false"
    assert describe_type(Annotated[int, msgspec.Meta(ge=2, lt=9)]) == "a whole number at least 2 below 9"
    assert describe_type(list[int]) == "list[int]"
    assert did_you_mean("fcsf", ["fcfs", "easy"]) == "did you mean 'fcfs'?"
