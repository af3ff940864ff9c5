"""The lesson of `maxmargin demo`: the course of the five sources, and their algorithms as plain NumPy."""
