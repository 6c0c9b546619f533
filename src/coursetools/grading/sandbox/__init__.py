"""What confines a student's code: planned by the grader (`sandbox_plan`), then put on (`ground`)."""
