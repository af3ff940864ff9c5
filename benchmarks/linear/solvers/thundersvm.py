"""ThunderSVM on the processor's cores, with a linear kernel: a peer for the free bias."""

from racing.machines.thundersvm import ThunderSVM


class Solver(ThunderSVM):
    name = "thundersvm"
    requirements = ["pip::thundersvm-cpu"]
