"""Prints the path that pybatsim's launcher takes: ``python -m batdispatch.links.batdispatcher_path``."""

from __future__ import annotations

from pathlib import Path


def batdispatcher_path() -> Path:
    """Return the path of the scheduler file for ``pybatsim FILE -o '{"dispatcher": NAME}'``."""
    return Path(__file__).resolve().with_name("batdispatcher.py")


if __name__ == "__main__":
    print(batdispatcher_path())
