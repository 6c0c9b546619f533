"""Tokenizers: text to ids and back, from single characters to Unigram, behind one interface."""
