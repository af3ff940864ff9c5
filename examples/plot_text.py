"""
Words that tell two kinds of text apart
=======================================

Real text without a download: the descriptions of the data sets that come with scikit-learn, cut into sentences. The
weights of a linear machine on sparse data name the words.
"""

import re

import numpy as np
from matplotlib import pyplot as plt
from sklearn import datasets
from sklearn.feature_extraction.text import TfidfVectorizer

from maxmargin import LinearSVC

medical = datasets.load_breast_cancer().DESCR + datasets.load_diabetes().DESCR
other = datasets.load_wine().DESCR + datasets.load_iris().DESCR + datasets.load_digits().DESCR
pieces = [
    [" ".join(re.findall("[a-z]{3,}", part)) for part in re.split(r"[.\n]+", text.lower())] for text in (medical, other)
]
texts = [piece for kind in pieces for piece in kind if len(piece) > 20]
labels = np.repeat(["medical", "other"], [sum(len(piece) > 20 for piece in kind) for kind in pieces])

words = TfidfVectorizer(min_df=2)
X = words.fit_transform(texts)
model = LinearSVC(C=1.0).fit(X, labels)
print(X.shape, "relative gap", f"{model.certificate_.relative_gap:.1e}", "accuracy", round(model.score(X, labels), 3))

order = np.argsort(model.coef_[0])
shown = np.r_[order[:8], order[-8:]]
figure, ax = plt.subplots(figsize=(6, 4.5), layout="constrained")
ax.barh(words.get_feature_names_out()[shown], model.coef_[0][shown])
ax.set(title="medical  ←  weight  →  other")
plt.show()
