"""What is written in C for its speed, and the library that is built of it.

The library is optional: where it was not built, all that it does is done in Python, with the same results. It is plain
C11 behind `ctypes` and knows nothing of Python, so that one build serves all versions of Python. Python allocates all
memory, and checks sizes and values before C sees them.
"""
