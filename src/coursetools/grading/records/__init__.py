"""The records of a class: the files below `autograder/` that every step of grading reads.

`folders` says where everything is. People edit the table of `overrides`; commands write the
rest. A record imports no other package of the grader.
"""
