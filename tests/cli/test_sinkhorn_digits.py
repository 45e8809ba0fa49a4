"""Compares entropic transport with a small epsilon with the same computation in extended precision (64-bit mantissa).
`sharp` and `debiased` subtract nearly equal numbers, so they lose digits first."""
import numpy as np
import pytest

LONG = np.longdouble
if np.finfo(LONG).nmant < 63:
    pytest.skip("no extended precision on this processor", allow_module_level=True)


def logsumexp(x, axis):
    most = x.max(axis=axis, keepdims=True)
    return (most + np.log(np.exp(x - most).sum(axis=axis, keepdims=True))).squeeze(axis)


def eliminate(matrix, right):
    """Return the solution of a positive definite system; NumPy's solvers do not support extended precision."""
    matrix, right = matrix.copy(), right.copy()
    n = len(right)
    for k in range(n):
        factor = matrix[k + 1:, k] / matrix[k, k]
        matrix[k + 1:] -= factor[:, None] * matrix[k]
        right[k + 1:] -= factor * right[k]
    for k in range(n - 1, -1, -1):
        right[k] = (right[k] - matrix[k, k + 1:] @ right[k + 1:]) / matrix[k, k]
    return right


def solve(a, b, cost, epsilon):
    """Return the value with entropy and the cost alone, from sweeps and then Newton steps, to marginal errors of 1e-14.
    Nearly disconnected blocks of the plan make the Jacobian singular, hence the ridge."""
    log_a, log_b = np.log(a)[:, None], np.log(b)[None, :]
    g, now, n = np.zeros(len(b), LONG), max(epsilon, cost.max()), len(a)
    for _ in range(400):
        for _ in range(20):
            f = -now * logsumexp((g[None, :] - cost) / now + log_b, 1)
            if len(a) == len(b) and (cost == cost.T).all() and (a == b).all():
                f = g = (f + g) / 2  # one potential, to which half-steps converge fast
            else:
                g = -now * logsumexp((f[:, None] - cost) / now + log_a, 0)
        plan = np.exp((f[:, None] + g[None, :] - cost) / now + log_a + log_b)
        error = abs(plan.sum(1) - a).sum()
        if now > epsilon and error < 1e-3:
            now = max(epsilon, now / 2)
        elif now == epsilon and error < 1e-14:
            return a @ f + b @ g, (plan * cost).sum()
        else:
            slope = np.block([[np.diag(plan.sum(1)), plan], [plan.T, np.diag(plan.sum(0))]])[:-1, :-1]
            step = now * eliminate(slope + np.eye(len(slope), dtype=LONG) * LONG(1e-14),
                                   np.r_[a - plan.sum(1), b - plan.sum(0)][:-1])
            g = g + np.r_[step[n:], 0] * min(1, 3 * now / max(abs(step).max(), now))
    raise AssertionError("the oracle did not converge")


def make_set(seed, n, near):
    rng = np.random.default_rng(seed)
    center = rng.normal(size=2)
    sizes = rng.integers(3, 8, n)
    points = [center + rng.normal(size=(s, 2)) * (0.5 if near else 2) for s in sizes]
    return points, [rng.random(s) + 0.2 for s in sizes]


@pytest.mark.parametrize("near", [False, True])
@pytest.mark.parametrize("share", [0.9, 0.3, 0.1])
def test_little_entropy(ddsc, tmp_path, share, near):
    """Epsilon below 1% of the median cost: values are accurate to 1e-8 times their costs."""
    points, weights = make_set(int(share * 10) + near, 5, near)
    offsets = np.r_[0, np.cumsum([len(p) for p in points])]
    np.savez(tmp_path / "a.npz", points=np.vstack(points), weights=np.concatenate(weights), offsets=offsets)
    long_points = [p.astype(LONG) for p in points]
    masses = [w.astype(LONG) / w.astype(LONG).sum() for w in weights]
    costs = {(i, j): ((long_points[i][:, None] - long_points[j]) ** 2).sum(-1) for i in range(5) for j in range(5)}
    epsilon = LONG(float(share / 100 * np.median(np.concatenate([c.ravel() for c in costs.values()]).astype(float))))
    whole = {k: solve(masses[k[0]], masses[k[1]], costs[k], epsilon) for k in costs if k[0] <= k[1]}
    want = {"regularized": lambda i, j: whole[i, j][0], "sharp": lambda i, j: whole[i, j][1],
            "debiased": lambda i, j: whole[i, j][0] - (whole[i, i][0] + whole[j, j][0]) / 2}
    for value, of in want.items():
        out = tmp_path / f"{value}.npy"
        ddsc("distance", tmp_path / "a.npz", "-m", "sinkhorn", "--sinkhorn-value", value, "--epsilon",
             repr(float(epsilon)), "--squared", "-o", out, "-q")
        found = np.load(out)
        for i in range(5):
            for j in range(i + 1, 5):
                error = abs(LONG(found[i, j]) - of(i, j))
                assert error <= 1e-8 * max(whole[i, j][1], epsilon), (value, i, j, found[i, j], of(i, j))
