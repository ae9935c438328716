"""A run, a comparison of runs, a grid of runs."""
