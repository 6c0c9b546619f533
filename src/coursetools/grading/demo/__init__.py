"""An invented class, graded before your eyes."""
