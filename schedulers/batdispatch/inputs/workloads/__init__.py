"""Workloads: Batsim 4's JSON read, checked and written; importers of logs; generators."""

from batdispatch.core.jobs.profiles import runtime_of
from batdispatch.inputs.workloads.model import Workload
from batdispatch.inputs.workloads.reader import read_workload
from batdispatch.inputs.workloads.writer import write_workload

__all__ = ["Workload", "read_workload", "runtime_of", "write_workload"]
