"""SimGrid's shared library, called through its C interface.

The C interface serves better here than SimGrid's Python module, which calls the same library: it can wait for the first
of several activities with a time limit (the module of 3.32 cannot), its contexts are not threads (a wait costs 2
microseconds instead of 30), and it works with every version of Python. Read on 3.32 (Debian 12) and 4.1.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib.util
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_ssize_t, c_void_p
from functools import lru_cache
from pathlib import Path

from batdispatch.core.errors import InputError

#: Names the library's file when it is none of those that `find_simgrid` knows.
VARIABLE = "BATDISPATCH_SIMGRID"
#: Where the loader of Linux keeps the list of the libraries that it finds.
LOADER_LIST = Path("/etc/ld.so.cache")
#: 3.32 loses a reference to every activity when the C function for waiting runs into its time limit, so the C++
#: functions behind it are called. They take a vector of one-word pointers, which is three addresses.
_VECTOR = "ERKSt6vectorIN5boost13intrusive_ptrIS1_EESaIS5_EE"
_WAIT_ANY = f"_ZN7simgrid3s4u8Activity12wait_any_for{_VECTOR}d"
_TEST_ANY = f"_ZN7simgrid3s4u8Activity8test_any{_VECTOR}"
#: KiB; the engine's loop and a dispatcher's solver run on this stack.
_STACK = 64 * 1024

_MAIN = ctypes.CFUNCTYPE(None, c_int, c_void_p)


def how_to_install() -> str:
    """Return what to type on this system."""
    if shutil.which("apt-get"):
        return "apt-get install python3-simgrid (as root; any Python can then use it)"
    return (
        "pip install 'pybind11<3' setuptools && pip install --no-build-isolation simgrid (builds for some 10 minutes; "
        "needs a C++ compiler, cmake and Boost's headers)"
    )


def find_simgrid() -> str | None:
    """Return the library's path or name, or None when SimGrid is not installed.

    Looks at the variable `VARIABLE`, for the package `simgrid` of this Python, and where the system's linker looks.
    """
    given = os.environ.get(VARIABLE)
    if given:
        return given
    try:
        package = importlib.util.find_spec("simgrid")
    except (ImportError, ValueError):
        package = None
    if package is not None and package.origin:
        folder = Path(package.origin).parent
        for place in (folder, folder / "simgrid", folder / "lib", folder / "simgrid" / "lib"):
            found = sorted(place.glob("libsimgrid.so*"))
            if found:
                return str(found[0])
    if _is_unknown_to_the_loader():
        return None
    if os.environ.get("LD_LIBRARY_PATH"):
        return ctypes.util.find_library("simgrid")
    try:
        status = LOADER_LIST.stat()
    except OSError:
        return ctypes.util.find_library("simgrid")
    return _found_by_the_loader(LOADER_LIST, status.st_ino, status.st_mtime_ns)


@lru_cache(maxsize=1)
def _found_by_the_loader(path: Path, *version: int) -> str | None:
    """Return what a version of the loader's list leads to. It takes a process to find out, and every run asks."""
    return ctypes.util.find_library("simgrid")


def _is_unknown_to_the_loader() -> bool:
    """Return whether the list that the system's loader keeps lacks SimGrid; False where that does not decide it.

    `ctypes.util.find_library` starts a linker and a compiler before it gives up, and every run asks.
    """
    if os.environ.get("LD_LIBRARY_PATH"):
        return False
    try:
        return b"libsimgrid.so" not in LOADER_LIST.read_bytes()
    except OSError:
        return False


class _Vector(ctypes.Structure):
    _fields_ = [("begin", c_void_p), ("end", c_void_p), ("capacity", c_void_p)]


