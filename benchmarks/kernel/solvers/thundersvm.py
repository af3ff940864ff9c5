"""ThunderSVM on the processor's cores."""

from racing.machines.thundersvm import ThunderSVM


class Solver(ThunderSVM):
    name = "thundersvm"
    requirements = ["pip::thundersvm-cpu"]
