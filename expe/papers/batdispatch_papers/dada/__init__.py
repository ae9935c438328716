"""DADA (Bleuse et al., 2014): factorisations as graphs of tasks, on a node of CPU cores and GPUs."""
