"""Arithmetic that knows no SVM: compiled loops, threads, rows of dense and CSR data, products, exponentials."""
