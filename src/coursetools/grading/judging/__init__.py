"""The trusted side: what is asked of a submission, and what the answers are worth."""
