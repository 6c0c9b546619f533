"""Objectives: what a model is asked to predict, and how far off it was."""
