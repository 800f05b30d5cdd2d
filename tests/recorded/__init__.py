"""Answers to two classes as they were before three were known: `two_classes.json`, which no later change may move.

``python -m tests.recorded`` writes the file anew, after a change that is meant to change models. It was first written
by the code from before there were prices by class; on the same machine later code gave all numbers to the last digit.
"""
