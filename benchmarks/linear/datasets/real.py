"""Real sets, from the folder that MAXMARGIN_DATA names."""

from benchopt import BaseDataset

from racing.data import load


class Dataset(BaseDataset):
    name = "real"
    requirements = ["scikit-learn"]
    parameters = {
        "data": [
            "imdb_bow",
            "news20_bigram_bin",
            "news20_bow",
            "a9a",
            "w8a",
            "covtype_bin",
            "ijcnn1",
            "cod-rna.z",
            "kddcup99_10",
            "mnist",
        ]
    }

    def get_data(self):
        X, y = load(self.data)
        return {"X": X, "y": y}
