"""What a workload is like: load, sizes, run times, walltimes, users and arrivals, as numbers, pictures and a page."""