class SimGrid:
    """The functions that the timer needs. One object a process: SimGrid cannot start twice.

    Attributes:
        version: such as ``3.32``.
    """

    def __init__(self, path: str) -> None:
        """Load the library.

        Raises:
            InputError: it cannot be loaded, or is of a version that works differently.
        """
        try:
            self._library = library = ctypes.CDLL(path)
            numbers = [c_int(), c_int(), c_int()]
            library.sg_version_get(*(byref(number) for number in numbers))
        except (OSError, AttributeError) as problem:
            raise InputError(f"SimGrid cannot be loaded: {problem}", source=path) from None
        major, minor, patch = (number.value for number in numbers)
        self.version = f"{major}.{minor}" + (f".{patch}" if patch else "")
        self._sets = hasattr(library, "sg_activity_set_wait_any_for")
        if not self._sets and not (hasattr(library, _WAIT_ANY) and hasattr(library, _TEST_ANY)):
            raise InputError(
                f"SimGrid {self.version} is not supported, 3.32 and 4.x are. Install one: {how_to_install()}",
                source=path,
            )
        self._set: int | None = None
        self._declare()

    def _declare(self) -> None:
        library = self._library
        for name, result, arguments in (
            ("simgrid_init", None, [POINTER(c_int), POINTER(c_char_p)]),
            ("simgrid_load_platform", None, [c_char_p]),
            ("simgrid_run", None, []),
            ("simgrid_get_clock", c_double, []),
            ("sg_host_by_name", c_void_p, [c_char_p]),
            ("sg_host_get_route_latency", c_double, [c_void_p, c_void_p]),
            ("sg_host_get_route_bandwidth", c_double, [c_void_p, c_void_p]),
            ("sg_host_set_pstate", None, [c_void_p, c_int]),
            ("sg_host_energy_plugin_init", None, []),
            ("sg_host_get_consumed_energy", c_double, [c_void_p]),
            ("sg_actor_create_", c_void_p, [c_char_p, c_void_p, _MAIN, c_int, c_void_p]),
            ("sg_actor_sleep_for", None, [c_double]),
            ("sg_actor_parallel_exec_init", c_void_p, [c_int, c_void_p, c_void_p, c_void_p]),
            ("sg_exec_start", None, [c_void_p]),
            ("sg_exec_cancel", None, [c_void_p]),
            ("sg_exec_test", c_int, [c_void_p]),
            ("sg_exec_get_remaining_ratio", c_double, [c_void_p]),
        ):
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
        if self._sets:
            library.sg_activity_set_init.restype = c_void_p
            library.sg_activity_set_push.argtypes = [c_void_p, c_void_p]
            library.sg_activity_set_erase.argtypes = [c_void_p, c_void_p]
            library.sg_activity_set_wait_any_for.restype = c_void_p
            library.sg_activity_set_wait_any_for.argtypes = [c_void_p, c_double]
            library.sg_activity_set_test_any.restype = c_void_p
            library.sg_activity_set_test_any.argtypes = [c_void_p]
        else:
            # Unlike attributes, items are made anew each time: keep them.
            self._wait_any, self._test_any = library[_WAIT_ANY], library[_TEST_ANY]
            self._wait_any.restype = self._test_any.restype = c_ssize_t
            self._wait_any.argtypes = [POINTER(_Vector), c_double]
            self._test_any.argtypes = [POINTER(_Vector)]
        self.clock: Callable[[], float] = library.simgrid_get_clock
        self.sleep: Callable[[float], None] = library.sg_actor_sleep_for
        self.set_pstate: Callable[[int, int], None] = library.sg_host_set_pstate
        self.joules: Callable[[int], float] = library.sg_host_get_consumed_energy
        self.remaining: Callable[[int], float] = library.sg_exec_get_remaining_ratio

    def begin(self, platform: bytes, *, energy: bool = False) -> None:
        """Start SimGrid with the model of parallel tasks and load a platform file; a wrong one ends the process.

        Args:
            platform: the file's path.
            energy: whether joules are counted.
        """
        words = [
            b"batdispatch",
            b"--cfg=host/model:ptask_L07",
            b"--cfg=contexts/stack-size:%d" % _STACK,
            b"--log=root.threshold:warning",
        ]
        if sys.version_info >= (3, 14):
            # From this version on Python watches the bounds of the stack that it started on.
            words.append(b"--cfg=contexts/factory:thread")
        self._library.simgrid_init(byref(c_int(len(words))), (c_char_p * (len(words) + 1))(*words))
        if energy:
            self._library.sg_host_energy_plugin_init()
        self._library.simgrid_load_platform(platform)

    def host(self, name: str) -> int | None:
        """Return a host by name."""
        found: int | None = self._library.sg_host_by_name(name.encode())
        return found

    def route(self, first: int, last: int) -> tuple[float, float]:
        """Return latency (s) and bandwidth (bytes/s) of the route between two hosts. Routes exist once it simulates."""
        latency: float = self._library.sg_host_get_route_latency(first, last)
        bandwidth: float = self._library.sg_host_get_route_bandwidth(first, last)
        return latency, bandwidth

    def run(self, host: int, loop: Callable[[], None]) -> None:
        """Simulate; `loop` runs as the only actor, and must not raise."""
        main = _MAIN(lambda _count, _words: loop())
        self._library.sg_actor_create_(b"engine", host, main, 0, None)
        self._library.simgrid_run()

    def start(self, hosts: Sequence[int], flops: int, traffic: int | None) -> int:
        """Start a parallel task; `flops` and `traffic` are addresses of float64 [host] and [from, to]."""
        task: int = self._library.sg_actor_parallel_exec_init(
            len(hosts), (c_void_p * len(hosts))(*hosts), flops, traffic
        )
        self._library.sg_exec_start(task)
        if self._sets:
            if self._set is None:
                self._set = self._library.sg_activity_set_init()
            self._library.sg_activity_set_push(self._set, task)
        return task

    def cancel(self, task: int) -> None:
        """Stop a task that runs, and let go of it."""
        if self._sets:
            self._library.sg_activity_set_erase(self._set, task)
        self._library.sg_exec_cancel(task)

    def first(self, tasks: Sequence[int], timeout: float | None) -> int | None:
        """Return a task that has ended, and let go of it; None: none did.

        Args:
            tasks: all that run.
            timeout: seconds to wait; negative: until one ends; None: do not wait.
        """
        if not tasks:
            return None
        if self._sets:
            library = self._library
            if timeout is None:
                found: int | None = library.sg_activity_set_test_any(self._set)
            else:
                found = library.sg_activity_set_wait_any_for(self._set, timeout)
        else:
            array = (c_void_p * len(tasks))(*tasks)
            begin = ctypes.addressof(array)
            end = begin + ctypes.sizeof(array)
            vector = byref(_Vector(begin, end, end))
            index = self._test_any(vector) if timeout is None else self._wait_any(vector, timeout)
            found = None if index < 0 else tasks[index]
        if found is not None:
            # Of a task that has ended, this gives the reference back.
            self._library.sg_exec_test(found)
        return found
