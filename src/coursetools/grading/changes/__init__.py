"""What changed: overrides, regrades, the history of a grade, the log, backups."""
