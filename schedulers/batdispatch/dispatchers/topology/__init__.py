"""Dispatchers that decide by where nodes and data are."""
