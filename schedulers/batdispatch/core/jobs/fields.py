"""The fields of a job's JSON object that say what it asks for: read and written here for every format and protocol."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, get_args

import msgspec

from batdispatch.core.errors import FieldError
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import MAX_AMOUNT, Amounts, Dependency, Kind, Request
from batdispatch.core.jobs.sizes import MAX_UNITS, read_sizes, write_sizes

#: Latest moment accepted, in seconds (4,355 years): beyond it, floats are further apart than 15 us.
MAX_MOMENT = 2.0**37
#: Most names or ids in a list of a job.
MAX_LISTED = 100_000

_RESOURCE = re.compile(r"[^\s,=\[\]]{1,64}")


def read_units(value: Any, field: str = "res") -> int:
    """Return a number of units.

    Raises:
        FieldError: it is no whole number from 1 to `MAX_UNITS`.
    """
    if type(value) is not int or not 1 <= value <= MAX_UNITS:
        raise FieldError(field, value, f"a whole number from 1 to {MAX_UNITS}")
    return value


def read_moment(value: Any, field: str = "subtime") -> float:
    """Return a moment of simulated time, in seconds.

    Raises:
        FieldError: it is no number from 0 to `MAX_MOMENT`.
    """
    if type(value) not in (float, int) or not 0 <= value <= MAX_MOMENT:
        raise FieldError(field, value, f"a number of seconds from 0 to {MAX_MOMENT:g}")
    # -0.0, which would be written with its sign, becomes 0.0.
    return float(value) + 0.0


def read_user(value: Any, field: str = "user") -> str:
    """Return the name of a job's user.

    Raises:
        FieldError: it is neither a text nor a whole number.
    """
    if type(value) not in (str, int):
        raise FieldError(field, value, "a text or a whole number")
    return str(value)


def read_parent(value: Any, field: str = "parent") -> str:
    """Return the id of the job that a job continues.

    Raises:
        FieldError: it is no text.
    """
    if type(value) is not str or not value:
        raise FieldError(field, value, "the id of a job")
    return value


class Array(msgspec.Struct, frozen=True):
    """Which task of which array a job is; in its JSON object ``{"id": "123", "index": 4, "limit": 10}``."""

    id: str
    index: int
    #: How many tasks of the array may run at a time; 0: any number.
    limit: int = 0


def read_array(value: Any, field: str = "array") -> Array:
    """Return which task of an array a job is.

    Raises:
        FieldError: it is no object with a text, a whole number from 0, and perhaps another one from 1.
    """
    if type(value) is not dict or not {"id", "index"} <= value.keys() <= {"id", "index", "limit"}:
        raise FieldError(field, value, 'an object such as {"id": "123", "index": 4, "limit": 10}')
    if type(value["id"]) not in (str, int) or value["id"] == "":
        raise FieldError(f"{field}.id", value["id"], "a text or a whole number")
    for name, least in (("index", 0), ("limit", 1)):
        number = value.get(name, 1)
        if type(number) is not int or not least <= number <= MAX_UNITS:
            raise FieldError(f"{field}.{name}", number, f"a whole number from {least} to {MAX_UNITS}")
    return Array(str(value["id"]), value["index"], value.get("limit", 0))


def array_of(job: Job) -> Array | None:
    """Return which task of which array a job is; None: of none.

    Raises:
        FieldError: its field `array` is wrong, as it may be in a job that was not read from a file or a message.
    """
    return read_array(job.extra["array"]) if "array" in job.extra else None


def read_fields(units: int, fields: Mapping[str, Any]) -> tuple[Request, str, str]:
    """Return what a job asks for, its user and its parent; the last two are empty where nothing is said.

    Args:
        units: number of units, from `read_units`.
        fields: the job's object.

    Raises:
        FieldError: a field is wrong; it is named without what it stands in.
    """
    user = read_user(fields["user"]) if "user" in fields else ""
    if KNOWN_FIELDS.isdisjoint(fields):
        return _plain(units, None), user, ""
    if "array" in fields:
        read_array(fields["array"])
    return read_request(units, fields), user, read_parent(fields["parent"]) if "parent" in fields else ""


def read_request(units: int, fields: Mapping[str, Any]) -> Request:
    """Return what a job asks for. Jobs that ask alike share one request, as far as they ask for what is usual.

    Args:
        units: the value of ``res``, see `read_units`.
        fields: the job's object; fields that say nothing about the request are left alone.

    Raises:
        FieldError: a field is wrong; it is named without what it stands in.
    """
    if _READERS.keys().isdisjoint(fields):
        return _plain(units, None)
    said = [name for name in fields if name in _READERS]
    values = {_READERS[name][0]: _READERS[name][1](fields[name], name) for name in said}
    if said == ["demand"]:
        return _plain(units, values["per_unit"])
    if "name" not in fields and any(one.kind == "singleton" for one in values.get("dependencies", ())):
        raise FieldError(
            "dependencies", "singleton", "the field 'name' beside it: one job of a user and a name runs at a time"
        )
    sizes = values.get("sizes")
    if sizes is not None and not sizes.least <= units <= sizes.most:
        raise FieldError("sizes", fields["sizes"], f"least <= res <= most, where res is {units}")
    return Request(units=units, **values)


@lru_cache(maxsize=4096)
def _plain(units: int, per_unit: Amounts | None) -> Request:
    return Request(units=units, per_unit=per_unit)


def plain_request(units: int) -> Request:
    """Return the request of jobs that ask for a number of units and nothing else; equal ones are one object."""
    return _plain(units, None)


def is_whole_hosts(request: Request) -> bool:
    """Return whether a request asks for a number of whole hosts and nothing else."""
    return request == _plain(request.units, None)


def write_fields(job: Job) -> dict[str, Any]:
    """Return the job's own fields beyond Batsim's, as they were written, with those that its record adds.

    A job that was read is written as it was; one that was made by a dispatcher says everything that its record knows.
    """
    fields = dict(job.extra)
    request = job.request
    if request != _plain(request.units, None):
        for name, (attribute, _, write) in _READERS.items():
            value = getattr(request, attribute)
            if value or (name == "demand" and value is not None):
                fields.setdefault(name, write(value))
    if job.user:
        fields.setdefault("user", job.user)
    if job.parent:
        fields.setdefault("parent", job.parent)
    return fields


# ---------------------------------------------------------------------- one reader for each field


def _amounts(value: Any, field: str) -> Amounts:
    if type(value) is not dict:
        raise FieldError(field, value, 'an object such as {"core": 4, "gpu": 1}')
    for name, amount in value.items():
        if not _RESOURCE.fullmatch(name):
            raise FieldError(field, name, "the name of a resource, of up to 64 characters without spaces, comma and =")
        if type(amount) is not int or not 0 <= amount <= MAX_AMOUNT:
            raise FieldError(f"{field}.{name[:40]}", amount, f"a whole number from 0 to {MAX_AMOUNT}")
    return tuple(sorted(value.items()))


def _nodes(value: Any, field: str) -> tuple[int, int]:
    pair = (value, value) if type(value) is int else value
    if type(pair) not in (list, tuple) or len(pair) != 2 or any(type(part) is not int for part in pair):
        raise FieldError(field, value, "a number of nodes, or [least, most]")
    least, most = pair
    if not 1 <= least <= most <= MAX_UNITS:
        raise FieldError(field, value, f"at least 1 node, and no more at least than at most (up to {MAX_UNITS})")
    return least, most


def _flag(value: Any, field: str) -> bool:
    if type(value) is not bool:
        raise FieldError(field, value, "true or false")
    return value


def _names(value: Any, field: str) -> tuple[str, ...]:
    if type(value) is not list or len(value) > MAX_LISTED or any(type(name) is not str or not name for name in value):
        raise FieldError(field, value, f"a list of at most {MAX_LISTED} names")
    if len(set(value)) != len(value):
        twice = next(name for index, name in enumerate(value) if name in value[:index])
        raise FieldError(field, twice, "each name once")
    return tuple(value)


def _dependencies(value: Any, field: str) -> tuple[Dependency, ...]:
    if type(value) is not list or all(type(one) is str for one in value):
        return tuple(map(Dependency, _names(value, field)))
    if len(value) > MAX_LISTED:
        raise FieldError(field, f"{len(value)} entries", f"a list of at most {MAX_LISTED} entries")
    found = tuple(_dependency(one, field) for one in value)
    kinds = [(one.job, one.kind) for one in found]
    if len(set(kinds)) != len(kinds):
        raise FieldError(
            field, next(kind for index, kind in enumerate(kinds) if kind in kinds[:index]), "each one once"
        )
    return found


def _dependency(value: Any, field: str) -> Dependency:
    if type(value) is str and value:
        return Dependency(value)
    if type(value) is not dict or not value.keys() <= {"job", "kind", "delay"}:
        raise FieldError(field, value, 'the id of a job, or an object such as {"job": "7", "kind": "afterany"}')
    kind, job, delay = value.get("kind", "afterok"), value.get("job", ""), value.get("delay", 0)
    if kind not in get_args(Kind):
        raise FieldError(f"{field}.kind", kind, f"one of {', '.join(get_args(Kind))}")
    if kind == "singleton" and value.keys() != {"kind"}:
        raise FieldError(field, value, '{"kind": "singleton"} without anything else')
    if kind != "singleton" and (type(job) is not str or not job):
        raise FieldError(f"{field}.job", job, "the id of a job")
    return Dependency(job, kind, read_moment(delay, f"{field}.delay"))


def write_dependencies(dependencies: tuple[Dependency, ...]) -> list[Any]:
    """Return the value of a job's field `dependencies`."""
    return [_write_dependency(one) for one in dependencies]


