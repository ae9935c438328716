"""When a job could start: the step function of time, and what is reserved on it.

Home to the timeline, reservations, list schedules, the tolerance for late ends, and how predictions are corrected. May
import: all other rooms of the core. Read first: `timeline`.
"""
