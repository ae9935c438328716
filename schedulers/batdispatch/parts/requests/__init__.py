"""Request sequences of jobs whose run time is a random variable: how long to ask for, attempt after attempt."""

from batdispatch.parts.requests.base import GROUP, RequestSequence, make_sequence

__all__ = ["GROUP", "RequestSequence", "make_sequence"]
