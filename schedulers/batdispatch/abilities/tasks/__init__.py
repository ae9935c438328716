"""Dispatchers of task graphs: the tasks of a job go to processors of several kinds, near their data."""

from batdispatch.core.abilities import Ability

ABILITY = Ability(name="tasks")
