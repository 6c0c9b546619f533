"""What teachers, authors and contributors run: the command line, the book, questions, the grader.

It imports `coursekit`, which learners have, and is never imported by it.
"""
