"""Pinned I/O: each job takes consecutive nodes, and the I/O node that these are wired to."""
