"""Dispatchers of jobs whose run time is a random variable."""
