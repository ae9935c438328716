"""What a job asks for: each field read, refused, written and read again, for every format and protocol alike."""

import json
import math
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.batsim.v4 import jobs as v4
from batdispatch.batsim.v5 import jobs as v5
from batdispatch.batsim.v5.shapes import JobData
from batdispatch.core.errors import FieldError
from batdispatch.core.jobs.fields import (
    MAX_LISTED,
    Array,
    array_of,
    read_array,
    read_fields,
    read_parent,
    read_request,
    read_units,
    read_user,
    write_fields,
)
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import MAX_AMOUNT, Dependency, Request, amounts
from batdispatch.core.jobs.scalability import Scalability
from batdispatch.core.jobs.sizes import MAX_UNITS, Ask, Sizes

READ: list[tuple[str, Any, str, Any, bool]] = [
    ("demand", {"memory": 512, "core": 1}, "per_unit", (("core", 1), ("memory", 512)), True),
    ("demand", {}, "per_unit", (), True),
    ("demand", {"core": 0}, "per_unit", (("core", 0),), True),
    ("demand", {"core": MAX_AMOUNT}, "per_unit", (("core", MAX_AMOUNT),), True),
    ("per_node", {"gpu": 2}, "per_node", (("gpu", 2),), False),
    ("nodes", 3, "nodes", (3, 3), False),
    ("nodes", [2, 5], "nodes", (2, 5), False),
    ("nodes", [1, MAX_UNITS], "nodes", (1, MAX_UNITS), False),
    ("units_per_node", 4, "units_per_node", 4, False),
    ("node_list", ["n3", "n1"], "named", ("n3", "n1"), False),
    ("exclude_nodes", ["n2"], "excluded", ("n2",), False),
    ("contiguous", True, "contiguous", True, False),
    ("licences", {"matlab": 2, "abaqus": 1}, "licences", (("abaqus", 1), ("matlab", 2)), False),
    # Without a demand, a unit takes its node wholly anyhow.
    ("whole_nodes", True, "whole_nodes", True, True),
    ("io_node", "disk", "io_nodes", ("disk",), True),
    ("io_node", ["disk1", "disk0"], "io_nodes", ("disk1", "disk0"), True),
    ("sizes", {"least": 2, "most": 32}, "sizes", Sizes(2, 32), True),
    ("sizes", {"least": 2, "most": 32, "factor": 3, "preferred": 8}, "sizes", Sizes(2, 32, 3, 8), True),
    (
        "sizes",
        {
            "least": 1,
            "most": 8,
            "kind": "malleable",
            "steps": 25,
            "period": 15,
            "data": 1e9,
            "scalability": "power:0.7",
        },
        "sizes",
        Sizes(1, 8, 2, None, "malleable", 25, 15.0, 1e9, Scalability("power:0.7", "power", (0.7,))),
        True,
    ),
    (
        "sizes",
        {
            "least": 1,
            "most": 8,
            "kind": "evolving",
            "steps": 9,
            "asks": [{"step": 0, "least": 2}, {"step": 4, "most": 4}],
        },
        "sizes",
        Sizes(1, 8, kind="evolving", steps=9, asks=(Ask(0, 2, None), Ask(4, None, 4))),
        True,
    ),
    ("dependencies", ["a", "w0!b"], "dependencies", (Dependency("a"), Dependency("w0!b")), True),
    (
        "dependencies",
        ["a", {"job": "a", "kind": "after", "delay": 60.0}, {"job": "b", "delay": 0.5}],
        "dependencies",
        (Dependency("a"), Dependency("a", "after", 60.0), Dependency("b", delay=0.5)),
        True,
    ),
]
NAMES = [case[0] + json.dumps(case[1]) for case in READ]


@pytest.mark.parametrize(("field", "value", "attribute", "expected", "plain"), READ, ids=NAMES)
def test_a_field_is_read_and_written_and_read_again(
    field: str, value: Any, attribute: str, expected: Any, plain: bool
) -> None:
    request = read_request(7, {field: value, "else": "where"})
    assert request == msgspec.structs.replace(Request(units=7), **{attribute: expected})
    assert getattr(request, attribute) == expected
    assert request.plain is plain
    written = write_fields(Job(id="w0!1", request=request))
    assert set(written) == {field}
    assert json.loads(json.dumps(written)) == written
    assert read_request(7, written) == request


