"""The best that a run has seen, so that whatever ends it, the best certified point is handed back."""

from __future__ import annotations

from dataclasses import replace

from maxmargin.certificate import Certificate, Examined
from maxmargin.result import Iterate


class Best:
    """The best pair so far: a linked one by its gap; an unlinked one from the best primal and the best dual point."""

    def __init__(self) -> None:
        self.linked: Examined | None = None
        self.primal: Examined | None = None
        self.dual: Examined | None = None

    def update(self, seen: Examined) -> Certificate:
        """Take note of a look, and say what is proved now."""
        if seen.point.answer:
            self.linked = self.primal = self.dual = None
        if seen.point.linked:
            if self.linked is None or _key(seen.certificate) < _key(self.linked.certificate):
                self.linked = replace(seen, point=seen.point.kept())
            return seen.certificate
        if self.primal is None or seen.certificate.primal < self.primal.certificate.primal:
            self.primal = replace(seen, point=seen.point.kept())
        if self.dual is None or seen.certificate.dual > self.dual.certificate.dual:
            self.dual = replace(seen, point=seen.point.kept())
        return self._unlinked()

    def _unlinked(self) -> Certificate:
        assert self.primal is not None and self.dual is not None
        return replace(self.primal.certificate, dual=self.dual.certificate.dual)

    def point(self) -> Iterate:
        """The best pair, as an iterate to certify afresh."""
        if self.linked is not None and (self.primal is None or _key(self.linked.certificate) <= _key(self._unlinked())):
            return replace(self.linked.point, w=None, b=None)
        assert self.primal is not None and self.dual is not None
        k = max(self.primal.point.k, self.dual.point.k)
        return replace(self.primal.point, beta=self.dual.point.beta, k=k)


def _key(certificate: Certificate) -> tuple[float, float]:
    """Smaller is better: the gap, and where there is none yet, the dual."""
    return certificate.relative_gap, -certificate.dual
