"""The check of runs and of what stands for many of them: each is audited and made again, and its table worked out anew.

Begin with `check.py`.
"""
