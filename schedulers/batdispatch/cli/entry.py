"""The console script: no traceback if an interrupt comes while the command is imported, or when its work is done.

Python's warnings are for developers: a command shows none, unless ``-W`` or ``PYTHONWARNINGS`` asks for them.

Two habits took a third of the time of a run of ten jobs, and are put off here: OpenBLAS's threads wait for work in a
loop, and Python looks for circles of garbage.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import warnings

#: New objects after which Python looks for unreachable circles among them. Commands make many objects, and few
#: circles. With Python's own 700, a comparison of ten jobs spends up to a tenth of its time on looking.
NEW_OBJECTS = 200_000
#: How many threads NumPy's OpenBLAS has, unless the user says otherwise. Each further one takes 0.06 CPU-seconds when
#: NumPy is imported, and their number decides in which order sums are added up.
THREADS = ("OPENBLAS_NUM_THREADS", "1")


def main() -> None:
    """Import the command line and run it."""
    gc.set_threshold(NEW_OBJECTS)
    os.environ.setdefault(*THREADS)
    if not sys.warnoptions:
        warnings.simplefilter("ignore")
        # For the processes that it starts.
        os.environ["PYTHONWARNINGS"] = "ignore"
    handler = signal.signal(signal.SIGINT, signal.SIG_DFL)
    from batdispatch.cli.main import main as run

    signal.signal(signal.SIGINT, handler)
    try:
        run()
    finally:
        # Python still has to take itself down.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        # It would look once more for circles, in all that is left.
        gc.freeze()
