"""Baselines: first come first served, filling, EASY and conservative backfilling."""
