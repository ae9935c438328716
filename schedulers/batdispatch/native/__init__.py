"""What the base has in C for its speed: texts of files become numbers, and numbers texts, without an object for each.

The library is optional: where it was not built, all that it does is done in Python, with the same results. It is plain
C11 behind `ctypes` and knows nothing of Python, so that one build serves all versions of Python. Python allocates all
memory, and checks sizes and values before C sees them.

An ability that has sources of its own keeps them in a folder ``native`` of its own. They become a library of their own
(`library.Library`), with a copy of the functions that round and write numbers, so that none of the libraries depends on
another one.
"""
