"""Why a job waited: what was short, and who held it.

A recorded exchange is retraced, and each job's wait is attributed at each moment. May import: `results` and all below.
Read first: `waiting`, then `watch` (what is looked at) and `words` (how it is said).
"""