def _write_dependency(one: Dependency) -> Any:
    if one.kind == "singleton":
        return {"kind": one.kind}
    if one.kind == "afterok" and not one.delay:
        return one.job
    return {"job": one.job, "kind": one.kind, **({"delay": one.delay} if one.delay else {})}


def _io_nodes(value: Any, field: str) -> tuple[str, ...]:
    if type(value) is list and value:
        return _names(value, field)
    if type(value) is not str or not value:
        raise FieldError(field, value, "the name of a storage host, or a list of such names")
    return (value,)


def _write_io_nodes(names: tuple[str, ...]) -> str | list[str]:
    return names[0] if len(names) == 1 else list(names)


def _write_nodes(nodes: tuple[int, int]) -> int | list[int]:
    return nodes[0] if nodes[0] == nodes[1] else list(nodes)


#: Field -> attribute of a request, how it is read, and how it is written.
_READERS: dict[str, tuple[str, Callable[[Any, str], Any], Callable[[Any], Any]]] = {
    "demand": ("per_unit", _amounts, dict),
    "per_node": ("per_node", _amounts, dict),
    "nodes": ("nodes", _nodes, _write_nodes),
    "units_per_node": ("units_per_node", read_units, int),
    "whole_nodes": ("whole_nodes", _flag, bool),
    "node_list": ("named", _names, list),
    "exclude_nodes": ("excluded", _names, list),
    "contiguous": ("contiguous", _flag, bool),
    "licences": ("licences", _amounts, dict),
    "io_node": ("io_nodes", _io_nodes, _write_io_nodes),
    "sizes": ("sizes", read_sizes, write_sizes),
    "dependencies": ("dependencies", _dependencies, write_dependencies),
}
#: Fields that make a job more than a number of units, for nobody else's use.
KNOWN_FIELDS = frozenset((*_READERS, "parent", "array"))
