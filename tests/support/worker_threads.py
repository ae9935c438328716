"""Workers that are threads of this process: tests that take them start no interpreter and import nothing anew."""

import os
import threading
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import IO

from batdispatch.runs import workers


class WorkerThread(workers.Worker):
    """Hears and answers what a worker does, from a thread. An isolated call has a process of its own as ever.

    It cannot be killed, so it is not for tests of what becomes of a worker that dies or hangs.
    """

    def __init__(self, words: IO[bytes] | None = None) -> None:
        self._thread: threading.Thread | None = None
        if words is not None:
            super().__init__(words)
            return
        self.pipe, theirs = Pipe()
        self.pid = os.getpid()
        self._thread = threading.Thread(target=_answer, args=(theirs,), daemon=True)
        self._thread.start()

    def kill(self) -> None:
        if self._thread is None:
            super().kill()

    def stop(self) -> None:
        if self._thread is None:
            super().stop()
            return
        self.pipe.close()
        self._thread.join()


def _answer(pipe: Connection) -> None:
    with pipe:
        try:
            workers._answer_all(pipe)
        except BrokenPipeError:
            # Nobody listens any more, and a process would have been ended.
            return
