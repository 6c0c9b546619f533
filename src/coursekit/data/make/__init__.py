"""Scripts that made the files in `coursekit/data/files`; the same input gives the same bytes."""
