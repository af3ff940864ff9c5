"""scikit-learn-intelex's SVC, which is oneDAL, with a linear kernel: a peer for the free bias."""

from racing.machines.sklearnex import OneDAL


class Solver(OneDAL):
    name = "sklearnex"
    requirements = ["pip::scikit-learn-intelex"]
