"""Solvers to work with on kernel problems; "auto" chooses among them."""
