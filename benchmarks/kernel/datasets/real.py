"""Real sets, from the folder that MAXMARGIN_DATA names."""

from benchopt import BaseDataset

from racing.data import load


class Dataset(BaseDataset):
    name = "real"
    requirements = ["scikit-learn"]
    parameters = {
        "data": [
            "a9a",
            "ijcnn1",
            "covtype_bin:30000",
            "w8a",
            "usps",
            "mnist:10000",
            "letter.scale",
            "news20_bow:8000",
        ]
    }

    def get_data(self):
        X, y = load(self.data)
        return {"X": X, "y": y}
