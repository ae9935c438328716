"""The console script: an interrupt while the command is still being imported ends it without a traceback."""

from __future__ import annotations

import signal


def main() -> None:
    """Import the command line and run it."""
    handler = signal.signal(signal.SIGINT, signal.SIG_DFL)
    from batdispatch.cli.main import main as run

    signal.signal(signal.SIGINT, handler)
    run()
