"""Algorithms 1 and 2 of Wang, Qiao, Fan, "Spectral Clustering for Discrete Distributions", in NumPy and SciPy.

Written from the paper alone, for small sets. An item is a pair (points, weights) whose weights sum to 1. This code
shares nothing with the program and is not optimized.
"""
import numpy as np
from scipy.optimize import linear_sum_assignment, linprog
from scipy.sparse import identity, kron, vstack


def cost(x, y):
    """Return C_ij = |x_i - y_j|^2, computed from differences."""
    return ((x[:, None] - y[None]) ** 2).sum(2)


def pairs(items):
    return [(i, j) for i in range(len(items)) for j in range(i + 1, len(items))]


def full(items, upper):
    """Lines 1 to 7 of Algorithm 1: return the symmetric matrix with one value per pair."""
    matrix = np.zeros((len(items), len(items)))
    for (i, j), value in zip(pairs(items), upper):
        matrix[i, j] = matrix[j, i] = value
    return matrix


# ---- the distances of section 2, squared ----

def mmd2(items, h):
    """The unbiased estimator with a Gaussian kernel. For equal weights 1/m, the inner sums are those of the paper."""
    def between(x, a, y, b):
        return a @ np.exp(-cost(x, y) / (2 * h * h)) @ b

    within = [(between(x, a, x, a) - a @ a) / (1 - a @ a) for x, a in items]
    return full(items, [within[i] + within[j] - 2 * between(*items[i], *items[j]) for i, j in pairs(items)])


def w2_squared(items, units):
    """Exact transport of weights that are multiples of 1/units: an assignment of units equal parts of mass."""
    parts = [np.repeat(x, np.rint(a * units).astype(int), axis=0) for x, a in items]
    values = []
    for i, j in pairs(items):
        c = cost(parts[i], parts[j])
        values.append(c[linear_sum_assignment(c)].sum() / units)
    return full(items, values)


def sinkhorn2(items, epsilon, rounds=3000):
    """D^2 with D = W_eps. All pairs are scaled at once; points that pad an item have the weight 0."""
    m, index = max(len(a) for _, a in items), np.array(pairs(items))
    x = np.array([np.vstack([p, np.repeat(p[:1], m - len(p), 0)]) for p, _ in items])
    w = np.array([np.append(a, np.zeros(m - len(a))) for _, a in items])
    a, b = w[index[:, 0]], w[index[:, 1]]
    kernel = np.exp(-np.array([cost(x[i], x[j]) for i, j in index]) / epsilon)
    v = np.ones_like(b)
    for _ in range(rounds):  # P = diag(a u) K diag(b v)
        u = 1 / np.einsum("pij,pj->pi", kernel, b * v)
        column = np.einsum("pij,pi->pj", kernel, a * u)
        error = np.abs(b * v * column - b).sum(1).max()
        v = 1 / column
        if error < 1e-13:
            break
    assert error < 1e-13
    # The dual of section 4. Its exponential term is 1, because P has total mass 1, and cancels + epsilon.
    dual = epsilon * ((a * np.log(u)).sum(1) + (b * np.log(v)).sum(1))
    return full(items, dual**2)


def plan(x, a, y, b):
    """Return a Kantorovich plan from a linear program."""
    n, m = len(a), len(b)
    rows, columns = kron(identity(n), np.ones((1, m))), kron(np.ones((1, n)), identity(m))
    found = linprog(cost(x, y).ravel(), A_eq=vstack([rows, columns]).tocsr()[:-1], b_eq=np.append(a, b)[:-1],
                    method="highs-ds", options={"dual_feasibility_tolerance": 1e-10,
                                                "primal_feasibility_tolerance": 1e-10})
    assert found.status == 0
    return found.x.reshape(n, m)


def lot(items, x0):
    """Algorithm 2: the rows phi(X_i) = (m_0 g_i X_i - X_0) / sqrt(m_0)."""
    m0 = len(x0)
    uniform = np.full(m0, 1 / m0)
    return np.array([((m0 * plan(x0, uniform, x, a) @ x - x0) / np.sqrt(m0)).ravel() for x, a in items])


def lot2(items, x0):
    z = lot(items, x0)
    return full(items, [((z[i] - z[j]) ** 2).sum() for i, j in pairs(items)])


# ---- lines 8 to 15 of Algorithm 1 ----

def neighbor_lists(d2, tau):
    """Return the items with the tau largest entries of each column of A, nearest first. Ties are broken by the lower
    index."""
    others = d2 + np.diag(np.full(len(d2), np.inf))
    return np.argsort(others, axis=0, kind="stable")[:tau]


def embedding(d2, tau, gamma, k):
    """Return the eigenvalues of L and the unit rows of V_K."""
    n = len(d2)
    a = np.exp(-gamma * np.maximum(d2, 0)) - np.eye(n)
    kept = np.zeros((n, n))
    lists = neighbor_lists(d2, tau)
    np.put_along_axis(kept, lists, np.take_along_axis(a, lists, 0), 0)
    a = (kept + kept.T) / 2
    s = a.sum(0)
    values, v = np.linalg.eigh(np.eye(n) - a / np.sqrt(np.outer(s, s)))
    return values, v[:, :k] / np.linalg.norm(v[:, :k], axis=1, keepdims=True)


def lloyd(rows, centers):
    """Return labels and inertia."""
    while True:
        labels = cost(rows, centers).argmin(1)
        means = np.array([rows[labels == c].mean(0) if (labels == c).any() else centers[c]
                          for c in range(len(centers))])
        if np.allclose(means, centers, rtol=0, atol=1e-14):
            return labels, cost(rows, centers).min(1).sum()
        centers = means


def kmeans(rows, k, starts=30):
    """Return the lowest inertia of several k-means++ starts."""
    random, best = np.random.default_rng(0), np.inf
    for _ in range(starts):
        centers = rows[random.integers(len(rows), size=1)]
        while len(centers) < k:
            near = cost(rows, centers).min(1)
            centers = np.vstack([centers, rows[random.choice(len(rows), p=near / near.sum())]])
        best = min(best, lloyd(rows, centers)[1])
    return best
