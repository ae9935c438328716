"""What users write in files and options, at random: the command answers or refuses, and never calls it a bug of ours.

Every example goes through the command's entry, in this process.
"""

import datetime
import json
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from batdispatch.core.line import registry
from batdispatch.core.line.dispatcher import find
from batdispatch.inputs.platforms import generate
from command_line import call

#: So many of each kind in the suite; more, when they are asked for.
EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "25"))
RELAXED = settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.function_scoped_fixture])
JOBS = [
    {"id": name, "subtime": time, "res": units, "profile": "p", "walltime": 20, "partition": "batch", "user": "ada"}
    for name, time, units in (("a", 0, 2), ("b", 1, 4), ("c", 1, 1))
]
WORKLOAD = {"nb_res": 4, "jobs": JOBS, "profiles": {"p": {"type": "delay", "delay": 10}}}
PLATFORM = generate.flat(4).decode()
RUN = ["run", "--platform", "p.xml", "--workload", "w.json", "--out", "out", "--no-record", "--dispatcher"]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("w.json").write_text(json.dumps(WORKLOAD))
    Path("p.xml").write_text(PLATFORM)


def status_of(*words: str) -> int:
    """Call the command, and return its exit status once it is sure that nobody is told of a bug."""
    status, _, message = call(*words)
    assert "this is a bug" not in message, message
    assert "Traceback" not in message, message
    assert len(message) < 3000, f"{len(message):,} characters: {message[:500]}"
    assert status in (0, 1, 2), message
    assert status == 0 or message
    return status


def toml(value: Any) -> str:
    """Return a value as TOML writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {toml(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)


def yaml_text(value: Any) -> str:
    """Return a value as YAML may write it, strings as they are."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)}: {yaml_text(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(yaml_text, value)) + "]"
    return json.dumps(value) if isinstance(value, str) else str(value)


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30)
NUMBERS = st.one_of(
    st.integers(),
    st.floats(),
    st.sampled_from(
        [0, -1, 1, 1e9, 1e15, 1e18, 1e19, 1e20, 1e300, 5e-324, -0.0, 2**31, 2**53, 2**63, 2**64, 10**30, 10**400]
    ),
)
WORDS = st.sampled_from(
    [
        *("", " ", "none", "nan", "inf", "-inf", "1e500", "1e19", "1-00:00:00", "9999999-99"),
        *("n[0-3]", "n[0-", "n[3-0]", "n[0-99999999]", "batch", "ada", "true"),
        *("é\u202e", "=1+1", "a,b", "%s", "x" * 5000, "9" * 5000, "٣"),
    ]
)
#: Any value of a field.
ANYTHING = st.one_of(
    NUMBERS,
    WORDS,
    TEXTS,
    st.booleans(),
    st.lists(st.one_of(WORDS, NUMBERS), max_size=3),
    st.dictionaries(TEXTS, NUMBERS, max_size=2),
    st.sampled_from([nested(50), datetime.date(2026, 1, 1), datetime.datetime(2026, 1, 1, 1, 1)]),
)
QUEUES = {
    "partitions": ("name", "hosts", "default", "max_time", "max_nodes", "priority"),
    "qos": ("name", "default", "max_time", "max_nodes", "priority"),
    "reservations": (
        *("name", "start", "end", "duration", "hosts", "nodes", "users", "accounts", "partitions"),
        *("start", "duration"),
    ),
}
SENSIBLE = {
    "name": "batch",
    "hosts": ["n[0-3]"],
    "default": True,
    "max_time": 100,
    "max_nodes": 4,
    "priority": 1,
    "start": 30,
    "end": 40,
    "duration": 10,
    "nodes": 2,
    "users": ["ada"],
    "accounts": ["x"],
    "partitions": ["batch"],
}


@st.composite
def queues(draw: st.DrawFn) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for kind, fields in QUEUES.items():
        names = draw(st.lists(st.sampled_from(fields), unique=True, max_size=6))
        wild = draw(st.sets(st.sampled_from(names), max_size=2)) if names else set()
        entry = {"name": "batch"} | {name: draw(ANYTHING) if name in wild else SENSIBLE[name] for name in names}
        if names:
            found[kind] = draw(st.sampled_from([[entry], {"batch": entry}, entry, [entry, entry]]))
    return found


@RELAXED
@given(queues())
def test_queues(value: dict[str, Any]) -> None:
    Path("q.toml").write_text("".join(f"{key} = {toml(one)}\n" for key, one in value.items()))
    if status_of("platform", "queues", "p.xml", "q.toml", "-o", "site.xml") == 0:
        status_of(*RUN, "easy", "--platform", "site.xml")


NO_SECONDS: list[Any] = [True, "1e500", math.inf, math.nan, 10**400, [1], {}, datetime.date(2026, 1, 1)]


