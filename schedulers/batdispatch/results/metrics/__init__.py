"""Numbers that describe a run, each with its formula and unit."""
