"""nbgrader's tables and the graded notebook, as formgrader reads them."""
