"""Solvers that take part in both benchmarks: linear problems and kernels are the same to them."""
