"""What confines a student's code: planned by the grader (`plan`), then put on (`ground`)."""
