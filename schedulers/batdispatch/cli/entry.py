"""The console script: no traceback if an interrupt comes while the command is imported, or when its work is done."""

from __future__ import annotations

import gc
import signal

#: New objects after which Python looks for unreachable circles among them. Commands make many objects, and few
#: circles. With Python's own 700, a comparison of ten jobs spends up to a tenth of its time on looking.
NEW_OBJECTS = 50_000


def main() -> None:
    """Import the command line and run it."""
    gc.set_threshold(NEW_OBJECTS)
    handler = signal.signal(signal.SIGINT, signal.SIG_DFL)
    from batdispatch.cli.main import main as run

    signal.signal(signal.SIGINT, handler)
    try:
        run()
    finally:
        # Python still has to take itself down.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
