"""What a run left and what it was worth: its files, tables, metrics, network measures and statistics.

Everything is computed from a run's jobs file, so Batsim 4's, Batsim 5's and the embedded engine's results compare. May
import: what simulates (`engines`, `links`) and all below. Read first: `run_files`, `runs`, then `metrics`.
"""
