"""`submit_check`: what a grader will find, said before the upload."""
