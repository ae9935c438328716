"""The commonest simulations as compiled kernels: the same schedules as the dispatchers in Python, byte for byte.

Theory of operation. The choice of a run's engine, `batdispatch.runs.engines`, is all that knows of kernels. It asks
`reasons` why they cannot simulate a task, and lets `engine` simulate it if there is no reason. `columns` turns the
workload into arrays, `simulate` lets a kernel run over them, and `writing` writes the files that the embedded engine
would write. A kernel is engine and dispatcher in one: it lets time pass to the next submission or end, and decides as
the dispatcher of its name does. What the dispatchers in Python do is right by definition; a kernel that differs is
wrong.

The kernels are in C, in `batdispatch.native`; the files here make what they work on.
"""
