"""Models: one file each, made of the parts in layer 1, with its configuration beside it."""
