"""Generated sets: they run anywhere."""

from benchopt import BaseDataset

from racing.data import load


class Dataset(BaseDataset):
    name = "generated"
    parameters = {"data": ["rings", "text:3000"]}
    test_parameters = {"data": ["rings:300", "text:200"]}

    def get_data(self):
        X, y = load(self.data)
        return {"X": X, "y": y}
