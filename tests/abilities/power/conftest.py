"""A scripted Batsim for dispatchers behind a socket."""

from deciders import connect, decide

__all__ = ["connect", "decide"]