def _sizes(**more: Any) -> dict[str, Any]:
    return {"least": 1, "most": 4, **more}


WRONG: list[tuple[dict[str, Any], str, Any, str]] = [
    ({"demand": [1]}, "demand", [1], "an object such as"),
    ({"demand": None}, "demand", None, "an object such as"),
    ({"demand": {"a b": 1}}, "demand", "a b", "the name of a resource"),
    ({"demand": {"": 1}}, "demand", "", "the name of a resource"),
    ({"demand": {"a,b": 1}}, "demand", "a,b", "the name of a resource"),
    ({"demand": {"a=b": 1}}, "demand", "a=b", "the name of a resource"),
    ({"demand": {"a[0]": 1}}, "demand", "a[0]", "the name of a resource"),
    ({"demand": {"x" * 65: 1}}, "demand", "x" * 65, "up to 64 characters"),
    ({"demand": {"core": -1}}, "demand.core", -1, "a whole number from 0 to 9007199254740991"),
    ({"demand": {"core": 0.5}}, "demand.core", 0.5, "a whole number from 0"),
    ({"demand": {"core": True}}, "demand.core", True, "a whole number from 0"),
    ({"demand": {"core": MAX_AMOUNT + 1}}, "demand.core", MAX_AMOUNT + 1, "a whole number from 0"),
    ({"per_node": 2}, "per_node", 2, "an object such as"),
    ({"per_node": {"gpu": "2"}}, "per_node.gpu", "2", "a whole number from 0"),
    ({"nodes": 0}, "nodes", 0, "at least 1 node"),
    ({"nodes": [3, 2]}, "nodes", [3, 2], "no more at least than at most"),
    ({"nodes": [1, MAX_UNITS + 1]}, "nodes", [1, MAX_UNITS + 1], "no more at least than at most"),
    ({"nodes": [1]}, "nodes", [1], "a number of nodes, or [least, most]"),
    ({"nodes": [1, 2.0]}, "nodes", [1, 2.0], "a number of nodes, or [least, most]"),
    ({"nodes": "2"}, "nodes", "2", "a number of nodes, or [least, most]"),
    ({"nodes": True}, "nodes", True, "a number of nodes, or [least, most]"),
    ({"units_per_node": 0}, "units_per_node", 0, "a whole number from 1"),
    ({"units_per_node": None}, "units_per_node", None, "a whole number from 1"),
    ({"whole_nodes": 1}, "whole_nodes", 1, "true or false"),
    ({"node_list": "n1"}, "node_list", "n1", "a list of at most 100000 names"),
    ({"node_list": ["n1", ""]}, "node_list", ["n1", ""], "a list of at most"),
    ({"node_list": ["n1", 2]}, "node_list", ["n1", 2], "a list of at most"),
    ({"node_list": ["n1", "n2", "n1"]}, "node_list", "n1", "each name once"),
    ({"exclude_nodes": {"n1": 1}}, "exclude_nodes", {"n1": 1}, "a list of at most"),
    ({"contiguous": "yes"}, "contiguous", "yes", "true or false"),
    ({"licences": ["matlab"]}, "licences", ["matlab"], "an object such as"),
    ({"licences": {"matlab": -2}}, "licences.matlab", -2, "a whole number from 0"),
    ({"io_node": ""}, "io_node", "", "the name of a storage host"),
    ({"io_node": 4}, "io_node", 4, "the name of a storage host"),
    ({"io_node": []}, "io_node", [], "or a list of such names"),
    ({"io_node": ["disk", "disk"]}, "io_node", "disk", "each name once"),
    ({"io_node": ["disk", 4]}, "io_node", ["disk", 4], "a list of at most"),
    ({"sizes": {"least": 2}}, "sizes", {"least": 2}, "an object such as"),
    ({"sizes": {"least": 1, "most": 2, "mode": 1}}, "sizes.mode", 1, "no other keys than least, most"),
    ({"sizes": {"least": 0, "most": 2}}, "sizes.least", 0, "a whole number from 1"),
    ({"sizes": {"least": 1, "most": 2, "factor": 1}}, "sizes.factor", 1, "a whole number from 2"),
    ({"sizes": {"least": 1, "most": 2, "preferred": None}}, "sizes.preferred", None, "a whole number from 1"),
    ({"sizes": {"least": 2, "most": 4}}, "sizes", {"least": 2, "most": 4}, "least <= res <= most, where res is 1"),
    ({"sizes": _sizes(kind="rigid")}, "sizes.kind", "rigid", "one of moldable, malleable, evolving"),
    ({"sizes": _sizes(kind="malleable")}, "sizes.steps", None, "at least 2 of a job that is malleable"),
    ({"sizes": _sizes(kind="evolving", steps=1)}, "sizes.steps", 1, "at least 2 of a job that is evolving"),
    (
        {"sizes": _sizes(period=15, data=1e9)},
        "sizes.kind",
        None,
        "malleable or evolving: 'period' is said, which is nothing to a job that is never resized",
    ),
    ({"sizes": _sizes(steps=0)}, "sizes.steps", 0, "a whole number from 1 to 1000000000"),
    ({"sizes": _sizes(period=-1)}, "sizes.period", -1, "seconds from 0 to 1e+09"),
    ({"sizes": _sizes(period=True)}, "sizes.period", True, "seconds from 0"),
    ({"sizes": _sizes(data="1 GB")}, "sizes.data", "1 GB", "bytes from 0 to 1e+18"),
    ({"sizes": _sizes(scalability="cubic")}, "sizes.scalability", "cubic", "linear, power:EXPONENT"),
    ({"sizes": _sizes(scalability="power:3")}, "sizes.scalability", "power:3", "power:EXPONENT (0 to 2)"),
    ({"sizes": _sizes(scalability="power:nan")}, "sizes.scalability", "power:nan", "power:EXPONENT (0 to 2)"),
    ({"sizes": _sizes(scalability="amdahl:1.1")}, "sizes.scalability", "amdahl:1.1", "amdahl:SERIAL (0 to 1)"),
    ({"sizes": _sizes(scalability=["linear"])}, "sizes.scalability", ["linear"], "linear, power"),
    ({"sizes": _sizes(scalability="table:1=5,1=4")}, "sizes.scalability", "table:1=5,1=4", "with ascending units"),
    ({"sizes": _sizes(scalability="table:1=5,4=0")}, "sizes.scalability", "table:1=5,4=0", "positive seconds"),
    ({"sizes": _sizes(scalability="table:1.5=5,4=2")}, "sizes.scalability", "table:1.5=5,4=2", "ascending units"),
    ({"sizes": _sizes(scalability="table:")}, "sizes.scalability", "table:", "table:UNITS=SECONDS"),
    (
        {"sizes": _sizes(scalability="table:1=5,3=2")},
        "sizes.scalability",
        "table:1=5,3=2",
        "from at most 1 to at least 4",
    ),
    ({"sizes": _sizes(asks={"step": 1})}, "sizes.asks", {"step": 1}, "a list of at most"),
    ({"sizes": _sizes(asks=[{"step": 1}])}, "sizes.asks[0]", {"step": 1}, "an object such as"),
    ({"sizes": _sizes(asks=[{"step": 1, "least": 0}])}, "sizes.asks[0].least", 0, "a whole number from 1"),
    ({"sizes": _sizes(asks=[{"step": 1, "least": 5}])}, "sizes.asks[0].least", 5, "at most 4, the job's most"),
    ({"sizes": _sizes(asks=[{"step": 1, "least": 9}])}, "sizes.asks[0].least", 9, "at most 4"),
    ({"sizes": _sizes(asks=[{"step": -1, "least": 1}])}, "sizes.asks[0].step", -1, "a whole number from 0"),
    (
        {"sizes": _sizes(asks=[{"step": 1, "least": 3, "most": 2}])},
        "sizes.asks[0]",
        {"step": 1, "least": 3, "most": 2},
        "least <= most",
    ),
    (
        {"sizes": _sizes(asks=[{"step": 1, "least": 3}, {"step": 1, "most": 4}])},
        "sizes.asks[1].step",
        1,
        "more than 1, the step before",
    ),
    ({"sizes": {"least": 4, "most": 2}}, "sizes", {"least": 4, "most": 2}, "least <= preferred <= most"),
    (
        {"sizes": {"least": 1, "most": 2, "preferred": 3}},
        "sizes",
        {"least": 1, "most": 2, "preferred": 3},
        "least <= preferred <= most",
    ),
    ({"dependencies": "a"}, "dependencies", "a", "a list of at most"),
    ({"dependencies": ["a", "a"]}, "dependencies", "a", "each name once"),
    ({"dependencies": ["a", {"job": "a"}]}, "dependencies", ("a", "afterok"), "each one once"),
    ({"dependencies": [{"job": "a", "kind": "before"}]}, "dependencies.kind", "before", "one of afterok, afterany"),
    ({"dependencies": [{"kind": "after"}]}, "dependencies.job", "", "the id of a job"),
    ({"dependencies": [{"job": "a", "when": 1}]}, "dependencies", {"job": "a", "when": 1}, "the id of a job, or"),
    ({"dependencies": [{"job": "a", "delay": -1}]}, "dependencies.delay", -1, "a number of seconds from 0"),
    ({"dependencies": [{"kind": "singleton"}]}, "dependencies", "singleton", "the field 'name' beside it"),
    (
        {"name": "n", "dependencies": [{"kind": "singleton", "job": "a"}]},
        "dependencies",
        {"kind": "singleton", "job": "a"},
        "without anything else",
    ),
]


