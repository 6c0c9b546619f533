"""Reads a submission and runs it: for a learner before it is handed in, and for the grader."""
