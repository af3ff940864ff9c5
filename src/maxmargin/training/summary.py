"""What several binary problems prove together: their certificates by name, the sum and the worst of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from maxmargin.certificate import Certificate
from maxmargin.problem.validation import plain
from maxmargin.result import Reason, Status
from maxmargin.shown import Shown

#: More problems than this are not listed one by one.
LISTED = 20


@dataclass(frozen=True, eq=False)
class CertificateSummary(Shown, Mapping):
    """The certificates of the binary problems of one model, by the label or the pair of labels that each is about."""

    certificates: dict[object, Certificate]

    def __getstate__(self) -> dict[str, list]:
        return {"names": list(self.certificates), "certificates": list(self.certificates.values())}

    def __setstate__(self, state: dict[str, list]) -> None:
        vars(self)["certificates"] = dict(zip(state["names"], state["certificates"], strict=True))

    def __getitem__(self, name: object) -> Certificate:
        return self.certificates[name]

    def __iter__(self) -> Iterator[object]:
        return iter(self.certificates)

    def __len__(self) -> int:
        return len(self.certificates)

    @property
    def primal(self) -> float:
        """The sum of the primal values."""
        return sum(certificate.primal for certificate in self.values())

    @property
    def dual(self) -> float:
        """The sum of the dual values."""
        return sum(certificate.dual for certificate in self.values())

    @property
    def gap(self) -> float:
        """The sum of the gaps."""
        return sum(certificate.gap for certificate in self.values())

    @property
    def relative_gap(self) -> float:
        """The worst relative gap."""
        return max(certificate.relative_gap for certificate in self.values())

    @property
    def kkt_violation(self) -> float:
        """The worst KKT violation."""
        return max(certificate.kkt_violation for certificate in self.values())

    def holds(self, tol: float) -> bool:
        """Whether every problem is proved optimal to the relative gap `tol`."""
        return all(certificate.holds(tol) for certificate in self.values())

    def __str__(self) -> str:
        worst = sorted(self.items(), key=lambda item: -item[1].relative_gap)[:LISTED]
        width = max(len(problem_name(name)) for name, _ in worst)
        lines = [f"{len(self)} problems: gap {self.gap:.3g} in all, worst relative gap {self.relative_gap:.3g}"]
        lines += [
            f"  {problem_name(name):<{width}}  primal {c.primal:.8g}  dual {c.dual:.8g}  relative {c.relative_gap:.3g}"
            for name, c in worst
        ]
        if len(self) > LISTED:
            lines.append(f"  and {len(self) - LISTED} with smaller gaps")
        return "\n".join(lines)


def certificate_of(names: Sequence[object], certificates: Sequence[Certificate]) -> Certificate | CertificateSummary:
    """The certificate of a model: itself where there is one problem, else a summary."""
    if len(certificates) == 1:
        return certificates[0]
    return CertificateSummary(dict(zip(names, certificates, strict=True)))


def without_kinds(proof: Certificate | CertificateSummary) -> Certificate | CertificateSummary:
    """The same with the counts of the kinds only: all in it that grows with the samples is the kind of each."""
    if isinstance(proof, CertificateSummary):
        return CertificateSummary({name: _without_kinds(one) for name, one in proof.items()})
    return _without_kinds(proof)


def _without_kinds(one: Certificate) -> Certificate:
    # A proof over shards has no kinds of single rows.
    return replace(one, kinds=one.kinds.without_codes()) if hasattr(one, "kinds") else one


def status_of(names: Sequence[object], statuses: Sequence[Status]) -> Status:
    """The status of a model: that of its first problem that did not get there, or that all did."""
    failed = [k for k, status in enumerate(statuses) if status.reason is not Reason.CONVERGED]
    if len(statuses) == 1:
        return statuses[0]
    if not failed:
        return Status(Reason.CONVERGED, f"all {len(statuses)} problems; the last: {statuses[-1].text}")
    first = statuses[failed[0]]
    return Status(
        first.reason,
        f"{len(failed)} of {len(statuses)} problems, such as {problem_name(names[failed[0]])}: {first.text}",
    )


def problem_name(name: object) -> str:
    """What a binary problem is about, in words."""
    return " vs ".join(str(plain(label)) for label in name) if isinstance(name, tuple) else f"{plain(name)} vs rest"