@pytest.mark.parametrize(
    ("fields", "field", "found", "expected"), WRONG, ids=[json.dumps(case[0])[:60] for case in WRONG]
)
def test_a_wrong_field_is_refused_with_what_was_found_and_expected(
    fields: dict[str, Any], field: str, found: Any, expected: str
) -> None:
    with pytest.raises(FieldError) as caught:
        read_request(1, fields)
    assert caught.value.field == field
    assert caught.value.found == found
    assert type(caught.value.found) is type(found)
    assert expected in caught.value.expected


def test_every_field_is_tried() -> None:
    attributes = {case[2] for case in READ}
    assert attributes | {"units", "plain", "allowed", "choices", "power"} == set(Request.__struct_fields__)
    assert {name.partition(".")[0] for _, name, _, _ in WRONG} == {case[0] for case in READ}


def test_lists_are_no_longer_than_allowed() -> None:
    names = [str(number) for number in range(MAX_LISTED + 1)]
    assert len(read_request(1, {"node_list": names[1:]}).named) == MAX_LISTED
    with pytest.raises(FieldError):
        read_request(1, {"node_list": names})


@pytest.mark.parametrize("wrong", [0, -1, 1.0, True, "1", None, MAX_UNITS + 1])
def test_wrong_numbers_of_units(wrong: Any) -> None:
    with pytest.raises(FieldError) as caught:
        read_units(wrong)
    assert (caught.value.field, caught.value.found) == ("res", wrong)
    assert read_units(MAX_UNITS) == MAX_UNITS


