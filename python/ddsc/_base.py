"""Provides scikit-learn's base classes, or minimal replacements if scikit-learn is not installed."""

from __future__ import annotations

import inspect
from typing import Any, Dict, List

__all__ = [
    "BaseEstimator",
    "ClusterMixin",
    "HAS_SKLEARN",
    "NotFittedError",
    "TransformerMixin",
    "check_features",
    "check_fitted",
]

try:
    from sklearn.base import BaseEstimator, ClusterMixin, TransformerMixin
    from sklearn.exceptions import NotFittedError

    HAS_SKLEARN = True
except ImportError:
    HAS_SKLEARN = False

    class NotFittedError(ValueError, AttributeError):  # type: ignore[no-redef]
        """Raised if an estimator is used before it is fitted."""

    class BaseEstimator:  # type: ignore[no-redef]
        """Base class whose parameters are the arguments of the constructor, stored as attributes."""

        @classmethod
        def _parameters(cls) -> List[inspect.Parameter]:
            return [p for n, p in inspect.signature(cls.__init__).parameters.items() if n != "self"]

        def get_params(self, deep: bool = True) -> Dict[str, Any]:
            return {p.name: getattr(self, p.name) for p in self._parameters()}

        def set_params(self, **params: Any) -> "BaseEstimator":
            known = self.get_params()
            for name, value in params.items():
                if name not in known:
                    raise ValueError(
                        f"Invalid parameter {name!r} for estimator {self!r}. Valid parameters are: "
                        f"{sorted(known)!r}."
                    )
                setattr(self, name, value)
            return self

        def __repr__(self) -> str:
            parts = []
            for p in self._parameters():
                value = getattr(self, p.name)
                if repr(value) != repr(p.default):
                    parts.append(f"{p.name}={value!r}")
            return f"{type(self).__name__}({', '.join(parts)})"

    class ClusterMixin:  # type: ignore[no-redef]
        """Fit and return the labels."""

        _estimator_type = "clusterer"

    class TransformerMixin:  # type: ignore[no-redef]
        """Fit and transform in one step."""

        def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
            return self.fit(X, y, **fit_params).transform(X)  # type: ignore[attr-defined]


def check_fitted(estimator: Any, attribute: str) -> None:
    if not hasattr(estimator, attribute):
        name = type(estimator).__name__
        raise NotFittedError(
            f"This {name} instance is not fitted yet. Call 'fit' with appropriate arguments before "
            "using this estimator."
        )


def check_features(estimator: Any, n_features: int) -> None:
    expected = estimator.n_features_in_
    if n_features != expected:
        raise ValueError(
            f"X has {n_features} features, but {type(estimator).__name__} is expecting {expected} "
            "features as input"
        )
