"""Why a job waited: what was short, and who held it."""
