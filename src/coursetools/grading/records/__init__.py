"""The records of a class: the files below `autograder/` that every step of grading reads.

`folders` says where everything is. People edit `groups` and `overrides`; `ledger`, `log`,
`regrade_requests` and `verdict_files` are written by commands. A record imports no other package
of the grader.
"""
