"""SimGrid's own routes on a platform file, asked for in a process of its own."""

import ctypes
from collections.abc import Sequence
from ctypes import POINTER, byref, c_char_p, c_int, c_ulong, c_void_p
from pathlib import Path

import pytest

from batdispatch.abilities.simgrid.library import find_simgrid
from batdispatch.runs.workers import call_isolated

_MAIN = ctypes.CFUNCTYPE(None, c_int, c_void_p)


def simgrid_routes(platform: Path, names: Sequence[str]) -> tuple[str, list[list[str]]]:
    """Return SimGrid's version, and the names of the links between all ordered pairs of hosts, row by row."""
    answer = call_isolated(routes_here, str(platform), list(names))
    if "lacks" in answer:
        pytest.skip(f"this SimGrid has no function {answer['lacks']}")
    return answer["version"], answer["routes"]


def routes_here(platform: str, names: list[str], progress: object) -> dict[str, object]:
    path = find_simgrid()
    assert path is not None
    library = ctypes.CDLL(path)
    for name, result, arguments in (
        ("simgrid_init", None, [POINTER(c_int), POINTER(c_char_p)]),
        ("simgrid_load_platform", None, [c_char_p]),
        ("simgrid_run", None, []),
        ("sg_actor_create_", c_void_p, [c_char_p, c_void_p, _MAIN, c_int, c_void_p]),
        ("sg_host_by_name", c_void_p, [c_char_p]),
        ("sg_host_get_route", None, [c_void_p, c_void_p, c_void_p]),
        ("sg_link_get_name", c_char_p, [c_void_p]),
        ("xbt_dynar_new", c_void_p, [c_ulong, c_void_p]),
        ("xbt_dynar_length", c_ulong, [c_void_p]),
        ("xbt_dynar_get_ptr", POINTER(c_void_p), [c_void_p, c_ulong]),
    ):
        function = getattr(library, name, None)
        if function is None:
            return {"lacks": name}
        function.restype, function.argtypes = result, arguments
    numbers = [c_int(), c_int(), c_int()]
    library.sg_version_get(*(byref(number) for number in numbers))
    # The default stack is too small for a loop of Python.
    words = [b"test", b"--log=root.threshold:error", b"--cfg=contexts/stack-size:65536"]
    library.simgrid_init(byref(c_int(len(words))), (c_char_p * (len(words) + 1))(*words))
    library.simgrid_load_platform(platform.encode())
    hosts = [library.sg_host_by_name(name.encode()) for name in names]
    routes: list[list[str]] = []

    def ask(_count: int, _words: int) -> None:
        for source in hosts:
            for target in hosts:
                links = library.xbt_dynar_new(ctypes.sizeof(c_void_p), None)
                library.sg_host_get_route(source, target, links)
                count = library.xbt_dynar_length(links)
                routes.append(
                    [library.sg_link_get_name(library.xbt_dynar_get_ptr(links, i)[0]).decode() for i in range(count)]
                )

    # Where a zone works its routes out, it does so when the simulation begins.
    main = _MAIN(ask)
    library.sg_actor_create_(b"asks", hosts[0], main, 0, None)
    library.simgrid_run()
    return {"version": f"{numbers[0].value}.{numbers[1].value}", "routes": routes}
