"""The parameters of the estimators: each has its default, and its text for `help()`, in one place.

They are keyword-only fields of dataclasses, so that a constructor is generated from those that a class has. `estimator`
does that, and puts together a docstring that has all of them.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from typing import Any, TypeVar, dataclass_transform

Class = TypeVar("Class", bound=type)

#: An entry of a numpydoc section: the line with the name, and the indented ones below it.
ENTRY = re.compile(r"^(\w+) : [^\n]*\n(?:(?: +[^\n]*)?\n)*", re.M)
SECTION = re.compile(r"^Parameters\n-+\n(.*?)(?=^\S[^\n]*\n-{3,}\n|\Z)", re.M | re.S)


@dataclass_transform(eq_default=False, kw_only_default=True)
def estimator(made: Class) -> Class:
    """Give a class its constructor, and to its docstring the parameters that it does not describe itself."""
    own = made.__doc__
    dataclass(eq=False, repr=False, kw_only=True)(made)
    if own is not None:  # it is with python -OO
        made.__doc__ = _completed(inspect.cleandoc(own), made)
    return made


def _completed(doc: str, made: type) -> str:
    """The docstring with an entry for each parameter: the machine's own first, those of every machine last."""
    entries = _entries(doc)
    for parent in made.__mro__[1:]:
        entries |= {
            name: entry
            for name, entry in _entries(inspect.cleandoc(vars(parent).get("__doc__") or "")).items()
            if name not in entries
        }
    taken = inspect.signature(made).parameters
    section = "Parameters\n----------\n" + "".join(entries[name] for name in entries if name in taken) + "\n"
    if SECTION.search(doc):
        return SECTION.sub(lambda _: section, doc)
    first = re.search(r"^\w+\n-{3,}$", doc, re.M)
    place = first.start() if first else len(doc)
    return f"{doc[:place].rstrip()}\n\n{section}{doc[place:]}"


def _entries(doc: str) -> dict[str, str]:
    """What a docstring says of each parameter."""
    section = SECTION.search(doc + "\n")
    found = ENTRY.finditer(section.group(1) + "\n") if section else ()
    return {one.group(1): one.group(0).rstrip() + "\n" for one in found}


@estimator
class FitParameters:
    """What every machine takes.

    Parameters
    ----------
    tol : float, default 1e-4
        The relative duality gap to reach, (P − D)/max(|P|, |D|).
    max_iter : int, default -1
        The solver's own iterations for each problem; −1 for no limit.
    max_time : float, default None
        Seconds for the whole fit; the best certified model so far is kept when they are over.
    solver : str or Solver, default "auto"
        A name from `maxmargin.list_solvers()`, or "auto": what `solve` chooses for the problem.
    random_state : int, RandomState or None, default None
        For solvers that shuffle; None is a fixed seed, so that a fit can be repeated.
    verbose : bool, default False
        Show progress.
    warm_start : bool, default False
        Begin where the last fit ended: after a change of parameters, or with more rows appended.
    """

    tol: float = 1e-4
    max_iter: int = -1
    max_time: float | None = None
    solver: Any = "auto"
    random_state: Any = None
    verbose: Any = False
    warm_start: bool = False


@estimator
class CostParameters:
    """What machines with a cost take.

    Parameters
    ----------
    C : float, default 1.0
        The weight of the loss; ``inf`` is the hard margin, for the hinge losses.
    """

    C: float = 1.0


@estimator
class BiasParameters:
    """What kernel machines whose threshold may be chosen take.

    Parameters
    ----------
    bias : "free", "augmented" or "none", default "free"
        An intercept that is not penalised, one that is (a constant feature 1), or none.
    """

    bias: Any = "free"


@estimator
class ApproximationParameters:
    """What kernel machines take that may be made of landmarks.

    Parameters
    ----------
    approximation : "nystroem", default None
        Look for the weights in the span of some rows, the landmarks, for data with too many support vectors. The
        certificate is that of the exact problem. None is the exact problem itself.
    n_landmarks : int or "auto", default "auto"
        How many landmarks at most; the model is made of them alone. "auto" takes as many as pay within `cache_size`,
        and goes on with the exact solver where `tol` asks for more.
    """

    approximation: str | None = None
    n_landmarks: int | str = "auto"


@estimator
class WidthParameters:
    """What machines with a tube take.

    Parameters
    ----------
    epsilon : float, default 0.1
        The half-width of the tube in which errors cost nothing.
    """

    epsilon: float = 0.1


@estimator
class NuParameters:
    """What machines with a share of the rows take.

    Parameters
    ----------
    nu : float in (0, 1], default 0.5
        At most this share of the rows is on the wrong side (of the margin, the tube or the threshold), and at least
        this share are support vectors.
    """

    nu: float = 0.5


