"""Whose weight is which: one file a family, read in both directions by `rules.py`.

A model file is a model. What others call its parts stands here, in tables that take plain numbers
(how many blocks, with a head or without) and know nothing of the models and their configurations.
"""
