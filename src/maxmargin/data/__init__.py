"""Data: the toy sets of the lessons."""
