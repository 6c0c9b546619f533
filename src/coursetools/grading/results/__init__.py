"""What people read: feedback, the report, tables of scores, answers that are alike."""
