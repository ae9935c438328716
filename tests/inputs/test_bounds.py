"""What is read from files and frames is bounded in memory, whatever a stranger wrote."""

import json
import lzma
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from batdispatch.batsim import bounds, protocol
from batdispatch.batsim.bounds import MAX_DIGITS, MAX_VALUES, check_bounds, values_in
from batdispatch.batsim.v5.extra import read_extra
from batdispatch.core.errors import BatdispatchError, FieldError, InputError
from batdispatch.engines.external import read_external_events
from batdispatch.inputs.workloads import read_workload
from batdispatch.links.replay import read_recording

HUGE = "9" * (MAX_DIGITS + 1)
JOB = '{"id":"a","subtime":0,"res":1,"profile":"d"}'
PROFILES = '{"d":{"type":"delay","delay":1}}'


@pytest.mark.parametrize("digits", [1, 17, 20, MAX_DIGITS - 1, MAX_DIGITS])
@pytest.mark.parametrize("form", ["%s", "-%s", '{"a":[%s]}', "%s.5"])
def test_numbers_that_a_float_holds_are_accepted(digits: int, form: str) -> None:
    check_bounds((form % ("9" * digits)).encode())
    assert float("9" * digits) < float("inf")


@pytest.mark.parametrize("form", ["%s", "-%s", '{"a":[%s]}', "%s.5", "%s0000", '["\\"", %s]', '{"\\\\":%s}'])
def test_numbers_that_no_float_may_hold_are_refused(form: str) -> None:
    with pytest.raises(
        InputError, match=r"here, there: found a number of \d+ digits \(byte \d+\), expected one below 1.8e308"
    ):
        check_bounds((form % HUGE).encode(), source="here", place="there")


@pytest.mark.parametrize("text", [f"{1.7e308:.6f}", "1" * 309, "0." + "3" * 400, HUGE + "e-9", "-" + "1" * 309 + ".5"])
def test_long_numbers_that_a_float_holds_are_accepted(text: str) -> None:
    """What was read as 1e308 is printed with 309 digits, and must be read again."""
    check_bounds(f'{{"now":{text}}}'.encode())


@pytest.mark.parametrize("form", ['"%s"', '{"%s":1}', '"\\"%s"', '"a%sb"', '["\\\\", "%s"]'])
def test_digits_in_a_text_are_no_number(form: str) -> None:
    check_bounds((form % HUGE).encode())


@pytest.mark.parametrize("before", [(1 << 20) - 400, (1 << 20) - 1, 1 << 20, 3 << 20])
def test_a_long_number_is_found_wherever_it_stands(before: int) -> None:
    with pytest.raises(InputError, match="309 digits"):
        check_bounds(b'["' + b"x" * before + b'",' + HUGE.encode() + b"]")


@pytest.mark.parametrize("value", [1, [], {}, [1], [[]], {"a": 1}, {"a": [{}, {"b": 2}]}, [1, 2, "a,b"]])
def test_values_are_counted_from_above(value: Any) -> None:
    def count(part: Any) -> int:
        inner = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
        return 1 + sum(map(count, inner))

    assert values_in(json.dumps(value).encode()) >= count(value)


def peak_of(program: str, *arguments: str) -> tuple[int, str]:
    """Return the peak memory of a Python program in bytes, beyond that of its imports, and what it printed."""
    wrapped = (
        "import resource, sys\nfrom pathlib import Path\nfrom batdispatch.core.errors import InputError\n"
        "from batdispatch.inputs.workloads import read_workload\n"
        "from batdispatch.engines.external import read_external_events\n"
        "from batdispatch.links.replay import read_recording\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\nbefore = peak()\n"
        f"try:\n    {program}\nexcept InputError as problem:\n    print(problem)\n"
        "print((peak() - before) * 1024)\n"
    )
    done = subprocess.run([sys.executable, "-c", wrapped, *arguments], capture_output=True, text=True, check=True)
    *said, used = done.stdout.splitlines()
    return int(used), "\n".join(said)


