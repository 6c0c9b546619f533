"""The records of a class: the files below `autograder/` that every step of grading reads.

`folders` says where everything is. People edit the tables of `groups` and `overrides`; commands
write the rest. A record imports no other package of the grader.
"""
