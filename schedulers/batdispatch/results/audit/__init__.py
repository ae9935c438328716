"""An independent check of a run: does its jobs file agree with its inputs?"""
