"""Implements linear optimal transport as a transformer that maps items to vectors."""

from __future__ import annotations

from typing import Any, Dict, Optional, Union

import numpy as np

from . import _core
from ._base import BaseEstimator, TransformerMixin, check_features, check_fitted
from ._distributions import Distributions, as_distributions
from ._run import Run
from ._types import ArrayLike, Floats, Items, Objects, Progress, RandomState, Reference, Weights
from ._words import metric_settings


class LinearOT(TransformerMixin, BaseEstimator):
    """Embed items so that Euclidean distances are linear optimal transport distances.

    For each item, one exact transport problem from a fixed reference is solved. The vector of the item contains the
    displacements of all points of the reference. The vectors can be used with any method, such as k-means, PCA or a
    classifier.

    Parameters
    ----------
    reference : {"auto", "normal", "kmeans"}, Distributions, or (m, d) array
        The reference: a normal sample with the mean and scale of all points, the k-means centers of
        all points, or a given cloud (the first item of Distributions).
    reference_size : int, optional
        Number of points of the reference. None: the mean number of points per item.
    paper : bool
        Follow Algorithm 2 of the paper: a normal reference with the mean number of points.
    random_state : int, None or RandomState
    n_jobs : int, optional
        Number of threads; None uses all cores. Results do not depend on it.
    verbose : int
        1 shows a progress bar.
    callback : callable, optional
        Called as callback(stage, done, total). An exception that it raises stops the computation.

    Attributes
    ----------
    reference_ : Distributions
        The reference, a set with one item.
    n_features_in_ : int
        Number of coordinates of a point.
    n_features_out_ : int
        Number of points of the reference times number of coordinates.

    Examples
    --------
    >>> import ddsc
    >>> X = ddsc.make_shapes()
    >>> Z = ddsc.LinearOT(reference_size=10).fit_transform(X)
    >>> Z.shape
    (40, 20)
    """

    def __init__(
        self,
        reference: Union[Reference, Distributions, ArrayLike] = "auto",
        reference_size: Optional[int] = None,
        *,
        paper: bool = False,
        random_state: RandomState = 0,
        n_jobs: Optional[int] = None,
        verbose: Union[int, bool] = 0,
        callback: Optional[Progress] = None,
    ) -> None:
        self.reference = reference
        self.reference_size = reference_size
        self.paper = paper
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    reference_: Distributions
    n_features_in_: int
    n_features_out_: int

    def _settings(self, reference: Any) -> Dict[str, Any]:
        return metric_settings(
            "lot", reference=reference, reference_size=self.reference_size, paper=self.paper
        )

    def fit(self, X: Items, y: object = None, sample_weight: Optional[Weights] = None) -> "LinearOT":
        """Compute the reference from X.

        Parameters
        ----------
        X : list of (n_i, d) arrays or Distributions
        y : ignored
        sample_weight : list of (n_i,) arrays, optional
            Weights of the points of each item.
        """
        measures = as_distributions(X, sample_weight)
        reference = self.reference
        if not isinstance(reference, (str, Distributions)):
            reference = Distributions([reference])
        with Run(self.n_jobs, self.random_state, self.verbose, self.callback) as run:
            handle = run(_core.reference, measures._handle, self._settings(reference))
        self.reference_ = Distributions._wrap(handle)
        self.n_features_in_ = measures.dim
        self.n_features_out_ = int(self.reference_.sizes[0]) * measures.dim
        return self

    def transform(self, X: Items, sample_weight: Optional[Weights] = None) -> Floats:
        """Embed the items of `fit` or other items.

        Returns
        -------
        (N, n_features_out_) array
        """
        check_fitted(self, "reference_")
        measures = as_distributions(X, sample_weight)
        check_features(self, measures.dim)
        with Run(self.n_jobs, 0, self.verbose, self.callback) as run:
            rows, _ = run(_core.embed, measures._handle, self._settings(self.reference_))
        return np.array(rows)

    def fit_transform(self, X: Items, y: object = None, sample_weight: Optional[Weights] = None) -> Floats:
        """Return ``fit(X).transform(X)``, but convert X only once."""
        measures = as_distributions(X, sample_weight)
        return self.fit(measures).transform(measures)

    def get_feature_names_out(self, input_features: object = None) -> Objects:
        """Names of the columns, ordered by point of the reference and then by coordinate."""
        check_fitted(self, "reference_")
        return np.array([f"linearot{i}" for i in range(self.n_features_out_)], dtype=object)
