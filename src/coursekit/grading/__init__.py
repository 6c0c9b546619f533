"""The grader: from a stranger's file to a verdict, and from verdicts to everything else.

`engine` runs and judges one submission; the student's code only ever runs in the process that
`warm` forks and `sandbox` confines. This file loads nothing.
"""
