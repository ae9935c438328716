"""Interference of jobs on the links of a network: an experiment of our own."""
