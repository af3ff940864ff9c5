"""Generated sets: they run anywhere."""

from benchopt import BaseDataset

from racing.data import load


class Dataset(BaseDataset):
    name = "generated"
    parameters = {"data": ["tall", "text"]}
    test_parameters = {"data": ["tall:500", "text:200"]}

    def get_data(self):
        X, y = load(self.data)
        return {"X": X, "y": y}
