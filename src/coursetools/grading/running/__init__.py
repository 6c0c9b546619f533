"""A class: what is to be graded, by how many workers, and what has been."""
