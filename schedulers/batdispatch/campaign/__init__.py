"""Runs: one dispatcher over one workload on one platform, and comparisons of several."""