def test_users_and_parents() -> None:
    assert (read_user(12), read_user("ann"), read_parent("w0!1")) == ("12", "ann", "w0!1")
    for wrong in (None, True, 1.5, ["x"]):
        with pytest.raises(FieldError, match="user"):
            read_user(wrong)
    for nothing in (None, "", 3):
        with pytest.raises(FieldError, match="parent"):
            read_parent(nothing)


def test_whole_nodes_restrict_only_what_would_share() -> None:
    assert Request(whole_nodes=True).plain
    assert not Request(whole_nodes=True, per_unit=amounts({"core": 1})).plain


@pytest.mark.parametrize("name", Request.__struct_fields__)
def test_a_request_never_changes(name: str) -> None:
    with pytest.raises(AttributeError, match="immutable"):
        setattr(Request(), name, getattr(Request(), name))


def test_requests_are_equal_when_they_ask_alike() -> None:
    one = Request(units=2, per_unit=amounts({"core": 1, "gpu": 2}), licences=amounts({"matlab": 1}))
    other = Request(units=2, per_unit=amounts({"gpu": 2, "core": 1}), licences=amounts({"matlab": 1}))
    assert one == other
    assert hash(one) == hash(other)
    assert one.demand == {"core": 1, "gpu": 2}
    assert Request().demand is None
    assert Request(per_unit=()).demand == {}
    assert Request() != Request(per_unit=())
    for field, value, _, _, _ in READ:
        assert read_request(2, {field: value}) != Request(units=2)
        assert read_request(2, {field: value}) == read_request(2, {field: value})
        assert hash(read_request(2, {field: value})) == hash(read_request(2, {field: value}))


