"""
Probabilities that agree with predictions
=========================================

One temperature makes decision values probabilities. The reliability of held-out rows, in ten bins.
"""

from matplotlib import pyplot as plt
from sklearn.calibration import calibration_curve
from sklearn.datasets import make_classification

from maxmargin import SVC

X, y = make_classification(1200, 8, n_informative=4, class_sep=0.7, random_state=0)
model = SVC(probability=True).fit(X[:600], y[:600])
share = model.predict_proba(X[600:])[:, 1]
right, told = calibration_curve(y[600:], share, n_bins=10)
print("labels agree with probabilities:", ((share > 0.5) == model.predict(X[600:])).all())

figure, ax = plt.subplots(figsize=(4.5, 4.5), layout="constrained")
ax.plot([0, 1], [0, 1], color="grey", linestyle="--")
ax.plot(told, right, marker="o")
ax.set(xlabel="predicted probability", ylabel="share of positives", title=f"temperature {model.temperature_:.2f}")
plt.show()
