"""Reservation sequences for jobs whose run time is a random variable: how long to ask for, attempt after attempt."""

from batdispatch.parts.requests.base import GROUP, Requests, Settings, find_requests, request

__all__ = ["GROUP", "Requests", "Settings", "find_requests", "request"]
