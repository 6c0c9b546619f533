"""What everything else uses: checks, errors, progress, the course's address."""
