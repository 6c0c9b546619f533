"""`coursekit train`: training notebooks with a profile, sweeps of them, and what they found."""
