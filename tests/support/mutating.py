"""Changes JSON and XML as a mistaken or hostile writer might, keeping most of its structure; seeded.

Random bytes stop at the parser. What gets further is well-formed and says something impossible, so most changes are of
values, fields and their order; a few are of bytes.
"""

import copy
import json
import random
from collections.abc import Callable
from typing import Any

#: Texts that stand for JSON values which Python cannot write.
RAW = {
    "@309": "9" * 309,
    "@-309": "-" + "9" * 309,
    "@20": "9" * 20,
    "@1e400": "1e400",
    "@1e308": "1e308",
    "@-0": "-0.0",
}
NUMBERS: list[Any] = [
    0,
    1,
    -1,
    2,
    7,
    0.5,
    1e-9,
    1e9,
    1e18,
    2**31 - 1,
    2**31,
    2**53,
    2**63,
    2**64,
    1e300,
    5e-324,
    *RAW,
    "@309",
]
TEXTS: list[Any] = ["", "0", "w0!0", "w0!", "!", "0-3", "0-9999999", "5-2", "1,2", "é\u2028", "\ud83d\ude00", "a" * 300]
TEXTS += [
    "\x00",
    "-1",
    "nan",
    "Infinity",
    "../x",
    "%s{}",
    "COMPLETED_KILLED",
    "REJECTED",
    "delay",
    "composed",
    "{",
    "[1]",
]
OTHERS: list[Any] = [None, True, False, [], {}, [[]], {"": 0}, [None], {"a": {"b": []}}]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return where values stand inside a JSON value."""
    found = [path] if path else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in items:
        found += places(part, (*path, key))
    return found


def at(value: Any, path: tuple[Any, ...]) -> Any:
    """Return what stands at a place."""
    for step in path:
        value = value[step]
    return value


def _some(rng: random.Random, old: Any) -> Any:
    if rng.random() < 0.5:
        if type(old) in (int, float):
            return rng.choice([*NUMBERS, old + 1, old - 1, -old, old * 1000, old // 3])
        if isinstance(old, str):
            return rng.choice([*TEXTS, old + "x", old[:-1], old * 2, old.upper()])
    return copy.deepcopy(rng.choice(rng.choice([NUMBERS, TEXTS, OTHERS])))


def _replace(rng: random.Random, holder: Any, key: Any, whole: Any) -> None:
    holder[key] = _some(rng, holder[key])


def _remove(rng: random.Random, holder: Any, key: Any, whole: Any) -> None:
    del holder[key]


def _borrow(rng: random.Random, holder: Any, key: Any, whole: Any) -> None:
    """Put here what stands elsewhere, most often under the same name."""
    among = places(whole)
    alike = [path for path in among if path[-1] == key] if rng.random() < 0.7 else among
    holder[key] = copy.deepcopy(at(whole, rng.choice(alike or among)))


def _repeat(rng: random.Random, holder: Any, key: Any, whole: Any) -> None:
    if isinstance(holder, list):
        holder[key:key] = [copy.deepcopy(holder[key]) for _ in range(rng.choice([1, 1, 2, 50]))]
    else:
        holder[f"{key}{rng.choice(['', '2', ' '])}"] = copy.deepcopy(holder[key])


def _rename(rng: random.Random, holder: Any, key: Any, whole: Any) -> None:
    if isinstance(holder, dict):
        holder[str(rng.choice([*TEXTS, *holder]))] = holder.pop(key)
    else:
        rng.shuffle(holder)


def _bury(rng: random.Random, holder: Any, key: Any, whole: Any) -> None:
    for _ in range(rng.choice([1, 3, 60])):
        holder[key] = [holder[key]] if rng.random() < 0.5 else {"seq": holder[key]}


CHANGES: list[Callable[[random.Random, Any, Any, Any], None]] = [_replace] * 6 + [_borrow] * 4
CHANGES += [_remove, _repeat, _rename, _bury, _remove, _repeat]


def changed_value(rng: random.Random, value: Any, times: int) -> Any:
    """Return a JSON value with some changes."""
    value = copy.deepcopy(value)
    for _ in range(times):
        among = places(value)
        if not among:
            break
        # Most places are deep, and there the schema says least; now and then every depth has its turn.
        depth = rng.randint(1, max(map(len, among))) if rng.random() < 0.2 else 0
        path = rng.choice([path for path in among if len(path) == depth] or among)
        rng.choice(CHANGES)(rng, at(value, path[:-1]), path[-1], value)
    return value


def dumped(rng: random.Random, value: Any) -> bytes:
    """Return a JSON value as text; now and then a field stands twice, or bytes are damaged."""
    text = json.dumps(value, ensure_ascii=rng.random() < 0.5)
    for mark, number in RAW.items():
        text = text.replace(f'"{mark}"', number)
    if rng.random() < 0.03 and '": ' in text:
        field = text[text.index('"') : text.index('": ') + 3]
        text = text.replace(field, f"{field}0, {field}", 1)
    data = text.encode("utf-8", "surrogatepass")
    return damaged(rng, data) if rng.random() < 0.05 else data


def damaged(rng: random.Random, data: bytes) -> bytes:
    """Return bytes of which some are lost, doubled or others."""
    if not data:
        return b"\x00"
    first = rng.randrange(len(data))
    last = min(first + rng.choice([1, 2, 8, 300]), len(data))
    new = rng.choice([b"", bytes(rng.randrange(256) for _ in range(3)), data[first:last] * 2, b"\xff", b"[" * 2000])
    return data[:first] + new + (b"" if rng.random() < 0.2 else data[last:])
