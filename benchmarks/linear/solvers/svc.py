"""scikit-learn's SVC, which is LIBSVM, with a linear kernel: a peer for the free bias."""

from racing.machines.svc import LIBSVM


class Solver(LIBSVM):
    name = "svc"
    requirements = ["scikit-learn"]