def test_what_is_usual_is_one_object() -> None:
    assert read_request(3, {}) is read_request(3, {"color": "red"})
    assert read_request(3, {"demand": {"core": 1, "gpu": 2}}) is read_request(3, {"demand": {"gpu": 2, "core": 1}})


def some_fields() -> st.SearchStrategy[dict[str, Any]]:
    """Any number of the fields above, one value each, a user, a parent and a field of the user's own."""
    by_name: dict[str, list[Any]] = {"user": ["ann", 7], "parent": ["w0!0"], "color": ["red", None]}
    for field, value, _, _, _ in READ:
        # Whatever the number of units, it is among the sizes.
        wide = {**value, "least": 1, "most": MAX_UNITS} if field == "sizes" else value
        by_name.setdefault(field, []).append(wide)
    return st.fixed_dictionaries({}, optional={name: st.sampled_from(found) for name, found in by_name.items()})


def same(one: Job, other: Job) -> bool:
    return all(getattr(one, name) == getattr(other, name) for name in Job.__struct_fields__)


@given(some_fields(), st.integers(1, MAX_UNITS), st.sampled_from([-1, 60.5]))
def test_a_job_that_was_read_is_written_as_it_was(fields: dict[str, Any], units: int, walltime: float) -> None:
    own = {"id": "w0!1", "subtime": 3, "res": units, "profile": "p"} | ({"walltime": walltime} if walltime > 0 else {})
    job = v4.read_job({**fields, **own}, "w0!1")
    assert job.extra == fields
    assert v4.write_job(job) == {**fields, **own}
    assert same(v4.read_job(v4.write_job(job), "w0!1"), job)
    told = JobData(
        resource_request=units,
        walltime=None if walltime < 0 else walltime,
        extra_data=json.dumps(fields),
        profile_id="w0!p",
    )
    five = v5.read_job(told, "w0!1", 3.0)
    assert same(five, job), "both protocols read alike"
    assert same(v5.read_job(msgspec.convert(v5.write_job(five), JobData), "w0!1", 3.0), five)


@given(some_fields(), st.integers(1, 99))
def test_a_job_that_a_dispatcher_made_says_all_that_its_record_knows(fields: dict[str, Any], units: int) -> None:
    user, parent = str(fields.get("user", "")), fields.get("parent", "")
    made = Job(id="w0!1", request=read_request(units, fields), profile="p", user=user, parent=parent)
    for again in (
        v4.read_job(v4.write_job(made), "w0!1"),
        v5.read_job(msgspec.convert(v5.write_job(made), JobData), "w0!1", 0.0),
    ):
        assert (again.request, again.user, again.parent, again.walltime) == (made.request, user, parent, math.inf)


ARRAYS: list[tuple[Any, str, Any, str]] = [
    (4, "array", 4, "an object such as"),
    ({"id": "7"}, "array", {"id": "7"}, "an object such as"),
    ({"id": "7", "index": 1, "of": 2}, "array", {"id": "7", "index": 1, "of": 2}, "an object such as"),
    ({"id": "", "index": 1}, "array.id", "", "a text or a whole number"),
    ({"id": "7", "index": -1}, "array.index", -1, "a whole number from 0"),
    ({"id": "7", "index": True}, "array.index", True, "a whole number from 0"),
    ({"id": "7", "index": 0, "limit": 0}, "array.limit", 0, "a whole number from 1"),
]


@pytest.mark.parametrize(("value", "field", "found", "expected"), ARRAYS)
def test_a_wrong_array_is_refused_at_the_door(value: Any, field: str, found: Any, expected: str) -> None:
    with pytest.raises(FieldError) as refusal:
        read_fields(1, {"array": value})
    assert (refusal.value.field, refusal.value.found) == (field, found)
    assert expected in refusal.value.expected


def test_an_array_says_which_task_a_job_is() -> None:
    assert read_array({"id": 12, "index": 0}) == Array("12", 0, 0)
    assert array_of(Job(id="w0!1", request=Request(), extra={"array": {"id": "a", "index": 3, "limit": 2}})) == Array(
        "a", 3, 2
    )
    assert array_of(Job(id="w0!1", request=Request())) is None
