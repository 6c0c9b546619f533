"""Training: optimisers and the schedules that steer them."""