def packed(path: Path, *parts: tuple[bytes, int]) -> Path:
    """Write repeated parts, compressed."""
    with lzma.open(path, "wb", preset=0) as file:
        for part, times in parts:
            for _ in range(times // 100_000):
                file.write(part * 100_000)
            file.write(part * (times % 100_000))
    return path


MANY = 20_000_000


@pytest.mark.parametrize(
    "parts",
    [
        ((b'{"profiles":{},"jobs":[{}', 1), (b",{}", MANY), (b"]}", 1)),
        ((b'{"jobs":[],"profiles":{"a":[[]', 1), (b",[]", MANY), (b"]}}", 1)),
        ((b'{"jobs":[],"profiles":{},"x":[0', 1), (b",0", MANY), (b"]}", 1)),
    ],
)
def test_sixty_megabytes_of_nothing_do_not_fill_the_memory(
    parts: tuple[tuple[bytes, int], ...], tmp_path: Path
) -> None:
    path = packed(tmp_path / "w.json.xz", *parts)
    assert path.stat().st_size < 20_000
    used, said = peak_of("read_workload(sys.argv[1])", str(path))
    assert "values, at most 16,777,216 are accepted" in said
    # Twice the content: it is gathered from pieces.
    assert used < 2.5 * sum(len(part) * times for part, times in parts)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (((b'{"type":"x","timestamp":1,"y":[{}', 1), (b",{}", MANY), (b"]}", 1)), "line 1: longer than 65,536 bytes"),
        (((b'{"type":"x","timestamp":1,"y":[%s0]}\n' % (b"0," * 30_000), 600),), "more than 16,777,216 values"),
    ],
)
def test_external_events_are_bounded(parts: tuple[tuple[bytes, int], ...], expected: str, tmp_path: Path) -> None:
    path = packed(tmp_path / "e.xz", *parts)
    used, said = peak_of("read_external_events(Path(sys.argv[1]), 4)", str(path))
    assert expected in said
    assert used < 1_000_000_000


def test_the_number_of_external_events_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("batdispatch.engines.external.MAX_EVENTS", 5)
    path = tmp_path / "e"
    path.write_text('{"type":"x","timestamp":1}\n\n' * 5)
    assert len(read_external_events(path, 4)) == 5
    path.write_text('{"type":"x","timestamp":1}\n' * 6)
    with pytest.raises(InputError, match="line 6: more than 5 events, the most accepted"):
        read_external_events(path, 4)


def test_different_sets_of_hosts_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("batdispatch.engines.external.MAX_BITS", 2000)
    path = tmp_path / "e"
    line = '{{"type":"machine_unavailable","timestamp":1,"resources":"{}"}}\n'
    path.write_text("".join(line.format(host) for host in [*range(3), *range(3)] * 50))
    assert len(read_external_events(path, 1000)) == 300
    path.write_text("".join(line.format(host) for host in range(4)))
    with pytest.raises(InputError, match="line 4: holds more than 3 different sets of hosts"):
        read_external_events(path, 1000)


