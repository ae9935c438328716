"""Dispatchers that choose which of the waiting jobs start together, by integer programs over jobs and nodes."""
