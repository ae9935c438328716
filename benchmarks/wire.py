"""Reading and writing Batsim 4's frames: this package against Python's json, alone and as pybatsim uses it.

Usage: ``python benchmarks/wire.py [--repeat N]``. A frame has 20 events and about 4 kB. Times are CPU microseconds a
frame, the best of several rounds; the ratio to json in the same run is what compares across machines. Ours include
typed validation and the objects that dispatchers work with; json only makes dicts, and pybatsim adds its Job objects
and no checks.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable

from timing import least

from batdispatch.batsim import v4
from batdispatch.core.line.messages import Message, Reply


def allocation(index: int) -> str:
    """Return one to three intervals of hosts, as first fit leaves them on a busy machine."""
    parts = [f"{index}-{index + 3}", f"{60 + index}", f"{90 + index}-{100 + index}"]
    return " ".join(parts[: 1 + index % 3])


def message() -> bytes:
    """Return ten submissions and ten completions."""
    events = []
    for index in range(20):
        job = f"w0!{1000 + index}"
        if index % 2:
            fields = {"id": job, "subtime": 100 + index, "res": 4, "profile": "delay_3600", "walltime": 7200}
            more = {"user": "user17", "queue": "batch", "comment": "weather model, member 12"}
            data = {"job_id": job, "job": {**fields, **more}}
            kind = "JOB_SUBMITTED"
        else:
            data = {"job_id": job, "job_state": "COMPLETED_SUCCESSFULLY", "return_code": 0, "alloc": allocation(index)}
            kind = "JOB_COMPLETED"
        events.append({"timestamp": 100 + index + 1e-6, "type": kind, "data": data})
    return json.dumps({"now": 200.000001, "events": events}, separators=(",", ":")).encode()


def reply() -> bytes:
    """Return twenty executions, with further keys in none of them."""
    events = [
        {"timestamp": 200.0, "type": "EXECUTE_JOB", "data": {"job_id": f"w0!{index}", "alloc": allocation(index)}}
        for index in range(20)
    ]
    return json.dumps({"now": 200.0, "events": events}).encode()


def microseconds(action: Callable[[], object], repeat: int) -> float:
    """Return the CPU time of one call: the best of seven rounds."""
    best, _ = least(lambda: [action() for _ in range(repeat)], 7)
    return best / repeat * 1e6


def pybatsim_reader(frame: bytes) -> Callable[[], object] | None:
    """Return what pybatsim does with a frame before its scheduler sees it, or None without pybatsim."""
    try:
        from batsim.batsim import Job
    except ImportError:
        return None

    def read() -> object:
        value = json.loads(frame.decode())
        return [
            Job.from_json_dict(event["data"]["job"]) for event in value["events"] if event["type"] == "JOB_SUBMITTED"
        ]

    return read


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=2000)
    repeat = parser.parse_args().repeat
    told, answered = message(), reply()
    said: Message = v4.decode_message(told)
    decided: Reply = v4.decode_reply(answered)
    told_value, answered_value = json.loads(told), json.loads(answered)
    print(f"message {len(told)} bytes, reply {len(answered)} bytes, 20 events each")
    rows: list[tuple[str, Callable[[], object] | None, Callable[[], object]]] = [
        ("read message", lambda: v4.decode_message(told), lambda: json.loads(told)),
        ("read message (pybatsim)", pybatsim_reader(told), lambda: json.loads(told)),
        ("write reply", lambda: v4.encode_reply(decided), lambda: json.dumps(answered_value)),
        ("write message", lambda: v4.encode_message(said), lambda: json.dumps(told_value)),
        ("read reply", lambda: v4.decode_reply(answered), lambda: json.loads(answered)),
    ]
    print(f"{'':26}{'us':>8}{'json us':>9}{'ratio':>7}")
    for name, ours, theirs in rows:
        if ours is not None:
            mine, json_time = microseconds(ours, repeat), microseconds(theirs, repeat)
            print(f"{name:26}{mine:8.1f}{json_time:9.1f}{mine / json_time:7.2f}")


if __name__ == "__main__":
    main()
