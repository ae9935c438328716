"""Request sequences of jobs whose run time is a random variable: how long to ask for, attempt after attempt."""

from batdispatch.abilities.stochastic.requests.base import GROUP, RequestSequence, SequenceOptions, make_sequence

__all__ = ["GROUP", "RequestSequence", "SequenceOptions", "make_sequence"]
