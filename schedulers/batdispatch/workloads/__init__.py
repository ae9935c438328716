"""Workloads: Batsim 4's JSON read, checked and written; importers of logs; generators."""

from batdispatch.workloads.model import Workload
from batdispatch.workloads.profiles import runtime_of
from batdispatch.workloads.reader import read_workload
from batdispatch.workloads.writer import write_workload

__all__ = ["Workload", "read_workload", "runtime_of", "write_workload"]
