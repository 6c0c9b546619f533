"""`check`: what a learner hears in the notebook, at once."""
