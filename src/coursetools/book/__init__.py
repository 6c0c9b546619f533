"""The book: its build, its Sphinx extension, its local scripts, and the map of the lectures."""
