"""Layers: dispatchers that stand between the session and another dispatcher, and look after a job's life."""
