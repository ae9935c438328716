"""Dispatchers of malleable jobs."""
