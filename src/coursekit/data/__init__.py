"""Data: what the models of the course are trained on, one file for each source."""
