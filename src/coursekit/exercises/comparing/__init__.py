"""How an outcome is held against the right one: equal or not, where, and which mistake it is."""
