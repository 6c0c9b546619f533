"""What a course and its assignments are set to: deadlines, more time, late work, exams."""
