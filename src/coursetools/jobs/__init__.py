"""Processes and clusters that take jobs: notebooks, submissions, pages of feedback."""
