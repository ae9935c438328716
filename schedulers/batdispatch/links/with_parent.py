"""A process that ends when the one that started it does, even by SIGKILL: set by the new process itself, on Linux.

Run as a script, this sets it and then becomes another program, which keeps it:
``python -I -S with_parent.py PARENT PROGRAM ARGUMENT...``, where PARENT is the process id of who starts it. The script
imports nothing of this package, so that it starts in some 20 ms.

Linux watches the thread that started the process, not the whole parent (prctl(2), PR_SET_PDEATHSIG). The process must
thus be started by a thread that outlives it: whoever starts it here also waits for its end in the same thread.
Elsewhere than on Linux nothing is set.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def end_with_parent(parent: int) -> None:
    """Have the kernel end this process, which `parent` started, when `parent` ends; at once if it has ended."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)


def main(words: list[str]) -> None:
    """Become the program `words[1]` with the arguments that follow, bound to the process `words[0]`."""
    end_with_parent(int(words[0]))
    try:
        os.execv(words[1], words[1:])
    except OSError as problem:
        print(f"{words[1]} cannot be started: {problem.strerror}", file=sys.stderr)
        sys.exit(127)


if __name__ == "__main__":
    main(sys.argv[1:])
