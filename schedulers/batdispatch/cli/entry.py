"""The console script: no traceback if an interrupt comes while the command is imported, or when its work is done."""

from __future__ import annotations

import signal


def main() -> None:
    """Import the command line and run it."""
    handler = signal.signal(signal.SIGINT, signal.SIG_DFL)
    from batdispatch.cli.main import main as run

    signal.signal(signal.SIGINT, handler)
    try:
        run()
    finally:
        # Python still has to take itself down.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
