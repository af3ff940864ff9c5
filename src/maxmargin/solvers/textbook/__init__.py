"""The algorithms of the textbooks, each under its own name, numbered like their pseudocode."""
