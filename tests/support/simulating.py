"""Small simulations, as authors of plug-ins have them."""

from batdispatch.testing.simulation import Result, Row, Task, audit, check_absences, micro, simulate

__all__ = ["Result", "Row", "Task", "audit", "check_absences", "micro", "simulate"]
