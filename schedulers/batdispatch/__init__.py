"""HPC job dispatchers as event-reactive schedulers for Batsim."""

__version__ = "0.1.0"
