"""maxmargin's own solvers, the textbook ones too."""

from racing.machines.maxmargin import MaxMargin


class Solver(MaxMargin):
    name = "maxmargin"
    parameters = {"solver": ["auto", "interior-point", "coordinate-ascent"]}
