"""When waiting jobs start: futures of a queue, drawn from what jobs of the past did, and how far to trust them.

Theory of operation. `queue_moment` has the jobs that run and wait at a moment, and those that came and ended before
it. `run_times` draws how long jobs run, `futures` what may come, and simulates each future with a kernel:
the quantiles of a job's starts are the raw estimate. `calibration` asks the same at moments of the past whose outcomes
are known, and moves each quantile by what the past says it was wrong by. `estimate` joins them; read it first.
"""