@pytest.mark.parametrize(
    "fields",
    [
        *({"duration": value} for value in NO_SECONDS),
        *({"end": value} for value in (1e19, 1e300, 2**63)),
        {"start": "x", "duration": 10},
        {"start": True, "duration": 10},
        {"start": -math.inf, "end": 5},
    ],
    ids=str,
)
def test_reservations_that_last_no_time_are_refused(fields: dict[str, Any]) -> None:
    Path("q.toml").write_text(f"reservations = {toml([{'name': 'x', 'start': 5, **fields}])}\n")
    status = status_of("platform", "queues", "p.xml", "q.toml", "-o", "site.xml")
    assert (status or status_of(*RUN, "easy", "--platform", "site.xml")) == 2


@pytest.mark.parametrize("delay", [2e11, 1e19, 1e300])
def test_a_simulation_that_goes_on_for_centuries_is_refused(delay: float) -> None:
    jobs = [{key: value for key, value in job.items() if key != "walltime"} for job in JOBS]
    profiles = {"p": {"type": "delay", "delay": delay}}
    Path("w.json").write_text(json.dumps({"nb_res": 4, "jobs": jobs, "profiles": profiles}))
    assert status_of(*RUN, "easy", "--compiled", "never") == 1


@pytest.mark.parametrize("words", [["x" * 70_000], [*RUN, "x" * 70_000], [*RUN, "easy", "--seed", "x" * 70_000]])
def test_a_message_of_70000_characters_is_cut(words: list[str]) -> None:
    assert status_of(*words) == 2


@RELAXED
@given(st.sampled_from(sorted(QUEUES)), st.data())
def test_properties_of_a_platform(kind: str, data: st.DataObject) -> None:
    entry = {"name": "x"} | {
        name: data.draw(ANYTHING.filter(lambda one: not isinstance(one, datetime.date))) for name in QUEUES[kind][:3]
    }
    text = data.draw(st.sampled_from([json.dumps({kind: [entry]}), json.dumps({kind: entry}), "[" * 2000, "9" * 400]))
    name = data.draw(st.sampled_from(["queues", "licences", "capacity", "topology", "role", "speed", "partition", "x"]))
    value = text if name == "queues" else str(data.draw(ANYTHING))
    allowed = "".join(one for one in value if one.isprintable() and ord(one) < 0xD800)
    zone, end, rest = PLATFORM.partition('routing="Full">')
    Path("p.xml").write_text(f'{zone}{end}<prop id="{name}" value={quoteattr(allowed)}/>{rest}')
    status_of(*RUN, "easy")


def option_texts() -> Iterator[str]:
    for depth in (10, 300, 3000):
        for name in ("attempts", "resizing"):
            yield f"{name}[dispatcher=" * depth + "easy" + "]" * depth
        yield "easy[ordering=late-first" + "[ordering=late-first" * depth + "]" * depth + "]"
        yield "easy" + "[" * depth


@pytest.mark.parametrize("text", list(option_texts()), ids=lambda text: f"{text[:40]} of {len(text)}")
def test_deep_options(text: str) -> None:
    assert status_of(*RUN, text) == 2 or text.count("[") < 20


DISPATCHERS = [name for name in sorted(registry.names("batdispatch.dispatchers")) if "serve" not in name]


@RELAXED
@given(st.sampled_from(DISPATCHERS), st.data())
def test_options(dispatcher: str, data: st.DataObject) -> None:
    fields = find(dispatcher).options_type.__struct_fields__
    names = data.draw(st.lists(st.sampled_from(fields), unique=True, min_size=1, max_size=2)) if fields else ["x"]
    given_options = [f"{name}={data.draw(st.one_of(NUMBERS, WORDS, TEXTS))}" for name in names]
    words = [word for option in given_options for word in ("--set", option)]
    status_of(*RUN, dispatcher, *words)


CAMPAIGN = {
    "name": "grid",
    "platforms": {"flat": "p.xml", "made": {"generate": "flat", "options": {"hosts": ["4", "8"]}}},
    "workloads": {
        "w": "w.json",
        "l": {"generate": "lublin", "options": {"jobs": "5", "hosts": "4"}, "seeds": "1-2"},
    },
    "dispatchers": {"EASY": "easy", "F": {"use": "filler", "options": {"ordering": ["sjf", "fcfs"]}}},
    "settings": {"decision-time": "0.1", "audit": "true"},
    "parts": {"one": {"platforms": "flat", "workloads": "w", "seeds": "1-3"}, "two": {}},
    "quick": {"parts": ["one"]},
}


def places(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield path
    if isinstance(value, dict):
        for key, one in value.items():
            yield from places(one, (*path, key))


def put(value: dict[str, Any], path: tuple[str, ...], new: Any) -> dict[str, Any]:
    """Return a table in which another value stands at a place."""
    if len(path) == 1:
        return {**value, path[0]: new}
    return {**value, path[0]: put(value[path[0]], path[1:], new)}


@RELAXED
@given(st.sampled_from([path for path in places(CAMPAIGN) if path]), ANYTHING, st.booleans())
def test_campaigns(path: tuple[str, ...], new: Any, quick: bool) -> None:
    Path("c.yaml").write_text(yaml_text(put(CAMPAIGN, path, new)))
    status_of("campaign", "c.yaml", "--dry-run", "--out", "out", *(["--quick"] if quick else []))
