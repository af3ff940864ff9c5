"""The letters of the five sources beside ours."""

from __future__ import annotations

HEADER = ("what", "here", "source 000", "source 001", "source 002", "source 003", "source 004")

ROWS: tuple[tuple[str, ...], ...] = (
    (
        "sample and label",
        "$x_i$, $y_i$",
        "$x^{(i)}$, $y^{(i)}$",
        "$x_i$, $y_i$",
        "$x_i$, $y_i$",
        "$x_n$, $y_n$",
        "$z_n = \\Phi(x_n)$, $y_n$",
    ),
    ("number of samples", "$n$", "$n$", "$m$ (and $n$)", "$n$", "$N$", "$N$"),
    ("number of features", "$d$", "n_features", "$d$", "–", "$D$", r"$\tilde d$"),
    ("weights", "$w$", "$a$", "$w$", "$w$", "$w$", "$w$"),
    ("bias", "$b$", "none", "$b$, the last weight", "$b$", "none", "$b$"),
    ("weight of the loss", "$C$", "$1$", "$C$", r"$\infty$", "$1$", r"$\infty$"),
    (r"weight of $\half \|w\|^2$", r"$1$, or $\lambda = 1/C$ (`lam`)", "$c$", "$1$", "$1$", r"$\lambda$", "$1$"),
    (
        "dual variable",
        r"$\alpha_i \in [0, C]$",
        r"$\lambda_i \in [-1, 0]$",
        r"$\alpha_i \in [0, C]$",
        r"$\lambda_i \ge 0$",
        r"$\alpha_n \in [0, 1]$",
        r"$\alpha_n \ge 0$",
    ),
    (
        r"in terms of our $\alpha_i$",
        r"$\alpha_i$",
        r"$\lambda_i = -c\, \alpha_i$",
        r"$\alpha_i$",
        r"$\lambda_i = \alpha_i$",
        r"$\lambda\, \alpha_i$",
        r"$\alpha_n$",
    ),
    ("signed dual variable", r"$\beta_i = y_i \alpha_i$ (`beta`)", "–", "–", "–", "–", "–"),
    (r"multiplier of $\xi_i \ge 0$", r"$C - \alpha_i$ (`slack_multipliers`)", "–", r"$\beta_i$", "–", "–", "–"),
    ("slack", r"$\xi_i$ (`slack`)", r"$\epsilon_i$", r"$\xi_i$", "–", "–", "–"),
    ("learning rate", "`step`", r"$\alpha$ and $\eta$", r"$\eta_t$, $\eta_i$", r"$\alpha$", "–", "–"),
    ("weight of a penalty", "`Penalty(c=..., d=...)`", "–", "–", "$c$, $d$", "–", "–"),
    ("counts of corrections", "`coef`", "–", "–", "–", "–", r"$\beta_n$"),
)
