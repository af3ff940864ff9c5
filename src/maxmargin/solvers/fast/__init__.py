"""The solvers to work with: each is the fastest we know on its kind of data; "auto" chooses among them."""
