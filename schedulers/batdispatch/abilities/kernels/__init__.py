"""The commonest simulations as compiled kernels: the same schedules as the dispatchers in Python, byte for byte.

Theory of operation. `seam` is what the base knows of kernels: an engine, which says why kernels cannot simulate a task
(`reasons`), and simulates it if there is no reason (`engine`). `columns` turns the workload into arrays, `simulate`
lets a kernel run over them, and `files` writes the files that the embedded engine would write. A kernel is engine and
dispatcher in one: it lets time pass to the next submission or end, and decides as the dispatcher of its name does. What
the dispatchers in Python do is right by definition; a kernel that differs is wrong.

The kernels are in C, in the folder `native`; the files here make what they work on.
"""

from batdispatch.core.abilities import Ability

# Kernels count what hosts burn, and know those that sleep.
ABILITY = Ability(name="kernels", needs=("power",))
