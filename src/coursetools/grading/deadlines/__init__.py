"""When something is due, for whom, and what it costs to be late."""
