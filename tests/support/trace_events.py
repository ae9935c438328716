"""What the published trace event format asks of a trace: fields of each phase, nesting of slices, ends of flows.

N. Duca, D. Sinclair: Trace Event Format, 2016, sections Complete, Counter, Flow and Metadata Events; where the text
leaves something open, what Perfetto's importer does with it. It lets events stand in any order. Here they must stand so
that a reader who sorts them by time and keeps the order of equal ones, as Perfetto does, meets the slice of a flow
before the flow.
"""

from typing import Any

Event = dict[str, Any]
#: What metadata events may say, with the key of their argument and its type.
_METADATA = {
    "process_name": ("name", str),
    "process_sort_index": ("sort_index", int),
    "thread_name": ("name", str),
    "thread_sort_index": ("sort_index", int),
}
#: Fields that each phase has; those after the first four (of metadata, three) are further ones.
_FIELDS = {
    "M": {"ph", "pid", "name", "args"},
    "C": {"ph", "pid", "name", "ts", "args"},
    "X": {"ph", "pid", "tid", "name", "ts", "dur", "args"},
    "s": {"ph", "pid", "tid", "name", "cat", "id", "ts"},
    "f": {"ph", "pid", "tid", "name", "cat", "id", "ts", "bp"},
}


def check_trace(trace: Any) -> list[Event]:
    """Check a trace in the JSON object form and return its events."""
    assert isinstance(trace, dict)
    assert trace.get("displayTimeUnit", "ms") in ("ms", "ns")
    events: list[Event] = trace["traceEvents"]
    named = set()
    for event in events:
        _check_fields(event)
        if event["name"] in ("process_name", "thread_name"):
            who = event["pid"], event.get("tid")
            assert who not in named, f"{who} has two names"
            named.add(who)
    for event in events:
        assert (event["pid"], None) in named
        assert event["ph"] not in "Xsf" or (event["pid"], event["tid"]) in named
    in_time = sorted((event for event in events if "ts" in event), key=lambda event: event["ts"])
    _check_nesting(in_time)
    _check_flows(in_time)
    return events


def _check_fields(event: Event) -> None:
    expected = _FIELDS[event["ph"]]
    assert set(event) - {"tid"} == expected - {"tid"}, event
    assert isinstance(event["pid"], int)
    assert isinstance(event["name"], str)
    if "tid" in expected or event["name"].startswith("thread_"):
        assert isinstance(event["tid"], int)
        # A thread with the number of its process is that process's main thread; 0 is the idle one.
        assert event["tid"] not in (event["pid"], 0)
    for field in ("ts", "dur"):
        if field in event:
            assert isinstance(event[field], int)
            assert event[field] >= 0
    if event["ph"] == "M":
        key, kind = _METADATA[event["name"]]
        assert isinstance(event["args"][key], kind)
    if event["ph"] == "C":
        assert event["args"]
        assert all(isinstance(value, int | float) for value in event["args"].values())
    assert event.get("bp", "e") == "e"


def _check_nesting(in_time: list[Event]) -> None:
    """Slices of a thread lie within each other or apart; ours never lie within each other."""
    free: dict[tuple[int, int], int] = {}
    for event in in_time:
        if event["ph"] == "X":
            thread = event["pid"], event["tid"]
            assert event["ts"] >= free.get(thread, 0), f"{event} overlaps the one before"
            free[thread] = event["ts"] + event["dur"]


def _check_flows(in_time: list[Event]) -> None:
    """Each flow begins once and ends once, later, both within the last slice of their threads so far."""
    last: dict[tuple[int, int], Event] = {}
    open_flows: dict[tuple[str, str, int], Event] = {}
    seen = set()
    for event in in_time:
        thread = event["pid"], event.get("tid", 0)
        if event["ph"] == "X":
            last[thread] = event
        if event["ph"] not in "sf":
            continue
        around = last[thread]
        assert around["ts"] <= event["ts"] <= around["ts"] + around["dur"], f"{event} is in no slice"
        flow = event["cat"], event["name"], event["id"]
        if event["ph"] == "s":
            assert flow not in seen
            seen.add(flow)
            open_flows[flow] = around
        else:
            begun = open_flows.pop(flow)
            assert begun["ts"] + begun["dur"] <= around["ts"], "a flow leads to a slice that began earlier"
    assert not open_flows