def test_a_line_of_a_recording_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"dir":"batsim->sched","raw":[{}' + b",{}" * MANY + b"]}\n")
    used, said = peak_of("list(read_recording(Path(sys.argv[1])))", str(path))
    assert "line 1" in said
    assert "values, at most" in said
    assert used < 250_000_000


def test_a_frame_of_many_values_is_refused_before_it_is_read() -> None:
    frame = (
        b'{"now":0,"events":[{"timestamp":0,"type":"NOTIFY","data":{"type":"x","y":[0' + b",0" * MAX_VALUES + b"]}}]}"
    )
    for read in (protocol("4").decode_message, protocol("5").decode_reply):
        with pytest.raises(InputError, match="values, at most 16,777,216 are accepted"):
            read(frame)


# ---------------------------------------------------------------------- numbers of 309 digits, in every field


def numbers_in(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return where the numbers of a JSON value stand."""
    if isinstance(value, dict):
        return [where for name, part in value.items() for where in numbers_in(part, (*path, name))]
    if isinstance(value, list):
        return [where for index, part in enumerate(value[:3]) for where in numbers_in(part, (*path, index))]
    return [path] if type(value) in (int, float) else []


def replaced(value: Any, path: tuple[Any, ...]) -> str:
    """Return JSON with one number replaced by one of 309 digits."""
    copy = json.loads(json.dumps(value))
    part = copy
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = "@"
    return json.dumps(copy).replace('"@"', HUGE)


RECORDINGS = Path(__file__).parents[1] / "conformance" / "recordings"
NAMES = {"4": ("delay", "kill", "dyn_ack", "pfs"), "5": ("*",)}


@pytest.mark.parametrize("version", ["4", "5"])
def test_a_number_of_309_digits_in_any_field_of_a_frame_is_an_input_error(version: str) -> None:
    tried: set[tuple[str, ...]] = set()
    wire = protocol(version)
    for name in NAMES[version]:
        for path in sorted((RECORDINGS / f"batsim{version}").glob(f"{name}/exchange.jsonl")):
            for exchange in read_recording(path, wire):
                for read, frame in (
                    (wire.decode_message, exchange.message),
                    (wire.decode_reply, exchange.reply or b""),
                ):
                    if not frame.startswith(b"{"):
                        continue
                    value = json.loads(frame.rstrip(b"\0"))
                    for where in numbers_in(value):
                        kinds = tuple(str(step) for step in where if not isinstance(step, int))
                        if kinds in tried:
                            continue
                        tried.add(kinds)
                        with pytest.raises(InputError, match=r"found a number of 309 digits"):
                            read(replaced(value, where).encode())
    assert len(tried) > 15


def test_neither_does_extra_data_hide_one() -> None:
    with pytest.raises(FieldError) as caught:
        read_extra(f'{{"cores": {HUGE}}}', "event.job.extra_data")
    assert "309 digits" in caught.value.expected


def test_a_number_of_309_digits_in_any_field_of_a_workload_is_an_input_error(tmp_path: Path) -> None:
    path = tmp_path / "w.json"
    profiles = {
        "d": {"type": "delay", "delay": 5, "ret": 1},
        "p": {"type": "parallel", "cpu": [1], "com": [0]},
        "c": {"type": "composed", "seq": ["d"], "repeat": 2},
    }
    job = {
        "id": 1,
        "subtime": 0,
        "res": 1,
        "walltime": 9,
        "profile": "d",
        "user": 3,
        "demand": {"core": 2},
        "x": {"y": 4},
    }
    workload = {"nb_res": 4, "jobs": [job], "profiles": profiles, "seed": 7}
    places = numbers_in(workload)
    assert len(places) == 14
    for where in places:
        path.write_text(replaced(workload, where))
        with pytest.raises(InputError, match=rf"{path}: found a number of 309 digits"):
            read_workload(path)
    path.write_text(json.dumps(workload))
    read_workload(path)


@pytest.mark.parametrize("field", ["timestamp", "x"])
def test_a_number_of_309_digits_in_an_event_is_an_input_error(field: str, tmp_path: Path) -> None:
    path = tmp_path / "events"
    path.write_text(replaced({"type": "t", "timestamp": 3, "x": 1}, (field,)))
    with pytest.raises(InputError, match=r"line 1: found a number of 309 digits"):
        read_external_events(path, 4)


@pytest.mark.parametrize("time", ["1e300", "1e12", "-1", '"5"', "true", "null"])
def test_a_moment_that_no_clock_reaches_is_refused(time: str, tmp_path: Path) -> None:
    path = tmp_path / "w.json"
    path.write_text(f'{{"jobs":[{{"id":1,"subtime":{time},"res":1,"profile":"d"}}],"profiles":{PROFILES}}}')
    with pytest.raises(
        InputError, match=r"job '1': 'subtime' is .*, expected a number of seconds from 0 to 1.37439e\+11"
    ):
        read_workload(path)
    path.write_text(f'{{"type":"x","timestamp":{time}}}')
    with pytest.raises(
        InputError, match=r"line 1: field 'timestamp' must be a number of seconds from 0 to 1.37439e\+11"
    ):
        read_external_events(path, 4)
    frames: list[tuple[Callable[[bytes], object], str]] = [
        (
            protocol("4").decode_message,
            (
                '{"now":5e9,"events":[{"timestamp":1,"type":"JOB_SUBMITTED","data":{"job_id":"w0!1","job":'
                '{"id":"w0!1","subtime":%s,"res":1,"profile":"d"}}}]}'
            ),
        ),
        (
            protocol("5").decode_message,
            (
                '{"now":5e9,"events":[{"timestamp":1,"event_type":"JobSubmittedEvent","event":{"job_id":"w0!1",'
                '"submission_time":%s,"job":{"profile_id":"w0!d","resource_request":1}}}]}'
            ),
        ),
    ]
    for read, frame in frames:
        with pytest.raises(BatdispatchError, match=r"submission_time|subtime"):
            read((frame % time).encode())


# ---------------------------------------------------------------------- what is said twice


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f'{{"jobs":[],"profiles":{PROFILES},"jobs":[{JOB}]}}', "workload: 'jobs' is there twice"),
        (f'{{"jobs":[{JOB}],"profiles":{PROFILES},"jobs":[]}}', "workload: 'jobs' is there twice"),
        (f'{{"jobs":[{JOB}],"profiles":{PROFILES},"jobs":[{JOB}]}}', "workload: 'jobs' is there twice"),
        (f'{{"jobs":[{JOB}],"profiles":{{}}, "profiles" : {PROFILES}}}', "workload: 'profiles' is there twice"),
        (f'{{"nb_res":1,"nb_res":12,"jobs":[{JOB}],"profiles":{PROFILES}}}', "workload: 'nb_res' is there twice"),
        (f'{{"nb_res":12,"nb_res":1,"jobs":[{JOB}],"profiles":{PROFILES}}}', "workload: 'nb_res' is there twice"),
        (f'{{"jobs":[{JOB}],"profiles":{PROFILES},"\\u006aobs":[]}}', "workload: 'jobs' is there twice"),
        (f'{{"jobs":[{JOB[:-1]},"res":4}}],"profiles":{PROFILES}}}', "job number 1: 'res' is there twice"),
        (f'{{"jobs":[{JOB[:-1]},"re\\u0073":4}}],"profiles":{PROFILES}}}', "job number 1: 'res' is there twice"),
        (
            f'{{"jobs":[{JOB[:-1]},"demand":{{"core":1,"core":2}}}}],"profiles":{PROFILES}}}',
            "job number 1: 'core' is there twice",
        ),
        (f'{{"jobs":[{JOB[:-1]},"x":[{{"y":1,"y":2}}]}}],"profiles":{PROFILES}}}', "job number 1: 'y' is there twice"),
    ],
)
def test_what_is_there_twice_is_refused(text: str, expected: str, tmp_path: Path) -> None:
    path = tmp_path / "w.json"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_workload(path)
    assert str(caught.value) == f"{path}, {expected}"


def test_what_only_looks_alike_is_read(tmp_path: Path) -> None:
    path = tmp_path / "w.json"
    more = '"note":"a:b, \\"c\\":1","demand":{"core":1},"x":[{"core":1},{"core":{"core":":"}}]'
    path.write_text(
        f'\ufeff {{ "jobs" : [{JOB[:-1]},{more}}}] , "jobs2":"\\"jobs\\":",\n"profiles":{PROFILES} ,'
        '"a":{"jobs":1} }\n'
    )
    assert len(read_workload(path).jobs) == 1


@pytest.mark.parametrize(
    ("version", "frame"),
    [
        ("4", b'{"now": 1e19, "events": []}'),
        ("5", b'{"now": 1e19, "events": []}'),
    ],
)
def test_a_reply_of_a_moment_that_no_clock_reaches_is_refused(version: str, frame: bytes) -> None:
    with pytest.raises(InputError, match="the reply is of 1e"):
        protocol(version).decode_reply(frame)
    with pytest.raises(InputError, match="the message is of 1e"):
        protocol(version).decode_message(frame)


def test_a_long_workload_may_hold_more_values_but_not_short_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "MAX_VALUES", 10)
    jobs = ",".join(JOB.replace('"a"', f'"job{number}"') for number in range(20))
    path = tmp_path / "w.json"
    path.write_text(f'{{"nb_res":4,"jobs":[{jobs}],"profiles":{PROFILES}}}')
    assert values_in(path.read_bytes()) > 10
    assert len(read_workload(path).jobs) == 20
    path.write_text(f'{{"nb_res":4,"x":[{",".join("0" * 200)}],"jobs":[{jobs}],"profiles":{PROFILES}}}')
    with pytest.raises(InputError, match="values, at most"):
        read_workload(path)
