"""Dispatchers compared over replicates: paired differences with intervals, and ranks, where they mean something."""
