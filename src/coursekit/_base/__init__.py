"""What all of it stands on: checks, errors, progress, and where the course is at home."""
