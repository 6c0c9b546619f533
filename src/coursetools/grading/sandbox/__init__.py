"""What confines a student's code: planned by the grader (`sandbox_plan`), put on by `confine`."""