@estimator
class OfKernelParameters:
    """What is about the kernel.

    Parameters
    ----------
    kernel : str, Kernel or callable, default "rbf"
        "linear", "poly", "rbf", "sigmoid", "precomputed" as in scikit-learn, any of `maxmargin.list_kernels()`, a
        `Kernel` with parameters of its own, or a function of two sets of rows (which may be texts, graphs, ...).
    degree : int, default 3
        The power of the polynomial kernel.
    coef0 : float, default 0.0
        What the polynomial and the sigmoid kernel add to the product.
    cache_size : float, default 1000
        Megabytes for kernel values. Where all of them fit, the binary problems of several classes share them.
    """

    kernel: Any = "rbf"
    degree: int = 3
    coef0: float = 0.0
    cache_size: float = 1000


@estimator
class KernelParameters(OfKernelParameters):
    """What kernel machines take.

    Parameters
    ----------
    gamma : float, "scale" or "auto", default "scale"
        What multiplies distances or products in the kernel; "scale" is 1/(d·var(X)), "auto" is 1/d.
    shrinking : bool, default True
        False asks for a textbook solver, which does not set samples aside on the way.
    """

    gamma: float | str = "scale"
    shrinking: bool = True


@estimator
class ClassParameters:
    """What classifiers take.

    Parameters
    ----------
    class_weight : dict or "balanced", default None
        Multiplies C for each class.
    """

    class_weight: Any = None


@estimator
class KernelClassParameters(ClassParameters):
    """What kernel classifiers take.

    Parameters
    ----------
    multi_class : "ovo" or "ovr", default "ovo"
        Train one class against one (as scikit-learn does), or one against the rest.
    probability : bool, default False
        Whether to provide `predict_proba`: the softmax of the decision values over one temperature, which is calibrated
        on held-out rows (five more fits). `sklearn.calibration.CalibratedClassifierCV` around this machine is the way
        to calibrate with more parameters.
    decision_function_shape : "ovr" or "ovo", default "ovr"
        One column a class, or one a pair of classes.
    break_ties : bool, default False
        Whether `predict` breaks ties between classes by their decision values.
    """

    multi_class: str = "ovo"
    probability: bool = False
    decision_function_shape: str = "ovr"
    break_ties: bool = False


@estimator
class LinearParameters:
    """What linear machines take.

    Parameters
    ----------
    dual : "auto", True or False, default "auto"
        There for scikit-learn's sake: every fit has a primal and a dual, and `solver` chooses the algorithm.
    fit_intercept : bool, default True
        False is ``bias="none"``.
    intercept_scaling : float, default 1.0
        The constant feature of ``bias="augmented"``: the larger, the less the intercept is penalised. Any other value
        than 1 asks for that bias.
    bias : "free", "augmented" or "none", default None
        An intercept that is not penalised, one that is (liblinear's), or none. None is "free", but "augmented" where
        `intercept_scaling` is not 1, and for Crammer–Singer.
    keep_support : bool, default False
        Whether to keep the support vectors themselves, and to write all that is about single rows (`support_`,
        `dual_coef_`, the proof of `model_`) into pickles and copies, which are small otherwise.
    """

    dual: Any = "auto"
    fit_intercept: bool = True
    intercept_scaling: float = 1.0
    bias: Any = None
    keep_support: bool = False


@estimator
class SearchParameters:
    """What searches take.

    Parameters
    ----------
    Cs : list of float, default (0.01, 0.1, 1, 10, 100, 1000)
        The values of C to try.
    cv : int, splitter or iterable, default 5
        Folds, as for scikit-learn's `GridSearchCV`.
    scoring : str, callable, or a list or dict of several, default None
        Any scorer of scikit-learn's; None is accuracy (R² of a regression). `cv_results_` has all of several.
    refit : bool, str or callable, default True
        Whether to train the best on all rows, to predict by. Of several scorers, the name of the one that decides
        (with False, the first does); a function of `cv_results_` gives the place of the best.
    tol : float, default 1e-4
        The relative gap of the refit.
    cv_tol : float, default 1e-3
        The relative gap of the fits in the folds.
    solver : str or Solver, default "auto"
        A name from `maxmargin.list_solvers()`, or "auto": what `solve` chooses for the problem.
    max_time : float, default None
        Seconds for everything; folds that did not fit in are not scored.
    random_state : int, RandomState or None, default None
        For solvers that shuffle; None is a fixed seed, so that a fit can be repeated.
    n_jobs : int, default None
        Threads for the fits in the folds: None and −1 are all cores. Results do not depend on it.
    verbose : bool, default False
        Say after each fold how far it is.
    """

    Cs: Any = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
    cv: Any = 5
    scoring: Any = None
    refit: Any = True
    tol: float = 1e-4
    cv_tol: float = 1e-3
    solver: Any = "auto"
    max_time: float | None = None
    random_state: Any = None
    n_jobs: int | None = None
    verbose: Any = False


@estimator
class KernelSearchParameters(OfKernelParameters):
    """What searches over kernel machines take.

    Parameters
    ----------
    gammas : list of float, "scale" or "auto", default ("scale",)
        The values of gamma to try; the kernel matrix is computed once for each.
    """

    gammas: Any = ("scale",)
