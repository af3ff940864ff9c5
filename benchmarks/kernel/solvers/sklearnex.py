"""scikit-learn-intelex's SVC, which is oneDAL."""

from racing.machines.sklearnex import OneDAL


class Solver(OneDAL):
    name = "sklearnex"
    requirements = ["pip::scikit-learn-intelex"]
