"""Processes and clusters that take jobs: notebooks to be executed, submissions to be graded."""
