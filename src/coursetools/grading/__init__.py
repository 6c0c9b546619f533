"""The grader, in rooms: from an untrusted file to a verdict, and from verdicts to everything else.

A submission goes one way. `collecting` takes it in, and `running` hands it to a worker. There
`judging`, the trusted side, asks the student's code, which only runs in `student`, confined by
`sandbox`. The verdict goes into a file and into the `gradebook`; `results` are what people read.
The files of a class that all of these read and write are in `records`.
This file loads nothing.
"""
