"""Files from outside: the one reader and writer of files, platforms, workloads."""
