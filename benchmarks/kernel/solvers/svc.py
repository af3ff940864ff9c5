"""scikit-learn's SVC, which is LIBSVM."""

from racing.machines.svc import LIBSVM


class Solver(LIBSVM):
    name = "svc"
    requirements = ["scikit-learn"]
