"""Solvers to work with on linear problems; "auto" chooses among them."""
