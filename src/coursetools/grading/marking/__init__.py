"""Answers in words, marked: a page for each question, and the tables that come back from it."""
