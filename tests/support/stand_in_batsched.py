#!/usr/bin/env python3
"""Takes the place of batsched: notes how it was called, and serves Batsim 4's protocol with first come, first served.

The environment variable STAND_IN says how it fails instead: ``die``, ``die-later``, ``silent`` or ``garbage``.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import zmq


def main() -> None:
    """Serve one simulation."""
    fault = os.environ.get("STAND_IN", "")
    if fault == "die":
        sys.exit("stand-in: no such variant")
    options = dict(word.lstrip("-").split("=", 1) for word in sys.argv[1:] if "=" in word)
    read = json.loads(Path(options["variant_options_filepath"]).read_text())
    note = {"arguments": sys.argv[1:], "options": read, "pid": os.getpid()}
    Path(os.environ["STAND_IN_NOTE"]).write_text(json.dumps(note))
    socket = zmq.Context().socket(zmq.REP)
    socket.bind(options["socket-endpoint"])
    queue: list[tuple[str, int]] = []
    free: list[int] = []
    held: dict[str, list[int]] = {}
    answered = 0
    while True:
        message = json.loads(socket.recv())
        answered += 1
        if answered > 3 and fault == "die-later":
            print("stand-in: out of memory", flush=True)
            os._exit(3)
        if answered > 3 and fault == "silent":
            time.sleep(600)
        if answered > 3 and fault == "garbage":
            socket.send(b'{"now": "soon"}')
            continue
        now = message["now"]
        decided: list[dict[str, Any]] = []
        for event in message["events"]:
            kind, data = event["type"], event["data"]
            if kind == "SIMULATION_BEGINS":
                free = list(range(data["nb_resources"]))
                size = len(free)
            elif kind == "JOB_SUBMITTED" and data["job"]["res"] > size:
                rejected = {"job_id": data["job_id"]}
                decided.append({"timestamp": now, "type": "REJECT_JOB", "data": rejected})
            elif kind == "JOB_SUBMITTED":
                queue.append((data["job_id"], data["job"]["res"]))
            elif kind == "JOB_COMPLETED":
                free = sorted(free + held.pop(data["job_id"]))
        while queue and queue[0][1] <= len(free):
            job, wanted = queue.pop(0)
            held[job], free = free[:wanted], free[wanted:]
            started = {"job_id": job, "alloc": " ".join(map(str, held[job]))}
            decided.append({"timestamp": now, "type": "EXECUTE_JOB", "data": started})
        socket.send(json.dumps({"now": now, "events": decided}).encode())
        if any(event["type"] == "SIMULATION_ENDS" for event in message["events"]):
            return


if __name__ == "__main__":
    main()
