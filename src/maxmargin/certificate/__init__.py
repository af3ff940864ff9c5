"""What is proved of a point: both objectives, the gap with its rounding, the KKT conditions, the kinds of vectors."""

from maxmargin.certificate.certificate import Certificate, Examined, certify, examine
from maxmargin.certificate.kkt import KINDS, Kinds

__all__ = ["KINDS", "Certificate", "Examined", "Kinds", "certify", "examine"]
