"""What a run was worth: frames, metrics, pictures, the report and an independent audit.

Everything is computed from a run's jobs file, so Batsim 4's, Batsim 5's and the embedded engine's results compare.
"""
